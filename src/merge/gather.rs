use std::sync::Arc;

use arrow::array::{ArrayRef, BooleanArray, RecordBatch, RecordBatchOptions};
use arrow::datatypes::SchemaRef;

use crate::codec::gather::{Runs, gather};
use crate::error::{Error, Result};

/// The rows of a batch that a mask keeps.
///
/// Errors: `Internal` when the mask is of another length.
pub fn filter_rows(batch: &RecordBatch, mask: &BooleanArray) -> Result<RecordBatch> {
    if mask.len() != batch.num_rows() {
        return Err(Error::internal("a mask of another length than its batch"));
    }
    let mut runs = Runs::default();
    for row in mask.values().set_indices() {
        runs.push(0, row as u32);
    }
    if runs.rows() == batch.num_rows() {
        return Ok(batch.clone());
    }
    let columns = batch
        .columns()
        .iter()
        .map(|column| gather(&[column], &runs));
    batch_of(
        batch.schema_ref(),
        columns.collect::<Result<_>>()?,
        runs.rows(),
    )
}

/// A batch that may have no columns.
pub(super) fn batch_of(
    schema: &SchemaRef,
    columns: Vec<ArrayRef>,
    rows: usize,
) -> Result<RecordBatch> {
    let options = RecordBatchOptions::new().with_row_count(Some(rows));
    RecordBatch::try_new_with_options(Arc::clone(schema), columns, &options).map_err(|error| {
        Error::schema("merged rows do not fit the table's schema").with_source(error)
    })
}
