//! Rows to new file groups, as one commit.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use bytes::Bytes;
use futures::stream::{BoxStream, StreamExt};

use super::open::Table;
use super::write_checks::{given_up, still_alone};
use super::write_options::{WriteOptions, WriteOutcome};
use crate::commit::{self, HeldLock, Markers, Pending, Requested, Writer};
use crate::error::{Error, ErrorKind, Result};
use crate::index::MetadataWriter;
use crate::model::{Action, Instant, InstantTime, TableType, TableVersion};
use crate::schema::{add_meta_fields, from_arrow, parse_avro, to_arrow};
use crate::timeline::payload::CommitMetadata;
use crate::write::{AppendOptions, AppendWriter, Prepared, StoreTarget, WrittenFile};

/// Rows that are to be written: their schema first, so that what does not fit fails before anything is asked for.
pub struct Rows {
    /// The columns of every batch.
    pub schema: SchemaRef,
    /// The batches.
    pub batches: BoxStream<'static, Result<RecordBatch>>,
}

impl Table {
    /// Adds rows in new file groups, without looking for their keys in the table: Hudi's bulk insert.
    ///
    /// Dropping the future before the completed file is written leaves the table as it was: what is there of the write is
    /// rolled back by the next one, and invisible until then.
    ///
    /// Errors: `ReadOnlyStorage`, `Schema`, `InvalidArgument` and `Unsupported` before any instant; `WriteConflict` where
    /// others write; `LockTimeout`; `CommitStateUnknown` with the `instant`; those of the storage.
    pub async fn append(&self, rows: Rows, options: WriteOptions) -> Result<WriteOutcome> {
        self.meta.storage.require_write()?;
        options.check()?;
        let all = options.under(&self.options.hudi_options);
        self.check_options(&all)?;
        let zone = self.options.timezone.as_deref();
        let writer = options.writer(&self.meta, self.lock.clone(), all, zone)?;
        let files = options.append(&writer, self.meta.storage.memory_limit())?;
        let held = writer.lock.write().await?;
        let table = self.ready(&writer).await.map_err(given_up)?;
        let mut index = table.index_writer(&writer, &options).await?;
        let avro = table.commit_schema().await?;
        let avro = match options.widen {
            true => table.widened(&avro, &rows.schema, index.as_mut()).await?,
            false => avro,
        };
        let append = Append {
            index,
            avro,
            table,
            writer,
            options,
        };
        let outcome = append.run(rows, files, held.as_ref()).await;
        held.release().await;
        outcome
    }

    /// The table as it is now, ready for a write: nobody else writes, and what failed before is rolled back.
    pub(super) async fn ready(&self, writer: &Writer) -> Result<Self> {
        let table = self.reloaded().await?;
        table.check_options(&writer.options)?;
        table.check_writable()?;
        table.check_unnumbered().await?;
        table.check_no_buckets(&writer.options).await?;
        commit::refuse_other_writers(&table.meta, writer).await?;
        let table = table.roll_back_failed(writer).await?;
        table.build_indexes(&writer.clock).await
    }

    /// The columns as a commit names them. Spark SQL creates a table with the null last and without defaults, and commits
    /// as its data frames do.
    async fn commit_schema(&self) -> Result<String> {
        let avro = self.avro_schema(false).await?;
        if self.meta.timeline.latest_commit().is_some() || !avro.contains(r#","null"]"#) {
            return Ok(avro);
        }
        let arrow = to_arrow(&parse_avro(&avro)?)?;
        from_arrow(&arrow, self.meta.config.table_name())
    }
}

/// One append, once nothing stands in its way.
struct Append {
    table: Table,
    writer: Writer,
    /// The metadata table, where there is one.
    index: Option<MetadataWriter>,
    avro: String,
    options: WriteOptions,
}

impl Append {
    async fn run(
        self,
        rows: Rows,
        files: AppendOptions,
        held: &dyn HeldLock,
    ) -> Result<WriteOutcome> {
        let mut files = self.writer(self.sized(files))?;
        files.check(&rows.schema)?;
        let mut batches = rows.batches;
        let first = next_with_rows(&mut batches).await?;
        if first.is_none() && !self.options.empty_commit {
            return Ok(self.nothing());
        }
        // What is wrong with the first batch, which often is all, leaves no trace.
        let first = first.map(|batch| files.prepare(&batch)).transpose()?;
        let pending = self.request().await.map_err(given_up)?;
        let markers = Arc::new(Markers::open(&self.table.meta.storage, &pending.time));
        let written = async {
            let files = self
                .write(&pending, &markers, files, first, batches)
                .await?;
            let done = self.complete(&pending, &files, held).await?;
            Ok((files, done))
        };
        match written.await {
            Ok((files, done)) => {
                markers.remove().await;
                self.finish(files, done).await
            }
            Err(error) => Err(self.undo(&pending, error).await),
        }
    }

    /// What checks columns and rows before there is an instant, and writes them once there is one.
    fn writer(&self, files: AppendOptions) -> Result<AppendWriter> {
        let none = InstantTime::from_wall_clock(chrono::NaiveDateTime::default());
        let config = &self.table.meta.config;
        AppendWriter::new(config, &self.avro, &none, files, Arc::new(NoTarget))
    }

    /// Version 6 gets one file a call; a record index wants the keys, each of which is one row of the table.
    fn sized(&self, files: AppendOptions) -> AppendOptions {
        match self.table.meta.config.version() {
            TableVersion::Six => AppendOptions {
                max_file_size: u64::MAX,
                ..files
            },
            _ => {
                let keyed = self
                    .index
                    .as_ref()
                    .is_some_and(MetadataWriter::indexes_records);
                AppendOptions {
                    keep_keys: keyed,
                    global_keys: keyed,
                    ..files
                }
            }
        }
    }

    async fn request(&self) -> Result<Pending> {
        let section = self.writer.lock.section().await?;
        let meta = self.table.reloaded().await?.meta;
        let action = match meta.config.table_type() {
            TableType::CopyOnWrite => Action::Commit,
            TableType::MergeOnRead => Action::DeltaCommit,
        };
        // Spark's bulk insert leaves both files empty.
        let pending = commit::request(&meta, &self.writer, action, Requested::default()).await;
        section.release().await;
        pending
    }

    async fn write(
        &self,
        pending: &Pending,
        markers: &Arc<Markers>,
        files: AppendWriter,
        first: Option<Prepared>,
        mut batches: BoxStream<'static, Result<RecordBatch>>,
    ) -> Result<Vec<WrittenFile>> {
        let storage = self.table.meta.storage.clone();
        let target = StoreTarget::new(storage, Arc::clone(markers), pending.time.clone());
        let mut writer = files.bound(&pending.time, Arc::new(target));
        let pushed = async {
            if let Some(first) = first {
                writer.write(first).await?;
            }
            while let Some(batch) = batches.next().await {
                writer.push(&batch?).await?;
            }
            Ok(())
        };
        match pushed.await {
            Ok(()) => writer.finish().await,
            Err(error) => {
                writer.abort().await;
                Err(error)
            }
        }
    }

    /// The second critical section: the metadata table first, then the completed file.
    async fn complete(
        &self,
        pending: &Pending,
        files: &[WrittenFile],
        held: &dyn HeldLock,
    ) -> Result<Instant> {
        let body = self
            .metadata(files)
            .to_bytes(self.table.meta.config.version().layout())?;
        let section = self.writer.lock.section().await?;
        let done = self.complete_locked(pending, files, body, held).await;
        section.release().await;
        done
    }

    async fn complete_locked(
        &self,
        pending: &Pending,
        files: &[WrittenFile],
        body: Bytes,
        held: &dyn HeldLock,
    ) -> Result<Instant> {
        let table = self.table.reloaded().await?;
        still_alone(&self.table, &table, pending)?;
        let columns = to_arrow(&parse_avro(&self.avro)?)?;
        let columns = match table.meta.config.populate_meta_fields() {
            true => add_meta_fields(&columns),
            false => columns,
        };
        if self.index.is_some() {
            table.meta.storage.tell_phase("metadata");
        }
        Table::commit_indexes(self.index.as_ref(), pending, &columns, files).await?;
        held.check().await?;
        self.options.seal();
        table.meta.storage.tell_phase("commit");
        commit::complete(&table.meta, &self.writer, pending, body).await
    }

    fn metadata(&self, files: &[WrittenFile]) -> CommitMetadata {
        let mut stats: BTreeMap<String, Vec<_>> = BTreeMap::new();
        for file in files {
            let partition = file.partition.as_str().to_owned();
            stats.entry(partition).or_default().push(file.stat.clone());
        }
        let own = [("schema".to_owned(), Some(self.avro.clone()))];
        let extra = self.options.extra_metadata.iter();
        let extra = extra.map(|(key, value)| (key.clone(), Some(value.clone())));
        CommitMetadata {
            partition_to_write_stats: stats,
            extra_metadata: extra.chain(own).collect(),
            operation_type: Some("BULK_INSERT".to_owned()),
            ..CommitMetadata::default()
        }
    }

    async fn finish(self, files: Vec<WrittenFile>, done: Instant) -> Result<WriteOutcome> {
        let count = |of: fn(&WrittenFile) -> i64| {
            let all: i64 = files.iter().map(of).sum();
            u64::try_from(all).unwrap_or(0)
        };
        let partitions: BTreeSet<_> = files.iter().map(|file| &file.partition).collect();
        let partitions = partitions.into_iter().cloned().collect();
        self.table.maintain(&self.writer, &self.options).await;
        let table = self.table.refresh().await;
        let table = table.map_err(|error| unseen(&done, error))?;
        Ok(WriteOutcome {
            instant: Some(done),
            inserted: count(|file| file.stat.num_inserts),
            files_written: files.len(),
            bytes_written: count(|file| file.stat.file_size_in_bytes),
            partitions,
            attempts: 1,
            table,
        })
    }

    fn nothing(self) -> WriteOutcome {
        WriteOutcome {
            instant: None,
            inserted: 0,
            files_written: 0,
            bytes_written: 0,
            partitions: Vec::new(),
            attempts: 1,
            table: self.table,
        }
    }

    /// Takes a failed write back at once, where that can be; else the next write does. A commit whose fate is not known
    /// stays as it is, and so do the files of one before whose commit a put had no answer: it may land after they were taken back.
    async fn undo(&self, pending: &Pending, error: Error) -> Error {
        if error.kind() == ErrorKind::CommitStateUnknown {
            return match error.get("instant") == Some(pending.time.as_str()) {
                true => error,
                false => given_up(error).context("instant", &pending.time),
            };
        }
        if let Err(left) = self.table.roll_back_own(&self.writer, &pending.time).await {
            let warning = format!("a failed write is left for the next one to roll back: {left}");
            self.table.meta.storage.warn(&warning, None);
        }
        error.context("instant", &pending.time)
    }
}

/// What went wrong once the rows were there. It must not look as if the write had failed: who then writes again has them twice.
fn unseen(done: &Instant, error: Error) -> Error {
    Error::commit_state_unknown("the rows are committed, and the table could not be read again")
        .context("instant", &done.time)
        .context("hint", "do not write the rows again; open the table anew")
        .with_source(error)
}

/// The next batch that holds rows.
async fn next_with_rows(
    batches: &mut BoxStream<'static, Result<RecordBatch>>,
) -> Result<Option<RecordBatch>> {
    while let Some(batch) = batches.next().await {
        let batch = batch?;
        if batch.num_rows() > 0 {
            return Ok(Some(batch));
        }
    }
    Ok(None)
}

/// Where nothing is written: see [`AppendWriter::bound`].
struct NoTarget;

#[async_trait::async_trait]
impl crate::write::FileTarget for NoTarget {
    async fn open(
        &self,
        _: &crate::model::PartitionPath,
        _: &str,
    ) -> Result<crate::write::OpenedFile> {
        Err(Error::internal("a check of columns writes nothing"))
    }
}
