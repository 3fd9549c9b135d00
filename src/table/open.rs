use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Deserialize;

use super::listing::MetadataCell;
use crate::commit::{self, Outcome, TableLock};
use crate::error::{Error, Result};
use crate::host;
use crate::model::{InstantTime, TableType};
use crate::storage::{CallScope, Storage};
use crate::timeline::{MetaClient, TimelineClock};

/// Options that hold as long as a handle, as JavaScript hands them over.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct OpenOptions {
    /// The zone of a table whose timeline is LOCAL: `host` or an IANA name.
    pub timezone: Option<String>,
    /// The table's path as other engines name it, such as `s3a://bucket/table`; on the local disk without a scheme. Plans of
    /// table services hold absolute paths.
    pub canonical_uri: Option<String>,
    /// Table keys that stand over those of `hoodie.properties`; `hoodie.read.*` keys are dropped with a warning.
    pub hudi_options: BTreeMap<String, String>,
}

/// One table, pinned to the set of instants that were completed when it was opened. Cheap to clone.
#[derive(Clone)]
pub struct Table {
    pub(super) meta: MetaClient,
    pub(super) options: Arc<OpenOptions>,
    pub(super) clock: TimelineClock,
    pub(super) metadata: MetadataCell,
    pub(super) lock: TableLock,
}

impl std::fmt::Debug for Table {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let name = self.meta.config.table_name();
        f.debug_struct("Table").field("name", &name).finish()
    }
}

impl Table {
    /// Opens the table at the storage's base: its properties and its timeline, in one round of requests (two for table
    /// version 6).
    ///
    /// Errors: `TableNotFound` without `.hoodie/hoodie.properties`, `Unsupported` by name, `Corrupt`, `ListNotSupported`
    /// for a merge-on-read table whose log files the host does not list, and those of the storage.
    pub async fn open(storage: Storage, mut options: OpenOptions) -> Result<Self> {
        options.hudi_options.retain(|key, _| {
            let of_a_read = key.starts_with("hoodie.read.");
            if of_a_read {
                let warning = format!("{key} is an option of a read and was dropped");
                storage.warn(&warning, None);
            }
            !of_a_read
        });
        let zone = options.timezone.as_deref().map(host::zone).transpose()?;
        let meta = load(storage, &options).await?;
        Ok(Self {
            clock: TimelineClock::new(meta.config.timeline_zone(), zone),
            options: Arc::new(options),
            metadata: MetadataCell::default(),
            lock: TableLock::in_process(&meta.storage),
            meta,
        })
    }

    /// The same table with the metrics and the observer of one call.
    #[must_use]
    pub fn for_call(&self, scope: CallScope) -> Self {
        Self {
            meta: self.meta.for_call(scope),
            ..self.clone()
        }
    }

    /// The same table under a lock that reaches further than this process, by a name that is the same in every handle.
    #[must_use]
    pub fn with_lock(&self, lock: TableLock) -> Self {
        Self {
            lock,
            ..self.clone()
        }
    }

    /// What became of an instant whose completion was not answered: reads again and writes nothing.
    ///
    /// Errors: `InvalidArgument` for text that is no instant; those of the storage.
    pub async fn resolve(&self, instant: &str) -> Result<Outcome> {
        let instant = InstantTime::parse(instant)?;
        let meta = self.refresh().await?.meta;
        let outcome = commit::resolve(&meta, &instant);
        if outcome != Outcome::Unknown {
            return Ok(outcome);
        }
        meta.learn_archived([instant.clone()]).await?;
        let lost = meta.timeline.has_lost(&instant);
        Ok(match (lost, meta.timeline.is_committed(&instant)) {
            (true, _) => Outcome::Unknown,
            (false, true) => Outcome::Committed,
            (false, false) => Outcome::NotCommitted,
        })
    }

    /// A handle that sees what has been completed since.
    pub async fn refresh(&self) -> Result<Self> {
        let storage = self.meta.storage.refreshed();
        Ok(Self {
            meta: load(storage, &self.options).await?,
            metadata: MetadataCell::default(),
            ..self.clone()
        })
    }

    /// As [`refresh`](Self::refresh), within a call that goes on: what it does is told to whoever hears this one.
    pub(super) async fn reloaded(&self) -> Result<Self> {
        let scope = self.meta.storage.scope().clone();
        Ok(self.refresh().await?.for_call(scope))
    }

    /// The table's absolute path as plans of table services hold it.
    pub(super) fn absolute_path(&self) -> String {
        match self.options.canonical_uri.as_deref() {
            Some(uri) => {
                let local = uri.strip_prefix("file://").or(uri.strip_prefix("file:"));
                local.unwrap_or(uri).trim_end_matches('/').to_owned()
            }
            None => format!("/{}", self.meta.storage.base()),
        }
    }

    /// Where the table lies, with the metrics of this call.
    pub fn storage(&self) -> &Storage {
        &self.meta.storage
    }
}

/// The table with the caller's keys over its own.
async fn load(storage: Storage, options: &OpenOptions) -> Result<MetaClient> {
    let mut meta = MetaClient::load(storage).await?;
    let mor = meta.config.table_type() == TableType::MergeOnRead;
    if mor && meta.storage.hides_dot_names() {
        return Err(Error::list_not_supported(
            "the host's listing hides log files, so a merge-on-read table cannot be read through it",
        )
        .context("hint", "give `listing: { manifest }`: npm run manifest -- <folder> writes one"));
    }
    if !options.hudi_options.is_empty() {
        meta.config = Arc::new(meta.config.with(&options.hudi_options)?);
    }
    Ok(meta)
}
