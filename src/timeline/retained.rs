//! What a cleaner that counts file versions has left.

use std::collections::BTreeMap;

use futures::future::try_join_all;

use super::meta_client::MetaClient;
use super::payload::{CleanMetadata, WriteStat};
use crate::error::Result;
use crate::model::{Action, FileName, Instant, InstantTime, PartitionPath, State};

/// Commits asked for at once.
const BATCH: usize = 8;

/// The newest removed version of a file group, at or before some time.
type Removed = BTreeMap<(PartitionPath, String), InstantTime>;

/// Whether every file that was newest as of a time is still there, under cleans that name no earliest instant.
///
/// A removed version does no harm when a later one was written at or before that time, or when its group was
/// replaced by then. Cleans that knew no instant past that time kept what was newest then.
pub(super) async fn versions_kept(meta: &MetaClient, as_of: &InstantTime) -> Result<bool> {
    let mut removed = Removed::new();
    for instant in meta.timeline.completed(&Action::Clean).rev() {
        let clean = meta
            .body::<CleanMetadata>(instant, State::Completed)
            .await?
            .unwrap_or_default();
        if clean.untouched_since().is_some_and(|since| since <= *as_of) {
            break;
        }
        add(&mut removed, &clean, as_of);
    }
    if !removed.is_empty() {
        let replaced = meta.replaced_file_groups().await?;
        removed.retain(|(partition, file_id), _| !replaced.hides(partition, file_id, Some(as_of)));
    }
    rewritten(meta, removed, as_of).await
}

fn add(removed: &mut Removed, clean: &CleanMetadata, as_of: &InstantTime) {
    for (partition, name) in clean.removed() {
        let (file_id, instant) = match FileName::parse(name) {
            Some(FileName::Base(base)) => (base.file_id, base.instant),
            Some(FileName::Log(log)) => (log.file_id, log.instant),
            Some(FileName::NativeLog(_)) | None => continue,
        };
        if instant <= *as_of {
            let key = (PartitionPath::new(partition), file_id);
            let newest = removed.entry(key).or_insert_with(|| instant.clone());
            if *newest < instant {
                *newest = instant;
            }
        }
    }
}

/// A log adds to a version and makes no new one.
fn is_base_file(stat: &WriteStat) -> bool {
    let name = stat
        .path
        .as_deref()
        .and_then(|path| path.rsplit('/').next());
    matches!(name.and_then(FileName::parse), Some(FileName::Base(_)))
}

/// Whether each removed version was followed by a write to its group that completed and is not after `as_of`.
async fn rewritten(meta: &MetaClient, mut removed: Removed, as_of: &InstantTime) -> Result<bool> {
    let writes = meta.timeline.completed_writes().rev();
    let newest_first: Vec<&Instant> = writes.filter(|i| i.time <= *as_of).collect();
    for batch in newest_first.chunks(BATCH) {
        if removed.is_empty() {
            return Ok(true);
        }
        let bodies = try_join_all(batch.iter().map(|i| meta.commit_metadata(i))).await?;
        for (instant, body) in batch.iter().zip(bodies) {
            for (partition, stats) in body.unwrap_or_default().partition_to_write_stats {
                let partition = PartitionPath::new(partition);
                for stat in stats.into_iter().filter(is_base_file) {
                    let key = (partition.clone(), stat.file_id);
                    if removed
                        .get(&key)
                        .is_some_and(|version| *version < instant.time)
                    {
                        removed.remove(&key);
                    }
                }
            }
        }
    }
    Ok(removed.is_empty())
}
