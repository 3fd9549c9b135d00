//! What became of instants that are older than the active timeline.
//!
//! As in Hudi such an instant counts as completed without a question: what is archived was. But a write that failed long ago
//! and was rolled back is older too. Where files of that age are about to be read, the archive and the rollbacks are asked:
//!
//! | the archive says | files and blocks of the instant |
//! |---|---|
//! | completed | count, by its completion time where it has one |
//! | not completed, and a rollback or restore names it | do not count |
//! | nothing | count, with a warning |

use std::collections::{BTreeMap, BTreeSet};

use futures::future::try_join_all;

use super::active::Timeline;
use super::meta_client::MetaClient;
use super::payload::{RestoreMetadata, RollbackMetadata};
use crate::error::{ErrorKind, Result};
use crate::model::{Action, Instant, InstantTime, State, TimelineLayout};

/// What became of an archived instant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Fate {
    /// It completed, at this time where the archive says it.
    Completed(Option<InstantTime>),
    /// It was undone.
    RolledBack,
    /// Nobody says.
    Unknown,
}

/// What an archive says of instants from some time on.
#[derive(Debug, Default)]
pub(super) struct ArchivedInstants {
    /// Completed writes, with their completion times where those are kept.
    pub(super) completed: BTreeMap<InstantTime, Option<InstantTime>>,
    /// The targets of completed rollbacks and restores.
    pub(super) undone: BTreeSet<InstantTime>,
}

impl Timeline {
    /// Whether an instant is older than every write on the active timeline that no savepoint keeps there, and not on it.
    pub fn is_before_start(&self, time: &InstantTime) -> bool {
        let before = self.start().is_some_and(|start| time < start);
        before && !self.writes_at(time)
    }
}

impl MetaClient {
    /// Finds out what became of those of these instants that are older than the active timeline, so that
    /// [`Timeline::is_committed`] and [`Timeline::completion`] know. Nothing is asked for other instants, and nothing twice.
    ///
    /// An archive that is damaged is warned of, and counts as one that says nothing.
    pub async fn learn_archived(
        &self,
        instants: impl IntoIterator<Item = InstantTime>,
    ) -> Result<()> {
        let timeline = &self.timeline;
        let asked = instants.into_iter();
        let asked = asked.filter(|time| timeline.is_before_start(time));
        let asked: BTreeSet<InstantTime> = asked.filter(|time| !timeline.knows(time)).collect();
        let Some(first) = asked.first() else {
            return Ok(());
        };
        let archived = match self.archived_since(first, &asked).await {
            Ok(archived) => archived,
            Err(error) if matches!(error.kind(), ErrorKind::Corrupt | ErrorKind::Unsupported) => {
                let message = format!("the archived timeline is not used: {error}");
                self.storage.warn(&message, error.get("path"));
                ArchivedInstants::default()
            }
            Err(error) => return Err(error),
        };
        let undone = match asked
            .iter()
            .all(|time| archived.completed.contains_key(time))
        {
            true => BTreeSet::new(),
            false => self.undone_since(first).await?,
        };
        let mut unknown: Option<&InstantTime> = None;
        let fates = asked.iter().map(|time| {
            let fate = match archived.completed.get(time) {
                Some(completion) => Fate::Completed(completion.clone()),
                None if undone.contains(time) || archived.undone.contains(time) => Fate::RolledBack,
                None => {
                    unknown = unknown.or(Some(time));
                    Fate::Unknown
                }
            };
            (time.clone(), fate)
        });
        timeline.learn(fates.collect());
        if let Some(time) = unknown {
            let message = format!(
                "instants such as {time} are older than the timeline and not in its archive: they count as completed"
            );
            self.storage.warn(&message, None);
        }
        Ok(())
    }

    /// What the archive says of instants from `first` on: completed writes, and what was undone when some of `asked` are
    /// not among those.
    async fn archived_since(
        &self,
        first: &InstantTime,
        asked: &BTreeSet<InstantTime>,
    ) -> Result<ArchivedInstants> {
        if !self.may_have_archive() {
            return Ok(ArchivedInstants::default());
        }
        if self.config.version().layout() == TimelineLayout::One {
            return self.archived_logs_since(first).await;
        }
        let writes = self.archived_writes(Some(first)).await?;
        let completed = writes.into_iter().map(|i| (i.time, i.completion));
        let completed: BTreeMap<_, _> = completed.collect();
        let undone = match asked.iter().all(|time| completed.contains_key(time)) {
            true => BTreeSet::new(),
            false => self.archived_undone(first).await?,
        };
        Ok(ArchivedInstants { completed, undone })
    }

    /// What rollbacks and restores on the active timeline, requested after a time, have undone.
    async fn undone_since(&self, first: &InstantTime) -> Result<BTreeSet<InstantTime>> {
        let after = |instant: &&Instant| instant.time > *first;
        let rollbacks = self.timeline.completed(&Action::Rollback).filter(after);
        let rollbacks =
            try_join_all(rollbacks.map(|i| self.body::<RollbackMetadata>(i, State::Completed)));
        let restores = self.timeline.completed(&Action::Restore).filter(after);
        let restores =
            try_join_all(restores.map(|i| self.body::<RestoreMetadata>(i, State::Completed)));
        let (rollbacks, restores) = futures::try_join!(rollbacks, restores)?;
        let rolled_back = rollbacks
            .into_iter()
            .flatten()
            .flat_map(|r| r.commits_rollback);
        let restored = restores
            .into_iter()
            .flatten()
            .flat_map(|r| r.instants_to_rollback);
        Ok(times(rolled_back.chain(restored)))
    }
}

/// The instants among texts.
pub(super) fn times(texts: impl IntoIterator<Item = String>) -> BTreeSet<InstantTime> {
    let texts = texts.into_iter();
    texts
        .filter_map(|text| InstantTime::parse(&text).ok())
        .collect()
}

#[cfg(all(test, not(target_arch = "wasm32")))]
mod tests;
