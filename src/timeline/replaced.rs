//! File groups that completed replacecommits have put out of sight.

use std::collections::BTreeMap;
use std::sync::Arc;

use futures::future::try_join_all;

use super::meta_client::MetaClient;
use crate::error::{Error, Result};
use crate::model::{Action, InstantTime, PartitionPath};

/// Which file groups are replaced, and by which instant first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReplacedFileGroups(BTreeMap<PartitionPath, BTreeMap<String, InstantTime>>);

impl ReplacedFileGroups {
    /// Whether a read as of a time must not see a file group; without a time, a read of now. The request time of the
    /// replacing instant decides, on every version.
    pub fn hides(
        &self,
        partition: &PartitionPath,
        file_id: &str,
        as_of: Option<&InstantTime>,
    ) -> bool {
        let replaced = self.replaced_by(partition, file_id);
        replaced.is_some_and(|by| as_of.is_none_or(|as_of| by <= as_of))
    }

    /// The first instant that replaced a file group.
    pub fn replaced_by(&self, partition: &PartitionPath, file_id: &str) -> Option<&InstantTime> {
        self.0.get(partition)?.get(file_id)
    }

    /// Every replaced file group.
    pub fn iter(&self) -> impl Iterator<Item = (&PartitionPath, &str, &InstantTime)> {
        let partitions = self.0.iter();
        partitions.flat_map(|(partition, groups)| {
            groups
                .iter()
                .map(move |(id, by)| (partition, id.as_str(), by))
        })
    }

    /// Whether nothing is replaced.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn add(&mut self, partition: &str, file_id: String, by: &InstantTime) {
        let groups = self.0.entry(PartitionPath::new(partition)).or_default();
        let first = groups.entry(file_id).or_insert_with(|| by.clone());
        if by < first {
            *first = by.clone();
        }
    }
}

/// Reads the completed replacecommits, all at once, unless that was done before.
///
/// Errors: those of reading, and `Corrupt` for a replacecommit without content, since nobody knows what it replaced.
pub(super) async fn load(meta: &MetaClient) -> Result<Arc<ReplacedFileGroups>> {
    if let Some(loaded) = meta.timeline.replaced.get() {
        return Ok(Arc::clone(loaded));
    }
    let mut replaced = ReplacedFileGroups::default();
    let instants: Vec<_> = meta.timeline.completed(&Action::ReplaceCommit).collect();
    let bodies = try_join_all(instants.iter().map(|i| meta.commit_metadata(i))).await?;
    for (instant, body) in instants.into_iter().zip(bodies) {
        let body = body.ok_or_else(|| {
            Error::corrupt("a completed replacecommit is empty, so what it replaced is not known")
                .context("instant", &instant.time)
        })?;
        for (partition, file_ids) in body.partition_to_replace_file_ids {
            for file_id in file_ids {
                replaced.add(&partition, file_id, &instant.time);
            }
        }
    }
    Ok(Arc::clone(
        meta.timeline.replaced.get_or_init(|| Arc::new(replaced)),
    ))
}
