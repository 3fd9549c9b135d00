//! The metadata table of one handle: its timeline, its partitions and their file groups.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures::future::try_join_all;

use super::fence::{BOOTSTRAP, Fence};
use super::partition::{FILES, FOLDER};
use super::shard::Shard;
use crate::error::{Error, Result};
use crate::model::{Action, FileName, FileSlice, InstantTime, PartitionPath, TableVersion};
use crate::storage::{Cause, ObjectMeta, Storage};
use crate::timeline::{MetaClient, MetaFolder, Timeline};
use crate::view::{PartitionFiles, file_groups};

/// The metadata table as it is seen beside one handle's timeline.
///
/// 1. Its timeline and its files are those that the listing of `.hoodie` showed at open. What that did not show is listed when it
///    is needed, partition by partition.
/// 2. A file group is opened once and kept as long as the table.
#[derive(Debug)]
pub struct MetadataTable {
    fence: Fence,
    timeline: Timeline,
    version: TableVersion,
    folder: Arc<MetaFolder>,
    /// The partitions that the table's properties list.
    names: BTreeSet<String>,
    partitions: Mutex<BTreeMap<String, Arc<[FileSlice]>>>,
    opened: Mutex<BTreeMap<String, Arc<Shard>>>,
}

impl MetadataTable {
    /// Whether a table's properties say that it has a metadata table with a `files` partition.
    pub fn is_there(data: &MetaClient) -> bool {
        data.config.metadata_partitions().contains(&FILES)
    }

    /// The metadata table as it was when the data table was opened.
    ///
    /// Errors: `Corrupt` when it has no timeline; those of the storage.
    pub async fn load(data: &MetaClient) -> Result<Self> {
        Self::of_folder(data, Arc::clone(&data.folder)).await
    }

    /// The same, of files that are listed anew: those of an older listing may be gone, and of a listing that ran while somebody
    /// wrote the end may be newer than the beginning.
    pub async fn load_anew(data: &MetaClient) -> Result<Self> {
        Self::of_folder(data, Arc::default()).await
    }

    async fn of_folder(data: &MetaClient, folder: Arc<MetaFolder>) -> Result<Self> {
        let version = data.config.version();
        // The folders of the timeline are those of its data table, one level down.
        let own = format!("{FOLDER}/{}", data.config.timeline_folder());
        let own = folder.directly_in(&data.storage, &own, Cause::Listing);
        let timeline = Timeline::of_files(&own.await?.files, version.layout());
        if timeline.instants().next().is_none() {
            return Err(broken("the metadata table has no timeline"));
        }
        let names = data.config.metadata_partitions().into_iter();
        Ok(Self {
            fence: Fence::new(&data.timeline, &timeline),
            timeline,
            version,
            folder,
            names: names.map(str::to_owned).collect(),
            partitions: Mutex::default(),
            opened: Mutex::default(),
        })
    }

    async fn find_slices(&self, storage: &Storage, partition: &str) -> Result<Vec<FileSlice>> {
        let path = format!("{FOLDER}/{partition}");
        let below = self.folder.below(storage, &path, Cause::Listing).await?;
        let in_view = |file: &ObjectMeta| {
            let name = file.path.get(path.len() + 1..).unwrap_or_default();
            !name.contains('/') && !is_ahead(name, &self.fence)
        };
        let files: Vec<_> = below.into_iter().filter(in_view).collect();
        if files.is_empty() {
            let message = "the metadata table lacks a partition that the table says it has";
            return Err(broken(message).context("partition", partition));
        }
        let files = PartitionFiles {
            partition: PartitionPath::new(partition),
            files,
        };
        let groups = file_groups(vec![files], &self.timeline, self.version, None)?;
        let newest = groups
            .into_iter()
            .filter_map(|mut group| group.slices.pop());
        Ok(newest.collect())
    }

    /// Which of its instants are seen.
    pub fn fence(&self) -> &Fence {
        &self.fence
    }

    /// Its own timeline.
    pub fn timeline(&self) -> &Timeline {
        &self.timeline
    }

    /// The first completed write of the data table that it lacks, though it goes back further: somebody wrote without keeping it
    /// up to date. It archives its oldest instants first, and what was written before it was built is in its first files.
    pub fn lag<'a>(&self, data: &'a Timeline) -> Option<&'a InstantTime> {
        let completed = || self.timeline.instants().filter(|i| i.is_completed());
        let own: BTreeSet<&str> = completed().map(|i| i.time.as_str()).collect();
        let last = own.last()?;
        let writes = completed().filter(|i| i.action == Action::DeltaCommit);
        let mut writes = writes.map(|i| i.time.as_str());
        let first = writes.find(|time| !time.starts_with(BOOTSTRAP));
        let lacks = |time: &&InstantTime| {
            let time = time.as_str();
            time > *last || (first.is_some_and(|first| time > first) && !own.contains(time))
        };
        data.completed_writes()
            .map(|instant| &instant.time)
            .find(lacks)
    }

    /// Whether there is such a partition, complete.
    pub fn has(&self, partition: &str) -> bool {
        self.names.contains(partition)
    }

    /// Names of its partitions.
    pub fn partitions(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(String::as_str)
    }

    /// The newest slices of a partition's file groups, by file id; none when there is no such partition.
    ///
    /// Errors: `Corrupt` when the table's properties list the partition and it has no file; those of the storage.
    pub async fn slices(&self, storage: &Storage, partition: &str) -> Result<Arc<[FileSlice]>> {
        if !self.has(partition) {
            return Ok(Arc::default());
        }
        if let Some(found) = locked(&self.partitions).get(partition) {
            return Ok(Arc::clone(found));
        }
        let found: Arc<[FileSlice]> = self.find_slices(storage, partition).await?.into();
        let mut partitions = locked(&self.partitions);
        let kept = partitions.entry(partition.to_owned()).or_insert(found);
        Ok(Arc::clone(kept))
    }

    /// A file group of it, opened unless it was before.
    pub async fn shard(&self, storage: &Storage, slice: &FileSlice) -> Result<Arc<Shard>> {
        if let Some(shard) = locked(&self.opened).get(&slice.file_id) {
            return Ok(Arc::clone(shard));
        }
        let shard = Arc::new(Shard::open(storage, slice, &self.fence).await?);
        let mut opened = locked(&self.opened);
        let kept = opened.entry(slice.file_id.clone()).or_insert(shard);
        Ok(Arc::clone(kept))
    }

    /// All file groups of a partition, in the order of their ids, which is that of their numbers.
    pub async fn shards(&self, storage: &Storage, partition: &str) -> Result<Vec<Arc<Shard>>> {
        let slices = self.slices(storage, partition).await?;
        try_join_all(slices.iter().map(|slice| self.shard(storage, slice))).await
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether a base file may hold what this handle must not see.
fn is_ahead(name: &str, fence: &Fence) -> bool {
    matches!(FileName::parse(name), Some(FileName::Base(base)) if fence.is_ahead(&base.instant))
}

pub(super) fn broken(message: &str) -> Error {
    Error::corrupt(message).context("path", FOLDER)
}
