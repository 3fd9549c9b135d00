use std::ops::Range;

use bytes::Bytes;

use super::key_value::{index_row, vlong};
use crate::codec::bytes::Cursor;
use crate::error::{Error, Result};

/// Where a block lies, as an index says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlockRef {
    /// Offset of the block's header.
    pub offset: u64,
    /// Bytes of header, data and checksums.
    pub size: u32,
    /// No key of the block is less; none of the block before is greater.
    pub first_key: Bytes,
}

impl BlockRef {
    /// The block's bytes in the file.
    pub fn range(&self) -> Range<u64> {
        self.offset..self.offset.saturating_add(u64::from(self.size))
    }

    fn new(offset: u64, size: u32, key: &Bytes, end: u64) -> Result<Self> {
        let block = Self {
            offset,
            size,
            first_key: index_row(key)?,
        };
        if block.range().end > end {
            return Err(Error::corrupt(
                "an HFile index points outside of the file's blocks",
            ));
        }
        Ok(block)
    }
}

/// Reads a root index: `count` times `offset (u64) | size (u32) | key length (VInt) | key`. `end` is where blocks end.
pub(super) fn root(data: &Bytes, count: u32, end: u64) -> Result<Vec<BlockRef>> {
    let mut cursor = Cursor::new(data);
    let mut entries = Vec::new();
    for _ in 0..count {
        let offset = u64::from_be_bytes(cursor.array()?);
        let size = u32::from_be_bytes(cursor.array()?);
        let length = usize::try_from(vlong(&mut cursor)?).ok();
        let length = length.filter(|length| *length <= cursor.remaining());
        let length =
            length.ok_or_else(|| cursor.fault("a key runs past the end of the HFile index"))?;
        let start = cursor.position();
        cursor.take(length)?;
        let key = data.slice(start..start + length);
        entries.push(BlockRef::new(offset, size, &key, end)?);
    }
    check_order(&entries)?;
    Ok(entries)
}

/// Reads a leaf or intermediate index:
/// `n (u32) | n + 1 places (u32), counted behind them | n times offset (u64), size (u32), key`.
pub(super) fn inner(data: &Bytes, end: u64) -> Result<Vec<BlockRef>> {
    let mut cursor = Cursor::new(data);
    let count = u32::from_be_bytes(cursor.array()?);
    let count = usize::try_from(count).ok();
    let count = count.filter(|count| *count < cursor.remaining() / 4);
    let count = count.ok_or_else(|| cursor.fault("an HFile index is longer than its block"))?;
    let mut places = Vec::with_capacity(count + 1);
    for _ in 0..=count {
        places.push(u32::from_be_bytes(cursor.array()?));
    }
    let behind = cursor.position();
    let mut entries = Vec::with_capacity(count);
    for pair in places.windows(2) {
        let &[from, to] = pair else { continue };
        let place = |at: u32| usize::try_from(at).ok()?.checked_add(behind);
        let (from, to) = match (place(from), place(to)) {
            (Some(from), Some(to)) if from <= to && to <= data.len() => (from, to),
            _ => return Err(cursor.fault("an HFile index entry lies outside of its block")),
        };
        let entry = data.slice(from..to);
        let mut cursor = Cursor::new(&entry);
        let offset = u64::from_be_bytes(cursor.array()?);
        let size = u32::from_be_bytes(cursor.array()?);
        let key = entry.slice(cursor.position()..);
        entries.push(BlockRef::new(offset, size, &key, end)?);
    }
    check_order(&entries)?;
    Ok(entries)
}

/// A search trusts the order, so it is held here.
fn check_order(entries: &[BlockRef]) -> Result<()> {
    match entries.is_sorted_by(|a, b| a.first_key <= b.first_key && a.offset < b.offset) {
        true => Ok(()),
        false => Err(Error::corrupt("the keys of an HFile index do not rise")),
    }
}
