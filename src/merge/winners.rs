//! The rows that won in the logs: in their blocks where most rows of these won, else gathered from them.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, new_null_array};
use arrow::buffer::BooleanBuffer;
use arrow::datatypes::FieldRef;

use super::changes::{Changes, Entry, Present, Source};
use super::layers::present;
use crate::codec::gather::{NO_SOURCE, Run, Runs, gather};
use crate::error::{Error, Result};
use crate::model::meta_field;

/// One row for each key that is not deleted, by the order of the keys.
#[derive(Debug)]
pub(super) struct Winners {
    /// Of each column the arrays that rows are in, one when they were gathered.
    columns: Vec<Vec<ArrayRef>>,
    /// Where each row is: which array, and which row of it; `None` when they were gathered.
    places: Option<Vec<(u32, u32)>>,
    present: Vec<Present>,
    /// The row of each key.
    rows: Vec<u32>,
    /// Whether a base row may give some of a row's columns.
    mixes: bool,
}

/// What gathering looks at.
struct Gathering<'a> {
    changes: &'a Changes,
    /// Without the deleted ones.
    entries: &'a [Entry],
    /// Where a source gives a column, by the rule of filling: of one column at a time.
    present: Vec<Present>,
}

impl Winners {
    /// Takes the blocks' columns, or gathers the winners of them and lets go of the rest.
    pub(super) fn new(changes: &mut Changes) -> Result<Self> {
        let mut rows = Vec::with_capacity(changes.entries.len());
        let mut entries = Vec::with_capacity(changes.entries.len());
        for entry in &changes.entries {
            rows.push(entries.len() as u32);
            if !entry.deleted {
                entries.push(*entry);
            }
        }
        let mixes = changes.partial || changes.rules.fill.is_some();
        let shared = shared(changes, &entries);
        if let Some(runs) = shared.as_ref().filter(|_| !mixes)
            && let Some((columns, places)) = most(changes, runs)
        {
            return Ok(Self {
                present: vec![None; columns.len()],
                places: Some(places),
                columns,
                rows,
                mixes,
            });
        }
        let fields = Arc::clone(changes.columns.schema());
        let mut columns = Vec::with_capacity(fields.fields().len());
        let mut given = Vec::with_capacity(fields.fields().len());
        for (at, field) in fields.fields().iter().enumerate() {
            let mut gathering = Gathering {
                changes,
                entries: &entries,
                present: Vec::new(),
            };
            let (column, present) = gathering.column(at, field, shared.as_ref())?;
            columns.push(vec![column]);
            given.push(present);
            // So at most one column is there twice.
            changes.sources.drop_column(at);
        }
        Ok(Self {
            columns,
            places: None,
            present: given,
            mixes,
            rows,
        })
    }

    pub(super) fn mixes(&self) -> bool {
        self.mixes
    }

    /// The row of a key that is not deleted.
    pub(super) fn row(&self, number: u32) -> u32 {
        self.rows.get(number as usize).copied().unwrap_or(0)
    }

    /// Which of a column's arrays a row is in, and which row of it.
    pub(super) fn place(&self, row: u32) -> (u32, u32) {
        match &self.places {
            None => (0, row),
            Some(places) => places.get(row as usize).copied().unwrap_or((0, 0)),
        }
    }

    /// The arrays that a column's rows are in.
    pub(super) fn column(&self, at: usize) -> Result<&[ArrayRef]> {
        let column = self.columns.get(at);
        let column = column.ok_or_else(|| Error::internal("a column of the logs was lost"))?;
        Ok(column)
    }

    pub(super) fn present(&self, at: usize) -> Option<&BooleanBuffer> {
        self.present.get(at)?.as_ref()
    }

    pub(super) fn memory(&self) -> usize {
        let arrays = self.columns.iter().flatten();
        let columns: usize = arrays.map(|array| array.get_array_memory_size()).sum();
        let places = self.places.as_ref().map_or(0, Vec::capacity);
        columns + self.rows.capacity() * 4 + places * size_of::<(u32, u32)>()
    }
}

/// The rows, when they are the same for every column.
fn shared(changes: &Changes, entries: &[Entry]) -> Option<Runs> {
    let same = changes.layers.is_empty() && !changes.rules.meta_of_later && !changes.partial;
    same.then(|| {
        let mut runs = Runs::default();
        for entry in entries {
            let (source, row) = changes.sources.place(entry.version);
            runs.push(source as u32, row as u32);
        }
        runs
    })
}

/// Winners stay in no more blocks than these: each base batch looks at all of them.
const MOST_BLOCKS: u32 = 64;

/// Nor in larger ones: what lost is held with them.
const MOST_BYTES: usize = 16 << 20;

/// The columns of the blocks, and where the winners are in them, when these are few and small and at least three of four rows have
/// won: else the winners are gathered, and what they won over is let go of.
#[allow(clippy::type_complexity, reason = "two lists, taken apart at once")]
fn most(changes: &mut Changes, winners: &Runs) -> Option<(Vec<Vec<ArrayRef>>, Vec<(u32, u32)>)> {
    let sources = changes.sources.list();
    // Delete blocks have no columns, and no winners.
    let mut numbers = Vec::with_capacity(sources.len());
    let mut held = 0;
    for source in sources {
        numbers.push(held);
        held += u32::from(source.column(0).is_some());
    }
    let rows = sources
        .iter()
        .filter_map(|source| Some(source.column(0)?.len()));
    let many = held > MOST_BLOCKS || changes.sources.bytes() > MOST_BYTES;
    if held == 0 || many || winners.rows() * 4 < rows.sum::<usize>() * 3 {
        return None;
    }
    let of_run = |run: &Run| {
        let number = numbers.get(run.source as usize).copied().unwrap_or(0);
        (run.start..run.start + run.rows).map(move |row| (number, row))
    };
    let places = winners.as_slice().iter().flat_map(of_run).collect();
    let count = changes.columns.schema().fields().len();
    let columns = (0..count).map(|at| {
        let of_column = changes.sources.list().iter();
        let arrays = of_column.filter_map(|source| source.column(at).cloned());
        let arrays: Vec<ArrayRef> = arrays.collect();
        changes.sources.drop_column(at);
        arrays
    });
    Some((columns.collect(), places))
}

impl Gathering<'_> {
    fn column(
        &mut self,
        at: usize,
        field: &FieldRef,
        shared: Option<&Runs>,
    ) -> Result<(ArrayRef, Present)> {
        self.find_present(at, field)?;
        let own;
        let runs = match shared {
            Some(runs) => runs,
            None => {
                own = self.runs(at, field);
                &own
            }
        };
        let sources = self.changes.sources.list();
        let arrays: Vec<Option<&ArrayRef>> =
            sources.iter().map(|source| source.column(at)).collect();
        let array = gather_some(&arrays, runs, field)?;
        let given = match &self.changes.rules.fill {
            Some(fill) => present(&array, field, fill)?,
            None if self.changes.partial => given(runs),
            None => None,
        };
        Ok((array, given))
    }

    /// Where each source gives the column.
    fn find_present(&mut self, at: usize, field: &FieldRef) -> Result<()> {
        self.present.clear();
        let Some(fill) = &self.changes.rules.fill else {
            return Ok(());
        };
        if self.changes.layers.is_empty() {
            return Ok(());
        }
        for source in self.changes.sources.list() {
            let present = match source.column(at) {
                Some(array) => present(array, field, fill)?,
                None => None,
            };
            self.present.push(present);
        }
        Ok(())
    }

    fn gives(&self, source: usize, column: &Source, at: usize, row: usize) -> bool {
        let given = self.present.get(source).and_then(Option::as_ref);
        column.column(at).is_some() && given.is_none_or(|given| given.value(row))
    }

    /// The rows that a column comes from.
    fn runs(&self, at: usize, field: &FieldRef) -> Runs {
        let changes = self.changes;
        let sources = changes.sources.list();
        let of_latest = changes.rules.meta_of_later && meta_field::is_meta_field(field.name());
        let mut runs = Runs::default();
        for entry in self.entries {
            if of_latest {
                let (source, row) = changes.sources.place(entry.latest);
                runs.push(source as u32, row as u32);
                continue;
            }
            let mut chosen = (NO_SOURCE, 0);
            for version in changes.layers.versions(entry) {
                let (source, row) = changes.sources.place(version);
                let Some(found) = sources.get(source) else {
                    continue;
                };
                if found.column(at).is_some() {
                    chosen = (source as u32, row as u32);
                }
                if self.gives(source, found, at, row) {
                    break;
                }
            }
            runs.push(chosen.0, chosen.1);
        }
        runs
    }
}

/// Where rows have any source.
fn given(runs: &Runs) -> Present {
    let all = runs.as_slice().iter().all(|run| run.source != NO_SOURCE);
    if all {
        return None;
    }
    let mut bits = arrow::array::BooleanBufferBuilder::new(runs.rows());
    for run in runs.as_slice() {
        bits.append_n(run.rows as usize, run.source != NO_SOURCE);
    }
    Some(bits.finish())
}

/// As [`gather`], where some sources lack the column; rows of those are null.
fn gather_some(arrays: &[Option<&ArrayRef>], runs: &Runs, field: &FieldRef) -> Result<ArrayRef> {
    let there: Vec<&ArrayRef> = arrays.iter().copied().flatten().collect();
    if there.is_empty() {
        return Ok(new_null_array(field.data_type(), runs.rows()));
    }
    if there.len() == arrays.len() {
        return gather(&there, runs);
    }
    let mut places = Vec::with_capacity(arrays.len());
    let mut next = 0;
    for array in arrays {
        places.push(if array.is_some() { next } else { NO_SOURCE });
        next += u32::from(array.is_some());
    }
    let placed = |source: u32| places.get(source as usize).copied().unwrap_or(NO_SOURCE);
    gather(&there, &runs.renumbered(placed))
}

#[cfg(test)]
impl Winners {
    /// Whether they are in their blocks.
    pub(super) fn are_in_blocks(&self) -> bool {
        self.places.is_some()
    }
}
