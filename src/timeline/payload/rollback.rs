use serde::Deserialize;

use super::lenient;

/// An instant by its parts.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
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
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct RollbackPlan {
    /// The instant.
    pub instant_to_rollback: Option<InstantInfo>,
}

/// What a rollback undid: `HoodieRollbackMetadata`.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct RollbackMetadata {
    /// Request times.
    #[serde(deserialize_with = "lenient")]
    pub commits_rollback: Vec<String>,
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
