//! Instants of the metadata table's own timeline.

use std::collections::BTreeMap;

use bytes::Bytes;

use super::compaction::Counts;
use super::record::SCHEMA;
use crate::error::{Error, Result};
use crate::metadata::partition::FOLDER;
use crate::model::{Action, BaseFile, FileSlice, InstantTime, State, TimelineLayout};
use crate::storage::{PutOutcome, Storage};
use crate::timeline::TimelineName;
use crate::timeline::payload::{CommitMetadata, RuntimeStats, WriteStat};

/// Where the instants lie.
pub(super) const TIMELINE: &str = ".hoodie/metadata/.hoodie/timeline";

/// The path of one file of an instant.
pub(super) fn instant_path(
    time: &InstantTime,
    action: Action,
    state: State,
    completion: Option<InstantTime>,
) -> String {
    let name = TimelineName {
        time: time.clone(),
        completion,
        action,
        state,
    };
    format!("{TIMELINE}/{}", name.file_name(TimelineLayout::Two))
}

/// Writes one file of an instant where there is none.
///
/// Errors: `WriteConflict` when it is there; those of the storage.
pub(super) async fn put_instant(
    storage: &Storage,
    time: &InstantTime,
    action: Action,
    state: State,
    completion: Option<InstantTime>,
    body: Bytes,
) -> Result<()> {
    let path = instant_path(time, action, state, completion);
    match storage.put_if_absent(&path, body).await? {
        // The data table's instant is this writer's, so its empty file here is too.
        PutOutcome::Created | PutOutcome::Unclear => Ok(()),
        PutOutcome::Exists => Err(Error::write_conflict(
            "the metadata table has the instant of another writer",
        )
        .context("path", path)
        .context("instant", time)),
    }
}

/// The body of a delta commit's inflight file.
pub(super) fn inflight_body() -> Result<Bytes> {
    let body = CommitMetadata {
        operation_type: Some("UPSERT_PREPPED".to_owned()),
        ..CommitMetadata::default()
    };
    body.to_bytes(TimelineLayout::Two)
}

/// The body of a completed file.
pub(super) fn completed_body(
    operation: &str,
    stats: BTreeMap<String, Vec<WriteStat>>,
) -> Result<Bytes> {
    body_of(operation, stats, false)
}

/// The body of a compaction's completed file.
pub(super) fn compacted_body(stats: BTreeMap<String, Vec<WriteStat>>) -> Result<Bytes> {
    body_of("COMPACT", stats, true)
}

fn body_of(
    operation: &str,
    stats: BTreeMap<String, Vec<WriteStat>>,
    compacted: bool,
) -> Result<Bytes> {
    let schema = SCHEMA.trim_end().to_owned();
    let body = CommitMetadata {
        partition_to_write_stats: stats,
        compacted,
        extra_metadata: BTreeMap::from([("schema".to_owned(), Some(schema))]),
        operation_type: Some(operation.to_owned()),
        ..CommitMetadata::default()
    };
    body.to_bytes(TimelineLayout::Two)
}

/// What a new base file reports.
pub(super) fn base_stat(
    folder: &str,
    file_id: &str,
    name: &str,
    bytes: u64,
    records: u64,
) -> WriteStat {
    let bytes = signed(bytes);
    WriteStat {
        file_id: file_id.to_owned(),
        path: Some(format!("{folder}/{name}")),
        prev_commit: Some("null".to_owned()),
        num_writes: signed(records),
        num_inserts: signed(records),
        total_write_bytes: bytes,
        file_size_in_bytes: bytes,
        partition_path: Some(folder.to_owned()),
        runtime_stats: Some(RuntimeStats::default()),
        ..WriteStat::default()
    }
}

/// What a new log file reports: Java counts all its records as updates.
pub(super) fn log_stat(
    folder: &str,
    file_id: &str,
    name: &str,
    instant: &InstantTime,
    bytes: u64,
    (records, deletes): (u64, u64),
) -> WriteStat {
    WriteStat {
        prev_commit: Some(instant.to_string()),
        num_inserts: 0,
        num_deletes: signed(deletes),
        num_update_writes: signed(records),
        log_version: Some(1),
        log_offset: Some(0),
        base_file: Some(String::new()),
        log_files: vec![name.to_owned()],
        ..base_stat(folder, file_id, name, bytes, records)
    }
}

/// What a compacted base file reports.
pub(super) fn compacted_stat(slice: &FileSlice, name: &str, counts: &Counts) -> WriteStat {
    let folder = slice.partition.as_str();
    let base = slice.base.as_ref();
    let prev = |base: &BaseFile| base.path.rsplit('/').next().map(str::to_owned);
    let log_bytes = slice.logs.iter().map(|log| log.size).sum();
    WriteStat {
        prev_commit: Some(match base {
            Some(base) => base.name.instant.to_string(),
            None => "null".to_owned(),
        }),
        num_inserts: signed(counts.inserted),
        num_update_writes: signed(counts.updated),
        num_deletes: signed(counts.deleted),
        total_log_records: signed(counts.log_records),
        total_log_files_compacted: signed(slice.logs.len() as u64),
        total_log_size_compacted: signed(log_bytes),
        total_log_blocks: signed(counts.log_blocks),
        total_updated_records_compacted: signed(counts.log_keys),
        prev_base_file: base.and_then(prev),
        runtime_stats: Some(RuntimeStats {
            total_upsert_time: counts.millis,
            ..RuntimeStats::default()
        }),
        ..base_stat(folder, &slice.file_id, name, counts.bytes, counts.written)
    }
}

pub(super) fn signed(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

/// Says that a partition of the metadata table is one.
pub(super) async fn put_partition_metafile(
    storage: &Storage,
    folder: &str,
    instant: &InstantTime,
    now_millis: i64,
) -> Result<()> {
    let now = crate::config::properties::java_date(now_millis);
    let text = format!("#partition metadata\n#{now}\ncommitTime={instant}\npartitionDepth=1\n");
    let path = format!("{FOLDER}/{folder}/{}", crate::model::PARTITION_METAFILE);
    storage.put(&path, text.into()).await
}
