use std::ops::Range;

use crate::codec::bytes::Cursor;
use crate::error::{Error, Result};

/// The datums of an Avro data block, one after the other, as ranges of its content.
///
/// ```text
/// version i32 | count i32 | count × (length i32 | datum)
/// ```
///
/// Versions 1 to 3 lie alike; there is no other in tables that this crate opens.
#[derive(Debug, Clone)]
pub struct AvroRows {
    count: usize,
    left: usize,
    at: usize,
}

impl AvroRows {
    /// The rows of a block with this content.
    ///
    /// Errors: `Unsupported` for another version, `Corrupt` with the `offset` for more rows than the bytes can hold.
    pub fn new(content: &[u8]) -> Result<Self> {
        let mut cursor = Cursor::new(content);
        let version = cursor.u32_be()?;
        if !(1..=3).contains(&version) {
            return Err(
                Error::unsupported("an Avro log block of this version").context("version", version)
            );
        }
        let count = cursor.u32_be()?;
        let count = usize::try_from(count)
            .ok()
            .filter(|count| *count <= cursor.remaining() / 4);
        let count =
            count.ok_or_else(|| cursor.fault("a log block counts more rows than it has bytes"))?;
        Ok(Self {
            count,
            left: count,
            at: cursor.position(),
        })
    }

    /// Rows of the block.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Where the next row's datum lies in the content; none behind the last.
    ///
    /// Errors: `Corrupt` with the `offset` when it runs past the end.
    pub fn next_row(&mut self, content: &[u8]) -> Result<Option<Range<usize>>> {
        if self.left == 0 {
            return Ok(None);
        }
        let mut cursor = Cursor::new(content);
        cursor.take(self.at)?;
        let length = usize::try_from(cursor.u32_be()?).unwrap_or(usize::MAX);
        let start = cursor.position();
        cursor.take(length)?;
        self.at = cursor.position();
        self.left -= 1;
        Ok(Some(start..self.at))
    }
}
