//! Rows of a row group as rising ranges that do not touch.

use std::ops::Range;

use arrow::array::{Array, BooleanArray};
use parquet::arrow::arrow_reader::RowSelection;

/// Some rows of a row group.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Rows(Vec<Range<usize>>);

impl Rows {
    pub(super) fn all(rows: usize) -> Self {
        let mut all = Self::default();
        all.push(0..rows);
        all
    }

    pub(super) fn of(selection: &RowSelection) -> Self {
        let mut rows = Self::default();
        let mut at = 0;
        for run in selection.iter() {
            let end = at + run.row_count;
            if !run.skip {
                rows.push(at..end);
            }
            at = end;
        }
        rows
    }

    /// The rows that a filter keeps; a null keeps none.
    pub(super) fn of_mask(mask: &BooleanArray) -> Self {
        let mut rows = Self::default();
        let kept = match mask.nulls() {
            Some(nulls) => mask.values() & nulls.inner(),
            None => mask.values().clone(),
        };
        for (start, end) in kept.set_slices() {
            rows.push(start..end);
        }
        rows
    }

    /// Adds rows behind those that are there.
    fn push(&mut self, range: Range<usize>) {
        match self.0.last_mut() {
            _ if range.is_empty() => {}
            Some(last) if last.end == range.start => last.end = range.end,
            _ => self.0.push(range),
        }
    }

    /// Adds all of `more`, which lie behind those that are there.
    pub(super) fn extend(&mut self, more: &Self) {
        more.ranges().for_each(|range| self.push(range));
    }

    pub(super) fn ranges(&self) -> impl Iterator<Item = Range<usize>> {
        self.0.iter().cloned()
    }

    pub(super) fn len(&self) -> usize {
        self.0.iter().map(Range::len).sum()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The first `count` rows.
    pub(super) fn first(&self, count: usize) -> Self {
        let mut left = count;
        let mut first = Self::default();
        for range in self.ranges() {
            let taken = range.len().min(left);
            first.push(range.start..range.start + taken);
            left -= taken;
        }
        first
    }

    /// Whether one of the rows lies in `range`.
    pub(super) fn touch(&self, range: &Range<usize>) -> bool {
        let behind = self.0.partition_point(|rows| rows.end <= range.start);
        let next = self.0.get(behind);
        next.is_some_and(|rows| rows.start < range.end)
    }

    /// The rows that `other` has too.
    pub(super) fn and(&self, other: &Self) -> Self {
        let mut both = Self::default();
        let mut others = other.0.iter().peekable();
        for range in &self.0 {
            while let Some(other) = others.peek() {
                let (start, end) = (range.start.max(other.start), range.end.min(other.end));
                both.push(start..end.max(start));
                if other.end > range.end {
                    break;
                }
                others.next();
            }
        }
        both
    }
}

/// Steps through rows as batches of them come.
#[derive(Debug)]
pub(super) struct Step {
    left: std::vec::IntoIter<Range<usize>>,
    begun: Range<usize>,
}

impl Step {
    pub(super) fn through(rows: Rows) -> Self {
        Self {
            left: rows.0.into_iter(),
            begun: 0..0,
        }
    }

    /// The next `count` rows, by their numbers in the row group.
    pub(super) fn next(&mut self, count: usize) -> Rows {
        let mut rows = Rows::default();
        let mut left = count;
        while left > 0 {
            if self.begun.is_empty() {
                match self.left.next() {
                    Some(range) => self.begun = range,
                    None => break,
                }
            }
            let end = self.begun.end.min(self.begun.start + left);
            left -= end - self.begun.start;
            rows.push(self.begun.start..end);
            self.begun.start = end;
        }
        rows
    }
}

/// Rows of a batch by their places in it, and in the row group.
pub(super) struct Batch(pub(super) Rows);

impl Batch {
    /// Where in the batch rows of the row group are.
    pub(super) fn places(&self, rows: &Rows) -> Rows {
        let mut places = Rows::default();
        let mut before = 0;
        let mut both = rows.and(&self.0).0.into_iter().peekable();
        for own in self.0.ranges() {
            while let Some(range) = both.next_if(|range| range.start < own.end) {
                let start = range.start - own.start + before;
                places.push(start..start + range.len());
            }
            before += own.len();
        }
        places
    }

    /// Which rows of the row group stand at places of the batch.
    pub(super) fn rows(&self, places: &Rows) -> Rows {
        let mut rows = Rows::default();
        let mut left = self.0.ranges();
        let (mut own, mut before) = (0..0, 0);
        for place in places.ranges() {
            let mut at = place.start;
            while at < place.end {
                while at >= before + own.len() {
                    before += own.len();
                    match left.next() {
                        Some(next) => own = next,
                        None => return rows,
                    }
                }
                let end = place.end.min(before + own.len());
                rows.push(own.start + at - before..own.start + end - before);
                at = end;
            }
        }
        rows
    }
}
