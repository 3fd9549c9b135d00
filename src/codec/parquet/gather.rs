//! Rows picked out of batches, and batches that are too small put together.

use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch, RecordBatchOptions};
use arrow::datatypes::{FieldRef, Schema};

use super::rows::Rows;
use crate::codec::gather::{Runs, gather};
use crate::error::{Error, Result};

/// Batches that go out as one.
pub(super) struct Gather {
    /// Go out when there are so many rows.
    target: usize,
    pieces: Vec<RecordBatch>,
    rows: usize,
}

impl Gather {
    pub(super) fn new(target: usize) -> Self {
        Self {
            target,
            pieces: Vec::new(),
            rows: 0,
        }
    }

    /// Adds rows of a batch, by their places in it.
    pub(super) fn add(&mut self, batch: &RecordBatch, places: &Rows) -> Result<()> {
        let mut ranges = places.ranges();
        let (first, more) = (ranges.next(), ranges.next());
        let piece = match (first, more) {
            (None, _) => return Ok(()),
            (Some(all), None) => batch.slice(all.start, all.len()),
            _ => joined(&[(batch, places)])?,
        };
        self.rows += piece.num_rows();
        self.pieces.push(piece);
        Ok(())
    }

    /// What has come together, once it is half of a good batch, or in any case.
    pub(super) fn take(&mut self, in_any_case: bool) -> Result<Option<RecordBatch>> {
        if self.pieces.is_empty() || (!in_any_case && self.rows < self.target / 2) {
            return Ok(None);
        }
        self.rows = 0;
        let pieces = std::mem::take(&mut self.pieces);
        if let [piece] = pieces.as_slice() {
            return Ok(Some(piece.clone()));
        }
        let whole: Vec<Rows> = pieces
            .iter()
            .map(|piece| Rows::all(piece.num_rows()))
            .collect();
        let pieces: Vec<(&RecordBatch, &Rows)> = pieces.iter().zip(&whole).collect();
        joined(&pieces).map(Some)
    }
}

/// Rows of batches of one schema, copied.
fn joined(pieces: &[(&RecordBatch, &Rows)]) -> Result<RecordBatch> {
    let Some((front, _)) = pieces.first() else {
        return Err(Error::internal("no batches to join"));
    };
    let mut runs = Runs::default();
    for (source, (_, rows)) in pieces.iter().enumerate() {
        for range in rows.ranges() {
            runs.extend(source as u32, range.start as u32, range.len() as u32);
        }
    }
    let columns = (0..front.num_columns()).map(|at| {
        let sources = pieces
            .iter()
            .filter_map(|(batch, _)| batch.columns().get(at));
        let sources: Vec<&ArrayRef> = sources.collect();
        gather(&sources, &runs).map_err(|error| {
            Error::corrupt("the values of a column are too large for one batch").with_source(error)
        })
    });
    let columns = columns.collect::<Result<Vec<ArrayRef>>>()?;
    with_rows(front.schema(), columns, runs.rows())
}

/// Columns of both batches, in the order of `from`: which batch, and which of its columns.
pub(super) fn merged(
    batches: &[RecordBatch; 2],
    from: &[(usize, usize)],
    rows: usize,
) -> Result<RecordBatch> {
    let mut fields: Vec<FieldRef> = Vec::new();
    let mut columns = Vec::new();
    for (batch, at) in from {
        let batch = batches.get(*batch);
        let field = batch.and_then(|batch| batch.schema_ref().fields().get(*at));
        let column = batch.and_then(|batch| batch.columns().get(*at));
        let (Some(field), Some(column)) = (field, column) else {
            return Err(Error::internal("a column was lost"));
        };
        fields.push(Arc::clone(field));
        columns.push(Arc::clone(column));
    }
    with_rows(Arc::new(Schema::new(fields)), columns, rows)
}

fn with_rows(schema: Arc<Schema>, columns: Vec<ArrayRef>, rows: usize) -> Result<RecordBatch> {
    let options = RecordBatchOptions::new().with_row_count(Some(rows));
    RecordBatch::try_new_with_options(schema, columns, &options)
        .map_err(|error| Error::corrupt("columns do not fit together").with_source(error))
}
