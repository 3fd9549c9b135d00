use std::collections::VecDeque;
use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch, RecordBatchOptions};
use arrow::datatypes::SchemaRef;
use parquet::arrow::arrow_reader::ParquetRecordBatchReader;

use super::columns::Columns;
use super::flat::FlatColumn;
use super::gather::Gather;
use super::group::Group;
use super::rows::{Batch, Rows, Step as Walk};
use crate::error::{Error, Result};

/// Some columns being decoded: those without nesting here, the others by the `parquet` crate.
pub(super) struct Reading {
    schema: SchemaRef,
    /// The columns of the schema: `None` where the crate decodes it.
    flat: Vec<Option<FlatColumn>>,
    /// The columns that the crate decodes.
    other: Columns,
    batches: Option<ParquetRecordBatchReader>,
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
        let (flat, other) = group.flat(columns)?;
        let rows = match other.is_empty() {
            true => wanted.clone(),
            false => wanted.with_short_gaps(group.rows()),
        };
        let batches = match other.is_empty() {
            true => None,
            false => Some(group.decode(&other, &rows, batch_rows)?),
        };
        Ok(Self {
            schema: group.schema(columns)?,
            flat,
            other,
            batches,
            walk: Walk::through(rows),
            batch_rows,
            gather: Gather::new(batch_rows),
            ready: VecDeque::new(),
            ended: false,
        })
    }

    /// The next batch, in the order of the rows, and which they are; `None` behind the last one.
    pub(super) fn decode(&mut self, group: &Group) -> Result<Option<(RecordBatch, Batch)>> {
        let other = match &mut self.batches {
            None => None,
            Some(batches) => match batches.next() {
                Some(Ok(batch)) => Some(group.finish(batch, &self.other)?),
                Some(Err(error)) => return Err(group.failed(error.into())),
                None if !self.walk.is_done() => {
                    return Err(Error::corrupt("a column has fewer rows than its file"));
                }
                None => return Ok(None),
            },
        };
        let most = other
            .as_ref()
            .map_or(self.batch_rows, RecordBatch::num_rows);
        let rows = self.walk.next(most);
        if rows.is_empty() {
            return Ok(None);
        }
        let mut others = other.iter().flat_map(RecordBatch::columns);
        let columns = self.flat.iter_mut().map(|flat| match flat {
            Some(flat) => flat.read(&rows),
            None => {
                let column = others.next().map(Arc::clone);
                column.ok_or_else(|| Error::internal("a column was lost"))
            }
        });
        let columns = columns.collect::<Result<Vec<ArrayRef>>>()?;
        let options = RecordBatchOptions::new().with_row_count(Some(rows.len()));
        let schema = Arc::clone(&self.schema);
        let batch = RecordBatch::try_new_with_options(schema, columns, &options)
            .map_err(|error| Error::corrupt("columns do not fit together").with_source(error))?;
        Ok(Some((batch, Batch(rows))))
    }
}
