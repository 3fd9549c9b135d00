use std::collections::VecDeque;
use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch, RecordBatchOptions};
use arrow::datatypes::SchemaRef;

use super::columns::Columns;
use super::gather::Gather;
use super::group::{Column, Group};
use super::rows::{Batch, Rows, Step as Walk};
use crate::error::{Error, Result};

/// Some columns being decoded.
pub(super) struct Reading {
    schema: SchemaRef,
    columns: Vec<Column>,
    /// The rows that are decoded.
    walk: Walk,
    batch_rows: usize,
    pub(super) gather: Gather,
    /// Gathered, and not given yet.
    pub(super) ready: VecDeque<RecordBatch>,
    pub(super) ended: bool,
}

impl Reading {
    /// Begins to decode the wanted rows of some columns, whose bytes are there.
    pub(super) fn new(
        group: &Group,
        columns: &Columns,
        wanted: &Rows,
        batch_rows: usize,
    ) -> Result<Self> {
        Ok(Self {
            schema: group.schema(columns)?,
            columns: group.columns(columns)?,
            walk: Walk::through(wanted.clone()),
            batch_rows,
            gather: Gather::new(batch_rows),
            ready: VecDeque::new(),
            ended: false,
        })
    }

    /// The next batch, in the order of the rows, and which they are; `None` behind the last one.
    pub(super) fn decode(&mut self) -> Result<Option<(RecordBatch, Batch)>> {
        let rows = self.walk.next(self.batch_rows);
        if rows.is_empty() {
            return Ok(None);
        }
        let columns = self.columns.iter_mut().map(|column| column.read(&rows));
        let columns = columns.collect::<Result<Vec<ArrayRef>>>()?;
        let options = RecordBatchOptions::new().with_row_count(Some(rows.len()));
        let schema = Arc::clone(&self.schema);
        let batch = RecordBatch::try_new_with_options(schema, columns, &options)
            .map_err(|error| Error::corrupt("columns do not fit together").with_source(error))?;
        Ok(Some((batch, Batch(rows))))
    }
}
