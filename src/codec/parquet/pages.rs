//! Page headers and checksums, checked before their pages are unpacked.
//!
//! A header of twenty bytes may declare two gibibytes, which on wasm ends the instance. So each declared size is held against
//! the compressed bytes that are really there, the counts against each other, and the bytes against their checksum.

use parquet::basic::{Compression, Encoding};
use parquet::file::metadata::ColumnChunkMetaData;

use super::page_header::{DataPage, Header, Kind};
use super::values::ValueKind;
use crate::error::{Error, Result};

/// A page larger than this is not decoded. Writers end pages at about a megabyte unless one value is larger.
const MAX_PAGE: u64 = 512 << 20;

const RLE: i32 = Encoding::RLE as i32;
const BIT_PACKED: i32 = 4;

/// A column chunk, and what its pages are held against.
#[derive(Debug)]
pub(super) struct Chunk {
    pub(super) facts: ColumnChunkMetaData,
    pub(super) kind: ValueKind,
    /// Whether the writer is one that lists every encoding of a chunk's pages in the footer.
    pub(super) lists_encodings: bool,
}

impl Chunk {
    pub(super) fn new(facts: ColumnChunkMetaData, created_by: Option<&str>) -> Self {
        let writers = ["parquet-mr", "parquet-rs"];
        let lists =
            created_by.is_some_and(|by| writers.iter().any(|writer| by.starts_with(writer)));
        Self {
            kind: ValueKind::of(facts.column_descr()),
            facts,
            lists_encodings: lists,
        }
    }

    /// A failure in the chunk, with the column and where it begins.
    pub(super) fn told(&self, error: Error) -> Error {
        let error = match error.get("offset") {
            Some(_) => error,
            None => error.context("offset", self.facts.byte_range().0),
        };
        error.context("field", self.facts.column_path().string())
    }

    /// All values of the chunk, nulls among them.
    pub(super) fn values(&self) -> u64 {
        u64::try_from(self.facts.num_values()).unwrap_or(0)
    }

    /// Checks the header of a page whose stored bytes are `body`; the size of the page unpacked.
    pub(super) fn check(&self, header: &Header, body: &[u8]) -> Result<usize> {
        let limit = expansion(self.facts.compression(), body.len() as u64).min(MAX_PAGE);
        let size = u64::try_from(header.uncompressed).ok();
        let size = size.filter(|size| *size <= limit);
        let size = size
            .ok_or_else(|| Error::corrupt("a page declares more than its bytes can expand to"))?;
        match &header.kind {
            Kind::Index => {}
            Kind::Dictionary(page) => {
                let encoding = encoding(page.encoding);
                if !matches!(encoding, Some(Encoding::PLAIN | Encoding::PLAIN_DICTIONARY)) {
                    return Err(Error::corrupt("a dictionary has an impossible encoding"));
                }
                if page.values < 0 {
                    return Err(Error::corrupt("a page has a negative number of values"));
                }
            }
            Kind::Data(page) => self.check_data(page, size)?,
        }
        Ok(usize::try_from(size).unwrap_or(usize::MAX))
    }

    fn check_data(&self, page: &DataPage, size: u64) -> Result<()> {
        let encoding = encoding(page.encoding);
        let encoding = encoding.ok_or_else(|| Error::corrupt("a page has no known encoding"))?;
        if self.lists_encodings && !self.facts.encodings_mask().is_set(encoding) {
            return Err(Error::corrupt(
                "a page has an encoding that its column does not list",
            ));
        }
        if page.values < 0 {
            return Err(Error::corrupt("a page has a negative number of values"));
        }
        let column = self.facts.column_descr();
        let maxima = [column.max_def_level(), column.max_rep_level()];
        for (max, encoding) in maxima.into_iter().zip(page.level_encodings) {
            match encoding {
                _ if max == 0 => {}
                RLE => {}
                // Given up in 2013; the decoder would take its bits in the wrong order.
                BIT_PACKED => {
                    return Err(Error::unsupported("Parquet levels encoded as BIT_PACKED"));
                }
                _ => {
                    return Err(Error::corrupt(
                        "the levels of a page have no known encoding",
                    ));
                }
            }
        }
        let Some(version_2) = &page.version_2 else {
            return Ok(());
        };
        let [definition, repetition] = version_2.level_bytes.map(u64::try_from);
        let fits = match (definition, repetition) {
            (Ok(definition), Ok(repetition)) => definition + repetition <= size,
            _ => false,
        };
        let counts = 0 <= version_2.nulls
            && version_2.nulls <= page.values
            && 0 <= version_2.rows
            && version_2.rows <= page.values;
        if !fits || !counts {
            return Err(Error::corrupt("the counts of a page contradict each other"));
        }
        Ok(())
    }
}

/// Holds a page's stored bytes against their checksum; whether the writer left one.
pub(super) fn check_sum(header: &Header, body: &[u8]) -> Result<bool> {
    match header.checksum {
        None => Ok(false),
        Some(declared) if crc32fast::hash(body) == declared.cast_unsigned() => Ok(true),
        Some(_) => Err(Error::corrupt(
            "a page is not as it was written: its checksum differs",
        )),
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

/// The encoding of a number in the file.
pub(super) fn encoding(number: i32) -> Option<Encoding> {
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
