use std::collections::{BTreeMap, BTreeSet};

use arrow::datatypes::Schema;

use super::record_keys::RecordKeys;
use crate::expr::Scalar;
use crate::model::PartitionPath;

/// What one instant of the data table did to its files.
#[derive(Debug, Clone, Copy)]
pub struct MetadataChange<'a> {
    /// The table's columns by name, meta columns among them where files have them: their types are those that statistics
    /// are kept in.
    pub schema: &'a Schema,
    /// Files that came, base and log files alike.
    pub added: &'a [AddedFile<'a>],
    /// Names of files that went, by partition.
    pub removed: &'a BTreeMap<PartitionPath, BTreeSet<String>>,
    /// Of those the partitions that went with all their files.
    pub dropped: &'a BTreeSet<PartitionPath>,
}

/// One file that was written.
#[derive(Debug, Clone, Copy)]
pub struct AddedFile<'a> {
    /// The partition that it lies in.
    pub partition: &'a PartitionPath,
    /// Its name, without folders.
    pub name: &'a str,
    /// The file group.
    pub file_id: &'a str,
    /// Bytes.
    pub size: u64,
    /// What is known of its columns; those without a type that statistics can hold are passed over.
    pub columns: &'a [ColumnRange],
    /// The keys that came with it and were nowhere before; `None` where nobody indexes them.
    pub keys: Option<&'a RecordKeys>,
}

/// The range of one column in one file.
///
/// Bounds are those of all values but NaN. A column that has values and no bounds is one whose range is not known.
#[derive(Debug, Clone, PartialEq)]
pub struct ColumnRange {
    /// The column, on the top level.
    pub name: Box<str>,
    /// The least value, in the column's unit and scale.
    pub min: Option<Scalar>,
    /// The greatest value.
    pub max: Option<Scalar>,
    /// Whether a float column holds a NaN, which is in no bound.
    pub has_nan: bool,
    /// Rows without a value.
    pub null_count: u64,
    /// Rows, nulls among them.
    pub value_count: u64,
    /// Bytes of the column's chunks in the file.
    pub total_size: u64,
    /// The same before compression.
    pub total_uncompressed_size: u64,
}
