use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use arrow::array::RecordBatch;
use futures::Stream;
use futures::stream::{self, BoxStream, StreamExt};

use super::base_file::OpenFile;
use super::base_request::BaseRequest;
use super::base_scan::{Filtering, Shape};
use crate::codec::parquet::{GroupReader, GroupRequest, Step};
use crate::error::{Result, ResultExt};
use crate::model::BaseFile;
use crate::storage::Storage;

/// Rows of a batch when a file need not be asked for any column.
const ROWS_WITHOUT_COLUMNS: u64 = 64 << 10;

/// The rows of one base file; dropping it ends its requests.
pub struct BaseReader(BoxStream<'static, Result<RecordBatch>>);

impl Stream for BaseReader {
    type Item = Result<RecordBatch>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.0.poll_next_unpin(context)
    }
}

/// A base file whose footer is read and whose columns are not, or only the first ones.
pub struct OpenBase(Scan);

/// Opens a base file to read what `request` says of it: one request for the footer, or two when it is very long.
///
/// Errors: `Corrupt` with path and offset, `Schema` when a column cannot be given in the table's type, `Unsupported`
/// for a codec that is not handled.
pub async fn open_base(
    storage: &Storage,
    file: &BaseFile,
    request: &BaseRequest,
) -> Result<OpenBase> {
    let open = OpenFile::open(storage, &file.path, file.size).await?;
    let scan = Scan::new(open, request).context("path", &file.path)?;
    Ok(OpenBase(scan))
}

impl OpenBase {
    /// How many bytes the first row group to be read will hold in memory, at most.
    pub fn first_bytes(&self) -> u64 {
        self.0.first_bytes()
    }

    /// Fetches the first row group to be read, so that its batches come without a wait.
    pub async fn fetch_first(&mut self) -> Result<()> {
        let opened = self.0.open_group().await;
        opened.map(drop).context("path", &self.0.file.path)
    }

    /// The rows.
    ///
    /// Shapes: batches have the request's output columns, in its order and the table's types, and at least one row.
    pub fn batches(self) -> BaseReader {
        let batches = stream::try_unfold(self.0, async |mut scan| {
            let next = scan.next().await;
            let next = next.context("path", &scan.file.path)?;
            Ok(next.map(|batch| (batch, scan)))
        });
        BaseReader(batches.boxed())
    }
}

/// Opens a base file and reads what `request` says: see [`open_base`] and [`OpenBase::batches`].
pub async fn read_base(
    storage: &Storage,
    file: &BaseFile,
    request: &BaseRequest,
) -> Result<BaseReader> {
    Ok(open_base(storage, file, request).await?.batches())
}

/// The state of reading one file.
struct Scan {
    file: OpenFile,
    shape: Arc<Shape>,
    filtering: Filtering,
    /// Row groups to come.
    groups: VecDeque<usize>,
    /// The row group being decoded.
    group: Option<GroupReader>,
    /// Rows of a row group that need no column, still to be given.
    bare_rows: u64,
    /// What is left of a batch larger than `batch_rows`.
    rest: Option<RecordBatch>,
    batch_rows: usize,
    limit: u64,
}

impl Scan {
    fn new(file: OpenFile, request: &BaseRequest) -> Result<Self> {
        let footer = &file.footer;
        let shape = Shape::new(footer, request, request.output_schema()?)?;
        let filtering = Filtering::new(footer, request)?;
        let groups = match filtering {
            Filtering::Nothing => VecDeque::new(),
            _ => (0..footer.metadata().num_row_groups()).collect(),
        };
        Ok(Self {
            shape: Arc::new(shape),
            filtering,
            groups,
            group: None,
            bare_rows: 0,
            rest: None,
            batch_rows: request.batch_rows.unwrap_or(usize::MAX).max(1),
            limit: request.limit.unwrap_or(u64::MAX),
            file,
        })
    }

    fn first_bytes(&self) -> u64 {
        let Some(group) = self.groups.front() else {
            return 0;
        };
        let footer = &self.file.footer;
        let (output, _) = self.shape.columns.bytes(footer, *group);
        let filtered = match &self.filtering {
            Filtering::Rows(columns, _) => columns.without(footer, &self.shape.columns),
            _ => return output,
        };
        output.saturating_add(filtered.bytes(footer, *group).0)
    }

    async fn next(&mut self) -> Result<Option<RecordBatch>> {
        while self.limit > 0 {
            if let Some(batch) = self.rest.take() {
                return Ok(Some(self.cut(batch)));
            }
            self.rest = self.decode().await?;
            if self.rest.is_none() && !self.open_group().await? {
                break;
            }
        }
        Ok(None)
    }

    /// The front of a batch, as long as asked for; what is left of it comes next.
    fn cut(&mut self, batch: RecordBatch) -> RecordBatch {
        let left = usize::try_from(self.limit).unwrap_or(usize::MAX);
        let rows = batch.num_rows().min(self.batch_rows).min(left);
        self.limit -= rows as u64;
        if rows == batch.num_rows() {
            return batch;
        }
        self.rest = Some(batch.slice(rows, batch.num_rows() - rows));
        batch.slice(0, rows)
    }

    /// The next batch of the open row group, never empty.
    async fn decode(&mut self) -> Result<Option<RecordBatch>> {
        if self.bare_rows > 0 {
            let rows = self.bare_rows.min(ROWS_WITHOUT_COLUMNS);
            self.bare_rows -= rows;
            return self
                .shape
                .without_file(usize::try_from(rows).unwrap_or(0))
                .map(Some);
        }
        while let Some(group) = &mut self.group {
            match group.step()? {
                Step::Batch(batch) if batch.num_rows() == 0 => {}
                Step::Batch(batch) => return self.shape.apply(&batch).map(Some),
                Step::Need(ranges) => {
                    let bytes = self.file.bytes(&ranges).await?;
                    group.push(ranges, bytes)?;
                }
                Step::Done => self.group = None,
            }
        }
        Ok(None)
    }

    /// Opens the next row group and fetches its columns; false when there is none.
    async fn open_group(&mut self) -> Result<bool> {
        let Some(group) = self.groups.pop_front() else {
            return Ok(false);
        };
        let filter = match &self.filtering {
            Filtering::Rows(columns, filter) => Some((columns.clone(), Arc::clone(filter))),
            _ => None,
        };
        if filter.is_none() && self.shape.columns.is_empty() {
            self.bare_rows = self.file.footer.group_rows(group);
            return Ok(true);
        }
        let request = GroupRequest {
            group,
            columns: self.shape.columns.clone(),
            filter,
            limit: usize::try_from(self.limit)
                .ok()
                .filter(|limit| *limit < usize::MAX),
        };
        let mut reader = GroupReader::new(&self.file.footer, request)?;
        let ranges = reader.planned();
        let bytes = self.file.bytes(&ranges).await?;
        reader.push(ranges, bytes)?;
        self.group = Some(reader);
        Ok(true)
    }
}
