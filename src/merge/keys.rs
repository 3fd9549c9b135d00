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
            if slot >> 32 == hash >> 32 && self.key(number) == key {
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

fn folded(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    product as u64 ^ (product >> 64) as u64
}
