//! A base file and the logs over it, read as one.

use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use futures::{StreamExt, try_join};

use super::base_file::{OpenedFile, open_file};
use super::base_read::{BaseReader, OpenBase};
use super::base_request::BaseRequest;
use super::log_read::{LogReading, has_positions};
use super::log_scan::{LogScan, ScanOptions, scan_visible_logs};
use super::slice_request::{LogRequest, SliceRequest};
use crate::error::{Error, Result};
use crate::expr::Predicate;
use crate::merge::{MergeColumns, Merged, Merger};
use crate::model::{BaseFile, FileSlice, LogFile};
use crate::storage::Storage;

/// Rows of one batch of keys that only logs have.
const REST_ROWS: usize = 32 << 10;

/// One slice, merged as it is read.
///
/// The winning rows of its logs are held; its base file goes by batch by batch.
pub(super) struct OpenMerged {
    logs: Logs,
    base: Base,
    merger: Option<Merger>,
    output: Output,
    /// What is left of a batch larger than may be given at once.
    left: Option<RecordBatch>,
    limit: u64,
}

enum Base {
    /// The slice has none, or all of it has been read.
    None,
    /// It is not known yet how much to read of it.
    Footer(OpenedFile),
    Open(Box<OpenBase>),
    Reading(BaseReader),
}

/// The logs of the slice, before they are read.
struct Logs {
    storage: Storage,
    files: Vec<LogFile>,
    scan: LogScan,
    request: Arc<LogRequest>,
    columns: MergeColumns,
    rows: BaseRequest,
}

/// What becomes of merged rows.
struct Output {
    predicate: Arc<Predicate>,
    /// The columns that the predicate looks at.
    filtered: (Vec<usize>, SchemaRef),
    places: Vec<usize>,
    schema: SchemaRef,
    batch_rows: usize,
}

impl OpenMerged {
    /// Reads the footer and the frames of the logs, at the same time.
    pub(super) async fn open(
        storage: &Storage,
        slice: &FileSlice,
        request: &SliceRequest,
        opened: Option<OpenedFile>,
    ) -> Result<Self> {
        let files: Vec<LogFile> = slice.data_logs().cloned().collect();
        let Some(logs) = request.logs.clone() else {
            let message = "log files are not merged without the table's rules";
            return Err(Error::internal(message));
        };
        let options = ScanOptions {
            strict: logs.strict,
            alone: logs.alone,
            ..ScanOptions::default()
        };
        let (scan, opened) = try_join!(
            scan_visible_logs(storage, &files, logs.visible.as_ref(), options),
            open_base(storage, slice.base.as_ref(), opened)
        )?;
        let by_position = has_positions(&scan, slice.base.as_ref());
        let columns =
            MergeColumns::new(&logs.rules, &logs.table, &request.rows.schema, by_position)?;
        let mut rows = request.rows.clone();
        rows.limit = rows.limit.filter(|_| rows.predicate.is_empty());
        let base = match opened {
            // With a limit it is planned once it is known how many rows the logs may take away.
            Some(opened) if rows.limit.is_some() => Base::Footer(opened),
            Some(opened) => {
                let open = opened.read(&base_request(&rows, &columns, None)).await?;
                Base::Open(Box::new(open))
            }
            None => Base::None,
        };
        Ok(Self {
            output: Output::new(request, &columns)?,
            left: None,
            limit: request.rows.limit.unwrap_or(u64::MAX),
            merger: None,
            base,
            logs: Logs {
                storage: storage.clone(),
                files,
                scan,
                request: logs,
                columns,
                rows,
            },
        })
    }

    /// What the base file's first row group takes; logs are counted by whoever opens the slice.
    pub(super) fn first_bytes(&self) -> u64 {
        match &self.base {
            Base::Open(base) => base.first_bytes(),
            Base::None | Base::Footer(_) | Base::Reading(_) => 0,
        }
    }

    /// Reads the logs, and the base file's first row group.
    pub(super) async fn fetch_first(&mut self) -> Result<()> {
        if let Base::Open(base) = &mut self.base {
            let (merger, ()) = try_join!(self.logs.merger(), base.fetch_first())?;
            self.merger = Some(merger);
            return Ok(());
        }
        self.merger = Some(self.logs.merger().await?);
        self.plan_limited().await?;
        match &mut self.base {
            Base::Open(base) => base.fetch_first().await,
            Base::None | Base::Footer(_) | Base::Reading(_) => Ok(()),
        }
    }

    /// Plans a base file of which only the first rows are wanted. Each key of the logs takes one row away at most.
    async fn plan_limited(&mut self) -> Result<()> {
        if !matches!(self.base, Base::Footer(_)) {
            return Ok(());
        }
        let keys = self.merger.as_ref().map_or(0, Merger::keys) as u64;
        let limit = Some(self.limit.saturating_add(keys));
        if let Base::Footer(opened) = std::mem::replace(&mut self.base, Base::None) {
            let request = base_request(&self.logs.rows, &self.logs.columns, limit);
            self.base = Base::Open(Box::new(opened.read(&request).await?));
        }
        Ok(())
    }

    /// The next rows, never none.
    pub(super) async fn next(&mut self) -> Result<Option<RecordBatch>> {
        while self.limit > 0 {
            if let Some(batch) = self.left.take() {
                return Ok(Some(self.cut(batch)));
            }
            let Some(merged) = self.merged().await? else {
                return Ok(None);
            };
            let batch = self.output.batch(merged)?;
            self.left = (batch.num_rows() > 0).then_some(batch);
        }
        Ok(None)
    }

    /// The front of a batch, as long as asked for; what is left of it comes next.
    fn cut(&mut self, batch: RecordBatch) -> RecordBatch {
        let most = usize::try_from(self.limit).unwrap_or(usize::MAX);
        let rows = batch.num_rows().min(self.output.batch_rows).min(most);
        self.limit -= rows as u64;
        if rows == batch.num_rows() {
            return batch;
        }
        self.left = Some(batch.slice(rows, batch.num_rows() - rows));
        batch.slice(0, rows)
    }

    async fn merged(&mut self) -> Result<Option<Merged>> {
        if self.merger.is_none() {
            self.merger = Some(self.logs.merger().await?);
        }
        self.plan_limited().await?;
        let Some(merger) = &mut self.merger else {
            return Err(Error::internal("the logs were lost"));
        };
        loop {
            match std::mem::replace(&mut self.base, Base::None) {
                Base::Footer(_) => return Err(Error::internal("a base file was not planned")),
                Base::None => return Ok(merger.rest(REST_ROWS)),
                Base::Open(base) => self.base = Base::Reading(base.batches()),
                Base::Reading(mut reader) => {
                    if let Some(batch) = reader.next().await {
                        self.base = Base::Reading(reader);
                        return merger.merge(&batch?).map(Some);
                    }
                }
            }
        }
    }
}

async fn open_base(
    storage: &Storage,
    base: Option<&BaseFile>,
    opened: Option<OpenedFile>,
) -> Result<Option<OpenedFile>> {
    match (opened, base) {
        (Some(opened), _) => Ok(Some(opened)),
        (None, Some(base)) => open_file(storage, base).await.map(Some),
        (None, None) => Ok(None),
    }
}

/// All rows of the base file, or the first: filters hold for what comes of the merge.
pub(super) fn base_request(
    rows: &BaseRequest,
    columns: &MergeColumns,
    limit: Option<u64>,
) -> BaseRequest {
    BaseRequest {
        constants: rows.constants.clone(),
        names: rows.names.clone(),
        limit,
        ..BaseRequest::all(Arc::clone(columns.schema()))
    }
}

impl Logs {
    /// Reads the logs, once, and lets go of what was fetched of them.
    async fn merger(&mut self) -> Result<Merger> {
        let scan = std::mem::take(&mut self.scan);
        let reading = LogReading {
            storage: &self.storage,
            files: &self.files,
            scan: &scan,
            request: &self.request,
            columns: &self.columns,
            constants: &self.rows.constants,
        };
        reading.changes().await?.finish()
    }
}

impl Output {
    fn new(request: &SliceRequest, columns: &MergeColumns) -> Result<Self> {
        let all = columns.schema();
        let place = |name: &str| {
            let place = all.index_of(name);
            place.map_err(|error| {
                Error::internal("a column of a filter was lost").with_source(error)
            })
        };
        let filtered = request.rows.predicate.columns();
        let filtered = filtered.iter().map(|name| place(name));
        let filtered = filtered.collect::<Result<Vec<usize>>>()?;
        let projected = all.project(&filtered);
        let projected =
            projected.map_err(|error| Error::internal("no such column").with_source(error))?;
        let every = || (0..request.rows.schema.fields().len()).collect();
        Ok(Self {
            predicate: Arc::clone(&request.rows.predicate),
            filtered: (filtered, Arc::new(projected)),
            places: request.rows.output.clone().unwrap_or_else(every),
            schema: request.rows.output_schema()?,
            batch_rows: request.rows.batch_rows.unwrap_or(usize::MAX).max(1),
        })
    }

    /// Filters first, so that other columns are gathered only for rows that stay.
    fn batch(&self, mut merged: Merged) -> Result<RecordBatch> {
        if !self.predicate.is_empty() {
            let (places, schema) = &self.filtered;
            let mask = self.predicate.mask(&merged.batch(places, schema)?)?;
            merged.retain(&mask)?;
        }
        merged.into_batch(&self.places, &self.schema)
    }
}
