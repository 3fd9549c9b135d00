//! What the metadata table has of an instant that is rolled back, taken back under the rollback's own time.

use std::collections::BTreeMap;

use bytes::Bytes;

use super::layout::path;
use super::own_timeline::{TIMELINE, instant_path};
use crate::commit::WriteClock;
use crate::error::{Error, Result};
use crate::host;
use crate::metadata::MetadataTable;
use crate::metadata::partition::FOLDER;
use crate::model::{Action, FileName, InstantTime, State, TimelineLayout};
use crate::storage::{Cause, Storage};
use crate::timeline::payload::{
    InstantInfo, RollbackMetadata, RollbackPlan, RollbackRequest, RolledBackPartition,
};
use crate::timeline::{MetaClient, TimelineName};

/// Takes an instant out of the metadata table of a table, which may have none and may know nothing of the instant: then nothing
/// is written. `rollback` is the time of the data table's rollback, `base` the table's absolute path.
///
/// It may be called again for a rollback that ended early. Errors: `Unsupported` when the instant was compacted already; those of the
/// storage.
pub async fn rollback_in_metadata(
    data: &MetaClient,
    clock: &WriteClock,
    instant: &InstantTime,
    rollback: &InstantTime,
    base: &str,
) -> Result<()> {
    if !is_kept(data) {
        return Ok(());
    }
    let storage = &data.storage;
    let names = own_instants(storage).await?;
    let own: Vec<_> = names
        .iter()
        .filter(|(name, _)| name.time == *instant && name.action == Action::DeltaCommit)
        .collect();
    let of_rollback = |state: fn(State) -> bool| {
        let mut names = names.iter().map(|(name, _)| name);
        names.any(|name| name.time == *rollback && state(name.state))
    };
    let done = of_rollback(|state| state == State::Completed);
    if done || (own.is_empty() && !of_rollback(|_| true)) {
        return remove(storage, &own, |_| true).await;
    }
    check_not_compacted(&names, instant)?;
    carry_out(storage, clock, (instant, rollback), &own, base).await
}

/// Removes files of an instant, the completed one first: what it says is not so any more.
async fn remove(
    storage: &Storage,
    own: &[&(TimelineName, String)],
    which: fn(State) -> bool,
) -> Result<()> {
    for state in [State::Completed, State::Inflight, State::Requested] {
        for (_, path) in own
            .iter()
            .filter(|(name, _)| name.state == state && which(state))
        {
            storage.delete(path).await?;
        }
    }
    Ok(())
}

/// Whether a completed instant can be taken out of the metadata table of a table, if there is one: asked before anything is
/// written or deleted for it.
///
/// Errors: `Unsupported` when its delta commit was compacted, or is not on the metadata table's timeline: then what it wrote is in
/// base files too; those of the storage.
pub async fn check_rollback_in_metadata(data: &MetaClient, instant: &InstantTime) -> Result<()> {
    if !is_kept(data) {
        return Ok(());
    }
    let names = own_instants(&data.storage).await?;
    if completion_of(&names, instant).is_none() {
        return Err(Error::unsupported(
            "the metadata table has no delta commit of the write that is to be rolled back",
        )
        .context("instant", instant));
    }
    check_not_compacted(&names, instant)
}

fn is_kept(data: &MetaClient) -> bool {
    MetadataTable::is_there(data) && data.config.version().layout() == TimelineLayout::Two
}

/// When the delta commit of an instant completed; `None` while it is pending or not there.
fn completion_of<'a>(
    names: &'a [(TimelineName, String)],
    instant: &InstantTime,
) -> Option<&'a InstantTime> {
    let of = |name: &&TimelineName| {
        name.time == *instant
            && name.action == Action::DeltaCommit
            && name.state == State::Completed
    };
    let found = names.iter().map(|(name, _)| name).find(of)?;
    found.completion.as_ref()
}

/// A compaction takes the log files that completed before it was requested. One that was requested while a write was at work
/// leaves that write's files to the next.
///
/// Source: Hudi 1.2 `HoodieBackedTableMetadataWriter.validateRollback`; 1.1 refuses the latter case too.
fn check_not_compacted(names: &[(TimelineName, String)], instant: &InstantTime) -> Result<()> {
    let Some(completion) = completion_of(names, instant) else {
        return Ok(());
    };
    let compacts = |name: &&TimelineName| {
        let action = &name.action;
        let compaction = matches!(
            action,
            Action::Commit | Action::Compaction | Action::LogCompaction
        );
        compaction && name.time >= *completion
    };
    match names.iter().map(|(name, _)| name).find(compacts) {
        None => Ok(()),
        Some(compaction) => Err(Error::unsupported(
            "the metadata table was compacted after the write that is to be rolled back",
        )
        .context("instant", instant)
        .context("compaction", &compaction.time)),
    }
}

/// The files of the metadata table's timeline, with their paths.
async fn own_instants(storage: &Storage) -> Result<Vec<(TimelineName, String)>> {
    let listed = storage.list_all(TIMELINE, None, Cause::Write).await?;
    let read = |path: String| {
        let name = path.strip_prefix(TIMELINE)?.strip_prefix('/')?;
        Some((TimelineName::parse(name, TimelineLayout::Two)?, path))
    };
    Ok(listed
        .into_iter()
        .filter_map(|file| read(file.path))
        .collect())
}

/// The files of an instant, by partition.
async fn files_of(
    storage: &Storage,
    instant: &InstantTime,
) -> Result<BTreeMap<String, Vec<String>>> {
    let mut found: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for file in storage.list_all(FOLDER, None, Cause::Write).await? {
        let inside = file.path.strip_prefix(FOLDER).unwrap_or_default();
        let inside = inside.trim_start_matches('/');
        let Some((folder, name)) = inside.split_once('/') else {
            continue;
        };
        let of = match FileName::parse(name) {
            Some(FileName::Log(log)) => log.instant,
            Some(FileName::Base(base)) => base.instant,
            _ => continue,
        };
        if of == *instant && !folder.starts_with('.') {
            found
                .entry(folder.to_owned())
                .or_default()
                .push(name.to_owned());
        }
    }
    Ok(found)
}

/// Plan, files, instant, completed file: each is written or removed only where that was not done. The instant goes before the completed
/// file, as in Java, which would take it back once more and fail when both are there.
async fn carry_out(
    storage: &Storage,
    clock: &WriteClock,
    (instant, rollback): (&InstantTime, &InstantTime),
    own: &[&(TimelineName, String)],
    base: &str,
) -> Result<()> {
    let began = host::now_millis();
    let files = files_of(storage, instant).await?;
    let absolute = |folder: &str, name: &String| format!("{base}/{}", path(folder, name));
    let info = InstantInfo {
        commit_time: instant.to_string(),
        action: Action::DeltaCommit.to_string(),
    };
    let request = |(folder, name): (&String, &String)| RollbackRequest {
        partition_path: folder.clone(),
        file_id: Some(String::new()),
        latest_base_instant: Some(String::new()),
        files_to_be_deleted: vec![absolute(folder, name)],
        ..RollbackRequest::default()
    };
    let each = || {
        files
            .iter()
            .flat_map(|(folder, names)| names.iter().map(move |name| (folder, name)))
    };
    let plan = RollbackPlan {
        instant_to_rollback: Some(info.clone()),
        rollback_requests: each().map(request).collect(),
        version: Some(1),
    };
    let put = async |state, completion, body| {
        let path = instant_path(rollback, Action::Rollback, state, completion);
        storage.put_if_absent(&path, body).await.map(|_| ())
    };
    put(State::Requested, None, plan.to_bytes()?).await?;
    put(State::Inflight, None, Bytes::new()).await?;
    remove(storage, own, |state| state == State::Completed).await?;
    let mut partitions: BTreeMap<String, RolledBackPartition> = BTreeMap::new();
    for (folder, name) in each() {
        storage.delete(&path(folder, name)).await?;
        let partition = partitions.entry(folder.clone()).or_default();
        partition.partition_path.clone_from(folder);
        partition.success_delete_files.push(absolute(folder, name));
    }
    remove(storage, own, |state| state != State::Completed).await?;
    let body = RollbackMetadata {
        start_rollback_time: rollback.to_string(),
        time_taken_in_millis: host::now_millis() - began,
        total_files_deleted: i32::try_from(each().count()).unwrap_or(i32::MAX),
        commits_rollback: vec![instant.to_string()],
        partition_metadata: partitions,
        version: Some(1),
        instants_rollback: vec![info],
    };
    let completion = clock.mint(Some(rollback)).await?;
    put(State::Completed, Some(completion), body.to_bytes()?).await
}
