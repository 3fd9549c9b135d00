//! Bloom filters of base files: of their record keys, or of an expression over a column.

use std::collections::BTreeMap;

use futures::future::try_join_all;

use super::metadata_table::MetadataTable;
use super::partition::{file_part, partition_part};
use super::payload::Payload;
use super::record_index::by_shard;
use crate::codec::bloom::StoredFilter;
use crate::error::{Result, ResultExt};
use crate::model::{BaseFile, FileSlice, PartitionPath};
use crate::storage::Storage;

impl MetadataTable {
    /// The filters that a partition of them has of base files, by the files' paths; a file without one is left out.
    ///
    /// Errors: `Corrupt` and `Unsupported` with the `path` of the base file, those of the storage.
    pub async fn bloom_filters(
        &self,
        storage: &Storage,
        partition: &str,
        bases: &[(&PartitionPath, &BaseFile)],
    ) -> Result<BTreeMap<String, StoredFilter>> {
        let slices = self.slices(storage, partition).await?;
        let slices: Vec<&FileSlice> = slices.iter().collect();
        let key = |(partition, base): &(&PartitionPath, &BaseFile)| {
            let name = base.path.rsplit('/').next().unwrap_or(&base.path);
            format!("{}{}", partition_part(partition), file_part(name))
        };
        let paths: BTreeMap<String, &str> = bases
            .iter()
            .map(|base| (key(base), base.1.path.as_str()))
            .collect();
        let keys: Vec<String> = paths.keys().cloned().collect();
        let lookups = by_shard(&slices, &keys, |key| key).into_iter();
        let found = try_join_all(lookups.map(|(slice, query)| async move {
            let shard = self.shard(storage, slice).await?;
            shard.find(storage, &query).await
        }));
        let mut filters = BTreeMap::new();
        for (key, payload) in found.await?.into_iter().flatten() {
            let path = std::str::from_utf8(&key)
                .ok()
                .and_then(|key| paths.get(key));
            if let (Some(path), Payload::Bloom(kind, text)) = (path, payload) {
                let filter = StoredFilter::read(&kind, &text).context("path", path)?;
                filters.insert((*path).to_owned(), filter);
            }
        }
        Ok(filters)
    }
}
