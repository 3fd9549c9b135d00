use std::collections::BTreeMap;

use bytes::Bytes;
use serde::{Deserialize, Serialize};

use super::lenient;
use super::write::to_avro;
use crate::error::Result;

const SCHEMA: &str = include_str!("HoodieCompactionPlan.avsc");

/// What a compaction or log compaction means to do: `HoodieCompactionPlan`.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub struct CompactionPlan {
    /// One a file slice.
    #[serde(deserialize_with = "lenient")]
    pub operations: Vec<CompactionOperation>,
    /// Notes of the commit that scheduled it.
    pub extra_metadata: Option<BTreeMap<String, String>>,
    /// 2 holds file names, 1 full paths.
    pub version: Option<i32>,
    /// How to do it; only log compactions say so.
    pub strategy: Option<CompactionStrategy>,
    /// Whether meta columns stay as they are.
    pub preserve_hoodie_metadata: Option<bool>,
    /// Partitions that could not be planned.
    pub missing_schedule_partitions: Option<Vec<String>>,
}

/// How a plan is to be run.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub struct CompactionStrategy {
    /// A Java class.
    pub compactor_class_name: Option<String>,
    /// Its parameters.
    pub strategy_params: Option<BTreeMap<String, String>>,
    /// 1.
    pub version: Option<i32>,
}

impl CompactionPlan {
    /// The bytes of a requested file.
    pub fn to_bytes(&self) -> Result<Bytes> {
        to_avro(SCHEMA, self)
    }
}

/// One slice of a compaction plan.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, Serialize)]
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
    /// Base file that a bootstrapped table refers to.
    pub bootstrap_file_path: Option<String>,
}

#[cfg(all(test, not(target_arch = "wasm32")))]
mod tests {
    use super::super::tests::rewritten;
    use super::*;

    #[test]
    fn plans_of_spark_are_written_again_in_the_same_bytes() {
        let compactions = rewritten(".compaction.requested", |p: CompactionPlan| p.to_bytes());
        let others = rewritten(".logcompaction.requested", |p: CompactionPlan| p.to_bytes());
        assert!(compactions > 5 && others > 0, "{compactions} and {others}");
    }
}
