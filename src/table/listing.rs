//! Where a read's file names come from: the metadata table when there is one, else the store.

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use futures::lock::Mutex;

use super::open::Table;
use crate::config::{ReadOptions, metadata_enabled};
use crate::error::{Error, ErrorKind, Result};
use crate::metadata::{MetadataListing, MetadataTable};
use crate::model::TableVersion;
use crate::storage::Storage;
use crate::timeline::MetaClient;
use crate::view::{DirectoryListing, FileListing, PartitionFiles, PartitionPruner, file_groups};

/// The metadata table of a handle, loaded once; shared by all calls of the handle.
pub(super) type MetadataCell = Arc<Mutex<Option<Arc<MetadataTable>>>>;

impl Table {
    /// The metadata table, if the table has one, the caller does not switch it off, and it can be used.
    ///
    /// One that is broken, or behind the data table, is warned of and not used. Errors: those of the storage that may pass.
    pub(super) async fn metadata(
        &self,
        options: &ReadOptions,
    ) -> Result<Option<Arc<MetadataTable>>> {
        match self.metadata_wanted(options)? {
            true => self.listing_of_metadata().usable().await,
            false => Ok(None),
        }
    }

    /// Whether the caller lets the metadata table be used, and it is there.
    fn metadata_wanted(&self, options: &ReadOptions) -> Result<bool> {
        // Its logs have names that begin with a dot, and without them it would answer with what was.
        let seen = !self.meta.storage.hides_dot_names();
        let on = self.metadata_switch(options)?.unwrap_or(true);
        Ok(on && seen && MetadataTable::is_there(&self.meta))
    }

    fn metadata_switch(&self, options: &ReadOptions) -> Result<Option<bool>> {
        match options.metadata_enabled()? {
            None => metadata_enabled(self.meta.config.properties()),
            on => Ok(on),
        }
    }

    fn listing_of_metadata(&self) -> TableListing {
        TableListing {
            meta: self.meta.clone(),
            metadata: Some(Arc::clone(&self.metadata)),
            check: false,
        }
    }

    /// Who names the files of a read.
    ///
    /// One folder is listed by one request, fewer than the metadata table costs, so for a table without partitions that is
    /// asked only when the caller says so. Errors: `InvalidArgument` for a switch that is neither true nor false.
    pub(super) fn listing(&self, options: &ReadOptions) -> Result<TableListing> {
        let pays = self.meta.config.is_partitioned()
            || options.check_listing
            || self.metadata_switch(options)? == Some(true);
        let wanted = pays && self.metadata_wanted(options)?;
        Ok(TableListing {
            metadata: wanted.then(|| Arc::clone(&self.metadata)),
            check: options.check_listing,
            ..self.listing_of_metadata()
        })
    }
}

/// Answers from the metadata table, or from the store where there is none, or where it fails.
#[derive(Clone)]
pub(super) struct TableListing {
    meta: MetaClient,
    /// `None` when only the store is asked.
    metadata: Option<MetadataCell>,
    /// Whether both are asked, and must agree.
    check: bool,
}

impl TableListing {
    /// The metadata table, unless it is broken or behind; then that is warned of.
    async fn usable(&self) -> Result<Option<Arc<MetadataTable>>> {
        match self.loaded().await {
            Ok(table) => Ok(Some(table)),
            Err(error) => self.worked_around(&error).then_some(None).ok_or(error),
        }
    }

    async fn loaded(&self) -> Result<Arc<MetadataTable>> {
        let Some(cell) = &self.metadata else {
            return Err(Error::internal("no metadata table was asked for"));
        };
        let mut held = cell.lock().await;
        let table = match &*held {
            Some(table) => Arc::clone(table),
            None => {
                let mut table = MetadataTable::load(&self.meta).await?;
                if table.lag(&self.meta.timeline).is_some() && self.meta.folder.is_known() {
                    table = MetadataTable::load_anew(&self.meta).await?;
                }
                Arc::clone(held.insert(Arc::new(table)))
            }
        };
        match table.lag(&self.meta.timeline) {
            None => Ok(table),
            Some(missing) => Err(Error::corrupt(
                "the metadata table is behind: a completed instant is not in it",
            )
            .context("instant", missing)),
        }
    }

    /// Lists the metadata table anew: a file that it had is gone.
    async fn load_anew(&self) -> Result<()> {
        if let Some(cell) = &self.metadata {
            let anew = MetadataTable::load_anew(&self.meta).await?;
            *cell.lock().await = Some(Arc::new(anew));
        }
        Ok(())
    }

    fn worked_around(&self, error: &Error) -> bool {
        let what = "the metadata table is not used, the store lists instead";
        worked_around(&self.meta.storage, what, error)
    }

    async fn answer(&self, pruner: &PartitionPruner) -> Result<Vec<PartitionFiles>> {
        let table = self.loaded().await?;
        let partitioned = self.meta.config.is_partitioned();
        let listing = MetadataListing::new(self.meta.storage.clone(), table, partitioned);
        listing.load(pruner).await
    }

    async fn list(&self, pruner: &PartitionPruner) -> Result<Vec<PartitionFiles>> {
        let partitioned = self.meta.config.is_partitioned();
        let listing = DirectoryListing::new(self.meta.storage.clone(), partitioned);
        listing.load(pruner).await
    }

    /// Fails with the first file that one side counts and the other does not.
    fn compare(&self, answered: &[PartitionFiles], listed: &[PartitionFiles]) -> Result<()> {
        let (answered, listed) = (self.counted(answered)?, self.counted(listed)?);
        // Logs of failed writes carry a committed instant in version 6; the metadata table never heard of them.
        let six = self.meta.config.version() == TableVersion::Six;
        let may_lack = |path: &str| {
            six && path
                .rsplit('/')
                .next()
                .is_some_and(|name| name.starts_with('.'))
        };
        let missing = listed.iter().find(|(path, size)| {
            answered.get(*path).is_none_or(|known| known != *size) && !may_lack(path)
        });
        let extra = answered.keys().find(|path| !listed.contains_key(*path));
        match missing.map(|(path, _)| path).or(extra) {
            None => Ok(()),
            Some(path) => Err(
                Error::corrupt("the metadata table and the store differ in a file")
                    .context("path", path)
                    .context(
                        "hint",
                        "hoodie.metadata.enable=false reads by the store's listing",
                    ),
            ),
        }
    }

    /// The files of all visible slices, with their sizes.
    fn counted(&self, files: &[PartitionFiles]) -> Result<BTreeMap<String, u64>> {
        let MetaClient {
            timeline, config, ..
        } = &self.meta;
        let groups = file_groups(files.to_vec(), timeline, config.version(), None)?;
        let slices = groups.into_iter().flat_map(|group| group.slices);
        let files = slices.flat_map(|slice| {
            let base = slice.base.map(|base| (base.path, base.size));
            let logs = slice.logs.into_iter().map(|log| (log.path, log.size));
            base.into_iter().chain(logs).collect::<Vec<_>>()
        });
        Ok(files.collect())
    }
}

#[async_trait]
impl FileListing for TableListing {
    async fn load(&self, pruner: &PartitionPruner) -> Result<Vec<PartitionFiles>> {
        if self.metadata.is_none() {
            return self.list(pruner).await;
        }
        let mut answered = self.answer(pruner).await;
        let gone = |error: &Error| error.kind() == ErrorKind::NotFound;
        if answered.as_ref().is_err_and(gone) && self.meta.folder.is_known() {
            self.load_anew().await?;
            answered = self.answer(pruner).await;
        }
        let answered = match answered {
            Ok(answered) => answered,
            Err(error) if !self.check && self.worked_around(&error) => {
                let listed = self.list(pruner).await;
                return listed.map_err(|listing| match listing.kind() {
                    ErrorKind::ListNotSupported => error,
                    _ => listing,
                });
            }
            Err(error) => return Err(error),
        };
        if self.check {
            let listed = self.list(pruner).await?;
            let kept = |files: &[PartitionFiles]| {
                let kept = files.iter().filter(|of| pruner.keeps(&of.partition));
                kept.cloned().collect::<Vec<_>>()
            };
            self.compare(&kept(&answered), &kept(&listed))?;
        }
        self.meta.storage.metrics().note_metadata_listing();
        Ok(answered)
    }
}

/// Whether a read can do without what failed so; then it is warned of.
pub(super) fn worked_around(storage: &Storage, what: &str, error: &Error) -> bool {
    let lasting = matches!(
        error.kind(),
        ErrorKind::Corrupt
            | ErrorKind::NotFound
            | ErrorKind::Unsupported
            | ErrorKind::PreconditionFailed
            | ErrorKind::LimitExceeded
    );
    if lasting {
        storage.warn(&format!("{what}: {error}"), error.get("path"));
    }
    lasting
}
