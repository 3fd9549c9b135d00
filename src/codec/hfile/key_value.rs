use bytes::Bytes;

use crate::codec::bytes::Cursor;
use crate::error::{Error, Result};

/// The type byte of a value that is there.
const PUT: u8 = 4;

/// A key and its value, both parts of one decompressed block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyValue {
    /// The row's bytes, which is the whole key for Hudi.
    pub key: Bytes,
    /// The value; in Hudi a record in Avro's binary form.
    pub value: Bytes,
}

/// Reads a data block and hands its entries on in order.
///
/// ```text
/// key length (u32) | value length (u32) | key | value | MVCC version (Hadoop's VLong), and so on
/// key: row length (u16) | row | family length (u8) | family, qualifier | timestamp (i64) | type (u8)
/// ```
///
/// Errors: `Corrupt` with the place in the block as `offset`, also for keys that do not rise.
pub(super) fn each(data: &Bytes, mut take: impl FnMut(KeyValue)) -> Result<u64> {
    let mut cursor = Cursor::new(data);
    let mut count = 0;
    let mut before = Bytes::new();
    while !cursor.is_empty() {
        let key_length = length(&mut cursor)?;
        let value_length = length(&mut cursor)?;
        let start = cursor.position();
        let row = row_of(cursor.take(key_length)?).map_err(|e| e.context("offset", start))?;
        let key = data.slice(start + 2..start + 2 + row);
        let start = cursor.position();
        cursor.take(value_length)?;
        let value = data.slice(start..start + value_length);
        skip_vlong(&mut cursor)?;
        if key < before {
            return Err(cursor.fault("the keys of an HFile do not rise"));
        }
        before.clone_from(&key);
        take(KeyValue { key, value });
        count += 1;
    }
    Ok(count)
}

fn length(cursor: &mut Cursor<'_>) -> Result<usize> {
    let length = u32::from_be_bytes(cursor.array()?);
    let length = usize::try_from(length).ok();
    let length = length.filter(|length| *length <= cursor.remaining());
    length.ok_or_else(|| cursor.fault("a length runs past the end of the HFile block"))
}

/// The length of a structured key's row.
fn row_of(key: &[u8]) -> Result<usize> {
    let mut cursor = Cursor::new(key);
    let length = usize::from(u16::from_be_bytes(cursor.array()?));
    cursor.take(length)?;
    let family = usize::from(cursor.u8()?);
    cursor.take(family)?;
    // What is left holds the qualifier, the timestamp and the type.
    if cursor.remaining() < 9 || key.last() != Some(&PUT) {
        return Err(Error::corrupt("not the key of a value in an HFile"));
    }
    Ok(length)
}

/// The row of a key in an index, which is a structured key or one cut after the row.
pub(super) fn index_row(key: &Bytes) -> Result<Bytes> {
    let mut cursor = Cursor::new(key);
    let length = usize::from(u16::from_be_bytes(cursor.array()?));
    cursor.take(length)?;
    Ok(key.slice(2..2 + length))
}

/// Hadoop's VLong: one byte from -112 on, else a byte that tells how many follow.
pub(super) fn vlong(cursor: &mut Cursor<'_>) -> Result<i64> {
    let first = i64::from(cursor.u8()?.cast_signed());
    let (count, negative) = match first {
        -112.. => return Ok(first),
        -120..-112 => (-112 - first, false),
        _ => (-120 - first, true),
    };
    let mut value = 0_i64;
    for _ in 0..count {
        value = (value << 8) | i64::from(cursor.u8()?);
    }
    Ok(if negative { !value } else { value })
}

fn skip_vlong(cursor: &mut Cursor<'_>) -> Result<()> {
    vlong(cursor).map(|_| ())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vlongs_decode_as_hadoop_writes_them() {
        let check = |bytes: &[u8], expected: i64| {
            let mut cursor = Cursor::new(bytes);
            assert_eq!(vlong(&mut cursor).unwrap(), expected, "{bytes:x?}");
            assert!(cursor.is_empty());
        };
        check(&[0], 0);
        check(&[0x7f], 127);
        check(&[0x90], -112);
        check(&[0x8f, 0x83], 131);
        check(&[0x8e, 0x01, 0x00], 256);
        check(&[0x87, 0x80], -129);
    }
}
