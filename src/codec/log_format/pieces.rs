use std::ops::Range;

use bytes::Bytes;

/// More pieces than one block needs at a time.
const KEPT: usize = 8;

/// The bytes of a file that are there: the last few pieces, each at its offset.
#[derive(Debug, Default)]
pub(super) struct Pieces(Vec<(u64, Bytes)>);

impl Pieces {
    pub(super) fn add(&mut self, offset: u64, bytes: Bytes) {
        if self.0.len() >= KEPT {
            self.0.remove(0);
        }
        self.0.push((offset, bytes));
    }

    /// A range, when one piece holds all of it.
    pub(super) fn get(&self, range: &Range<u64>) -> Option<Bytes> {
        let length = usize::try_from(range.end.checked_sub(range.start)?).ok()?;
        self.0.iter().find_map(|(offset, bytes)| {
            let from = usize::try_from(range.start.checked_sub(*offset)?).ok()?;
            let to = from.checked_add(length)?;
            (to <= bytes.len()).then(|| bytes.slice(from..to))
        })
    }

    /// The most that one piece holds from `start` on, up to `end`; may be empty.
    pub(super) fn from(&self, start: u64, end: u64) -> Bytes {
        let parts = self.0.iter().filter_map(|(offset, bytes)| {
            let from = usize::try_from(start.checked_sub(*offset)?).ok()?;
            let most = usize::try_from(end.checked_sub(*offset)?).unwrap_or(usize::MAX);
            let to = most.min(bytes.len());
            (from < to).then(|| bytes.slice(from..to))
        });
        parts.max_by_key(Bytes::len).unwrap_or_default()
    }

    /// Drops the pieces that end at or before `offset`.
    pub(super) fn forget_before(&mut self, offset: u64) {
        self.0
            .retain(|(start, bytes)| start.saturating_add(bytes.len() as u64) > offset);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_comes_from_one_piece_and_the_longest_rest_from_any() {
        let mut pieces = Pieces::default();
        pieces.add(10, Bytes::from_static(b"0123456789"));
        pieces.add(15, Bytes::from_static(b"56789abcdef"));
        assert_eq!(pieces.get(&(12..14)).unwrap(), "23");
        assert_eq!(pieces.get(&(16..26)).unwrap(), "6789abcdef");
        assert_eq!(pieces.get(&(14..22)), None);
        assert_eq!(pieces.get(&(9..11)), None);
        assert_eq!(pieces.from(16, 100), "6789abcdef");
        assert_eq!(pieces.from(16, 18), "67");
        assert_eq!(pieces.from(26, 100), "");
        pieces.forget_before(20);
        assert_eq!(pieces.get(&(12..14)), None);
        assert_eq!(pieces.get(&(16..18)).unwrap(), "67");
    }
}
