//! A cursor over bytes that checks every step.

use std::cmp::Ordering;

use crate::error::{Error, Result};

/// The order of two byte strings, eight bytes at a time: wasm has no instruction for it, and its library goes byte by byte.
pub fn compare(a: &[u8], b: &[u8]) -> Ordering {
    let number = |word: &[u8; 8]| u64::from_be_bytes(*word);
    let (wide_a, wide_b) = (a.as_chunks::<8>().0, b.as_chunks::<8>().0);
    if let Some((a, b)) = wide_a.iter().zip(wide_b).find(|(a, b)| a != b) {
        return number(a).cmp(&number(b));
    }
    // All before the last eight bytes is the same.
    if a.len() == b.len()
        && let (Some(a), Some(b)) = (a.last_chunk::<8>(), b.last_chunk::<8>())
    {
        return number(a).cmp(&number(b));
    }
    let same = wide_a.len().min(wide_b.len()) * 8;
    let rest = |all| <[u8]>::get(all, same..).unwrap_or_default();
    rest(a).cmp(rest(b))
}

/// Reads forward over a slice; every step past the end is `CORRUPT` with the offset where it began.
#[derive(Debug, Clone)]
pub struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Cursor<'a> {
    /// A cursor at the first byte.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    /// Bytes read so far.
    pub fn position(&self) -> usize {
        self.at
    }

    /// Bytes not yet read.
    pub fn remaining(&self) -> usize {
        self.bytes.len() - self.at
    }

    /// The next `count` bytes.
    #[inline]
    pub fn take(&mut self, count: usize) -> Result<&'a [u8]> {
        let end = self.at.checked_add(count);
        match end.and_then(|end| self.bytes.get(self.at..end)) {
            Some(found) => {
                self.at += count;
                Ok(found)
            }
            None => Err(self.short(count)),
        }
    }

    #[cold]
    fn short(&self, count: usize) -> Error {
        Error::corrupt(format!("{count} bytes wanted, {} left", self.remaining()))
            .context("offset", self.at)
    }

    /// Whether every byte is read.
    pub fn is_empty(&self) -> bool {
        self.remaining() == 0
    }

    /// The next `count` bytes as a cursor of their own, whose offsets still count from the first byte of the whole.
    pub fn part(&mut self, count: usize) -> Result<Cursor<'a>> {
        let at = self.at;
        self.take(count)?;
        let bytes = self.bytes.get(..self.at).unwrap_or_default();
        Ok(Cursor { bytes, at })
    }

    /// A `Corrupt` error at this place.
    pub fn fault(&self, message: &str) -> Error {
        Error::corrupt(message).context("offset", self.at)
    }

    /// The next `N` bytes as an array.
    pub fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let mut array = [0; N];
        array.copy_from_slice(self.take(N)?);
        Ok(array)
    }

    /// One byte.
    #[inline]
    pub fn u8(&mut self) -> Result<u8> {
        match self.bytes.get(self.at) {
            Some(byte) => {
                self.at += 1;
                Ok(*byte)
            }
            None => self.array().map(|[byte]: [u8; 1]| byte),
        }
    }

    /// Four bytes, the lowest first.
    pub fn u32_le(&mut self) -> Result<u32> {
        self.array().map(u32::from_le_bytes)
    }

    /// Four bytes, the highest first.
    pub fn u32_be(&mut self) -> Result<u32> {
        self.array().map(u32::from_be_bytes)
    }

    /// Eight bytes, the highest first.
    pub fn u64_be(&mut self) -> Result<u64> {
        self.array().map(u64::from_be_bytes)
    }

    /// An unsigned varint, seven bits a byte, the lowest first (Avro, Thrift, protobuf).
    #[inline(always)]
    pub fn varint(&mut self) -> Result<u64> {
        // Most are of one byte: rows of Avro are read at the speed of this branch.
        match self.bytes.get(self.at) {
            Some(byte) if *byte < 0x80 => {
                self.at += 1;
                Ok(u64::from(*byte))
            }
            _ => self.long_varint(),
        }
    }

    #[inline(never)]
    fn long_varint(&mut self) -> Result<u64> {
        let start = self.at;
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.u8()?;
            let bits = u64::from(byte & 0x7f);
            if shift == 63 && bits > 1 {
                break;
            }
            value |= bits << shift;
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err(Error::corrupt("a varint is longer than 64 bits").context("offset", start))
    }

    /// A signed varint in zigzag form.
    #[inline(always)]
    pub fn zigzag(&mut self) -> Result<i64> {
        let value = self.varint()?;
        Ok((value >> 1).cast_signed() ^ -(value & 1).cast_signed())
    }

    /// A count of bytes in zigzag form: never negative, never more than what is left.
    pub fn length(&mut self) -> Result<usize> {
        let at = self.at;
        let length = usize::try_from(self.zigzag()?).ok();
        let length = length.filter(|length| *length <= self.remaining());
        length.ok_or_else(|| {
            Error::corrupt("a length runs past the end of the bytes").context("offset", at)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn byte_strings_are_ordered_as_the_library_orders_them() {
        let texts = [
            "",
            "a",
            "b",
            "key-0000",
            "key-0001",
            "key-00000001",
            "key-00000002",
            "key-0000000199",
            "key-000000019",
            "key-1000000199",
            "key-0000000099",
            "\u{7f}\u{80}\u{ff}\u{fff}abc",
            "abcdefgh\0",
        ];
        for a in texts {
            for b in texts {
                let (a, b) = (a.as_bytes(), b.as_bytes());
                assert_eq!(compare(a, b), a.cmp(b), "{a:?} {b:?}");
            }
        }
    }

    #[test]
    fn varints_decode_as_the_avro_specification_lists_them() {
        let check = |bytes: &[u8], expected: i64| {
            assert_eq!(Cursor::new(bytes).zigzag().unwrap(), expected, "{bytes:?}");
        };
        check(&[0], 0);
        check(&[1], -1);
        check(&[2], 1);
        check(&[0x7f], -64);
        check(&[0x80, 1], 64);
        check(
            &[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1],
            i64::MIN,
        );
    }

    #[test]
    fn a_varint_of_more_than_64_bits_is_corrupt() {
        assert!(Cursor::new(&[0xff; 11]).varint().is_err());
        let mut two_in_the_last = [0xff; 10];
        two_in_the_last[9] = 2;
        assert!(Cursor::new(&two_in_the_last).varint().is_err());
    }

    #[test]
    fn a_step_past_the_end_names_its_offset_and_stays() {
        let mut cursor = Cursor::new(&[1, 2, 3]);
        cursor.take(2).unwrap();
        let error = cursor.u32_le().unwrap_err();
        assert_eq!(error.get("offset"), Some("2"));
        assert_eq!(cursor.u8().unwrap(), 3);
        assert!(cursor.take(usize::MAX).is_err());
    }

    #[test]
    fn a_length_is_what_is_left_at_most() {
        assert_eq!(Cursor::new(&[4, 1, 2]).length().unwrap(), 2);
        for bytes in [&[6, 1, 2][..], &[1, 0]] {
            assert_eq!(
                Cursor::new(bytes).length().unwrap_err().get("offset"),
                Some("0")
            );
        }
    }

    #[test]
    fn a_part_ends_early_and_counts_in_the_whole() {
        let mut cursor = Cursor::new(&[1, 2, 3, 4]);
        cursor.u8().unwrap();
        let mut part = cursor.part(2).unwrap();
        assert_eq!(part.u8().unwrap(), 2);
        assert_eq!((part.position(), part.remaining()), (2, 1));
        assert_eq!(cursor.u8().unwrap(), 4);
    }
}
