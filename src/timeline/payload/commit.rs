use std::collections::BTreeMap;

use bytes::Bytes;
use serde::ser::SerializeMap;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;

use super::write::{object, to_avro, to_value};
use super::{lenient, null_if_empty};
use crate::codec::java_json;
use crate::error::Result;
use crate::model::TimelineLayout;

const SCHEMA: &str = include_str!("HoodieCommitMetadata.avsc");
const REPLACE_SCHEMA: &str = include_str!("HoodieReplaceCommitMetadata.avsc");

/// What a commit, deltacommit or replacecommit did: `HoodieCommitMetadata` and `HoodieReplaceCommitMetadata`, of
/// which the latter has one field more.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, Serialize)]
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

    /// The bytes of an inflight file, and of the completed file of a commit or deltacommit: Avro in layout 2, JSON in
    /// layout 1. Java leaves `version` null, and so is it here.
    pub fn to_bytes(&self, layout: TimelineLayout) -> Result<Bytes> {
        match layout {
            TimelineLayout::One => Ok(java_json::pretty(&LayoutOne(self))?.into()),
            TimelineLayout::Two => to_avro(SCHEMA, self),
        }
    }

    /// The bytes of the completed file of a replacecommit.
    pub fn to_replace_bytes(&self, layout: TimelineLayout) -> Result<Bytes> {
        match layout {
            TimelineLayout::One => Ok(java_json::pretty(&LayoutOneReplace(self))?.into()),
            TimelineLayout::Two => to_avro(REPLACE_SCHEMA, self),
        }
    }
}

/// What one file write reports: every field of `HoodieWriteStat`. Sizes in bytes, times in milliseconds.
///
/// The default is that of Java: counts of zero, and `prevCommit`, `path` and all that is optional null.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub struct WriteStat {
    /// The file group; empty in the plan of an insert.
    #[serde(deserialize_with = "lenient")]
    pub file_id: String,
    /// The file, relative to the table; absent in plans.
    pub path: Option<String>,
    /// CDC log files by path, with their sizes.
    #[serde(deserialize_with = "lenient", serialize_with = "null_if_empty")]
    pub cdc_stats: BTreeMap<String, Option<i64>>,
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
    /// Bytes written.
    #[serde(deserialize_with = "lenient")]
    pub total_write_bytes: i64,
    /// Records that failed.
    #[serde(deserialize_with = "lenient")]
    pub total_write_errors: i64,
    /// Folder that files were moved from; not used.
    pub temp_path: Option<String>,
    /// The partition; absent in plans.
    pub partition_path: Option<String>,
    /// Log records that a compaction read.
    #[serde(deserialize_with = "lenient")]
    pub total_log_records: i64,
    /// Log files of the slice; not used.
    pub total_log_files: Option<i64>,
    /// Log files that a compaction read.
    #[serde(deserialize_with = "lenient")]
    pub total_log_files_compacted: i64,
    /// Their size.
    #[serde(deserialize_with = "lenient")]
    pub total_log_size_compacted: i64,
    /// Time that a compaction took to read logs.
    #[serde(deserialize_with = "lenient")]
    pub total_log_read_time_ms: i64,
    /// Records and deletes that a compaction had left after merging the logs.
    #[serde(deserialize_with = "lenient")]
    pub total_updated_records_compacted: i64,
    /// Log blocks that a compaction read.
    #[serde(deserialize_with = "lenient")]
    pub total_log_blocks: i64,
    /// Damaged log blocks that a compaction met.
    #[serde(deserialize_with = "lenient")]
    pub total_corrupt_log_block: i64,
    /// Rollback blocks that a compaction met.
    #[serde(deserialize_with = "lenient")]
    pub total_rollback_blocks: i64,
    /// Size of the file.
    #[serde(deserialize_with = "lenient")]
    pub file_size_in_bytes: i64,
    /// Least event time, when the writer tracks it.
    pub min_event_time: Option<i64>,
    /// Greatest event time, when the writer tracks it.
    pub max_event_time: Option<i64>,
    /// Times that the write took; absent in plans.
    pub runtime_stats: Option<RuntimeStats>,
    /// Number of the log file, of delta writes only.
    pub log_version: Option<i32>,
    /// Where the log file was appended to, of delta writes only.
    pub log_offset: Option<i64>,
    /// Base file that a log belongs to; empty from version 8 on.
    pub base_file: Option<String>,
    /// Log files of a delta write.
    #[serde(deserialize_with = "lenient", serialize_with = "null_if_empty")]
    pub log_files: Vec<String>,
    /// Name of the base file that was rewritten.
    pub prev_base_file: Option<String>,
    /// Not used.
    #[serde(deserialize_with = "lenient")]
    pub num_updates: i64,
}

/// What a write took, in milliseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub struct RuntimeStats {
    /// Reading logs.
    #[serde(deserialize_with = "lenient")]
    pub total_scan_time: i64,
    /// Rewriting a base file.
    #[serde(deserialize_with = "lenient")]
    pub total_upsert_time: i64,
    /// Writing a new base file.
    #[serde(deserialize_with = "lenient")]
    pub total_create_time: i64,
}

/// Fields of a stat that layout 1 has for every write, in Java's order.
const STAT_FIELDS: [&str; 23] = [
    "fileId",
    "path",
    "cdcStats",
    "prevCommit",
    "numWrites",
    "numDeletes",
    "numUpdateWrites",
    "numInserts",
    "totalWriteBytes",
    "totalWriteErrors",
    "tempPath",
    "partitionPath",
    "totalLogRecords",
    "totalLogFilesCompacted",
    "totalLogSizeCompacted",
    "totalUpdatedRecordsCompacted",
    "totalLogBlocks",
    "totalCorruptLogBlock",
    "totalRollbackBlocks",
    "fileSizeInBytes",
    "minEventTime",
    "maxEventTime",
    "runtimeStats",
];

/// The fields that a delta write has beside them.
const DELTA_FIELDS: [&str; 4] = ["logVersion", "logOffset", "baseFile", "logFiles"];

const RUNTIME_FIELDS: [&str; 3] = ["totalScanTime", "totalUpsertTime", "totalCreateTime"];

/// Commit metadata as Hudi 0.14 and 0.15 write it: see [`STAT_FIELDS`].
struct LayoutOne<'a>(&'a CommitMetadata);
struct LayoutOneReplace<'a>(&'a CommitMetadata);
struct LayoutOneStat<'a>(&'a WriteStat);
struct Ordered<'a>(&'a [&'static str], &'a serde_json::Map<String, Value>);

impl LayoutOne<'_> {
    fn fields<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        let stats = self.0.partition_to_write_stats.iter();
        let stats: BTreeMap<_, Vec<_>> = stats
            .map(|(partition, stats)| (partition, stats.iter().map(LayoutOneStat).collect()))
            .collect();
        map.serialize_entry("partitionToWriteStats", &stats)?;
        map.serialize_entry("compacted", &self.0.compacted)?;
        map.serialize_entry("extraMetadata", &self.0.extra_metadata)?;
        map.serialize_entry("operationType", &self.0.operation_type)
    }
}

impl Serialize for LayoutOne<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        self.fields(&mut map)?;
        map.end()
    }
}

impl Serialize for LayoutOneReplace<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        LayoutOne(self.0).fields(&mut map)?;
        map.serialize_entry(
            "partitionToReplaceFileIds",
            &self.0.partition_to_replace_file_ids,
        )?;
        map.end()
    }
}

impl Serialize for LayoutOneStat<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let value = to_value(self.0).map_err(serde::ser::Error::custom)?;
        let fields = object(&value);
        let mut map = serializer.serialize_map(None)?;
        for name in STAT_FIELDS {
            match fields.get(name) {
                Some(Value::Object(times)) if name == "runtimeStats" => {
                    map.serialize_entry(name, &Ordered(&RUNTIME_FIELDS, times))?;
                }
                other => map.serialize_entry(name, &other)?,
            }
        }
        if self.0.log_version.is_some() {
            for name in DELTA_FIELDS {
                map.serialize_entry(name, &fields.get(name))?;
            }
            map.serialize_entry("recordsStats", &BTreeMap::from([("val", Value::Null)]))?;
        }
        map.end()
    }
}

impl Serialize for Ordered<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for name in self.0 {
            map.serialize_entry(name, &self.1.get(*name))?;
        }
        map.end()
    }
}

#[cfg(test)]
mod tests;
