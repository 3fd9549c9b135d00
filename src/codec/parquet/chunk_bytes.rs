use std::ops::Range;

use bytes::Bytes;

/// The fetched bytes of one column chunk: all of it, or pieces that hold whole pages.
#[derive(Debug, Clone, Default)]
pub(super) struct ChunkBytes(Vec<(u64, Bytes)>);

impl ChunkBytes {
    /// Adds bytes that begin at an offset of the file.
    pub(super) fn add(&mut self, start: u64, bytes: Bytes) {
        let at = self.0.partition_point(|(before, _)| *before <= start);
        self.0.insert(at, (start, bytes));
    }

    /// The bytes of a range, when one piece holds them all.
    pub(super) fn get(&self, range: &Range<u64>) -> Option<Bytes> {
        let behind = self.0.partition_point(|(start, _)| *start <= range.start);
        let mut before = self.0.get(..behind)?.iter().rev();
        before.find_map(|(start, bytes)| {
            let from = usize::try_from(range.start.checked_sub(*start)?).ok()?;
            let to = usize::try_from(range.end.checked_sub(*start)?).ok()?;
            (from <= to && to <= bytes.len()).then(|| bytes.slice(from..to))
        })
    }
}
