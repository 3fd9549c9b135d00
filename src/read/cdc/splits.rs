//! What the instants of a range did, file group by file group.

use std::collections::BTreeMap;

use futures::stream::{self, StreamExt, TryStreamExt};

use crate::error::{Error, Result};
use crate::model::{
    BaseFile, FileName, FileSlice, InOrder, Instant, InstantTime, LogFile, PartitionPath,
};
use crate::storage::Cause;
use crate::timeline::payload::{CommitMetadata, WriteStat};
use crate::timeline::{ChangeRange, MetaClient, settled_time};
use crate::view::{FileListing, PartitionPruner, file_groups};

/// Bodies of commits asked for at once; the storage holds its own bound on requests.
const PARALLEL: usize = 16;

/// Bytes asked for to learn a file's size.
const PROBE: u64 = 4;

/// Operations that move rows between files and change none.
const NO_CHANGE: [&str; 6] = [
    "CLUSTER",
    "COMPACT",
    "LOG_COMPACT",
    "INDEX",
    "ALTER_SCHEMA",
    "BUCKET_RESCALE",
];

/// What one instant did to one file group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Split {
    /// The instant: `ts_ms` of its changes.
    pub instant: InstantTime,
    /// The partition of the file group.
    pub partition: PartitionPath,
    /// The file group.
    pub file_id: String,
    /// Which files tell the changes.
    pub case: Case,
}

/// Where the changes of a split are found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Case {
    /// A new file group: every row is an insert.
    Inserted(BaseFile),
    /// The group is replaced, or a delete left no row of it: every row of the slice before is a delete.
    Removed(FileSlice),
    /// The writer logged the changes beside the file that it rewrote; images that are not in the log are in the two files.
    Logged {
        /// The change logs.
        logs: Vec<LogFile>,
        /// The path of the base file before, where the writer told it.
        before: Option<String>,
        /// The base file after.
        after: BaseFile,
    },
    /// A log file over the slice before.
    Appended {
        /// The slice before.
        before: FileSlice,
        /// The log file.
        log: LogFile,
    },
}

/// The splits of the instants that completed in a range, by completion and then by file group.
///
/// Errors: `InstantExpired` when archived instants are in the range, or files of a replaced group are gone; `Unsupported`
/// for a rewritten file without a change log; those of reading bodies.
pub async fn cdc_splits(
    meta: &MetaClient,
    listing: &dyn FileListing,
    range: &ChangeRange,
) -> Result<Vec<Split>> {
    let archived = meta.archived_writes(range.start.as_ref()).await?;
    if let Some(instant) = archived.iter().find(|i| range.contains(settled_time(i))) {
        return Err(
            Error::instant_expired("an instant of the range is archived")
                .context("instant", &instant.time)
                .context("hint", "a later start leaves it out"),
        );
    }
    let mut instants: Vec<&Instant> = meta.timeline.completed_in(range).collect();
    instants.in_order_by(|a, b| (settled_time(a), &a.time).cmp(&(settled_time(b), &b.time)));
    let bodies = instants.into_iter().map(|instant| async move {
        let body = meta.commit_metadata(instant).await?;
        let body = body.ok_or_else(|| {
            Error::corrupt("a completed instant is empty, so what it changed is not known")
                .context("instant", &instant.time)
        })?;
        Ok::<_, Error>((instant, body))
    });
    let bodies: Vec<(&Instant, CommitMetadata)> = stream::iter(bodies)
        .buffered(PARALLEL)
        .try_collect()
        .await?;
    let mut splits = Vec::new();
    let mut groups = Groups::default();
    for (instant, body) in bodies {
        let operation = body.operation_type.as_deref().unwrap_or_default();
        if NO_CHANGE.contains(&operation) {
            continue;
        }
        for (partition, file_ids) in &body.partition_to_replace_file_ids {
            for file_id in file_ids {
                let slice = groups.last_slice(meta, listing, partition, file_id).await?;
                splits.push(Split {
                    instant: instant.time.clone(),
                    partition: slice.partition.clone(),
                    file_id: file_id.clone(),
                    case: Case::Removed(slice),
                });
            }
        }
        for (partition, stats) in body.partition_to_write_stats {
            let partition = PartitionPath::new(partition);
            for stat in stats {
                let file_id = stat.file_id.clone();
                if let Some(case) = case(meta, &partition, stat).await? {
                    splits.push(Split {
                        instant: instant.time.clone(),
                        partition: partition.clone(),
                        file_id,
                        case,
                    });
                }
            }
        }
    }
    Ok(splits)
}

/// What one written file tells; `None` when it holds no change.
async fn case(
    meta: &MetaClient,
    partition: &PartitionPath,
    stat: WriteStat,
) -> Result<Option<Case>> {
    let Some(path) = stat.path.clone() else {
        return Ok(None);
    };
    let size = u64::try_from(stat.file_size_in_bytes).unwrap_or(0);
    let name = match path.rsplit('/').next().and_then(FileName::parse) {
        Some(FileName::Base(name)) => name,
        Some(FileName::Log(name)) => {
            let log = LogFile { name, path, size };
            return appended(meta, partition, stat, log).await.map(Some);
        }
        Some(FileName::NativeLog(_)) => {
            let message = "a log file of a table version newer than 9";
            return Err(Error::unsupported(message).context("path", path));
        }
        None => {
            let message = "a commit names a file that is no data file";
            return Err(Error::corrupt(message).context("path", path));
        }
    };
    let after = BaseFile { name, path, size };
    let before = previous(partition, &stat);
    if !stat.cdc_stats.is_empty() {
        let logs = stat.cdc_stats.into_iter().map(change_log);
        return Ok(Some(Case::Logged {
            logs: logs.collect::<Result<_>>()?,
            before,
            after,
        }));
    }
    let all_new = stat.num_update_writes == 0 && stat.num_deletes == 0;
    if all_new && stat.num_writes == stat.num_inserts {
        return Ok((stat.num_writes > 0).then_some(Case::Inserted(after)));
    }
    match before {
        Some(before) if stat.num_writes == 0 && stat.num_deletes > 0 => {
            let base = base_file(meta, before).await?;
            Ok(Some(Case::Removed(FileSlice {
                partition: partition.clone(),
                file_id: stat.file_id,
                instant: base.name.instant.clone(),
                base: Some(base),
                logs: Vec::new(),
            })))
        }
        _ => Err(
            Error::unsupported("a file was rewritten without a change log")
                .context("path", after.path)
                .context(
                    "hint",
                    "change data capture may have been off when it was written",
                ),
        ),
    }
}

/// A log file and the slice that it was written over, which its commit names.
async fn appended(
    meta: &MetaClient,
    partition: &PartitionPath,
    stat: WriteStat,
    log: LogFile,
) -> Result<Case> {
    let base = match stat.base_file.as_deref().filter(|name| !name.is_empty()) {
        Some(name) => Some(base_file(meta, partition.file_path(name)).await?),
        None => None,
    };
    let named = stat
        .log_files
        .iter()
        .map(|name| name.rsplit('/').next().unwrap_or(name));
    let mut logs = Vec::new();
    for name in named {
        let path = partition.file_path(name);
        let known = FileName::parse(name);
        if path == log.path {
            continue;
        }
        let Some(FileName::Log(name)) = known else {
            let message = "a commit names a log file that is none";
            return Err(Error::corrupt(message).context("path", path));
        };
        if !name.cdc {
            let first = meta.storage.get_first(&path, 0..PROBE, Cause::Log);
            let (size, _) = first.await?;
            logs.push(LogFile { name, path, size });
        }
    }
    logs.in_order_by(|a, b| a.name.cmp(&b.name));
    let before = base.as_ref().map(|base| &base.name.instant);
    let instant = before.unwrap_or(&log.name.instant).clone();
    Ok(Case::Appended {
        before: FileSlice {
            partition: partition.clone(),
            file_id: stat.file_id,
            instant,
            base,
            logs,
        },
        log,
    })
}

/// The path of the base file that was rewritten.
fn previous(partition: &PartitionPath, stat: &WriteStat) -> Option<String> {
    let name = stat.prev_base_file.as_deref();
    let name = name.filter(|name| !name.is_empty())?;
    Some(partition.file_path(name.rsplit('/').next().unwrap_or(name)))
}

fn change_log((path, size): (String, Option<i64>)) -> Result<LogFile> {
    let name = path.rsplit('/').next().and_then(FileName::parse);
    let size = size.and_then(|size| u64::try_from(size).ok());
    match (name, size) {
        (Some(FileName::Log(name)), Some(size)) => Ok(LogFile { name, path, size }),
        _ => Err(Error::corrupt("a commit names a change log that is none").context("path", path)),
    }
}

/// A base file by its path, which a commit names without its size.
pub(super) async fn base_file(meta: &MetaClient, path: String) -> Result<BaseFile> {
    let name = path.rsplit('/').next().and_then(FileName::parse);
    let Some(FileName::Base(name)) = name else {
        return Err(Error::corrupt("a commit names a base file that is none").context("path", path));
    };
    let (size, _) = meta
        .storage
        .get_first(&path, 0..PROBE, Cause::Footer)
        .await?;
    Ok(BaseFile { name, path, size })
}

/// The file groups of the table, listed once when one that was replaced is asked for.
#[derive(Default)]
struct Groups(Option<BTreeMap<(PartitionPath, String), FileSlice>>);

impl Groups {
    /// The last slice of a group, which nothing is added to once it is replaced.
    async fn last_slice(
        &mut self,
        meta: &MetaClient,
        listing: &dyn FileListing,
        partition: &str,
        file_id: &str,
    ) -> Result<FileSlice> {
        let partition = PartitionPath::new(partition);
        if self.0.is_none() {
            let files = listing.load(&PartitionPruner::none()).await?;
            let groups = file_groups(files, &meta.timeline, meta.config.version(), None)?;
            let slices = groups.into_iter().filter_map(|mut group| {
                let last = group.slices.pop()?;
                Some(((group.partition, group.file_id), last))
            });
            self.0 = Some(slices.collect());
        }
        let known = self.0.iter().flatten();
        let mut found = known.filter(|((place, id), _)| *place == partition && id == file_id);
        found.next().map(|(_, slice)| slice.clone()).ok_or_else(|| {
            Error::instant_expired("the files of a replaced file group are cleaned")
                .context("path", &partition)
                .context(
                    "hint",
                    "a later start leaves the instant out that replaced it",
                )
        })
    }
}
