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
/// After a compaction its readers get so many instants to turn to the new files, or as many as there are between compactions: Java
/// never cleans where those are fewer.
const SPARED: usize = 3;

/// The deltacommits between its compactions.
const COMPACT_AFTER: &str = "hoodie.compact.inline.max.delta.commits";

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
        let retained = retained_commits(&options);
        let archives = |before| own_is_due(own, &options, before);
        Self {
            clean: clean_is_due(own, retained, spared(&options)),
            archive: archived_before(data, own, retained).is_some_and(archives),
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
    let meta = MetaClient::load(data.storage.below(FOLDER)).await?;
    let options = own_options(writer);
    let retained = retained_commits(&options);
    match archived_before(&data.timeline, &meta.timeline, retained) {
        Some(before) => archive_before(&meta, &options, Some(before)).await,
        None => Ok(0),
    }
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
            COMPACT_AFTER,
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

fn spared(own: &Writer) -> usize {
    let between = own.number(COMPACT_AFTER, 10);
    usize::try_from(between).map_or(SPARED, |between| between.min(SPARED))
}

/// Whether there is something to clean, or a clean ended early.
fn clean_is_due(own: &Timeline, retained: usize, spared: usize) -> bool {
    let begun = own.pending(&Action::Clean).next().is_some();
    (begun || uncleaned(own, retained).is_some()) && !is_just_compacted(own, spared)
}

/// The newest compaction before the first retained instant, where no clean has seen it: what it replaced nobody reads any more,
/// nor what those before it replaced.
fn uncleaned(own: &Timeline, retained: usize) -> Option<&Instant> {
    let earliest = earliest_to_retain(own, retained)?;
    let mut compactions = own.completed_writes().rev().filter(|i| replaces(i));
    let compaction = compactions.find(|compaction| compaction.time < earliest.time)?;
    let Some(clean) = own.completed(&Action::Clean).next_back() else {
        return Some(compaction);
    };
    let seen = own.completed_writes().filter(|write| {
        let completed = write.completion.as_ref().unwrap_or(&write.time);
        write.time > compaction.time && *completed < clean.time
    });
    (seen.count() < retained).then_some(compaction)
}

/// The first instant that is not archived: what the data table needs, and what tells that a clean is due.
fn archived_before<'a>(
    data: &'a Timeline,
    own: &'a Timeline,
    retained: usize,
) -> Option<&'a InstantTime> {
    let needed = first_needed(data)?;
    let uncleaned = uncleaned(own, retained).map(|instant| &instant.time);
    Some(uncleaned.map_or(needed, |uncleaned| uncleaned.min(needed)))
}

fn is_just_compacted(own: &Timeline, spared: usize) -> bool {
    let Some(last) = own.completed_writes().rev().find(|i| replaces(i)) else {
        return false;
    };
    let later = |instant: &&Instant| instant.is_completed() && instant.time > last.time;
    own.instants().filter(later).count() < spared
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
