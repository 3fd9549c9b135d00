//! Rows picked from arrays, by ranges: the `take` and `filter` kernels would bring half a megabyte each.

use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, BooleanArray, MutableArrayData, RecordBatch, RecordBatchOptions, make_array,
    new_null_array,
};
use arrow::datatypes::SchemaRef;

use crate::error::{Error, Result};

mod plain;

/// Consecutive rows of one source; of none where `source` is [`NO_SOURCE`], which gives nulls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Run {
    pub(super) source: u32,
    pub(super) start: u32,
    pub(super) rows: u32,
}

pub(super) const NO_SOURCE: u32 = u32::MAX;

/// Runs put together row by row.
#[derive(Debug, Default)]
pub struct Runs {
    runs: Vec<Run>,
    rows: usize,
}

impl Runs {
    /// Adds a row.
    pub fn push(&mut self, source: u32, row: u32) {
        self.rows += 1;
        if let Some(last) = self.runs.last_mut()
            && last.source == source
            && (source == NO_SOURCE || last.start + last.rows == row)
        {
            last.rows += 1;
            return;
        }
        self.runs.push(Run {
            source,
            start: row,
            rows: 1,
        });
    }

    /// The same rows of sources that have other numbers.
    pub(super) fn renumbered(&self, number: impl Fn(u32) -> u32) -> Self {
        let runs = self.runs.iter().map(|run| Run {
            source: number(run.source),
            ..*run
        });
        Self {
            runs: runs.collect(),
            rows: self.rows,
        }
    }

    /// How many rows they are.
    pub fn rows(&self) -> usize {
        self.rows
    }

    pub(super) fn as_slice(&self) -> &[Run] {
        &self.runs
    }
}

/// The rows of `runs` out of arrays of one type.
///
/// Errors: `Internal` when the arrays are of several types or a run is beyond its array.
pub fn gather(sources: &[&ArrayRef], runs: &Runs) -> Result<ArrayRef> {
    let misfit = || Error::internal("rows are picked from arrays that do not fit");
    let first = sources.first().ok_or_else(misfit)?;
    if sources
        .iter()
        .any(|source| source.data_type() != first.data_type())
    {
        return Err(misfit());
    }
    match runs.as_slice() {
        [] => return Ok(new_null_array(first.data_type(), 0)),
        [
            Run {
                source,
                start,
                rows,
            },
        ] if *source != NO_SOURCE => {
            let array = sources.get(*source as usize).ok_or_else(misfit)?;
            let (start, rows) = (*start as usize, *rows as usize);
            let within = start + rows <= array.len();
            return within.then(|| array.slice(start, rows)).ok_or_else(misfit);
        }
        _ => {}
    }
    let nulls = runs.runs.iter().any(|run| run.source == NO_SOURCE);
    if !nulls && let Some(gathered) = plain::gather(sources, runs) {
        return Ok(gathered);
    }
    let data: Vec<_> = sources.iter().map(|source| source.to_data()).collect();
    let mut gathered = MutableArrayData::new(data.iter().collect(), nulls, runs.rows);
    for run in runs.as_slice() {
        let (start, rows) = (run.start as usize, run.rows as usize);
        if run.source == NO_SOURCE {
            gathered
                .try_extend_nulls(rows)
                .map_err(|e| misfit().with_source(e))?;
            continue;
        }
        let source = run.source as usize;
        let within = data
            .get(source)
            .is_some_and(|data| start + rows <= data.len());
        if !within {
            return Err(misfit());
        }
        let extended = gathered.try_extend(source, start, start + rows);
        extended.map_err(|e| misfit().with_source(e))?;
    }
    Ok(make_array(gathered.freeze()))
}

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
