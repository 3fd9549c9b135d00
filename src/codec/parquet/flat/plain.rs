//! Rare encodings, undone as a page is opened: behind it stands what a writer of plain values would have written.

use bytes::Bytes;
use parquet::basic::{Encoding, Type as PhysicalType};

use super::super::delta;
use super::super::values::{MAX_EXPANDED, ValueKind};
use super::fixed::extended;
use super::out::missing;
use super::page::odd_encoding;
use crate::codec::bytes::Cursor;
use crate::error::{Error, Result};

/// The `count` values of a section in the encoding PLAIN.
pub(super) fn of(
    section: Bytes,
    encoding: Encoding,
    count: usize,
    kind: &ValueKind,
) -> Result<Bytes> {
    let number = match kind.physical {
        PhysicalType::INT32 => 4,
        PhysicalType::INT64 => 8,
        _ => 0,
    };
    let values = match encoding {
        Encoding::PLAIN => return Ok(section),
        Encoding::DELTA_BINARY_PACKED if number > 0 => numbers(&section, count, number)?,
        Encoding::BYTE_STREAM_SPLIT if kind.width > 0 => joined(&section, count, kind.width)?,
        Encoding::DELTA_LENGTH_BYTE_ARRAY => with_lengths(&section, count, kind)?,
        Encoding::DELTA_BYTE_ARRAY => with_prefixes(&section, count, kind)?,
        _ => return Err(odd_encoding()),
    };
    Ok(values.into())
}

/// Values that are read as numbers and have lengths of their own in the file, brought to one width; others as they are.
pub(super) fn fixed(plain: Bytes, count: usize, kind: &ValueKind) -> Result<Bytes> {
    match kind.decimal_bytes() {
        Some(16) => widened::<16>(&plain, count),
        Some(_) => widened::<32>(&plain, count),
        None => Ok(plain),
    }
}

fn widened<const TO: usize>(plain: &[u8], count: usize) -> Result<Bytes> {
    let mut values = Vec::with_capacity(size(count, TO)?);
    let mut rest = plain;
    for _ in 0..count {
        let (length, after) = rest.split_first_chunk().ok_or_else(missing)?;
        let length = usize::try_from(u32::from_le_bytes(*length)).unwrap_or(usize::MAX);
        let (value, after) = after.split_at_checked(length).ok_or_else(missing)?;
        let whole: [u8; TO] = extended(value, length).ok_or_else(missing)?;
        values.extend_from_slice(&whole);
        rest = after;
    }
    match rest.is_empty() {
        true => Ok(values.into()),
        false => Err(missing()),
    }
}

fn numbers(section: &[u8], count: usize, width: usize) -> Result<Vec<u8>> {
    let mut values = Vec::with_capacity(size(count, width)?);
    let bits = if width == 4 { 32 } else { 64 };
    delta::numbers(&mut Cursor::new(section), bits, count as u64, |number| {
        let bytes = number.to_le_bytes();
        values.extend_from_slice(bytes.get(..width).unwrap_or(&bytes));
        Ok(())
    })?;
    Ok(values)
}

/// First all first bytes, then all second ones.
fn joined(section: &[u8], count: usize, width: usize) -> Result<Vec<u8>> {
    let mut values = vec![0; size(count, width)?];
    if section.len() != values.len() {
        return Err(missing());
    }
    for (at, stream) in section.chunks_exact(count.max(1)).enumerate() {
        let places = values.iter_mut().skip(at).step_by(width);
        for (to, from) in places.zip(stream) {
            *to = *from;
        }
    }
    Ok(values)
}

fn with_lengths(section: &[u8], count: usize, kind: &ValueKind) -> Result<Vec<u8>> {
    let mut cursor = Cursor::new(section);
    let mut values = Vec::with_capacity(size(count, 4)?);
    let lengths = lengths(&mut cursor, count)?;
    for length in lengths {
        let value = cursor.take(length as usize)?;
        begin(&mut values, value.len(), kind)?;
        values.extend_from_slice(value);
    }
    Ok(values)
}

/// Each value shares its beginning with the one before.
fn with_prefixes(section: &[u8], count: usize, kind: &ValueKind) -> Result<Vec<u8>> {
    let mut cursor = Cursor::new(section);
    let mut values = Vec::with_capacity(size(count, 4)?);
    let shared = lengths(&mut cursor, count)?;
    let added = lengths(&mut cursor, count)?;
    let mut before = 0..0;
    for (shared, added) in shared.into_iter().zip(added) {
        let (shared, added) = (shared as usize, added as usize);
        let rest = cursor.take(added)?;
        if shared > before.len() || values.len() as u64 > MAX_EXPANDED {
            return Err(missing());
        }
        begin(&mut values, shared + added, kind)?;
        let start = values.len();
        values.extend_from_within(before.start..before.start + shared);
        values.extend_from_slice(rest);
        before = start..values.len();
    }
    Ok(values)
}

/// Begins a value: where values have lengths of their own, the length stands before it.
fn begin(values: &mut Vec<u8>, length: usize, kind: &ValueKind) -> Result<()> {
    match kind.physical {
        PhysicalType::BYTE_ARRAY => {
            let length = u32::try_from(length).map_err(|_| missing())?;
            values.extend_from_slice(&length.to_le_bytes());
            Ok(())
        }
        _ if length == kind.width => Ok(()),
        _ => Err(missing()),
    }
}

fn lengths(cursor: &mut Cursor<'_>, count: usize) -> Result<Vec<u32>> {
    let mut lengths = Vec::new();
    delta::lengths(cursor, count as u64, |length| {
        lengths.push(length);
        Ok(())
    })?;
    Ok(lengths)
}

/// The bytes of so many values, whose number few bytes may declare.
fn size(count: usize, width: usize) -> Result<usize> {
    let bytes = count.checked_mul(width);
    let bytes = bytes.filter(|bytes| *bytes as u64 <= MAX_EXPANDED);
    bytes.ok_or_else(|| Error::corrupt("the values of a page are too large"))
}
