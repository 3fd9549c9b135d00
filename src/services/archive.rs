//! Moving old instants from the active timeline into its history.

use std::collections::BTreeSet;

use bytes::Bytes;
use futures::future::try_join_all;

use super::archive_plan::{Keep, Limits, plan};
use super::clean_plan::{earliest_to_retain, retained_commits};
use super::history_file::{ArchivedInstant, encode};
use crate::commit::{Markers, Writer};
use crate::error::{Error, Result};
use crate::metadata::MetadataTable;
use crate::model::{Action, Instant, InstantTime, State, TableType, TimelineLayout};
use crate::storage::Cause;
use crate::timeline::payload::CleanerPlan;
use crate::timeline::{HistoryFile, HistoryManifest, MetaClient, Timeline};

/// Manifests that stay for readers which hold an older one, as in Hudi.
const MANIFESTS_KEPT: u64 = 3;
/// Deltacommits after which Hudi schedules a compaction: `hoodie.compact.inline.max.delta.commits`.
const COMPACT_AFTER: (&str, i64) = ("hoodie.compact.inline.max.delta.commits", 5);

/// Archives what is due, and says how many instants left the active timeline. `hoodie.archive.automatic=false` is the
/// caller's to heed.
///
/// 1. Instants are in the history before their files go, so a stop anywhere loses none; one that is in both counts once, and
///    is removed by the next archive.
/// 2. Of all instants the requested and inflight files go first, then the completed ones, oldest first: what is left never
///    looks pending, and has no gap.
///
/// Tables below version 8 are left as they are. Errors: `LockTimeout`; `Corrupt` for a history that cannot be read; those
/// of the storage.
pub async fn archive(meta: &MetaClient, writer: &Writer) -> Result<usize> {
    archive_before(meta, writer, None).await
}

/// The same; of a metadata table `before` is the first instant that its data table needs on the timeline.
pub(super) async fn archive_before(
    meta: &MetaClient,
    writer: &Writer,
    before: Option<&InstantTime>,
) -> Result<usize> {
    if meta.config.version().layout() == TimelineLayout::One {
        return Ok(0);
    }
    let section = writer.lock.section().await?;
    let archived = archive_locked(meta, writer, before).await;
    section.release().await;
    archived
}

/// Whether a table is to be archived that has so many more completed writes than a handle shows.
pub fn archive_is_due(meta: &MetaClient, writer: &Writer, more: usize) -> bool {
    meta.timeline.completed_writes().count() + more > keep(&meta.timeline, writer).max
}

/// Whether a metadata table will have more completed writes than stay, once it is compacted.
pub(super) fn own_has_many(own: &Timeline, writer: &Writer) -> bool {
    own.completed_writes().count() >= keep(own, writer).max
}

/// Whether instants of a metadata table's timeline would leave it, as far as the timelines tell.
pub(super) fn own_is_due(own: &Timeline, writer: &Writer, before: &InstantTime) -> bool {
    let limits = own_limits(own, writer, before);
    !plan(own, keep(own, writer), &limits).is_empty()
}

fn keep(timeline: &Timeline, writer: &Writer) -> Keep {
    let retained = earliest_to_retain(timeline, retained_commits(writer));
    Keep::of(writer, timeline, retained.map(|instant| &instant.time))
}

/// The limits of a metadata table, but for what its cleans removed.
fn own_limits(own: &Timeline, writer: &Writer, before: &InstantTime) -> Limits {
    let compaction = own.completed(&Action::Commit).next_back();
    Limits {
        compact_after: Some(compact_after(writer)),
        cleaned_until: None,
        compacted: Some(compaction.map(|instant| instant.time.clone())),
        before: Some(before.clone()),
    }
}

fn compact_after(writer: &Writer) -> usize {
    let (key, default) = COMPACT_AFTER;
    usize::try_from(writer.number(key, default)).unwrap_or(1)
}

async fn archive_locked(
    meta: &MetaClient,
    writer: &Writer,
    before: Option<&InstantTime>,
) -> Result<usize> {
    let meta = MetaClient::load(meta.storage.refreshed()).await?;
    let timeline = &meta.timeline;
    let keep = keep(timeline, writer);
    if timeline.completed_writes().count() <= keep.max {
        return Ok(0);
    }
    let limits = match before {
        Some(before) => Limits {
            cleaned_until: cleaned_until(&meta).await?,
            ..own_limits(timeline, writer, before)
        },
        None => limits(&meta, writer).await?,
    };
    let leaving = plan(timeline, keep, &limits);
    let Some(first) = leaving.first() else {
        return Ok(0);
    };
    let there = meta.archived_instants(&first.time).await?;
    let is_new =
        |instant: &&Instant| !there.contains(&(instant.time.clone(), instant.action.clone()));
    let new: Vec<&Instant> = leaving.iter().copied().filter(is_new).collect();
    if !new.is_empty() {
        publish(&meta, &new).await?;
    }
    remove(&meta, &leaving).await?;
    Ok(leaving.len())
}

async fn limits(meta: &MetaClient, writer: &Writer) -> Result<Limits> {
    let compacted = match MetadataTable::is_there(meta) {
        true => {
            let own = MetadataTable::load_anew(meta).await?;
            let compaction = own.timeline().completed(&Action::Commit).next_back();
            Some(compaction.map(|instant| instant.time.clone()))
        }
        false => None,
    };
    let mor = meta.config.table_type() == TableType::MergeOnRead;
    Ok(Limits {
        compact_after: mor.then(|| compact_after(writer)),
        cleaned_until: cleaned_until(meta).await?,
        compacted,
        before: None,
    })
}

/// Up to where the newest clean has removed what replacecommits replaced.
async fn cleaned_until(meta: &MetaClient) -> Result<Option<InstantTime>> {
    let Some(clean) = meta.timeline.completed(&Action::Clean).next_back() else {
        return Ok(None);
    };
    let plan: Option<CleanerPlan> = meta.body(clean, State::Requested).await?;
    let retained = plan.and_then(|plan| plan.earliest_instant_to_retain);
    let retained = retained.filter(|instant| !instant.timestamp.is_empty());
    match retained {
        Some(instant) => InstantTime::parse(&instant.timestamp).map(Some),
        // It counted file versions, which replaced groups have none of.
        None => Ok(Some(clean.time.clone())),
    }
}

/// Puts instants into the history: the file, the manifest that names it, and the pointer to that, in this order.
async fn publish(meta: &MetaClient, new: &[&Instant]) -> Result<()> {
    let rows = try_join_all(new.iter().map(|instant| archived(meta, instant))).await?;
    let (Some(first), Some(last)) = (new.first(), new.last()) else {
        return Ok(());
    };
    let bytes = encode(&rows)?;
    let folder = meta.config.archive_folder();
    let file = HistoryFile {
        file_name: format!("{}_{}_0.parquet", first.time, last.time),
        file_len: bytes.len() as u64,
    };
    let (version, mut manifest) = meta.history_manifest().await?;
    let path = format!("{folder}/{}", file.file_name);
    meta.storage.put(&path, bytes).await?;
    manifest.files.push(file);
    let next = version + 1;
    let path = format!("{folder}/manifest_{next}");
    meta.storage.put(&path, text(&manifest)).await?;
    let pointer = format!("{folder}/_version_");
    meta.storage.put(&pointer, next.to_string().into()).await?;
    if let Some(old) = next.checked_sub(MANIFESTS_KEPT).filter(|old| *old > 0) {
        let path = format!("{folder}/manifest_{old}");
        meta.storage.delete(&path).await?;
    }
    Ok(())
}

/// A manifest in the shape that Java's writer gives it.
fn text(manifest: &HistoryManifest) -> Bytes {
    let files = manifest.files.iter().map(|file| {
        format!(
            "{{\n    \"fileName\" : \"{}\",\n    \"fileLen\" : {}\n  }}",
            file.file_name, file.file_len
        )
    });
    let files: Vec<_> = files.collect();
    format!("{{\n  \"files\" : [ {} ]\n}}", files.join(", ")).into()
}

async fn archived(meta: &MetaClient, instant: &Instant) -> Result<ArchivedInstant> {
    let content = async |state: State| match meta.timeline.file(instant, state) {
        Some(file) => meta
            .storage
            .get(&file.path, Cause::Timeline)
            .await
            .map(Some),
        None => Ok(None),
    };
    let metadata = content(State::Completed).await?.ok_or_else(|| {
        Error::internal("an instant without a completed file is to be archived")
            .context("instant", &instant.time)
    })?;
    let plan = match (&instant.action, planned_by(meta, instant)) {
        (Action::Clean, _) | (Action::Commit | Action::DeltaCommit, true) => {
            content(State::Requested).await?
        }
        (Action::ReplaceCommit, _) => match content(State::Inflight).await? {
            Some(bytes) if !bytes.is_empty() => Some(bytes),
            _ => content(State::Requested).await?,
        },
        _ => None,
    };
    Ok(ArchivedInstant {
        instant: instant.clone(),
        metadata,
        plan,
    })
}

/// Whether a completed instant was a compaction or a log compaction, as its requested file's name says.
fn planned_by(meta: &MetaClient, instant: &Instant) -> bool {
    let requested = meta.timeline.file(instant, State::Requested);
    requested.is_some_and(|file| file.path.ends_with("compaction.requested"))
}

/// Removes instants from the active timeline, and markers that they left.
async fn remove(meta: &MetaClient, leaving: &[&Instant]) -> Result<()> {
    for state in [State::Requested, State::Inflight, State::Completed] {
        for instant in leaving {
            if let Some(file) = meta.timeline.file(instant, state) {
                meta.storage.delete(&file.path).await?;
            }
        }
    }
    let left = meta
        .storage
        .list_folder(".hoodie/.temp", Cause::Write)
        .await?;
    let left: BTreeSet<&str> = left
        .folders
        .iter()
        .filter_map(|folder| folder.rsplit('/').next())
        .collect();
    for instant in leaving {
        if instant.action.writes_data() && left.contains(instant.time.as_str()) {
            Markers::open(&meta.storage, &instant.time).remove().await;
        }
    }
    Ok(())
}

#[cfg(all(test, not(target_arch = "wasm32")))]
mod tests;
