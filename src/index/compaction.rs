//! Compaction of the metadata table: logs of its file groups to base files, so that an open does not grow by a log a commit.

use std::collections::BTreeMap;

use bytes::Bytes;

use super::compaction_merge::merge;
use super::compaction_plan::{deltas, most_deltas, must_wait, newest, pending, plan};
use super::layout::{Index, base_name, path};
use super::own_timeline::{compacted_body, compacted_stat, put_instant};
use super::record::writer_schema;
use super::shard_file::BaseFileWriter;
use super::writer::MetadataWriter;
use crate::codec::avro::WireSchema;
use crate::commit::Writer;
use crate::error::{Error, Result};
use crate::host;
use crate::metadata::partition::FOLDER;
use crate::metadata::{MetadataTable, ShardVersions};
use crate::model::{
    Action, BaseFile, FileName, FileSlice, InOrder, Instant, InstantTime, LogFile, PartitionPath,
    State,
};
use crate::storage::{Cause, ObjectMeta};
use crate::timeline::MetaClient;
use crate::timeline::payload::{CompactionOperation, CompactionPlan, WriteStat, parse, typed};

/// Keys after which others may have their turn.
const KEYS_A_TURN: u64 = 16_384;

/// What a compaction counted of one file group.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Counts {
    /// Records of the new base file.
    pub(super) written: u64,
    /// Those of keys that the base file before had not.
    pub(super) inserted: u64,
    /// Those of keys that both it and the logs had.
    pub(super) updated: u64,
    /// Keys that the logs say are gone.
    pub(super) deleted: u64,
    /// Keys in the logs.
    pub(super) log_keys: u64,
    /// Records and deletes in the logs.
    pub(super) log_records: u64,
    /// Blocks of the logs.
    pub(super) log_blocks: u64,
    /// Bytes of the new base file.
    pub(super) bytes: u64,
    /// How long it took, in milliseconds.
    pub(super) millis: i64,
}

impl MetadataWriter {
    /// Whether a compaction was begun and did not end.
    pub fn compaction_is_pending(&self) -> bool {
        pending(self.table.timeline()).next().is_some()
    }

    /// Whether so many delta commits came since the last compaction that one is due.
    pub fn compaction_is_due(&self, options: &Writer) -> bool {
        deltas(self.table.timeline()) >= most_deltas(&options.options)
    }

    /// Compacts the metadata table: goes on with what was begun, by its own plan, or else begins anew where
    /// `hoodie.metadata.compact.max.delta.commits` delta commits came since the last time. `data` was loaded since the last write,
    /// and nobody else writes.
    ///
    /// 1. The plan is there before any file of it, and the completed file is last: a stop anywhere leaves the logs as they are
    ///    read.
    /// 2. A compaction holds only what the data table has completed.
    /// 3. One file group is compacted after the other; of each the compressed base file is held, and some blocks of what it is
    ///    made of.
    ///
    /// Errors: `Unsupported` for a plan over what is not written here; `Corrupt`; `LockTimeout`; those of the storage. The table
    /// reads as before then, and the next write goes on with it.
    pub async fn compact(&self, data: &MetaClient, options: &Writer) -> Result<()> {
        let table = MetadataTable::load_anew(data).await?;
        let own = table.timeline();
        let begun: Vec<Instant> = pending(own).cloned().collect();
        for instant in &begun {
            let plan = self.stored_plan(&instant.time).await?;
            self.run(data, &table, instant, &plan).await?;
        }
        let due = deltas(own) >= most_deltas(&options.options);
        if !begun.is_empty() || !due || must_wait(&data.timeline, own) {
            return Ok(());
        }
        let plan = plan(&self.storage, &table, &self.indexes).await?;
        if plan.operations.is_empty() {
            return Ok(());
        }
        let section = options.lock.section().await?;
        let begun = self.begin(newest(&data.timeline, own), &plan).await;
        section.release().await;
        self.run(data, &table, &begun?, &plan).await
    }

    /// Claims an instant and leaves the plan under it.
    async fn begin(&self, newest: Option<InstantTime>, plan: &CompactionPlan) -> Result<Instant> {
        let time = self.clock.mint(newest.as_ref()).await?;
        let (action, state) = (Action::Compaction, State::Requested);
        let storage = &self.storage;
        put_instant(
            storage,
            &time,
            action.clone(),
            state,
            None,
            plan.to_bytes()?,
        )
        .await?;
        Ok(Instant {
            time,
            completion: None,
            action,
            state,
        })
    }

    async fn stored_plan(&self, time: &InstantTime) -> Result<CompactionPlan> {
        let path =
            super::own_timeline::instant_path(time, Action::Compaction, State::Requested, None);
        let bytes = self.storage.get_if_present(&path, Cause::Write).await?;
        let lacks = || Error::corrupt("a compaction has no plan").context("path", &path);
        let plan = parse(&bytes.ok_or_else(lacks)?);
        let plan = self.storage.checked(&path, plan)?.ok_or_else(lacks)?;
        typed(plan).map_err(|e| e.context("path", &path))
    }

    /// Carries a plan out: inflight, a base file an operation, completed.
    async fn run(
        &self,
        data: &MetaClient,
        table: &MetadataTable,
        instant: &Instant,
        plan: &CompactionPlan,
    ) -> Result<()> {
        let put = |action, state, completion, body| {
            put_instant(
                &self.storage,
                &instant.time,
                action,
                state,
                completion,
                body,
            )
        };
        if instant.state == State::Requested {
            put(Action::Compaction, State::Inflight, None, Bytes::new()).await?;
        }
        let mut folders: BTreeMap<&str, BTreeMap<String, ObjectMeta>> = BTreeMap::new();
        let mut stats: BTreeMap<String, Vec<WriteStat>> = BTreeMap::new();
        for (number, operation) in plan.operations.iter().enumerate() {
            let folder = operation.partition_path.as_str();
            if !folders.contains_key(folder) {
                folders.insert(folder, self.files_of(folder, &instant.time).await?);
            }
            let slice = slice_of(operation, folders.get(folder))?;
            let file = base_name(&slice.file_id, &instant.time, &format!("{number}-0-0"));
            let counts = self.rewrite(table, &slice, &path(folder, &file)).await?;
            let stat = compacted_stat(&slice, &file, &counts);
            stats.entry(folder.to_owned()).or_default().push(stat);
            host::turn().await;
        }
        let newest = newest(&data.timeline, table.timeline()).max(Some(instant.time.clone()));
        let completion = self.clock.mint(newest.as_ref()).await?;
        let body = compacted_body(stats)?;
        put(Action::Commit, State::Completed, Some(completion), body).await
    }

    /// The files of a partition by name, without base files that an earlier attempt left: those are removed.
    async fn files_of(
        &self,
        folder: &str,
        instant: &InstantTime,
    ) -> Result<BTreeMap<String, ObjectMeta>> {
        if Index::of_folder(folder).is_none() {
            return Err(Error::unsupported(
                "a compaction of an index that is not kept up to date here",
            )
            .context("partition", folder)
            .context("instant", instant));
        }
        let below = format!("{FOLDER}/{folder}");
        let mut files = BTreeMap::new();
        for file in self.storage.list_all(&below, None, Cause::Write).await? {
            let name = file.path.rsplit('/').next().unwrap_or_default().to_owned();
            match FileName::parse(&name) {
                Some(FileName::Base(base)) if base.instant == *instant => {
                    self.storage.delete(&file.path).await?;
                }
                _ => {
                    files.insert(name, file);
                }
            }
        }
        Ok(files)
    }

    /// One file group as a new base file.
    async fn rewrite(
        &self,
        table: &MetadataTable,
        slice: &FileSlice,
        path: &str,
    ) -> Result<Counts> {
        let began = host::now_millis();
        let text = writer_schema();
        let schema = WireSchema::parse(text.as_bytes())?;
        let (storage, fence) = (&self.storage, table.fence());
        let mut versions = ShardVersions::open(storage, slice, fence, schema.clone()).await?;
        let mut file = BaseFileWriter::new(&text);
        let mut counts = Counts::default();
        let mut keys = 0_u64;
        while let Some(found) = versions.next(storage).await? {
            let merged = merge(&schema, &found)?;
            counts.add(&found, merged.len());
            file.add(&found.key, &merged)?;
            keys += 1;
            if keys.is_multiple_of(KEYS_A_TURN) {
                host::turn().await;
            }
        }
        (counts.log_records, counts.log_blocks) = (versions.records, versions.blocks);
        let bytes = file.finish()?;
        counts.bytes = bytes.len() as u64;
        storage.put(path, bytes.into()).await?;
        counts.millis = host::now_millis() - began;
        Ok(counts)
    }
}

impl Counts {
    fn add(&mut self, found: &crate::metadata::Versions, left: usize) {
        let (old, changed) = (!found.base.is_empty(), !found.changes.is_empty());
        self.written += left as u64;
        self.log_keys += u64::from(changed);
        let of_key = match (changed, left > 0, old) {
            (false, ..) => return,
            (true, false, _) => &mut self.deleted,
            (true, true, false) => &mut self.inserted,
            (true, true, true) => &mut self.updated,
        };
        *of_key += 1;
    }
}

/// The slice that an operation means, of the files that are there.
///
/// Errors: `Corrupt` with the `path` of a file that is not.
fn slice_of(
    operation: &CompactionOperation,
    files: Option<&BTreeMap<String, ObjectMeta>>,
) -> Result<FileSlice> {
    let folder = operation.partition_path.as_str();
    let lacks = |path: &str| {
        Error::corrupt("a compaction of the metadata table lacks a file of its plan")
            .context("path", format!("{FOLDER}/{folder}/{path}"))
    };
    let find = |path: &str| {
        // Plans of version 1 have whole paths.
        let name = path.rsplit('/').next().unwrap_or(path);
        let file = files.and_then(|files| files.get(name));
        let file = file.ok_or_else(|| lacks(name))?;
        let parsed = FileName::parse(name).ok_or_else(|| lacks(name))?;
        Ok((parsed, file.path.clone(), file.size))
    };
    let base = match operation.data_file_path.as_deref() {
        None | Some("") => None,
        Some(path) => match find(path)? {
            (FileName::Base(name), path, size) => Some(BaseFile { name, path, size }),
            _ => return Err(lacks(path)),
        },
    };
    let log = |path: &String| match find(path)? {
        (FileName::Log(name), path, size) => Ok(LogFile { name, path, size }),
        _ => Err(lacks(path)),
    };
    let logs = operation.delta_file_paths.iter().map(log);
    let mut logs: Vec<LogFile> = logs.collect::<Result<_>>()?;
    logs.in_order_by(|a, b| a.name.cmp(&b.name));
    let instant = operation.base_instant_time.as_deref().unwrap_or_default();
    Ok(FileSlice {
        partition: PartitionPath::new(folder),
        file_id: operation.file_id.clone(),
        instant: InstantTime::parse(instant)?,
        base,
        logs,
    })
}

#[cfg(all(test, not(target_arch = "wasm32")))]
mod tests;
