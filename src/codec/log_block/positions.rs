use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use crate::codec::bytes::Cursor;
use crate::error::{Error, Result};

/// Cookies of the portable form of 32-bit Roaring bitmaps: with runs, and without.
const WITH_RUNS: u32 = 12347;
const WITHOUT_RUNS: u32 = 12346;

/// From this many containers on, a bitmap with runs has offsets too.
const OFFSETS_FROM: usize = 4;

/// Larger containers are bitmaps.
const MAX_ARRAY: usize = 4096;
const BITMAP_WORDS: usize = 1024;

/// The positions in the base file of a block's `records` records, in their order, which is ascending.
///
/// ```text
/// base64 of: buckets u64 LE | buckets × (high u32 LE | 32-bit Roaring bitmap in its portable form)
/// ```
///
/// Errors: `Corrupt` when the text is no such bitmap or holds another number of positions than there are records; so what the
/// bitmap takes is bounded by the block.
/// Source: Roaring format specification; Hudi `LogReaderUtils.decodeRecordPositionsHeader`.
pub fn positions(text: &str, records: usize) -> Result<Vec<u64>> {
    let bytes = STANDARD
        .decode(text)
        .map_err(|e| Error::corrupt("record positions are not base64").with_source(e))?;
    let mut cursor = Cursor::new(&bytes);
    let mut found = Positions {
        all: Vec::new(),
        records,
    };
    for _ in 0..u64::from_le_bytes(cursor.array()?) {
        let high = u64::from(cursor.u32_le()?) << 32;
        found.bitmap(high, &mut cursor)?;
    }
    if found.all.len() != records || !cursor.is_empty() {
        return Err(cursor.fault("record positions are not one a record"));
    }
    if !found.all.is_sorted_by(|a, b| a < b) {
        return Err(cursor.fault("record positions do not rise"));
    }
    Ok(found.all)
}

struct Positions {
    all: Vec<u64>,
    records: usize,
}

impl Positions {
    fn bitmap(&mut self, high: u64, cursor: &mut Cursor<'_>) -> Result<()> {
        let cookie = cursor.u32_le()?;
        let (count, run_flags) = match cookie & 0xffff {
            WITH_RUNS => {
                let count = (cookie >> 16) as usize + 1;
                (count, Some(cursor.take(count.div_ceil(8))?))
            }
            _ if cookie == WITHOUT_RUNS => (cursor.u32_le()? as usize, None),
            _ => return Err(cursor.fault("no Roaring bitmap")),
        };
        if count > 1 << 16 {
            return Err(cursor.fault("a Roaring bitmap has too many containers"));
        }
        let mut headers = cursor.part(4 * count)?;
        if run_flags.is_none() || count >= OFFSETS_FROM {
            cursor.take(4 * count)?;
        }
        for at in 0..count {
            let base = high | (u64::from(u16_le(&mut headers)?) << 16);
            let cardinality = usize::from(u16_le(&mut headers)?) + 1;
            let runs = run_flags
                .and_then(|flags| flags.get(at / 8))
                .is_some_and(|flags| flags >> (at % 8) & 1 == 1);
            if self.all.len() + cardinality > self.records {
                return Err(cursor.fault("there are more record positions than records"));
            }
            let end = self.all.len() + cardinality;
            self.container(base, cardinality, runs, cursor)?;
            if self.all.len() != end {
                return Err(cursor.fault("a Roaring container holds not what it counts"));
            }
        }
        Ok(())
    }

    fn container(
        &mut self,
        base: u64,
        cardinality: usize,
        runs: bool,
        cursor: &mut Cursor<'_>,
    ) -> Result<()> {
        if runs {
            let limit = self.all.len() + cardinality;
            for _ in 0..u16_le(cursor)? {
                let start = u64::from(u16_le(cursor)?);
                let end = start + u64::from(u16_le(cursor)?);
                if end > 0xffff || self.all.len() >= limit {
                    return Err(cursor.fault("a Roaring run leaves its container"));
                }
                let room = limit - self.all.len();
                self.all
                    .extend((start..=end).take(room + 1).map(|low| base | low));
            }
        } else if cardinality <= MAX_ARRAY {
            for _ in 0..cardinality {
                self.all.push(base | u64::from(u16_le(cursor)?));
            }
        } else {
            for word in 0..BITMAP_WORDS as u64 {
                let mut bits = u64::from_le_bytes(cursor.array()?);
                while bits != 0 {
                    let low = word * 64 + u64::from(bits.trailing_zeros());
                    self.all.push(base | low);
                    bits &= bits - 1;
                }
            }
        }
        Ok(())
    }
}

fn u16_le(cursor: &mut Cursor<'_>) -> Result<u16> {
    cursor.array().map(u16::from_le_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;

    fn bitmap(parts: &[&[u8]]) -> String {
        let header = [&1u64.to_le_bytes()[..], &0u32.to_le_bytes()].concat();
        STANDARD.encode([header, parts.concat()].concat())
    }

    #[test]
    fn headers_that_java_wrote_are_read() {
        let check = |text: &str, expected: &[u64]| {
            assert_eq!(positions(text, expected.len()).unwrap(), expected);
        };
        check("AQAAAAAAAAAAAAAAOjAAAAEAAAAAAAAAEAAAAAAA", &[0]);
        check("AQAAAAAAAAAAAAAAOjAAAAEAAAAAAAAAEAAAAAIA", &[2]);
        check("AQAAAAAAAAAAAAAAOjAAAAEAAAAAAAEAEAAAAAAAAQA=", &[0, 1]);
        check(
            "AQAAAAAAAAAAAAAAOjAAAAEAAAAAAAIAEAAAAAAAAQACAA==",
            &[0, 1, 2],
        );
        check("AAAAAAAAAAA=", &[]);
    }

    #[test]
    fn runs_bitmaps_and_high_buckets_are_read() {
        // One run container, key 1: runs 5..=7 and 9..=9.
        let runs = [
            &0x303bu32.to_le_bytes()[..],
            &[1],
            &[1, 0, 3, 0],
            &[2, 0, 5, 0, 2, 0, 9, 0, 0, 0],
        ];
        assert_eq!(
            positions(&bitmap(&runs), 4).unwrap(),
            [65541, 65542, 65543, 65545]
        );
        // One bitmap container of the even numbers below 10,002.
        let mut words = vec![0u8; 8192];
        let expected: Vec<u64> = (0..5001).map(|n| n * 2).collect();
        for n in &expected {
            words[(*n / 8) as usize] |= 1 << (n % 8);
        }
        let header = [
            &12346u32.to_le_bytes()[..],
            &1u32.to_le_bytes(),
            &[0, 0],
            &5000u16.to_le_bytes(),
            &[0; 4],
        ]
        .concat();
        assert_eq!(
            positions(&bitmap(&[&header, &words]), 5001).unwrap(),
            expected
        );
        let one = [
            &12346u32.to_le_bytes()[..],
            &1u32.to_le_bytes(),
            &[0; 8],
            &[3, 0],
        ]
        .concat();
        let two = [
            &2u64.to_le_bytes()[..],
            &0u32.to_le_bytes(),
            &one,
            &1u32.to_le_bytes(),
            &one,
        ]
        .concat();
        assert_eq!(
            positions(&STANDARD.encode(two), 2).unwrap(),
            [3, (1 << 32) | 3]
        );
    }

    #[test]
    fn what_is_not_one_position_a_record_is_corrupt() {
        let text = "AQAAAAAAAAAAAAAAOjAAAAEAAAAAAAIAEAAAAAAAAQACAA==";
        let check = |text: &str, records| {
            assert_eq!(
                positions(text, records).unwrap_err().kind(),
                ErrorKind::Corrupt,
                "{text}"
            );
        };
        check(text, 2);
        check(text, 4);
        check("%", 1);
        let bytes = STANDARD.decode(text).unwrap();
        for cut in 0..bytes.len() {
            check(&STANDARD.encode(&bytes[..cut]), 3);
        }
        // A run that counts 65,536 in six bytes, in a block of four records.
        let run = [
            &0x303bu32.to_le_bytes()[..],
            &[1],
            &[0, 0, 3, 0],
            &[1, 0, 0, 0, 0xff, 0xff],
        ];
        check(&bitmap(&run), 4);
        let falling = [
            &12346u32.to_le_bytes()[..],
            &1u32.to_le_bytes(),
            &[0, 0, 1, 0],
            &[0; 4],
            &[5, 0, 4, 0],
        ];
        check(&bitmap(&falling), 2);
        let many = [&12346u32.to_le_bytes()[..], &u32::MAX.to_le_bytes()];
        check(&bitmap(&many), 1);
    }
}
