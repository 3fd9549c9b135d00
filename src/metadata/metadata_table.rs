//! The metadata table of one handle: its timeline, its partitions and their file groups.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use futures::future::try_join_all;

use super::fence::Fence;
use super::partition::{FILES, FOLDER};
use super::shard::Shard;
use crate::error::{Error, Result};
use crate::model::{FileName, FileSlice, InstantTime, PartitionPath};
use crate::storage::{Cause, ObjectMeta, Storage};
use crate::timeline::{MetaClient, Timeline};
use crate::view::{PartitionFiles, file_groups};

/// The metadata table as it is seen beside one handle's timeline.
///
/// 1. One listing of everything below `.hoodie/metadata` finds its timeline and all its files.
/// 2. A file group is opened once and kept as long as the table.
#[derive(Debug)]
pub struct MetadataTable {
    fence: Fence,
    timeline: Timeline,
    /// The newest slices of the partitions' file groups, by file id.
    partitions: BTreeMap<String, Vec<FileSlice>>,
    opened: Mutex<BTreeMap<String, Arc<Shard>>>,
}

impl MetadataTable {
    /// Whether a table's properties say that it has a metadata table with a `files` partition.
    pub fn is_there(data: &MetaClient) -> bool {
        data.config.metadata_partitions().contains(&FILES)
    }

    /// Lists the metadata table and finds its slices.
    ///
    /// Errors: `Corrupt` when it has no timeline or lacks a partition that the table's properties list; those of the storage.
    pub async fn load(data: &MetaClient) -> Result<Self> {
        let listed = data.storage.list_all(FOLDER, None, Cause::Listing).await?;
        let (version, layout) = (data.config.version(), data.config.version().layout());
        let below = |file: &ObjectMeta| {
            file.path
                .strip_prefix(FOLDER)?
                .strip_prefix('/')
                .map(str::to_owned)
        };
        // The folders of the timeline are those of its data table, one level down.
        let folder = format!("{FOLDER}/{}", data.config.timeline_folder());
        let in_folder = |file: &&ObjectMeta| {
            file.path
                .rsplit_once('/')
                .is_some_and(|(of, _)| of == folder)
        };
        let instants: Vec<_> = listed.iter().filter(in_folder).cloned().collect();
        let timeline = Timeline::of_files(&instants, layout);
        if timeline.instants().next().is_none() {
            return Err(broken("the metadata table has no timeline"));
        }
        let fence = Fence::new(&data.timeline, &timeline);
        let mut files: BTreeMap<String, Vec<ObjectMeta>> = BTreeMap::new();
        for file in listed {
            if let Some((partition, name)) = below(&file)
                .as_deref()
                .and_then(|path| path.split_once('/'))
                && !partition.starts_with('.')
                && !is_ahead(name, &fence)
            {
                files.entry(partition.to_owned()).or_default().push(file);
            }
        }
        let mut partitions = BTreeMap::new();
        for name in data.config.metadata_partitions() {
            let files = files.remove(name).ok_or_else(|| {
                broken("the metadata table lacks a partition that the table says it has")
                    .context("partition", name)
            })?;
            let files = PartitionFiles {
                partition: PartitionPath::new(name),
                files,
            };
            let groups = file_groups(vec![files], &timeline, version, None)?;
            let newest = groups
                .into_iter()
                .filter_map(|mut group| group.slices.pop());
            partitions.insert(name.to_owned(), newest.collect());
        }
        Ok(Self {
            fence,
            timeline,
            partitions,
            opened: Mutex::default(),
        })
    }

    /// Which of its instants are seen.
    pub fn fence(&self) -> &Fence {
        &self.fence
    }

    /// Its own timeline.
    pub fn timeline(&self) -> &Timeline {
        &self.timeline
    }

    /// The first completed write of the data table that it knows nothing of, though it knows older ones: somebody wrote
    /// without keeping it up to date.
    pub fn lag<'a>(&self, data: &'a Timeline) -> Option<&'a InstantTime> {
        let own: Vec<&InstantTime> = self
            .timeline
            .instants()
            .filter(|i| i.is_completed())
            .map(|i| &i.time)
            .collect();
        let last = own.iter().max()?;
        let behind = |time: &&InstantTime| time.as_str() > last.as_str();
        data.completed_writes()
            .map(|instant| &instant.time)
            .find(behind)
    }

    /// Whether there is such a partition, complete.
    pub fn has(&self, partition: &str) -> bool {
        self.partitions.contains_key(partition)
    }

    /// Partitions whose names begin so.
    pub fn partitions(&self) -> impl Iterator<Item = &str> {
        self.partitions.keys().map(String::as_str)
    }

    /// The newest slices of a partition's file groups, by file id; none when there is no such partition.
    pub fn slices(&self, partition: &str) -> &[FileSlice] {
        self.partitions.get(partition).map_or(&[], Vec::as_slice)
    }

    /// A file group of it, opened unless it was before.
    pub async fn shard(&self, storage: &Storage, slice: &FileSlice) -> Result<Arc<Shard>> {
        if let Some(shard) = self.opened().get(&slice.file_id) {
            return Ok(Arc::clone(shard));
        }
        let shard = Arc::new(Shard::open(storage, slice, &self.fence).await?);
        let mut opened = self.opened();
        let kept = opened.entry(slice.file_id.clone()).or_insert(shard);
        Ok(Arc::clone(kept))
    }

    /// All file groups of a partition, in the order of their ids, which is that of their numbers.
    pub async fn shards(&self, storage: &Storage, partition: &str) -> Result<Vec<Arc<Shard>>> {
        let slices = self.slices(partition).iter();
        try_join_all(slices.map(|slice| self.shard(storage, slice))).await
    }

    fn opened(&self) -> std::sync::MutexGuard<'_, BTreeMap<String, Arc<Shard>>> {
        self.opened.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether a base file may hold what this handle must not see.
fn is_ahead(name: &str, fence: &Fence) -> bool {
    matches!(FileName::parse(name), Some(FileName::Base(base)) if fence.is_ahead(&base.instant))
}

pub(super) fn broken(message: &str) -> Error {
    Error::corrupt(message).context("path", FOLDER)
}
