//! Levels and dictionary indexes: runs of one value and groups of eight packed by bits.
//!
//! ```text
//! repeated: varint(times << 1) | the value in whole bytes, lowest first
//! packed:   varint(groups << 1 | 1) | eight values a group, `width` bits each, lowest bit first
//! ```

use super::thrift::put_varint;

/// A run shorter than this costs less when it is packed.
const SHORTEST_RUN: usize = 8;

/// Appends `values`, each below `1 << width`.
pub(super) fn put(out: &mut Vec<u8>, width: u8, values: &[u32]) {
    let mut rest = values;
    // How many at the front of `rest` are to be packed.
    let mut literals = 0;
    while let Some(first) = rest.get(literals) {
        let run = rest
            .iter()
            .skip(literals)
            .take_while(|v| *v == first)
            .count();
        // A packed run holds whole groups, so the last one is filled from the run.
        let fill = literals.next_multiple_of(8) - literals;
        if run < SHORTEST_RUN + fill {
            literals += run;
            continue;
        }
        let (packed, after) = rest.split_at(literals + fill);
        put_packed(out, width, packed);
        put_repeated(out, width, *first, run - fill);
        rest = after.get(run - fill..).unwrap_or_default();
        literals = 0;
    }
    put_packed(out, width, rest);
}

/// One value `times` times.
pub(super) fn put_repeated(out: &mut Vec<u8>, width: u8, value: u32, times: usize) {
    if times > 0 {
        put_varint(out, (times as u64) << 1);
        let bytes = value.to_le_bytes();
        out.extend(bytes.iter().take(usize::from(width.div_ceil(8))));
    }
}

/// Bits that are packed already, the lowest first, of values of one bit.
pub(super) fn put_bits(out: &mut Vec<u8>, bits: &[u8], count: usize) {
    let groups = count.div_ceil(8);
    put_varint(out, (groups as u64) << 1 | 1);
    out.extend(bits.iter().take(groups));
}

/// Groups of eight, the last one filled with zeros.
fn put_packed(out: &mut Vec<u8>, width: u8, values: &[u32]) {
    if values.is_empty() {
        return;
    }
    let groups = values.len().div_ceil(8);
    put_varint(out, (groups as u64) << 1 | 1);
    let end = out.len() + groups * usize::from(width);
    pack(out, width, values);
    out.resize(end, 0);
}

/// Values of `width` bits, the lowest bit first, up to the last whole or begun byte.
pub(super) fn pack(out: &mut Vec<u8>, width: u8, values: &[u32]) {
    let (mut held, mut bits) = (0_u64, 0_u32);
    for value in values {
        held |= u64::from(*value) << bits;
        bits += u32::from(width);
        if bits >= 32 {
            out.extend_from_slice(&(held as u32).to_le_bytes());
            held >>= 32;
            bits -= 32;
        }
    }
    let bytes = held.to_le_bytes();
    out.extend(bytes.iter().take(bits.div_ceil(8) as usize));
}

/// Bits that the numbers up to `max` need.
pub(super) fn width_of(max: u32) -> u8 {
    (u32::BITS - max.leading_zeros()) as u8
}
