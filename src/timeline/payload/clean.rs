use std::collections::BTreeMap;

use serde::Deserialize;

use super::lenient;
use crate::model::InstantTime;

/// What a clean removed and what it kept: the fields of `HoodieCleanMetadata` that reading needs.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct CleanMetadata {
    /// When the clean began, an instant.
    #[serde(deserialize_with = "lenient")]
    pub start_clean_time: String,
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
}

/// What a clean removed from one partition: names, or full paths in version 1 of the metadata.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct CleanedPartition {
    /// The files that were to go; a file that was gone before counts as failed, so this is the full list.
    #[serde(deserialize_with = "lenient")]
    pub delete_path_patterns: Vec<String>,
    /// The files that went.
    #[serde(deserialize_with = "lenient")]
    pub success_delete_files: Vec<String>,
}

impl CleanMetadata {
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
