//! Statistics of columns, as the metadata table keeps them for each file and partition, turned into bounds.

use std::collections::{BTreeMap, HashMap};

use arrow::datatypes::{DataType, Schema};
use futures::future::try_join_all;

use super::metadata_table::MetadataTable;
use super::partition::{PARTITION_STATS, column_prefix, partition_part};
use super::payload::{ColumnStats, Payload};
use super::stats_value::scalar;
use crate::codec::hfile::Query;
use crate::error::Result;
use crate::expr::{Bounds, ColumnBounds, Scalar};
use crate::model::{FileSlice, PartitionPath};
use crate::storage::Storage;

/// With more pairs of columns and partitions than this, whole columns are looked up.
const MOST_PREFIXES: usize = 256;

/// Characters of a hash in a key.
const PART: usize = 12;

/// Hudi's `ValueType` of a log file that holds no value.
const NULL_TYPE: u32 = 1;

/// Statistics of some columns, by the partition's part of the key, then by file name; of partitions the file name is empty.
#[derive(Debug, Default)]
pub struct StoredStats(HashMap<(String, String), BTreeMap<String, ColumnStats>>);

impl MetadataTable {
    /// Statistics of some columns of files or partitions, by the partition `column_stats` or `partition_stats`; `None` when there is no
    /// such index.
    pub async fn stats(
        &self,
        storage: &Storage,
        index: &str,
        columns: &[&str],
        partitions: &[&PartitionPath],
    ) -> Result<Option<StoredStats>> {
        if !self.has(index) {
            return Ok(None);
        }
        let query = match columns.len().saturating_mul(partitions.len()) {
            ..=MOST_PREFIXES => Query::prefixes(columns.iter().flat_map(|column| {
                let column = column_prefix(column);
                let parts = partitions.iter().map(|partition| partition_part(partition));
                parts
                    .map(|part| format!("{column}{part}"))
                    .collect::<Vec<_>>()
            })),
            _ => Query::prefixes(columns.iter().map(|column| column_prefix(column))),
        };
        let shards = self.shards(storage, index).await?;
        let found = try_join_all(shards.iter().map(|shard| shard.find(storage, &query))).await?;
        let mut stats = StoredStats::default();
        for (key, payload) in found.into_iter().flatten() {
            let part = key
                .get(PART..2 * PART)
                .and_then(|part| std::str::from_utf8(part).ok());
            if let (Some(part), Payload::Stats(entry)) = (part, payload) {
                let name = match index {
                    PARTITION_STATS => String::new(),
                    _ => entry.file_name.clone(),
                };
                let of_file = stats.0.entry((part.to_owned(), name)).or_default();
                of_file.insert(entry.column.clone(), *entry);
            }
        }
        Ok(Some(stats))
    }
}

impl StoredStats {
    /// What is known of one column of one file.
    pub fn of_file(
        &self,
        partition: &PartitionPath,
        name: &str,
        column: &str,
    ) -> Option<&ColumnStats> {
        let of_file = self.0.get(&(partition_part(partition), name.to_owned()))?;
        of_file.get(column)
    }

    /// The bounds of a file slice: those of its base file and of all its logs.
    pub fn slice<'a>(&'a self, slice: &'a FileSlice, schema: &'a Schema) -> impl Bounds + 'a {
        SliceBounds {
            stats: self,
            slice,
            schema,
        }
    }

    /// The bounds of a column in one file; of none a file that has no rows of its own. `None` when it is not known.
    pub fn file(
        &self,
        partition: &PartitionPath,
        path: &str,
        column: &str,
        schema: &Schema,
    ) -> Option<ColumnBounds> {
        let data_type = bounded_type(schema, column)?;
        let name = path.rsplit('/').next().unwrap_or(path);
        let stats = self.of_file(partition, name, column)?;
        Some(of_file(stats, data_type).unwrap_or_else(ColumnBounds::of_no_rows))
    }

    /// The bounds of a partition.
    pub fn partition<'a>(
        &'a self,
        partition: &'a PartitionPath,
        schema: &'a Schema,
    ) -> impl Bounds + 'a {
        PartitionBounds {
            stats: self,
            partition,
            schema,
        }
    }
}

/// The bounds of a slice.
///
/// 1. Every file with rows must have statistics of the column; one without leaves nothing known, since its rows may be
///    anything, nulls too.
/// 2. Nothing is said of floats: Hudi counts a NaN as 0, and as no null.
struct SliceBounds<'a> {
    stats: &'a StoredStats,
    slice: &'a FileSlice,
    schema: &'a Schema,
}

impl Bounds for SliceBounds<'_> {
    fn column(&self, path: &[String]) -> Option<ColumnBounds> {
        let [column] = path else {
            return None;
        };
        let data_type = bounded_type(self.schema, column)?;
        let base = self.slice.base.iter().map(|base| base.path.as_str());
        let logs = self.slice.data_logs().map(|log| log.path.as_str());
        let mut known: Option<ColumnBounds> = None;
        for path in base.chain(logs) {
            let name = path.rsplit('/').next().unwrap_or(path);
            let stats = self.stats.of_file(&self.slice.partition, name, column)?;
            known = match (of_file(stats, data_type), known) {
                (None, known) => known,
                (Some(bounds), None) => Some(bounds),
                (Some(bounds), Some(known)) => Some(known.union(bounds)),
            };
        }
        known
    }
}

/// The bounds of a partition: minimum and maximum alone, since files without statistics do not count in its nulls. Nothing
/// is said of text, of which a file has no bounds when a value is long.
struct PartitionBounds<'a> {
    stats: &'a StoredStats,
    partition: &'a PartitionPath,
    schema: &'a Schema,
}

impl Bounds for PartitionBounds<'_> {
    fn column(&self, path: &[String]) -> Option<ColumnBounds> {
        let [column] = path else {
            return None;
        };
        let data_type = bounded_type(self.schema, column)?;
        let stats = self.stats.of_file(self.partition, "", column)?;
        if *data_type == DataType::Utf8 || !stats.tight {
            return None;
        }
        let bounds = of_file(stats, data_type)?;
        Some(ColumnBounds {
            null_count: None,
            value_count: None,
            ..bounds
        })
    }
}

/// The type of a column whose statistics may be believed.
fn bounded_type<'a>(schema: &'a Schema, column: &str) -> Option<&'a DataType> {
    let data_type = schema.field_with_name(column).ok()?.data_type();
    let floats = matches!(
        data_type,
        DataType::Float16 | DataType::Float32 | DataType::Float64
    );
    (!floats).then_some(data_type)
}

/// The bounds of one file; `None` for a file that has no rows of its own.
fn of_file(stats: &ColumnStats, data_type: &DataType) -> Option<ColumnBounds> {
    let is_null = matches!(stats.value_type, Some((NULL_TYPE, _)));
    let (nulls, rows) = (stats.null_count, stats.value_count);
    if rows == Some(0) && (is_null || nulls == Some(0)) {
        return None;
    }
    let all_null = nulls.is_some() && nulls == rows;
    // Of a column without a value Hudi writes zeros.
    let bound = |value| match all_null {
        true => None,
        false => scalar(value, data_type, stats.value_type.as_ref()),
    };
    Some(ColumnBounds {
        min: bound(&stats.min).filter(|min| min_holds(min, data_type)),
        max: bound(&stats.max).filter(|max| max_holds(max, data_type)),
        null_count: nulls,
        value_count: rows,
    })
}

/// Java orders text of log files by UTF-16. Of a least text with a character beyond the first plane, there may be one that is
/// less by bytes.
fn min_holds(min: &Scalar, data_type: &DataType) -> bool {
    let beyond = |text: &[u8]| text.iter().any(|byte| *byte >= 0xf0);
    !matches!((data_type, min), (DataType::Utf8, Scalar::Bytes(text)) if beyond(text))
}

/// The same of a greatest text with a character from U+E000 to U+FFFF, behind which UTF-16 puts nothing.
fn max_holds(max: &Scalar, data_type: &DataType) -> bool {
    let late = |text: &[u8]| text.iter().any(|byte| matches!(byte, 0xee | 0xef));
    !matches!((data_type, max), (DataType::Utf8, Scalar::Bytes(text)) if late(text))
}

#[cfg(test)]
mod tests;
