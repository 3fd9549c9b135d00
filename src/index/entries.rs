//! A change of the data table as what it puts into each file group of the metadata table.

use std::collections::BTreeMap;

use super::change::{AddedFile, MetadataChange};
use super::record::{Names, StatsOf, put_file_list, put_location, put_partition_list};
use super::shard_file::{ShardChange, put_records};
use super::stats::{Kinds, Range, file_key, partition_key};
use crate::codec::bytes::compare;
use crate::error::{Error, Result};
use crate::metadata::FileEntry;
use crate::metadata::partition::{ALL_PARTITIONS, name_in_keys, shard_of};
use crate::model::{InstantTime, PartitionPath};

/// A file's name and whether it is gone.
const fn entry(size: u64, deleted: bool) -> FileEntry {
    FileEntry { size, deleted }
}

/// What `files` learns: each partition's files, and the partitions that were written to. Of partitions that went it loses the
/// files, and learns that they are gone.
pub(super) fn files(change: &MetadataChange<'_>) -> ShardChange {
    let mut partitions: BTreeMap<&str, Names<'_>> = BTreeMap::new();
    let mut written: Names<'_> = BTreeMap::new();
    let mut shard = ShardChange::default();
    for file in change.added {
        let partition = name_in_keys(file.partition);
        let names = partitions.entry(partition).or_default();
        names.insert(file.name, entry(file.size, false));
        written.insert(partition, entry(0, false));
    }
    for (partition, gone) in change.removed {
        if change.dropped.contains(partition) {
            written.insert(name_in_keys(partition), entry(0, true));
            shard.deletes.insert(name_in_keys(partition).to_owned());
            continue;
        }
        let names = partitions.entry(name_in_keys(partition)).or_default();
        for name in gone {
            names.entry(name).or_insert(entry(0, true));
        }
    }
    for (partition, names) in partitions {
        let mut record = Vec::new();
        put_file_list(&names, &mut record);
        shard.records.insert(partition.to_owned(), record);
    }
    if !written.is_empty() {
        let mut record = Vec::new();
        put_partition_list(&written, &mut record);
        shard.records.insert(ALL_PARTITIONS.to_owned(), record);
    }
    shard
}

/// What the shards of `column_stats` learn: the ranges of files that came, and the keys of files that went.
pub(super) fn column_stats(
    change: &MetadataChange<'_>,
    kinds: &Kinds,
    shards: usize,
) -> Vec<ShardChange> {
    let mut all = vec![ShardChange::default(); shards];
    for file in change.added {
        for (range, kind) in ranges(file, kinds) {
            let key = file_key(&range.name, file.partition, file.name);
            let known = Range::of_file(range, kind);
            let record = known.record(StatsOf::File, file.name, &range.name, kind);
            if let Some(shard) = all.get_mut(shard_of(&key, shards)) {
                shard.records.insert(key, record);
            }
        }
    }
    for (partition, gone) in change.removed {
        for name in gone {
            for column in kinds.keys() {
                let key = file_key(column, partition, name);
                if let Some(shard) = all.get_mut(shard_of(&key, shards)) {
                    shard.deletes.insert(key);
                }
            }
        }
    }
    all
}

fn ranges<'a>(
    file: &AddedFile<'a>,
    kinds: &'a Kinds,
) -> impl Iterator<Item = (&'a super::ColumnRange, &'a super::value::ValueKind)> {
    let columns = file.columns.iter();
    columns.filter_map(|range| Some((range, kinds.get(range.name.as_ref())?)))
}

/// The ranges that a change brings to each partition, by column.
pub(super) fn new_ranges<'a>(
    change: &MetadataChange<'a>,
    kinds: &Kinds,
) -> BTreeMap<&'a PartitionPath, BTreeMap<&'a str, Range>> {
    let mut all: BTreeMap<_, BTreeMap<&str, Range>> = BTreeMap::new();
    for file in change.added {
        let partition = all.entry(file.partition).or_default();
        for range in file.columns {
            let name: &str = &range.name;
            let Some(kind) = kinds.get(name) else {
                continue;
            };
            let new = Range::of_file(range, kind);
            let joined = match partition.remove(name) {
                Some(known) => known.with(new),
                None => new,
            };
            partition.insert(name, joined);
        }
    }
    all
}

/// Adds a partition's column to `partition_stats`.
pub(super) fn put_partition_stats(
    shards: &mut [ShardChange],
    partition: &PartitionPath,
    column: &str,
    range: &Range,
    kinds: &Kinds,
) {
    let key = partition_key(column, partition);
    let at = shard_of(&key, shards.len());
    if let (Some(shard), Some(kind)) = (shards.get_mut(at), kinds.get(column)) {
        let name = name_of(partition);
        let record = range.record(StatsOf::Partition, name, column, kind);
        shard.records.insert(key, record);
    }
}

fn name_of(partition: &PartitionPath) -> &str {
    partition.as_str()
}

/// The keys that came, by the shard of the record index that they belong to: numbers of file and key.
pub(super) struct NewKeys<'a> {
    files: Vec<(&'a AddedFile<'a>, Vec<u8>)>,
    shards: Vec<ShardKeys<'a>>,
}

/// The keys of one shard.
#[derive(Default, Clone)]
struct ShardKeys<'a> {
    places: Vec<(u32, u32)>,
    /// The newest one.
    last: &'a str,
    /// Whether one is not greater than the one before it, so that they are to be sorted.
    mixed: bool,
}

impl<'a> NewKeys<'a> {
    /// Sorts the keys of a change into shards: eight bytes a key.
    ///
    /// Errors: `LimitExceeded` for more than four billion keys of one file.
    pub(super) fn of(
        change: &MetadataChange<'a>,
        instant_millis: i64,
        shards: usize,
    ) -> Result<Self> {
        let mut all = Self {
            files: Vec::new(),
            shards: vec![ShardKeys::default(); shards],
        };
        for file in change.added {
            let Some(keys) = file.keys else { continue };
            let mut record = Vec::new();
            let partition = file.partition.as_str();
            put_location(partition, file.file_id, instant_millis, &mut record);
            let number = u32::try_from(all.files.len()).map_err(|_| too_many())?;
            all.files.push((file, record));
            for (at, key) in keys.iter().enumerate() {
                let at = u32::try_from(at).map_err(|_| too_many())?;
                if let Some(shard) = all.shards.get_mut(shard_of(key, shards)) {
                    let rises = || compare(shard.last.as_bytes(), key.as_bytes()).is_lt();
                    shard.mixed |= !shard.places.is_empty() && !rises();
                    shard.last = key;
                    shard.places.push((number, at));
                }
            }
        }
        Ok(all)
    }

    /// How many keys a shard gets, of which those of one text count once in its file.
    pub(super) fn is_empty(&self, shard: usize) -> bool {
        let shard = self.shards.get(shard);
        shard.is_none_or(|shard| shard.places.is_empty())
    }

    fn key(&self, (file, at): (u32, u32)) -> &'a str {
        let file = self.files.get(file as usize);
        let keys = file.and_then(|(file, _)| file.keys);
        keys.map_or("", |keys| keys.get(at as usize))
    }

    /// The log file of a shard, and how many records it holds. The shard's numbers are given up.
    pub(super) fn log_file(
        &mut self,
        shard: usize,
        instant: &InstantTime,
    ) -> Result<(Vec<u8>, u64)> {
        let keys = self.shards.get_mut(shard).map(std::mem::take);
        let ShardKeys {
            mut places, mixed, ..
        } = keys.unwrap_or_default();
        if mixed {
            places.sort_unstable_by(|a, b| self.key(*a).cmp(self.key(*b)).then(a.cmp(b)));
            // Of a key that came twice the last one counts, as in a table that is written twice.
            let twice = |later: &mut (u32, u32), kept: &mut (u32, u32)| {
                let same = self.key(*later) == self.key(*kept);
                if same {
                    *kept = *later;
                }
                same
            };
            places.dedup_by(twice);
        }
        let records = places.iter().map(|place| {
            let file = self.files.get(place.0 as usize);
            let record = file.map_or(&[][..], |(_, record)| record);
            (self.key(*place), record)
        });
        let mut out = Vec::new();
        put_records(records, instant, &mut out)?;
        Ok((out, places.len() as u64))
    }
}

fn too_many() -> Error {
    Error::limit_exceeded("more record keys than one write can index")
}
