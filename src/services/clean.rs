//! Removing files that no read needs any more.

use std::collections::BTreeMap;

use bytes::Bytes;

use super::clean_plan::{plan, retained_commits};
use super::rollback::Rollbacks;
use crate::commit::{Pending, Requested, complete, create_file, request};
use crate::error::{Result, ResultExt};
use crate::host;
use crate::model::{Action, Instant, PartitionPath, State, TimelineLayout};
use crate::timeline::MetaClient;
use crate::timeline::payload::{CleanMetadata, CleanedPartition, CleanerPlan};

/// What a clean did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cleaned {
    /// The clean.
    pub instant: Instant,
    /// Files removed.
    pub files_deleted: usize,
}

/// Removes what is due by the policy KEEP_LATEST_COMMITS, after the cleans that ended early; nothing is written when there
/// is nothing to remove. `hoodie.clean.automatic=false` is the caller's to heed.
///
/// Tables below version 8, tables with a metadata table (which would go on naming the files) and other policies are left
/// as they are. Errors: `LockTimeout`; those of the storage, and then the clean stays pending and the next one goes on.
pub async fn clean(meta: &MetaClient, all: Rollbacks<'_>) -> Result<Vec<Cleaned>> {
    if !is_possible(meta, all) {
        return Ok(Vec::new());
    }
    let mut done = Vec::new();
    for pending in meta.timeline.pending(&Action::Clean) {
        done.extend(resume(meta, all, pending).await?);
    }
    let meta = MetaClient::load(meta.storage.refreshed()).await?;
    let retained = retained_commits(all.writer);
    if let Some(plan) = plan(&meta, retained, all.base).await? {
        let files = Requested {
            plan: plan.to_bytes()?,
            inflight: Bytes::new(),
        };
        let section = all.writer.lock.section().await?;
        let now = MetaClient::load(meta.storage.refreshed()).await?;
        let pending = request(&now, all.writer, Action::Clean, files).await?;
        section.release().await;
        done.push(carry_out(&meta, all, &pending, plan).await?);
    }
    Ok(done)
}

fn is_possible(meta: &MetaClient, all: Rollbacks<'_>) -> bool {
    let options = &all.writer.options;
    let policy = options.get("hoodie.clean.policy");
    let policy = policy.or_else(|| options.get("hoodie.cleaner.policy"));
    meta.config.version().layout() == TimelineLayout::Two
        && meta.config.metadata_partitions().is_empty()
        && policy.is_none_or(|policy| policy.trim() == super::clean_plan::POLICY)
}

/// Goes on with a clean that ended early. One whose plan never landed did nothing, and is removed.
async fn resume(meta: &MetaClient, all: Rollbacks<'_>, clean: &Instant) -> Result<Option<Cleaned>> {
    let plan: Option<CleanerPlan> = meta.body(clean, State::Requested).await?;
    let Some(plan) = plan else {
        for state in [State::Inflight, State::Requested] {
            if let Some(file) = meta.timeline.file(clean, state) {
                meta.storage.delete(&file.path).await?;
            }
        }
        return Ok(None);
    };
    let pending = Pending {
        time: clean.time.clone(),
        action: Action::Clean,
    };
    if clean.state == State::Requested {
        create_file(meta, &pending, State::Inflight, None, Bytes::new()).await?;
    }
    carry_out(meta, all, &pending, plan).await.map(Some)
}

/// Deletes the files, then completes the clean.
async fn carry_out(
    meta: &MetaClient,
    all: Rollbacks<'_>,
    pending: &Pending,
    plan: CleanerPlan,
) -> Result<Cleaned> {
    let began = host::now_millis();
    let mut partitions = BTreeMap::new();
    let mut files_deleted = 0;
    for (partition, files) in &plan.file_paths_to_be_deleted_per_partition {
        let paths = files.iter().filter_map(|file| file.file_path.as_deref());
        let mut names = Vec::new();
        for path in paths {
            // Absolute paths are of whichever engine planned; partition and name say where.
            let name = path.rsplit('/').next().unwrap_or(path);
            let file = PartitionPath::new(partition).file_path(name);
            meta.storage.delete(&file).await.context("path", &file)?;
            names.push(name.to_owned());
        }
        files_deleted += names.len();
        let cleaned = CleanedPartition {
            partition_path: partition.clone(),
            policy: plan.policy.clone(),
            delete_path_patterns: names.clone(),
            success_delete_files: names,
            failed_delete_files: Vec::new(),
            is_partition_deleted: Some(false),
        };
        partitions.insert(partition.clone(), cleaned);
    }
    let earliest = plan.earliest_instant_to_retain;
    let metadata = CleanMetadata {
        start_clean_time: pending.time.to_string(),
        time_taken_in_millis: host::now_millis() - began,
        total_files_deleted: i64::try_from(files_deleted).unwrap_or(i64::MAX),
        earliest_commit_to_retain: earliest.map_or_else(String::new, |earliest| earliest.timestamp),
        last_completed_commit_timestamp: plan.last_completed_commit_timestamp,
        partition_metadata: partitions,
        version: Some(2),
        bootstrap_partition_metadata: BTreeMap::new(),
        extra_metadata: plan.extra_metadata,
    };
    let section = all.writer.lock.section().await?;
    let now = MetaClient::load(meta.storage.refreshed()).await?;
    let instant = complete(&now, all.writer, pending, metadata.to_bytes()?).await?;
    section.release().await;
    Ok(Cleaned {
        instant,
        files_deleted,
    })
}

#[cfg(all(test, not(target_arch = "wasm32")))]
mod tests;
