//! Page headers and checksums, checked before their pages are decoded.
//!
//! The `parquet` crate reserves what a page header declares, and takes for granted that a page's bytes are those that were
//! written. A header of twenty bytes may declare two gibibytes, which on wasm ends the instance. So each declared size is held
//! against the compressed bytes that are really there, the pages of a chunk against the chunk, and the bytes against their
//! checksum.

use parquet::basic::{Compression, Encoding, Type as PhysicalType};
use parquet::file::metadata::ColumnChunkMetaData;

use super::page_header::{DataPage, Header, Kind};
use crate::error::{Error, Result};

/// A page larger than this is not decoded. Writers end pages at about a megabyte unless one value is larger.
const MAX_PAGE: u64 = 512 << 20;

/// RLE, and BIT_PACKED of old writers.
const LEVEL_ENCODINGS: [i32; 2] = [3, 4];

/// The check of one column chunk, whose pages may come in several pieces.
#[derive(Debug)]
pub(super) struct ChunkCheck {
    chunk: ColumnChunkMetaData,
    /// Whether the writer is one that lists every encoding of a chunk's pages in the footer.
    lists_encodings: bool,
    dictionary_seen: bool,
}

impl ChunkCheck {
    pub(super) fn new(chunk: ColumnChunkMetaData, created_by: Option<&str>) -> Self {
        let writers = ["parquet-mr", "parquet-rs"];
        let lists =
            created_by.is_some_and(|by| writers.iter().any(|writer| by.starts_with(writer)));
        Self {
            chunk,
            lists_encodings: lists,
            dictionary_seen: false,
        }
    }

    /// The chunk that is checked.
    pub(super) fn chunk(&self) -> &ColumnChunkMetaData {
        &self.chunk
    }

    /// Checks the pages of `bytes`, which are the chunk or a run of its pages and begin at `offset` of the file.
    ///
    /// Errors: `Corrupt` with the page's offset.
    pub(super) fn check(&mut self, bytes: &[u8], offset: u64, whole: bool) -> Result<()> {
        let all = self.chunk.num_values();
        let mut at = 0;
        let mut values = 0_i64;
        while at < bytes.len() && values < all {
            let rest = bytes.get(at..).unwrap_or_default();
            let place = offset + at as u64;
            let header = Header::read(rest).map_err(|error| {
                Error::corrupt("a page header cannot be read")
                    .context("offset", place)
                    .with_source(error)
            })?;
            let page = rest.get(header.length..).unwrap_or_default();
            let size = usize::try_from(header.compressed).ok();
            let body = size.and_then(|size| page.get(..size));
            let body = body.ok_or_else(|| Error::corrupt("a page runs past its column chunk"));
            let checked =
                body.and_then(|body| self.check_page(&header, body).map(|v| (v, body.len())));
            let (count, length) = checked.map_err(|error| error.context("offset", place))?;
            values += i64::from(count);
            at += header.length + length;
        }
        if values > all || (whole && values < all) {
            let message = "the pages of a column chunk do not hold as many values as it declares";
            return Err(Error::corrupt(message).context("offset", offset));
        }
        Ok(())
    }

    /// Checks one page; the number of values it adds to the column.
    fn check_page(&mut self, header: &Header, body: &[u8]) -> Result<i32> {
        let codec = self.chunk.compression();
        let limit = expansion(codec, body.len() as u64).min(MAX_PAGE);
        let size = u64::try_from(header.uncompressed).ok();
        let size = size.filter(|size| *size <= limit);
        let size = size
            .ok_or_else(|| Error::corrupt("a page declares more than its bytes can expand to"))?;
        check_sum(codec, header, body)?;
        match &header.kind {
            Kind::Index => Ok(0),
            Kind::Dictionary(values) => {
                self.dictionary_seen = true;
                let values = u64::try_from(*values).ok();
                let fits = values.is_some_and(|values| dictionary_fits(&self.chunk, values, size));
                if !fits {
                    return Err(Error::corrupt(
                        "a dictionary declares other values than it holds",
                    ));
                }
                Ok(0)
            }
            Kind::Data(page) => self.check_data(page, size),
        }
    }

    fn check_data(&self, page: &DataPage, size: u64) -> Result<i32> {
        let encoding = encoding(page.encoding);
        let encoding = encoding.ok_or_else(|| Error::corrupt("a page has no known encoding"))?;
        let by_dictionary = matches!(
            encoding,
            Encoding::PLAIN_DICTIONARY | Encoding::RLE_DICTIONARY
        );
        if by_dictionary && !self.dictionary_seen {
            return Err(Error::corrupt(
                "a page needs a dictionary, and its column has none before it",
            ));
        }
        if self.lists_encodings && !self.chunk.encodings_mask().is_set(encoding) {
            return Err(Error::corrupt(
                "a page has an encoding that its column does not list",
            ));
        }
        if page.values < 0 {
            return Err(Error::corrupt("a page has a negative number of values"));
        }
        let column = self.chunk.column_descr();
        let levels = [
            (column.max_def_level(), page.level_encodings[0]),
            (column.max_rep_level(), page.level_encodings[1]),
        ];
        if levels
            .iter()
            .any(|(max, encoding)| *max > 0 && !LEVEL_ENCODINGS.contains(encoding))
        {
            return Err(Error::corrupt(
                "the levels of a page have no known encoding",
            ));
        }
        if let Some(version_2) = &page.version_2 {
            let [definition, repetition] = version_2.level_bytes.map(u64::try_from);
            let fits = match (definition, repetition) {
                (Ok(definition), Ok(repetition)) => definition + repetition <= size,
                _ => false,
            };
            let flat = column.max_rep_level() == 0;
            let counts = 0 <= version_2.nulls
                && version_2.nulls <= page.values
                && 0 <= version_2.rows
                && version_2.rows <= page.values
                && (!flat || version_2.rows == page.values);
            if !fits || !counts {
                return Err(Error::corrupt("the counts of a page contradict each other"));
            }
        }
        Ok(page.values)
    }
}

/// Holds the page's bytes against their checksum, if the writer left one. Gzip has its own, which is checked as it unpacks.
fn check_sum(codec: Compression, header: &Header, body: &[u8]) -> Result<()> {
    let declared = header
        .checksum
        .filter(|_| !matches!(codec, Compression::GZIP(_)));
    match declared {
        Some(declared) if crc32fast::hash(body) != declared.cast_unsigned() => Err(Error::corrupt(
            "a page is not as it was written: its checksum differs",
        )),
        _ => Ok(()),
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

/// Whether a dictionary of `values` values takes `size` bytes.
fn dictionary_fits(chunk: &ColumnChunkMetaData, values: u64, size: u64) -> bool {
    let width = match chunk.column_type() {
        // Four bytes of length before each value, and at least one value in what is not empty.
        PhysicalType::BYTE_ARRAY => {
            let least = values.checked_mul(4);
            return least.is_some_and(|least| least <= size) && (values > 0) == (size > 0);
        }
        PhysicalType::BOOLEAN => return values <= size,
        PhysicalType::INT32 | PhysicalType::FLOAT => 4,
        PhysicalType::INT64 | PhysicalType::DOUBLE => 8,
        PhysicalType::INT96 => 12,
        PhysicalType::FIXED_LEN_BYTE_ARRAY => {
            u64::try_from(chunk.column_descr().type_length()).unwrap_or(0)
        }
    };
    values.checked_mul(width) == Some(size)
}

/// The encoding of a number in the file.
fn encoding(number: i32) -> Option<Encoding> {
    let known = [
        Encoding::PLAIN,
        Encoding::PLAIN_DICTIONARY,
        Encoding::RLE,
        Encoding::DELTA_BINARY_PACKED,
        Encoding::DELTA_LENGTH_BYTE_ARRAY,
        Encoding::DELTA_BYTE_ARRAY,
        Encoding::RLE_DICTIONARY,
        Encoding::BYTE_STREAM_SPLIT,
    ];
    known
        .into_iter()
        .find(|encoding| *encoding as i32 == number)
}
