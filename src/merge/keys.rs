//! Record keys to numbers.

use crate::error::{Error, Result};
use crate::host;

/// A set of keys, numbered in the order they were first seen.
///
/// Shapes: at most 2^32 - 2 keys of 4 GiB in all. Keys lie in one buffer; a slot is the number and half of the hash, so that a
/// key that is not there is told without a look at the buffer. The hash is seeded, so that a table cannot be made to slow it.
#[derive(Debug)]
pub(super) struct Keys {
    slots: Vec<u64>,
    bytes: Vec<u8>,
    ends: Vec<u32>,
    seed: u64,
}

const FEW: usize = 64;

impl Keys {
    pub(super) fn new() -> Self {
        let random = (host::random_unit() * (1_u64 << 53) as f64) as u64;
        Self {
            slots: vec![0; FEW],
            bytes: Vec::new(),
            ends: Vec::new(),
            seed: random.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1,
        }
    }

    /// The bytes that the keys take in memory.
    pub(super) fn memory(&self) -> usize {
        self.slots.len() * 8 + self.bytes.capacity() + self.ends.capacity() * 4
    }

    fn key(&self, number: u32) -> &[u8] {
        let at = number as usize;
        let before = at.checked_sub(1).and_then(|before| self.ends.get(before));
        let from = before.map_or(0, |end| *end as usize);
        let to = self.ends.get(at).map_or(from, |end| *end as usize);
        self.bytes.get(from..to).unwrap_or_default()
    }

    /// The keys as numbers, where they are eight bytes, with their own numbers.
    pub(super) fn positions(&self) -> impl Iterator<Item = (u64, u32)> {
        (0..self.ends.len() as u32).map(|number| {
            let bytes = self.key(number).try_into().unwrap_or([u8::MAX; 8]);
            (u64::from_le_bytes(bytes), number)
        })
    }

    /// The number of a key that is there.
    pub(super) fn find(&self, key: &[u8]) -> Option<u32> {
        self.look(key, hash(key, self.seed)).ok()
    }

    /// The number of a key, or the slot where it would go.
    fn look(&self, key: &[u8], hash: u64) -> Result<u32, usize> {
        let mask = self.slots.len() - 1;
        let mut at = hash as usize & mask;
        loop {
            let slot = self.slots.get(at).copied().unwrap_or(0);
            if slot == 0 {
                return Err(at);
            }
            let number = (slot as u32).wrapping_sub(1);
            if slot >> 32 == hash >> 32 && same(self.key(number), key) {
                return Ok(number);
            }
            at = (at + 1) & mask;
        }
    }

    /// The number of a key, which is added when it is new; true when it was.
    ///
    /// Errors: `LimitExceeded` when numbers or bytes run out.
    pub(super) fn add(&mut self, key: &[u8]) -> Result<(u32, bool)> {
        if self.ends.len() * 2 >= self.slots.len() {
            self.grow();
        }
        let hash = hash(key, self.seed);
        let free = match self.look(key, hash) {
            Ok(number) => return Ok((number, false)),
            Err(free) => free,
        };
        let too_many =
            || Error::limit_exceeded("the log files of one file group hold too many keys");
        let number = u32::try_from(self.ends.len()).map_err(|_| too_many())?;
        let end = u32::try_from(self.bytes.len() + key.len()).map_err(|_| too_many())?;
        let next = number.checked_add(1).ok_or_else(too_many)?;
        self.bytes.extend_from_slice(key);
        self.ends.push(end);
        if let Some(slot) = self.slots.get_mut(free) {
            *slot = (hash >> 32) << 32 | u64::from(next);
        }
        Ok((number, true))
    }

    fn grow(&mut self) {
        let larger = self.slots.len() * 2;
        self.slots = vec![0; larger];
        let mask = larger - 1;
        for number in 0..self.ends.len() as u32 {
            let hash = hash(self.key(number), self.seed);
            let mut at = hash as usize & mask;
            while self.slots.get(at).is_some_and(|slot| *slot != 0) {
                at = (at + 1) & mask;
            }
            if let Some(slot) = self.slots.get_mut(at) {
                *slot = (hash >> 32) << 32 | u64::from(number + 1);
            }
        }
    }
}

/// Eight bytes at a time, each multiplied in and folded.
fn hash(key: &[u8], seed: u64) -> u64 {
    let (words, rest) = key.as_chunks::<8>();
    let mut hash = seed ^ (key.len() as u64).wrapping_mul(0xa076_1d64_78bd_642f);
    for word in words {
        hash = folded(
            hash ^ u64::from_le_bytes(*word),
            0xe703_7ed1_a0b4_28db ^ seed,
        );
    }
    let mut last = [0_u8; 8];
    for (to, from) in last.iter_mut().zip(rest) {
        *to = *from;
    }
    hash = folded(
        hash ^ u64::from_le_bytes(last),
        0x8ebc_6af0_9c88_c6e3 ^ seed,
    );
    hash ^ (hash >> 29)
}

/// Both halves of the product of 128 bits, folded. By halves of 32 bits, since the whole product is a call in wasm.
fn folded(a: u64, b: u64) -> u64 {
    const LOW: u64 = u32::MAX as u64;
    let (low, high) = ((a & LOW) * (b & LOW), (a >> 32) * (b >> 32));
    let (left, right) = ((a >> 32) * (b & LOW), (a & LOW) * (b >> 32));
    let middle = (low >> 32) + (left & LOW) + (right & LOW);
    let high = high + (left >> 32) + (right >> 32) + (middle >> 32);
    a.wrapping_mul(b) ^ high
}

/// Whether keys are the same; most are a few words, for which a call takes longer than the look.
fn same(a: &[u8], b: &[u8]) -> bool {
    let ((words, rest), (others, other)) = (a.as_chunks::<8>(), b.as_chunks::<8>());
    a.len() == b.len()
        && words
            .iter()
            .zip(others)
            .all(|(a, b)| u64::from_le_bytes(*a) == u64::from_le_bytes(*b))
        && rest.iter().zip(other).all(|(a, b)| a == b)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_product_is_folded_as_its_128_bits_are() {
        let numbers = [0, 1, 0xffff_ffff, 1 << 32, 0x1234_5678_9abc_def0, u64::MAX];
        for (a, b) in numbers.iter().flat_map(|a| numbers.map(|b| (*a, b))) {
            let whole = u128::from(a) * u128::from(b);
            assert_eq!(folded(a, b), whole as u64 ^ (whole >> 64) as u64, "{a} {b}");
        }
    }

    #[test]
    fn keys_that_differ_in_one_byte_are_others() {
        let key = b"key-0000000012345678";
        let mut keys = Keys::new();
        for length in 0..key.len() {
            keys.add(&key[..length]).unwrap();
            let mut other = key[..length].to_vec();
            for at in 0..length {
                other[at] ^= 1;
                assert_eq!(keys.find(&other), None);
                other[at] ^= 1;
            }
            assert_eq!(keys.find(&other), Some(length as u32));
        }
    }
}
