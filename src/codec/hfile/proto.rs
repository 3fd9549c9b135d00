//! The little of protobuf that trailers and file infos use.

use crate::codec::bytes::Cursor;
use crate::error::{Error, Result};

/// A field's value; groups and fixed-width fields are skipped.
pub(super) enum Value<'a> {
    Number(u64),
    Bytes(&'a [u8]),
    Other,
}

/// A message behind its length: the fields in order.
pub(super) fn delimited<'a>(
    cursor: &mut Cursor<'a>,
    mut field: impl FnMut(u64, Value<'a>) -> Result<()>,
) -> Result<()> {
    let size = length(cursor)?;
    let mut message = cursor.part(size)?;
    while !message.is_empty() {
        let (number, value) = next(&mut message)?;
        field(number, value)?;
    }
    Ok(())
}

/// One field of a message.
pub(super) fn next<'a>(message: &mut Cursor<'a>) -> Result<(u64, Value<'a>)> {
    let tag = message.varint()?;
    let value = match tag & 7 {
        0 => Value::Number(message.varint()?),
        1 => message.take(8).map(|_| Value::Other)?,
        2 => {
            let size = length(message)?;
            Value::Bytes(message.take(size)?)
        }
        5 => message.take(4).map(|_| Value::Other)?,
        _ => return Err(message.fault("a protobuf field has no known wire type")),
    };
    Ok((tag >> 3, value))
}

fn length(cursor: &mut Cursor<'_>) -> Result<usize> {
    let at = cursor.position();
    let length = usize::try_from(cursor.varint()?).ok();
    let length = length.filter(|length| *length <= cursor.remaining());
    length.ok_or_else(|| {
        Error::corrupt("a length runs past the end of the bytes").context("offset", at)
    })
}
