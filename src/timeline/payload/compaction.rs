use std::collections::BTreeMap;

use serde::Deserialize;

use super::lenient;

/// What a compaction or log compaction means to do: `HoodieCompactionPlan`.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct CompactionPlan {
    /// One a file slice.
    #[serde(deserialize_with = "lenient")]
    pub operations: Vec<CompactionOperation>,
    /// 2 holds file names, 1 full paths.
    pub version: Option<i32>,
}

/// One slice of a compaction plan.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct CompactionOperation {
    /// Base instant of the slice.
    pub base_instant_time: Option<String>,
    /// Its log files.
    #[serde(deserialize_with = "lenient")]
    pub delta_file_paths: Vec<String>,
    /// Its base file, when it has one.
    pub data_file_path: Option<String>,
    /// The file group.
    #[serde(deserialize_with = "lenient")]
    pub file_id: String,
    /// The partition.
    #[serde(deserialize_with = "lenient")]
    pub partition_path: String,
    /// Sizes and counts, by name.
    #[serde(deserialize_with = "lenient")]
    pub metrics: BTreeMap<String, Option<f64>>,
}
