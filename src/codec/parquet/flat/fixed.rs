use arrow::array::{ArrayData, ArrayRef, make_array};
use arrow::buffer::{MutableBuffer, NullBuffer};
use arrow::datatypes::DataType;
use bytes::Bytes;

use super::page::Values;
use super::run_values::Part;
use crate::error::{Error, Result};

/// So few values are copied without a call.
const FEW: usize = 4;

/// What is made of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Four bytes, as they are.
    Four,
    /// Eight bytes, as they are.
    Eight,
    /// A decimal of 128 bits, from bytes with the highest first, or from a number of 32 or 64 bits.
    Decimal { number: bool },
    /// A decimal of 256 bits, from bytes with the highest first.
    Wide,
    /// So many bytes, the first of a number.
    Front(usize),
    /// So many bytes, the last of a value.
    Back(usize),
    /// Microseconds since 1970, from nanoseconds of a day and its Julian number.
    Int96,
}

/// The Julian number of the first of January 1970.
const EPOCH: i64 = 2_440_588;
const MICROS_A_DAY: i64 = 86_400_000_000;

impl Kind {
    fn bytes(self) -> usize {
        match self {
            Self::Four => 4,
            Self::Eight | Self::Int96 => 8,
            Self::Decimal { .. } => 16,
            Self::Wide => 32,
            Self::Front(bytes) | Self::Back(bytes) => bytes,
        }
    }
}

/// Values of one width.
#[derive(Debug)]
pub(in super::super) struct Fixed {
    kind: Kind,
    /// Bytes of a value in the file; before it may stand its length.
    width: usize,
    dictionary: (Bytes, usize),
    out: MutableBuffer,
}

impl Fixed {
    pub(super) fn new(kind: Kind, width: usize) -> Self {
        Self {
            kind,
            width,
            dictionary: (Bytes::new(), 0),
            out: MutableBuffer::new(0),
        }
    }

    pub(super) fn set_dictionary(&mut self, bytes: Bytes, values: usize) {
        let stride = bytes.len().checked_div(values).unwrap_or(0);
        self.dictionary = (bytes, stride);
    }

    /// Makes room for the rows of a batch.
    pub(super) fn begin(&mut self, rows: usize) {
        self.out = MutableBuffer::new(rows.saturating_mul(self.kind.bytes()));
    }

    /// Adds so many values; `None` when they are not there.
    pub(super) fn read(&mut self, values: &mut Values, count: usize) -> Result<Option<()>> {
        match values {
            Values::Plain { bytes, at, stride } => {
                let end = at.saturating_add(count.saturating_mul(*stride));
                let Some(section) = bytes.get(*at..end) else {
                    return Ok(None);
                };
                *at = end;
                Ok(self.plain(section, *stride, count))
            }
            Values::Places(places) => {
                let mut left = count;
                while left > 0 {
                    let part = places.next(left)?;
                    let done = match &part {
                        Part::Same(place, times) => {
                            left -= times;
                            let (kind, width) = (self.kind, self.width);
                            let value = in_dictionary(&self.dictionary, *place);
                            value.and_then(|value| {
                                (0..*times).try_for_each(|_| put(&mut self.out, kind, width, value))
                            })
                        }
                        Part::Packed(packed) => {
                            left -= packed.count;
                            let Self {
                                kind,
                                width,
                                dictionary,
                                out,
                            } = self;
                            packed.each(|place| {
                                put(out, *kind, *width, in_dictionary(dictionary, place)?)
                            })
                        }
                    };
                    if done.is_none() {
                        return Ok(None);
                    }
                }
                Ok(Some(()))
            }
            Values::Bits { .. } | Values::BitRuns(_) => Ok(None),
        }
    }

    fn plain(&mut self, section: &[u8], stride: usize, count: usize) -> Option<()> {
        let as_they_are = matches!(self.kind, Kind::Four | Kind::Eight | Kind::Back(_));
        if as_they_are && stride == self.kind.bytes() && count >= FEW {
            self.out.extend_from_slice(section);
            return Some(());
        }
        let (kind, width) = (self.kind, self.width);
        let mut values = section.chunks_exact(stride.max(1));
        values.try_for_each(|value| put(&mut self.out, kind, width, value))
    }

    pub(super) fn nulls(&mut self, count: usize) {
        let bytes = count.saturating_mul(self.kind.bytes());
        self.out.extend_zeros(bytes);
    }

    /// The values since the last call.
    pub(super) fn take(
        &mut self,
        rows: usize,
        data_type: &DataType,
        nulls: Option<NullBuffer>,
    ) -> Result<ArrayRef> {
        let out = std::mem::replace(&mut self.out, MutableBuffer::new(0));
        let data = ArrayData::builder(data_type.clone())
            .len(rows)
            .nulls(nulls)
            .add_buffer(out.into());
        let data = data.build().map_err(|error| {
            Error::internal("values of a column do not make an array").with_source(error)
        })?;
        Ok(make_array(data))
    }
}

#[inline(always)]
fn in_dictionary((bytes, stride): &(Bytes, usize), place: u32) -> Option<&[u8]> {
    let from = (place as usize).checked_mul(*stride)?;
    bytes.get(from..from.checked_add(*stride)?)
}

/// Adds one value, `width` bytes at the end of `value`.
#[inline(always)]
fn put(out: &mut MutableBuffer, kind: Kind, width: usize, value: &[u8]) -> Option<()> {
    match kind {
        Kind::Four => out.push(u32::from_le_bytes(*value.last_chunk()?)),
        Kind::Eight => out.push(u64::from_le_bytes(*value.last_chunk()?)),
        Kind::Decimal { number: true } if width == 4 => {
            out.push(i128::from(i32::from_le_bytes(*value.last_chunk()?)));
        }
        Kind::Decimal { number: true } => {
            out.push(i128::from(i64::from_le_bytes(*value.last_chunk()?)));
        }
        Kind::Decimal { number: false } if width == 8 => {
            out.push(i128::from(i64::from_be_bytes(*value.last_chunk()?)));
        }
        Kind::Decimal { number: false } => out.push(i128::from_be_bytes(extended(value, width)?)),
        Kind::Wide => {
            let mut whole: [u8; 32] = extended(value, width)?;
            whole.reverse();
            out.extend_from_slice(&whole);
        }
        Kind::Front(bytes) => out.extend_from_slice(value.get(..bytes)?),
        Kind::Back(bytes) => out.extend_from_slice(value.get(value.len().checked_sub(bytes)?..)?),
        Kind::Int96 => {
            let value: &[u8; 12] = value.last_chunk()?;
            let nanos = i64::from_le_bytes(*value.first_chunk()?);
            let day = i32::from_le_bytes(*value.last_chunk()?);
            let day = (i64::from(day) - EPOCH).wrapping_mul(MICROS_A_DAY);
            out.push(day.wrapping_add(nanos / 1000));
        }
    }
    Some(())
}

/// The number of the last `width` bytes of a value, the highest first, in `TO` bytes.
#[inline(always)]
pub(super) fn extended<const TO: usize>(value: &[u8], width: usize) -> Option<[u8; TO]> {
    let value = value.get(value.len().checked_sub(width)?..)?;
    let sign = value
        .first()
        .map_or(0, |first| (first.cast_signed() >> 7).cast_unsigned());
    let mut whole = [sign; TO];
    whole
        .get_mut(TO.checked_sub(width)?..)?
        .copy_from_slice(value);
    Some(whole)
}
