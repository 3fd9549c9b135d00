//! Pages: levels and values put together, packed, and led by their header.

use arrow::array::BooleanBufferBuilder;
use arrow::buffer::{BooleanBuffer, NullBuffer};

use super::bound::{Bound, Bounds};
use super::compress::Compressor;
use super::encoder::{PLAIN_DICTIONARY, RLE};
use super::hybrid;
use super::thrift::{Out, put_varint};
use crate::error::{Error, Result};

/// A packed page with its header, and what the indexes of the file say of it.
#[derive(Debug)]
pub(super) struct DonePage {
    pub(super) bytes: Vec<u8>,
    /// Header and body before packing.
    pub(super) unpacked: usize,
    pub(super) encoding: i32,
    pub(super) slots: usize,
    pub(super) rows: usize,
    pub(super) nulls: usize,
    pub(super) bounds: Option<Bounds>,
    /// Whether a NaN is among the values: then nothing is said of the order of the column's pages.
    pub(super) nan: bool,
}

/// The levels of a page's slots.
#[derive(Debug, Default)]
pub(super) struct PageLevels {
    slots: usize,
    nulls: usize,
    /// Validity of each row; none while all are valid.
    valid: Option<BooleanBufferBuilder>,
    def: Vec<u32>,
    rep: Vec<u32>,
}

impl PageLevels {
    pub(super) fn slots(&self) -> usize {
        self.slots
    }

    /// Slots without a value.
    pub(super) fn nulls(&self) -> usize {
        self.nulls
    }

    pub(super) fn push_flat(&mut self, rows: usize, nulls: Option<&NullBuffer>) {
        if nulls.is_some() && self.valid.is_none() {
            let mut valid = BooleanBufferBuilder::new(self.slots + rows);
            valid.append_n(self.slots, true);
            self.valid = Some(valid);
        }
        match (&mut self.valid, nulls) {
            (Some(valid), Some(nulls)) => valid.append_buffer(nulls.inner()),
            (Some(valid), None) => valid.append_n(rows, true),
            (None, _) => {}
        }
        self.slots += rows;
        self.nulls += nulls.map_or(0, NullBuffer::null_count);
    }

    pub(super) fn push_nulls(&mut self, rows: usize) {
        let valid = self
            .valid
            .get_or_insert_with(|| BooleanBufferBuilder::new(rows));
        valid.append_n(rows, false);
        self.slots += rows;
        self.nulls += rows;
    }

    pub(super) fn push_nested(&mut self, def: &[u8], rep: &[u8], max_def: u8) {
        self.slots += def.len();
        self.nulls += def.iter().filter(|level| **level < max_def).count();
        self.def.extend(def.iter().map(|level| u32::from(*level)));
        self.rep.extend(rep.iter().map(|level| u32::from(*level)));
    }

    /// Repetition levels, then definition levels, each led by its length; what has one level only is not written.
    pub(super) fn put(&mut self, out: &mut Vec<u8>, max_rep: u8, max_def: u8) {
        if max_rep > 0 {
            let width = hybrid::width_of(u32::from(max_rep));
            led_by_length(out, |out| hybrid::put(out, width, &self.rep));
        }
        if max_def == 0 {
            return;
        }
        led_by_length(out, |out| match &mut self.valid {
            Some(valid) if self.nulls < self.slots => {
                hybrid::put_bits(out, valid.as_slice(), self.slots);
            }
            Some(_) => hybrid::put_repeated(out, 1, 0, self.slots),
            None if self.def.is_empty() => hybrid::put_repeated(out, 1, 1, self.slots),
            None => hybrid::put(out, hybrid::width_of(u32::from(max_def)), &self.def),
        });
    }
}

fn led_by_length(out: &mut Vec<u8>, fill: impl FnOnce(&mut Vec<u8>)) {
    let start = out.len();
    out.extend_from_slice(&[0; 4]);
    fill(out);
    let length = (out.len() - start - 4) as u32;
    if let Some(place) = out.get_mut(start..start + 4) {
        place.copy_from_slice(&length.to_le_bytes());
    }
}

/// The values of a page whose rows all have the dictionary's only value: numbers of no bits.
pub(super) fn put_only_value(out: &mut Vec<u8>, rows: usize) {
    out.push(0);
    put_varint(out, (rows as u64) << 1);
}

pub(super) fn text_bounds(text: &[u8]) -> Bounds {
    (Bound::Bytes(text.to_vec()), Bound::Bytes(text.to_vec()))
}

pub(super) fn boolean_bounds(bits: &BooleanBuffer) -> Option<Bounds> {
    let set = bits.count_set_bits();
    let bounds = (Bound::Boolean(set == bits.len()), Bound::Boolean(set > 0));
    (!bits.is_empty()).then_some(bounds)
}

/// A text as plain values have it.
pub(super) fn plain_text(text: &[u8]) -> Vec<u8> {
    let mut plain = (text.len() as u32).to_le_bytes().to_vec();
    plain.extend_from_slice(text);
    plain
}

/// A data page of version 1.
pub(super) fn pack_data(
    body: &[u8],
    slots: usize,
    encoding: i32,
    packer: &mut Compressor,
) -> Result<DonePage> {
    pack(body, encoding, slots, packer, |out| {
        out.i32(1, 0);
        (
            5,
            [
                (1, slots),
                (2, encoding as usize),
                (3, RLE as usize),
                (4, RLE as usize),
            ]
            .to_vec(),
        )
    })
}

/// The page of a chunk's distinct values.
pub(super) fn pack_dictionary(
    body: &[u8],
    count: u32,
    packer: &mut Compressor,
) -> Result<DonePage> {
    pack(body, PLAIN_DICTIONARY, 0, packer, |out| {
        out.i32(1, 2);
        (
            7,
            [(1, count as usize), (2, PLAIN_DICTIONARY as usize)].to_vec(),
        )
    })
}

/// `PageHeader`: 1 type, 2 uncompressed size, 3 compressed size, 4 crc, then the header of the page's kind.
fn pack(
    body: &[u8],
    encoding: i32,
    slots: usize,
    packer: &mut Compressor,
    kind: impl FnOnce(&mut Out) -> (i16, Vec<(i16, usize)>),
) -> Result<DonePage> {
    let packed = packer.pack(body)?;
    let size = |size: usize| {
        let size = i32::try_from(size);
        size.map_err(|_| Error::limit_exceeded("a page of a base file would be larger than 2 GiB"))
    };
    let mut header = Out::default();
    let (id, fields) = kind(&mut header);
    header.i32(2, size(body.len())?);
    header.i32(3, size(packed.len())?);
    header.i32(4, crc32fast::hash(packed).cast_signed());
    let fields = fields.into_iter().map(|(id, value)| Ok((id, size(value)?)));
    let fields: Vec<(i16, i32)> = fields.collect::<Result<_>>()?;
    header.structure(id, |out| {
        fields.iter().for_each(|(id, value)| out.i32(*id, *value))
    });
    let mut bytes = header.finish();
    let unpacked = bytes.len() + body.len();
    bytes.reserve_exact(packed.len());
    bytes.extend_from_slice(packed);
    Ok(DonePage {
        bytes,
        unpacked,
        encoding,
        slots,
        rows: 0,
        nulls: 0,
        bounds: None,
        nan: false,
    })
}
