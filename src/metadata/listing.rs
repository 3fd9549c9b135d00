//! The files of the data table, as the metadata table lists them.

use std::sync::Arc;

use async_trait::async_trait;

use super::metadata_table::{MetadataTable, broken};
use super::partition::{ALL_PARTITIONS, FILES, name_in_keys, partition_of_key};
use super::payload::{FileEntry, Payload};
use crate::codec::hfile::Query;
use crate::error::Result;
use crate::model::{InOrder, PartitionPath};
use crate::storage::{ObjectMeta, Storage};
use crate::view::{FileListing, PartitionFiles, PartitionPruner};

/// Answers from the partition `files`; a file that was removed is not in it, one that is not committed yet may be.
#[derive(Debug, Clone)]
pub struct MetadataListing {
    storage: Storage,
    table: Arc<MetadataTable>,
    partitioned: bool,
}

impl MetadataListing {
    /// Over a metadata table; `partitioned` when the data table has partition fields.
    pub fn new(storage: Storage, table: Arc<MetadataTable>, partitioned: bool) -> Self {
        Self {
            storage,
            table,
            partitioned,
        }
    }
}

#[async_trait]
impl FileListing for MetadataListing {
    async fn load(&self, pruner: &PartitionPruner) -> Result<Vec<PartitionFiles>> {
        let slices = self.table.slices(&self.storage, FILES).await?;
        let [slice] = &*slices else {
            return Err(broken("the metadata table has not one group of files")
                .context("groups", slices.len()));
        };
        let shard = self.table.shard(&self.storage, slice).await?;
        let partitions = match self.partitioned {
            false => vec![PartitionPath::default()],
            true => {
                let all = shard
                    .find(&self.storage, &Query::keys([ALL_PARTITIONS]))
                    .await?;
                let names = match all.into_values().next() {
                    Some(Payload::Files(names)) => names,
                    // Nothing was ever written.
                    _ => Default::default(),
                };
                let live = names.into_iter().filter(|(_, entry)| !entry.deleted);
                let live = live.map(|(name, _)| partition_of_key(&name));
                let mut live: Vec<_> = live.collect();
                live.in_order();
                if !shard.is_held() {
                    let all = live.len();
                    live.retain(|partition| pruner.keeps(partition));
                    let metrics = self.storage.metrics();
                    metrics.add_partitions_unlisted(all - live.len());
                }
                live
            }
        };
        let keys = partitions
            .iter()
            .map(|partition| name_in_keys(partition).to_owned());
        let mut found = shard.find(&self.storage, &Query::keys(keys)).await?;
        let files = partitions.into_iter().map(|partition| {
            let names = match found.remove(name_in_keys(&partition).as_bytes()) {
                Some(Payload::Files(names)) => names,
                _ => Default::default(),
            };
            let live = names.into_iter().filter(|(_, entry)| !entry.deleted);
            let mut files: Vec<_> = live
                .map(|(name, entry)| file(&partition, &name, entry))
                .collect();
            files.in_order_by(|a, b| a.path.cmp(&b.path));
            PartitionFiles { partition, files }
        });
        Ok(files.collect())
    }
}

fn file(partition: &PartitionPath, name: &str, entry: FileEntry) -> ObjectMeta {
    ObjectMeta {
        path: partition.file_path(name),
        size: entry.size,
        etag: None,
        modified_millis: None,
    }
}
