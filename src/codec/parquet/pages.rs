//! Page headers, checked before their pages are decoded.
//!
//! The `parquet` crate reserves what a page header declares. A header of twenty bytes may declare two gibibytes, which
//! on wasm ends the instance, so each declared size is held against the compressed bytes that are really there.

use parquet::basic::{Compression, Type as PhysicalType};
use parquet::file::metadata::ColumnChunkMetaData;

use super::thrift::{Compact, Field};
use crate::error::{Error, Result};

const DATA_PAGE: i32 = 0;
const INDEX_PAGE: i32 = 1;
const DICTIONARY_PAGE: i32 = 2;
const DATA_PAGE_V2: i32 = 3;

/// A page larger than this is not decoded. Writers end pages at about a megabyte unless one value is larger.
const MAX_PAGE: u64 = 512 << 20;

/// What one page header declares.
#[derive(Debug, Default)]
struct Header {
    kind: i32,
    uncompressed: i32,
    compressed: i32,
    data: i32,
    data_v2: i32,
    dictionary: i32,
    levels: [i32; 2],
}

impl Header {
    /// The values of the header that goes with the page's kind: a broken one may carry the others too.
    fn values(&self) -> i32 {
        match self.kind {
            DATA_PAGE => self.data,
            DATA_PAGE_V2 => self.data_v2,
            DICTIONARY_PAGE => self.dictionary,
            _ => 0,
        }
    }
}

/// Checks the pages of `bytes`, which are `chunk` or a run of its pages, and begin at `offset` of the file.
///
/// Errors: `Corrupt` with the page's offset.
pub(super) fn check_pages(bytes: &[u8], offset: u64, chunk: &ColumnChunkMetaData) -> Result<()> {
    let mut at = 0;
    let mut values = 0_i64;
    while at < bytes.len() && values < chunk.num_values() {
        let here = |error: Error| error.context("offset", offset + at as u64);
        let rest = bytes.get(at..).unwrap_or_default();
        let (header, length) = read_header(rest).map_err(|error| {
            Error::corrupt("a page header cannot be read")
                .context("offset", offset + at as u64)
                .with_source(error)
        })?;
        let body = rest.len() - length;
        let data = check_page(&header, body, chunk).map_err(here)?;
        values += i64::from(data);
        if values > chunk.num_values() {
            return Err(here(Error::corrupt(
                "the pages hold more values than their column",
            )));
        }
        at += length + usize::try_from(header.compressed).unwrap_or(body);
    }
    Ok(())
}

/// Checks one page of which `body` bytes follow its header; the number of values it adds to the column.
fn check_page(header: &Header, body: usize, chunk: &ColumnChunkMetaData) -> Result<i32> {
    let compressed = usize::try_from(header.compressed).ok();
    let compressed = compressed.filter(|size| *size <= body);
    let compressed =
        compressed.ok_or_else(|| Error::corrupt("a page runs past its column chunk"))?;
    let uncompressed = u64::try_from(header.uncompressed).ok();
    let limit = expansion(chunk.compression(), compressed as u64).min(MAX_PAGE);
    let uncompressed = uncompressed.filter(|size| *size <= limit);
    let uncompressed = uncompressed
        .ok_or_else(|| Error::corrupt("a page declares more than its bytes can expand to"))?;
    let values = u64::try_from(header.values());
    let values = values.map_err(|_| Error::corrupt("a page has a negative number of values"))?;
    match header.kind {
        DATA_PAGE => Ok(header.values()),
        DATA_PAGE_V2 => {
            let [definition, repetition] = header.levels.map(i64::from);
            let levels = definition + repetition;
            let fits = u64::try_from(levels).is_ok_and(|levels| levels <= uncompressed);
            if definition < 0 || repetition < 0 || !fits {
                return Err(Error::corrupt(
                    "the levels of a page are longer than the page",
                ));
            }
            Ok(header.values())
        }
        DICTIONARY_PAGE => {
            let width = value_width(chunk);
            match values.checked_mul(width) {
                Some(bytes) if bytes <= uncompressed => Ok(0),
                _ => Err(Error::corrupt(
                    "a dictionary declares more values than it holds",
                )),
            }
        }
        INDEX_PAGE => Ok(0),
        _ => Err(Error::corrupt("a page is of no known kind")),
    }
}

/// The most bytes that `compressed` bytes of a codec can stand for, with room for small ones.
fn expansion(codec: Compression, compressed: u64) -> u64 {
    let ratio = match codec {
        Compression::UNCOMPRESSED => 1,
        // A copy of 64 bytes takes three.
        Compression::SNAPPY => 32,
        // Deflate's longest match is 258 bytes and takes two bits.
        Compression::GZIP(_) => 1040,
        // A match grows by 255 a byte.
        Compression::LZ4 | Compression::LZ4_RAW => 256,
        // A block of up to 128 KiB takes four bytes.
        _ => 32 << 10,
    };
    compressed.saturating_mul(ratio).saturating_add(128 << 10)
}

/// The fewest bytes that a value takes in a dictionary page.
fn value_width(chunk: &ColumnChunkMetaData) -> u64 {
    match chunk.column_type() {
        PhysicalType::BOOLEAN => 1,
        PhysicalType::INT32 | PhysicalType::FLOAT | PhysicalType::BYTE_ARRAY => 4,
        PhysicalType::INT64 | PhysicalType::DOUBLE => 8,
        PhysicalType::INT96 => 12,
        PhysicalType::FIXED_LEN_BYTE_ARRAY => {
            u64::try_from(chunk.column_descr().type_length()).map_or(1, |length| length.max(1))
        }
    }
}

/// A header and its length in bytes.
fn read_header(bytes: &[u8]) -> Result<(Header, usize)> {
    let mut compact = Compact::new(bytes);
    let mut header = Header::default();
    let mut seen = 0_u8;
    let mut last = 0;
    while let Some(field) = compact.field(&mut last)? {
        match field.id {
            1 => header.kind = compact.i32(field)?,
            2 => header.uncompressed = compact.i32(field)?,
            3 => header.compressed = compact.i32(field)?,
            5 => header.data = read_counts(&mut compact, field)?.0,
            7 => header.dictionary = read_counts(&mut compact, field)?.0,
            8 => (header.data_v2, header.levels) = read_counts(&mut compact, field)?,
            _ => compact.skip(field)?,
        }
        seen |= u8::try_from(field.id).map_or(0, |id| 1_u8.checked_shl(u32::from(id)).unwrap_or(0));
    }
    match seen & 0b1110 {
        0b1110 => Ok((header, compact.position())),
        _ => Err(compact.broken("a page header lacks its kind or its sizes")),
    }
}

/// The number of values of a data page (5), a dictionary page (7) or a data page of version 2 (8), and the bytes of
/// the latter's levels.
fn read_counts(compact: &mut Compact<'_>, outer: Field) -> Result<(i32, [i32; 2])> {
    compact.expect_struct(outer)?;
    let (mut values, mut definition, mut repetition) = (0, 0, 0);
    let mut last = 0;
    while let Some(field) = compact.field(&mut last)? {
        match field.id {
            1 => values = compact.i32(field)?,
            5 if outer.id == 8 => definition = compact.i32(field)?,
            6 if outer.id == 8 => repetition = compact.i32(field)?,
            _ => compact.skip(field)?,
        }
    }
    Ok((values, [definition, repetition]))
}
