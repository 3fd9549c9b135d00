use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use parquet::DecodeResult;
use parquet::arrow::arrow_reader::ArrowReaderMetadata;
use parquet::file::metadata::{
    ColumnChunkMetaData, FileMetaData, KeyValue, PageIndexPolicy, ParquetMetaData,
    ParquetMetaDataPushDecoder, RowGroupMetaData,
};

use super::bloom_text::{text_range, without_bloom_text};
use super::error::from_parquet;
use super::int96;
use super::schema_check::check_schema;
use super::statistics::Leaf;
use crate::error::{Error, Result, ResultExt};

/// The last bytes of a file: `length of the metadata (u32 LE) | "PAR1"`.
const TRAILER: u64 = 8;
const MAGIC: &[u8; 4] = b"PAR1";
const MAGIC_ENCRYPTED: &[u8; 4] = b"PARE";

/// A file this small is fetched whole: a second request costs more than its bytes.
const WHOLE: u64 = 512 << 10;

/// Files from this size on can hold more than 60,000 records, where Hudi's bloom filter doubles to 863 KB of footer.
const MEDIUM: u64 = 4 << 20;

/// And from this size on most do.
const LARGE: u64 = 8 << 20;

/// The text of Hudi's bloom filter of more than 60,000 records, with default settings: base64 of two rows of bits.
const BLOOM_TEXT: u64 = 862_724;

/// In front of that text and a little of what stands behind it so much is fetched: the footer's own facts, and the page index.
const FRONT: u64 = 56 << 10;

/// What stands behind it, and all of most footers without a bloom filter.
const BEHIND: u64 = 16 << 10;

/// A footer is kept in memory while its file is read. Real ones of a thousand columns are some megabytes long.
const MAX_METADATA: u64 = 128 << 20;

/// Keys whose values are large and never read from here: the bloom filter, as base64, is 431 KB by default.
pub(super) const BLOOM_KEYS: [&str; 2] =
    ["org.apache.hudi.bloomfilter", "com.uber.hoodie.bloomfilter"];

/// The key that tells the type of the bloom filter.
const BLOOM_TYPE: &str = "hoodie_bloom_filter_type_code";

/// Where the first request for a file of `size` bytes goes that Hudi's bloom filter is not in: its end.
pub fn first_range(size: u64) -> Range<u64> {
    size - WHOLE.min(size)..size
}

/// Where the first requests for a base file of `size` bytes go, the last of them to its end, so that the footer comes in one
/// step.
///
/// A footer holds Hudi's bloom filter, 431,380 characters with default settings and twice that above 60,000 records,
/// and Parquet's page indexes stand right before it. The longer text is not fetched but guessed: its front comes with the end.
pub fn first_ranges(size: u64) -> Vec<Range<u64>> {
    let end = match size {
        ..LARGE => first_range(size),
        _ => size - BEHIND..size,
    };
    let front = size.checked_sub(BLOOM_TEXT).filter(|_| size >= MEDIUM);
    let front = front.map(|text| text.saturating_sub(FRONT)..text);
    front.into_iter().chain([end]).collect()
}

/// Where the footer's metadata stands, from the last eight bytes of a file of `size` bytes.
///
/// Errors: `Corrupt` when they are no trailer, or declare more than the file holds; `Unsupported` for encryption.
pub fn metadata_range(size: u64, trailer: &[u8]) -> Result<Range<u64>> {
    let end = size.checked_sub(TRAILER);
    let end = end.ok_or_else(|| Error::corrupt("too short for a Parquet file"))?;
    let (length, magic) = match *trailer {
        [.., a, b, c, d, m0, m1, m2, m3] => (u32::from_le_bytes([a, b, c, d]), [m0, m1, m2, m3]),
        _ => return Err(Error::corrupt("too short for a Parquet file")),
    };
    if &magic == MAGIC_ENCRYPTED {
        return Err(Error::unsupported("an encrypted Parquet file"));
    }
    let start = end.checked_sub(u64::from(length));
    match start {
        Some(start) if &magic == MAGIC && end - start <= MAX_METADATA => Ok(start..end),
        _ if &magic == MAGIC => Err(Error::corrupt("the footer is longer than the file")),
        _ => Err(Error::corrupt(
            "no Parquet file: its last bytes are not PAR1",
        )),
    }
    .context("offset", end)
}

/// What Hudi and Parquet writers leave in the footer for readers; the bloom filter's text is not kept.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FooterKeys {
    /// `parquet.avro.schema`: Avro JSON with the meta fields.
    pub avro_schema: Option<String>,
    /// `hoodie_min_record_key`, in Java's order of strings (UTF-16 code units).
    pub min_record_key: Option<String>,
    /// `hoodie_max_record_key`, in the same order.
    pub max_record_key: Option<String>,
}

/// The checked footer of one file.
///
/// 1. Every column chunk and page index lies within the file, and no count is negative.
/// 2. Every flat column has as many values as its row group has rows.
/// 3. The codec of every chunk is one that can be read.
#[derive(Debug, Clone)]
pub struct Footer {
    size: u64,
    keys: FooterKeys,
    arrow: ArrowReaderMetadata,
    /// Where the text of Hudi's bloom filter stands in the file.
    bloom_text: Option<Range<u64>>,
}

impl Footer {
    /// Parses the metadata found at `start` of a file of `size` bytes.
    ///
    /// Errors: `Corrupt` with the offset, `Unsupported` for a codec or type that is not handled.
    pub fn parse(size: u64, start: u64, metadata: Bytes) -> Result<Self> {
        let text = text_range(&metadata);
        let metadata = match without_bloom_text(&metadata, &(0..0)) {
            Some(without) => without.into(),
            None => metadata,
        };
        Self::parse_checked(size, metadata, text_at(start, text)).context("offset", start)
    }

    /// As [`Footer::parse`] with the bytes of `hole` not fetched, and others in their place; `None` when they are needed: when
    /// one of them is of anything but the bloom filter.
    pub fn parse_holed(
        size: u64,
        start: u64,
        metadata: &[u8],
        hole: &Range<usize>,
    ) -> Result<Option<Self>> {
        let text = text_range(metadata);
        let Some(metadata) = without_bloom_text(metadata, hole) else {
            return Ok(None);
        };
        let footer = Self::parse_checked(size, metadata.into(), text_at(start, text));
        footer.map(Some).context("offset", start)
    }

    fn parse_checked(size: u64, metadata: Bytes, bloom_text: Option<Range<u64>>) -> Result<Self> {
        check_schema(&metadata)?;
        let (metadata, keys) = without_bloom(decode(metadata)?);
        check_rows(&metadata)?;
        for group in metadata.row_groups() {
            check_group(group, size)?;
        }
        let arrow = int96::arrow_metadata(Arc::new(metadata))?;
        Ok(Self {
            size,
            keys,
            arrow,
            bloom_text,
        })
    }

    /// This footer with other metadata of the same file: that with a page index.
    pub(super) fn with_metadata(&self, metadata: ParquetMetaData) -> Result<Self> {
        Ok(Self {
            size: self.size,
            keys: self.keys.clone(),
            arrow: int96::arrow_metadata(Arc::new(metadata))?,
            bloom_text: self.bloom_text.clone(),
        })
    }

    /// The file's size in bytes.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// The keys kept of the footer's key-value pairs.
    pub fn keys(&self) -> &FooterKeys {
        &self.keys
    }

    /// Hudi's bloom filter of record keys: its type, and where its text stands in the file.
    pub fn bloom_filter(&self) -> Option<(&str, Range<u64>)> {
        let pairs = self.metadata().file_metadata().key_value_metadata()?;
        let kind = pairs.iter().find(|pair| pair.key == BLOOM_TYPE)?;
        Some((kind.value.as_deref()?, self.bloom_text.clone()?))
    }

    /// Where Parquet's own bloom filter of a leaf in a row group stands, header and all, when the file tells.
    pub fn block_filter(&self, group: usize, leaf: &Leaf) -> Option<Range<u64>> {
        let chunk = self.metadata().row_groups().get(group)?.columns();
        let chunk = chunk.get(leaf.index)?;
        let start = u64::try_from(chunk.bloom_filter_offset()?).ok()?;
        let length = u64::try_from(chunk.bloom_filter_length()?).ok()?;
        let end = start.checked_add(length)?;
        (length > 0 && length <= MAX_METADATA && end <= self.size).then_some(start..end)
    }

    /// The file's columns in Arrow's types, and Parquet's metadata.
    pub fn arrow(&self) -> &ArrowReaderMetadata {
        &self.arrow
    }

    /// Row groups and schema, as Parquet has them.
    pub fn metadata(&self) -> &ParquetMetaData {
        self.arrow.metadata()
    }

    /// The rows of a row group.
    pub fn group_rows(&self, group: usize) -> u64 {
        let group = self.metadata().row_groups().get(group);
        group.map_or(0, group_rows)
    }

    /// Whether the page index that is there says where pages of a row group lie.
    pub fn has_places(&self, group: usize) -> bool {
        let Some(index) = self.metadata().page_index() else {
            return false;
        };
        let leaves = 0..self.arrow().parquet_schema().num_columns();
        leaves
            .into_iter()
            .any(|leaf| index.page_locations(group, leaf).is_some())
    }

    /// All rows of the file.
    pub fn rows(&self) -> u64 {
        let rows = self.metadata().row_groups().iter().map(group_rows);
        rows.fold(0, u64::saturating_add)
    }
}

fn text_at(start: u64, text: Option<Range<usize>>) -> Option<Range<u64>> {
    text.map(|text| start + text.start as u64..start + text.end as u64)
}

/// The rows of a row group; the count is checked when the footer is parsed.
pub(super) fn group_rows(group: &RowGroupMetaData) -> u64 {
    u64::try_from(group.num_rows()).unwrap_or(0)
}

fn decode(metadata: Bytes) -> Result<ParquetMetaData> {
    // The decoder works on files. Metadata alone, between two magics, is one without row groups' bytes.
    let length = metadata.len() as u64;
    let declared = u32::try_from(length).map_err(|_| Error::corrupt("the footer is too long"))?;
    let mut trailer = declared.to_le_bytes().to_vec();
    trailer.extend_from_slice(MAGIC);
    let end = length + TRAILER;
    let mut decoder = ParquetMetaDataPushDecoder::try_new(end)
        .map_err(from_parquet)?
        .with_page_index_policy(PageIndexPolicy::Skip);
    decoder
        .push_ranges(vec![0..length, length..end], vec![metadata, trailer.into()])
        .map_err(from_parquet)?;
    match decoder.try_decode().map_err(from_parquet)? {
        DecodeResult::Data(metadata) => Ok(metadata),
        _ => Err(Error::internal("the Parquet footer wants more than itself")),
    }
}

/// Takes the keys out of the metadata and drops the bloom filter, which would stay in memory as text.
fn without_bloom(metadata: ParquetMetaData) -> (ParquetMetaData, FooterKeys) {
    let file = metadata.file_metadata();
    let mut keys = FooterKeys::default();
    let mut kept = Vec::new();
    for KeyValue { key, value } in file.key_value_metadata().into_iter().flatten() {
        match key.as_str() {
            "parquet.avro.schema" => keys.avro_schema.clone_from(value),
            "hoodie_min_record_key" => keys.min_record_key.clone_from(value),
            "hoodie_max_record_key" => keys.max_record_key.clone_from(value),
            key if BLOOM_KEYS.contains(&key) => {}
            _ => kept.push(KeyValue::new(key.clone(), value.clone())),
        }
    }
    let file = FileMetaData::new(
        file.version(),
        file.num_rows(),
        file.created_by().map(str::to_owned),
        Some(kept),
        file.schema_descr_ptr(),
        file.column_orders().cloned(),
    );
    let groups = metadata.row_groups().to_vec();
    (ParquetMetaData::new(file, groups), keys)
}

fn check_rows(metadata: &ParquetMetaData) -> Result<()> {
    let mut total = 0_i64;
    for group in metadata.row_groups() {
        // Row counts are `i64` on paper and `int` in writers; more would only cost time for a broken file.
        if i32::try_from(group.num_rows()).map_or(true, i32::is_negative) {
            return Err(Error::corrupt(
                "a row group declares an impossible number of rows",
            ));
        }
        total = total.saturating_add(group.num_rows());
    }
    if total != metadata.file_metadata().num_rows() {
        return Err(Error::corrupt(
            "the row groups do not add up to the rows of the file",
        ));
    }
    Ok(())
}

fn check_group(group: &RowGroupMetaData, size: u64) -> Result<()> {
    let leaves = group.schema_descr().num_columns();
    if group.columns().len() != leaves {
        return Err(Error::corrupt("a row group lacks columns of the schema"));
    }
    group.columns().iter().try_for_each(|chunk| {
        check_chunk(group, chunk, size).context("field", chunk.column_path().string())
    })
}

fn check_chunk(group: &RowGroupMetaData, chunk: &ColumnChunkMetaData, size: u64) -> Result<()> {
    if chunk.file_path().is_some() {
        return Err(Error::unsupported("a column chunk in another file"));
    }
    let start = chunk
        .dictionary_page_offset()
        .unwrap_or(chunk.data_page_offset());
    let positions = [start, chunk.data_page_offset(), chunk.compressed_size()];
    if positions.iter().any(|p| p.is_negative()) || chunk.uncompressed_size().is_negative() {
        return Err(Error::corrupt(
            "a column chunk has a negative offset or size",
        ));
    }
    check_within(Some(start), Some(chunk.compressed_size()), size)?;
    let (offset, length) = (chunk.column_index_offset(), chunk.column_index_length());
    check_within(offset, length.map(i64::from), size)?;
    let (offset, length) = (chunk.offset_index_offset(), chunk.offset_index_length());
    check_within(offset, length.map(i64::from), size)?;
    let flat = chunk.column_descr().max_rep_level() == 0;
    if chunk.num_values() < group.num_rows() || (flat && chunk.num_values() != group.num_rows()) {
        return Err(Error::corrupt(
            "a column chunk has not the values that its rows need",
        ));
    }
    check_codec(chunk)
}

/// A missing offset or length is no fault: page indexes are optional.
fn check_within(offset: Option<i64>, length: Option<i64>, size: u64) -> Result<()> {
    let (Some(offset), Some(length)) = (offset, length) else {
        return Ok(());
    };
    let end = offset
        .checked_add(length)
        .and_then(|end| u64::try_from(end).ok());
    if offset.is_negative() || length.is_negative() || end.is_none_or(|end| end > size) {
        return Err(
            Error::corrupt("a column chunk or page index lies outside of the file")
                .context("offset", offset),
        );
    }
    Ok(())
}

fn check_codec(chunk: &ColumnChunkMetaData) -> Result<()> {
    use parquet::basic::Compression;
    let name = match chunk.compression() {
        Compression::BROTLI(_) => "BROTLI",
        Compression::LZO => "LZO",
        _ => return Ok(()),
    };
    Err(Error::unsupported(format!(
        "Parquet pages compressed with {name}"
    )))
}
