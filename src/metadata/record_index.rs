//! Record keys to file groups, by the record index, and secondary values to record keys.

use std::collections::{BTreeMap, BTreeSet};

use bytes::Bytes;
use futures::future::try_join_all;

use super::index_defs::IndexDefinition;
use super::metadata_table::MetadataTable;
use super::partition::{RECORD_INDEX, shard_of};
use super::payload::{Payload, RecordLocation};
use crate::codec::hfile::Query;
use crate::error::Result;
use crate::model::{FileSlice, PartitionPath, encode_value};
use crate::storage::Storage;

/// What ids of the record index's file groups begin with.
const PREFIX: &str = "record-index-";

/// Where record keys lie; a key that is not in it lies nowhere.
pub type Locations = BTreeMap<String, Vec<RecordLocation>>;

impl MetadataTable {
    /// Whether the record index can tell of keys in these partitions. One kept by partition knows a partition only once
    /// something was written there.
    pub async fn indexes_records(
        &self,
        storage: &Storage,
        partitions: &BTreeSet<&PartitionPath>,
    ) -> Result<bool> {
        let slices = self.slices(storage, RECORD_INDEX).await?;
        let knows = |partition: &&PartitionPath| !shards_of(&slices, partition).is_empty();
        Ok(!slices.is_empty() && (is_global(&slices) || partitions.iter().all(knows)))
    }

    /// Looks record keys up: of each shard that may hold some, the blocks that do.
    ///
    /// An index kept by partition is asked in `partitions`; a global one ignores them.
    pub async fn locate(
        &self,
        storage: &Storage,
        keys: &[String],
        partitions: &BTreeSet<&PartitionPath>,
    ) -> Result<Locations> {
        let slices = self.slices(storage, RECORD_INDEX).await?;
        let groups: Vec<Vec<&FileSlice>> = match is_global(&slices) {
            true => vec![slices.iter().collect()],
            false => partitions
                .iter()
                .map(|partition| shards_of(&slices, partition))
                .collect(),
        };
        let lookups = groups
            .iter()
            .flat_map(|group| by_shard(group, keys, |key| key));
        let found = try_join_all(lookups.map(|(slice, query)| async move {
            let shard = self.shard(storage, slice).await?;
            shard.find(storage, &query).await
        }));
        let mut locations = Locations::new();
        for (key, payload) in found.await?.into_iter().flatten() {
            if let (Ok(key), Payload::Record(places)) = (std::str::from_utf8(&key), payload) {
                locations.entry(key.to_owned()).or_default().extend(places);
            }
        }
        Ok(locations)
    }

    /// The record keys of rows that have one of these values, as text, in the column of a secondary index.
    pub async fn record_keys_of(
        &self,
        storage: &Storage,
        index: &IndexDefinition,
        values: &[String],
    ) -> Result<Vec<String>> {
        let slices = self.slices(storage, &index.partition).await?;
        let slices: Vec<&FileSlice> = slices.iter().collect();
        let prefixes: Vec<String> = values
            .iter()
            .map(|value| format!("{}$", escaped(value)))
            .collect();
        let lookups = match index.hashes_value {
            true => by_prefix(&slices, &prefixes),
            // Version 1 hashed the record key along, so a value may be in any shard.
            false => slices
                .iter()
                .map(|slice| (*slice, Query::prefixes(prefixes.clone())))
                .collect(),
        };
        let found = try_join_all(lookups.into_iter().map(|(slice, query)| async move {
            let shard = self.shard(storage, slice).await?;
            shard.find(storage, &query).await
        }));
        let mut keys = BTreeSet::new();
        for key in found.await?.into_iter().flat_map(BTreeMap::into_keys) {
            keys.extend(record_key(&key));
        }
        Ok(keys.into_iter().collect())
    }
}

/// Whether one index spans all partitions: its groups are `record-index-0000-0` and so on.
fn is_global(slices: &[FileSlice]) -> bool {
    slices.iter().all(|slice| {
        let rest = slice.file_id.strip_prefix(PREFIX);
        rest.is_some_and(is_number_of_shard)
    })
}

fn is_number_of_shard(text: &str) -> bool {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    text.split_once('-')
        .is_some_and(|(shard, index)| digits(shard) && digits(index))
}

/// The groups of one partition: `record-index-<partition, percent-encoded>-0000-0` and so on.
fn shards_of<'a>(slices: &'a [FileSlice], partition: &PartitionPath) -> Vec<&'a FileSlice> {
    let prefix = format!("{PREFIX}{}-", encode_value(partition.as_str()));
    let of = |slice: &&FileSlice| {
        slice
            .file_id
            .strip_prefix(&prefix)
            .is_some_and(is_number_of_shard)
    };
    slices.iter().filter(of).collect()
}

/// Keys by the shard that they hash to.
pub(super) fn by_shard<'a>(
    slices: &[&'a FileSlice],
    keys: &[String],
    hashed: impl Fn(&str) -> &str,
) -> Vec<(&'a FileSlice, Query)> {
    let mut wanted: BTreeMap<usize, Vec<String>> = BTreeMap::new();
    for key in keys {
        let shard = shard_of(hashed(key), slices.len());
        wanted.entry(shard).or_default().push(key.clone());
    }
    let query = |(shard, keys)| Some((*slices.get(shard)?, Query::keys::<String>(keys)));
    wanted.into_iter().filter_map(query).collect()
}

fn by_prefix<'a>(slices: &[&'a FileSlice], prefixes: &[String]) -> Vec<(&'a FileSlice, Query)> {
    let lookups = by_shard(slices, prefixes, |prefix| prefix).into_iter();
    let prefixes = |query| match query {
        Query::Keys(keys) => Query::prefixes(keys),
        other => other,
    };
    lookups
        .map(|(slice, query)| (slice, prefixes(query)))
        .collect()
}

/// A secondary value as keys spell it: `\` before `\`, `$` and NUL.
fn escaped(value: &str) -> String {
    let mut text = String::with_capacity(value.len());
    for c in value.chars() {
        if matches!(c, '\\' | '$' | '\0') {
            text.push('\\');
        }
        text.push(c);
    }
    text
}

/// The record key of a secondary index's key: what stands behind the first `$` that is not escaped, unescaped.
fn record_key(key: &Bytes) -> Option<String> {
    let text = std::str::from_utf8(key).ok()?;
    let mut chars = text.chars();
    loop {
        match chars.next()? {
            '\\' => {
                chars.next()?;
            }
            '$' => break,
            _ => {}
        }
    }
    let mut record_key = String::new();
    while let Some(c) = chars.next() {
        record_key.push(if c == '\\' { chars.next()? } else { c });
    }
    Some(record_key)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secondary_key_gives_its_record_key_back() {
        let check = |key: &str, expected: Option<&str>| {
            let found = record_key(&Bytes::copy_from_slice(key.as_bytes()));
            assert_eq!(found.as_deref(), expected, "{key}");
        };
        check("rider-A$1", Some("1"));
        check("\0$TXN-003", Some("TXN-003"));
        check("a\\$b$c\\$d\\\\", Some("c$d\\"));
        check("no sign", None);
        assert_eq!(escaped("a$\\\0b"), "a\\$\\\\\\\0b");
    }

    #[test]
    fn a_partition_named_like_a_shard_is_no_shard() {
        assert!(is_number_of_shard("0000-0") && is_number_of_shard("10000-0"));
        assert!(!is_number_of_shard("0000-0001-0") && !is_number_of_shard("a-0000-0"));
    }
}
