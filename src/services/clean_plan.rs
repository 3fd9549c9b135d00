//! Which files no read needs any more: Hudi's policy KEEP_LATEST_COMMITS.

use std::collections::{BTreeMap, BTreeSet};

use futures::future::try_join_all;

use crate::commit::Writer;
use crate::error::Result;
use crate::model::{
    Action, BaseFormat, FileGroup, FileName, FileSlice, Instant, InstantTime, LogFileName,
    PartitionPath, State,
};
use crate::storage::{Cause, ObjectMeta};
use crate::timeline::payload::{
    ActionInstant, CleanFileInfo, CleanerPlan, CompactionPlan, SavepointMetadata,
};
use crate::timeline::{MetaClient, Timeline};
use crate::view::{DirectoryListing, FileListing, PartitionFiles, PartitionPruner, file_groups};

pub(super) const POLICY: &str = "KEEP_LATEST_COMMITS";

/// How many completed writes a clean retains: `hoodie.clean.commits.retained`, 10.
pub(super) fn retained_commits(writer: &Writer) -> usize {
    let old = writer.number("hoodie.cleaner.commits.retained", 10);
    let retained = writer.number("hoodie.clean.commits.retained", old);
    usize::try_from(retained).unwrap_or(0).max(1)
}

/// The first instant whose files all stay: so many completed writes from the end, and not after the first pending one;
/// `None` while there are no more than those.
///
/// Source: Hudi 1.1 `CleanerUtils.getEarliestCommitToRetain`.
pub(super) fn earliest_to_retain(timeline: &Timeline, retained: usize) -> Option<&Instant> {
    let writes = timeline
        .instants()
        .filter(|instant| instant.action.writes_data() && instant.action != Action::LogCompaction);
    let writes: Vec<&Instant> = writes.collect();
    let completed = writes.iter().filter(|i| i.is_completed()).count();
    let at = completed.checked_sub(retained).filter(|at| *at > 0)?;
    let nth = writes.get(at).copied()?;
    let pending = writes.iter().copied().find(|i| !i.is_completed());
    Some(pending.map_or(nth, |pending| nth.min(pending)))
}

/// The plan of a clean of now; `None` when there is nothing to remove.
///
/// `base` is the table's absolute path as other engines know it. A file stays when its slice is the newest of its group, or
/// the newest before the first retained instant, or not before that; when a savepoint names it; when a pending compaction
/// needs it. Groups that were replaced before the first retained instant go whole, and a partition that has no other files is to go
/// with them.
///
/// Source: Hudi 1.1 `CleanPlanner`.
pub(super) async fn plan(
    meta: &MetaClient,
    retained: usize,
    base: &str,
) -> Result<Option<CleanerPlan>> {
    let timeline = &meta.timeline;
    let Some(earliest) = earliest_to_retain(timeline, retained) else {
        return Ok(None);
    };
    let files = listed(meta, &earliest.time).await?;
    let counts: BTreeMap<_, _> = files.iter().map(data_files).collect();
    meta.learn_archived(writers_of_logs(&files)).await?;
    let groups = file_groups(files, timeline, meta.config.version(), None)?;
    let needed = Needed::load(meta).await?;
    let replaced = meta.replaced_file_groups().await?;
    let mut paths: BTreeMap<String, Vec<CleanFileInfo>> = BTreeMap::new();
    let mut live = BTreeSet::new();
    for group in &groups {
        if replaced
            .replaced_by(&group.partition, &group.file_id)
            .is_none()
        {
            live.insert(&group.partition);
        }
        let slices = match replaced.replaced_by(&group.partition, &group.file_id) {
            Some(by) if *by < earliest.time => group.slices.iter().collect(),
            Some(_) => continue,
            None => old_slices(group, &earliest.time, &needed),
        };
        let slices = slices.into_iter().filter(|slice| !needed.saved(slice));
        let names = slices.flat_map(|slice| {
            let base = slice.base.iter().map(|base| base.path.as_str());
            base.chain(slice.logs.iter().map(|log| log.path.as_str()))
        });
        let infos = names.map(|path| CleanFileInfo {
            file_path: Some(format!("{}/{path}", base.trim_end_matches('/'))),
            is_bootstrap_base_file: Some(false),
        });
        let infos: Vec<_> = infos.collect();
        if !infos.is_empty() {
            let partition = group.partition.as_str().to_owned();
            paths.entry(partition).or_default().extend(infos);
        }
    }
    if paths.is_empty() {
        return Ok(None);
    }
    let goes = |(partition, files): &(&String, &Vec<CleanFileInfo>)| {
        let path = PartitionPath::new(partition);
        let all = counts.get(&path) == Some(&files.len());
        all && !partition.is_empty() && !live.contains(&path)
    };
    let dropped = paths.iter().filter(goes);
    let dropped = dropped.map(|(partition, _)| partition.clone()).collect();
    Ok(Some(CleanerPlan {
        partitions_to_be_deleted: dropped,
        earliest_instant_to_retain: Some(ActionInstant {
            timestamp: earliest.time.to_string(),
            action: earliest.action.to_string(),
            state: earliest.state.as_str().to_owned(),
        }),
        last_completed_commit_timestamp: timeline
            .latest_commit()
            .map_or_else(String::new, |instant| instant.time.to_string()),
        policy: POLICY.to_owned(),
        version: Some(2),
        file_paths_to_be_deleted_per_partition: paths,
        extra_metadata: savepoints(meta),
        ..CleanerPlan::default()
    }))
}

/// How many files of a partition hold data, or changes of it: committed or not.
fn data_files(partition: &PartitionFiles) -> (PartitionPath, usize) {
    let count = partition.files.iter().filter(|file| holds_data(file));
    (partition.partition.clone(), count.count())
}

/// Whether a file is named as base and log files are; Hadoop's checksums beside them are not.
pub(super) fn holds_data(file: &ObjectMeta) -> bool {
    let name = file.path.rsplit('/').next().unwrap_or(&file.path);
    !name.ends_with(".crc") && FileName::parse(name).is_some()
}

/// The savepoints that a later clean compares with, as Hudi notes them.
fn savepoints(meta: &MetaClient) -> BTreeMap<String, Option<String>> {
    let times: Vec<_> = meta
        .timeline
        .savepoints()
        .map(|time| time.as_str())
        .collect();
    if times.is_empty() || !meta.config.is_partitioned() {
        return BTreeMap::new();
    }
    let key = "savepointed_timestamps".to_owned();
    BTreeMap::from([(key, Some(times.join(",")))])
}

/// The slices of a group that no read since the first retained instant needs.
fn old_slices<'a>(
    group: &'a FileGroup,
    earliest: &InstantTime,
    needed: &Needed,
) -> Vec<&'a FileSlice> {
    let before = group.slices.iter().rev().find(|s| s.instant < *earliest);
    let newest = group.slices.last();
    let old = group.slices.iter().filter(|slice| {
        let kept = [newest, before].into_iter().flatten();
        slice.instant < *earliest
            && !kept
                .map(|kept| &kept.instant)
                .any(|kept| *kept == slice.instant)
            && !needed.compacts(slice)
    });
    old.collect()
}

/// What must stay for others.
struct Needed {
    /// Names of files that savepoints hold.
    saved: BTreeSet<String>,
    /// Base instants of slices that pending compactions begin at, by file group.
    compacting: BTreeMap<(PartitionPath, String), InstantTime>,
}

impl Needed {
    async fn load(meta: &MetaClient) -> Result<Self> {
        let timeline = &meta.timeline;
        let saved = timeline.completed(&Action::Savepoint);
        let saved = saved.map(|i| meta.body::<SavepointMetadata>(i, State::Completed));
        let saved = try_join_all(saved).await?.into_iter().flatten();
        let partitions = saved.flat_map(|savepoint| savepoint.partition_metadata.into_values());
        let saved = partitions.flat_map(|partition| partition.savepoint_data_file);
        let pending = timeline
            .pending_writes()
            .filter(|instant| matches!(instant.action, Action::Compaction | Action::LogCompaction));
        let pending = pending.map(|i| meta.body::<CompactionPlan>(i, State::Requested));
        let pending = try_join_all(pending).await?.into_iter().flatten();
        let mut compacting: BTreeMap<_, InstantTime> = BTreeMap::new();
        for operation in pending.flat_map(|plan| plan.operations) {
            let base = operation.base_instant_time.unwrap_or_default();
            let base = InstantTime::parse(&base)?;
            let group = (
                PartitionPath::new(&operation.partition_path),
                operation.file_id,
            );
            let first = compacting.entry(group).or_insert_with(|| base.clone());
            if base < *first {
                *first = base;
            }
        }
        Ok(Self {
            saved: saved.collect(),
            compacting,
        })
    }

    fn saved(&self, slice: &FileSlice) -> bool {
        let base = slice.base.iter().map(|base| base.path.as_str());
        let mut paths = base.chain(slice.logs.iter().map(|log| log.path.as_str()));
        paths.any(|path| self.saved.contains(path.rsplit('/').next().unwrap_or(path)))
    }

    fn compacts(&self, slice: &FileSlice) -> bool {
        let group = (slice.partition.clone(), slice.file_id.clone());
        let from = self.compacting.get(&group);
        from.is_some_and(|from| slice.instant >= *from)
    }
}

/// The files that a clean looks at: those of partitions written to since the last clean's first retained instant, where
/// that is on the timeline; else all. Of a metadata table all.
async fn listed(meta: &MetaClient, earliest: &InstantTime) -> Result<Vec<PartitionFiles>> {
    if meta.config.base_format() == BaseFormat::HFile {
        // A metadata table has partitions without partition fields, few of them, and each of its commits writes to most.
        let all = DirectoryListing::new(meta.storage.clone(), true);
        return all.load(&PartitionPruner::none()).await;
    }
    let clean = meta.last_clean().await?;
    let since = clean.as_ref().and_then(|clean| clean.earliest_retained());
    let since = since.filter(|since| {
        let start = meta.timeline.start();
        start.is_some_and(|start| since >= start)
    });
    // A savepoint that is gone has let go of files anywhere.
    let freed = clean.is_some_and(|clean| freed_savepoints(meta, &clean.extra_metadata));
    let Some(since) = since.filter(|_| !freed) else {
        let all = DirectoryListing::new(meta.storage.clone(), meta.config.is_partitioned());
        return all.load(&PartitionPruner::none()).await;
    };
    let written = meta.timeline.completed_writes();
    let written = written.filter(|i| i.time >= since && i.time < *earliest);
    let bodies = try_join_all(written.map(|i| meta.commit_metadata(i))).await?;
    let mut partitions = BTreeSet::new();
    for body in bodies.into_iter().flatten() {
        let all = body.partition_to_write_stats.keys();
        let all = all.chain(body.partition_to_replace_file_ids.keys());
        partitions.extend(all.map(PartitionPath::new));
    }
    let listings = partitions.into_iter().map(|partition| async move {
        let folder = meta
            .storage
            .list_folder(partition.as_str(), Cause::Listing)
            .await?;
        let files = folder.files;
        Ok::<_, crate::error::Error>(PartitionFiles { partition, files })
    });
    try_join_all(listings).await
}

fn freed_savepoints(meta: &MetaClient, extra: &BTreeMap<String, Option<String>>) -> bool {
    let noted = extra
        .get("savepointed_timestamps")
        .and_then(Option::as_deref);
    let mut noted = noted
        .unwrap_or_default()
        .split(',')
        .filter(|t| !t.is_empty());
    noted.any(|noted| {
        !meta
            .timeline
            .savepoints()
            .any(|time| time.as_str() == noted)
    })
}

fn writers_of_logs(partitions: &[PartitionFiles]) -> Vec<InstantTime> {
    let files = partitions.iter().flat_map(|partition| &partition.files);
    let names = files.filter_map(|file| LogFileName::parse(file.path.rsplit('/').next()?));
    names.map(|name| name.instant).collect()
}

#[cfg(test)]
mod tests;
