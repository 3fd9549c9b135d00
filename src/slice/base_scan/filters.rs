//! Row groups ruled out by Bloom filters in the file, where these cost little.

use std::ops::Range;

use arrow::datatypes::DataType;

use super::{Filtering, INDEX_SHARE, Scan, WORTH_A_ROUND};
use crate::codec::bloom::StoredFilter;
use crate::codec::parquet::{BlockFilter, Leaf};
use crate::error::{Error, Result};
use crate::expr::Scalar;
use crate::model::meta_field::RECORD_KEY;
use crate::slice::base_bounds::select_rows;

/// Values that filters are asked for at most.
const MOST_VALUES: usize = 10_000;

/// The filters of one column: that of each row group by its place, and what the column must have one of.
struct Asked {
    ranges: Vec<(usize, Range<u64>)>,
    values: Vec<Vec<u8>>,
}

impl Scan {
    /// Drops row groups whose Bloom filters hold none of the values that a column must have one of.
    ///
    /// Hudi's filter of record keys is asked when its text came with the footer: it takes more bytes than the keys mostly. Those of
    /// Parquet are fetched when they are small beside the columns. A filter that is broken is warned of and not used.
    pub(in crate::slice) async fn ask_filters(&mut self) -> Result<()> {
        if !matches!(self.filtering, Filtering::Rows(..)) || self.groups.is_empty() {
            return Ok(());
        }
        if self.lacks_keys() {
            let metrics = self.file.storage.metrics();
            metrics.add_row_groups_pruned(self.groups.len() as u64);
            self.groups.clear();
        }
        for asked in self.own_filters() {
            let ranges: Vec<_> = asked
                .ranges
                .iter()
                .map(|(_, range)| range.clone())
                .collect();
            if !self.is_cheap(&ranges) {
                continue;
            }
            let bytes = self.file.bytes(&ranges).await?;
            let mut gone = Vec::new();
            for ((group, _), bytes) in asked.ranges.iter().zip(&bytes) {
                match BlockFilter::read(bytes) {
                    Ok(filter) if !asked.values.iter().any(|value| filter.may_hold(value)) => {
                        gone.push(*group);
                    }
                    Ok(_) => {}
                    Err(error) => self.warn_of(&error),
                }
            }
            self.groups.retain(|piece| !gone.contains(&piece.group));
            let metrics = self.file.storage.metrics();
            metrics.add_row_groups_pruned(gone.len() as u64);
        }
        Ok(())
    }

    fn warn_of(&self, error: &Error) {
        let text = format!("a Bloom filter is not used: {error}");
        self.file.storage.warn(&text, Some(&self.file.path));
    }

    /// Whether Hudi's filter is here and holds none of the record keys that pass.
    fn lacks_keys(&self) -> bool {
        let keys = self.request.predicate.one_of(RECORD_KEY);
        let filter = self.file.footer.bloom_filter();
        let (Some(keys), Some((kind, range))) = (keys, filter) else {
            return false;
        };
        let Some(text) = self.file.here(&range).filter(|_| keys.len() <= MOST_VALUES) else {
            return false;
        };
        match StoredFilter::read(kind, &text) {
            Ok(filter) => !keys.iter().any(|key| match key {
                Scalar::Bytes(key) => filter.may_hold(key),
                _ => true,
            }),
            Err(error) => {
                self.warn_of(&error);
                false
            }
        }
    }

    /// Parquet's filters of columns that must have one of some values.
    fn own_filters(&self) -> Vec<Asked> {
        let predicate = &self.request.predicate;
        let columns = predicate.columns().into_iter();
        columns
            .filter_map(|column| self.own_filter(column))
            .collect()
    }

    fn own_filter(&self, column: &str) -> Option<Asked> {
        let footer = &self.file.footer;
        let wanted = self.request.predicate.one_of(column)?;
        let path = self.request.names.path(&[column.to_owned()])?;
        let leaf = Leaf::find(footer, &path)?;
        let field = self.request.schema.field_with_name(column).ok()?;
        let same = leaf.data_type() == field.data_type() && wanted.len() <= MOST_VALUES;
        if !same || self.request.constant(column).is_some() {
            return None;
        }
        let values = wanted
            .into_iter()
            .map(|value| plain(value, field.data_type()));
        let values = values.collect::<Option<Vec<_>>>()?;
        let groups = self.groups.iter().map(|piece| piece.group);
        let ranges = groups.filter_map(|group| Some((group, footer.block_filter(group, &leaf)?)));
        let ranges: Vec<_> = ranges.collect();
        (!ranges.is_empty()).then_some(Asked { ranges, values })
    }

    /// Whether filters came with the footer, or are so much smaller than what is to be read of the columns.
    fn is_cheap(&self, ranges: &[Range<u64>]) -> bool {
        let columns: u64 = self
            .groups
            .iter()
            .map(|piece| self.selected_bytes(piece.group))
            .sum();
        let filters: u64 = ranges.iter().map(|range| range.end - range.start).sum();
        let worth = columns >= WORTH_A_ROUND && filters <= columns / INDEX_SHARE;
        worth || ranges.iter().all(|range| self.file.has(range))
    }

    /// About the bytes of a row group's columns in the pages that may have rows.
    fn selected_bytes(&self, group: usize) -> u64 {
        let bytes = self.all_bytes(group);
        let rows = self.file.footer.group_rows(group).max(1);
        let selected = select_rows(&self.file.footer, &self.request, group);
        selected.map_or(bytes, |kept| bytes / rows * kept.row_count() as u64)
    }
}

/// A value as Parquet's filters hash it; only of types whose values every writer stores alike.
fn plain(value: &Scalar, data_type: &DataType) -> Option<Vec<u8>> {
    match (value, data_type) {
        (Scalar::Int(value), DataType::Int32 | DataType::Date32) => {
            let value = i32::try_from(*value).ok()?;
            Some(value.to_le_bytes().to_vec())
        }
        (Scalar::Int(value), DataType::Int64) => Some(value.to_le_bytes().to_vec()),
        (Scalar::Bytes(value), DataType::Utf8) => Some(value.clone()),
        _ => None,
    }
}
