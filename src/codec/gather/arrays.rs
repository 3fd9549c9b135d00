use arrow::array::{Array, ArrayRef, MutableArrayData, make_array, new_null_array};

use super::patch::{Patched, patch};
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
    one_type(first, sources)?;
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

/// As [`gather`], of a first array that is given up: where rows of it are only replaced, it is written over.
///
/// Errors: as those of [`gather`].
pub fn replace(first: ArrayRef, others: &[&ArrayRef], runs: &Runs) -> Result<ArrayRef> {
    one_type(&first, others)?;
    match patch(first, others, runs).ok_or_else(misfit)? {
        Patched::Done(array) => Ok(array),
        Patched::Not(first) => {
            let mut sources = Vec::with_capacity(others.len() + 1);
            sources.push(&first);
            sources.extend_from_slice(others);
            gather(&sources, runs)
        }
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

fn one_type(first: &ArrayRef, others: &[&ArrayRef]) -> Result<()> {
    let same = |other: &&ArrayRef| other.data_type() == first.data_type();
    others.iter().all(same).then_some(()).ok_or_else(misfit)
}

fn misfit() -> Error {
    Error::internal("rows are picked from arrays that do not fit")
}

#[cfg(test)]
mod tests;
