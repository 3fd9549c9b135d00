//! Hudi's bloom filter in a footer: half a megabyte of text or a whole one, which reading does not need.

use std::ops::Range;

use super::footer::BLOOM_KEYS;
use super::thrift::{Compact, Field, STRUCT};
use crate::error::Result;

/// The field of `FileMetaData` that lists the pairs, and the fields of a pair.
const PAIRS: i16 = 5;
const KEY: i16 = 1;
const VALUE: i16 = 2;

/// A text and the length before it, by their places in the metadata.
struct Text {
    all: Range<usize>,
    text: Range<usize>,
}

/// The metadata of a footer with an empty text for the bloom filter; `None` when it has none.
///
/// The bytes of `hole` were not fetched, and any may stand for them: `None` too when one of them is not of the bloom filter's
/// text. What stands before that text is read, so bytes of the hole never say where it is.
pub(super) fn without_bloom_text(metadata: &[u8], hole: &Range<usize>) -> Option<Vec<u8>> {
    let Text { all, text } = find(metadata).ok().flatten()?;
    let spared = hole.is_empty() || (text.start <= hole.start && hole.end <= text.end);
    let (before, after) = (metadata.get(..all.start)?, metadata.get(all.end..)?);
    spared.then(|| [before, &[0], after].concat())
}

/// Where in the metadata the text of the bloom filter stands.
pub(super) fn text_range(metadata: &[u8]) -> Option<Range<usize>> {
    let found = find(metadata).ok().flatten();
    found.map(|found| found.text)
}

fn find(metadata: &[u8]) -> Result<Option<Text>> {
    let mut compact = Compact::new(metadata);
    let mut last = 0;
    while let Some(field) = compact.field(&mut last)? {
        if field.id == PAIRS {
            return find_in(&mut compact, field);
        }
        compact.skip(field)?;
    }
    Ok(None)
}

fn find_in(compact: &mut Compact<'_>, list: Field) -> Result<Option<Text>> {
    let (kind, count) = compact.list(list)?;
    if kind != STRUCT {
        return Ok(None);
    }
    for _ in 0..count {
        let mut last = 0;
        let mut is_bloom = false;
        while let Some(field) = compact.field(&mut last)? {
            match field.id {
                KEY => {
                    let key = compact.binary(field)?;
                    is_bloom = BLOOM_KEYS.iter().any(|known| known.as_bytes() == key);
                }
                VALUE if is_bloom => {
                    let start = compact.position();
                    let length = compact.binary(field)?.len();
                    let end = compact.position();
                    return Ok(Some(Text {
                        all: start..end,
                        text: end - length..end,
                    }));
                }
                _ => compact.skip(field)?,
            }
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Version 1; pairs `a`: `x` and the bloom filter: `text`; written by `me`.
    fn metadata(text: &[u8]) -> Vec<u8> {
        let key = BLOOM_KEYS[0].as_bytes();
        let pair = |key: &[u8], value: &[u8]| {
            let mut pair = vec![0x18, key.len() as u8];
            pair.extend(key);
            pair.extend([0x18, value.len() as u8]);
            pair.extend(value);
            pair.push(0);
            pair
        };
        let mut all = vec![0x15, 2, 0x49, 0x2c];
        all.extend(pair(b"a", b"x"));
        all.extend(pair(key, text));
        all.extend([0x18, 2, b'm', b'e', 0]);
        all
    }

    fn place(metadata: &[u8], text: &[u8]) -> usize {
        let mut windows = metadata.windows(text.len());
        windows.position(|window| window == text).unwrap()
    }

    #[test]
    fn the_bloom_filter_leaves_an_empty_text() {
        let cut = without_bloom_text(&metadata(b"0123456789"), &(0..0));
        assert_eq!(cut, Some(metadata(b"")));
    }

    #[test]
    fn bytes_that_are_not_there_may_only_be_of_the_bloom_filter() {
        let text = b"0123456789";
        let whole = metadata(text);
        let start = place(&whole, text);
        for hole in [start..start + 10, start + 3..start + 4] {
            let mut holed = whole.clone();
            holed[hole.clone()].fill(0);
            assert_eq!(without_bloom_text(&holed, &hole), Some(metadata(b"")));
        }
        for hole in [start - 1..start + 4, start + 3..start + 11, 0..2, 4..20] {
            let mut holed = whole.clone();
            holed[hole.clone()].fill(0);
            assert_eq!(without_bloom_text(&holed, &hole), None, "{hole:?}");
        }
    }

    #[test]
    fn metadata_without_one_or_broken_is_left_alone() {
        let mut other = metadata(b"0123456789");
        let at = place(&other, BLOOM_KEYS[0].as_bytes());
        other[at] = b'O';
        assert_eq!(without_bloom_text(&other, &(0..0)), None);
        let whole = metadata(b"0123456789");
        let text = place(&whole, b"0123456789");
        for end in 0..text + 10 {
            assert_eq!(without_bloom_text(&whole[..end], &(0..0)), None);
        }
    }
}
