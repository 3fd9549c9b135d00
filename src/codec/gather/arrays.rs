use arrow::array::{Array, ArrayRef, MutableArrayData, make_array, new_null_array};

use super::plain;
use super::runs::{NO_SOURCE, Run, Runs};
use crate::error::{Error, Result};

/// The rows of `runs` out of arrays of one type.
///
/// Errors: `Internal` when the arrays are of several types, a run is beyond its array, or the rows are too large for one
/// array.
pub fn gather(sources: &[&ArrayRef], runs: &Runs) -> Result<ArrayRef> {
    let first = sources.first().ok_or_else(misfit)?;
    let data_type = first.data_type();
    if sources.iter().any(|source| source.data_type() != data_type) {
        return Err(misfit());
    }
    match runs.as_slice() {
        [] => return Ok(new_null_array(data_type, 0)),
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
    match plain::gather(sources, runs) {
        Some(gathered) => Ok(gathered),
        None => any_type(sources, runs),
    }
}

/// Arrays of every type, by Arrow's own copies of ranges.
fn any_type(sources: &[&ArrayRef], runs: &Runs) -> Result<ArrayRef> {
    let nulls = runs.as_slice().iter().any(|run| run.source == NO_SOURCE);
    let data: Vec<_> = sources.iter().map(|source| source.to_data()).collect();
    let mut gathered = MutableArrayData::new(data.iter().collect(), nulls, runs.rows());
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

fn misfit() -> Error {
    Error::internal("rows are picked from arrays that do not fit")
}

#[cfg(test)]
mod tests;
