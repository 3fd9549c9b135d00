use std::collections::BTreeMap;

use bytes::Bytes;
use serde::{Deserialize, Serialize};

use super::lenient;
use super::write::to_avro;
use crate::error::Result;

const PLAN_SCHEMA: &str = include_str!("HoodieRollbackPlan.avsc");
const METADATA_SCHEMA: &str = include_str!("HoodieRollbackMetadata.avsc");

/// An instant by its parts.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub struct InstantInfo {
    /// Request time.
    #[serde(deserialize_with = "lenient")]
    pub commit_time: String,
    /// The action's word.
    #[serde(deserialize_with = "lenient")]
    pub action: String,
}

/// What a rollback means to undo: `HoodieRollbackPlan`.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub struct RollbackPlan {
    /// The instant.
    pub instant_to_rollback: Option<InstantInfo>,
    /// What to delete.
    #[serde(rename = "RollbackRequests", deserialize_with = "lenient")]
    pub rollback_requests: Vec<RollbackRequest>,
    /// 1.
    pub version: Option<i32>,
}

/// Files of one file group that a rollback deletes; from version 8 on there is one request a file.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub struct RollbackRequest {
    /// The partition.
    #[serde(deserialize_with = "lenient")]
    pub partition_path: String,
    /// The file group; empty from version 8 on.
    pub file_id: Option<String>,
    /// Base instant of the slice; empty from version 8 on.
    pub latest_base_instant: Option<String>,
    /// Absolute paths as the writer knows them, without a scheme where the store is the local disk.
    #[serde(deserialize_with = "lenient")]
    pub files_to_be_deleted: Vec<String>,
    /// Log files whose blocks a command block takes back, with their sizes: version 6 only.
    #[serde(deserialize_with = "lenient")]
    pub log_blocks_to_be_deleted: BTreeMap<String, i64>,
}

impl RollbackPlan {
    /// The bytes of a requested file.
    pub fn to_bytes(&self) -> Result<Bytes> {
        to_avro(PLAN_SCHEMA, self)
    }
}

/// What a rollback undid: `HoodieRollbackMetadata`.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub struct RollbackMetadata {
    /// The rollback's own request time.
    #[serde(deserialize_with = "lenient")]
    pub start_rollback_time: String,
    /// What it took.
    #[serde(deserialize_with = "lenient")]
    pub time_taken_in_millis: i64,
    /// Files removed.
    #[serde(deserialize_with = "lenient")]
    pub total_files_deleted: i32,
    /// Request times.
    #[serde(deserialize_with = "lenient")]
    pub commits_rollback: Vec<String>,
    /// What was removed, by partition path.
    #[serde(deserialize_with = "lenient")]
    pub partition_metadata: BTreeMap<String, RolledBackPartition>,
    /// 1.
    pub version: Option<i32>,
    /// The same instants with their actions.
    #[serde(deserialize_with = "lenient")]
    pub instants_rollback: Vec<InstantInfo>,
}

/// What a rollback removed from one partition.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub struct RolledBackPartition {
    /// The partition.
    #[serde(deserialize_with = "lenient")]
    pub partition_path: String,
    /// Absolute paths of files that are gone.
    #[serde(deserialize_with = "lenient")]
    pub success_delete_files: Vec<String>,
    /// Absolute paths of files that could not be deleted.
    #[serde(deserialize_with = "lenient")]
    pub failed_delete_files: Vec<String>,
    /// Log files with command blocks, and their sizes: version 6 only.
    #[serde(deserialize_with = "lenient")]
    pub rollback_log_files: BTreeMap<String, i64>,
    /// Log files of the instant that was undone, and their sizes: version 6 only.
    #[serde(deserialize_with = "lenient")]
    pub log_files_from_failed_commit: BTreeMap<String, i64>,
}

impl RollbackMetadata {
    /// The bytes of a completed file.
    pub fn to_bytes(&self) -> Result<Bytes> {
        to_avro(METADATA_SCHEMA, self)
    }
}

/// What a restore means to undo: `HoodieRestorePlan`.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct RestorePlan {
    /// Newest first.
    #[serde(deserialize_with = "lenient")]
    pub instants_to_rollback: Vec<InstantInfo>,
}

/// What a restore undid: `HoodieRestoreMetadata`.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct RestoreMetadata {
    /// Request times, newest first.
    #[serde(deserialize_with = "lenient")]
    pub instants_to_rollback: Vec<String>,
}

#[cfg(all(test, not(target_arch = "wasm32")))]
mod tests {
    use super::super::tests::rewritten;
    use super::*;

    #[test]
    fn plans_and_results_of_spark_are_written_again_in_the_same_bytes() {
        let plans = rewritten(".rollback.requested", |plan: RollbackPlan| plan.to_bytes());
        let done = rewritten(".rollback", |done: RollbackMetadata| done.to_bytes());
        assert!(plans > 5 && done > 5, "{plans} and {done}");
    }
}
