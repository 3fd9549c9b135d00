use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use arrow::array::{BooleanArray, RecordBatch};
use arrow::datatypes::Schema;
use arrow::error::ArrowError;
use bytes::Bytes;
use parquet::DecodeResult;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowPredicateFn, ParquetRecordBatchReader, RowFilter, RowSelection,
};
use parquet::arrow::push_decoder::{ParquetPushDecoder, ParquetPushDecoderBuilder};
use parquet::file::metadata::ColumnChunkMetaData;

use super::error::from_parquet;
use super::footer::Footer;
use super::pages::ChunkCheck;
use crate::error::{Error, Result};

/// Batches are made about this large, in decoded bytes, unless that is more than [`MAX_BATCH_ROWS`].
const BATCH_BYTES: u64 = 12 << 20;
const MAX_BATCH_ROWS: u64 = 64 << 10;
const MIN_BATCH_ROWS: u64 = 256;

/// Arrow keeps what filters decode for the output, up to this many bytes.
const FILTER_CACHE: usize = 16 << 20;

/// Some of a file's root columns, nested ones with all that is in them.
#[derive(Debug, Clone)]
pub struct Columns {
    mask: ProjectionMask,
    roots: Vec<usize>,
}

impl Columns {
    /// The columns of these names that the file has.
    pub fn by_name<'a>(footer: &Footer, names: impl IntoIterator<Item = &'a str>) -> Self {
        let schema = footer.arrow().schema();
        let roots = names
            .into_iter()
            .filter_map(|name| schema.index_of(name).ok());
        let mut roots: Vec<usize> = roots.collect();
        roots.sort_unstable();
        roots.dedup();
        let mask = ProjectionMask::roots(footer.arrow().parquet_schema(), roots.iter().copied());
        Self { mask, roots }
    }

    /// Whether a leaf of the file's schema is of these columns.
    pub(super) fn has_leaf(&self, leaf: usize) -> bool {
        self.mask.leaf_included(leaf)
    }

    /// Whether no column is among them.
    pub fn is_empty(&self) -> bool {
        self.roots.is_empty()
    }

    /// These columns as the file has them.
    pub fn schema(&self, footer: &Footer) -> Result<Schema> {
        let projected = footer.arrow().schema().project(&self.roots);
        projected.map_err(|error| Error::internal("no such column").with_source(error))
    }

    /// These columns without those of `other`.
    #[must_use]
    pub fn without(&self, footer: &Footer, other: &Self) -> Self {
        let roots = self.roots.iter().filter(|root| !other.roots.contains(root));
        let roots: Vec<usize> = roots.copied().collect();
        let mask = ProjectionMask::roots(footer.arrow().parquet_schema(), roots.iter().copied());
        Self { mask, roots }
    }

    /// The bytes of these columns in a row group: as stored, and decompressed.
    pub fn bytes(&self, footer: &Footer, group: usize) -> (u64, u64) {
        let chunks = self.chunks(footer, group);
        chunks.fold((0, 0), |(stored, plain): (u64, u64), chunk| {
            let add = |sum: u64, size: i64| sum.saturating_add(u64::try_from(size).unwrap_or(0));
            (
                add(stored, chunk.compressed_size()),
                add(plain, chunk.uncompressed_size()),
            )
        })
    }

    fn chunks<'a>(
        &'a self,
        footer: &'a Footer,
        group: usize,
    ) -> impl Iterator<Item = &'a ColumnChunkMetaData> {
        let group = footer.metadata().row_groups().get(group);
        let chunks = group.into_iter().flat_map(|group| group.columns().iter());
        let chosen = chunks
            .enumerate()
            .filter(|(at, _)| self.mask.leaf_included(*at));
        chosen.map(|(_, chunk)| chunk)
    }
}

/// Which rows of a batch of the filter's columns to keep.
pub type RowFilterFn = Arc<dyn Fn(RecordBatch) -> Result<BooleanArray> + Send + Sync>;

/// What to read of one row group.
#[derive(Clone)]
pub struct GroupRequest {
    /// Which row group.
    pub group: usize,
    /// The columns of the batches.
    pub columns: Columns,
    /// Rows to keep: decided on these columns, which are decoded first.
    pub filter: Option<(Columns, RowFilterFn)>,
    /// Rows that may be wanted; `None` for all.
    pub selection: Option<RowSelection>,
    /// Stop after so many rows.
    pub limit: Option<usize>,
}

/// What a [`GroupReader`] has to say.
#[derive(Debug)]
pub enum Step {
    /// It cannot go on without these bytes of the file.
    Need(Vec<Range<u64>>),
    /// Rows, in the file's types and the file's order of columns.
    Batch(RecordBatch),
    /// No more rows.
    Done,
}

/// Decodes one row group; asks for byte ranges and never fetches.
pub struct GroupReader {
    decoder: ParquetPushDecoder,
    batches: Option<ParquetRecordBatchReader>,
    chunks: Vec<ChunkCheck>,
    /// Where the decoder's offset 0 lies in the file: see [`Footer::group_metadata`].
    base: u64,
    /// What the row filter failed with; the decoder would turn it into text.
    fault: Arc<Mutex<Option<Error>>>,
}

impl GroupReader {
    /// A reader of one row group of the file with this footer.
    pub fn new(footer: &Footer, request: GroupRequest) -> Result<Self> {
        let located = footer.group_metadata(request.group)?;
        let metadata = located.arrow.metadata();
        let created_by = metadata.file_metadata().created_by();
        let chunks = metadata.row_groups().get(located.group);
        let chunks = chunks.into_iter().flat_map(|group| group.columns());
        let chunks = chunks.map(|chunk| ChunkCheck::new(chunk.clone(), created_by));
        let chunks = chunks.collect();
        let fault = Arc::new(Mutex::new(None));
        let mut builder = ParquetPushDecoderBuilder::new_with_metadata(located.arrow)
            .with_row_groups(vec![located.group])
            .with_batch_size(batch_rows(footer, &request))
            .with_max_predicate_cache_size(FILTER_CACHE)
            .with_projection(request.columns.mask);
        if let Some((columns, filter)) = request.filter {
            let fault = Arc::clone(&fault);
            let predicate = ArrowPredicateFn::new(columns.mask, move |batch| {
                filter(batch).map_err(|error| {
                    *fault.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
                    ArrowError::ComputeError("the row filter failed".to_owned())
                })
            });
            builder = builder.with_row_filter(RowFilter::new(vec![Box::new(predicate)]));
        }
        if let Some(selection) = request.selection {
            builder = builder.with_row_selection(selection);
        }
        if let Some(limit) = request.limit {
            builder = builder.with_limit(limit);
        }
        Ok(Self {
            decoder: builder.build().map_err(from_parquet)?,
            batches: None,
            chunks,
            base: located.base,
            fault,
        })
    }

    /// Every range that may be asked for, filter columns first.
    pub fn planned(&self) -> Vec<Range<u64>> {
        let plan = self.decoder.scan_plan();
        plan.map(|planned| self.in_file(planned.range)).collect()
    }

    /// The next rows, or what is missing for them.
    pub fn step(&mut self) -> Result<Step> {
        loop {
            if let Some(batches) = &mut self.batches {
                match batches.next() {
                    Some(Ok(batch)) => return Ok(Step::Batch(batch)),
                    Some(Err(error)) => return Err(self.failed(error.into())),
                    None => self.batches = None,
                }
            }
            match self.decoder.try_next_reader() {
                Ok(DecodeResult::Data(batches)) => self.batches = Some(batches),
                Ok(DecodeResult::NeedsData(ranges)) => {
                    let ranges = ranges.into_iter().map(|range| self.in_file(range));
                    return Ok(Step::Need(ranges.collect()));
                }
                Ok(DecodeResult::Finished) => return Ok(Step::Done),
                Err(error) => return Err(self.failed(error)),
            }
        }
    }

    /// Hands over bytes of the file; pages within them are checked first.
    pub fn push(&mut self, ranges: Vec<Range<u64>>, bytes: Vec<Bytes>) -> Result<()> {
        let mut moved = Vec::with_capacity(ranges.len());
        for (range, bytes) in ranges.iter().zip(&bytes) {
            let range = range.start.wrapping_sub(self.base)..range.end.wrapping_sub(self.base);
            let within = |check: &&mut ChunkCheck| {
                let (start, length) = check.chunk().byte_range();
                start <= range.start && range.end <= start + length
            };
            let check = self.chunks.iter_mut().find(within);
            let check = check.ok_or_else(|| Error::internal("bytes of no column chunk"))?;
            let whole = range.end - range.start == check.chunk().byte_range().1;
            check
                .check(bytes, range.start + self.base, whole)
                .map_err(|error| error.context("field", check.chunk().column_path().string()))?;
            moved.push(range);
        }
        self.decoder.push_ranges(moved, bytes).map_err(from_parquet)
    }

    fn in_file(&self, range: Range<u64>) -> Range<u64> {
        range.start + self.base..range.end + self.base
    }

    fn failed(&self, error: parquet::errors::ParquetError) -> Error {
        let mut fault = self.fault.lock().unwrap_or_else(PoisonError::into_inner);
        fault.take().unwrap_or_else(|| {
            let starts = self.chunks.iter().map(|check| check.chunk().byte_range().0);
            let start = starts.min();
            from_parquet(error).context("offset", start.unwrap_or(0) + self.base)
        })
    }
}

/// Rows a batch: as many as make a batch of a good size.
fn batch_rows(footer: &Footer, request: &GroupRequest) -> usize {
    let (_, bytes) = request.columns.bytes(footer, request.group);
    let width = (bytes / footer.group_rows(request.group).max(1)).max(1);
    let fitting = (BATCH_BYTES / width).clamp(MIN_BATCH_ROWS, MAX_BATCH_ROWS);
    usize::try_from(fitting).unwrap_or(1)
}
