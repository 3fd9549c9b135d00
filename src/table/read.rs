use std::pin::Pin;
use std::task::{Context, Poll};

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use futures::stream::{self, BoxStream, Stream, StreamExt};
use futures::try_join;

use super::open::Table;
use crate::config::{QueryType, ReadOptions};
use crate::error::{Error, Result};
use crate::model::InstantTime;
use crate::read::{
    self, Bound, Changed, ChangedSlices, Merging, Selection, SliceTask, Slices, snapshot_slices,
};
use crate::slice::{OpenedFile, open_file};
use crate::storage::Storage;
use crate::view::{FileListing, PartitionPruner};

/// The batches of one read; dropping it ends its requests.
pub struct ReadStream {
    schema: SchemaRef,
    files: usize,
    files_pruned: usize,
    storage: Storage,
    batches: BoxStream<'static, Result<RecordBatch>>,
}

impl ReadStream {
    /// The schema of every batch.
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// File slices that were known when the read began, and how many of them the filters ruled out. A partition, or a folder of
    /// them, that was ruled out before its files were known counts as one of both.
    pub fn files(&self) -> (usize, usize) {
        (self.files, self.files_pruned)
    }

    /// The storage of this call, for its metrics.
    pub fn storage(&self) -> &Storage {
        &self.storage
    }

    pub(super) fn new(
        storage: &Storage,
        bound: &Bound,
        tasks: Vec<SliceTask>,
        pruned: usize,
    ) -> Result<Self> {
        let columns = bound.columns().clone();
        let unlisted = storage.metrics().counters().partitions_unlisted;
        let pruned = pruned + usize::try_from(unlisted).unwrap_or(0);
        let files = tasks.len() + pruned;
        let batches = read::run(storage, tasks, bound.limit());
        Ok(Self {
            schema: bound.shown_schema()?,
            files,
            files_pruned: pruned,
            storage: storage.clone(),
            batches: batches.map(move |batch| columns.show(batch?)).boxed(),
        })
    }

    /// The same with another word for what goes wrong.
    fn map_errors(self, name: impl Fn(Error) -> Error + Send + 'static) -> Self {
        let batches = self.batches;
        Self {
            batches: batches.map(move |batch| batch.map_err(&name)).boxed(),
            ..self
        }
    }

    /// Batches of these columns from so many files.
    pub(super) fn of(
        storage: &Storage,
        schema: SchemaRef,
        files: usize,
        batches: BoxStream<'static, Result<RecordBatch>>,
    ) -> Self {
        Self {
            schema,
            files,
            files_pruned: 0,
            storage: storage.clone(),
            batches,
        }
    }

    /// The same call with other batches.
    pub(super) fn with_batches(
        self,
        schema: SchemaRef,
        batches: BoxStream<'static, Result<RecordBatch>>,
    ) -> Self {
        Self {
            schema,
            batches,
            ..self
        }
    }

    /// No rows of these columns.
    fn empty(storage: &Storage, schema: SchemaRef) -> Self {
        Self {
            schema,
            files: 0,
            files_pruned: 0,
            storage: storage.clone(),
            batches: stream::empty().boxed(),
        }
    }
}

impl Stream for ReadStream {
    type Item = Result<RecordBatch>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.batches.poll_next_unpin(context)
    }
}

/// A snapshot made ready: everything is checked, and no base file is opened yet.
pub(super) struct Snapshot {
    pub(super) as_of: Option<InstantTime>,
    pub(super) bound: Bound,
    pub(super) slices: Slices,
    /// The first slice's base file, where its footer could come while the schema was on its way.
    pub(super) first: Option<OpenedFile>,
    /// What an incremental read asks for, and its slices.
    pub(super) changed: Option<(Changed, ChangedSlices)>,
}

impl Snapshot {
    /// What to read of the slices.
    pub(super) fn tasks(&self, table: &Table, strict: bool) -> Result<Vec<SliceTask>> {
        match &self.changed {
            Some((_, slices)) => slices.tasks(&self.bound, strict),
            None => {
                let merging = table.merging(self.as_of.as_ref(), strict);
                self.bound.tasks(&self.slices.kept, &merging)
            }
        }
    }
}

/// What a snapshot is made ready for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    /// Its rows.
    Rows,
    /// Its slices.
    Slices,
    /// Its slices and those that the filters rule out.
    AllSlices,
}

impl Table {
    /// Reads a snapshot: of now, as of a time, or of the base files alone.
    ///
    /// Errors, all before any data is asked for: `InvalidArgument` and `Schema` for options that do not fit,
    /// `InstantPending` and `InstantExpired` for times that cannot be travelled to, `Unsupported` for other queries and for
    /// log files that are merged by an unknown rule. The stream itself fails with those of reading.
    pub async fn read(&self, options: &ReadOptions) -> Result<ReadStream> {
        let batch_rows = options.batch_rows()?;
        if options.query_type()? == QueryType::Cdc {
            return self.read_cdc(options).await;
        }
        let snapshot = self.prepare(options, batch_rows, Purpose::Rows).await?;
        let bound = &snapshot.bound;
        if self.meta.timeline.latest_commit().is_none() {
            return Ok(ReadStream::empty(&self.meta.storage, bound.shown_schema()?));
        }
        let mut tasks = snapshot.tasks(self, options.strict_logs)?;
        if let Some(task) = tasks.first_mut() {
            task.opened = snapshot.first.clone();
        }
        let read = ReadStream::new(&self.meta.storage, bound, tasks, snapshot.slices.left_out())?;
        Ok(match snapshot.changed {
            Some((changed, _)) => read.map_errors(move |error| changed.explain(error)),
            None => read,
        })
    }

    /// Checks the options, binds them to the schema, and finds the slices.
    ///
    /// Without filters neither the listing nor the first footer waits for the schema, and without partitions no listing does.
    pub(super) async fn prepare(
        &self,
        options: &ReadOptions,
        batch_rows: Option<usize>,
        purpose: Purpose,
    ) -> Result<Snapshot> {
        if options.query_type()? != QueryType::Snapshot {
            return self.prepare_incremental(options, batch_rows, purpose).await;
        }
        let as_of = self.as_of(options)?;
        let read_optimized = options.read_optimized()?;
        self.meta.check_as_of(as_of.as_ref()).await?;
        let bind = async {
            let selection = Selection {
                filters: options.filters.clone(),
                projection: options.projection.clone(),
                batch_rows,
                limit: options.limit,
            };
            self.bind(options, &selection, as_of.as_ref()).await
        };
        let all = purpose == Purpose::AllSlices;
        let listing = self.listing(options)?;
        let slices = async |pruner: &PartitionPruner| {
            self.slices(&listing, pruner, as_of.as_ref(), read_optimized, all)
                .await
        };
        let none = PartitionPruner::none();
        let (bound, (slices, first)) = match options.filters.is_empty() {
            true => {
                let slices_and_first = async {
                    let slices = slices(&none).await?;
                    let first = match purpose {
                        Purpose::Rows if options.limit != Some(0) => self.open_first(&slices).await,
                        _ => None,
                    };
                    Ok((slices, first))
                };
                try_join!(bind, slices_and_first)?
            }
            false => {
                let (bound, slices) = match self.meta.config.is_partitioned() {
                    true => {
                        let bound = bind.await?;
                        let slices = slices(&bound.pruner()).await?;
                        (bound, slices)
                    }
                    // There is one folder, whatever the filters say.
                    false => try_join!(bind, slices(&none))?,
                };
                let slices = self.skip(options, &bound, slices, as_of.as_ref()).await?;
                (bound, (slices, None))
            }
        };
        Ok(Snapshot {
            as_of,
            bound,
            slices,
            first,
            changed: None,
        })
    }

    /// The first file of a read, opened ahead. A failure is left to the read itself, which asks again.
    pub(super) async fn open_first(&self, slices: &Slices) -> Option<OpenedFile> {
        let base = slices.kept.first()?.base.as_ref()?;
        open_file(&self.meta.storage, base).await.ok()
    }

    /// What is to be seen of log files as of a time.
    pub(super) fn merging<'a>(
        &'a self,
        as_of: Option<&'a InstantTime>,
        strict: bool,
    ) -> Merging<'a> {
        Merging {
            meta: &self.meta,
            as_of,
            members: None,
            strict,
        }
    }

    async fn slices(
        &self,
        listing: &dyn FileListing,
        pruner: &PartitionPruner,
        as_of: Option<&InstantTime>,
        read_optimized: bool,
        all: bool,
    ) -> Result<Slices> {
        if self.meta.timeline.latest_commit().is_none() {
            return Ok(Slices::default());
        }
        snapshot_slices(&self.meta, listing, pruner, as_of, read_optimized, all).await
    }

    /// The instant that a snapshot is asked as of, if it is; other queries read in the newest schema.
    pub(super) fn as_of(&self, options: &ReadOptions) -> Result<Option<InstantTime>> {
        match options.query_type()? {
            QueryType::Snapshot => {
                let as_of = options.as_of();
                as_of.map(|time| self.clock.instant(&time)).transpose()
            }
            QueryType::Incremental | QueryType::Cdc => Ok(None),
        }
    }
}
