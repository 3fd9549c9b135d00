//! What a write needs of the metadata table and of the table services.

use super::create_options::MAINTAINED;
use super::open::Table;
use super::write_options::WriteOptions;
use crate::commit::{Pending, Writer};
use crate::error::{Error, Result};
use crate::model::Instant;
use crate::services::{Rollbacks, rollback_failed};
use crate::write::{AppendOptions, WrittenFile};

const BUILDING: &str = "hoodie.table.metadata.partitions.inflight";

impl Table {
    /// The partitions of the metadata table that are being built.
    fn building(&self) -> Vec<&str> {
        let text = self.meta.config.properties().get(BUILDING);
        let names = text.map_or("", String::as_str).split(',').map(str::trim);
        names.filter(|name| !name.is_empty()).collect()
    }

    /// Refuses what a write would leave stale: partitions of the metadata table that are not maintained, one that is being
    /// built, a record index by partition.
    pub(super) async fn check_indexes(&self) -> Result<()> {
        let building = self.building();
        if !building.is_empty() && self.meta.timeline.latest_commit().is_some() {
            return Err(
                Error::unsupported("a partition of the metadata table is being built")
                    .context("property", BUILDING)
                    .context("value", building.join(","))
                    .context(
                        "hint",
                        "let the build end, or drop the partition with Spark",
                    ),
            );
        }
        let listed = self.meta.config.metadata_partitions();
        let other = listed.iter().find(|name| !MAINTAINED.contains(name));
        match other {
            Some(other) => Err(Error::unsupported(
                "the metadata table has a partition that this engine does not maintain",
            )
            .context("partition", other)
            .context(
                "hint",
                "drop it with Spark; it can be built again afterwards",
            )),
            None => Ok(()),
        }
    }

    /// Builds the metadata table of a table without rows.
    pub(super) async fn build_indexes(&self) -> Result<()> {
        Ok(())
    }

    pub(super) async fn with_indexes(self, _: &Writer) -> Result<Self> {
        match self.meta.config.metadata_partitions().is_empty() {
            true => Ok(self),
            false => Err(Error::unsupported(
                "writing to a table with a metadata table",
            )),
        }
    }

    /// Options of files as the metadata table needs them: keys for the record index.
    pub(super) fn sized_for_indexes(&self, files: AppendOptions) -> AppendOptions {
        let keyed = self
            .meta
            .config
            .metadata_partitions()
            .contains(&"record_index");
        AppendOptions {
            keep_keys: keyed,
            global_keys: keyed,
            ..files
        }
    }

    /// Tells the metadata table what a write did, before it is completed.
    pub(super) async fn commit_indexes(
        &self,
        _: &Writer,
        _: &Pending,
        _: &str,
        _: &[WrittenFile],
    ) -> Result<()> {
        Ok(())
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
            false => self.refresh().await,
        }
    }

    /// Rolls back a write of this handle that has just failed.
    pub(super) async fn roll_back_own(&self, writer: &Writer) -> Result<()> {
        self.refresh().await?.roll_back_failed(writer).await?;
        Ok(())
    }

    /// Runs the services that are due; what fails in them is warned of, since the write is done.
    pub(super) async fn maintain(&self, _: &Writer, _: &WriteOptions) {}
}
