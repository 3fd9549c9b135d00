//! The maps at both ends of a block: `count`, then `key`, `length` and that many bytes of UTF-8 each.

use super::block::{BlockHeader, HeaderKey};
use crate::codec::bytes::Cursor;
use crate::error::{Error, Result};

/// The fewest bytes that one entry takes.
const ENTRY: usize = 8;

/// What the bytes at hand say of a map.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Parsed<T> {
    /// The whole of it, and the bytes it took.
    Whole(T, usize),
    /// It goes on: at least so many bytes are needed.
    Short(usize),
    /// It breaks the format.
    Broken,
}

/// Reads a header map from `bytes`, of which it may take `room` bytes at most.
///
/// Errors: `Unsupported` for a key that no table version up to 9 has, since it may change what the block means.
pub(super) fn parse(bytes: &[u8], room: u64) -> Result<Parsed<BlockHeader>> {
    let mut header = BlockHeader::default();
    let mut cursor = Cursor::new(bytes);
    let outcome = entries(&mut cursor, room, |code, value| {
        let Some(key) = HeaderKey::from_code(code) else {
            return Err(
                Error::unsupported("an unknown key in the header of a log block")
                    .context("key", code),
            );
        };
        header.set(key, value);
        Ok(())
    })?;
    Ok(match outcome {
        Parsed::Whole((), taken) => Parsed::Whole(header, taken),
        Parsed::Short(needed) => Parsed::Short(needed),
        Parsed::Broken => Parsed::Broken,
    })
}

/// Whether `bytes` are a map and nothing else; what it says does not matter.
pub(super) fn is_map(bytes: &[u8]) -> bool {
    let room = bytes.len() as u64;
    let found = entries(&mut Cursor::new(bytes), room, |_, _| Ok(()));
    matches!(found, Ok(Parsed::Whole((), taken)) if taken == bytes.len())
}

fn entries(
    cursor: &mut Cursor<'_>,
    room: u64,
    mut take: impl FnMut(u32, &str) -> Result<()>,
) -> Result<Parsed<()>> {
    let fits = |needed: usize| needed as u64 <= room;
    let short = |needed: usize| match fits(needed) {
        true => Parsed::Short(needed),
        false => Parsed::Broken,
    };
    let Ok(count) = cursor.u32_be() else {
        return Ok(short(4));
    };
    let least = (count as usize)
        .checked_mul(ENTRY)
        .and_then(|entries| entries.checked_add(4));
    if !least.is_some_and(fits) {
        return Ok(Parsed::Broken);
    }
    for _ in 0..count {
        let at = cursor.position();
        let (Ok(code), Ok(length)) = (cursor.u32_be(), cursor.u32_be()) else {
            return Ok(short(at + ENTRY));
        };
        let end = (length as usize).checked_add(at + ENTRY);
        let Some(end) = end.filter(|end| fits(*end)) else {
            return Ok(Parsed::Broken);
        };
        let Ok(value) = cursor.take(length as usize) else {
            return Ok(Parsed::Short(end));
        };
        let Ok(value) = std::str::from_utf8(value) else {
            return Ok(Parsed::Broken);
        };
        take(code, value)?;
    }
    Ok(Parsed::Whole((), cursor.position()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;

    fn map(entries: &[(u32, &str)]) -> Vec<u8> {
        let mut bytes = (entries.len() as u32).to_be_bytes().to_vec();
        for (code, value) in entries {
            bytes.extend(code.to_be_bytes());
            bytes.extend((value.len() as u32).to_be_bytes());
            bytes.extend(value.as_bytes());
        }
        bytes
    }

    #[test]
    fn a_map_cut_short_says_how_much_it_needs_until_it_is_whole() {
        let mut bytes = map(&[(0, "20260101000000000"), (2, "{}")]);
        let whole = bytes.len();
        bytes.extend(b"content");
        let room = bytes.len() as u64;
        let mut have = 0;
        let mut rounds = 0;
        let taken = loop {
            match parse(&bytes[..have], room).unwrap() {
                Parsed::Short(needed) => {
                    assert!(needed > have && needed <= whole);
                    have = needed;
                }
                Parsed::Whole(header, taken) => {
                    assert_eq!(header.instant_time(), Some("20260101000000000"));
                    assert_eq!(header.schema(), Some("{}"));
                    break taken;
                }
                Parsed::Broken => panic!("broken"),
            }
            rounds += 1;
        };
        assert_eq!((taken, rounds), (whole, 5));
    }

    #[test]
    fn counts_and_lengths_beyond_the_room_are_broken_before_anything_is_taken() {
        let check = |bytes: &[u8], room: u64| {
            assert_eq!(parse(bytes, room).unwrap(), Parsed::Broken, "{bytes:?}");
        };
        check(&[0xff; 4], 1 << 20);
        check(&[0, 0, 0, 2, 0, 0, 0, 0], 19);
        check(&[0, 0, 0, 1, 0, 0, 0, 0, 0x7f, 0xff, 0xff, 0xff], 1 << 20);
        check(&[], 3);
        let not_utf8 = [0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0xff];
        check(&not_utf8, 100);
    }

    #[test]
    fn a_key_of_a_later_version_is_refused_by_its_number() {
        let error = parse(&map(&[(9, "x")]), 100).unwrap_err();
        assert_eq!(
            (error.kind(), error.get("key")),
            (ErrorKind::Unsupported, Some("9"))
        );
    }

    #[test]
    fn a_footer_is_a_map_to_its_last_byte() {
        assert!(is_map(&[0, 0, 0, 0]));
        assert!(is_map(&map(&[(77, "any")])));
        assert!(!is_map(&[0, 0, 0, 0, 0]));
        assert!(!is_map(&[0, 0, 0]));
    }
}
