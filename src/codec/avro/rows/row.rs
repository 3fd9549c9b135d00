use crate::codec::bytes::Cursor;
use crate::error::{Error, Result};

/// Items of no bytes (null, empty records) that a row may hold beside one for each of its bytes.
const SPARE: usize = 4096;

/// What columns may hold under nulls in one batch: in bytes of fixed types and fields of records. A null of a byte can stand
/// for a record of thousands of fields, or for kilobytes of a fixed type, and Arrow wants a slot for each.
pub(super) const MAX_FILL: usize = 256 << 20;

/// One row that is being read, and what it may still cost.
pub(super) struct Row<'a> {
    pub(super) cursor: Cursor<'a>,
    spare: usize,
    fill: &'a mut usize,
}

impl<'a> Row<'a> {
    pub(super) fn new(bytes: &'a [u8], fill: &'a mut usize) -> Self {
        Self {
            cursor: Cursor::new(bytes),
            spare: bytes.len().saturating_add(SPARE),
            fill,
        }
    }

    #[cold]
    pub(super) fn fault(&self, message: &str) -> Error {
        self.cursor.fault(message)
    }

    /// The branch of a union.
    #[inline(always)]
    pub(super) fn branch(&mut self) -> Result<usize> {
        match usize::try_from(self.cursor.zigzag()?) {
            Ok(branch) => Ok(branch),
            Err(_) => Err(self.fault("a union has no such branch")),
        }
    }

    /// An int.
    #[inline]
    pub(super) fn int(&mut self) -> Result<i32> {
        match i32::try_from(self.cursor.zigzag()?) {
            Ok(value) => Ok(value),
            Err(_) => Err(self.fault("an int has more than 32 bits")),
        }
    }

    /// Bytes after their count.
    #[inline]
    pub(super) fn prefixed(&mut self) -> Result<&'a [u8]> {
        let length = self.cursor.zigzag()?;
        match usize::try_from(length) {
            Ok(length) => self.cursor.take(length),
            Err(_) => Err(self.fault("a length is negative")),
        }
    }

    /// The items of the next block of an array or map, 0 at its end, and its size in bytes where it is given.
    pub(super) fn block(&mut self) -> Result<(u64, Option<usize>)> {
        let count = self.cursor.zigzag()?;
        let size = match count < 0 {
            true => Some(self.cursor.length()?),
            false => None,
        };
        Ok((count.unsigned_abs(), size))
    }

    /// Counts items that take no bytes.
    pub(super) fn spend_items(&mut self, count: u64) -> Result<()> {
        let left = usize::try_from(count)
            .ok()
            .and_then(|count| self.spare.checked_sub(count));
        match left {
            Some(left) => {
                self.spare = left;
                Ok(())
            }
            None => Err(self.fault("a row holds more items than its bytes can mean")),
        }
    }

    /// Counts what is filled in under a null.
    #[inline]
    pub(super) fn spend_fill(&mut self, cost: usize) -> Result<()> {
        match self.fill.checked_sub(cost) {
            Some(left) => {
                *self.fill = left;
                Ok(())
            }
            None => Err(Error::limit_exceeded(
                "nulls of wide types take too much memory in one batch",
            )),
        }
    }
}
