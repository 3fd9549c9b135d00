//! Definition and repetition levels of one page, checked before they are decoded.

use parquet::schema::types::ColumnDescriptor;

use super::runs::{Run, Runs, count_ones, unpack};
use crate::error::{Error, Result};

/// What the levels of a page say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Levels {
    /// Values that are there: not null, and not in an empty list.
    pub(super) values: u64,
    /// Rows that begin in the page.
    pub(super) rows: u64,
    /// Whether the page's first value begins a row.
    pub(super) starts_row: bool,
    /// Where the values begin.
    pub(super) end: usize,
}

impl Levels {
    /// Of a page of version 1: before each kind of levels stands its length, in four bytes.
    pub(super) fn version_1(plain: &[u8], column: &ColumnDescriptor, count: u64) -> Result<Self> {
        let mut end = 0;
        let mut section = |max: i16| -> Result<&[u8]> {
            if max == 0 {
                return Ok(&[]);
            }
            let rest = plain.get(end..).unwrap_or_default();
            let length = rest.first_chunk().map(|bytes| u32::from_le_bytes(*bytes));
            let length = length.and_then(|length| usize::try_from(length).ok());
            let levels = length.and_then(|length| rest.get(4..)?.get(..length));
            let levels = levels.ok_or_else(|| Error::corrupt("a page ends within its levels"))?;
            end += 4 + levels.len();
            Ok(levels)
        };
        let repetition = section(column.max_rep_level())?;
        let definition = section(column.max_def_level())?;
        Self::of(column, count, repetition, definition, end)
    }

    /// Of a page of version 2, whose header says how long they are: `[definition, repetition]`.
    pub(super) fn version_2(
        plain: &[u8],
        column: &ColumnDescriptor,
        count: u64,
        lengths: [usize; 2],
    ) -> Result<Self> {
        let [definition, repetition] = lengths;
        let end = repetition.saturating_add(definition);
        let (Some(repetition), Some(definition)) =
            (plain.get(..repetition), plain.get(repetition..end))
        else {
            return Err(Error::corrupt("a page ends within its levels"));
        };
        Self::of(column, count, repetition, definition, end)
    }

    fn of(
        column: &ColumnDescriptor,
        count: u64,
        repetition: &[u8],
        definition: &[u8],
        end: usize,
    ) -> Result<Self> {
        let repetition = Counts::of(repetition, column.max_rep_level(), count)?;
        let definition = Counts::of(definition, column.max_def_level(), count)?;
        Ok(Self {
            values: definition.at_max,
            rows: repetition.zeros,
            starts_row: repetition.first == Some(0),
            end,
        })
    }
}

/// What is counted of one kind of levels.
struct Counts {
    at_max: u64,
    zeros: u64,
    first: Option<u64>,
}

impl Counts {
    /// Of the `count` levels in a section. No level is greater than the column's, and what follows them is well formed too,
    /// since the decoder reads ahead.
    fn of(section: &[u8], max: i16, count: u64) -> Result<Self> {
        let max = u64::try_from(max).unwrap_or(0);
        let mut counts = Self {
            at_max: 0,
            zeros: 0,
            first: None,
        };
        if max == 0 {
            counts.at_max = count;
            counts.zeros = count;
            counts.first = (count > 0).then_some(0);
            return Ok(counts);
        }
        let width = u8::try_from(64 - max.leading_zeros()).unwrap_or(u8::MAX);
        let mut runs = Runs::new(section, width)?;
        let mut greatest = 0;
        runs.values(count, |run| match run {
            Run::Repeated { value, count } => {
                greatest = greatest.max(value);
                counts.add(value, count, max);
            }
            Run::Packed { bytes, count } if width == 1 => {
                let ones = count_ones(bytes, count);
                let first = bytes.first().map(|byte| u64::from(byte & 1));
                counts.first = counts.first.or(first);
                counts.at_max += ones;
                counts.zeros += count - ones;
            }
            Run::Packed { bytes, count } => unpack(bytes, width, count, |value| {
                greatest = greatest.max(value);
                counts.add(value, 1, max);
            }),
        })?;
        if greatest > max {
            return Err(Error::corrupt("a level is greater than its column's"));
        }
        while runs.next()?.is_some() {}
        Ok(counts)
    }

    fn add(&mut self, value: u64, count: u64, max: u64) {
        self.first = self.first.or((count > 0).then_some(value));
        if value == max {
            self.at_max += count;
        }
        if value == 0 {
            self.zeros += count;
        }
    }
}
