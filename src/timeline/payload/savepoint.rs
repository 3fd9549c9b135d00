use std::collections::BTreeMap;

use serde::Deserialize;

use super::lenient;

/// Which files a savepoint keeps: `HoodieSavepointMetadata`.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct SavepointMetadata {
    /// Who asked for it.
    #[serde(deserialize_with = "lenient")]
    pub savepointed_by: String,
    /// Milliseconds since 1970 in UTC.
    #[serde(deserialize_with = "lenient")]
    pub savepointed_at: i64,
    /// Why.
    #[serde(deserialize_with = "lenient")]
    pub comments: String,
    /// The files by partition path.
    #[serde(deserialize_with = "lenient")]
    pub partition_metadata: BTreeMap<String, SavepointPartition>,
}

/// The files of one partition that a savepoint keeps.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct SavepointPartition {
    /// Names without folders.
    #[serde(deserialize_with = "lenient")]
    pub savepoint_data_file: Vec<String>,
}
