use std::ops::Range;
use std::sync::Arc;

use arrow::array::ArrayRef;
use arrow::datatypes::DataType;

use super::super::flat::{Next, Out, Page, Part, RunValues, Valid, maxima};
use super::super::page_reader::ChunkPages;
use super::super::page_walk::too_few;
use super::super::pages::Chunk;
use super::super::rows::Rows;
use crate::error::{Error, Result};

/// Levels unpacked at once.
const STEP: usize = 4096;

/// Levels of a batch, at most: few bytes may stand for many of them.
const MAX_LEVELS: usize = 128 << 20;

/// One column chunk below a nested column, read forward.
pub(super) struct Leaf {
    pub(super) chunk: Arc<Chunk>,
    data_type: DataType,
    pages: ChunkPages,
    page: Option<Page>,
    /// Levels of the page that are unpacked, and the first that is still to come.
    ahead: Levels,
    at: usize,
    /// Whether values are below a list.
    in_lists: bool,
    /// The definition level of a value that is there, and the least of one that has a place in the innermost list.
    full: u8,
    place: u8,
    /// Rows read and passed over.
    row: usize,
    out: Out,
    valid: Valid,
    places: usize,
    bytes_before: usize,
    /// The levels of the batch.
    pub(super) levels: Levels,
}

/// Of each value, and of each that is not there.
#[derive(Default)]
pub(super) struct Levels {
    pub(super) repetition: Vec<u8>,
    pub(super) definition: Vec<u8>,
}

impl Leaf {
    /// Of values in an Arrow type, which have a place in the innermost list from the definition level `place` on.
    pub(super) fn new(
        chunk: &Arc<Chunk>,
        data_type: &DataType,
        place: u8,
        pages: ChunkPages,
    ) -> Result<Self> {
        let [repetition, full] = maxima(chunk);
        Ok(Self {
            out: Out::of(chunk.facts.column_descr(), data_type)?,
            chunk: Arc::clone(chunk),
            data_type: data_type.clone(),
            pages,
            page: None,
            ahead: Levels::default(),
            at: 0,
            in_lists: repetition > 0,
            full,
            place,
            row: 0,
            valid: Valid::default(),
            places: 0,
            bytes_before: 0,
            levels: Levels::default(),
        })
    }

    /// Reads rows, which lie behind those that were read before: their levels, and an array of the places in the innermost list.
    pub(super) fn read(&mut self, rows: &Rows) -> Result<ArrayRef> {
        self.out.begin(rows.len(), self.bytes_before);
        self.valid = Valid::default();
        self.places = 0;
        self.levels = Levels::default();
        for range in rows.ranges() {
            self.walk(range.start - self.row.min(range.start), false)?;
            self.walk(range.len(), true)?;
        }
        self.bytes_before = self.out.bytes().max(self.bytes_before / 2);
        let nulls = self.valid.take();
        self.out.take(self.places, &self.data_type, nulls)
    }

    /// Goes through rows, which are kept or passed over, and over whole pages without unpacking them.
    fn walk(&mut self, rows: usize, keep: bool) -> Result<()> {
        if rows == 0 {
            return Ok(());
        }
        self.row += rows;
        let mut begun = 0;
        loop {
            let more = self.ahead.repetition.get(self.at..).unwrap_or_default();
            if more.is_empty() {
                if self.unpack()? {
                    continue;
                }
                if begun == rows && self.pages.at_row()? {
                    return Ok(());
                }
                let next = self.pages.peek()?.ok_or_else(too_few)?;
                match next.num_rows {
                    Some(whole) if !keep && !next.is_dict && whole <= rows - begun => {
                        self.pages.skip_page()?;
                        begun += whole;
                    }
                    _ => self.open()?,
                }
                continue;
            }
            let mut end = self.at;
            for level in more {
                if *level == 0 {
                    if begun == rows {
                        break;
                    }
                    begun += 1;
                }
                end += 1;
            }
            let done = end < self.ahead.repetition.len();
            self.take(self.at..end, keep)?;
            if done {
                return Ok(());
            }
        }
    }

    /// Unpacks levels of the page; whether there are any. A page that is at its end is let go of.
    fn unpack(&mut self) -> Result<bool> {
        self.at = 0;
        let count = self.page.as_ref().map_or(0, |page| page.left.min(STEP));
        let Some(page) = self.page.as_mut().filter(|_| count > 0) else {
            self.ahead = Levels::default();
            let page = self.page.take();
            return page.map_or(Ok(false), |page| page.values.end().map(|()| false));
        };
        page.left -= count;
        fill(&mut page.repetition, 0, count, &mut self.ahead.repetition)?;
        fill(
            &mut page.definition,
            self.full,
            count,
            &mut self.ahead.definition,
        )?;
        Ok(true)
    }

    /// Unpacks the next page, or the dictionary.
    fn open(&mut self) -> Result<()> {
        let opened = self.pages.next_page()?.ok_or_else(too_few)?;
        match Next::of(opened, &self.chunk, self.out.is_truth())? {
            Next::Page(page) => self.page = Some(*page),
            Next::Dictionary { bytes, values } => self.out.set_dictionary(bytes, values)?,
        }
        Ok(())
    }

    /// Takes levels and their values, or passes over them.
    fn take(&mut self, range: Range<usize>, keep: bool) -> Result<()> {
        self.at = range.end;
        let definition = self.ahead.definition.get(range.clone());
        let repetition = self.ahead.repetition.get(range);
        let (definition, repetition) = (
            definition.unwrap_or_default(),
            repetition.unwrap_or_default(),
        );
        let page = self.page.as_mut();
        let values = page.map(|page| &mut page.values).ok_or_else(too_few)?;
        if !keep {
            let there = definition.iter().filter(|level| **level == self.full);
            return values.pass(there.count(), self.out.is_texts());
        }
        if self.levels.definition.len() > MAX_LEVELS {
            return Err(Error::corrupt("the lists of a column are too large"));
        }
        self.levels.definition.extend_from_slice(definition);
        if self.in_lists {
            self.levels.repetition.extend_from_slice(repetition);
        }
        for same in definition.chunk_by(|one, next| one == next) {
            let level = same.first().copied().unwrap_or(0);
            if level == self.full {
                self.valid.there(same.len());
                self.out.read(values, same.len())?;
            } else if level >= self.place {
                self.valid.missing(same.len());
                self.out.nulls(same.len())?;
            } else {
                continue;
            }
            self.places += same.len();
        }
        Ok(())
    }
}

/// The next levels of a page, of which all are `other` when it holds none.
fn fill(runs: &mut Option<RunValues>, other: u8, count: usize, levels: &mut Vec<u8>) -> Result<()> {
    levels.clear();
    let Some(runs) = runs else {
        levels.resize(count, other);
        return Ok(());
    };
    while levels.len() < count {
        match runs.next(count - levels.len())? {
            Part::Same(level, times) => levels.resize(levels.len() + times, level as u8),
            Part::Packed(packed) => {
                let pushed = packed.each(|level| {
                    levels.push(level as u8);
                    Some(())
                });
                pushed.ok_or_else(too_few)?;
            }
        }
    }
    Ok(())
}
