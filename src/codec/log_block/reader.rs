use std::collections::VecDeque;
use std::mem;
use std::sync::Arc;

use arrow::array::{AsArray, RecordBatch, StringArray};
use arrow::datatypes::{DataType, SchemaRef};
use bytes::Bytes;

use super::avro_rows::AvroRows;
use crate::codec::avro::RowDecoder;
use crate::codec::hfile::{KeyValue, scan_all};
use crate::codec::parquet::{Columns, Footer, GroupReader, GroupRequest, Step, metadata_range};
use crate::error::{Error, Result, ResultExt};
use crate::schema::{AvroSchema, Conformer, FileNames};

/// The rows of one data block in a reader's schema, a batch at a time.
///
/// Shapes: batches have at least one row; all of them together are the block's rows in its order.
pub struct BlockReader(Source);

enum Source {
    Avro {
        content: Bytes,
        rows: AvroRows,
        decoder: Box<RowDecoder>,
    },
    HFile {
        entries: std::vec::IntoIter<KeyValue>,
        count: usize,
        decoder: Box<RowDecoder>,
        /// The place of the column that the keys stand for, and the keys of the rows in `decoder`.
        keys: Option<(usize, Vec<Bytes>)>,
    },
    Parquet(Box<ParquetRows>),
}

/// What rows are read as.
#[derive(Debug, Clone, Copy)]
pub struct Reader<'a> {
    /// The columns wanted, in the table's types.
    pub schema: &'a SchemaRef,
    /// What they are called in the block.
    pub names: &'a FileNames,
}

impl<'a> From<&'a SchemaRef> for Reader<'a> {
    /// Columns that have their own names in the block.
    fn from(schema: &'a SchemaRef) -> Self {
        Self {
            schema,
            names: &FileNames::SAME,
        }
    }
}

/// The column whose values are left empty in HFiles, since they are the keys.
const HFILE_KEY_FIELD: &str = "key";

impl BlockReader {
    /// Rows of an Avro data block (CDC blocks are of this form too), written by the schema of its header.
    ///
    /// Errors: as [`AvroRows::new`] and [`RowDecoder::new`].
    pub fn avro<'a>(
        content: Bytes,
        writer: &AvroSchema,
        reader: impl Into<Reader<'a>>,
    ) -> Result<Self> {
        let Reader { schema, names } = reader.into();
        Ok(Self(Source::Avro {
            rows: AvroRows::new(&content)?,
            decoder: Box::new(RowDecoder::with_names(writer, schema, names)?),
            content,
        }))
    }

    /// Rows of a Parquet data block.
    ///
    /// Errors: `Corrupt`, `Unsupported` and `Schema` as for a base file.
    pub fn parquet<'a>(content: Bytes, reader: impl Into<Reader<'a>>) -> Result<Self> {
        let rows = ParquetRows::new(content, reader.into())?;
        Ok(Self(Source::Parquet(Box::new(rows))))
    }

    /// Rows of an HFile data block, in the order of their keys, written by the schema of the block's header. As in Java an empty
    /// text in a column called `key` is the entry's key.
    ///
    /// Errors: as [`scan_all`] and [`RowDecoder::new`].
    pub fn hfile<'a>(
        content: &Bytes,
        writer: &AvroSchema,
        reader: impl Into<Reader<'a>>,
    ) -> Result<Self> {
        let Reader { schema, names } = reader.into();
        let entries = scan_all(content)?;
        let key_column = schema.fields().iter().position(|field| {
            field.name() == HFILE_KEY_FIELD && *field.data_type() == DataType::Utf8
        });
        Ok(Self(Source::HFile {
            count: entries.len(),
            entries: entries.into_iter(),
            decoder: Box::new(RowDecoder::with_names(writer, schema, names)?),
            keys: key_column.map(|at| (at, Vec::new())),
        }))
    }

    /// The rows that the block says it holds.
    pub fn count(&self) -> usize {
        match &self.0 {
            Source::Avro { rows, .. } => rows.count(),
            Source::HFile { count, .. } => *count,
            Source::Parquet(rows) => rows.count,
        }
    }

    /// The next rows; none behind the last. Parquet content makes batches of its own size, the others of `most` rows.
    ///
    /// Errors: `Corrupt` with `offset` in the content and `field`, `Schema` for a value that does not fit the reader's type.
    pub fn next_batch(&mut self, most: usize) -> Result<Option<RecordBatch>> {
        match &mut self.0 {
            Source::Avro {
                content,
                rows,
                decoder,
            } => {
                while decoder.rows() < most.max(1) {
                    let Some(row) = rows.next_row(content)? else {
                        break;
                    };
                    let start = row.start;
                    let row = content.get(row).unwrap_or_default();
                    decoder.push(row).map_err(|error| moved(error, start))?;
                }
                match decoder.rows() {
                    0 => Ok(None),
                    _ => decoder.finish().map(Some),
                }
            }
            Source::HFile {
                entries,
                decoder,
                keys,
                ..
            } => {
                for entry in entries.take(most.max(1)) {
                    let pushed = decoder.push(&entry.value);
                    pushed.map_err(|error| {
                        error.context("key", String::from_utf8_lossy(&entry.key))
                    })?;
                    if let Some((_, keys)) = keys {
                        keys.push(entry.key);
                    }
                }
                if decoder.rows() == 0 {
                    return Ok(None);
                }
                let batch = decoder.finish()?;
                match keys {
                    Some((at, keys)) => with_keys(&batch, *at, &mem::take(keys)).map(Some),
                    None => Ok(Some(batch)),
                }
            }
            Source::Parquet(rows) => rows.next(),
        }
    }

    /// All rows that are left, in one batch each of `most` rows.
    pub fn all(mut self, most: usize) -> Result<Vec<RecordBatch>> {
        let mut all = Vec::new();
        while let Some(batch) = self.next_batch(most)? {
            all.push(batch);
        }
        Ok(all)
    }
}

/// An error of a row, its offset counted from the start of the content.
fn moved(error: Error, start: usize) -> Error {
    let Some(offset) = error
        .get("offset")
        .and_then(|text| text.parse::<usize>().ok())
    else {
        return error;
    };
    let mut again =
        Error::new(error.kind(), error.message()).context("offset", start.saturating_add(offset));
    for (key, value) in error.contexts() {
        again = again.context(key, value);
    }
    again.with_source(error)
}

/// A batch with the keys in place of the empty texts of the column `at`.
fn with_keys(batch: &RecordBatch, at: usize, keys: &[Bytes]) -> Result<RecordBatch> {
    let Some(texts) = batch
        .columns()
        .get(at)
        .and_then(|c| c.as_string_opt::<i32>())
    else {
        return Err(Error::internal("a key column is not text"));
    };
    let texts = texts.iter().zip(keys).map(|(text, key)| match text {
        Some("") => {
            let key = std::str::from_utf8(key);
            key.map(Some)
                .map_err(|e| Error::corrupt("a key of an HFile is not UTF-8").with_source(e))
        }
        text => Ok(text),
    });
    let texts = texts.collect::<Result<StringArray>>()?;
    let mut columns = batch.columns().to_vec();
    if let Some(column) = columns.get_mut(at) {
        *column = Arc::new(texts);
    }
    RecordBatch::try_new(batch.schema(), columns)
        .map_err(|error| Error::internal("keys are no column").with_source(error))
}

/// A Parquet file in memory.
struct ParquetRows {
    content: Bytes,
    footer: Footer,
    columns: Columns,
    conformer: Conformer,
    groups: std::ops::Range<usize>,
    open: Option<GroupReader>,
    count: usize,
    /// Rows of files without a wanted column.
    bare: VecDeque<usize>,
}

impl ParquetRows {
    fn new(content: Bytes, reader: Reader<'_>) -> Result<Self> {
        let Reader { schema, names } = reader;
        let size = content.len() as u64;
        let metadata = metadata_range(size, &content)?;
        let footer = Footer::parse(size, metadata.start, slice(&content, &metadata)?)?;
        let wanted = schema.fields().iter();
        let wanted = wanted.filter_map(|field| names.of(field.name()));
        let columns = Columns::by_name(&footer, wanted);
        let conformer = Conformer::with_names(&columns.schema(&footer)?, schema, names)?;
        let groups = footer.metadata().num_row_groups();
        let rows = (0..groups).map(|group| usize::try_from(footer.group_rows(group)).unwrap_or(0));
        let rows: Vec<usize> = rows.collect();
        let bare = match columns.is_empty() {
            true => rows.iter().copied().filter(|rows| *rows > 0).collect(),
            false => VecDeque::new(),
        };
        Ok(Self {
            content,
            groups: if columns.is_empty() { 0..0 } else { 0..groups },
            footer,
            columns,
            conformer,
            open: None,
            count: rows.iter().sum(),
            bare,
        })
    }

    fn next(&mut self) -> Result<Option<RecordBatch>> {
        if let Some(rows) = self.bare.pop_front() {
            let options = arrow::array::RecordBatchOptions::new().with_row_count(Some(rows));
            let schema = Arc::new(arrow::datatypes::Schema::empty());
            let bare = RecordBatch::try_new_with_options(schema, vec![], &options);
            let bare = bare.map_err(|error| Error::internal("no batch").with_source(error))?;
            return self.conformer.apply(&bare).map(Some);
        }
        loop {
            let group = match &mut self.open {
                Some(group) => group,
                None => match self.groups.next() {
                    None => return Ok(None),
                    Some(group) => self.open.insert(GroupReader::new(
                        &self.footer,
                        GroupRequest {
                            group,
                            columns: self.columns.clone(),
                            filter: None,
                            selection: None,
                            limit: None,
                        },
                    )?),
                },
            };
            match group.step()? {
                Step::Need(ranges) => {
                    let bytes = ranges.iter().map(|range| slice(&self.content, range));
                    let bytes = bytes.collect::<Result<Vec<_>>>()?;
                    group.push(ranges, bytes)?;
                }
                Step::Batch(batch) if batch.num_rows() == 0 => {}
                Step::Batch(batch) => return self.conformer.apply(&batch).map(Some),
                Step::Done => self.open = None,
            }
        }
    }
}

fn slice(content: &Bytes, range: &std::ops::Range<u64>) -> Result<Bytes> {
    let bounds = usize::try_from(range.start)
        .ok()
        .zip(usize::try_from(range.end).ok());
    match bounds {
        Some((start, end)) if start <= end && end <= content.len() => Ok(content.slice(start..end)),
        _ => Err(Error::corrupt("a Parquet log block is cut short")).context("offset", range.start),
    }
}
