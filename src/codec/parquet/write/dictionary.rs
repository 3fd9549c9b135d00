//! The distinct values of a column, numbered as they come.

/// A value is looked for in so many places before the dictionary is given up: keys of a hostile hand could all meet in one.
const MOST_PROBES: usize = 128;

/// Bytes of a dictionary, at most: Java's page size for dictionaries.
const MOST_BYTES: usize = 1 << 20;

/// So many values show whether they repeat.
const FIRST_LOOK: usize = 1000;

const FREE: u32 = u32::MAX;

/// Where values of one hash are numbered; the values lie with the caller.
#[derive(Debug)]
pub(super) struct Numbering {
    slots: Vec<u32>,
    pub(super) count: u32,
    /// Bytes of the distinct values as a dictionary page holds them.
    pub(super) bytes: usize,
    /// Values that were numbered.
    pub(super) seen: usize,
}

impl Default for Numbering {
    fn default() -> Self {
        Self {
            slots: vec![FREE; 1024],
            count: 0,
            bytes: 0,
            seen: 0,
        }
    }
}

/// What [`Numbering::find`] says.
pub(super) enum Found {
    At(u32),
    /// The place for a new value.
    Free(usize),
    /// Too many values share their hash.
    Crowded,
}

impl Numbering {
    pub(super) fn find(&self, hash: u64, same: impl Fn(u32) -> bool) -> Found {
        let mask = self.slots.len() - 1;
        let start = (hash >> 20) as usize;
        for step in 0..MOST_PROBES {
            let place = (start + step) & mask;
            match self.slots.get(place) {
                Some(&FREE) | None => return Found::Free(place),
                Some(&number) if same(number) => return Found::At(number),
                Some(_) => {}
            }
        }
        Found::Crowded
    }

    /// Numbers a value that was not found; `hash_of` gives the hash of a number's value when the places run short.
    pub(super) fn add(&mut self, place: usize, bytes: usize, hash_of: impl Fn(u32) -> u64) -> u32 {
        let number = self.count;
        if let Some(slot) = self.slots.get_mut(place) {
            *slot = number;
        }
        self.count += 1;
        self.bytes += bytes;
        if self.count as usize * 2 > self.slots.len() {
            self.grow(hash_of);
        }
        number
    }

    fn grow(&mut self, hash_of: impl Fn(u32) -> u64) {
        let mask = self.slots.len() * 2 - 1;
        let mut slots = vec![FREE; mask + 1];
        for number in 0..self.count {
            let mut place = (hash_of(number) >> 20) as usize & mask;
            while slots.get(place).is_some_and(|slot| *slot != FREE) {
                place = (place + 1) & mask;
            }
            if let Some(slot) = slots.get_mut(place) {
                *slot = number;
            }
        }
        self.slots = slots;
    }

    /// Whether the values hardly repeat, or are too many. Asked after each piece of rows.
    pub(super) fn is_useless(&self) -> bool {
        let unique = self.seen >= FIRST_LOOK
            && self.seen < 20 * FIRST_LOOK
            && self.count as usize > self.seen / 8 * 7;
        unique || self.bytes > MOST_BYTES
    }

    /// Whether the first page takes no fewer bytes for the dictionary, by Java's reckoning.
    pub(super) fn does_not_pay(&self, indexes: usize, plain: usize) -> bool {
        self.bytes + indexes >= plain
    }

    pub(super) fn memory(&self) -> usize {
        self.bytes + self.slots.len() * 4
    }
}

/// A hash of a number's bits.
pub(super) fn hash_bits(bits: u64) -> u64 {
    let mixed = (bits ^ bits >> 32).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed ^ mixed >> 29
}

/// A hash of bytes: quick, and for tables in memory only.
pub(super) fn hash_bytes(bytes: &[u8]) -> u64 {
    let mut hash = bytes.len() as u64;
    let mut words = bytes.chunks_exact(8);
    for word in &mut words {
        let word = <[u8; 8]>::try_from(word).map_or(0, u64::from_le_bytes);
        hash = (hash.rotate_left(5) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
    let mut tail = 0_u64;
    for byte in words.remainder() {
        tail = tail << 8 | u64::from(*byte);
    }
    hash_bits(hash.rotate_left(5) ^ tail.wrapping_mul(0xff51_afd7_ed55_8ccd))
}
