//! Deflate (RFC 1951), unpacked from a slice into a slice that is as long as what comes out.
//!
//! A stream decoder keeps a window and may stop anywhere; a page is there as a whole, which takes two thirds of the time. What
//! comes out is its own window, and while there is room at both ends several symbols are decoded between two looks at the input.
//!
//! ```text
//! block: final (1 bit) | kind (2 bits): stored, fixed codes, codes of its own | symbols up to the end-of-block
//! entry of a table:
//!   31 literal | 16..25 the literal, the base of a length or distance, or where a table of longer codes begins
//!   15 not a value: 14 longer codes, 13 end of the block, else no code | 8..12 bits of the code, or that such a table takes
//!   0..8 bits to pass over: the code, and what a length or distance adds to its base
//! ```

use super::inflate_table::{
    DISTANCE_BITS, DISTANCE_ROOM, END, LITERAL, LONGER, NO_VALUE, SYMBOL_BITS, SYMBOL_ROOM, Tables,
};

/// The longest match, the literals before it, and what copies write beyond their end.
const ROOM: usize = 258 + 3 + 16 + 8;

/// Bytes that one turn of the fast loop reads, at most, and what is read beyond them.
const AHEAD: usize = 24;

/// What a turn needs for a distance: the code and what it adds.
const MAX_DISTANCE: u32 = 15 + 13;

/// A decoder; its tables are made once.
#[derive(Debug, Default)]
pub(super) struct Inflate {
    tables: Tables,
}

/// The way through the packed bytes, by bits.
#[derive(Debug)]
pub(super) struct Bits<'a> {
    packed: &'a [u8],
    /// The next byte that is not in `held`.
    at: usize,
    /// Lowest bit first; what is above `count` bits of it is ahead of its time, and right.
    held: u64,
    count: u32,
}

impl<'a> Bits<'a> {
    fn new(packed: &'a [u8]) -> Self {
        Self {
            packed,
            at: 0,
            held: 0,
            count: 0,
        }
    }

    /// At least 56 bits; the caller knows that eight bytes are there.
    #[inline(always)]
    fn refill(&mut self) -> Option<()> {
        let word = self.packed.get(self.at..)?.first_chunk::<8>()?;
        self.held |= u64::from_le_bytes(*word) << (self.count & 63);
        self.at += ((63 - self.count) >> 3) as usize;
        self.count |= 56;
        Some(())
    }

    /// As many bits as are left, 56 at least while there are.
    #[inline(never)]
    fn refill_slowly(&mut self) {
        self.held &= !(u64::MAX << self.count);
        while self.count < 56
            && let Some(byte) = self.packed.get(self.at)
        {
            self.held |= u64::from(*byte) << self.count;
            self.at += 1;
            self.count += 8;
        }
    }

    #[inline(always)]
    fn pass(&mut self, bits: u32) {
        self.held >>= bits & 63;
        self.count = self.count.wrapping_sub(bits & 63);
    }

    /// The next `count` bits, 16 at most.
    pub(super) fn take(&mut self, count: u32) -> Option<u32> {
        if self.count < count {
            self.refill_slowly();
        }
        if self.count < count {
            return None;
        }
        let value = self.held & !(u64::MAX << count);
        self.pass(count);
        u32::try_from(value).ok()
    }

    /// Looks at the next bits, as far as there are any.
    pub(super) fn peek(&mut self) -> u64 {
        if self.count < 16 {
            self.refill_slowly();
        }
        self.held
    }

    /// Passes over bits that were looked at.
    pub(super) fn skip(&mut self, bits: u32) -> Option<()> {
        (bits <= self.count).then(|| self.pass(bits))
    }

    /// Gives back whole bytes, and drops what is left of one.
    fn align(&mut self) {
        self.at -= (self.count >> 3) as usize;
        self.held = 0;
        self.count = 0;
    }
}

impl Inflate {
    /// Unpacks one stream from the front of `packed` into the front of `out`: how many bytes were read, and how many written.
    ///
    /// `None` when the stream is broken, goes on behind `packed`, or does not fit `out`.
    pub(super) fn unpack(&mut self, packed: &[u8], out: &mut [u8]) -> Option<(usize, usize)> {
        let mut bits = Bits::new(packed);
        let mut at = 0;
        loop {
            let last = bits.take(1)? == 1;
            match bits.take(2)? {
                0 => at = stored(&mut bits, out, at)?,
                1 => {
                    self.tables.fixed()?;
                    at = self.block(&mut bits, out, at)?;
                }
                2 => {
                    self.tables.read(&mut bits)?;
                    at = self.block(&mut bits, out, at)?;
                }
                _ => return None,
            }
            if last {
                bits.align();
                return Some((bits.at, at));
            }
        }
    }

    /// The symbols of one block; where `out` is filled up to then.
    fn block(&self, bits: &mut Bits<'_>, out: &mut [u8], at: usize) -> Option<usize> {
        let (at, ended) = self.fast(bits, out, at)?;
        match ended {
            true => Some(at),
            false => self.slow(bits, out, at),
        }
    }

    /// Decodes while there is room at both ends; whether the block ended.
    fn fast(&self, from: &mut Bits<'_>, out: &mut [u8], at: usize) -> Option<(usize, bool)> {
        let symbols: &[u32; SYMBOL_ROOM] = &self.tables.symbols;
        let distances: &[u32; DISTANCE_ROOM] = &self.tables.distances;
        let mut at = at;
        let last_in = from.packed.len().saturating_sub(AHEAD);
        let last_out = out.len().saturating_sub(ROOM);
        // In locals, which stay in registers.
        let mut bits = Bits { ..*from };
        let mut ended = false;
        while at < last_out && bits.at < last_in {
            bits.refill()?;
            let room = out.get_mut(at..)?.first_chunk_mut::<3>()?;
            let mut entry = symbol(symbols, bits.held);
            if entry & LITERAL != 0 {
                bits.pass(entry);
                room[0] = (entry >> 16) as u8;
                at += 1;
                entry = symbol(symbols, bits.held);
                if entry & LITERAL != 0 {
                    bits.pass(entry);
                    room[1] = (entry >> 16) as u8;
                    at += 1;
                    entry = symbol(symbols, bits.held);
                    if entry & LITERAL != 0 {
                        bits.pass(entry);
                        room[2] = (entry >> 16) as u8;
                        at += 1;
                        continue;
                    }
                }
            }
            if entry & NO_VALUE != 0 {
                if entry & LONGER != 0 {
                    bits.pass(entry);
                    entry = longer(symbols, entry, bits.held);
                    if entry & LITERAL != 0 {
                        bits.pass(entry);
                        *out.get_mut(at)? = (entry >> 16) as u8;
                        at += 1;
                        continue;
                    }
                }
                if entry & NO_VALUE != 0 {
                    bits.pass(entry);
                    ended = entry & END != 0;
                    if ended {
                        break;
                    }
                    return None;
                }
            }
            let length = value(entry, bits.held);
            bits.pass(entry);
            if bits.count < MAX_DISTANCE {
                bits.refill()?;
            }
            let mut entry = distance(distances, bits.held);
            if entry & LONGER != 0 && entry & NO_VALUE != 0 {
                bits.pass(entry);
                entry = longer(distances, entry, bits.held);
            }
            if entry & NO_VALUE != 0 {
                return None;
            }
            let back = value(entry, bits.held);
            bits.pass(entry);
            at = copy(out, at, back, length)?;
        }
        *from = bits;
        Some((at, ended))
    }

    /// Decodes to the end of the block, one symbol at a time and each step checked.
    #[inline(never)]
    fn slow(&self, bits: &mut Bits<'_>, out: &mut [u8], at: usize) -> Option<usize> {
        let mut at = at;
        loop {
            bits.refill_slowly();
            let mut entry = symbol(&self.tables.symbols, bits.held);
            if entry & NO_VALUE != 0 && entry & LONGER != 0 {
                bits.skip(entry & 0xff)?;
                entry = longer(&self.tables.symbols, entry, bits.held);
            }
            if entry & LITERAL != 0 {
                bits.skip(entry & 0xff)?;
                *out.get_mut(at)? = (entry >> 16) as u8;
                at += 1;
                continue;
            }
            if entry & NO_VALUE != 0 {
                bits.skip(entry & 0xff)?;
                return (entry & END != 0).then_some(at);
            }
            let length = value(entry, bits.held);
            bits.skip(entry & 0xff)?;
            bits.refill_slowly();
            let mut entry = distance(&self.tables.distances, bits.held);
            if entry & NO_VALUE != 0 && entry & LONGER != 0 {
                bits.skip(entry & 0xff)?;
                entry = longer(&self.tables.distances, entry, bits.held);
            }
            if entry & NO_VALUE != 0 {
                return None;
            }
            let back = value(entry, bits.held);
            bits.skip(entry & 0xff)?;
            let end = at.checked_add(length)?;
            let start = at.checked_sub(back)?;
            if end > out.len() || back == 0 {
                return None;
            }
            for (from, to) in (start..).zip(at..end) {
                *out.get_mut(to)? = *out.get(from)?;
            }
            at = end;
        }
    }
}

/// The entry of the next symbol. What is masked lies within the table, so that no check is left of these looks.
#[inline(always)]
fn symbol(table: &[u32; SYMBOL_ROOM], held: u64) -> u32 {
    let at = held as usize & ((1 << SYMBOL_BITS) - 1);
    table.get(at).copied().unwrap_or(NO_VALUE)
}

/// The entry of the next distance.
#[inline(always)]
fn distance(table: &[u32; DISTANCE_ROOM], held: u64) -> u32 {
    let at = held as usize & ((1 << DISTANCE_BITS) - 1);
    table.get(at).copied().unwrap_or(NO_VALUE)
}

/// The entry of a code that is longer than the table's first part tells.
#[inline(always)]
fn longer<const N: usize>(table: &[u32; N], entry: u32, held: u64) -> u32 {
    let width = (entry >> 8) & 0xf;
    let at = (entry >> 16) as usize + (held as usize & ((1 << width) - 1));
    // Its length is a power of two, and no table is longer.
    table.get(at & (N - 1)).copied().unwrap_or(NO_VALUE)
}

/// A length or a distance: the base, and the bits behind the code.
#[inline(always)]
fn value(entry: u32, held: u64) -> usize {
    let all = held & !(u64::MAX << (entry & 63));
    ((entry >> 16) as usize) + (all >> ((entry >> 8) & 0xf)) as usize
}

/// Repeats what stands `distance` bytes before; there is room for a few words more.
#[inline(always)]
fn copy(out: &mut [u8], at: usize, distance: usize, length: usize) -> Option<usize> {
    let (mut from, mut to, end) = (at.checked_sub(distance)?, at, at + length);
    if distance >= 16 {
        while to < end {
            words::<16>(out, from, to)?;
            (from, to) = (from + 16, to + 16);
        }
    } else if distance >= 8 {
        while to < end {
            words::<8>(out, from, to)?;
            (from, to) = (from + 8, to + 8);
        }
    } else if distance == 1 {
        let word = [*out.get(from)?; 16];
        while to < end {
            *out.get_mut(to..)?.first_chunk_mut::<16>()? = word;
            to += 16;
        }
    } else if distance > 0 {
        // Each step makes `distance` bytes right, and writes over what is not yet.
        while to < end {
            words::<8>(out, from, to)?;
            (from, to) = (from + distance, to + distance);
        }
    } else {
        return None;
    }
    Some(end)
}

#[inline(always)]
fn words<const N: usize>(out: &mut [u8], from: usize, to: usize) -> Option<()> {
    let chunk = *out.get(from..)?.first_chunk::<N>()?;
    *out.get_mut(to..)?.first_chunk_mut::<N>()? = chunk;
    Some(())
}

/// A block that is stored as it is: its length, the same inverted, and its bytes.
fn stored(bits: &mut Bits<'_>, out: &mut [u8], at: usize) -> Option<usize> {
    bits.align();
    let mut header = bits.packed.get(bits.at..)?.chunks_exact(2);
    let mut half = || Some(u16::from_le_bytes(*header.next()?.first_chunk()?));
    let (length, inverted) = (half()?, half()?);
    if length != !inverted {
        return None;
    }
    let length = usize::from(length);
    let begin = bits.at + 4;
    let bytes = bits.packed.get(begin..begin + length)?;
    out.get_mut(at..at + length)?.copy_from_slice(bytes);
    bits.at = begin + length;
    Some(at + length)
}

#[cfg(all(test, not(target_arch = "wasm32")))]
mod tests;
