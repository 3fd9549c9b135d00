use arrow::array::{RecordBatch, RecordBatchOptions};
use arrow::datatypes::Schema;
use parquet::arrow::ProjectionMask;
use parquet::file::metadata::ColumnChunkMetaData;

use super::footer::Footer;
use crate::error::{Error, Result};

/// Some of a file's root columns, nested ones with all that is in them.
#[derive(Debug, Clone)]
pub struct Columns {
    mask: ProjectionMask,
    roots: Vec<usize>,
}

impl Columns {
    /// The columns of these names that the file has.
    pub fn by_name<'a>(footer: &Footer, names: impl IntoIterator<Item = &'a str>) -> Self {
        let schema = footer.arrow().schema();
        let roots = names
            .into_iter()
            .filter_map(|name| schema.index_of(name).ok());
        let mut roots: Vec<usize> = roots.collect();
        roots.sort_unstable();
        roots.dedup();
        let mask = ProjectionMask::roots(footer.arrow().parquet_schema(), roots.iter().copied());
        Self { mask, roots }
    }

    /// Whether a leaf of the file's schema is of these columns.
    pub(super) fn has_leaf(&self, leaf: usize) -> bool {
        self.mask.leaf_included(leaf)
    }

    /// Whether no column is among them.
    pub fn is_empty(&self) -> bool {
        self.roots.is_empty()
    }

    /// These columns as the file has them.
    pub fn schema(&self, footer: &Footer) -> Result<Schema> {
        let projected = footer.arrow().schema().project(&self.roots);
        projected.map_err(|error| Error::internal("no such column").with_source(error))
    }

    /// These columns without those of `other`.
    #[must_use]
    pub fn without(&self, footer: &Footer, other: &Self) -> Self {
        let roots = self.roots.iter();
        let roots = roots.filter(|root| !other.roots.contains(root));
        let roots: Vec<usize> = roots.copied().collect();
        let mask = ProjectionMask::roots(footer.arrow().parquet_schema(), roots.iter().copied());
        Self { mask, roots }
    }

    /// Their numbers among the file's root columns, rising.
    pub(super) fn roots(&self) -> &[usize] {
        &self.roots
    }

    /// How many columns there are, nested ones counted once.
    pub(super) fn len(&self) -> usize {
        self.roots.len()
    }

    /// These columns out of a batch of `other`, as far as it has them, with its rows in any case.
    pub(super) fn within(&self, other: &Self, batch: &RecordBatch) -> Result<RecordBatch> {
        let places = self.roots.iter();
        let places = places.filter_map(|root| other.roots.binary_search(root).ok());
        let places: Vec<usize> = places.collect();
        let chosen = places
            .iter()
            .filter_map(|at| batch.columns().get(*at).cloned());
        let schema = batch.schema_ref().project(&places);
        let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
        schema
            .and_then(|schema| {
                RecordBatch::try_new_with_options(schema.into(), chosen.collect(), &options)
            })
            .map_err(|error| Error::internal("a column was lost").with_source(error))
    }

    /// Where each column stands: `(1, place)` when `rest` has it, else `(0, place among those that it lacks)`.
    pub(super) fn sources(&self, rest: &Self) -> Vec<(usize, usize)> {
        let mut lacking = 0..;
        let sources = self.roots.iter().filter_map(|root| {
            let found = rest.roots.binary_search(root);
            found
                .ok()
                .map(|at| (1, at))
                .or_else(|| Some((0, lacking.next()?)))
        });
        sources.collect()
    }

    /// The bytes of these columns in a row group: as stored, and decompressed.
    pub fn bytes(&self, footer: &Footer, group: usize) -> (u64, u64) {
        let chunks = self.chunks(footer, group);
        chunks.fold((0, 0), |(stored, plain): (u64, u64), chunk| {
            let add = |sum: u64, size: i64| sum.saturating_add(u64::try_from(size).unwrap_or(0));
            (
                add(stored, chunk.compressed_size()),
                add(plain, chunk.uncompressed_size()),
            )
        })
    }

    /// The most values that one of these columns has in a row group, nulls and empty lists among them.
    pub(super) fn values(&self, footer: &Footer, group: usize) -> u64 {
        let chunks = self.chunks(footer, group);
        let values = chunks.filter_map(|chunk| u64::try_from(chunk.num_values()).ok());
        values.max().unwrap_or(0)
    }

    fn chunks<'a>(
        &'a self,
        footer: &'a Footer,
        group: usize,
    ) -> impl Iterator<Item = &'a ColumnChunkMetaData> {
        let group = footer.metadata().row_groups().get(group);
        let chunks = group.into_iter().flat_map(|group| group.columns().iter());
        let chosen = chunks
            .enumerate()
            .filter(|(at, _)| self.mask.leaf_included(*at));
        chosen.map(|(_, chunk)| chunk)
    }
}
