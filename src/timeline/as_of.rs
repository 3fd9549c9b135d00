//! May a snapshot be read as of this time? Asked before any file is.

use super::meta_client::MetaClient;
use super::retained;
use crate::error::{Error, Result};
use crate::model::{Action, Instant, InstantTime, State, TimelineLayout};
use crate::storage::Cause;

impl MetaClient {
    /// Checks that a snapshot as of a time, or of now, can be whole. The request time of instants decides.
    ///
    /// Errors:
    /// - `InstantPending` at or past the first incomplete commit, deltacommit or replacecommit. Pending table services
    ///   do not count: they change no rows.
    /// - `InstantExpired` before the first instant that the newest clean retained, when a clean by file versions removed
    ///   a file that was newest then (Spark answers with the rows that are left), and before the timeline's start
    ///   when something is archived: what was replaced then is no longer known.
    /// - `Corrupt` when the newest instant of the snapshot is completed but empty: it may be half written. An older
    ///   one is warned of.
    pub async fn check_as_of(&self, as_of: Option<&InstantTime>) -> Result<()> {
        if let Some(as_of) = as_of {
            self.check_settled(as_of).await?;
            self.check_retained(as_of).await?;
        }
        self.check_not_empty(as_of).await
    }

    /// The first pending instant that keeps time travel from going there.
    async fn first_incomplete(&self, up_to: &InstantTime) -> Result<Option<&Instant>> {
        for instant in self
            .timeline
            .pending_writes()
            .take_while(|i| i.time <= *up_to)
        {
            let counts = match instant.action {
                Action::Commit | Action::DeltaCommit => true,
                Action::ReplaceCommit => !self.is_clustering(instant).await?,
                _ => false,
            };
            if counts {
                return Ok(Some(instant));
            }
        }
        Ok(None)
    }

    async fn check_settled(&self, as_of: &InstantTime) -> Result<()> {
        let Some(first) = self.first_incomplete(as_of).await? else {
            return Ok(());
        };
        Err(
            Error::instant_pending("time travel reaches an instant that is not completed")
                .context("asOf", as_of)
                .context("instant", &first.time)
                .context("action", &first.action)
                .context(
                    "hint",
                    "ask for an earlier time, or leave the time out to read the newest snapshot",
                ),
        )
    }

    /// The part of [`MetaClient::check_as_of`] that asks whether files are still there.
    pub async fn check_retained(&self, as_of: &InstantTime) -> Result<()> {
        if let Some(clean) = self.last_clean().await? {
            let message = "the cleaner has removed files that this time needs";
            match clean.earliest_retained() {
                Some(earliest) if *as_of < earliest => {
                    return Err(expired(message, as_of).context("earliest", earliest));
                }
                Some(_) => {}
                None if retained::versions_kept(self, as_of).await? => {}
                None => return Err(expired(message, as_of)),
            }
        }
        let Some(start) = self.timeline.start().filter(|start| as_of < *start) else {
            return Ok(());
        };
        if self.has_archive().await? {
            let message =
                "this time is before the active timeline, and older instants are archived";
            return Err(expired(message, as_of).context("earliest", start));
        }
        Ok(())
    }

    /// Whether the archive folder stood beside the instants at open; true when it lies elsewhere, so that only asking tells.
    pub(super) fn may_have_archive(&self) -> bool {
        let folder = self.config.archive_folder();
        let beside = folder
            .rsplit_once('/')
            .is_some_and(|(parent, _)| parent == self.config.timeline_folder());
        !beside || self.timeline.has_folder(&folder)
    }

    /// Whether instants have been archived: the archive folder holds a file.
    ///
    /// Errors: `ListNotSupported` where the host does not list the archive's files, whose names begin with a dot.
    pub async fn has_archive(&self) -> Result<bool> {
        let folder = self.config.archive_folder();
        if !self.may_have_archive() {
            return Ok(false);
        }
        if self.storage.hides_dot_names() && self.config.version().layout() == TimelineLayout::One {
            return Err(Error::list_not_supported(
                "the host's listing hides the archived timeline of this table version",
            )
            .context("path", &folder)
            .context("hint", "give `listing: { manifest }`"));
        }
        let listed = self.storage.list_folder(&folder, Cause::Timeline).await?;
        let name = |path: &str| path.rsplit('/').next().unwrap_or_default().to_owned();
        Ok(listed
            .files
            .iter()
            .any(|file| !name(&file.path).ends_with(".crc")))
    }

    async fn check_not_empty(&self, as_of: Option<&InstantTime>) -> Result<()> {
        let within = |i: &&Instant| as_of.is_none_or(|as_of| i.time <= *as_of);
        let mut newest = true;
        for instant in self.timeline.completed_writes().rev().filter(within) {
            let file = self.timeline.file(instant, State::Completed);
            if let Some(file) = file.filter(|file| file.size == 0) {
                if newest && self.commit_metadata(instant).await?.is_none() {
                    return Err(Error::corrupt("the newest completed instant is empty: it may be half written")
                        .context("path", &file.path)
                        .context("instant", &instant.time)
                        .context("hint", "try again; if it stays, roll the instant back, or read as of an earlier time"));
                }
                if !newest {
                    self.storage.warn(
                        "a completed instant is empty; its files count as committed",
                        Some(&file.path),
                    );
                }
            }
            newest = false;
        }
        Ok(())
    }
}

fn expired(message: &str, as_of: &InstantTime) -> Error {
    Error::instant_expired(message).context("asOf", as_of)
}
