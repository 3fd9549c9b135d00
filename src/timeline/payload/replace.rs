use std::collections::BTreeMap;

use serde::Deserialize;

use super::lenient;

/// What a replacecommit or a clustering means to do: `HoodieRequestedReplaceMetadata`.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct RequestedReplaceMetadata {
    /// `CLUSTER`, `DELETE_PARTITION`, or absent for overwrites.
    pub operation_type: Option<String>,
    /// What to cluster.
    pub clustering_plan: Option<ClusteringPlan>,
}

impl RequestedReplaceMetadata {
    /// Whether the instant is a clustering, which changes no rows.
    pub fn is_clustering(&self) -> bool {
        self.clustering_plan.is_some() || self.operation_type.as_deref() == Some("CLUSTER")
    }
}

/// Which file groups a clustering joins.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ClusteringPlan {
    /// Groups that are rewritten together.
    #[serde(deserialize_with = "lenient")]
    pub input_groups: Vec<ClusteringGroup>,
}

/// File slices that are rewritten together.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ClusteringGroup {
    /// The slices.
    #[serde(deserialize_with = "lenient")]
    pub slices: Vec<SliceInfo>,
    /// Sizes and counts, by name.
    #[serde(deserialize_with = "lenient")]
    pub metrics: BTreeMap<String, Option<f64>>,
}

/// One slice of a clustering plan.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct SliceInfo {
    /// Full URI of the base file, as the writer saw it.
    pub data_file_path: Option<String>,
    /// Its log files.
    #[serde(deserialize_with = "lenient")]
    pub delta_file_paths: Vec<String>,
    /// The file group.
    #[serde(deserialize_with = "lenient")]
    pub file_id: String,
    /// The partition.
    #[serde(deserialize_with = "lenient")]
    pub partition_path: String,
}
