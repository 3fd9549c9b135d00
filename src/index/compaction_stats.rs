//! Statistics of one column whose bounds are not tight, put together: the wider bounds, and counts added up.

use std::cmp::Ordering;

use bytes::Bytes;

use super::compaction_merge::{skip_key, skip_text};
use super::record::put_long;
use crate::codec::bytes::Cursor;
use crate::error::Result;

/// A record of statistics in its parts, all of them its own bytes.
struct Parts<'a> {
    /// All before the bounds.
    head: &'a [u8],
    min: Wrapped<'a>,
    max: Wrapped<'a>,
    /// Values, nulls, bytes, and bytes before compression.
    counts: [Option<i64>; 4],
    /// All behind the counts.
    tail: &'a [u8],
    /// The last field, which says the type of the bounds.
    value_type: &'a [u8],
}

/// A bound: its branch of the union of wrappers, and its value.
#[derive(Clone, Copy)]
struct Wrapped<'a> {
    branch: i64,
    value: &'a [u8],
}

/// A record over an older one of the same key; `None` where their bounds cannot be compared, since no statistics leave nothing
/// out. Source: Hudi 1.1 `HoodieTableMetadataUtil.mergeColumnStatsRecords`.
///
/// Errors: `Corrupt` for bytes that are no such record.
pub(super) fn merge_stats(newer: &[u8], older: &[u8]) -> Result<Option<Bytes>> {
    let (new, old) = (Parts::read(newer)?, Parts::read(older)?);
    if new.value_type != old.value_type {
        return Ok(None);
    }
    let min = pick(old.min, new.min, Ordering::Less);
    let max = pick(old.max, new.max, Ordering::Greater);
    let (Some(min), Some(max)) = (min, max) else {
        return Ok(None);
    };
    let mut out = new.head.to_vec();
    min.put(&mut out);
    max.put(&mut out);
    for (new, old) in new.counts.iter().zip(old.counts) {
        match (new, old) {
            (Some(new), Some(old)) => {
                put_long(1, &mut out);
                put_long(new.saturating_add(old), &mut out);
            }
            _ => put_long(0, &mut out),
        }
    }
    out.extend_from_slice(new.tail);
    Ok(Some(out.into()))
}

impl<'a> Parts<'a> {
    fn read(record: &'a [u8]) -> Result<Self> {
        let mut cursor = Cursor::new(record);
        skip_key(&mut cursor)?;
        cursor.zigzag()?;
        // Neither files nor a Bloom filter, but statistics.
        for branch in [0, 0, 1] {
            if cursor.zigzag()? != branch {
                return Err(cursor.fault("a record of the metadata table is not of its type"));
            }
        }
        skip_text(&mut cursor)?;
        skip_text(&mut cursor)?;
        let part = |from: usize, to: usize| record.get(from..to).unwrap_or_default();
        let head = part(0, cursor.position());
        let (min, max) = (Wrapped::read(&mut cursor)?, Wrapped::read(&mut cursor)?);
        let mut counts = [None; 4];
        for count in &mut counts {
            *count = match cursor.zigzag()? {
                0 => None,
                _ => Some(cursor.zigzag()?),
            };
        }
        let tail = cursor.position();
        // Whether it is deleted, and whether it is tight.
        cursor.take(2)?;
        let value_type = part(cursor.position(), record.len());
        Ok(Self {
            head,
            min,
            max,
            counts,
            tail: part(tail, record.len()),
            value_type,
        })
    }
}

impl<'a> Wrapped<'a> {
    fn read(cursor: &mut Cursor<'a>) -> Result<Self> {
        let branch = cursor.zigzag()?;
        let before = cursor.clone();
        match branch {
            0 => {}
            1 => drop(cursor.take(1)?),
            2 | 3 | 8 | 10..=12 => drop(cursor.zigzag()?),
            4 => drop(cursor.take(4)?),
            5 => drop(cursor.take(8)?),
            6 | 7 | 9 => {
                let length = cursor.length()?;
                cursor.take(length)?;
            }
            _ => return Err(cursor.fault("a bound of a type that has no order")),
        }
        let count = cursor.position() - before.position();
        let value = before.clone().take(count)?;
        Ok(Self { branch, value })
    }

    fn put(self, out: &mut Vec<u8>) {
        put_long(self.branch, out);
        out.extend_from_slice(self.value);
    }

    /// In the order of Java's values; `None` for bounds of two types.
    fn order(self, other: Self) -> Option<Ordering> {
        if self.branch != other.branch {
            return None;
        }
        let long = |bytes| Cursor::new(bytes).zigzag().ok();
        let float = |bytes| {
            Some(f64::from(f32::from_le_bytes(
                Cursor::new(bytes).array().ok()?,
            )))
        };
        let double = |bytes| Some(f64::from_le_bytes(Cursor::new(bytes).array().ok()?));
        Some(match self.branch {
            1 => self.value.cmp(other.value),
            4 => java_order(float(self.value)?, float(other.value)?),
            5 => java_order(double(self.value)?, double(other.value)?),
            6 => signed(self.content()?).cmp(signed(other.content()?)),
            7 => {
                let text = |bytes| std::str::from_utf8(bytes).ok();
                let (a, b) = (text(self.content()?)?, text(other.content()?)?);
                a.encode_utf16().cmp(b.encode_utf16())
            }
            9 => decimal_order(self.content()?, other.content()?),
            _ => long(self.value)?.cmp(&long(other.value)?),
        })
    }

    /// Bytes behind their count.
    fn content(self) -> Option<&'a [u8]> {
        let mut cursor = Cursor::new(self.value);
        let length = cursor.length().ok()?;
        cursor.take(length).ok()
    }
}

/// The one of two bounds that lies on the wanted side; the one that is there where the other is null. `None` where they have no
/// order.
fn pick<'a>(old: Wrapped<'a>, new: Wrapped<'a>, side: Ordering) -> Option<Wrapped<'a>> {
    match (old.branch, new.branch) {
        (_, 0) => Some(old),
        (0, _) => Some(new),
        _ if new.order(old)? == side => Some(new),
        _ => Some(old),
    }
}

/// A NaN is greater than all, and -0.0 less than 0.0.
fn java_order(a: f64, b: f64) -> Ordering {
    match (a.is_nan(), b.is_nan()) {
        (false, false) => a.total_cmp(&b),
        (a, b) => a.cmp(&b),
    }
}

/// Java compares the bytes of a buffer with their signs.
fn signed(bytes: &[u8]) -> impl Iterator<Item = i8> {
    bytes.iter().map(|byte| byte.cast_signed())
}

/// Numbers in two's complement, the highest byte first, of one scale.
fn decimal_order(a: &[u8], b: &[u8]) -> Ordering {
    let negative = |bytes: &[u8]| bytes.first().is_some_and(|byte| byte & 0x80 != 0);
    let width = a.len().max(b.len());
    let widened = |bytes: &[u8]| {
        let sign = if negative(bytes) { 0xff } else { 0 };
        let mut whole = vec![sign; width - bytes.len()];
        whole.extend_from_slice(bytes);
        whole
    };
    match (negative(a), negative(b)) {
        (true, false) => Ordering::Less,
        (false, true) => Ordering::Greater,
        _ => widened(a).cmp(&widened(b)),
    }
}
