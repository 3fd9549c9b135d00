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
    /// Values, and zeros as far as there is room.
    out: MutableBuffer,
    /// Where the next value goes.
    end: usize,
}

impl Fixed {
    pub(super) fn new(kind: Kind, width: usize) -> Self {
        Self {
            kind,
            width,
            dictionary: (Bytes::new(), 0),
            out: MutableBuffer::new(0),
            end: 0,
        }
    }

    pub(super) fn set_dictionary(&mut self, bytes: Bytes, values: usize) {
        let stride = bytes.len().checked_div(values).unwrap_or(0);
        self.dictionary = (bytes, stride);
    }

    /// Makes room for the rows of a batch.
    pub(super) fn begin(&mut self, rows: usize) {
        self.out = MutableBuffer::from_len_zeroed(rows.saturating_mul(self.kind.bytes()));
        self.end = 0;
    }

    fn room(&mut self, count: usize) -> Option<&mut [u8]> {
        room(&mut self.out, &mut self.end, self.kind.bytes(), count)
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
                    let Self {
                        kind,
                        width,
                        dictionary,
                        out,
                        end,
                    } = self;
                    let (kind, width, bytes) = (*kind, *width, kind.bytes());
                    let done = match &part {
                        Part::Same(place, times) => {
                            left -= times;
                            let value = in_dictionary(dictionary, *place);
                            let room = room(out, end, bytes, *times);
                            value.zip(room).and_then(|(value, room)| {
                                let mut each = room.chunks_exact_mut(bytes);
                                each.try_for_each(|to| put(to, kind, width, value))
                            })
                        }
                        Part::Packed(packed) => {
                            left -= packed.count;
                            room(out, end, bytes, packed.count).and_then(|room| {
                                let mut each = room.chunks_exact_mut(bytes);
                                packed.each(|place| {
                                    put(
                                        each.next()?,
                                        kind,
                                        width,
                                        in_dictionary(dictionary, place)?,
                                    )
                                })
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
        let (kind, width) = (self.kind, self.width);
        let as_they_are = matches!(kind, Kind::Four | Kind::Eight | Kind::Back(_));
        let room = self.room(count)?;
        if as_they_are && stride == kind.bytes() && count >= FEW {
            room.copy_from_slice(section);
            return Some(());
        }
        let values = section.chunks_exact(stride.max(1));
        let mut both = room.chunks_exact_mut(kind.bytes()).zip(values);
        both.try_for_each(|(to, value)| put(to, kind, width, value))
    }

    /// Adds so many values that are not there.
    pub(super) fn nulls(&mut self, count: usize) -> Option<()> {
        self.room(count).map(|_| ())
    }

    /// The values since the last call.
    pub(super) fn take(
        &mut self,
        rows: usize,
        data_type: &DataType,
        nulls: Option<NullBuffer>,
    ) -> Result<ArrayRef> {
        let mut out = std::mem::replace(&mut self.out, MutableBuffer::new(0));
        out.truncate(self.end);
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

/// Room for so many values more behind `end`, which moves on: lists may have more values than rows.
fn room<'a>(
    out: &'a mut MutableBuffer,
    end: &mut usize,
    bytes: usize,
    count: usize,
) -> Option<&'a mut [u8]> {
    let begin = *end;
    *end = begin.checked_add(count.checked_mul(bytes)?)?;
    if *end > out.len() {
        let twice = out.len().saturating_mul(2);
        out.resize(twice.max(*end), 0);
    }
    out.get_mut(begin..*end)
}

#[inline(always)]
fn in_dictionary((bytes, stride): &(Bytes, usize), place: u32) -> Option<&[u8]> {
    let from = (place as usize).checked_mul(*stride)?;
    bytes.get(from..from.checked_add(*stride)?)
}

/// Puts one value, `width` bytes at the end of `value`, where it goes.
#[inline(always)]
fn put(to: &mut [u8], kind: Kind, width: usize, value: &[u8]) -> Option<()> {
    match kind {
        Kind::Four => *to.first_chunk_mut::<4>()? = *value.last_chunk()?,
        Kind::Eight => *to.first_chunk_mut::<8>()? = *value.last_chunk()?,
        Kind::Decimal { number: true } if width == 4 => {
            number(to, i128::from(i32::from_le_bytes(*value.last_chunk()?)))?;
        }
        Kind::Decimal { number: true } => {
            number(to, i128::from(i64::from_le_bytes(*value.last_chunk()?)))?;
        }
        Kind::Decimal { number: false } if width == 8 => {
            number(to, i128::from(i64::from_be_bytes(*value.last_chunk()?)))?;
        }
        Kind::Decimal { number: false } => {
            number(to, i128::from_be_bytes(extended(value, width)?))?;
        }
        Kind::Wide => {
            let whole: &mut [u8; 32] = to.first_chunk_mut()?;
            *whole = extended(value, width)?;
            whole.reverse();
        }
        Kind::Front(bytes) => to.copy_from_slice(value.get(..bytes)?),
        Kind::Back(bytes) => to.copy_from_slice(value.get(value.len().checked_sub(bytes)?..)?),
        Kind::Int96 => {
            let value: &[u8; 12] = value.last_chunk()?;
            let nanos = i64::from_le_bytes(*value.first_chunk()?);
            let day = i32::from_le_bytes(*value.last_chunk()?);
            let day = (i64::from(day) - EPOCH).wrapping_mul(MICROS_A_DAY);
            *to.first_chunk_mut()? = day.wrapping_add(nanos / 1000).to_le_bytes();
        }
    }
    Some(())
}

#[inline(always)]
fn number(to: &mut [u8], number: i128) -> Option<()> {
    *to.first_chunk_mut()? = number.to_le_bytes();
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
