use std::collections::BTreeMap;

use serde::Deserialize;

use super::lenient;

/// What a commit, deltacommit or replacecommit did: `HoodieCommitMetadata` and `HoodieReplaceCommitMetadata`, of
/// which the latter has one field more.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct CommitMetadata {
    /// The files written, by partition path.
    #[serde(deserialize_with = "lenient")]
    pub partition_to_write_stats: BTreeMap<String, Vec<WriteStat>>,
    /// Whether this is a compaction or log compaction.
    #[serde(deserialize_with = "lenient")]
    pub compacted: bool,
    /// The schema under `schema`, checkpoints of ingestion tools, and more.
    #[serde(deserialize_with = "lenient")]
    pub extra_metadata: BTreeMap<String, Option<String>>,
    /// `INSERT`, `UPSERT`, `CLUSTER`, `COMPACT` and so on.
    pub operation_type: Option<String>,
    /// File groups that this instant replaced, by partition path.
    #[serde(deserialize_with = "lenient")]
    pub partition_to_replace_file_ids: BTreeMap<String, Vec<String>>,
}

impl CommitMetadata {
    /// The Avro JSON of the table's columns, when the instant holds one.
    pub fn schema(&self) -> Option<&str> {
        let schema = self.extra_metadata.get("schema")?.as_deref()?;
        Some(schema).filter(|s| !s.trim().is_empty())
    }

    /// The columns by number, in tables with schema on read: see [`SchemaHistory`](crate::schema::SchemaHistory).
    pub fn latest_schema(&self) -> Option<&str> {
        let schema = self.extra_metadata.get("latest_schema")?.as_deref()?;
        Some(schema).filter(|s| !s.trim().is_empty())
    }
}

/// What one file write reports: the fields of `HoodieWriteStat` that reading needs. Sizes in bytes.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct WriteStat {
    /// The file group; empty in the plan of an insert.
    #[serde(deserialize_with = "lenient")]
    pub file_id: String,
    /// The file, relative to the table; absent in plans.
    pub path: Option<String>,
    /// The instant of the slice that was there before; the text `null` for a new group.
    pub prev_commit: Option<String>,
    /// Records in the file after the write.
    #[serde(deserialize_with = "lenient")]
    pub num_writes: i64,
    /// Records taken out.
    #[serde(deserialize_with = "lenient")]
    pub num_deletes: i64,
    /// Records changed.
    #[serde(deserialize_with = "lenient")]
    pub num_update_writes: i64,
    /// Records added.
    #[serde(deserialize_with = "lenient")]
    pub num_inserts: i64,
    /// Records that failed.
    #[serde(deserialize_with = "lenient")]
    pub total_write_errors: i64,
    /// Bytes written.
    #[serde(deserialize_with = "lenient")]
    pub total_write_bytes: i64,
    /// Size of the file.
    #[serde(deserialize_with = "lenient")]
    pub file_size_in_bytes: i64,
    /// The partition.
    pub partition_path: Option<String>,
    /// Base file that a log belongs to; empty from version 8 on.
    pub base_file: Option<String>,
    /// Log files of a delta write.
    #[serde(deserialize_with = "lenient")]
    pub log_files: Vec<String>,
    /// CDC log files by path, with their sizes.
    #[serde(deserialize_with = "lenient")]
    pub cdc_stats: BTreeMap<String, Option<i64>>,
    /// Name of the base file that was rewritten.
    pub prev_base_file: Option<String>,
}
