//! The clean and the archive of a metadata table, which is a table itself.

use super::archive::{archive_before, own_has_many, own_is_due};
use super::clean::{Cleaned, clean};
use super::clean_plan::{earliest_to_retain, retained_commits};
use super::rollback::Rollbacks;
use crate::commit::Writer;
use crate::error::Result;
use crate::metadata::partition::FOLDER;
use crate::model::{Action, Instant, InstantTime};
use crate::timeline::{MetaClient, Timeline};

/// The least that a metadata table's cleans retain.
const LEAST_RETAINED: usize = 20;
/// After a compaction its readers get so many instants to turn to the new files.
const SPARED: usize = 3;

/// Which services of a metadata table are due, as far as timelines tell: nothing is asked of the store.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MetadataServices {
    /// [`clean_metadata`].
    pub clean: bool,
    /// [`archive_metadata`].
    pub archive: bool,
    /// The same once a compaction has let instants go.
    pub archive_compacted: bool,
}

impl MetadataServices {
    /// Of a data table's timeline and the metadata table's own.
    pub fn due(data: &Timeline, own: &Timeline, writer: &Writer) -> Self {
        let options = own_options(writer);
        let archives = |before| own_is_due(own, &options, before);
        Self {
            clean: clean_is_due(own, retained_commits(&options)),
            archive: first_needed(data).is_some_and(archives),
            archive_compacted: own_has_many(own, &options),
        }
    }
}

/// Cleans a table's metadata table, by the options of the data table, from which Hudi derives those of the metadata table: what
/// twenty commits, or a fifth more than the data table retains, may still be read from stays.
///
/// Errors: as those of [`clean`]; what was planned is then gone on with by the next one.
///
/// Source: Hudi 1.1 `HoodieMetadataWriteUtils.createMetadataWriteConfig`, `HoodieBackedTableMetadataWriter.cleanIfNecessary`.
pub async fn clean_metadata(data: &MetaClient, all: Rollbacks<'_>) -> Result<Vec<Cleaned>> {
    let meta = MetaClient::load(data.storage.below(FOLDER)).await?;
    let own = Rollbacks {
        writer: &own_options(all.writer),
        base: &own_base(all.base),
    };
    clean(&meta, own).await
}

/// Archives the timeline of a table's metadata table, and says how many instants left it: one more than the data table keeps
/// stay, what a clean retains, and what the data table's active timeline may still ask for. `data` was loaded since the last write.
///
/// Errors: as those of [`archive`](super::archive()).
///
/// Source: as above, and Hudi 1.1 `TimelineUtils.getEarliestInstantForMetadataArchival`.
pub async fn archive_metadata(data: &MetaClient, writer: &Writer) -> Result<usize> {
    let Some(before) = first_needed(&data.timeline) else {
        return Ok(0);
    };
    let meta = MetaClient::load(data.storage.below(FOLDER)).await?;
    archive_before(&meta, &own_options(writer), Some(before)).await
}

/// The options of the metadata table: one instant more than the data table keeps stays.
///
/// At least as many stay as a clean retains, and one more. Java lets them go where the data table keeps fewer, and then never
/// cleans, since a clean counts what is on the timeline.
fn own_options(writer: &Writer) -> Writer {
    let mut own = writer.clone();
    let retained = (retained_commits(writer).saturating_mul(6) / 5).max(LEAST_RETAINED);
    let retained = i64::try_from(retained).unwrap_or(i64::MAX);
    let (min, max) = ("hoodie.keep.min.commits", "hoodie.keep.max.commits");
    let given = writer.number(min, 20);
    let more = writer.number(max, 30).saturating_sub(given).max(0);
    let kept = given.max(retained).saturating_add(1);
    for (key, value) in [
        ("hoodie.clean.commits.retained", retained),
        (min, kept),
        (max, kept.saturating_add(more)),
        (
            "hoodie.compact.inline.max.delta.commits",
            writer.number("hoodie.metadata.compact.max.delta.commits", 10),
        ),
    ] {
        own.options.insert(key.to_owned(), value.to_string());
    }
    own
}

/// The absolute path of the metadata table: Java names the scheme of the local disk there.
fn own_base(base: &str) -> String {
    let scheme = if base.starts_with('/') { "file:" } else { "" };
    format!("{scheme}{}/{FOLDER}", base.trim_end_matches('/'))
}

/// Whether a compaction replaced files that nobody reads any more and no clean has seen, or a clean ended early.
fn clean_is_due(own: &Timeline, retained: usize) -> bool {
    if is_just_compacted(own) {
        return false;
    }
    if own.pending(&Action::Clean).next().is_some() {
        return true;
    }
    let Some(earliest) = earliest_to_retain(own, retained) else {
        return false;
    };
    // The newest one before the first retained instant has replaced all that is older.
    let mut compactions = own.completed_writes().rev().filter(|i| replaces(i));
    let Some(compaction) = compactions.find(|compaction| compaction.time < earliest.time) else {
        return false;
    };
    let Some(clean) = own.completed(&Action::Clean).next_back() else {
        return true;
    };
    let seen = own.completed_writes().filter(|write| {
        let completed = write.completion.as_ref().unwrap_or(&write.time);
        write.time > compaction.time && *completed < clean.time
    });
    seen.count() < retained
}

fn is_just_compacted(own: &Timeline) -> bool {
    let Some(last) = own.completed_writes().rev().find(|i| replaces(i)) else {
        return false;
    };
    let later = |instant: &&Instant| instant.is_completed() && instant.time > last.time;
    own.instants().filter(later).count() < SPARED
}

/// Whether a completed write of a metadata table is a compaction, or took file groups away.
fn replaces(write: &Instant) -> bool {
    matches!(write.action, Action::Commit | Action::ReplaceCommit)
}

/// The data table's first write or its first pending instant, whichever is older.
fn first_needed(data: &Timeline) -> Option<&InstantTime> {
    let needed = |instant: &&Instant| instant.action.writes_data() || !instant.is_completed();
    let needed = data.instants().filter(needed);
    needed.map(|instant| &instant.time).min()
}

#[cfg(all(test, not(target_arch = "wasm32")))]
mod tests;
