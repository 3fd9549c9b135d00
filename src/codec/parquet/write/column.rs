//! One column: values to pages, pages to a column chunk.

use std::ops::Range as Rows;

use arrow::array::{Array, ArrayRef, AsArray, BooleanBufferBuilder};
use arrow::buffer::ScalarBuffer;
use arrow::datatypes::{ArrowNativeType, Decimal128Type, Decimal256Type};

use super::bound::Bounds;
use super::compress::Compressor;
use super::counter::Counter;
use super::delta::Texts;
use super::encoder::{DELTA_BYTE_ARRAY, Encoder, PLAIN, PLAIN_DICTIONARY};
use super::file_schema::{Leaf, Physical};
use super::levels::{LeafRows, Levels};
use super::numbers::{Number, NumberStore, Range};
use super::page::{self, DonePage, PageLevels};
use super::texts::{ByteRange, ByteStore};
use crate::error::{Error, Result};

/// A page ends at so many bytes or rows: Java's `hoodie.parquet.page.size` and `parquet.page.row.count.limit`.
pub(super) const PAGE_BYTES: usize = 1 << 20;
pub(super) const PAGE_ROWS: usize = 20_000;

/// Where a column's values come from.
#[derive(Debug)]
enum Values {
    Boolean(BooleanBufferBuilder),
    Int(Encoder<NumberStore<i32>>, Range<i32>),
    Long(Encoder<NumberStore<i64>>, Range<i64>),
    Float(Encoder<NumberStore<f32>>, Range<f32>),
    Double(Encoder<NumberStore<f64>>, Range<f64>),
    Bytes(Encoder<ByteStore>, ByteRange),
    /// One text for all rows of the file.
    Constant(Vec<u8>),
    /// Texts that resemble the ones before.
    Derived(Texts, ByteRange),
    /// A text with a number that counts the file's rows.
    Counted(Counter),
    /// Nothing but nulls.
    Absent,
}

/// The writer of one column.
#[derive(Debug)]
pub(super) struct ColumnWriter {
    pub(super) leaf: Leaf,
    values: Values,
    levels: PageLevels,
    rows: usize,
    pub(super) pages: Vec<DonePage>,
    /// Bytes of the finished pages.
    pub(super) finished: usize,
}

impl ColumnWriter {
    pub(super) fn new(leaf: Leaf) -> Self {
        let values = match leaf.physical {
            Physical::Boolean => Values::Boolean(BooleanBufferBuilder::new(0)),
            Physical::Int32 => Values::Int(Encoder::new(NumberStore::default()), Range::default()),
            Physical::Int64 => Values::Long(Encoder::new(NumberStore::default()), Range::default()),
            Physical::Float => {
                Values::Float(Encoder::new(NumberStore::default()), Range::default())
            }
            Physical::Double => {
                Values::Double(Encoder::new(NumberStore::default()), Range::default())
            }
            Physical::ByteArray => Values::Bytes(
                Encoder::new(ByteStore::new(true)),
                ByteRange::new(leaf.meaning),
            ),
            Physical::Fixed(_) => Values::Bytes(
                Encoder::new(ByteStore::new(false)),
                ByteRange::new(leaf.meaning),
            ),
        };
        Self::of(leaf, values)
    }

    /// A column of text whose rows all hold `text`.
    pub(super) fn constant(leaf: Leaf, text: &[u8]) -> Self {
        Self::of(leaf, Values::Constant(text.to_vec()))
    }

    /// A column of text that is handed over as text, see [`Self::push_texts`].
    pub(super) fn derived(leaf: Leaf) -> Self {
        let range = ByteRange::new(leaf.meaning);
        Self::of(leaf, Values::Derived(Texts::default(), range))
    }

    /// A column of text that ends in the number of the row.
    pub(super) fn counter(leaf: Leaf, prefix: &[u8]) -> Self {
        Self::of(leaf, Values::Counted(Counter::new(prefix)))
    }

    /// A column of nulls.
    pub(super) fn absent(leaf: Leaf) -> Self {
        Self::of(leaf, Values::Absent)
    }

    fn of(leaf: Leaf, values: Values) -> Self {
        Self {
            leaf,
            values,
            levels: PageLevels::default(),
            rows: 0,
            pages: Vec::new(),
            finished: 0,
        }
    }

    /// Adds a leaf's share of some rows; a page that is full is packed.
    pub(super) fn push(&mut self, rows: &LeafRows, packer: &mut Compressor) -> Result<()> {
        self.make_room(rows.rows, packer)?;
        match &rows.levels {
            Levels::Flat(nulls) => self.levels.push_flat(rows.rows, nulls.as_ref()),
            Levels::Nested { def, rep } => self.levels.push_nested(def, rep, self.leaf.max_def),
        }
        self.rows += rows.rows;
        push_values(
            &mut self.values,
            self.leaf.physical,
            &rows.values,
            &rows.picked,
        )
        .ok_or_else(|| {
            Error::internal("a column's array is not of its type")
                .context("field", self.leaf.path.join("."))
        })
    }

    /// Adds rows of a column that needs no more to be told.
    pub(super) fn push_rows(&mut self, rows: usize, packer: &mut Compressor) -> Result<()> {
        self.make_room(rows, packer)?;
        match &mut self.values {
            Values::Absent => self.levels.push_nulls(rows),
            _ => self.levels.push_flat(rows, None),
        }
        if let Values::Counted(counter) = &mut self.values {
            counter.push(rows);
        }
        self.rows += rows;
        Ok(())
    }

    /// Adds rows of a derived column.
    pub(super) fn push_texts<'a>(
        &mut self,
        texts: impl ExactSizeIterator<Item = &'a [u8]> + Clone,
        packer: &mut Compressor,
    ) -> Result<()> {
        self.make_room(texts.len(), packer)?;
        self.levels.push_flat(texts.len(), None);
        self.rows += texts.len();
        if let Values::Derived(page, range) = &mut self.values {
            range.see(texts.clone());
            texts.for_each(|text| page.push(text));
        }
        Ok(())
    }

    fn make_room(&mut self, rows: usize, packer: &mut Compressor) -> Result<()> {
        let full = self.rows + rows > PAGE_ROWS || self.page_size() >= PAGE_BYTES;
        match full && self.rows > 0 {
            true => self.finish_page(packer),
            false => Ok(()),
        }
    }

    fn page_size(&self) -> usize {
        match &self.values {
            Values::Boolean(bits) => bits.len() / 8,
            Values::Int(values, _) => values.page_size(),
            Values::Long(values, _) => values.page_size(),
            Values::Float(values, _) => values.page_size(),
            Values::Double(values, _) => values.page_size(),
            Values::Bytes(values, _) => values.page_size(),
            Values::Constant(_) | Values::Absent => 0,
            Values::Derived(texts, _) => texts.size(),
            Values::Counted(counter) => counter.size(),
        }
    }

    /// Bytes that the column holds in memory, about.
    pub(super) fn memory(&self) -> usize {
        let open = match &self.values {
            Values::Int(values, _) => values.memory(),
            Values::Long(values, _) => values.memory(),
            Values::Float(values, _) => values.memory(),
            Values::Double(values, _) => values.memory(),
            Values::Bytes(values, _) => values.memory(),
            _ => self.page_size(),
        };
        open + self.finished
    }

    fn finish_page(&mut self, packer: &mut Compressor) -> Result<()> {
        let mut body = Vec::with_capacity(self.page_size() + 64);
        let leaf = &self.leaf;
        self.levels.put(&mut body, leaf.max_rep, leaf.max_def);
        let mut nan = false;
        let mut number = |(bounds, is_nan): (Option<Bounds>, bool)| {
            nan = is_nan;
            bounds
        };
        let (encoding, bounds) = match &mut self.values {
            Values::Boolean(bits) => {
                let bits = std::mem::replace(bits, BooleanBufferBuilder::new(0)).build();
                body.extend_from_slice(bits.sliced().as_slice());
                (PLAIN, page::boolean_bounds(&bits))
            }
            Values::Int(v, range) => (v.finish_page(&mut body), number(range.take())),
            Values::Long(v, range) => (v.finish_page(&mut body), number(range.take())),
            Values::Float(v, range) => (v.finish_page(&mut body), number(range.take())),
            Values::Double(v, range) => (v.finish_page(&mut body), number(range.take())),
            Values::Bytes(v, range) => (v.finish_page(&mut body), range.take()),
            Values::Constant(text) => {
                page::put_only_value(&mut body, self.rows);
                (PLAIN_DICTIONARY, Some(page::text_bounds(text)))
            }
            Values::Derived(texts, range) => {
                texts.finish(&mut body);
                (DELTA_BYTE_ARRAY, range.take())
            }
            Values::Counted(counter) => (DELTA_BYTE_ARRAY, Some(counter.finish(&mut body))),
            Values::Absent => (PLAIN, None),
        };
        let slots = self.levels.slots();
        let mut done = page::pack_data(&body, slots, encoding, packer)?;
        done.rows = self.rows;
        done.nulls = self.levels.nulls();
        done.bounds = bounds;
        done.nan = nan;
        self.finished += done.bytes.len();
        self.pages.push(done);
        self.levels = PageLevels::default();
        self.rows = 0;
        Ok(())
    }

    /// Ends the last page and takes the chunk: the dictionary page, when there is one, and the data pages.
    pub(super) fn finish_chunk(
        &mut self,
        packer: &mut Compressor,
    ) -> Result<(Option<DonePage>, Vec<DonePage>)> {
        if self.rows > 0 {
            self.finish_page(packer)?;
        }
        let dictionary = match &mut self.values {
            Values::Int(values, _) => values.finish_chunk(),
            Values::Long(values, _) => values.finish_chunk(),
            Values::Float(values, _) => values.finish_chunk(),
            Values::Double(values, _) => values.finish_chunk(),
            Values::Bytes(values, _) => values.finish_chunk(),
            Values::Constant(text) => Some((page::plain_text(text), 1)),
            Values::Boolean(_) | Values::Derived(..) | Values::Counted(_) | Values::Absent => None,
        };
        let dictionary =
            dictionary.map(|(body, count)| page::pack_dictionary(&body, count, packer));
        self.finished = 0;
        Ok((dictionary.transpose()?, std::mem::take(&mut self.pages)))
    }
}

/// Adds the picked values of an array; `None` when it is not of the column's type.
fn push_values(
    values: &mut Values,
    physical: Physical,
    array: &ArrayRef,
    picked: &[Rows<usize>],
) -> Option<()> {
    match values {
        Values::Boolean(bits) => {
            let array = array.as_boolean_opt()?;
            for rows in picked {
                bits.append_buffer(&array.values().slice(rows.start, rows.len()));
            }
        }
        Values::Int(encoder, range) => numbers(encoder, range, array, picked)?,
        Values::Long(encoder, range) => numbers(encoder, range, array, picked)?,
        Values::Float(encoder, range) => numbers(encoder, range, array, picked)?,
        Values::Double(encoder, range) => numbers(encoder, range, array, picked)?,
        Values::Bytes(encoder, range) => match physical {
            Physical::Fixed(width) => {
                let bytes = fixed_bytes(array, width)?;
                for rows in picked {
                    let part = bytes.get(rows.start * width..rows.end * width)?;
                    range.see(part.chunks_exact(width));
                    encoder.push(part.chunks_exact(width), part.len());
                }
            }
            _ => var_bytes(encoder, range, array, picked)?,
        },
        Values::Constant(_) | Values::Derived(..) | Values::Counted(_) | Values::Absent => {
            return None;
        }
    }
    Some(())
}

fn numbers<T: Number + ArrowNativeType>(
    encoder: &mut Encoder<NumberStore<T>>,
    range: &mut Range<T>,
    array: &ArrayRef,
    picked: &[Rows<usize>],
) -> Option<()> {
    let data = array.to_data();
    if data.data_type().primitive_width() != Some(size_of::<T>()) {
        return None;
    }
    let buffer = data.buffers().first()?.clone();
    let all = ScalarBuffer::<T>::new(buffer, data.offset(), data.len());
    for rows in picked {
        let part = all.get(rows.clone())?;
        range.see(part);
        encoder.push(part.iter().copied(), size_of_val(part));
    }
    Some(())
}

fn var_bytes(
    encoder: &mut Encoder<ByteStore>,
    range: &mut ByteRange,
    array: &ArrayRef,
    picked: &[Rows<usize>],
) -> Option<()> {
    let (offsets, data) = match (array.as_string_opt::<i32>(), array.as_binary_opt::<i32>()) {
        (Some(text), _) => (text.offsets(), text.value_data()),
        (_, Some(binary)) => (binary.offsets(), binary.value_data()),
        _ => return None,
    };
    for rows in picked {
        let ends = offsets.get(rows.start..=rows.end)?;
        let size = (ends.last()? - ends.first()?) as usize + rows.len() * 4;
        let items = ends.windows(2).map(|pair| match pair {
            [start, end] => data.get(*start as usize..*end as usize).unwrap_or_default(),
            _ => &[],
        });
        range.see(items.clone());
        encoder.push(items, size);
    }
    Some(())
}

/// The values of one length, end to end: fixed bytes as they are, decimals big-endian in `width` bytes.
fn fixed_bytes(array: &ArrayRef, width: usize) -> Option<Vec<u8>> {
    if let Some(fixed) = array.as_fixed_size_binary_opt() {
        let right = usize::try_from(fixed.value_length()) == Ok(width);
        return right.then(|| {
            fixed
                .value_data()
                .get(..fixed.len() * width)
                .map(<[u8]>::to_vec)
        })?;
    }
    let mut bytes = Vec::with_capacity(array.len() * width);
    if let Some(decimals) = array.as_primitive_opt::<Decimal128Type>() {
        for value in decimals.values() {
            bytes.extend_from_slice(value.to_be_bytes().get(16_usize.checked_sub(width)?..)?);
        }
        return Some(bytes);
    }
    let decimals = array.as_primitive_opt::<Decimal256Type>()?;
    for value in decimals.values() {
        bytes.extend_from_slice(value.to_be_bytes().get(32_usize.checked_sub(width)?..)?);
    }
    Some(bytes)
}
