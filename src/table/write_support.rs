//! What a write needs of the metadata table and of the table services.

use std::collections::{BTreeMap, BTreeSet};

use arrow::datatypes::Schema;

use super::open::Table;
use super::write_checks::given_up;
use super::write_options::WriteOptions;
use crate::commit::{self, Pending, WriteClock, Writer};
use crate::error::Result;
use crate::index::{
    Index, MetadataChange, MetadataWriter, NewMetadataTable, bootstrap, require_known_indexes,
};
use crate::model::{Instant, InstantTime};
use crate::services::{
    MetadataServices, Rollbacks, RolledBack, archive, archive_is_due, archive_metadata, clean,
    clean_metadata, rollback, rollback_failed, rollback_pending,
};
use crate::write::WrittenFile;

const BUILDING: &str = "hoodie.table.metadata.partitions.inflight";

impl Table {
    /// The partitions of the metadata table that are being built.
    fn building(&self) -> Vec<&str> {
        let text = self.meta.config.properties().get(BUILDING);
        let names = text.map_or("", String::as_str).split(',').map(str::trim);
        names.filter(|name| !name.is_empty()).collect()
    }

    /// Refuses what a write would leave stale: partitions of the metadata table that are not maintained, and one that is being
    /// built. A build that ended before there were rows is ours to do again.
    pub(super) fn check_indexes(&self) -> Result<()> {
        let mut properties = self.meta.config.properties().clone();
        if self.meta.timeline.latest_commit().is_none() {
            properties.remove(BUILDING);
        }
        require_known_indexes(&properties)
    }

    /// Builds the metadata table that a table without rows is to have, if any.
    ///
    /// The caller is the only writer. Errors: those of the storage; the next write does it again then.
    pub(super) async fn build_indexes(self, clock: &WriteClock) -> Result<Self> {
        let building = self.building();
        if building.is_empty() || self.meta.timeline.latest_commit().is_some() {
            return Ok(self);
        }
        self.meta.storage.tell_phase("metadata");
        let indexes: Vec<_> = building.into_iter().filter_map(Index::of_folder).collect();
        let schema = self.schema(false).await?;
        let new = NewMetadataTable {
            indexes: &indexes,
            schema: &schema,
            options: &self.options.hudi_options,
        };
        let (storage, config) = (&self.meta.storage, &self.meta.config);
        let done = bootstrap(storage, config, clock, &new).await?;
        commit::update_properties(storage, |table| done.put(table)).await?;
        self.reloaded().await
    }

    /// Tells the metadata table what a write did, before it is completed.
    pub(super) async fn commit_indexes(
        index: Option<&MetadataWriter>,
        pending: &Pending,
        schema: &Schema,
        files: &[WrittenFile],
    ) -> Result<()> {
        let Some(index) = index else { return Ok(()) };
        let added: Vec<_> = files.iter().map(WrittenFile::added).collect();
        let change = MetadataChange {
            schema,
            added: &added,
            removed: &BTreeMap::new(),
            dropped: &BTreeSet::new(),
        };
        index.commit(&pending.time, &change).await
    }

    /// Rolls back what earlier writes left behind: pending writes, since nobody else is at work.
    pub(super) async fn roll_back_failed(self, writer: &Writer) -> Result<Self> {
        if self.meta.timeline.instants().all(Instant::is_completed) {
            return Ok(self);
        }
        let base = self.absolute_path();
        let all = Rollbacks {
            writer,
            base: &base,
        };
        let done = rollback_failed(&self.meta, all).await?;
        for undone in &done {
            let warning = format!("a failed write was rolled back: {}", undone.rolled_back);
            self.meta.storage.warn(&warning, None);
        }
        match done.is_empty() {
            true => Ok(self),
            false => self.reloaded().await,
        }
    }

    /// Rolls back a write of this handle that has just failed, and nothing else: whatever began meanwhile is somebody's work.
    pub(super) async fn roll_back_own(&self, writer: &Writer, time: &InstantTime) -> Result<()> {
        let table = self.reloaded().await?;
        let base = table.absolute_path();
        let all = Rollbacks {
            writer,
            base: &base,
        };
        if let Some(undone) = rollback_pending(&table.meta, all, time).await? {
            let warning = format!("a failed write was rolled back: {}", undone.rolled_back);
            table.meta.storage.warn(&warning, None);
        }
        Ok(())
    }

    /// What keeps the metadata table, where there is one, once its own services have run that are due: as a write begins, as in
    /// Hudi, since a write that a base file holds can no longer be taken back. What fails in them is warned of and gone on with by
    /// the next write, since the table reads as before; Java fails the write.
    pub(super) async fn index_writer(
        &self,
        writer: &Writer,
        options: &WriteOptions,
    ) -> Result<Option<MetadataWriter>> {
        let Some(index) = MetadataWriter::open(&self.meta, &writer.clock).await? else {
            return Ok(None);
        };
        if options.inline_services == Some(false) {
            return Ok(Some(index));
        }
        match self.serve_index(&index, writer).await {
            Ok(false) => return Ok(Some(index)),
            Ok(true) => {}
            Err(error) => {
                let warning = format!("a service of the metadata table failed: {error}");
                self.meta.storage.warn(&warning, error.get("path"));
            }
        }
        MetadataWriter::open(&self.meta, &writer.clock).await
    }

    /// Runs the services of the metadata table that are due, in Java's order: what is left of a compaction, a clean, a compaction,
    /// the archive. Whether there was one.
    async fn serve_index(&self, index: &MetadataWriter, writer: &Writer) -> Result<bool> {
        let due = MetadataServices::due(&self.meta.timeline, index.timeline(), writer);
        let (pending, full) = (
            index.compaction_is_pending(),
            index.compaction_is_due(writer),
        );
        if pending {
            index.compact(&self.meta, writer).await?;
        }
        // A clean leaves what a compaction has just replaced.
        if due.clean && !pending {
            let base = self.absolute_path();
            let all = Rollbacks {
                writer,
                base: &base,
            };
            clean_metadata(&self.meta, all).await?;
        }
        if full && !pending {
            index.compact(&self.meta, writer).await?;
        }
        let compacted = pending || full;
        if due.archive || (compacted && due.archive_compacted) {
            archive_metadata(&self.meta, writer).await?;
        }
        Ok(compacted || due.clean || due.archive)
    }

    /// Runs the services that are due; what fails in them is warned of, since the write is done.
    /// They are due once `hoodie.keep.max.commits` is passed: a clean, which archiving waits for, and then the archive.
    pub(super) async fn maintain(&self, writer: &Writer, options: &WriteOptions) {
        // This handle was opened before the commit.
        let due = archive_is_due(&self.meta, writer, 1);
        if !due || options.inline_services == Some(false) {
            return;
        }
        if let Err(error) = self.clean_and_archive(writer).await {
            let warning = format!("the table service after the commit failed: {error}");
            self.meta.storage.warn(&warning, error.get("path"));
        }
    }

    async fn clean_and_archive(&self, writer: &Writer) -> Result<()> {
        let on = |key: &str| {
            let value = writer.options.get(key).map(|value| value.trim());
            !value.is_some_and(|value| value.eq_ignore_ascii_case("false"))
        };
        let meta = self.reloaded().await?.meta;
        let base = self.absolute_path();
        if on("hoodie.clean.automatic") {
            let all = Rollbacks {
                writer,
                base: &base,
            };
            clean(&meta, all).await?;
        }
        if on("hoodie.archive.automatic") {
            archive(&meta, writer).await?;
        }
        Ok(())
    }

    /// Takes back the newest completed write, and gives what was done and the table without it.
    ///
    /// Dropping the future before its plan is written leaves the table as it was; later, the next write goes on with it.
    ///
    /// Errors: `NotFound` for an instant that is not on the timeline; `InvalidArgument` for one that is not the newest, or
    /// that a savepoint keeps; `Unsupported` for what table services wrote, and where the metadata table was compacted since;
    /// `WriteConflict` where others write; those of the storage, and then the next write goes on with it.
    pub async fn rollback(
        &self,
        instant: &str,
        options: WriteOptions,
    ) -> Result<(RolledBack, Self)> {
        let time = InstantTime::parse(instant)?;
        self.meta.storage.require_write()?;
        let all = options.under(&self.options.hudi_options);
        let zone = self.options.timezone.as_deref();
        let writer = options.writer(&self.meta, self.lock.clone(), all, zone)?;
        let held = writer.lock.write().await?;
        let table = self.ready(&writer).await.map_err(given_up)?;
        let base = table.absolute_path();
        let all = Rollbacks {
            writer: &writer,
            base: &base,
        };
        // What is planned is carried out, by the next write if need be: it is not to be told as given up.
        options.seal();
        table.meta.storage.tell_phase("write");
        let done = rollback(&table.meta, all, &time).await?;
        held.release().await;
        Ok((done, table.refresh().await?))
    }
}
