//! Runs of values of a fixed width in bits: Parquet's hybrid of RLE and bit-packing.
//!
//! ```text
//! run: varint header; lowest bit 0: header/2 times one value, in whole bytes
//!                     lowest bit 1: header/2 groups of eight values, packed from the lowest bit on
//! ```

use crate::codec::bytes::Cursor;
use crate::error::{Error, Result};

/// Values of more bits are in no run: levels and dictionary indexes are smaller.
const MAX_WIDTH: u8 = 32;

/// One run.
#[derive(Debug)]
pub(super) enum Run<'a> {
    /// One value so many times.
    Repeated { value: u64, count: u64 },
    /// As many values as `bytes` hold, `count` at most.
    Packed { bytes: &'a [u8], count: u64 },
}

/// A reader of runs.
#[derive(Debug)]
pub(super) struct Runs<'a> {
    cursor: Cursor<'a>,
    width: u8,
}

impl<'a> Runs<'a> {
    pub(super) fn new(bytes: &'a [u8], width: u8) -> Result<Self> {
        if width > MAX_WIDTH {
            return Err(Error::corrupt("the values of a run are too wide"));
        }
        let cursor = Cursor::new(bytes);
        Ok(Self { cursor, width })
    }

    /// Bytes read so far.
    pub(super) fn position(&self) -> usize {
        self.cursor.position()
    }

    /// The next run; `None` at the end, or before zeros that some writers pad with.
    pub(super) fn next(&mut self) -> Result<Option<Run<'a>>> {
        if self.cursor.is_empty() {
            return Ok(None);
        }
        let header = self.cursor.varint()?;
        let count = header >> 1;
        if header == 0 {
            return Ok(None);
        }
        let count = match header & 1 {
            0 => count,
            _ => count.saturating_mul(8),
        };
        // The decoder counts a run's values in 31 bits.
        if count > i32::MAX as u64 {
            return Err(self.cursor.fault("a run is impossibly long"));
        }
        if header & 1 == 0 {
            let mut value = [0; 8];
            let bytes = self.cursor.take(usize::from(self.width).div_ceil(8))?;
            for (to, from) in value.iter_mut().zip(bytes) {
                *to = *from;
            }
            let value = u64::from_le_bytes(value);
            if value >> self.width != 0 {
                return Err(self.cursor.fault("a run repeats a value that is too wide"));
            }
            return Ok(Some(Run::Repeated { value, count }));
        }
        // Writers may leave out the end of the last run.
        let whole = usize::try_from(count / 8).unwrap_or(usize::MAX);
        let whole = whole.saturating_mul(usize::from(self.width));
        let bytes = self.cursor.take(whole.min(self.cursor.remaining()))?;
        let held = match self.width {
            0 => count,
            width => bytes.len() as u64 * 8 / u64::from(width),
        };
        let count = count.min(held);
        Ok(Some(Run::Packed { bytes, count }))
    }

    /// Reads runs until `count` values are there and hands each over, cut to what is still wanted.
    ///
    /// Errors: `Corrupt` when there are fewer values.
    pub(super) fn values(&mut self, count: u64, mut each: impl FnMut(Run<'a>)) -> Result<()> {
        let mut left = count;
        while left > 0 {
            let run = self.next()?;
            let run =
                run.ok_or_else(|| Error::corrupt("a page holds fewer values than it declares"))?;
            let (Run::Repeated { count, .. } | Run::Packed { count, .. }) = run;
            let used = count.min(left);
            left -= used;
            each(match run {
                Run::Repeated { value, .. } => Run::Repeated { value, count: used },
                Run::Packed { bytes, .. } => Run::Packed { bytes, count: used },
            });
        }
        Ok(())
    }
}

/// Hands over the first `count` packed values of `width` bits.
pub(super) fn unpack(bytes: &[u8], width: u8, count: u64, mut each: impl FnMut(u64)) {
    if width == 0 {
        (0..count).for_each(|_| each(0));
        return;
    }
    let mask = u64::MAX >> (64 - u32::from(width));
    let mut left = count;
    for group in bytes.chunks(usize::from(width)) {
        // Eight values, and room to read eight bytes from wherever one begins.
        let mut room = [0; 40];
        for (to, from) in room.iter_mut().zip(group) {
            *to = *from;
        }
        for at in 0..left.min(8) {
            let bit = at * u64::from(width);
            let from = usize::try_from(bit / 8).unwrap_or(0);
            let word = room.get(from..).and_then(|rest| rest.first_chunk());
            let word = word.map_or(0, |word| u64::from_le_bytes(*word));
            each((word >> (bit % 8)) & mask);
        }
        left = left.saturating_sub(8);
        if left == 0 {
            break;
        }
    }
}

/// How many of the first `count` bits are set.
pub(super) fn count_ones(bytes: &[u8], count: u64) -> u64 {
    let whole = usize::try_from(count / 8).unwrap_or(usize::MAX);
    let (whole, rest) = bytes.split_at(whole.min(bytes.len()));
    let mut ones = 0;
    let mut words = whole.chunks_exact(8);
    for word in words.by_ref() {
        let word = word.first_chunk().map_or(0, |w| u64::from_le_bytes(*w));
        ones += u64::from(word.count_ones());
    }
    for byte in words.remainder() {
        ones += u64::from(byte.count_ones());
    }
    let last = rest.first().map_or(0, |byte| byte & !(0xff << (count % 8)));
    ones + u64::from(last.count_ones())
}
