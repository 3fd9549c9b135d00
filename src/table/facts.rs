//! Plain facts in the words of `js/index.d.ts`.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::model::{FileSlice, Instant};
use crate::storage::UNKNOWN_SIZE;
use crate::timeline::TimelineEntry;

/// What is known of a table without a request.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TableFacts {
    /// `hoodie.table.name`.
    pub table_name: String,
    /// `COPY_ON_WRITE` or `MERGE_ON_READ`.
    pub table_type: &'static str,
    /// Whether the type is `MERGE_ON_READ`.
    pub is_mor: bool,
    /// `hoodie.table.version`.
    pub table_version: u32,
    /// `UTC`, or `LOCAL` when instants are some writer's clock.
    pub timezone: &'static str,
    /// The properties with the options given at open over them.
    pub hudi_options: BTreeMap<String, String>,
}

/// An instant: `HudiInstant`.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct InstantFacts {
    /// The requested time.
    pub timestamp: String,
    /// The completion time, from version 8 on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub completion_timestamp: Option<String>,
    /// The action, such as `commit`.
    pub action: String,
    /// `REQUESTED`, `INFLIGHT` or `COMPLETED`.
    pub state: &'static str,
    /// The requested time in milliseconds since 1970; absent when the zone is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub epoch_millis: Option<i64>,
}

impl InstantFacts {
    pub(super) fn new(instant: &Instant, epoch_millis: Option<i64>) -> Self {
        Self {
            timestamp: instant.time.to_string(),
            completion_timestamp: instant.completion.as_ref().map(ToString::to_string),
            action: instant.action.to_string(),
            state: instant.state.as_str(),
            epoch_millis,
        }
    }
}

/// A row of `show_timeline`: `TimelineEntry`.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TimelineEntryFacts {
    /// The instant.
    #[serde(flatten)]
    pub instant: InstantFacts,
    /// Always false here: the active timeline.
    pub archived: bool,
    /// The rollbacks and restores that undid it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rolled_back_by: Vec<String>,
    /// What it undid.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rolls_back: Vec<String>,
}

impl TimelineEntryFacts {
    pub(super) fn new(entry: TimelineEntry, epoch_millis: Option<i64>) -> Self {
        let rolled_back_by = entry.rolled_back_by.iter().map(ToString::to_string);
        Self {
            instant: InstantFacts::new(&entry.instant, epoch_millis),
            archived: false,
            rolled_back_by: rolled_back_by.collect(),
            rolls_back: entry.rolls_back,
        }
    }
}

/// A file slice: `HudiFileSlice`. Sizes in bytes; without a base file its size and rows are 0.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FileSliceFacts {
    file_id: String,
    partition_path: String,
    creation_instant_time: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    base_file_name: Option<String>,
    base_file_size: u64,
    num_records: u64,
    has_log_files: bool,
    log_file_names: Vec<String>,
    log_file_sizes: Vec<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    base_file_relative_path: Option<String>,
    log_files_relative_paths: Vec<String>,
    total_size_bytes: u64,
}

impl FileSliceFacts {
    pub(super) fn new(slice: &FileSlice, num_records: u64) -> Self {
        let logs: Vec<_> = slice.data_logs().collect();
        let base = slice.base.as_ref();
        Self {
            file_id: slice.file_id.clone(),
            partition_path: slice.partition.to_string(),
            creation_instant_time: slice.instant.to_string(),
            base_file_name: base.map(|base| file_name(&base.path)),
            base_file_size: base.map_or(0, |base| told(base.size)),
            num_records,
            has_log_files: !logs.is_empty(),
            log_file_names: logs.iter().map(|log| file_name(&log.path)).collect(),
            log_file_sizes: logs.iter().map(|log| log.size).collect(),
            base_file_relative_path: base.map(|base| base.path.clone()),
            log_files_relative_paths: logs.iter().map(|log| log.path.clone()).collect(),
            total_size_bytes: told(slice.size()),
        }
    }
}

/// A size, or 0 where the host tells none.
fn told(size: u64) -> u64 {
    match size {
        UNKNOWN_SIZE => 0,
        size => size,
    }
}

fn file_name(path: &str) -> String {
    path.rsplit('/').next().unwrap_or(path).to_owned()
}
