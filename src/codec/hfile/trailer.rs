use std::ops::Range;

use super::proto::{self, Value};
use crate::codec::bytes::Cursor;
use crate::error::{Error, Result};

/// Every version-3 trailer has this size.
pub(super) const TRAILER_SIZE: u64 = 4096;

const MAGIC: &[u8; 8] = b"TRABLK\"$";

/// More index levels than a file of any size needs.
const MAX_LEVELS: u32 = 8;

/// What compresses each block of a file by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Compression {
    /// A gzip member a block.
    Gzip,
    /// Nothing.
    None,
}

impl Compression {
    /// By the ordinal of HBase's `Compression.Algorithm`.
    fn of_code(code: u64) -> Result<Self> {
        let name = match code {
            1 => return Ok(Self::Gzip),
            2 => return Ok(Self::None),
            0 => "LZO",
            3 => "SNAPPY",
            4 => "LZ4",
            5 => "BZIP2",
            6 => "ZSTD",
            _ => {
                return Err(
                    Error::corrupt("the HFile trailer names no known codec").context("codec", code)
                );
            }
        };
        Err(Error::unsupported("HFile blocks of this compression").context("codec", name))
    }
}

/// The last 4096 bytes of a file.
///
/// ```text
/// "TRABLK\"$" | varint length, protobuf message | zeros | version: minor in the first byte, then major (u24 BE)
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trailer {
    /// Where the file info block begins.
    pub file_info: u64,
    /// Where the root indexes begin; they and the file info end where the trailer begins.
    pub load_on_open: u64,
    /// Entries of the root data index.
    pub data_index_count: u32,
    /// Keys in all.
    pub entries: u64,
    /// 1 when the root index points at data blocks.
    pub data_index_levels: u32,
    /// What compresses the blocks.
    pub compression: Compression,
    /// Where the trailer begins, which is where the file's blocks end.
    pub start: u64,
}

impl Trailer {
    /// Where the trailer of a file of `size` bytes stands.
    ///
    /// Errors: `Corrupt` when the file is too short to have one.
    pub fn range(size: u64) -> Result<Range<u64>> {
        let start = size.checked_sub(TRAILER_SIZE);
        let start = start.ok_or_else(|| {
            Error::corrupt("too short for an HFile")
                .context("offset", 0)
                .context("size", size)
        })?;
        Ok(start..size)
    }

    /// Reads the trailer of a file of `size` bytes.
    ///
    /// Errors: `Corrupt` with the `offset`; `Unsupported` for another version, a codec that Java's writers do not choose
    /// and encryption.
    pub fn parse(size: u64, bytes: &[u8]) -> Result<Self> {
        let start = Self::range(size)?.start;
        Self::read(start, bytes).map_err(|e| e.context("offset", start))
    }

    fn read(start: u64, bytes: &[u8]) -> Result<Self> {
        let place = |message| Error::corrupt(message).context("offset", start);
        let mut cursor = Cursor::new(bytes);
        if bytes.len() as u64 != TRAILER_SIZE || !bytes.starts_with(MAGIC) {
            return Err(place("no HFile: its trailer does not begin with TRABLK"));
        }
        match bytes.last_chunk::<4>() {
            Some([_, 0, 0, 3]) => {}
            Some([_, a, b, c]) => {
                let version = u32::from_be_bytes([0, *a, *b, *c]);
                return Err(Error::unsupported("an HFile of another version than 3")
                    .context("version", version));
            }
            None => return Err(place("too short for an HFile")),
        }
        cursor.take(MAGIC.len())?;
        let mut numbers = [None; 13];
        let mut encrypted = false;
        proto::delimited(&mut cursor, |field, value| {
            match value {
                Value::Number(number) => {
                    let slot = usize::try_from(field).ok().and_then(|i| numbers.get_mut(i));
                    if let Some(slot) = slot {
                        *slot = Some(number);
                    }
                }
                Value::Bytes(key) if field == 13 => encrypted = !key.is_empty(),
                Value::Bytes(_) | Value::Other => {}
            }
            Ok(())
        })
        .map_err(|_| place("the HFile trailer cannot be read"))?;
        if encrypted {
            return Err(Error::unsupported("an encrypted HFile"));
        }
        Self::of_fields(start, &numbers)
    }

    fn of_fields(start: u64, numbers: &[Option<u64>; 13]) -> Result<Self> {
        let missing =
            |_| Error::corrupt("the HFile trailer lacks a field").context("offset", start);
        let get = |field: usize| numbers.get(field).copied().flatten();
        let need = |field: usize| get(field).ok_or(field).map_err(missing);
        let small = |value: u64| u32::try_from(value).ok();
        let (file_info, load_on_open) = (need(1)?, need(2)?);
        let levels = small(get(8).unwrap_or(1)).filter(|levels| *levels <= MAX_LEVELS);
        let count = small(get(5).unwrap_or(0));
        match (levels, count) {
            (Some(levels), Some(count)) if load_on_open <= file_info && file_info < start => {
                Ok(Self {
                    file_info,
                    load_on_open,
                    data_index_count: count,
                    entries: get(7).unwrap_or(0),
                    data_index_levels: levels.max(1),
                    compression: Compression::of_code(need(12)?)?,
                    start,
                })
            }
            _ => Err(
                Error::corrupt("the HFile trailer points outside of the file")
                    .context("offset", start),
            ),
        }
    }

    /// What must be there to open the file: root indexes and file info.
    pub fn load_on_open(&self) -> Range<u64> {
        self.load_on_open..self.start
    }
}
