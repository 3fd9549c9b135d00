//! Taking back what an instant wrote.

use std::collections::{BTreeMap, BTreeSet};

use bytes::Bytes;

use super::rollback_plan::{pending_plan, plan};
use crate::commit::{Markers, Pending, Requested, Writer, complete, create_file, request};
use crate::error::{Error, Result, ResultExt};
use crate::host;
use crate::index::{check_rollback_in_metadata, rollback_in_metadata};
use crate::model::{Action, Instant, InstantTime, PartitionPath, State};
use crate::timeline::MetaClient;
use crate::timeline::payload::{
    CommitMetadata, InstantInfo, RollbackMetadata, RollbackPlan, RolledBackPartition,
};

/// What rollbacks share: who writes, and the table's absolute path as other engines know it, which plans are written in.
#[derive(Debug, Clone, Copy)]
pub struct Rollbacks<'a> {
    /// The writer, which stands alone: it holds [`TableLock::write`](crate::commit::TableLock::write).
    pub writer: &'a Writer,
    /// `s3a://bucket/table`, or a path of the local disk without a scheme.
    pub base: &'a str,
}

/// What one rollback did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RolledBack {
    /// The rollback.
    pub instant: Instant,
    /// What it took back.
    pub rolled_back: InstantTime,
    /// File groups that lost files.
    pub file_groups: usize,
    /// Files deleted; those that were gone already count too.
    pub files_deleted: usize,
}

/// Takes back every write that ended early, as a single writer does before it begins: pending commits, deltacommits and
/// replacecommits, oldest first, after the rollbacks that ended early themselves.
///
/// 1. Plans of compactions and clusterings stay, begun or not: others carry them out.
/// 2. What cannot be taken back fails before anything is deleted for it.
///
/// Errors: those of the storage; the table is as valid as before, and the next call goes on.
pub async fn rollback_failed(meta: &MetaClient, all: Rollbacks<'_>) -> Result<Vec<RolledBack>> {
    let mut done = Vec::new();
    for pending in meta.timeline.pending(&Action::Rollback) {
        done.extend(resume(meta, all, pending).await?);
    }
    let clusterings = meta.pending_clusterings().await?;
    let again = |instant: &Instant| {
        done.iter()
            .any(|done: &RolledBack| done.rolled_back == instant.time)
    };
    let pending = meta
        .timeline
        .instants()
        .filter(|instant| !instant.is_completed());
    let failed = pending.filter(is_write);
    let failed: Vec<_> = failed
        .filter(|instant| !again(instant) && !clusterings.contains(instant))
        .collect();
    for instant in failed {
        done.push(undo(meta, all, instant).await?);
    }
    Ok(done)
}

/// Takes back one pending write, the caller's own, whatever else is pending; `None` when it is not there.
///
/// Errors: those of the storage; [`rollback_failed`] goes on then.
pub async fn rollback_pending(
    meta: &MetaClient,
    all: Rollbacks<'_>,
    time: &InstantTime,
) -> Result<Option<RolledBack>> {
    let pending = meta.timeline.instants().filter(|i| !i.is_completed());
    match pending.filter(is_write).find(|i| i.time == *time) {
        Some(instant) => undo(meta, all, instant).await.map(Some),
        None => Ok(None),
    }
}

fn is_write(instant: &&Instant) -> bool {
    matches!(
        instant.action,
        Action::Commit | Action::DeltaCommit | Action::ReplaceCommit
    )
}

/// Takes back the newest completed write. Pending ones must have been taken back before.
///
/// Errors: `NotFound` for an instant that is not on the timeline; `InvalidArgument` when a newer write, or a savepoint on
/// the instant, stands against it; `Unsupported` for what table services wrote, and where the metadata table was compacted since.
pub async fn rollback(
    meta: &MetaClient,
    all: Rollbacks<'_>,
    time: &InstantTime,
) -> Result<RolledBack> {
    let found = meta.timeline.completed_writes().find(|i| i.time == *time);
    let Some(instant) = found else {
        return Err(
            Error::not_found("no completed write of that time is on the timeline")
                .context("instant", time),
        );
    };
    let newer = meta.timeline.completed_writes().find(|i| i.time > *time);
    if let Some(newer) = newer {
        return Err(
            Error::invalid_argument("only the newest completed write can be rolled back")
                .context("instant", time)
                .context("newer", &newer.time),
        );
    }
    if meta
        .timeline
        .savepoints()
        .any(|savepoint| savepoint == time)
    {
        return Err(
            Error::invalid_argument("a savepoint stands on the instant").context("instant", time)
        );
    }
    let metadata: Option<CommitMetadata> = meta.commit_metadata(instant).await?;
    let service = metadata.as_ref().and_then(|m| m.operation_type.as_deref());
    if matches!(service, Some("COMPACT" | "LOG_COMPACT" | "CLUSTER")) {
        return Err(
            Error::unsupported("rolling back what a table service wrote")
                .context("instant", time)
                .context("operation", service.unwrap_or_default()),
        );
    }
    check_rollback_in_metadata(meta, time).await?;
    undo(meta, all, instant).await
}

/// Plans a rollback, writes the plan down, and carries it out.
async fn undo(meta: &MetaClient, all: Rollbacks<'_>, instant: &Instant) -> Result<RolledBack> {
    check_version(meta)?;
    let plan = plan(meta, instant, all.base).await?;
    let files = Requested {
        plan: plan.to_bytes()?,
        inflight: Bytes::new(),
    };
    let section = all.writer.lock.section().await?;
    let now = MetaClient::load(meta.storage.clone()).await?;
    let pending = request(&now, all.writer, Action::Rollback, files).await?;
    section.release().await;
    carry_out(meta, all, &pending, &plan, instant).await
}

/// Goes on with a rollback that ended early. One whose plan never landed is removed: it did nothing.
async fn resume(
    meta: &MetaClient,
    all: Rollbacks<'_>,
    rollback: &Instant,
) -> Result<Option<RolledBack>> {
    check_version(meta)?;
    let Some(plan) = pending_plan(meta, rollback).await? else {
        remove_instant(meta, rollback).await?;
        return Ok(None);
    };
    let target = plan.instant_to_rollback.clone().unwrap_or_default();
    let time = InstantTime::parse(&target.commit_time)?;
    let action = Action::from_word(&target.action);
    let pending = Pending {
        time: rollback.time.clone(),
        action: Action::Rollback,
    };
    if rollback.state == State::Requested {
        create_file(meta, &pending, State::Inflight, None, Bytes::new()).await?;
    }
    let gone = Instant {
        time: time.clone(),
        completion: None,
        action: action.clone(),
        state: State::Requested,
    };
    let instant = meta.timeline.find(&time, &action).unwrap_or(&gone);
    carry_out(meta, all, &pending, &plan, instant)
        .await
        .map(Some)
}

/// Version 6 takes back log blocks by command blocks, which is not done here; its one way to write here has no logs.
fn check_version(meta: &MetaClient) -> Result<()> {
    let config = &meta.config;
    match config.version().layout() {
        crate::model::TimelineLayout::One
            if config.table_type() == crate::model::TableType::MergeOnRead =>
        {
            Err(Error::unsupported(
                "rollbacks in Merge-on-Read tables below version 8",
            ))
        }
        _ => Ok(()),
    }
}

/// Hides the instant, deletes its files, removes what is left of the instant, and completes the rollback: in Java's order.
async fn carry_out(
    meta: &MetaClient,
    all: Rollbacks<'_>,
    pending: &Pending,
    plan: &RollbackPlan,
    instant: &Instant,
) -> Result<RolledBack> {
    let began = host::now_millis();
    let mut requests = plan.rollback_requests.iter();
    if requests.any(|request| !request.log_blocks_to_be_deleted.is_empty()) {
        return Err(Error::unsupported("rolling back log blocks of version 6"));
    }
    // Hidden first: a reader must not count on files that are about to go.
    remove_file(meta, instant, State::Completed).await?;
    let deleted = delete_files(meta, plan).await?;
    let files_deleted = deleted.values().map(|p| p.success_delete_files.len()).sum();
    let metadata = RollbackMetadata {
        start_rollback_time: pending.time.to_string(),
        time_taken_in_millis: host::now_millis() - began,
        total_files_deleted: i32::try_from(files_deleted).unwrap_or(i32::MAX),
        commits_rollback: vec![instant.time.to_string()],
        partition_metadata: deleted,
        version: Some(1),
        instants_rollback: vec![InstantInfo {
            commit_time: instant.time.to_string(),
            action: instant.action.to_string(),
        }],
    };
    let section = all.writer.lock.section().await?;
    let now = MetaClient::load(meta.storage.clone()).await?;
    let (clock, time) = (&all.writer.clock, &instant.time);
    rollback_in_metadata(&now, clock, time, &pending.time, all.base).await?;
    remove_instant(meta, instant).await?;
    let completed = complete(&now, all.writer, pending, metadata.to_bytes()?).await?;
    section.release().await;
    Markers::open(&meta.storage, &instant.time).remove().await;
    Ok(RolledBack {
        instant: completed,
        rolled_back: instant.time.clone(),
        file_groups: file_groups(&metadata),
        files_deleted,
    })
}

/// How many file groups the files of a rollback belonged to.
fn file_groups(done: &RollbackMetadata) -> usize {
    let partitions = done.partition_metadata.values();
    let files = partitions.flat_map(|partition| &partition.success_delete_files);
    let names = files.map(|path| path.rsplit('/').next().unwrap_or(path));
    let ids = names.filter_map(|name| name.trim_start_matches('.').split('_').next());
    ids.collect::<BTreeSet<_>>().len()
}

/// Deletes what a plan names. Paths are absolute and of whichever engine planned, so partition and name say where.
async fn delete_files(
    meta: &MetaClient,
    plan: &RollbackPlan,
) -> Result<BTreeMap<String, RolledBackPartition>> {
    let mut partitions: BTreeMap<String, RolledBackPartition> = BTreeMap::new();
    for request in &plan.rollback_requests {
        let partition = PartitionPath::new(&request.partition_path);
        let done = partitions
            .entry(request.partition_path.clone())
            .or_default();
        done.partition_path.clone_from(&request.partition_path);
        for path in &request.files_to_be_deleted {
            let name = path.rsplit('/').next().unwrap_or(path);
            let file = partition.file_path(name);
            meta.storage.delete(&file).await.context("path", &file)?;
            done.success_delete_files.push(path.clone());
        }
    }
    Ok(partitions)
}

/// Removes the files of an instant that is rolled back: the inflight one first, so that what is left is always an instant.
async fn remove_instant(meta: &MetaClient, instant: &Instant) -> Result<()> {
    for state in [State::Inflight, State::Requested] {
        remove_file(meta, instant, state).await?;
    }
    Ok(())
}

async fn remove_file(meta: &MetaClient, instant: &Instant, state: State) -> Result<()> {
    match meta.timeline.file(instant, state) {
        Some(file) => meta.storage.delete(&file.path).await,
        None => Ok(()),
    }
}

#[cfg(all(test, not(target_arch = "wasm32")))]
mod tests;
