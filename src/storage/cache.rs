//! A byte-bounded LRU of pieces of immutable files.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::{Bytes, BytesMut};

use crate::host::Outside;

/// Keeps pieces of files that never change. A file is its path and its size: another size is another file.
pub trait RangeCache: Send + Sync {
    /// The bytes of `range`, when all of them are here.
    fn get(&self, path: &str, size: u64, range: Range<u64>) -> Option<Bytes>;
    /// Keeps `bytes`, which begin at `start`; may drop them or others instead.
    fn put(&self, path: &str, size: u64, start: u64, bytes: &Bytes);
    /// Drops whatever is kept of `path`, at any size.
    fn forget(&self, path: &str);
}

/// The cache of one table, outside of wasm memory; the piece used least lately goes first.
pub struct MemoryCache {
    budget: u64,
    /// Larger pieces are not kept.
    largest: u64,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    used: u64,
    tick: u64,
    files: HashMap<Arc<str>, HashMap<u64, Pieces>>,
    /// Which piece was used when: path, size, start.
    order: BTreeMap<u64, (Arc<str>, u64, u64)>,
}

/// Pieces by their start. None holds another, so their ends are in order too.
type Pieces = BTreeMap<u64, Piece>;

struct Piece {
    tick: u64,
    bytes: Outside,
}

impl Piece {
    fn end(&self, start: u64) -> u64 {
        start.saturating_add(self.bytes.len() as u64)
    }
}

impl MemoryCache {
    /// A cache of at most `budget` bytes.
    pub fn new(budget: u64) -> Self {
        Self {
            budget,
            largest: budget,
            state: Mutex::default(),
        }
    }

    /// Keeps no piece larger than `bytes`: of files at hand those are read again sooner than they are copied.
    #[must_use]
    pub fn with_largest(self, bytes: u64) -> Self {
        Self {
            largest: bytes.min(self.budget),
            ..self
        }
    }

    /// Bytes kept now.
    pub fn used(&self) -> u64 {
        self.lock().used
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl RangeCache for MemoryCache {
    fn get(&self, path: &str, size: u64, range: Range<u64>) -> Option<Bytes> {
        let mut state = self.lock();
        let starts = state.cover(path, size, &range)?;
        let mut parts = Vec::with_capacity(starts.len());
        let mut at = range.start;
        for start in starts {
            let piece = state.files.get(path)?.get(&size)?.get(&start)?;
            let end = piece.end(start).min(range.end);
            let from = usize::try_from(at.checked_sub(start)?).ok()?;
            let to = usize::try_from(end.checked_sub(start)?).ok()?;
            parts.push(piece.bytes.get(from..to)?);
            at = end;
            state.touch(path, size, start);
        }
        Some(join(parts))
    }

    fn put(&self, path: &str, size: u64, start: u64, bytes: &Bytes) {
        let length = bytes.len() as u64;
        if length == 0 || length > self.largest {
            return;
        }
        let mut state = self.lock();
        if state.cover(path, size, &(start..start + length)).is_some() {
            return;
        }
        state.drop_inside(path, size, start..start + length);
        state.insert(path, size, start, Outside::keep(bytes));
        while state.used > self.budget && state.drop_oldest() {}
    }

    fn forget(&self, path: &str) {
        let mut state = self.lock();
        let Some(sizes) = state.files.remove(path) else {
            return;
        };
        for piece in sizes.values().flat_map(BTreeMap::values) {
            state.used = state.used.saturating_sub(piece.bytes.len() as u64);
            state.order.remove(&piece.tick);
        }
    }
}

impl State {
    /// Starts of the pieces that hold all of `range` between them, in order.
    fn cover(&self, path: &str, size: u64, range: &Range<u64>) -> Option<Vec<u64>> {
        let pieces = self.files.get(path)?.get(&size)?;
        let mut starts = Vec::new();
        let mut at = range.start;
        while at < range.end {
            let (start, piece) = pieces.range(..=at).next_back()?;
            let end = piece.end(*start);
            if end <= at {
                return None;
            }
            starts.push(*start);
            at = end;
        }
        Some(starts)
    }

    fn insert(&mut self, path: &str, size: u64, start: u64, bytes: Outside) {
        self.used += bytes.len() as u64;
        self.tick += 1;
        let tick = self.tick;
        let path = match self.files.get_key_value(path) {
            Some((known, _)) => Arc::clone(known),
            None => Arc::from(path),
        };
        self.order.insert(tick, (Arc::clone(&path), size, start));
        let pieces = self.files.entry(path).or_default().entry(size).or_default();
        pieces.insert(start, Piece { tick, bytes });
    }

    fn touch(&mut self, path: &str, size: u64, start: u64) {
        self.tick += 1;
        let tick = self.tick;
        let pieces = self.files.get_mut(path).and_then(|f| f.get_mut(&size));
        if let Some(piece) = pieces.and_then(|p| p.get_mut(&start)) {
            let before = std::mem::replace(&mut piece.tick, tick);
            if let Some(place) = self.order.remove(&before) {
                self.order.insert(tick, place);
            }
        }
    }

    /// Drops the pieces that a new one over `range` makes useless.
    fn drop_inside(&mut self, path: &str, size: u64, range: Range<u64>) {
        let Some(pieces) = self.files.get_mut(path).and_then(|f| f.get_mut(&size)) else {
            return;
        };
        let inside: Vec<u64> = pieces
            .range(range.clone())
            .filter(|(start, piece)| piece.end(**start) <= range.end)
            .map(|(start, _)| *start)
            .collect();
        for start in inside {
            if let Some(piece) = pieces.remove(&start) {
                self.used = self.used.saturating_sub(piece.bytes.len() as u64);
                self.order.remove(&piece.tick);
            }
        }
    }

    fn drop_oldest(&mut self) -> bool {
        let Some((_, (path, size, start))) = self.order.pop_first() else {
            return false;
        };
        let Some(sizes) = self.files.get_mut(&path) else {
            return true;
        };
        if let Some(pieces) = sizes.get_mut(&size) {
            if let Some(piece) = pieces.remove(&start) {
                self.used = self.used.saturating_sub(piece.bytes.len() as u64);
            }
            if pieces.is_empty() {
                sizes.remove(&size);
            }
        }
        if sizes.is_empty() {
            self.files.remove(&path);
        }
        true
    }
}

fn join(mut parts: Vec<Bytes>) -> Bytes {
    if parts.len() == 1 {
        return parts.pop().unwrap_or_default();
    }
    let mut all = BytesMut::with_capacity(parts.iter().map(Bytes::len).sum());
    for part in parts {
        all.extend_from_slice(&part);
    }
    all.freeze()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(range: Range<u8>) -> Bytes {
        range.collect::<Vec<u8>>().into()
    }

    /// Puts the pieces (each byte is its own offset), then asks for `range`.
    fn check(pieces: &[Range<u8>], range: Range<u64>, found: bool) {
        let cache = MemoryCache::new(1000);
        for piece in pieces {
            cache.put("f", 100, u64::from(piece.start), &bytes(piece.clone()));
        }
        let expected = found.then(|| bytes(range.start as u8..range.end as u8));
        assert_eq!(cache.get("f", 100, range), expected);
    }

    #[test]
    fn a_range_is_answered_only_when_pieces_cover_it_without_a_gap() {
        check(&[0..10], 2..8, true);
        check(&[0..10], 2..11, false);
        check(&[0..10, 10..20], 5..15, true);
        check(&[0..10, 11..20], 5..15, false);
        check(&[0..10, 5..20, 18..30], 0..30, true);
        check(&[5..8, 0..20], 1..19, true);
        check(&[], 0..1, false);
    }

    #[test]
    fn pieces_that_are_too_large_are_not_kept() {
        let cache = MemoryCache::new(30).with_largest(20);
        cache.put("f", 50, 0, &bytes(0..20));
        cache.put("f", 50, 20, &bytes(20..41));
        assert!(cache.get("f", 50, 0..20).is_some());
        assert_eq!(cache.get("f", 50, 20..41), None);
        assert_eq!(cache.used(), 20);
    }

    #[test]
    fn another_size_is_another_file() {
        let cache = MemoryCache::new(1000);
        cache.put("f", 10, 0, &bytes(0..10));
        assert_eq!(cache.get("f", 11, 0..10), None);
    }

    #[test]
    fn the_piece_used_least_lately_goes_first() {
        let cache = MemoryCache::new(30);
        for path in ["a", "b", "c"] {
            cache.put(path, 10, 0, &bytes(0..10));
        }
        assert!(cache.get("a", 10, 0..10).is_some());
        cache.put("d", 10, 0, &bytes(0..10));
        assert_eq!(cache.get("b", 10, 0..10), None);
        assert!(cache.get("a", 10, 0..10).is_some());
        assert_eq!(cache.used(), 30);
    }

    #[test]
    fn pieces_that_a_new_one_holds_are_not_counted_twice() {
        let cache = MemoryCache::new(1000);
        cache.put("f", 100, 10, &bytes(10..20));
        cache.put("f", 100, 20, &bytes(20..30));
        cache.put("f", 100, 0, &bytes(0..50));
        assert_eq!(cache.used(), 50);
        cache.put("f", 100, 5, &bytes(5..9));
        assert_eq!(cache.used(), 50);
    }

    #[test]
    fn a_forgotten_file_and_one_too_large_are_not_kept() {
        let cache = MemoryCache::new(30);
        cache.put("f", 10, 0, &bytes(0..10));
        cache.forget("f");
        cache.put("g", 31, 0, &bytes(0..31));
        assert_eq!(cache.used(), 0);
        assert_eq!(cache.get("f", 10, 0..10), None);
    }
}
