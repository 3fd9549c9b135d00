//! The values of one page or dictionary, checked before they are decoded.

use parquet::basic::{ConvertedType, Encoding, LogicalType, Type as PhysicalType};
use parquet::schema::types::ColumnDescriptor;

use super::delta;
use super::runs::{Run, Runs, unpack};
use crate::codec::bytes::Cursor;
use crate::error::{Error, Result};

/// The values of one page may come to so many bytes, however few the page itself has.
pub(super) const MAX_EXPANDED: u64 = 512 << 20;

/// What a column's values are.
#[derive(Debug, Clone, Copy)]
pub(super) struct ValueKind {
    pub(super) physical: PhysicalType,
    /// Bytes of a value, where all have as many.
    pub(super) width: usize,
    /// Bytes of a value of variable length, at most: a decimal has to fit its number.
    max_length: u64,
}

impl ValueKind {
    pub(super) fn of(column: &ColumnDescriptor) -> Self {
        let physical = column.physical_type();
        let width = match physical {
            PhysicalType::BOOLEAN | PhysicalType::BYTE_ARRAY => 0,
            PhysicalType::INT32 | PhysicalType::FLOAT => 4,
            PhysicalType::INT64 | PhysicalType::DOUBLE => 8,
            PhysicalType::INT96 => 12,
            PhysicalType::FIXED_LEN_BYTE_ARRAY => {
                usize::try_from(column.type_length()).unwrap_or(0)
            }
        };
        let logical = column.logical_type_ref();
        let decimal = matches!(logical, Some(LogicalType::Decimal(_)))
            || column.converted_type() == ConvertedType::DECIMAL;
        let max_length = match (decimal, column.type_precision()) {
            (false, _) => u64::MAX,
            (true, ..=38) => 16,
            (true, _) => 32,
        };
        Self {
            physical,
            width,
            max_length,
        }
    }

    /// Whether its values have lengths of their own.
    pub(super) fn is_bytes(&self) -> bool {
        self.physical == PhysicalType::BYTE_ARRAY
    }

    /// The bytes of the number that values of variable length are read as; `None` where they are not.
    pub(super) fn decimal_bytes(&self) -> Option<usize> {
        (self.is_bytes() && self.max_length < u64::MAX).then_some(self.max_length as usize)
    }

    /// Checks a dictionary of `count` values.
    pub(super) fn check_dictionary(&self, plain: &[u8], count: u64) -> Result<()> {
        match self.plain(plain, count)? == plain.len() {
            true => Ok(()),
            false => Err(contradiction()),
        }
    }

    /// Checks the `count` values in `section` and returns how many of its bytes they take.
    ///
    /// The decoder takes for granted what is checked here: that values are there, that lengths stay within the page, that no
    /// arithmetic on them overflows 32 bits, and that indexes stay within the dictionary of `dictionary` values.
    pub(super) fn check(
        &self,
        encoding: Encoding,
        section: &[u8],
        count: u64,
        dictionary: Option<u64>,
    ) -> Result<usize> {
        use PhysicalType::{BOOLEAN, BYTE_ARRAY, FIXED_LEN_BYTE_ARRAY, INT32, INT64, INT96};
        match (encoding, self.physical) {
            (Encoding::PLAIN, _) => self.plain(section, count),
            (Encoding::PLAIN_DICTIONARY | Encoding::RLE_DICTIONARY, _) => {
                self.indexes(section, count, dictionary)
            }
            (Encoding::RLE, BOOLEAN) => booleans(section, count),
            (Encoding::DELTA_BINARY_PACKED, INT32) => delta::check(section, 32, count),
            (Encoding::DELTA_BINARY_PACKED, INT64) => delta::check(section, 64, count),
            // Of fixed length it is a mistake that some releases of the Arrow writer made, and the decoder knows it.
            (Encoding::DELTA_LENGTH_BYTE_ARRAY, BYTE_ARRAY | FIXED_LEN_BYTE_ARRAY) => {
                self.delta_lengths(section, count)
            }
            (Encoding::DELTA_BYTE_ARRAY, BYTE_ARRAY | FIXED_LEN_BYTE_ARRAY) => {
                self.delta_bytes(section, count)
            }
            (Encoding::BYTE_STREAM_SPLIT, physical)
                if !matches!(physical, BOOLEAN | BYTE_ARRAY | INT96) =>
            {
                self.fixed(section, count)
            }
            _ => Err(Error::corrupt(
                "a page has an encoding that its column's type cannot have",
            )),
        }
    }

    fn plain(&self, section: &[u8], count: u64) -> Result<usize> {
        match self.physical {
            PhysicalType::BOOLEAN => {
                let bytes = usize::try_from(count.div_ceil(8)).unwrap_or(usize::MAX);
                if bytes > section.len() {
                    return Err(contradiction());
                }
                Ok(bytes)
            }
            PhysicalType::BYTE_ARRAY => self.byte_arrays(section, count),
            _ => self.fixed(section, count),
        }
    }

    /// Values of one width: exactly as many as declared, since a byte more means that either is wrong.
    fn fixed(&self, section: &[u8], count: u64) -> Result<usize> {
        let width = self.width as u64;
        let length = section.len() as u64;
        let exact = |width: u64| count.checked_mul(width) == Some(length);
        // Some releases of the Arrow writer put a length before each value, which the decoder knows and undoes.
        let prefixed = self.physical == PhysicalType::FIXED_LEN_BYTE_ARRAY && exact(width + 4);
        if width > 0 && (exact(width) || prefixed) {
            return Ok(section.len());
        }
        Err(contradiction())
    }

    /// Before each value its length, in four bytes.
    fn byte_arrays(&self, section: &[u8], count: u64) -> Result<usize> {
        walk(section, count, |value| {
            value.len() as u64 <= self.max_length
        })
    }

    /// A byte with the width of indexes, and runs of them.
    fn indexes(&self, section: &[u8], count: u64, dictionary: Option<u64>) -> Result<usize> {
        let Some((width, runs)) = section.split_first() else {
            return match count {
                0 => Ok(0),
                _ => Err(contradiction()),
            };
        };
        let held = dictionary.unwrap_or(0);
        let mut outside = held == 0 && count > 0;
        // The decoder looks at each index itself, but for values of fixed length and for indexes of 32 bits.
        let look = self.physical == PhysicalType::FIXED_LEN_BYTE_ARRAY || *width > 31;
        let mut walk = Runs::new(runs, *width)?;
        walk.values(count, |run| match run {
            Run::Repeated { value, .. } => outside |= value >= held,
            Run::Packed { .. } if !look || held >> *width != 0 => {}
            Run::Packed { bytes, count } => unpack(bytes, *width, count, |index| {
                outside |= index >= held;
            }),
        })?;
        if outside {
            return Err(Error::corrupt(
                "a page has values that its dictionary lacks",
            ));
        }
        Ok(1 + walk.position())
    }

    /// The lengths as differences, then all values.
    fn delta_lengths(&self, section: &[u8], count: u64) -> Result<usize> {
        let mut cursor = Cursor::new(section);
        let mut sum = 0_u64;
        delta::lengths(&mut cursor, count, |length| {
            sum += u64::from(length);
            self.fits(length.into())
        })?;
        let sum = usize::try_from(sum).map_err(|_| contradiction())?;
        cursor.take(sum)?;
        Ok(cursor.position())
    }

    /// What each value shares with the one before and what it adds, as lengths; then all that is added.
    fn delta_bytes(&self, section: &[u8], count: u64) -> Result<usize> {
        if count.saturating_mul(4) > MAX_EXPANDED {
            return Err(Error::corrupt("the values of a page are too large"));
        }
        let mut cursor = Cursor::new(section);
        let mut shared = Vec::new();
        delta::lengths(&mut cursor, count, |length| {
            shared.push(length);
            Ok(())
        })?;
        let mut shared = shared.into_iter();
        let (mut before, mut added, mut expanded) = (0_u64, 0_u64, 0_u64);
        delta::lengths(&mut cursor, count, |length| {
            let shared = u64::from(shared.next().unwrap_or(0));
            if shared > before {
                return Err(contradiction());
            }
            before = shared + u64::from(length);
            added += u64::from(length);
            expanded += before;
            if expanded > MAX_EXPANDED {
                return Err(Error::corrupt("the values of a page are too large"));
            }
            self.fits(before)
        })?;
        let added = usize::try_from(added).map_err(|_| contradiction())?;
        cursor.take(added)?;
        Ok(cursor.position())
    }

    fn fits(&self, length: u64) -> Result<()> {
        let fits = match self.physical {
            PhysicalType::FIXED_LEN_BYTE_ARRAY => length == self.width as u64 && length > 0,
            _ => length <= self.max_length,
        };
        match fits {
            true => Ok(()),
            false => Err(contradiction()),
        }
    }
}

/// Walks over `count` values with their lengths before them, which have to fill the section.
fn walk(section: &[u8], count: u64, fits: impl Fn(&[u8]) -> bool) -> Result<usize> {
    let mut rest = section;
    for _ in 0..count {
        let value = rest.split_first_chunk().and_then(|(length, after)| {
            let length = usize::try_from(u32::from_le_bytes(*length)).ok()?;
            after.split_at_checked(length)
        });
        match value {
            Some((value, after)) if fits(value) => rest = after,
            _ => return Err(contradiction()),
        }
    }
    match rest.is_empty() {
        true => Ok(section.len()),
        false => Err(contradiction()),
    }
}

/// The length of what follows, in four bytes, and runs of single bits.
fn booleans(section: &[u8], count: u64) -> Result<usize> {
    let mut cursor = Cursor::new(section);
    let length = usize::try_from(cursor.u32_le()?).unwrap_or(usize::MAX);
    let runs = cursor.take(length)?;
    Runs::new(runs, 1)?.values(count, |_| {})?;
    Ok(cursor.position())
}

fn contradiction() -> Error {
    Error::corrupt("a page does not hold the values that it declares")
}
