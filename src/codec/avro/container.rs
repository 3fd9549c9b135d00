use serde_json::Value;

use super::datum::{self, Budget, prefixed};
use super::wire::WireSchema;
use crate::codec::bytes::Cursor;
use crate::error::{Error, Result};

pub(super) const MAGIC: &[u8; 4] = b"Obj\x01";

/// Whether bytes begin like an object container file.
pub fn is_container(bytes: &[u8]) -> bool {
    bytes.starts_with(MAGIC)
}

/// An Avro object container file, read whole.
///
/// ```text
/// "Obj" 1 | header: map<bytes> | 16 bytes of sync marker
/// then any number of: count (long) | size in bytes (long) | count records | the same sync marker
/// ```
///
/// Hudi writes neither `avro.codec` nor more than one block of one record on its timeline.
#[derive(Debug, Clone)]
pub struct Container {
    /// The records as JSON: see the [module page](super).
    pub records: Vec<Value>,
}

impl Container {
    /// Reads a file.
    ///
    /// Errors: `Corrupt` with the `offset` for bytes that break the format, a wrong sync marker or a short file
    /// included; `Unsupported` for a codec other than `null`.
    pub fn read(bytes: &[u8]) -> Result<Self> {
        let mut cursor = Cursor::new(bytes);
        if cursor.take(MAGIC.len())? != MAGIC {
            return Err(Cursor::new(bytes).fault("not an Avro object container file"));
        }
        let schema = header(&mut cursor)?;
        let sync: [u8; 16] = cursor.array()?;
        let mut budget = Budget::for_bytes(bytes.len());
        let mut records = Vec::new();
        while !cursor.is_empty() {
            let (mut body, count) = block(&sync, &mut cursor)?;
            for _ in 0..count {
                records.push(datum::read(&schema, &mut body, &mut budget)?);
            }
            if !body.is_empty() {
                return Err(body.fault("an Avro block goes on after its last record"));
            }
        }
        Ok(Self { records })
    }

    /// The only record of a file.
    ///
    /// Errors: as [`Container::read`], and `Corrupt` for none or several.
    pub fn read_one(bytes: &[u8]) -> Result<Value> {
        let mut records = Self::read(bytes)?.records;
        match (records.pop(), records.is_empty()) {
            (Some(record), true) => Ok(record),
            _ => Err(Error::corrupt("an Avro file should hold one record")
                .context("records", records.len())
                .context("offset", bytes.len())),
        }
    }
}

fn header(cursor: &mut Cursor<'_>) -> Result<WireSchema> {
    let mut schema = None;
    loop {
        let count = cursor.zigzag()?;
        if count == 0 {
            break;
        }
        if count < 0 {
            cursor.zigzag()?;
        }
        for _ in 0..count.unsigned_abs() {
            let offset = cursor.position();
            let (key, value) = (prefixed(cursor)?, prefixed(cursor)?);
            match key {
                b"avro.schema" => {
                    let parsed = WireSchema::parse(value).map_err(|e| e.context("offset", offset));
                    schema = Some(parsed?);
                }
                b"avro.codec" if value != b"null" => {
                    return Err(Error::unsupported("Avro file with a compression codec")
                        .context("codec", String::from_utf8_lossy(value))
                        .context("offset", offset));
                }
                _ => {}
            }
        }
    }
    schema.ok_or_else(|| cursor.fault("an Avro file has no schema"))
}

/// The body of the next block and the records it counts.
fn block<'a>(sync: &[u8; 16], cursor: &mut Cursor<'a>) -> Result<(Cursor<'a>, usize)> {
    let count = cursor.zigzag()?;
    let size = cursor.length()?;
    let body = cursor.part(size)?;
    if cursor.array::<16>()? != *sync {
        return Err(cursor.fault("an Avro block does not end in the file's sync marker"));
    }
    // A record of no bytes is possible in Avro, a useful one is not: so the count cannot exceed the bytes.
    let count = usize::try_from(count).ok().filter(|count| *count <= size);
    let count =
        count.ok_or_else(|| body.fault("an Avro block counts more records than it has bytes"))?;
    Ok((body, count))
}

#[cfg(test)]
mod tests;
