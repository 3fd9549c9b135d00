//! Texts as what they share with the text before: the encoding DELTA_BYTE_ARRAY, for columns that follow from other columns.
//!
//! ```text
//! page: shared lengths (delta) | lengths of the rest (delta) | the rests
//! delta: varint 128 | varint 4 | varint count | zigzag first | blocks: zigzag least, 4 widths, 4 × 32 packed differences
//! ```

use super::hybrid::pack;
use super::thrift::put_varint;

const BLOCK: usize = 128;
const MINI: usize = 32;

/// The texts of one page.
#[derive(Debug, Default)]
pub(super) struct Texts {
    shared: Vec<u32>,
    lengths: Vec<u32>,
    rests: Vec<u8>,
    last: Vec<u8>,
}

impl Texts {
    pub(super) fn push(&mut self, text: &[u8]) {
        let same = self
            .last
            .iter()
            .zip(text)
            .take_while(|(a, b)| a == b)
            .count();
        self.push_rest(same, text.get(same..).unwrap_or_default());
    }

    /// A text that begins as the last one does, for `same` bytes, which the caller knows.
    pub(super) fn push_rest(&mut self, same: usize, rest: &[u8]) {
        self.shared.push(same as u32);
        self.lengths.push(rest.len() as u32);
        self.rests.extend_from_slice(rest);
        self.last.truncate(same);
        self.last.extend_from_slice(rest);
    }

    /// About as many bytes as the page will have.
    pub(super) fn size(&self) -> usize {
        self.rests.len() + self.shared.len()
    }

    /// The page's values; what is shared starts anew on the next page.
    pub(super) fn finish(&mut self, out: &mut Vec<u8>) {
        put_delta(out, &self.shared);
        put_delta(out, &self.lengths);
        out.extend_from_slice(&self.rests);
        self.shared.clear();
        self.lengths.clear();
        self.rests.clear();
        self.last.clear();
    }
}

/// Numbers by DELTA_BINARY_PACKED; each is below 2³¹.
fn put_delta(out: &mut Vec<u8>, values: &[u32]) {
    put_varint(out, BLOCK as u64);
    put_varint(out, (BLOCK / MINI) as u64);
    put_varint(out, values.len() as u64);
    let first = values.first().copied().unwrap_or_default();
    put_zigzag(out, i64::from(first));
    let mut differences = Vec::with_capacity(BLOCK);
    let mut last = first;
    for value in values.iter().skip(1) {
        differences.push(i64::from(*value) - i64::from(last));
        last = *value;
        if differences.len() == BLOCK {
            put_block(out, &differences);
            differences.clear();
        }
    }
    if !differences.is_empty() {
        put_block(out, &differences);
    }
}

fn put_block(out: &mut Vec<u8>, differences: &[i64]) {
    let least = differences.iter().copied().min().unwrap_or_default();
    put_zigzag(out, least);
    let above: Vec<u32> = differences.iter().map(|d| (d - least) as u32).collect();
    let minis = above.chunks(MINI);
    let width = |mini: &[u32]| super::hybrid::width_of(mini.iter().copied().max().unwrap_or(0));
    out.extend((0..BLOCK / MINI).map(|at| minis.clone().nth(at).map_or(0, width)));
    for mini in minis {
        // A miniblock is whole even when its values end before.
        let mut whole = [0; MINI];
        for (place, value) in whole.iter_mut().zip(mini) {
            *place = *value;
        }
        pack(out, width(mini), &whole);
    }
}

fn put_zigzag(out: &mut Vec<u8>, value: i64) {
    put_varint(out, ((value << 1) ^ (value >> 63)).cast_unsigned());
}
