//! Columns of bytes: text, binary, fixed bytes, decimals.

use super::bound::{Bounds, bound_of_bytes, order_decimals};
use super::dictionary::hash_bytes;
use super::encoder::Store;
use super::file_schema::Meaning;

/// Distinct byte strings.
#[derive(Debug)]
pub(super) struct ByteStore {
    bytes: Vec<u8>,
    ends: Vec<u32>,
    /// Whether each value is led by its length: those of one fixed length are not.
    lengths: bool,
}

impl ByteStore {
    pub(super) fn new(lengths: bool) -> Self {
        Self {
            bytes: Vec::new(),
            ends: Vec::new(),
            lengths,
        }
    }

    fn at(&self, number: u32) -> &[u8] {
        let number = number as usize;
        let start = match number.checked_sub(1) {
            Some(before) => self.ends.get(before).copied().unwrap_or_default(),
            None => 0,
        };
        let end = self.ends.get(number).copied().unwrap_or_default();
        self.bytes
            .get(start as usize..end as usize)
            .unwrap_or_default()
    }

    fn put_one(&self, item: &[u8], out: &mut Vec<u8>) {
        if self.lengths {
            out.extend_from_slice(&(item.len() as u32).to_le_bytes());
        }
        out.extend_from_slice(item);
    }
}

impl Store for ByteStore {
    type Item<'a> = &'a [u8];

    fn same(&self, number: u32, item: &[u8]) -> bool {
        self.at(number) == item
    }

    fn keep(&mut self, item: &[u8]) -> usize {
        self.bytes.extend_from_slice(item);
        self.ends.push(self.bytes.len() as u32);
        item.len() + if self.lengths { 4 } else { 0 }
    }

    fn hash(item: &[u8]) -> u64 {
        hash_bytes(item)
    }

    fn hash_at(&self, number: u32) -> u64 {
        hash_bytes(self.at(number))
    }

    fn put_at(&self, number: u32, out: &mut Vec<u8>) {
        self.put_one(self.at(number), out);
    }

    fn put<'a>(&self, items: impl Iterator<Item = &'a [u8]>, out: &mut Vec<u8>) {
        for item in items {
            self.put_one(item, out);
        }
    }

    fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
    }
}

/// The least and the greatest of a page's byte strings.
#[derive(Debug)]
pub(super) struct ByteRange {
    meaning: Meaning,
    seen: bool,
    min: Vec<u8>,
    max: Vec<u8>,
}

impl ByteRange {
    pub(super) fn new(meaning: Meaning) -> Self {
        Self {
            meaning,
            seen: false,
            min: Vec::new(),
            max: Vec::new(),
        }
    }

    pub(super) fn see<'a>(&mut self, items: impl Iterator<Item = &'a [u8]>) {
        let decimal = matches!(self.meaning, Meaning::Decimal { .. });
        let (mut min, mut max): (Option<&[u8]>, Option<&[u8]>) = (None, None);
        let less = |a: &[u8], b: &[u8]| match decimal {
            true => order_decimals(a, b).is_lt(),
            false => a < b,
        };
        for item in items {
            // One that is not the least may be the greatest, and the first is both.
            match (min, max) {
                (Some(least), _) if less(item, least) => min = Some(item),
                (_, Some(most)) if less(most, item) => max = Some(item),
                (None, _) => (min, max) = (Some(item), Some(item)),
                _ => {}
            }
        }
        let (Some(min), Some(max)) = (min, max) else {
            return;
        };
        if !self.seen || less(min, &self.min) {
            self.min.clear();
            self.min.extend_from_slice(min);
        }
        if !self.seen || less(&self.max, max) {
            self.max.clear();
            self.max.extend_from_slice(max);
        }
        self.seen = true;
    }

    /// What was seen since the last call.
    pub(super) fn take(&mut self) -> Option<Bounds> {
        let bound = |bytes: &[u8]| bound_of_bytes(self.meaning, bytes);
        let bounds = self.seen.then(|| (bound(&self.min), bound(&self.max)));
        self.seen = false;
        bounds
    }
}
