//! Numbers as differences, in blocks: the encoding DELTA_BINARY_PACKED, checked before it is decoded.
//!
//! ```text
//! header: values in a block | miniblocks in a block | values | first value (zigzag)      all varints
//! block:  least difference (zigzag) | a width in bits for each miniblock | the miniblocks that have values
//! ```

use super::runs::unpack;
use crate::codec::bytes::Cursor;
use crate::error::{Error, Result};

/// Values of a block, at most. Writers take 128 to 2048; a limit keeps few bytes from standing for many values.
const MAX_BLOCK: u64 = 8 << 10;

/// Checks the `count` numbers of `bits` bits at the front of `section` and returns how many bytes they take.
///
/// The last miniblock may be cut behind its last value.
pub(super) fn check(section: &[u8], bits: u8, count: u64) -> Result<usize> {
    let mut cursor = Cursor::new(section);
    let mut blocks = Blocks::read(&mut cursor, bits, count)?;
    while let Some(mini) = blocks.next(&mut cursor)? {
        let needed = mini.needed();
        let whole = mini.whole(blocks.per_mini);
        cursor.take(whole.min(cursor.remaining()).max(needed))?;
    }
    Ok(cursor.position())
}

/// Decodes the `count` lengths at the front of a cursor, whole miniblocks as the format wants them, and hands each over.
///
/// Errors: `Corrupt` when one is negative.
pub(super) fn lengths(
    cursor: &mut Cursor<'_>,
    count: u64,
    mut each: impl FnMut(u32) -> Result<()>,
) -> Result<()> {
    let mut blocks = Blocks::read(cursor, 32, count)?;
    let mut value = blocks.first;
    let mut hand_over = |value: i32| {
        let length = u32::try_from(value);
        each(length.map_err(|_| Error::corrupt("a length is negative"))?)
    };
    if count > 0 {
        hand_over(value)?;
    }
    while let Some(mini) = blocks.next(cursor)? {
        let packed = cursor.take(mini.whole(blocks.per_mini))?;
        let mut outcome = Ok(());
        unpack(packed, mini.width, mini.values, |packed| {
            // The format adds with overflow; 32 bits of what is packed are all there are.
            let packed = u32::try_from(packed).unwrap_or(0).cast_signed();
            value = value.wrapping_add(blocks.least).wrapping_add(packed);
            if outcome.is_ok() {
                outcome = hand_over(value);
            }
        });
        outcome?;
    }
    Ok(())
}

/// A miniblock that has values.
struct Mini {
    width: u8,
    values: u64,
}

impl Mini {
    /// Bytes that its values need.
    fn needed(&self) -> usize {
        let bits = self.values * u64::from(self.width);
        usize::try_from(bits.div_ceil(8)).unwrap_or(usize::MAX)
    }

    /// Bytes with the padding behind its values.
    fn whole(&self, per_mini: u64) -> usize {
        usize::try_from(per_mini * u64::from(self.width) / 8).unwrap_or(usize::MAX)
    }
}

/// The blocks as they are walked.
struct Blocks<'a> {
    bits: u8,
    minis: usize,
    per_mini: u64,
    /// Values still to come.
    left: u64,
    first: i32,
    least: i32,
    widths: std::slice::Iter<'a, u8>,
}

impl<'a> Blocks<'a> {
    fn read(cursor: &mut Cursor<'a>, bits: u8, count: u64) -> Result<Self> {
        let block = cursor.varint()?;
        let minis = cursor.varint()?;
        let values = cursor.varint()?;
        let first = cursor.zigzag()?;
        let per_mini = block.checked_div(minis).unwrap_or(0);
        let fits = block.is_multiple_of(128)
            && block <= MAX_BLOCK
            && per_mini >= 32
            && per_mini.is_multiple_of(32)
            && per_mini * minis == block;
        if !fits {
            return Err(cursor.fault("the blocks of a page have an impossible size"));
        }
        if values != count {
            return Err(cursor.fault("a page holds other values than it declares"));
        }
        Ok(Self {
            bits,
            minis: usize::try_from(minis).unwrap_or(0),
            per_mini,
            left: count.saturating_sub(1),
            first: number(cursor, bits, first)?,
            least: 0,
            widths: [].iter(),
        })
    }

    fn next(&mut self, cursor: &mut Cursor<'a>) -> Result<Option<Mini>> {
        if self.left == 0 {
            return Ok(None);
        }
        if self.widths.len() == 0 {
            let least = cursor.zigzag()?;
            self.least = number(cursor, self.bits, least)?;
            self.widths = cursor.take(self.minis)?.iter();
        }
        let width = self.widths.next().copied().unwrap_or(0);
        if width > self.bits {
            return Err(cursor.fault("the differences of a page are too wide"));
        }
        let values = self.left.min(self.per_mini);
        self.left -= values;
        Ok(Some(Mini { width, values }))
    }
}

/// A number of 32 bits; of 64 bits only the check is wanted, since only lengths are decoded here.
fn number(cursor: &Cursor<'_>, bits: u8, number: i64) -> Result<i32> {
    match i32::try_from(number) {
        Ok(number) => Ok(number),
        Err(_) if bits == 64 => Ok(0),
        Err(_) => Err(cursor.fault("a number does not fit its column")),
    }
}
