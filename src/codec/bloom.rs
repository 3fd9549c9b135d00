//! The Bloom filter in a base file's footer, as Hudi's `DYNAMIC_V0` writes it: without it Java's Bloom indexes fail.
//!
//! ```text
//! dynamic: header | int keys a row | int keys in the last row | int rows | rows: header, bits
//! header:  int -1 | int hashes | byte 1 (murmur) | int bits            all big-endian; bit i is bit i % 8 of byte i / 8
//! ```
//!
//! Source: `InternalDynamicBloomFilter`, Hadoop's `MurmurHash`.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::bytes::Cursor;
use crate::error::{Error, Result};

const M: u32 = 0x5bd1_e995;

/// Bytes of a header.
const HEADER: usize = 13;

/// No false positive rate needs more.
const MAX_HASHES: u32 = 10_000;

/// Sizes of a filter.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BloomSettings {
    /// Keys that a row is made for: `hoodie.index.bloom.num_entries`.
    pub entries: u32,
    /// Share of false answers that it is made for: `hoodie.index.bloom.fpp`.
    pub false_positives: f64,
    /// Keys after which no row is added: `hoodie.bloom.index.filter.dynamic.max.entries`.
    pub max_entries: u32,
}

impl Default for BloomSettings {
    fn default() -> Self {
        Self {
            entries: 60_000,
            false_positives: 1e-9,
            max_entries: 100_000,
        }
    }
}

/// A filter that keys are added to.
#[derive(Debug, Clone)]
pub struct BloomFilter {
    settings: BloomSettings,
    bits: u32,
    hashes: u32,
    /// All rows, one behind the other.
    bytes: Vec<u8>,
    /// Keys in the last row.
    current: u32,
    /// Once the rows are as many as may be: the row of the next key.
    next: Option<usize>,
}

impl BloomFilter {
    /// An empty filter.
    pub fn new(settings: BloomSettings) -> Self {
        let entries = f64::from(settings.entries.max(1));
        let ln2 = std::f64::consts::LN_2;
        let bits = (entries * (-settings.false_positives.ln() / (ln2 * ln2))).ceil();
        // What Java would take for a size beyond its ints it could not make.
        let bits = (bits as u32).clamp(1, i32::MAX as u32);
        let hashes = (ln2 * f64::from(bits) / entries).ceil() as u32;
        Self {
            settings,
            bits,
            hashes,
            bytes: vec![0; bits.div_ceil(8) as usize],
            current: 0,
            next: None,
        }
    }

    /// Bytes of memory that its rows take.
    pub fn memory(&self) -> usize {
        self.bytes.len()
    }

    /// Bytes of one row.
    fn row(&self) -> usize {
        self.bits.div_ceil(8) as usize
    }

    fn rows(&self) -> usize {
        self.bytes.len() / self.row()
    }

    /// Adds one key.
    pub fn add(&mut self, key: &[u8]) {
        let row = self.row_of_next();
        self.set_all([row; LANES], &Prepared::new([key; LANES]));
    }

    /// Adds keys. Each hash waits for the one before it, so keys of one length go side by side.
    pub fn add_all<'a>(&mut self, keys: impl Iterator<Item = &'a [u8]>) {
        let mut waiting: [&[u8]; LANES] = [&[]; LANES];
        let mut count = 0;
        for key in keys {
            if count > 0
                && waiting
                    .first()
                    .is_some_and(|first| first.len() != key.len())
            {
                waiting.iter().take(count).for_each(|key| self.add(key));
                count = 0;
            }
            if let Some(place) = waiting.get_mut(count) {
                *place = key;
            }
            count += 1;
            if count == LANES {
                let rows = std::array::from_fn(|_| self.row_of_next());
                self.set_all(rows, &Prepared::new(waiting));
                count = 0;
            }
        }
        waiting.iter().take(count).for_each(|key| self.add(key));
    }

    /// Sets the bits of some keys, each in its row: each hash is the seed of the next.
    fn set_all(&mut self, rows: [usize; LANES], keys: &Prepared) {
        let bits = Divisor::new(self.bits);
        let [a, b, c, d] = rows.map(|row| row * self.row());
        let bytes = self.bytes.as_mut_slice();
        let mut set = |start: usize, hash: u32| {
            // Java takes the remainder first, whose sign it then drops: the same number.
            let at = bits.remainder(hash.cast_signed().unsigned_abs());
            if let Some(byte) = bytes.get_mut(start + (at / 8) as usize) {
                *byte |= 1 << (at % 8);
            }
        };
        let mut hashes = [0; LANES];
        for _ in 0..self.hashes {
            hashes = keys.hash(hashes);
            let [e, f, g, h] = hashes;
            set(a, e);
            set(b, f);
            set(c, g);
            set(d, h);
        }
    }

    /// The row of the next key, which is counted.
    fn row_of_next(&mut self) -> usize {
        let rows = self.rows();
        if let Some(next) = &mut self.next {
            let row = *next % rows;
            *next += 1;
            self.current = self.current.wrapping_add(1);
            return row;
        }
        if self.current >= self.settings.entries {
            let whole = (rows as u64) * u64::from(self.settings.entries);
            if whole >= u64::from(self.settings.max_entries) {
                self.next = Some(0);
                self.current = self.current.wrapping_add(1);
                return 0;
            }
            self.bytes.resize(self.bytes.len() + self.row(), 0);
            self.current = 0;
        }
        self.current += 1;
        self.rows() - 1
    }

    /// The filter as a footer holds it.
    pub fn to_base64(&self) -> String {
        let mut bytes = Vec::with_capacity(25 + self.memory() + 13 * self.rows());
        let put = |bytes: &mut Vec<u8>, number: u32| bytes.extend_from_slice(&number.to_be_bytes());
        let header = |bytes: &mut Vec<u8>| {
            put(bytes, u32::MAX);
            put(bytes, self.hashes);
            bytes.push(1);
            put(bytes, self.bits);
        };
        header(&mut bytes);
        put(&mut bytes, self.settings.entries);
        put(&mut bytes, self.current);
        put(&mut bytes, self.rows() as u32);
        for row in self.bytes.chunks(self.row()) {
            header(&mut bytes);
            bytes.extend_from_slice(row);
        }
        STANDARD.encode(bytes)
    }
}

/// A filter that was written: which keys are surely not in it.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredFilter(Vec<StoredRow>);

#[derive(Debug, Clone, PartialEq)]
struct StoredRow {
    bits: i32,
    hashes: u32,
    bytes: Vec<u8>,
}

impl StoredFilter {
    /// Reads a filter of this type as a footer or the metadata table holds it, in base64.
    ///
    /// Errors: `Corrupt` for what is no filter of that type, `Unsupported` for another type or hash.
    pub fn read(kind: &str, text: &[u8]) -> Result<Self> {
        let broken = |source| Error::corrupt("a Bloom filter is not base64").with_source(source);
        let bytes = STANDARD.decode(text).map_err(broken)?;
        let mut cursor = Cursor::new(&bytes);
        let rows = match kind {
            "SIMPLE" => vec![StoredRow::read(&mut cursor)?],
            "DYNAMIC_V0" => {
                // Its own header, and how many keys its rows hold.
                cursor.take(HEADER + 8)?;
                let count = u32::from_be_bytes(cursor.array()?);
                let count = usize::try_from(count)
                    .ok()
                    .filter(|count| *count <= cursor.remaining() / HEADER);
                let count = count.ok_or_else(|| cursor.fault("a Bloom filter is cut short"))?;
                (0..count)
                    .map(|_| StoredRow::read(&mut cursor))
                    .collect::<Result<_>>()?
            }
            _ => {
                return Err(Error::unsupported("a Bloom filter of this type").context("type", kind));
            }
        };
        match cursor.remaining() {
            0 => Ok(Self(rows)),
            _ => Err(cursor.fault("a Bloom filter is longer than it says")),
        }
    }

    /// Whether a key may be among those that were added; false is sure.
    pub fn may_hold(&self, key: &[u8]) -> bool {
        let key = Prepared::new([key; LANES]);
        self.0.iter().any(|row| row.may_hold(&key))
    }
}

impl StoredRow {
    fn read(cursor: &mut Cursor<'_>) -> Result<Self> {
        let version = u32::from_be_bytes(cursor.array()?);
        let hashes = u32::from_be_bytes(cursor.array()?);
        let hash = cursor.u8()?;
        let bits = i32::from_be_bytes(cursor.array()?);
        if version != u32::MAX || hash != 1 {
            let message = "a Bloom filter of another version or hash";
            return Err(Error::unsupported(message).context("hash", hash));
        }
        let size = usize::try_from(bits).ok().filter(|bits| *bits > 0);
        let size = size
            .filter(|_| hashes <= MAX_HASHES)
            .map(|bits| bits.div_ceil(8));
        let size = size.filter(|size| *size <= cursor.remaining());
        let size = size.ok_or_else(|| cursor.fault("a Bloom filter declares impossible sizes"))?;
        Ok(Self {
            bits,
            hashes,
            bytes: cursor.take(size)?.to_vec(),
        })
    }

    fn may_hold(&self, key: &Prepared) -> bool {
        let bits = Divisor::new(self.bits.unsigned_abs());
        let mut seeds = [0; LANES];
        (0..self.hashes).all(|_| {
            seeds = key.hash(seeds);
            // All lanes have this key.
            let [seed, ..] = seeds;
            let at = bits.remainder(seed.cast_signed().unsigned_abs());
            let byte = self.bytes.get((at / 8) as usize);
            byte.is_some_and(|byte| byte & (1 << (at % 8)) != 0)
        })
    }
}

/// A number to divide by many times: a product and a shift are a fifth of a division.
#[derive(Clone, Copy)]
struct Divisor {
    by: u32,
    factor: u64,
    shift: u32,
}

impl Divisor {
    fn new(by: u32) -> Self {
        let by = by.max(1);
        let shift = 31 + by.ilog2();
        Self {
            by,
            factor: (1 << shift) / u64::from(by),
            shift,
        }
    }

    fn remainder(self, number: u32) -> u32 {
        // The factor is below 2³², and rounded down, so that the quotient is right or one too small.
        let quotient = ((u64::from(number) * self.factor) >> self.shift) as u32;
        let left = number - quotient * self.by;
        if left >= self.by {
            left - self.by
        } else {
            left
        }
    }
}

/// Keys hashed side by side.
const LANES: usize = 4;

/// What the hashes of keys of one length share: their words, mixed as far as that does not depend on the seed.
struct Prepared {
    words: Vec<[u32; LANES]>,
    tail: Option<[u32; LANES]>,
    length: u32,
}

impl Prepared {
    fn new(keys: [&[u8]; LANES]) -> Self {
        let length = keys.first().map_or(0, |key| key.len());
        let words = (0..length / 4).map(|at| {
            keys.map(|key| {
                let word = key
                    .get(at * 4..at * 4 + 4)
                    .and_then(|word| word.try_into().ok());
                let word = word.map_or(0, u32::from_le_bytes).wrapping_mul(M);
                (word ^ word >> 24).wrapping_mul(M)
            })
        });
        // Java's bytes have a sign, and the first of the rest is the highest.
        let tail = keys.map(|key| {
            let rest = key.get(length / 4 * 4..).unwrap_or_default();
            rest.iter().rev().enumerate().fold(0, |tail, (at, byte)| {
                tail ^ (i32::from(byte.cast_signed()) << (8 * at)).cast_unsigned()
            })
        });
        Self {
            words: words.collect(),
            tail: (!length.is_multiple_of(4)).then_some(tail),
            length: length as u32,
        }
    }

    /// One lane after the other in words, as compilers that go for size leave loops over lanes in memory.
    #[inline]
    fn hash(&self, [a, b, c, d]: [u32; LANES]) -> [u32; LANES] {
        let length = self.length;
        let [mut a, mut b, mut c, mut d] = [a ^ length, b ^ length, c ^ length, d ^ length];
        for [e, f, g, h] in &self.words {
            a = a.wrapping_mul(M) ^ e;
            b = b.wrapping_mul(M) ^ f;
            c = c.wrapping_mul(M) ^ g;
            d = d.wrapping_mul(M) ^ h;
        }
        if let Some([e, f, g, h]) = self.tail {
            a = (a ^ e).wrapping_mul(M);
            b = (b ^ f).wrapping_mul(M);
            c = (c ^ g).wrapping_mul(M);
            d = (d ^ h).wrapping_mul(M);
        }
        let end = |hash: u32| {
            let hash = (hash ^ hash >> 13).wrapping_mul(M);
            hash ^ hash >> 15
        };
        [end(a), end(b), end(c), end(d)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_are_those_that_match_real_filters() {
        for (key, first, second) in [
            ("a", -1_838_653_602, 1_529_584_742),
            ("abcd", 646_393_889, -524_664_927),
            ("TXN-001", -1_349_093_075, 2_127_899_483),
            ("é", -384_040_333, 1_849_032_984),
        ] {
            let prepared = Prepared::new([key.as_bytes(); LANES]);
            let one = prepared.hash([0; LANES]);
            assert_eq!(one.map(u32::cast_signed), [first; LANES], "{key}");
            let two = prepared.hash(one).map(u32::cast_signed);
            assert_eq!(two, [second; LANES], "{key}");
        }
    }

    #[test]
    fn sizes_follow_from_the_settings_as_in_java() {
        let sizes = |entries| {
            let filter = BloomFilter::new(BloomSettings {
                entries,
                ..BloomSettings::default()
            });
            (filter.bits, filter.hashes)
        };
        assert_eq!(sizes(60_000), (2_587_966, 30));
        assert_eq!(sizes(10_000), (431_328, 30));
    }

    #[test]
    fn a_filter_that_was_written_holds_its_keys_and_few_others() {
        let mut filter = BloomFilter::new(BloomSettings {
            entries: 100,
            false_positives: 1e-9,
            max_entries: 300,
        });
        (0..1000).for_each(|n| filter.add(format!("key-{n}").as_bytes()));
        let read = StoredFilter::read("DYNAMIC_V0", filter.to_base64().as_bytes()).unwrap();
        assert!((0..1000).all(|n| read.may_hold(format!("key-{n}").as_bytes())));
        let others = (1000..2000).filter(|n| read.may_hold(format!("key-{n}").as_bytes()));
        assert!(others.count() < 500);
    }

    #[test]
    fn what_is_no_filter_is_an_error_at_every_length() {
        let filter = BloomFilter::new(BloomSettings {
            entries: 10,
            ..BloomSettings::default()
        });
        let bytes = STANDARD.decode(filter.to_base64()).unwrap();
        for end in 0..bytes.len() {
            let cut = STANDARD.encode(bytes.get(..end).unwrap());
            assert!(
                StoredFilter::read("DYNAMIC_V0", cut.as_bytes()).is_err(),
                "{end}"
            );
        }
        assert_eq!(
            StoredFilter::read("OTHER", b"").unwrap_err().kind().code(),
            "UNSUPPORTED"
        );
        assert_eq!(
            StoredFilter::read("SIMPLE", b"?")
                .unwrap_err()
                .kind()
                .code(),
            "CORRUPT"
        );
    }

    #[test]
    fn rows_are_added_up_to_the_limit_and_then_filled_in_turn() {
        let settings = BloomSettings {
            entries: 2,
            false_positives: 0.1,
            max_entries: 3,
        };
        let mut filter = BloomFilter::new(settings);
        let rows = |filter: &BloomFilter| (filter.rows(), filter.current);
        let mut seen = Vec::new();
        for key in ["a", "b", "c", "d", "e", "f"] {
            filter.add(key.as_bytes());
            seen.push(rows(&filter));
        }
        assert_eq!(seen, [(1, 1), (1, 2), (2, 1), (2, 2), (2, 3), (2, 4)]);
    }

    #[test]
    fn remainders_are_those_of_division() {
        for by in [1, 2, 3, 7, 2_587_966, 431_328, 1 << 20, (1 << 31) - 1] {
            let divisor = Divisor::new(by);
            let edges = [0, 1, by - 1, by, by + 1, 1 << 31, (1 << 31) - 1];
            let others = (0..10_000_u32).map(|at| at.wrapping_mul(0x9e37_79b9) >> 1);
            for number in edges.into_iter().chain(others) {
                assert_eq!(divisor.remainder(number), number % by, "{number} by {by}");
            }
        }
    }

    #[test]
    fn keys_side_by_side_set_the_bits_that_they_set_alone() {
        let keys: Vec<String> = (0..3000)
            .map(|at| format!("{}-{}", at * at, at % 7))
            .collect();
        let settings = BloomSettings {
            entries: 500,
            false_positives: 1e-4,
            max_entries: 1500,
        };
        let (mut alone, mut together) = (BloomFilter::new(settings), BloomFilter::new(settings));
        keys.iter().for_each(|key| alone.add(key.as_bytes()));
        together.add_all(keys.iter().map(String::as_bytes));
        assert_eq!(alone.to_base64(), together.to_base64());
        assert_eq!(alone.rows(), 3);
    }
}
