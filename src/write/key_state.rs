//! The record keys of one call, file by file, and which of them came before.

use twox_hash::XxHash64;

use crate::codec::bytes::compare;
use crate::error::{Error, Result};
use crate::index::RecordKeys;

/// Tables that grow on their own, so that none is large while it grows.
const SHARDS: usize = 256;

/// Keys that are put into the table between two turns of the host.
const STEP: usize = 16 << 10;

const FREE: u64 = u64::MAX;

/// Which keys were there before: by record key alone, or by partition and record key.
#[derive(Debug)]
pub(super) struct KeyState {
    /// The keys of each file, and the partition that it lies in.
    files: Vec<(u32, RecordKeys)>,
    shards: Vec<Shard>,
    global: bool,
    check: bool,
    /// Whether each key so far was greater than the one before it, so that none came twice, and no table is needed.
    rising: bool,
    /// The file and row from which on keys are not in the table yet.
    behind: (usize, usize),
    /// The file that got the newest key.
    newest: usize,
}

#[derive(Debug, Default, Clone)]
struct Shard {
    slots: Vec<u64>,
    count: usize,
}

impl KeyState {
    /// `global`: a key is one row of the table, whatever its partition. `check`: whether a key that comes again matters.
    pub(super) fn new(global: bool, check: bool) -> Self {
        Self {
            files: Vec::new(),
            shards: vec![Shard::default(); SHARDS],
            global,
            check,
            rising: true,
            behind: (0, 0),
            newest: 0,
        }
    }

    /// The next file's number.
    pub(super) fn begin_file(&mut self, partition: u32) -> u32 {
        self.files.push((partition, RecordKeys::default()));
        self.files.len() as u32 - 1
    }

    /// Adds keys to a file when that needs no table: they rise above all that came before, or nobody asks. False when nothing
    /// was added: then [`catch_up`](Self::catch_up), and [`add`](Self::add) one after the other.
    ///
    /// Errors: `LimitExceeded` for keys of gigabytes.
    pub(super) fn add_rising<'a>(
        &mut self,
        file: u32,
        keys: impl Iterator<Item = &'a str> + Clone,
    ) -> Result<bool> {
        if self.check {
            let newest = self.files.get(self.newest);
            let mut before = newest.and_then(|(_, keys)| keys.last());
            let mut rises = |key: &'a str| {
                let before: Option<&str> = before.replace(key);
                before.is_none_or(|before| compare(before.as_bytes(), key.as_bytes()).is_lt())
            };
            self.rising = self.rising && keys.clone().all(&mut rises);
            if !self.rising {
                return Ok(false);
            }
        }
        self.newest = file as usize;
        if let Some((_, kept)) = self.files.get_mut(file as usize) {
            for key in keys {
                push(kept, key)?;
            }
        }
        Ok(true)
    }

    /// Puts keys that rose into the table, some at a time; false when all are there.
    pub(super) fn catch_up(&mut self) -> bool {
        let (file, from) = self.behind;
        let Some((_, keys)) = self.files.get(file) else {
            // From now on keys come into the table as they come.
            self.behind = (usize::MAX, 0);
            return false;
        };
        let to = keys.len().min(from + STEP);
        for row in from..to {
            let entry = entry(0, file as u32, row);
            let hash = hash_of(&self.files, self.global, entry);
            // Each differs from all others.
            self.insert(hash, file as u32, row, |_, _| false);
        }
        self.behind = match to - from {
            STEP => (file, to),
            _ => (file + 1, 0),
        };
        true
    }

    /// Adds a key to a file; false when it was there before.
    ///
    /// Errors: `LimitExceeded` for keys of gigabytes.
    pub(super) fn add(&mut self, file: u32, key: &str) -> Result<bool> {
        let Some((partition, keys)) = self.files.get_mut(file as usize) else {
            return Ok(true);
        };
        let scope = if self.global { 0 } else { *partition };
        let row = keys.len();
        push(keys, key)?;
        let hash = XxHash64::oneshot(u64::from(scope), key.as_bytes());
        let entry = entry(hash, file, row);
        let global = self.global;
        let same = |files: &[(u32, RecordKeys)], seen: u64| {
            seen >> 56 == entry >> 56
                && key_of(files, seen)
                    .is_some_and(|(of, seen)| seen == key && (global || of == scope))
        };
        Ok(self.insert(hash, file, row, same))
    }

    /// Puts a key's place into the table; false when there is one that is the same.
    fn insert(
        &mut self,
        hash: u64,
        file: u32,
        row: usize,
        same: impl Fn(&[(u32, RecordKeys)], u64) -> bool,
    ) -> bool {
        let Some(shard) = self.shards.get_mut((hash >> 56) as usize) else {
            return true;
        };
        if shard.is_full() {
            shard.grow(|entry| hash_of(&self.files, self.global, entry));
        }
        let same = |seen| same(&self.files, seen);
        shard.insert(hash, entry(hash, file, row), same)
    }

    /// The keys of a file, which are kept no longer.
    pub(super) fn take(&mut self, file: u32) -> RecordKeys {
        let keys = self.files.get_mut(file as usize);
        keys.map(|(_, keys)| std::mem::take(keys))
            .unwrap_or_default()
    }

    /// The keys of a file.
    pub(super) fn keys(&self, file: u32) -> Option<&RecordKeys> {
        self.files.get(file as usize).map(|(_, keys)| keys)
    }

    /// Bytes that the keys and their table take.
    pub(super) fn memory(&self) -> usize {
        let keys: usize = self.files.iter().map(|(_, keys)| keys.bytes()).sum();
        let slots: usize = self.shards.iter().map(|shard| shard.slots.len() * 8).sum();
        keys + slots
    }
}

fn push(keys: &mut RecordKeys, key: &str) -> Result<()> {
    match keys.push(key) {
        true => Ok(()),
        false => Err(Error::limit_exceeded("record keys of more than 4 GiB")),
    }
}

/// Eight bits of the hash, the file, the row in it.
fn entry(hash: u64, file: u32, row: usize) -> u64 {
    // The last fragment is not used, so that no entry is `FREE`.
    let fragment = (hash & 0xff).min(0xfe);
    fragment << 56 | u64::from(file & 0x00ff_ffff) << 32 | row as u64 & 0xffff_ffff
}

fn key_of(files: &[(u32, RecordKeys)], entry: u64) -> Option<(u32, &str)> {
    let (partition, keys) = files.get((entry >> 32 & 0x00ff_ffff) as usize)?;
    Some((*partition, keys.get((entry & 0xffff_ffff) as usize)))
}

fn hash_of(files: &[(u32, RecordKeys)], global: bool, entry: u64) -> u64 {
    let (partition, key) = key_of(files, entry).unwrap_or_default();
    XxHash64::oneshot(
        if global { 0 } else { u64::from(partition) },
        key.as_bytes(),
    )
}

impl Shard {
    fn is_full(&self) -> bool {
        self.count * 4 >= self.slots.len() * 3
    }

    fn place(&self, hash: u64) -> usize {
        // Bits that neither chose the shard nor are the fragment.
        (hash >> 8) as usize & self.slots.len().wrapping_sub(1)
    }

    fn grow(&mut self, hash_of: impl Fn(u64) -> u64) {
        let larger = vec![FREE; (self.slots.len() * 2).max(16)];
        let old = std::mem::replace(&mut self.slots, larger);
        self.count = 0;
        for entry in old.into_iter().filter(|entry| *entry != FREE) {
            self.insert(hash_of(entry), entry, |_| false);
        }
    }

    /// False when an entry is the same.
    fn insert(&mut self, hash: u64, entry: u64, same: impl Fn(u64) -> bool) -> bool {
        let mask = self.slots.len().wrapping_sub(1);
        let mut place = self.place(hash);
        while let Some(slot) = self.slots.get_mut(place) {
            if *slot == FREE {
                *slot = entry;
                self.count += 1;
                return true;
            }
            if same(*slot) {
                return false;
            }
            place = (place + 1) & mask;
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_that_comes_again_is_seen_in_its_scope() {
        for (global, expected) in [(true, false), (false, true)] {
            let mut state = KeyState::new(global, true);
            let (here, there) = (state.begin_file(0), state.begin_file(1));
            for row in 0..100_000 {
                assert!(state.add(here, &format!("key-{row}")).unwrap());
            }
            assert!(!state.add_rising(here, ["key-77"].into_iter()).unwrap());
            assert!(!state.add(here, "key-77").unwrap());
            assert_eq!(state.add(there, "key-77").unwrap(), expected);
            assert!(!state.add(there, "key-77").unwrap());
            assert!(state.add(there, "").unwrap());
        }
    }

    #[test]
    fn keys_that_rose_are_known_once_one_does_not() {
        for (global, expected) in [(true, false), (false, true)] {
            let mut state = KeyState::new(global, true);
            let texts: Vec<String> = (0..50_000).map(|row| format!("key-{row:05}")).collect();
            let mut files = Vec::new();
            for (partition, texts) in texts.chunks(20_000).enumerate() {
                let file = state.begin_file(partition as u32);
                let texts = texts.iter().map(String::as_str);
                assert!(state.add_rising(file, texts).unwrap());
                files.push(file);
            }
            let slots: usize = state.shards.iter().map(|shard| shard.slots.len()).sum();
            assert_eq!(slots, 0, "no table yet");
            // One twice in the same call, and one that is not greater than the newest.
            for keys in [["z", "z"], ["key-5", "key-49999"]] {
                assert!(!state.add_rising(files[2], keys.into_iter()).unwrap());
            }
            while state.catch_up() {}
            for row in [0, 19_999, 20_000, 39_999, 40_000, 49_999] {
                let file = files[row / 20_000];
                assert!(!state.add(file, &texts[row]).unwrap(), "{row}");
            }
            assert_eq!(state.add(files[0], &texts[20_000]).unwrap(), expected);
            assert!(!state.add_rising(files[0], ["zz"].into_iter()).unwrap());
            assert!(state.add(files[0], "zz").unwrap());
            assert!(!state.add(files[0], "zz").unwrap());
        }
    }

    #[test]
    fn a_row_takes_32_bytes_at_most_beside_its_key() {
        let mut state = KeyState::new(true, true);
        let file = state.begin_file(0);
        let mut bytes = 0;
        for row in 0..200_000_usize {
            let key = format!("{row:020}");
            bytes += key.len();
            state.add(file, &key).unwrap();
            if row >= 100_000 && row.is_multiple_of(10_000) {
                let each = (state.memory() - bytes) / row;
                assert!(each <= 32, "{each} bytes a row at {row}");
            }
        }
        let keys = state.take(file);
        assert_eq!((keys.len(), keys.get(7)), (200_000, "00000000000000000007"));
    }
}
