//! Parquet's own Bloom filters: a value sets one bit in each of the eight words of one block.
//!
//! ```text
//! header (Thrift): 1 bytes of the blocks | 2 algorithm | 3 hash | 4 compression; then the blocks, 32 bytes each
//! ```
//!
//! Source: the Parquet format, `BloomFilter.md`.

use bytes::Bytes;
use twox_hash::XxHash64;

use super::thrift::Compact;
use crate::error::{Error, Result};

/// What the lower half of a hash is multiplied by, for the bit of each word.
const SALT: [u32; 8] = [
    0x47b6_137b,
    0x4497_4d91,
    0x8824_ad5b,
    0xa2b7_289d,
    0x7054_95c7,
    0x2df1_424b,
    0x9efc_4947,
    0x5c6b_fb31,
];

/// Bytes of a block.
const BLOCK: usize = 32;

/// The filter of one column chunk.
#[derive(Debug, Clone)]
pub struct BlockFilter(Bytes);

impl BlockFilter {
    /// Reads a filter with its header.
    ///
    /// Errors: `Corrupt` for what is none, `Unsupported` for another algorithm, hash or compression than the format's first.
    pub fn read(bytes: &Bytes) -> Result<Self> {
        let mut compact = Compact::new(bytes);
        let (mut last, mut size, mut kinds) = (0, None, 0);
        while let Some(field) = compact.field(&mut last)? {
            match field.id {
                1 => size = usize::try_from(compact.i32(field)?).ok(),
                2..=4 => {
                    compact.expect_struct(field)?;
                    let mut inner = 0;
                    while let Some(kind) = compact.field(&mut inner)? {
                        kinds += usize::from(kind.id == 1);
                        compact.skip(kind)?;
                    }
                }
                _ => compact.skip(field)?,
            }
        }
        if kinds != 3 {
            return Err(Error::unsupported("a Bloom filter of another kind"));
        }
        let begin = compact.position();
        let end = size.and_then(|size| begin.checked_add(size));
        let end = end.filter(|end| *end <= bytes.len() && *end > begin);
        match end {
            Some(end) if (end - begin).is_multiple_of(BLOCK) => Ok(Self(bytes.slice(begin..end))),
            _ => Err(Error::corrupt("a Bloom filter declares an impossible size")),
        }
    }

    /// Whether a value may be in the column chunk; false is sure. `value` is in the `PLAIN` encoding, text without its length.
    pub fn may_hold(&self, value: &[u8]) -> bool {
        let hash = XxHash64::oneshot(0, value);
        let blocks = (self.0.len() / BLOCK) as u64;
        let block = ((hash >> 32) * blocks) >> 32;
        let start = usize::try_from(block).unwrap_or(0) * BLOCK;
        let block = self.0.get(start..start + BLOCK).unwrap_or_default();
        let key = (hash & u64::from(u32::MAX)) as u32;
        let mut words = block.as_chunks::<4>().0.iter().zip(SALT);
        words.all(|(word, salt)| {
            let bit = key.wrapping_mul(salt) >> 27;
            (u32::from_le_bytes(*word) >> bit) & 1 == 1
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ErrorKind;

    /// The header of one block: 32 bytes, and three structs with an empty struct of the number 1.
    const HEADER: [u8; 15] = [
        0x15, 0x40, 0x1c, 0x1c, 0, 0, 0x1c, 0x1c, 0, 0, 0x1c, 0x1c, 0, 0, 0,
    ];

    /// A block of eight such words with its header.
    fn filter(word: u32) -> Bytes {
        let words = [word; 8];
        let block = words.iter().flat_map(|word| word.to_le_bytes());
        HEADER.into_iter().chain(block).collect::<Vec<u8>>().into()
    }

    #[test]
    fn all_bits_hold_everything_and_none_nothing() {
        assert!(BlockFilter::read(&filter(u32::MAX)).unwrap().may_hold(b"a"));
        assert!(!BlockFilter::read(&filter(0)).unwrap().may_hold(b"a"));
    }

    #[test]
    fn what_is_cut_short_or_of_another_kind_is_an_error() {
        let whole = filter(0);
        for end in 0..whole.len() {
            assert!(BlockFilter::read(&whole.slice(..end)).is_err(), "{end}");
        }
        let mut other = whole.to_vec();
        other[3] = 0x2c;
        let error = BlockFilter::read(&other.into()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unsupported);
    }
}
