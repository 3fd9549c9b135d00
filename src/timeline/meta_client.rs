//! Storage, configuration and timeline of one table.

use std::sync::Arc;

use bytes::Bytes;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::active::{InstantFile, Timeline};
use super::load;
use super::meta_folder::MetaFolder;
use super::payload::{self, CleanMetadata, CommitMetadata, RequestedReplaceMetadata};
use super::replaced::{self, ReplacedFileGroups};
use crate::config::TableConfig;
use crate::error::{Error, ErrorKind, Result};
use crate::model::{Action, InOrder, Instant, State};
use crate::storage::{CallScope, Cause, Storage};

/// One table as it was when it was opened; a data table or a metadata table alike. Cheap to clone.
#[derive(Clone)]
pub struct MetaClient {
    /// Where the table lies.
    pub storage: Storage,
    /// Its properties.
    pub config: Arc<TableConfig>,
    /// Its instants.
    pub timeline: Arc<Timeline>,
    /// What `.hoodie` held when it was opened.
    pub folder: Arc<MetaFolder>,
}

impl MetaClient {
    /// Opens the table at the storage's base: one round of requests; see [`MetaFolder`].
    ///
    /// Errors: `TableNotFound` without properties, `Unsupported` by name, `Corrupt`, and those of the storage.
    pub async fn load(storage: Storage) -> Result<Self> {
        let (config, timeline, folder) = load::load(&storage).await?;
        Ok(Self {
            storage,
            config: Arc::new(config),
            timeline: Arc::new(timeline),
            folder: Arc::new(folder),
        })
    }

    /// The same table, reporting to one API call.
    #[must_use]
    pub fn for_call(&self, scope: CallScope) -> Self {
        Self {
            storage: self.storage.for_call(scope),
            ..self.clone()
        }
    }

    /// What a completed write did; `None` when its file is empty, which a crash can leave behind: then nobody knows.
    ///
    /// Errors: `Corrupt`, `NotFound` once the instant is archived, with `path` and `instant`.
    pub async fn commit_metadata(&self, instant: &Instant) -> Result<Option<CommitMetadata>> {
        self.body(instant, State::Completed).await
    }

    /// What an instant's most advanced file with content says, as JSON text; `{}` when every file of it is empty.
    ///
    /// Errors: `InvalidArgument` for an instant that is not on this timeline, else as [`MetaClient::commit_metadata`].
    pub async fn instant_json(&self, instant: &Instant) -> Result<String> {
        let states = [State::Completed, State::Inflight, State::Requested];
        let known = states
            .iter()
            .any(|state| self.timeline.file(instant, *state).is_some());
        if !known {
            return Err(Error::invalid_argument("no such instant on the timeline")
                .context("instant", &instant.time)
                .context("action", &instant.action));
        }
        for state in states {
            if let Some(body) = self.body::<Value>(instant, state).await? {
                return Ok(body.to_string());
            }
        }
        Ok("{}".to_owned())
    }

    /// The file groups that completed replacecommits replaced; read once a handle, all at once.
    pub async fn replaced_file_groups(&self) -> Result<Arc<ReplacedFileGroups>> {
        replaced::load(self).await
    }

    /// What the newest completed clean says; read once a handle.
    pub async fn last_clean(&self) -> Result<Option<Arc<CleanMetadata>>> {
        if let Some(loaded) = self.timeline.last_clean.get() {
            return Ok(loaded.clone());
        }
        let clean = match self.timeline.completed(&Action::Clean).next_back() {
            Some(instant) => {
                let body = self
                    .body::<CleanMetadata>(instant, State::Completed)
                    .await?;
                let missing = || {
                    Error::corrupt("the newest clean is empty, so what it removed is not known")
                        .context("instant", &instant.time)
                };
                Some(Arc::new(body.ok_or_else(missing)?))
            }
            None => None,
        };
        Ok(self.timeline.last_clean.get_or_init(|| clean).clone())
    }

    /// The pending clusterings. Version 6 calls them replacecommits, so their plans must be read there.
    pub async fn pending_clusterings(&self) -> Result<Vec<&Instant>> {
        let mut found: Vec<_> = self.timeline.pending(&Action::Clustering).collect();
        for instant in self.timeline.pending(&Action::ReplaceCommit) {
            if self.is_clustering(instant).await? {
                found.push(instant);
            }
        }
        found.in_order();
        Ok(found)
    }

    /// Whether a pending instant is a clustering, by its action or by its plan.
    pub(super) async fn is_clustering(&self, instant: &Instant) -> Result<bool> {
        match instant.action {
            Action::Clustering => Ok(true),
            Action::ReplaceCommit => {
                let plan = self
                    .body::<RequestedReplaceMetadata>(instant, State::Requested)
                    .await?;
                Ok(plan.is_some_and(|plan| plan.is_clustering()))
            }
            _ => Ok(false),
        }
    }

    /// A typed body of an instant's file for a state; `None` when there is no such file or it is empty.
    pub async fn body<T: DeserializeOwned>(
        &self,
        instant: &Instant,
        state: State,
    ) -> Result<Option<T>> {
        let Some(file) = self.timeline.file(instant, state) else {
            return Ok(None);
        };
        let typed = async {
            let bytes = self.content(file).await?;
            payload::parse(&bytes)?.map(payload::typed).transpose()
        };
        let typed: Result<Option<T>> = typed.await;
        let typed = self.storage.checked(&file.path, typed);
        typed.map_err(|e| {
            e.context("path", &file.path)
                .context("instant", &instant.time)
        })
    }

    /// A store may show a completed file before its content: an empty answer, or one of another size than was listed,
    /// is asked for once more, past every cache.
    async fn content(&self, file: &InstantFile) -> Result<Bytes> {
        if file.state != State::Completed {
            return self
                .storage
                .get(&file.path, Cause::Timeline)
                .await
                .map_err(gone);
        }
        let first = match file.size {
            0 => self.storage.get(&file.path, Cause::Timeline).await,
            size => {
                self.storage
                    .get_immutable(&file.path, Some(size), Cause::Timeline)
                    .await
            }
        };
        let changed = match first {
            Ok(bytes) if !bytes.is_empty() => return Ok(bytes),
            Ok(_) => None,
            Err(error) if error.kind() == ErrorKind::PreconditionFailed => Some(error),
            Err(error) => return Err(gone(error)),
        };
        let again = self
            .storage
            .get(&file.path, Cause::Timeline)
            .await
            .map_err(gone)?;
        let settled = u64::try_from(again.len()) == Ok(file.size);
        match changed {
            Some(error) if !settled && !again.is_empty() => Err(error),
            _ => Ok(again),
        }
    }
}

fn gone(error: Error) -> Error {
    match error.kind() {
        ErrorKind::NotFound => error.context(
            "hint",
            "the instant may be archived or rolled back by now: refresh() and ask again",
        ),
        _ => error,
    }
}
