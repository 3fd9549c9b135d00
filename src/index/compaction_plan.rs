//! When the metadata table is to be compacted, and what of it.

use super::layout::Index;
use crate::error::{Error, Result};
use crate::metadata::MetadataTable;
use crate::model::{Action, FileSlice, Instant, InstantTime};
use crate::storage::Storage;
use crate::timeline::Timeline;
use crate::timeline::payload::{CompactionOperation, CompactionPlan};

/// Delta commits after which a compaction is due.
const MOST_DELTAS: (&str, usize) = ("hoodie.metadata.compact.max.delta.commits", 10);

/// What Java takes for the size of a new base file, in megabytes: `hoodie.parquet.max.file.size`.
const NEW_BASE_MB: u64 = 120;

/// How many delta commits make a compaction due.
pub(super) fn most_deltas(options: &crate::config::Properties) -> usize {
    let given = options.get(MOST_DELTAS.0).map(|text| text.trim());
    let given = given.and_then(|text| text.parse().ok());
    given.unwrap_or(MOST_DELTAS.1).max(1)
}

/// The delta commits that no compaction has: those that completed after the newest one was requested, and all without one, those
/// that built partitions among them.
pub(super) fn deltas(own: &Timeline) -> usize {
    let compaction = own.completed(&Action::Commit).map(|i| &i.time).max();
    let since = |delta: &&Instant| match compaction {
        Some(compaction) => delta.completion.as_ref().is_some_and(|at| at > compaction),
        None => true,
    };
    own.completed(&Action::DeltaCommit).filter(since).count()
}

/// Compactions that were begun and did not end, oldest first.
pub(super) fn pending(own: &Timeline) -> impl Iterator<Item = &Instant> {
    own.pending(&Action::Compaction)
}

/// Whether a compaction of now would hold what may still be taken back, or miss what it may not: a write of the metadata table
/// that is under way, and one that the data table has not completed.
///
/// Java compacts up to just before the latter; here it is left to the write that finds it settled.
pub(super) fn must_wait(data: &Timeline, own: &Timeline) -> bool {
    let mut pending = own.instants().filter(|instant| !instant.is_completed());
    let under_way =
        |instant: &Instant| matches!(instant.action, Action::DeltaCommit | Action::LogCompaction);
    let mut open = data.instants().filter(|instant| !instant.is_completed());
    let known = |open: &Instant| own.instants().any(|own| own.time == open.time);
    pending.any(under_way) || open.any(known)
}

/// The plan over all file groups with logs.
///
/// Errors: `Unsupported` with the `path` of a log whose instant nobody knows; `Corrupt`; those of the storage.
pub(super) async fn plan(
    storage: &Storage,
    table: &MetadataTable,
    indexes: &[Index],
) -> Result<CompactionPlan> {
    let mut operations = Vec::new();
    for index in indexes {
        for slice in table.slices(storage, index.folder()).await?.iter() {
            for log in &slice.logs {
                if !table.fence().shows(log.name.instant.as_str()) {
                    return Err(Error::unsupported(
                        "a log file of the metadata table is of no instant that is known",
                    )
                    .context("path", &log.path));
                }
            }
            if !slice.logs.is_empty() {
                operations.push(operation(slice));
            }
        }
    }
    Ok(CompactionPlan {
        operations,
        extra_metadata: Some([].into()),
        version: Some(2),
        strategy: None,
        preserve_hoodie_metadata: Some(false),
        missing_schedule_partitions: Some(Vec::new()),
    })
}

/// One slice of a plan.
pub(super) fn operation(slice: &FileSlice) -> CompactionOperation {
    let name = |path: &str| path.rsplit('/').next().unwrap_or(path).to_owned();
    let base = slice.base.as_ref();
    let base_size = base.map_or(0, |base| base.size);
    let logs: u64 = slice.logs.iter().map(|log| log.size).sum();
    let megabytes = |bytes: u64| bytes >> 20;
    let read = megabytes(base_size.saturating_add(logs));
    let write = base.map_or(NEW_BASE_MB, |base| megabytes(base.size));
    // Metrics are numbers of floating point, whatever they count.
    let metrics = [
        ("TOTAL_LOG_FILES", slice.logs.len() as u64),
        ("TOTAL_LOG_FILES_SIZE", logs),
        ("TOTAL_IO_READ_MB", read),
        ("TOTAL_IO_WRITE_MB", write),
        ("TOTAL_IO_MB", read.saturating_add(write)),
    ];
    CompactionOperation {
        base_instant_time: Some(slice.instant.to_string()),
        delta_file_paths: slice.logs.iter().map(|log| name(&log.path)).collect(),
        data_file_path: base.map(|base| name(&base.path)),
        file_id: slice.file_id.clone(),
        partition_path: slice.partition.as_str().to_owned(),
        metrics: metrics
            .map(|(name, number)| (name.to_owned(), Some(number as f64)))
            .into(),
        bootstrap_file_path: None,
    }
}

/// The greatest time that both timelines know.
pub(super) fn newest(data: &Timeline, own: &Timeline) -> Option<InstantTime> {
    let all = data.instants().chain(own.instants());
    all.flat_map(|i| [Some(i.time.clone()), i.completion.clone()])
        .flatten()
        .max()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::TimelineLayout;
    use crate::storage::ObjectMeta;

    fn timeline(names: &str) -> Timeline {
        let file = |name: &str| ObjectMeta {
            path: format!("202601010000000{name}"),
            size: 1,
            etag: None,
            modified_millis: None,
        };
        let files: Vec<_> = names.split_whitespace().map(file).collect();
        Timeline::of_files(&files, TimelineLayout::One)
    }

    #[test]
    fn a_compaction_waits_for_writes_that_either_table_has_not_completed() {
        let waits = |data: &str, own: &str| must_wait(&timeline(data), &timeline(own));
        let both = "10.deltacommit 20.deltacommit";
        assert!(!waits("10.commit 20.commit", both));
        // Its rows are in the metadata table, and may still be taken back.
        assert!(waits("10.commit 20.inflight", both));
        assert!(waits("10.commit 20.clean.inflight", both));
        // It has told the metadata table nothing.
        assert!(!waits("10.commit 20.commit 30.inflight", both));
        assert!(waits(
            "10.commit 20.commit",
            "10.deltacommit 20.deltacommit.inflight"
        ));
        assert!(!waits(
            "10.commit 20.commit",
            &format!("{both} 30.compaction.inflight")
        ));
    }
}
