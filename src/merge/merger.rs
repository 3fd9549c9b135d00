//! The versions of a slice's logs put over its base batches.

use std::cmp::Ordering;
use std::sync::Arc;

use arrow::array::{ArrayRef, BooleanArray, RecordBatch};
use arrow::datatypes::{FieldRef, SchemaRef};

use super::changes::{Changes, Entry, RowSet};
use super::columns::MergeColumns;
use super::gather::batch_of;
use super::key_column::KeyColumn;
use super::keys::Sieve;
use super::layers::present;
use super::ordering::OrderingValues;
use super::picks::{NO_ROW, Pick, Picking, Rows};
use super::rules::{DeleteOrder, Fill, Winner};
use super::winners::Winners;
use crate::codec::gather::{Runs, gather, replace};
use crate::error::{Error, Result};
use crate::model::meta_field;

/// Puts what the logs say over base batches, which come in file order.
///
/// 1. Rows come out in base order. Of base rows that share a key the first meets the logs' version, as in Hudi.
/// 2. After the base, [`Merger::rest`] gives the keys that no base row had, in the order they came in the logs.
#[derive(Debug)]
pub struct Merger {
    changes: Changes,
    sieve: Sieve,
    winners: Arc<Winners>,
    /// Entries that a base row has met.
    met: RowSet,
    /// Entries before this one have been given or need not be.
    rest: usize,
    /// Entries by base position, when blocks are matched by it, and how many of them are behind.
    positions: Option<(Vec<(u64, u32)>, usize)>,
    base_rows: u64,
}

/// Rows decided and not yet gathered.
#[derive(Debug)]
pub struct Merged {
    /// The base batch's columns, as long as they are needed.
    base: Vec<Option<ArrayRef>>,
    winners: Arc<Winners>,
    rule: Arc<FillRule>,
    rows: Rows,
    /// A column of which both sides have the same value in every row, so that the base's stays: the key, while no row is gone.
    same: Option<usize>,
}

/// How rows of both sides are put together.
#[derive(Debug)]
struct FillRule {
    fill: Option<Fill>,
    meta_of_later: bool,
    schema: SchemaRef,
}

impl Merger {
    pub(super) fn new(mut changes: Changes) -> Result<Self> {
        let winners = Arc::new(Winners::new(&mut changes)?);
        let positions = changes.by_position().then(|| {
            let mut sorted: Vec<(u64, u32)> = changes.keys.positions().collect();
            sorted.sort_unstable();
            (sorted, 0)
        });
        Ok(Self {
            met: RowSet::new(changes.len()),
            sieve: Sieve::new(&changes.keys),
            winners,
            rest: 0,
            positions,
            base_rows: 0,
            changes,
        })
    }

    /// The columns of batches that come in and go out.
    pub fn columns(&self) -> &MergeColumns {
        &self.changes.columns
    }

    /// How many keys the logs hold, deleted ones too.
    pub fn keys(&self) -> usize {
        self.changes.len()
    }

    /// The bytes that the logs' versions take in memory, about.
    pub fn memory(&self) -> usize {
        let keys = self.changes.keys.memory() + self.sieve.memory();
        self.winners.memory() + keys + self.changes.len() * size_of::<Entry>()
    }

    /// Merges the next base batch, which has the columns of the merge.
    ///
    /// Errors: `Corrupt` for a row without a key.
    pub fn merge(&mut self, base: &RecordBatch) -> Result<Merged> {
        let hits = self.hits(base)?;
        let all = base.num_rows();
        if hits.is_empty() {
            return Ok(self.merged(base, Rows::Base(all)));
        }
        let ordering = self.base_ordering(base)?;
        let mut picked = Picking::new(&self.winners);
        let mut next = 0;
        for (row, number) in hits {
            picked.base(next..row);
            next = row + 1;
            let Some(entry) = self.changes.entries.get(number as usize) else {
                continue;
            };
            let base_wins = self.base_wins(ordering.as_ref(), row as usize, entry);
            match (entry.deleted, base_wins) {
                (true, false) => {}
                (true, true) => picked.base(row..next),
                (false, base_wins) => picked.version(row, number, base_wins),
            }
        }
        picked.base(next..all as u32);
        let rows = picked.rows();
        Ok(self.merged(base, rows))
    }

    /// At most `rows` of the rows that no base row has met; `None` after the last.
    pub fn rest(&mut self, rows: usize) -> Option<Merged> {
        let mut picked = Picking::new(&self.winners);
        let mut count = 0;
        let mut next = self.rest;
        while count < rows && next < self.changes.len() {
            let entry = self.changes.entries.get(next);
            if entry.is_some_and(|entry| !entry.deleted) && !self.met.has(next) {
                picked.version(NO_ROW, next as u32, false);
                count += 1;
            }
            next += 1;
        }
        let rows = picked.rows();
        self.rest = next;
        let none = RecordBatch::new_empty(Arc::clone(self.changes.columns.schema()));
        (count > 0).then(|| self.merged(&none, rows))
    }

    fn merged(&self, base: &RecordBatch, rows: Rows) -> Merged {
        let rules = &self.changes.rules;
        let columns = &self.changes.columns;
        let key = match columns.key.as_slice() {
            [key] if columns.key_is_meta && !columns.by_position() => Some(*key),
            _ => None,
        };
        Merged {
            same: key.filter(|_| rows.len() == base.num_rows()),
            base: base.columns().iter().cloned().map(Some).collect(),
            winners: Arc::clone(&self.winners),
            rule: Arc::new(FillRule {
                fill: rules.fill.clone(),
                meta_of_later: rules.meta_of_later,
                schema: Arc::clone(self.changes.columns.schema()),
            }),
            rows,
        }
    }

    /// Rows of the base batch and the entries that they meet, in base order.
    fn hits(&mut self, base: &RecordBatch) -> Result<Vec<(u32, u32)>> {
        let mut hits = Vec::new();
        let rows = base.num_rows();
        let first = self.base_rows;
        self.base_rows += rows as u64;
        if let Some((sorted, behind)) = &mut self.positions {
            while let Some((position, number)) = sorted.get(*behind)
                && *position < self.base_rows
            {
                *behind += 1;
                if let Some(row) = position.checked_sub(first)
                    && self.met.add(*number as usize)
                {
                    hits.push((row as u32, *number));
                }
            }
            return Ok(hits);
        }
        if self.changes.is_empty() {
            return Ok(hits);
        }
        let keys = KeyColumn::of_batch(&self.changes.columns, base)?;
        let Self {
            changes,
            met,
            sieve,
            ..
        } = self;
        let mut hit = |row: usize, number: u32| {
            if met.add(number as usize) {
                hits.push((row as u32, number));
            }
        };
        if let Some(keys) = keys.texts()? {
            changes
                .keys
                .find_all(sieve, |row| keys.value(row).as_bytes(), rows, hit);
            return Ok(hits);
        }
        let mut buffer = String::new();
        for row in 0..rows {
            if let Some(number) = changes.keys.find(keys.key(row, &mut buffer)?) {
                hit(row, number);
            }
        }
        Ok(hits)
    }

    fn base_ordering(&self, base: &RecordBatch) -> Result<Option<OrderingValues>> {
        let rules = &self.changes.rules;
        let columns = &self.changes.columns;
        let by_value = rules.over_base == Winner::Greater || rules.deletes == DeleteOrder::Always;
        if !by_value || columns.ordering.is_empty() {
            return Ok(None);
        }
        let values = columns.ordering.iter().map(|place| {
            let values = place.values(MergeColumns::column(base, place.root)?);
            values.ok_or_else(|| Error::internal("an ordering column was lost"))
        });
        let values = values.collect::<Result<Vec<_>>>()?;
        OrderingValues::of_rows(&values, rules.sequence).map(Some)
    }

    /// Whether the base row wins over the logs' version.
    fn base_wins(&self, base: Option<&OrderingValues>, row: usize, entry: &Entry) -> bool {
        let rules = &self.changes.rules;
        let by_value = match entry.deleted {
            false => rules.over_base == Winner::Greater,
            true => match rules.deletes {
                DeleteOrder::Kept => rules.over_base == Winner::Greater,
                DeleteOrder::Forgotten => false,
                DeleteOrder::Always => true,
            },
        };
        let Some(base) = base.filter(|_| by_value && !entry.natural) else {
            return false;
        };
        let log = self.changes.sources.ordering(entry.order);
        log.is_some_and(|(log, at)| base.order(row, log, at) == Some(Ordering::Greater))
    }
}

impl Merged {
    /// How many rows there are.
    pub fn num_rows(&self) -> usize {
        self.rows.len()
    }

    /// Drops the rows that a mask does not keep.
    ///
    /// Errors: `Internal` when the mask is of another length.
    pub fn retain(&mut self, mask: &BooleanArray) -> Result<()> {
        if mask.len() != self.num_rows() {
            return Err(Error::internal("a mask of another length than its rows"));
        }
        if mask.values().count_set_bits() < self.num_rows() {
            self.rows = self.rows.kept(mask);
            self.same = None;
        }
        Ok(())
    }

    /// The rows with the columns at `places`, which `schema` names.
    ///
    /// Errors: `Schema` when a null would stand where the table has none.
    pub fn batch(&mut self, places: &[usize], schema: &SchemaRef) -> Result<RecordBatch> {
        let columns = places.iter().map(|at| self.column(*at));
        let columns = columns.collect::<Result<Vec<_>>>()?;
        batch_of(schema, columns, self.num_rows())
    }

    /// As [`Merged::batch`]; each column of the base is let go of once it is gathered, so that both are never there whole.
    pub fn into_batch(mut self, places: &[usize], schema: &SchemaRef) -> Result<RecordBatch> {
        let mut columns = Vec::with_capacity(places.len());
        let mut later = places;
        while let Some((at, rest)) = later.split_first() {
            columns.push(match rest.contains(at) {
                true => self.column(*at)?,
                false => self.last_of(*at)?,
            });
            later = rest;
        }
        batch_of(schema, columns, self.num_rows())
    }

    /// One column of the rows.
    fn column(&mut self, at: usize) -> Result<ArrayRef> {
        let base = self.base.get(at).and_then(Option::clone).ok_or_else(lost)?;
        match self.runs(at, &base)? {
            None => Ok(base),
            Some(runs) => {
                let logs = self.winners.column(at)?.iter();
                let sources: Vec<&ArrayRef> = std::iter::once(&base).chain(logs).collect();
                gather(&sources, &runs)
            }
        }
    }

    /// One column of the rows, for the last time.
    fn last_of(&mut self, at: usize) -> Result<ArrayRef> {
        let base = self
            .base
            .get_mut(at)
            .and_then(Option::take)
            .ok_or_else(lost)?;
        match self.runs(at, &base)? {
            None => Ok(base),
            Some(runs) => {
                let logs: Vec<&ArrayRef> = self.winners.column(at)?.iter().collect();
                replace(base, &logs, &runs)
            }
        }
    }

    /// Which side each row of a column is from; `None` when all are the base's.
    fn runs(&self, at: usize, base: &ArrayRef) -> Result<Option<Arc<Runs>>> {
        match &self.rows {
            _ if self.same == Some(at) => Ok(None),
            Rows::Base(_) => Ok(None),
            Rows::OneSide(runs) => Ok(Some(Arc::clone(runs))),
            Rows::Both(picks) => {
                let field = self.rule.schema.fields().get(at).ok_or_else(lost)?;
                let runs = self.rule.runs(picks, base, field, &self.winners, at)?;
                Ok(Some(Arc::new(runs)))
            }
        }
    }
}

fn lost() -> Error {
    Error::internal("a batch lacks a column of its merge")
}

impl FillRule {
    /// Which side each row has a column from.
    fn runs(
        &self,
        picks: &[Pick],
        base: &ArrayRef,
        field: &FieldRef,
        winners: &Winners,
        at: usize,
    ) -> Result<Runs> {
        let base_has = match &self.fill {
            Some(fill) => present(base, field, fill)?,
            None => None,
        };
        let log_has = winners.present(at);
        let of_later = self.meta_of_later && meta_field::is_meta_field(field.name());
        let mut runs = Runs::default();
        for pick in picks {
            let (from_log, row) = match (pick.base, pick.log) {
                (NO_ROW, log) => (true, log),
                (base, NO_ROW) => (false, base),
                (base, log) => {
                    let has_base = base_has.as_ref().is_none_or(|has| has.value(base as usize));
                    let has_log = log_has.is_none_or(|has| has.value(log as usize));
                    let log_first = of_later || !pick.base_is_higher;
                    let from_log = if log_first { has_log } else { !has_base };
                    (from_log, if from_log { log } else { base })
                }
            };
            runs.push(u32::from(from_log), row);
        }
        Ok(runs)
    }
}

#[cfg(test)]
impl Merger {
    pub(super) fn winners(&self) -> &Winners {
        &self.winners
    }
}
