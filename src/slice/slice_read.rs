use std::pin::Pin;
use std::task::{Context, Poll};

use arrow::array::RecordBatch;
use futures::Stream;
use futures::stream::{self, BoxStream, StreamExt};

use super::base_file::{OpenedFile, open_file};
use super::base_read::OpenBase;
use super::base_scan::Estimate;
use super::merged_read::{OpenMerged, base_request};
use super::slice_request::SliceRequest;
use crate::error::{Error, Result};
use crate::merge::MergeColumns;
use crate::model::FileSlice;
use crate::storage::Storage;

/// The rows of one file slice; dropping it ends its requests.
pub struct SliceReader(BoxStream<'static, Result<RecordBatch>>);

impl SliceReader {
    pub(super) fn new(batches: impl Stream<Item = Result<RecordBatch>> + Send + 'static) -> Self {
        Self(batches.boxed())
    }
}

impl Stream for SliceReader {
    type Item = Result<RecordBatch>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.0.poll_next_unpin(context)
    }
}

/// A file slice of which it is known what to read: its footer is there and the frames of its log blocks.
pub struct OpenSlice(Kind);

enum Kind {
    Base(Box<OpenBase>),
    Merged(Box<OpenMerged>),
}

/// Opens a file slice to read what `request` says of it. `opened` is its base file, where its footer is there already.
///
/// 1. Filters and limits hold for merged rows. What a base file's statistics say rules rows out only where no log file may
///    change them.
/// 2. Rows come in the order of the base file, then keys that only logs have.
/// 3. A slice without log files costs what its base file costs.
///
/// Errors: those of base files; `Unsupported` for log files without a rule to merge them; those of the log blocks.
pub async fn open_slice(
    storage: &Storage,
    slice: &FileSlice,
    request: &SliceRequest,
    opened: Option<OpenedFile>,
) -> Result<OpenSlice> {
    if slice.data_logs().next().is_some() {
        let merged = OpenMerged::open(storage, slice, request, opened).await?;
        return Ok(OpenSlice(Kind::Merged(Box::new(merged))));
    }
    let opened = match (opened, &slice.base) {
        (Some(opened), _) => opened,
        (None, Some(base)) => open_file(storage, base).await?,
        (None, None) => return Err(Error::internal("a file slice without a file")),
    };
    let base = opened.read(&request.rows).await?;
    Ok(OpenSlice(Kind::Base(Box::new(base))))
}

/// What reading a slice takes: its base file's footer is read, and of log files nothing.
///
/// Errors: those of base files.
pub async fn estimate_slice(
    storage: &Storage,
    slice: &FileSlice,
    request: &SliceRequest,
) -> Result<Estimate> {
    let has_logs = slice.data_logs().next().is_some();
    let rows = match &request.logs {
        Some(logs) if has_logs => {
            let wanted = &request.rows.schema;
            let columns = MergeColumns::new(&logs.rules, &logs.table, wanted, false)?;
            base_request(&request.rows, &columns, None)
        }
        _ => request.rows.clone(),
    };
    let base = match &slice.base {
        Some(base) => open_file(storage, base)
            .await?
            .read(&rows)
            .await?
            .estimate(),
        None => Estimate::default(),
    };
    let logs: Vec<u64> = slice.data_logs().map(|log| log.size).collect();
    let read = logs.iter().filter(|size| **size > 0).count();
    Ok(Estimate {
        requests: base.requests + read as u64,
        bytes: base.bytes + logs.iter().sum::<u64>(),
    })
}

impl OpenSlice {
    /// How many bytes the first row group takes in memory, at most.
    pub fn first_bytes(&self) -> u64 {
        match &self.0 {
            Kind::Base(base) => base.first_bytes(),
            Kind::Merged(merged) => merged.first_bytes(),
        }
    }

    /// Fetches what the first batch needs: log blocks and the first row group.
    pub async fn fetch_first(&mut self) -> Result<()> {
        match &mut self.0 {
            Kind::Base(base) => base.fetch_first().await,
            Kind::Merged(merged) => merged.fetch_first().await,
        }
    }

    /// The rows.
    ///
    /// Shapes: batches have the request's output columns, in its order and the table's types, and at least one row.
    pub fn batches(self) -> SliceReader {
        match self.0 {
            Kind::Base(base) => SliceReader::new(base.batches()),
            Kind::Merged(merged) => {
                SliceReader::new(stream::try_unfold(*merged, async |mut merged| {
                    Ok(merged.next().await?.map(|batch| (batch, merged)))
                }))
            }
        }
    }
}
