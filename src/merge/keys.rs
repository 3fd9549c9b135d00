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

    /// The numbers of keys that are there, with their places among `keys`.
    ///
    /// Most keys of a base file are none of a log's: those are told by the sieve, which is small. What the others need lies anywhere
    /// in memory, so it is asked for before it is looked at, many at once.
    pub(super) fn find_all<'a>(
        &self,
        sieve: &Sieve,
        keys: impl Fn(usize) -> &'a [u8],
        count: usize,
        mut found: impl FnMut(usize, u32),
    ) {
        const AHEAD: usize = 128;
        let mask = self.slots.len() - 1;
        let mut left = [(0_usize, 0_u64); AHEAD];
        for first in (0..count).step_by(AHEAD) {
            let mut kept = 0;
            for place in first..count.min(first + AHEAD) {
                let hash = hash(keys(place), self.seed);
                // Written in any case, so that nothing is to be guessed.
                if let Some(room) = left.get_mut(kept) {
                    *room = (place, hash);
                }
                kept += usize::from(sieve.may_hold(hash));
            }
            let left = left.get(..kept).unwrap_or_default();
            let slots = left.iter().map(|(_, hash)| hash);
            let asked = slots.fold(0, |all, hash| {
                all | self.slots.get(*hash as usize & mask).copied().unwrap_or(0)
            });
            std::hint::black_box(asked);
            for (place, hash) in left {
                if let Ok(number) = self.look(keys(*place), *hash) {
                    found(*place, number);
                }
            }
        }
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

/// Bits by the hashes of keys, sixteen for each or more: where one is not set, the key is not there.
#[derive(Debug)]
pub(super) struct Sieve {
    bits: Vec<u64>,
}

impl Sieve {
    pub(super) fn new(keys: &Keys) -> Self {
        let words = (keys.ends.len() / 4 + 1).next_power_of_two();
        let mut sieve = Self {
            bits: vec![0; words],
        };
        for slot in keys.slots.iter().filter(|slot| **slot != 0) {
            let (word, bit) = sieve.place(*slot);
            if let Some(word) = sieve.bits.get_mut(word) {
                *word |= 1 << bit;
            }
        }
        sieve
    }

    /// By the half of a hash that slots have too.
    fn place(&self, hash: u64) -> (usize, u32) {
        let at = (hash >> 32) as usize;
        (at >> 6 & (self.bits.len() - 1), at as u32 & 63)
    }

    #[inline(always)]
    fn may_hold(&self, hash: u64) -> bool {
        let (word, bit) = self.place(hash);
        self.bits.get(word).copied().unwrap_or(0) >> bit & 1 == 1
    }

    pub(super) fn memory(&self) -> usize {
        self.bits.len() * 8
    }
}

/// Eight bytes at a time. Each is multiplied twice by secret numbers, with the halves folded between: after one alone, bits that
/// two keys differ in would differ in places that are known without the secret.
#[inline(always)]
fn hash(key: &[u8], seed: u64) -> u64 {
    let first = (0xe703_7ed1_a0b4_28db ^ seed) | 1;
    let second = (0x8ebc_6af0_9c88_c6e3 ^ seed.rotate_left(32)) | 1;
    let mixed = |word: u64| {
        let product = word.wrapping_mul(first);
        (product ^ (product >> 32)).wrapping_mul(second)
    };
    let mut hash = seed ^ (key.len() as u64).wrapping_mul(0xa076_1d64_78bd_642f);
    for word in key.as_chunks::<8>().0 {
        hash = mixed(hash ^ u64::from_le_bytes(*word));
    }
    // The last eight bytes, some of them for the second time, or all there are.
    let last = key.last_chunk().copied().unwrap_or_else(|| {
        let mut last = [0_u8; 8];
        last.iter_mut().zip(key).for_each(|(to, from)| *to = *from);
        last
    });
    hash = mixed(hash ^ u64::from_le_bytes(last));
    hash ^ (hash >> 29)
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

    /// After one multiplication alone these would come out alike by any seed.
    #[test]
    fn keys_that_are_made_to_meet_do_not() {
        let key = |first: u64, second: u64| [first, second, 5].map(u64::to_le_bytes).concat();
        let (high, halves) = (1 << 63, 1 << 63 | 1 << 31);
        for seed in [1, 0x1234_5678_9abc_def1, u64::MAX] {
            let plain = hash(&key(7, 9), seed);
            assert_ne!(plain, hash(&key(7 ^ high, 9 ^ high), seed));
            assert_ne!(plain, hash(&key(7 ^ high, 9 ^ halves), seed));
        }
    }

    #[test]
    fn many_keys_are_found_by_their_places_and_others_are_not() {
        let mut keys = Keys::new();
        for number in 0..1000 {
            keys.add(format!("key-{number}").as_bytes()).unwrap();
        }
        let asked: Vec<String> = (0..3000)
            .map(|place| format!("key-{}", place * 7 % 2000))
            .collect();
        let mut found = Vec::new();
        let sieve = Sieve::new(&keys);
        keys.find_all(
            &sieve,
            |place| asked[place].as_bytes(),
            asked.len(),
            |place, number| {
                found.push((place, number));
            },
        );
        let held = (0..3000).filter(|place| place * 7 % 2000 < 1000);
        let expected: Vec<(usize, u32)> = held
            .map(|place| (place, (place * 7 % 2000) as u32))
            .collect();
        assert_eq!(found, expected);
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
