//! The codes of one deflate block, as tables that give a symbol for the next bits.

use super::inflate::Bits;

/// Bits that the first part of each table is looked up by; longer codes go on in a part of their own.
pub(super) const SYMBOL_BITS: u32 = 10;
pub(super) const DISTANCE_BITS: u32 = 8;

/// Entries of a table, a power of two: codes of at most 15 bits take 1334 and 402 at most.
pub(super) const SYMBOL_ROOM: usize = 2048;
pub(super) const DISTANCE_ROOM: usize = 512;

pub(super) const LITERAL: u32 = 1 << 31;
pub(super) const NO_VALUE: u32 = 1 << 15;
pub(super) const LONGER: u32 = 1 << 14;
pub(super) const END: u32 = 1 << 13;

const MAX_CODE: usize = 15;

/// In which order the lengths of the codes of code lengths stand.
const ORDER: [usize; 19] = [
    16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15,
];

/// Base and added bits of lengths, from symbol 257 on.
const LENGTHS: [(u16, u8); 29] = [
    (3, 0),
    (4, 0),
    (5, 0),
    (6, 0),
    (7, 0),
    (8, 0),
    (9, 0),
    (10, 0),
    (11, 1),
    (13, 1),
    (15, 1),
    (17, 1),
    (19, 2),
    (23, 2),
    (27, 2),
    (31, 2),
    (35, 3),
    (43, 3),
    (51, 3),
    (59, 3),
    (67, 4),
    (83, 4),
    (99, 4),
    (115, 4),
    (131, 5),
    (163, 5),
    (195, 5),
    (227, 5),
    (258, 0),
];

/// Base and added bits of distances.
const DISTANCES: [(u16, u8); 30] = [
    (1, 0),
    (2, 0),
    (3, 0),
    (4, 0),
    (5, 1),
    (7, 1),
    (9, 2),
    (13, 2),
    (17, 3),
    (25, 3),
    (33, 4),
    (49, 4),
    (65, 5),
    (97, 5),
    (129, 6),
    (193, 6),
    (257, 7),
    (385, 7),
    (513, 8),
    (769, 8),
    (1025, 9),
    (1537, 9),
    (2049, 10),
    (3073, 10),
    (4097, 11),
    (6145, 11),
    (8193, 12),
    (12289, 12),
    (16385, 13),
    (24577, 13),
];

/// The tables of the block at hand.
#[derive(Debug)]
pub(super) struct Tables {
    pub(super) symbols: Box<[u32; SYMBOL_ROOM]>,
    pub(super) distances: Box<[u32; DISTANCE_ROOM]>,
}

impl Default for Tables {
    fn default() -> Self {
        Self {
            symbols: Box::new([NO_VALUE; SYMBOL_ROOM]),
            distances: Box::new([NO_VALUE; DISTANCE_ROOM]),
        }
    }
}

impl Tables {
    /// The codes that a block without codes of its own has.
    pub(super) fn fixed(&mut self) -> Option<()> {
        let mut lengths = [8_u8; 288];
        lengths.get_mut(144..256)?.fill(9);
        lengths.get_mut(256..280)?.fill(7);
        make(&mut *self.symbols, SYMBOL_BITS, &lengths, symbol_entry)?;
        make(
            &mut *self.distances,
            DISTANCE_BITS,
            &[5; 32],
            distance_entry,
        )
    }

    /// The codes at the front of a block: how many of each kind there are, and their lengths, which have codes themselves.
    pub(super) fn read(&mut self, bits: &mut Bits<'_>) -> Option<()> {
        let symbols = bits.take(5)? as usize + 257;
        let distances = bits.take(5)? as usize + 1;
        let codes = bits.take(4)? as usize + 4;
        if symbols > 286 || distances > 30 {
            return None;
        }
        let mut own = [0_u8; 19];
        for place in ORDER.iter().take(codes) {
            *own.get_mut(*place)? = bits.take(3)? as u8;
        }
        let mut table = [NO_VALUE; 128];
        make(&mut table, 7, &own, |symbol| Some((symbol as u32) << 16))?;
        let mut lengths = [0_u8; 286 + 30];
        let all = lengths.get_mut(..symbols + distances)?;
        let mut at = 0;
        while at < all.len() {
            let entry = *table.get(bits.peek() as usize & 127)?;
            if entry & NO_VALUE != 0 {
                return None;
            }
            bits.skip(entry & 0xff)?;
            let (repeated, times) = match entry >> 16 {
                length @ 0..16 => (length as u8, 1),
                16 => (*all.get(at.checked_sub(1)?)?, 3 + bits.take(2)?),
                17 => (0, 3 + bits.take(3)?),
                _ => (0, 11 + bits.take(7)?),
            };
            let end = at + times as usize;
            all.get_mut(at..end)?.fill(repeated);
            at = end;
        }
        let (symbols, distances) = all.split_at_checked(symbols)?;
        // A block that cannot end is none.
        if symbols.get(256) == Some(&0) {
            return None;
        }
        make(&mut *self.symbols, SYMBOL_BITS, symbols, symbol_entry)?;
        make(
            &mut *self.distances,
            DISTANCE_BITS,
            distances,
            distance_entry,
        )
    }
}

fn symbol_entry(symbol: usize) -> Option<u32> {
    match symbol {
        0..256 => Some(LITERAL | (symbol as u32) << 16),
        256 => Some(NO_VALUE | END),
        _ => added(LENGTHS.get(symbol - 257)),
    }
}

fn distance_entry(symbol: usize) -> Option<u32> {
    added(DISTANCES.get(symbol))
}

/// Base and added bits, which count among the bits to pass over; a symbol that means nothing may have a code, and may not come.
fn added(value: Option<&(u16, u8)>) -> Option<u32> {
    value.map_or(Some(NO_VALUE), |(base, bits)| {
        Some(u32::from(*base) << 16 | u32::from(*bits))
    })
}

/// Makes a table for codes of these lengths, of which zero is none; `entry` is that of a symbol but for its code.
///
/// Codes are given in the order of their lengths, then of their symbols, and come with their highest bit first, so they are counted
/// up from that end. `None` when they are too many or too few, but for a single one.
fn make(
    table: &mut [u32],
    width: u32,
    lengths: &[u8],
    entry: impl Fn(usize) -> Option<u32>,
) -> Option<()> {
    let mut counts = [0_usize; MAX_CODE + 1];
    for length in lengths {
        *counts.get_mut(usize::from(*length))? += 1;
    }
    counts[0] = 0;
    let mut left = 1_usize;
    for count in &counts[1..] {
        left = (left * 2).checked_sub(*count)?;
    }
    let main = table.get_mut(..1 << width)?;
    if left > 0 {
        if counts.iter().sum::<usize>() > 1 || counts[1] > 1 {
            return None;
        }
        main.fill(NO_VALUE);
    }
    let mut places = [0_usize; MAX_CODE + 2];
    for (length, count) in counts.iter().enumerate() {
        *places.get_mut(length + 1)? = places.get(length)? + count;
    }
    let mut sorted = [0_u16; 288];
    for (symbol, length) in lengths
        .iter()
        .enumerate()
        .filter(|(_, length)| **length > 0)
    {
        let place = places.get_mut(usize::from(*length))?;
        *sorted.get_mut(*place)? = symbol as u16;
        *place += 1;
    }
    fill(table, width, &counts, &sorted, entry)
}

/// Writes the entries of symbols, sorted by the lengths of their codes.
fn fill(
    table: &mut [u32],
    width: u32,
    counts: &[usize; MAX_CODE + 1],
    sorted: &[u16],
    entry: impl Fn(usize) -> Option<u32>,
) -> Option<()> {
    let mut counts = *counts;
    let mut symbols = sorted.iter();
    let mut code = 0_u32;
    // Where codes that begin alike go on, and how many bits are looked up there.
    let (mut begins, mut part, mut next) = (u32::MAX, 0..0, 1_usize << width);
    for length in 1..=MAX_CODE as u32 {
        while *counts.get(length as usize)? > 0 {
            let symbol = usize::from(*symbols.next()?);
            let plain = entry(symbol)?;
            let (into, behind, at) = match length.checked_sub(width) {
                None | Some(0) => (table.get_mut(..1 << width)?, length, code),
                Some(behind) => {
                    let front = code & ((1 << width) - 1);
                    if front != begins {
                        begins = front;
                        let bits = part_bits(&counts, length, width);
                        part = next..next + (1 << bits);
                        next = part.end;
                        let link = NO_VALUE | LONGER | (part.start as u32) << 16 | bits << 8;
                        *table.get_mut(front as usize)? = link | width;
                    }
                    (table.get_mut(part.clone())?, behind, code >> width)
                }
            };
            // The code's own bits, then those that it adds.
            let value = match plain & (LITERAL | NO_VALUE) {
                0 => (plain + behind) | (behind << 8),
                _ => plain | behind,
            };
            for place in into.iter_mut().skip(at as usize).step_by(1 << behind) {
                *place = value;
            }
            *counts.get_mut(length as usize)? -= 1;
            code = following(code, length);
        }
    }
    Some(())
}

/// Bits for a part that holds all codes that begin alike, of which the first has this length.
fn part_bits(counts: &[usize; MAX_CODE + 1], length: u32, width: u32) -> u32 {
    let mut bits = length - width;
    let mut left = 1_usize << bits;
    while let Some(count) = counts.get((bits + width) as usize)
        && left > *count
        && bits + width < MAX_CODE as u32
    {
        left = (left - count) * 2;
        bits += 1;
    }
    bits
}

/// The next code of that length, with its highest bit lowest.
fn following(code: u32, length: u32) -> u32 {
    let mut bit = 1 << (length - 1);
    while code & bit != 0 {
        bit >>= 1;
    }
    match bit {
        0 => 0,
        bit => (code & (bit - 1)) + bit,
    }
}
