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
}

impl CleanMetadata {
    /// The first instant as of which every file is still there.
    ///
    /// A clean by file versions names none. It kept whatever was newest at its last completed commit, so that one
    /// and later ones are whole; of earlier ones files may be gone.
    pub fn first_whole(&self) -> Option<InstantTime> {
        let texts = [
            &self.earliest_commit_to_retain,
            &self.last_completed_commit_timestamp,
            &self.start_clean_time,
        ];
        texts
            .into_iter()
            .find_map(|text| InstantTime::parse(text).ok())
    }
}
