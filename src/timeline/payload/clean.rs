use std::collections::BTreeMap;

use bytes::Bytes;
use serde::{Deserialize, Serialize};

use super::lenient;
use super::write::to_avro;
use crate::error::Result;
use crate::model::InstantTime;

const PLAN_SCHEMA: &str = include_str!("HoodieCleanerPlan.avsc");
const METADATA_SCHEMA: &str = include_str!("HoodieCleanMetadata.avsc");

/// What a clean means to remove: `HoodieCleanerPlan`.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub struct CleanerPlan {
    /// The first instant whose files all stay; `None` when the policy counts file versions.
    pub earliest_instant_to_retain: Option<ActionInstant>,
    /// The newest completed instant.
    #[serde(deserialize_with = "lenient")]
    pub last_completed_commit_timestamp: String,
    /// `KEEP_LATEST_COMMITS`, `KEEP_LATEST_FILE_VERSIONS` or `KEEP_LATEST_BY_HOURS`.
    #[serde(deserialize_with = "lenient")]
    pub policy: String,
    /// What version 1 used; empty since.
    #[serde(deserialize_with = "lenient")]
    pub files_to_be_deleted_per_partition: BTreeMap<String, Vec<String>>,
    /// 2.
    pub version: Option<i32>,
    /// The files by partition path.
    #[serde(deserialize_with = "lenient")]
    pub file_paths_to_be_deleted_per_partition: BTreeMap<String, Vec<CleanFileInfo>>,
    /// Partitions to remove whole.
    #[serde(deserialize_with = "lenient")]
    pub partitions_to_be_deleted: Vec<String>,
    /// Notes of the planner.
    #[serde(deserialize_with = "lenient")]
    pub extra_metadata: BTreeMap<String, Option<String>>,
}

/// An instant in a plan.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ActionInstant {
    /// Request time.
    pub timestamp: String,
    /// The action's word.
    pub action: String,
    /// `COMPLETED` and so on.
    pub state: String,
}

/// One file that a clean removes.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub struct CleanFileInfo {
    /// Absolute path, as the writer knows it.
    pub file_path: Option<String>,
    /// False.
    pub is_bootstrap_base_file: Option<bool>,
}

impl CleanerPlan {
    /// The bytes of a requested file.
    pub fn to_bytes(&self) -> Result<Bytes> {
        to_avro(PLAN_SCHEMA, self)
    }
}

/// What a clean removed and what it kept: `HoodieCleanMetadata`.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub struct CleanMetadata {
    /// When the clean began, an instant.
    #[serde(deserialize_with = "lenient")]
    pub start_clean_time: String,
    /// What it took.
    #[serde(deserialize_with = "lenient")]
    pub time_taken_in_millis: i64,
    /// Files removed.
    #[serde(deserialize_with = "lenient")]
    pub total_files_deleted: i64,
    /// The first instant that can still be read as of; empty when the policy counts file versions.
    #[serde(deserialize_with = "lenient")]
    pub earliest_commit_to_retain: String,
    /// The newest instant that the clean knew of.
    #[serde(deserialize_with = "lenient")]
    pub last_completed_commit_timestamp: String,
    /// What was removed, by partition path.
    #[serde(deserialize_with = "lenient")]
    pub partition_metadata: BTreeMap<String, CleanedPartition>,
    /// 2: names without folders.
    pub version: Option<i32>,
    /// The same of bootstrapped base files.
    #[serde(deserialize_with = "lenient")]
    pub bootstrap_partition_metadata: BTreeMap<String, CleanedPartition>,
    /// Notes of the planner.
    #[serde(deserialize_with = "lenient")]
    pub extra_metadata: BTreeMap<String, Option<String>>,
}

/// What a clean removed from one partition: names, or full paths in version 1 of the metadata.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub struct CleanedPartition {
    /// The partition.
    #[serde(deserialize_with = "lenient")]
    pub partition_path: String,
    /// The policy that the clean followed.
    #[serde(deserialize_with = "lenient")]
    pub policy: String,
    /// The files that were to go; a file that was gone before counts as failed, so this is the full list.
    #[serde(deserialize_with = "lenient")]
    pub delete_path_patterns: Vec<String>,
    /// The files that went.
    #[serde(deserialize_with = "lenient")]
    pub success_delete_files: Vec<String>,
    /// The files that did not go.
    #[serde(deserialize_with = "lenient")]
    pub failed_delete_files: Vec<String>,
    /// Whether the whole partition went.
    pub is_partition_deleted: Option<bool>,
}

impl CleanMetadata {
    /// The bytes of a completed file.
    pub fn to_bytes(&self) -> Result<Bytes> {
        to_avro(METADATA_SCHEMA, self)
    }

    /// The first instant as of which every file is kept; `None` when the policy counts file versions.
    pub fn earliest_retained(&self) -> Option<InstantTime> {
        InstantTime::parse(&self.earliest_commit_to_retain).ok()
    }

    /// The newest instant whose files the clean cannot have touched, whatever its policy.
    pub fn untouched_since(&self) -> Option<InstantTime> {
        let texts = [
            &self.last_completed_commit_timestamp,
            &self.start_clean_time,
        ];
        texts
            .into_iter()
            .find_map(|text| InstantTime::parse(text).ok())
    }

    /// Partition path and name of every file that went or was to go.
    pub fn removed(&self) -> impl Iterator<Item = (&str, &str)> {
        self.partition_metadata
            .iter()
            .flat_map(|(partition, removed)| {
                let files = removed
                    .delete_path_patterns
                    .iter()
                    .chain(&removed.success_delete_files);
                files.map(|file| (partition.as_str(), file.rsplit('/').next().unwrap_or(file)))
            })
    }
}

#[cfg(all(test, not(target_arch = "wasm32")))]
mod tests {
    use super::super::tests::rewritten;
    use super::*;

    #[test]
    fn plans_and_results_of_spark_are_written_again_in_the_same_bytes() {
        let plans = rewritten(".clean.requested", |plan: CleanerPlan| plan.to_bytes());
        let done = rewritten(".clean", |done: CleanMetadata| done.to_bytes());
        assert!(plans > 5 && done > 5, "{plans} and {done}");
    }
}
