//! What became of the files of a write.

use crate::codec::parquet::ColumnSummary;
use crate::index::{AddedFile, ColumnRange, RecordKeys};
use crate::model::PartitionPath;
use crate::timeline::payload::WriteStat;

/// One base file that was written.
#[derive(Debug)]
pub struct WrittenFile {
    /// Its partition.
    pub partition: PartitionPath,
    /// Whether the partition was made for it.
    pub new_partition: bool,
    /// Its name.
    pub name: String,
    /// What Java reports of it.
    pub stat: WriteStat,
    /// The record keys in the order of its rows; empty when nobody asked for them.
    pub keys: RecordKeys,
    /// The columns that column statistics may be kept of, meta fields among them: those of the root that hold one value. One with
    /// a NaN has no bounds, and neither has one whose bounds are longer than 4096 bytes together, which Java leaves out.
    pub columns: Vec<ColumnRange>,
}

impl WrittenFile {
    /// The file as the metadata table is told of it.
    pub fn added(&self) -> AddedFile<'_> {
        AddedFile {
            partition: &self.partition,
            name: &self.name,
            file_id: &self.stat.file_id,
            size: u64::try_from(self.stat.file_size_in_bytes).unwrap_or_default(),
            columns: &self.columns,
            keys: (!self.keys.is_empty()).then_some(&self.keys),
        }
    }
}

/// The ranges of a file's root columns.
pub(super) fn ranges(columns: Vec<ColumnSummary>) -> Vec<ColumnRange> {
    let ranges = columns.into_iter().filter_map(|column| {
        let [name] = <[String; 1]>::try_from(column.path).ok()?;
        let (min, max) = column.bounds.unzip();
        column.flat.then_some(ColumnRange {
            name: name.into(),
            min,
            max,
            has_nan: column.nan,
            null_count: column.null_count,
            value_count: column.value_count,
            total_size: column.total_size,
            total_uncompressed_size: column.total_uncompressed_size,
        })
    });
    ranges.collect()
}
