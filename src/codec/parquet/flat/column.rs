use std::sync::Arc;

use arrow::array::ArrayRef;
use arrow::datatypes::DataType;
use arrow::util::bit_chunk_iterator::UnalignedBitChunk;
use arrow::util::bit_iterator::BitSliceIterator;

use super::super::page_reader::ChunkPages;
use super::super::page_walk::too_few;
use super::super::pages::Chunk;
use super::super::rows::Rows;
use super::out::{Out, Valid};
use super::page::{Next, Page};
use super::run_values::Part;
use crate::error::Result;

/// One column chunk, read forward.
pub(in super::super) struct FlatColumn {
    chunk: Arc<Chunk>,
    data_type: DataType,
    pages: ChunkPages,
    page: Option<Page>,
    /// Rows read and passed over.
    row: usize,
    out: Out,
    valid: Valid,
    bytes_before: usize,
}

impl FlatColumn {
    /// Of a column without nesting, in an Arrow type.
    pub(in super::super) fn new(
        chunk: &Arc<Chunk>,
        data_type: &DataType,
        pages: ChunkPages,
    ) -> Result<Self> {
        let out = Out::of(chunk.facts.column_descr(), data_type);
        Ok(Self {
            out: out.map_err(|error| chunk.told(error))?,
            data_type: data_type.clone(),
            chunk: Arc::clone(chunk),
            pages,
            page: None,
            row: 0,
            valid: Valid::default(),
            bytes_before: 0,
        })
    }

    /// An array of these rows, which lie behind those that were read before.
    pub(in super::super) fn read(&mut self, rows: &Rows) -> Result<ArrayRef> {
        let count = rows.len();
        self.out.begin(count, self.bytes_before);
        self.valid = Valid::default();
        let read = rows.ranges().try_for_each(|range| {
            self.pass(range.start - self.row.min(range.start))?;
            self.append(range.len())
        });
        let array = read.and_then(|()| {
            self.bytes_before = self.out.bytes().max(self.bytes_before / 2);
            let nulls = self.valid.take();
            self.out.take(count, &self.data_type, nulls)
        });
        array.map_err(|error| self.chunk.told(error))
    }

    /// Passes over rows, and over whole pages without unpacking them.
    fn pass(&mut self, rows: usize) -> Result<()> {
        self.row += rows;
        let mut left = rows;
        while left > 0 {
            if let Some(page) = &mut self.page {
                let count = left.min(page.left);
                pass_rows(page, count, &self.out)?;
                left -= count;
                if page.left == 0 {
                    self.end_page()?;
                }
                continue;
            }
            let next = self.pages.peek()?.ok_or_else(too_few)?;
            match next.num_rows {
                Some(whole) if !next.is_dict && whole <= left => {
                    self.pages.skip_page()?;
                    left -= whole;
                }
                _ => self.open()?,
            }
        }
        Ok(())
    }

    fn append(&mut self, rows: usize) -> Result<()> {
        self.row += rows;
        let mut left = rows;
        while left > 0 {
            let Some(page) = &mut self.page else {
                self.open()?;
                continue;
            };
            let count = left.min(page.left);
            page.left -= count;
            left -= count;
            append_rows(page, count, &mut self.out, &mut self.valid)?;
            if page.left == 0 {
                self.end_page()?;
            }
        }
        Ok(())
    }

    fn end_page(&mut self) -> Result<()> {
        self.page.take().map_or(Ok(()), |page| page.values.end())
    }

    /// Unpacks the next page, or the dictionary.
    fn open(&mut self) -> Result<()> {
        let opened = self.pages.next_page()?.ok_or_else(too_few)?;
        match Next::of(opened, &self.chunk, self.out.is_truth())? {
            Next::Page(page) => self.page = Some(*page).filter(|page| page.left > 0),
            Next::Dictionary { bytes, values } => self.out.set_dictionary(bytes, values)?,
        }
        Ok(())
    }
}

/// Reads rows of a page, which has as many.
fn append_rows(page: &mut Page, rows: usize, out: &mut Out, valid: &mut Valid) -> Result<()> {
    let Some(levels) = &mut page.definition else {
        valid.there(rows);
        return out.read(&mut page.values, rows);
    };
    let mut left = rows;
    while left > 0 {
        match levels.next(left)? {
            Part::Same(level, count) => {
                left -= count;
                match level {
                    0 => {
                        valid.missing(count);
                        out.nulls(count)?;
                    }
                    _ => {
                        valid.there(count);
                        out.read(&mut page.values, count)?;
                    }
                }
            }
            Part::Packed(packed) => {
                left -= packed.count;
                valid.bits(packed.bytes, packed.first, packed.count);
                let mut done = 0;
                for (start, end) in BitSliceIterator::new(packed.bytes, packed.first, packed.count)
                {
                    out.nulls(start - done)?;
                    out.read(&mut page.values, end - start)?;
                    done = end;
                }
                out.nulls(packed.count - done)?;
            }
        }
    }
    Ok(())
}

/// Passes over rows of a page, which has as many.
fn pass_rows(page: &mut Page, rows: usize, out: &Out) -> Result<()> {
    page.left -= rows;
    let mut count = rows;
    if let Some(levels) = &mut page.definition {
        count = 0;
        let mut left = rows;
        while left > 0 {
            match levels.next(left)? {
                Part::Same(level, rows) => {
                    left -= rows;
                    count += if level == 0 { 0 } else { rows };
                }
                Part::Packed(packed) => {
                    left -= packed.count;
                    let bits = UnalignedBitChunk::new(packed.bytes, packed.first, packed.count);
                    count += bits.count_ones();
                }
            }
        }
    }
    page.values.pass(count, out.is_texts())
}
