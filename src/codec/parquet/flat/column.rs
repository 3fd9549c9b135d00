use std::sync::Arc;

use arrow::array::{ArrayRef, BooleanArray, BooleanBufferBuilder};
use arrow::buffer::NullBuffer;
use arrow::datatypes::{DataType, Field};
use arrow::util::bit_chunk_iterator::UnalignedBitChunk;
use arrow::util::bit_iterator::BitSliceIterator;
use parquet::basic::{Encoding, Type as PhysicalType};

use super::super::page_reader::ChunkPages;
use super::super::page_walk::too_few;
use super::super::pages::Chunk;
use super::super::rows::Rows;
use super::fixed::{Fixed, Kind};
use super::page::{FlatPage, Next, Values};
use super::run_values::Part;
use super::texts::{Texts, pass};
use crate::error::{Error, Result};

/// One column chunk, read forward.
pub(in super::super) struct FlatColumn {
    chunk: Arc<Chunk>,
    data_type: DataType,
    pages: ChunkPages,
    page: Option<FlatPage>,
    /// Rows read and passed over.
    row: usize,
    out: Out,
    valid: Valid,
    bytes_before: usize,
}

/// Values as they come together.
enum Out {
    Fixed(Fixed),
    Truth(BooleanBufferBuilder),
    Texts(Texts),
}

/// Which rows of a batch are there.
#[derive(Default)]
struct Valid {
    rows: usize,
    /// Once there is one that is not.
    bits: Option<BooleanBufferBuilder>,
}

impl FlatColumn {
    /// Whether columns of this kind are read here.
    pub(in super::super) fn reads(chunk: &Chunk, field: &Field) -> bool {
        let listed = chunk.facts.encodings_mask();
        let other = [
            Encoding::DELTA_BINARY_PACKED,
            Encoding::DELTA_LENGTH_BYTE_ARRAY,
            Encoding::DELTA_BYTE_ARRAY,
            Encoding::BYTE_STREAM_SPLIT,
        ];
        let column = chunk.facts.column_descr();
        chunk.lists_encodings
            && !other.iter().any(|encoding| listed.is_set(*encoding))
            && column.max_rep_level() == 0
            && column.max_def_level() <= 1
            && column.path().parts().len() == 1
            && Out::of(chunk, field.data_type()).is_some()
    }

    /// `None` for a kind that is not read here.
    pub(in super::super) fn new(
        chunk: &Arc<Chunk>,
        field: &Field,
        pages: ChunkPages,
    ) -> Option<Self> {
        Some(Self {
            out: Out::of(chunk, field.data_type())?,
            data_type: field.data_type().clone(),
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
        array.map_err(|error| {
            let field = self.chunk.facts.column_path().string();
            let error = match error.get("offset") {
                Some(_) => error,
                None => error.context("offset", self.chunk.facts.byte_range().0),
            };
            error.context("field", field)
        })
    }

    /// Passes over rows, and over whole pages without unpacking them.
    fn pass(&mut self, rows: usize) -> Result<()> {
        self.row += rows;
        let mut left = rows;
        while left > 0 {
            if let Some(page) = &mut self.page {
                let count = left.min(page.left);
                pass_values(page, count, &self.out)?;
                left -= count;
                if page.left == 0 {
                    self.end_page()?;
                }
                continue;
            }
            let next = self.pages.peek()?.ok_or_else(too_few)?;
            match next.num_rows.or(next.num_levels) {
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

    /// Lets go of a page, whose values have to fill it: a byte more means that a length is wrong.
    fn end_page(&mut self) -> Result<()> {
        match self.page.take().map(|page| page.values) {
            Some(Values::Plain { bytes, at, .. }) if at != bytes.len() => Err(missing()),
            _ => Ok(()),
        }
    }

    /// Unpacks the next page, or the dictionary.
    fn open(&mut self) -> Result<()> {
        let opened = self.pages.next_flat()?.ok_or_else(too_few)?;
        match Next::of(opened, matches!(self.out, Out::Truth(_)))? {
            Next::Page(page) => self.page = Some(page).filter(|page| page.left > 0),
            Next::Dictionary { bytes, values } => match &mut self.out {
                Out::Fixed(fixed) => fixed.set_dictionary(bytes, values),
                Out::Texts(texts) => texts.set_dictionary(&bytes, values).ok_or_else(missing)?,
                Out::Truth(_) => return Err(missing()),
            },
        }
        Ok(())
    }
}

/// Reads rows of a page, which has as many.
fn append_rows(page: &mut FlatPage, rows: usize, out: &mut Out, valid: &mut Valid) -> Result<()> {
    let Some(levels) = &mut page.levels else {
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
fn pass_values(page: &mut FlatPage, rows: usize, out: &Out) -> Result<()> {
    page.left -= rows;
    let mut count = rows;
    if let Some(levels) = &mut page.levels {
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
    match &mut page.values {
        Values::Plain { bytes, at, .. } if matches!(out, Out::Texts(_)) => {
            pass(bytes, at, count).ok_or_else(missing)?;
        }
        Values::Plain { at, stride, .. } => *at = at.saturating_add(count.saturating_mul(*stride)),
        Values::Bits { at, .. } => *at += count,
        Values::BitRuns(runs) | Values::Places(runs) => {
            while count > 0 {
                count -= match runs.next(count)? {
                    Part::Same(_, rows) => rows,
                    Part::Packed(packed) => packed.count,
                };
            }
        }
    }
    Ok(())
}

impl Out {
    /// For a type that is read here, from values of the chunk's.
    fn of(chunk: &Chunk, data_type: &DataType) -> Option<Self> {
        let column = chunk.facts.column_descr();
        let fixed = |kind, width| Some(Self::Fixed(Fixed::new(kind, width)));
        match (column.physical_type(), data_type) {
            (PhysicalType::BYTE_ARRAY, DataType::Utf8) => Some(Self::Texts(Texts::new(true))),
            (PhysicalType::BYTE_ARRAY, DataType::Binary) => Some(Self::Texts(Texts::new(false))),
            (PhysicalType::BOOLEAN, DataType::Boolean) => {
                Some(Self::Truth(BooleanBufferBuilder::new(0)))
            }
            (PhysicalType::INT32, DataType::Int32 | DataType::Date32 | DataType::Time32(_))
            | (PhysicalType::FLOAT, DataType::Float32) => fixed(Kind::Four, 4),
            (
                PhysicalType::INT64,
                DataType::Int64 | DataType::Timestamp(..) | DataType::Time64(_),
            )
            | (PhysicalType::DOUBLE, DataType::Float64) => fixed(Kind::Eight, 8),
            (PhysicalType::INT32, DataType::Decimal128(..)) => {
                fixed(Kind::Decimal { number: true }, 4)
            }
            (PhysicalType::INT64, DataType::Decimal128(..)) => {
                fixed(Kind::Decimal { number: true }, 8)
            }
            (PhysicalType::FIXED_LEN_BYTE_ARRAY, DataType::Decimal128(..)) => {
                let width = usize::try_from(column.type_length()).ok()?;
                (1..=16).contains(&width).then_some(())?;
                fixed(Kind::Decimal { number: false }, width)
            }
            _ => None,
        }
    }

    fn begin(&mut self, rows: usize, bytes_before: usize) {
        match self {
            Self::Fixed(fixed) => fixed.begin(rows),
            Self::Truth(bits) => *bits = BooleanBufferBuilder::new(rows),
            Self::Texts(texts) => texts.begin(rows, bytes_before),
        }
    }

    fn read(&mut self, values: &mut Values, count: usize) -> Result<()> {
        if count == 0 {
            return Ok(());
        }
        let done = match self {
            Self::Fixed(fixed) => fixed.read(values, count)?,
            Self::Truth(bits) => read_truth(bits, values, count)?,
            Self::Texts(texts) => texts.read(values, count)?,
        };
        done.ok_or_else(missing)
    }

    fn nulls(&mut self, count: usize) -> Result<()> {
        match self {
            Self::Fixed(fixed) => fixed.nulls(count),
            Self::Truth(bits) => bits.append_n(count, false),
            Self::Texts(texts) if count > 0 => texts.nulls(count).ok_or_else(missing)?,
            Self::Texts(_) => {}
        }
        Ok(())
    }

    fn bytes(&self) -> usize {
        match self {
            Self::Texts(texts) => texts.bytes(),
            _ => 0,
        }
    }

    fn take(
        &mut self,
        rows: usize,
        data_type: &DataType,
        nulls: Option<NullBuffer>,
    ) -> Result<ArrayRef> {
        match self {
            Self::Fixed(fixed) => fixed.take(rows, data_type, nulls),
            Self::Truth(bits) => Ok(Arc::new(BooleanArray::new(bits.finish(), nulls))),
            Self::Texts(texts) => texts.take(nulls),
        }
    }
}

fn read_truth(
    out: &mut BooleanBufferBuilder,
    values: &mut Values,
    count: usize,
) -> Result<Option<()>> {
    match values {
        Values::Bits { bytes, at } => {
            let end = *at + count;
            if end.div_ceil(8) > bytes.len() {
                return Ok(None);
            }
            out.append_packed_range(*at..end, bytes);
            *at = end;
        }
        Values::BitRuns(runs) => {
            let mut left = count;
            while left > 0 {
                match runs.next(left)? {
                    Part::Same(value, rows) => {
                        left -= rows;
                        out.append_n(rows, value != 0);
                    }
                    Part::Packed(packed) => {
                        left -= packed.count;
                        let end = packed.first + packed.count;
                        out.append_packed_range(packed.first..end, packed.bytes);
                    }
                }
            }
        }
        Values::Plain { .. } | Values::Places(_) => return Ok(None),
    }
    Ok(Some(()))
}

impl Valid {
    fn there(&mut self, rows: usize) {
        if let Some(bits) = &mut self.bits {
            bits.append_n(rows, true);
        }
        self.rows += rows;
    }

    fn missing(&mut self, rows: usize) {
        self.made().append_n(rows, false);
        self.rows += rows;
    }

    fn bits(&mut self, bytes: &[u8], first: usize, rows: usize) {
        self.made().append_packed_range(first..first + rows, bytes);
        self.rows += rows;
    }

    fn made(&mut self) -> &mut BooleanBufferBuilder {
        let rows = self.rows;
        self.bits.get_or_insert_with(|| {
            let mut bits = BooleanBufferBuilder::new(rows.max(1024));
            bits.append_n(rows, true);
            bits
        })
    }

    fn take(&mut self) -> Option<NullBuffer> {
        let bits = self.bits.as_mut()?;
        Some(NullBuffer::new(bits.finish())).filter(|nulls| nulls.null_count() > 0)
    }
}

fn missing() -> Error {
    Error::corrupt("a page does not hold the values that it declares")
}
