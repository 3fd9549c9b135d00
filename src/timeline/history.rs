//! The archived timeline of layout 2: completed instants that left the active timeline.

use std::collections::BTreeSet;

use arrow::array::{Array, AsArray, RecordBatch};
use bytes::Bytes;
use chrono::TimeDelta;
use futures::future::try_join_all;
use serde::{Deserialize, Serialize};

use super::archived::times;
use super::meta_client::MetaClient;
use super::payload::{self, RestoreMetadata, RollbackMetadata};
use crate::codec::parquet::{
    Columns, Footer, GroupReader, GroupRequest, Step, first_range, metadata_range,
};
use crate::error::{Error, Result, ResultExt};
use crate::model::{Action, InOrder, Instant, InstantTime, State};
use crate::storage::{Cause, Storage};

/// How long Hudi takes an instant to last at most, from its request to its completion.
const LONGEST: TimeDelta = TimeDelta::days(1);

/// The columns that say when an instant was; the bodies beside them stay where they are.
const COLUMNS: [&str; 3] = ["instantTime", "completionTime", "action"];

/// The columns that say what a rollback or a restore has undone.
const UNDONE_COLUMNS: [&str; 2] = ["action", "metadata"];

/// A manifest: the files that count. Others in the folder are leftovers.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct HistoryManifest {
    /// The files, in the order in which they were added.
    pub files: Vec<HistoryFile>,
}

/// One file of archived instants.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct HistoryFile {
    /// `FIRST_LAST_LEVEL.parquet`, with the request times of its first and its last instant.
    pub file_name: String,
    /// Bytes.
    pub file_len: u64,
}

impl MetaClient {
    /// The archived completed writes that may have completed after a time, by request time; all of them without one.
    ///
    /// As in Hudi no instant is taken to last longer than a day, so that a recent time costs no file. Nothing is asked
    /// when the time is more than a day into the active timeline.
    ///
    /// Errors: those of reading, and `Corrupt` for a history that contradicts itself.
    pub async fn archived_writes(&self, since: Option<&InstantTime>) -> Result<Vec<Instant>> {
        let since = since.and_then(day_before);
        let Some(first) = self.timeline.start() else {
            return Ok(Vec::new());
        };
        if since.as_ref().is_some_and(|since| first <= since) {
            return Ok(Vec::new());
        }
        let files = self.history_files(since.as_ref()).await?;
        let files = files.into_iter().map(|(path, size)| async move {
            let mut found = Vec::new();
            let read = rows(&self.storage, &path, size, &COLUMNS, |batch| {
                add(batch, &mut found)
            });
            let read = read.await;
            self.storage.checked(&path, read).context("path", &path)?;
            Ok::<_, Error>(found)
        });
        let mut found: Vec<Instant> = try_join_all(files).await?.into_iter().flatten().collect();
        found.retain(|instant| {
            let active = self.timeline.find(&instant.time, &instant.action);
            instant.action.writes_data() && active.is_none()
        });
        found.in_order();
        found.dedup();
        Ok(found)
    }

    /// Every archived instant in the files that reach a time, by request time and action.
    pub async fn archived_instants(
        &self,
        since: &InstantTime,
    ) -> Result<BTreeSet<(InstantTime, Action)>> {
        let mut found = Vec::new();
        for (path, size) in self.history_files(Some(since)).await? {
            let read = rows(&self.storage, &path, size, &COLUMNS, |batch| {
                add(batch, &mut found)
            });
            let read = read.await;
            self.storage.checked(&path, read).context("path", &path)?;
        }
        let found = found.into_iter();
        Ok(found
            .map(|instant| (instant.time, instant.action))
            .collect())
    }

    /// The archive's manifest and its number: 0 when nothing was ever archived. Layout 2 alone has one.
    ///
    /// Errors: `Corrupt` for one that cannot be read; those of the storage.
    pub async fn history_manifest(&self) -> Result<(u64, HistoryManifest)> {
        let found = self.manifest(&self.config.archive_folder()).await?;
        Ok(found.unwrap_or_default())
    }

    /// What archived rollbacks and restores, requested at or after a time, have undone.
    pub(super) async fn archived_undone(
        &self,
        since: &InstantTime,
    ) -> Result<BTreeSet<InstantTime>> {
        let mut undone = BTreeSet::new();
        for (path, size) in self.history_files(Some(since)).await? {
            let read = rows(&self.storage, &path, size, &UNDONE_COLUMNS, |batch| {
                add_undone(batch, &mut undone)
            });
            let read = read.await;
            self.storage.checked(&path, read).context("path", &path)?;
        }
        Ok(undone)
    }

    /// Path and size of each file of the history that may hold instants requested at or after a time.
    async fn history_files(&self, since: Option<&InstantTime>) -> Result<Vec<(String, u64)>> {
        let folder = self.config.archive_folder();
        if !self.may_have_archive() {
            return Ok(Vec::new());
        }
        let Some((_, manifest)) = self.manifest(&folder).await? else {
            return Ok(Vec::new());
        };
        let wanted = manifest.files.into_iter().filter(|file| {
            let last = last_request(&file.file_name);
            since.is_none() || last.is_none() || last.as_ref() >= since
        });
        Ok(wanted
            .map(|file| (format!("{folder}/{}", file.file_name), file.file_len))
            .collect())
    }

    /// The manifest that the version file names, else the newest, with its number; `None` when nothing was ever archived.
    async fn manifest(&self, folder: &str) -> Result<Option<(u64, HistoryManifest)>> {
        let pointer = format!("{folder}/_version_");
        let pointer = self.storage.get_if_present(&pointer, Cause::Timeline);
        let said = pointer.await?;
        let said = said.and_then(|bytes| number(std::str::from_utf8(&bytes).ok()?));
        let version = match said {
            Some(version) => version,
            None => match self.newest_manifest(folder).await? {
                Some(version) => version,
                None => return Ok(None),
            },
        };
        let path = format!("{folder}/manifest_{version}");
        let bytes = self.storage.get(&path, Cause::Timeline).await?;
        let manifest = serde_json::from_slice(&bytes).map_err(|source| {
            Error::corrupt("a manifest of the archived timeline is no list of files")
                .context("path", &path)
                .with_source(source)
        });
        manifest.map(|manifest| Some((version, manifest)))
    }

    async fn newest_manifest(&self, folder: &str) -> Result<Option<u64>> {
        let listed = self.storage.list_folder(folder, Cause::Timeline).await?;
        let manifests = listed.files.iter().filter_map(|file| {
            let name = file.path.rsplit('/').next()?;
            number(name.strip_prefix("manifest_")?)
        });
        Ok(manifests.max())
    }
}

fn number(text: &str) -> Option<u64> {
    text.trim().parse().ok()
}

/// A day before an instant; `None` for digits that are no date.
fn day_before(time: &InstantTime) -> Option<InstantTime> {
    let clock = time.wall_clock()?.checked_sub_signed(LONGEST)?;
    Some(InstantTime::from_wall_clock(clock))
}

/// The request time of the last instant in a file, as its name says: `<first>_<last>_<level>.parquet`.
fn last_request(name: &str) -> Option<InstantTime> {
    InstantTime::parse(name.split('_').nth(1)?).ok()
}

/// Some columns of one file, batch by batch: its footer, and those columns.
async fn rows(
    storage: &Storage,
    path: &str,
    size: u64,
    names: &[&str],
    mut take: impl FnMut(&RecordBatch) -> Result<()> + Send,
) -> Result<()> {
    let footer = footer(storage, path, size).await?;
    let columns = Columns::by_name(&footer, names.iter().copied());
    for group in 0..footer.metadata().num_row_groups() {
        let request = GroupRequest {
            group,
            columns: columns.clone(),
            filter: None,
            selection: None,
            limit: None,
        };
        let mut reader = GroupReader::new(&footer, request)?;
        loop {
            match reader.step()? {
                Step::Batch(batch) => take(&batch)?,
                Step::Need(ranges) => {
                    let get = storage.get_ranges(path, size, &ranges, Cause::Timeline);
                    let bytes = get.await?;
                    reader.push(ranges, bytes)?;
                }
                Step::Done => break,
            }
        }
    }
    Ok(())
}

async fn footer(storage: &Storage, path: &str, size: u64) -> Result<Footer> {
    let get = async |range: std::ops::Range<u64>| -> Result<Bytes> {
        let got = storage.get_ranges(path, size, std::slice::from_ref(&range), Cause::Timeline);
        Ok(got.await?.pop().unwrap_or_default())
    };
    let tail = get(first_range(size)).await?;
    let range = metadata_range(size, &tail)?;
    let metadata = get(range.clone()).await?;
    Footer::parse(size, range.start, metadata)
}

fn add(batch: &RecordBatch, found: &mut Vec<Instant>) -> Result<()> {
    let text = |name: &str, at: usize| {
        let column = batch.column_by_name(name)?.as_string_opt::<i32>()?;
        (at < column.len() && column.is_valid(at)).then(|| column.value(at))
    };
    for at in 0..batch.num_rows() {
        let (time, action) = text("instantTime", at)
            .zip(text("action", at))
            .ok_or_else(|| Error::corrupt("an archived instant lacks its time or its action"))?;
        let completion = text("completionTime", at).map(InstantTime::parse);
        found.push(Instant {
            time: InstantTime::parse(time)?,
            completion: completion.transpose()?,
            action: Action::from_word(action),
            state: State::Completed,
        });
    }
    Ok(())
}

fn add_undone(batch: &RecordBatch, undone: &mut BTreeSet<InstantTime>) -> Result<()> {
    let actions = batch.column_by_name("action");
    let actions = actions.and_then(|column| column.as_string_opt::<i32>());
    let bodies = batch.column_by_name("metadata");
    let bodies = bodies.and_then(|column| column.as_binary_opt::<i32>());
    let (Some(actions), Some(bodies)) = (actions, bodies) else {
        return Err(Error::corrupt(
            "the archived timeline lacks its action or its metadata",
        ));
    };
    for (action, body) in actions.iter().zip(bodies) {
        let (Some(action), Some(body)) = (action, body) else {
            continue;
        };
        match Action::from_word(action) {
            Action::Rollback => {
                let body = payload::parse(body)?.map(payload::typed::<RollbackMetadata>);
                let body = body.transpose()?.unwrap_or_default();
                undone.extend(times(body.commits_rollback));
            }
            Action::Restore => {
                let body = payload::parse(body)?.map(payload::typed::<RestoreMetadata>);
                let body = body.transpose()?.unwrap_or_default();
                undone.extend(times(body.instants_to_rollback));
            }
            _ => {}
        }
    }
    Ok(())
}
