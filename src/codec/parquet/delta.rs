//! Numbers as differences, in blocks: the encoding DELTA_BINARY_PACKED, checked and decoded.
//!
//! ```text
//! header: values in a block | miniblocks in a block | values | first value (zigzag)      all varints
//! block:  least difference (zigzag) | a width in bits for each miniblock | the miniblocks that have values
//! ```

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
    numbers(cursor, 32, count, |number| {
        // Of the sum 32 bits are the length.
        let length = u32::try_from(number as i32);
        each(length.map_err(|_| Error::corrupt("a length is negative"))?)
    })
}

/// Decodes the `count` numbers of `bits` bits at the front of a cursor and hands each over, right in its last `bits` bits.
///
/// The last miniblock may be cut behind its last value, unless something follows it.
pub(super) fn numbers(
    cursor: &mut Cursor<'_>,
    bits: u8,
    count: u64,
    mut each: impl FnMut(i64) -> Result<()>,
) -> Result<()> {
    let mut blocks = Blocks::read(cursor, bits, count)?;
    let mut value = blocks.first;
    if count > 0 {
        each(value)?;
    }
    while let Some(mini) = blocks.next(cursor)? {
        let whole = mini.whole(blocks.per_mini);
        let packed = cursor.take(whole.min(cursor.remaining()).max(mini.needed()))?;
        for at in 0..mini.values {
            // The format adds with overflow.
            value = value
                .wrapping_add(blocks.least)
                .wrapping_add(packed_at(packed, mini.width, at));
            each(value)?;
        }
    }
    Ok(())
}

/// One of the numbers of `width` bits, up to 64, that stand packed from the lowest bit on.
fn packed_at(packed: &[u8], width: u8, at: u64) -> i64 {
    let Some(mask) = u64::MAX.checked_shr(64 - u32::from(width)) else {
        return 0;
    };
    let bit = at * u64::from(width);
    let rest = usize::try_from(bit / 8)
        .ok()
        .and_then(|from| packed.get(from..));
    let rest = rest.unwrap_or_default();
    let word = match rest.first_chunk() {
        Some(word) => u64::from_le_bytes(*word),
        None => {
            let mut word = [0; 8];
            for (to, from) in word.iter_mut().zip(rest) {
                *to = *from;
            }
            u64::from_le_bytes(word)
        }
    };
    let shift = bit % 8;
    let low = word >> shift;
    // A number of more than 57 bits may end in a ninth byte.
    let high = match (shift, rest.get(8)) {
        (1.., Some(byte)) => u64::from(*byte) << (64 - shift),
        _ => 0,
    };
    ((low | high) & mask).cast_signed()
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
    first: i64,
    least: i64,
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

/// A number that a column of so many bits can hold.
fn number(cursor: &Cursor<'_>, bits: u8, number: i64) -> Result<i64> {
    match bits == 64 || i32::try_from(number).is_ok() {
        true => Ok(number),
        false => Err(cursor.fault("a number does not fit its column")),
    }
}
