//! Names of the metadata table's partitions, the keys of their records, and the shard that a key lies in.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use twox_hash::XxHash64;

use crate::codec::md5::md5;
use crate::model::PartitionPath;

/// Where the metadata table lies in its data table.
pub const FOLDER: &str = ".hoodie/metadata";

/// Lists the files of each partition.
pub const FILES: &str = "files";
/// Minimum, maximum and counts of each file's columns.
pub const COLUMN_STATS: &str = "column_stats";
/// The same of each partition's columns.
pub const PARTITION_STATS: &str = "partition_stats";
/// Where each record key lies.
pub const RECORD_INDEX: &str = "record_index";

/// The Bloom filter of each base file's record keys.
pub const BLOOM_FILTERS: &str = "bloom_filters";

/// The key of the record that lists all partitions.
pub const ALL_PARTITIONS: &str = "__all_partitions__";

/// Java's `0xDABADABA`, an int, widened with its sign.
const SEED: u64 = 0xffff_ffff_daba_daba;

/// The name that a partition goes by in keys: its path, and `.` for the table's own folder.
pub fn name_in_keys(partition: &PartitionPath) -> &str {
    match partition.as_str() {
        "" => ".",
        path => path,
    }
}

/// Reads a name made by [`name_in_keys`].
pub fn partition_of_key(name: &str) -> PartitionPath {
    match name {
        "." => PartitionPath::default(),
        path => PartitionPath::new(path),
    }
}

/// What keys of statistics begin with: the column's part, 12 characters.
pub fn column_prefix(column: &str) -> String {
    hashed(column)
}

/// The part of a partition in keys of statistics, 12 characters behind those of the column.
pub fn partition_part(partition: &PartitionPath) -> String {
    hashed(name_in_keys(partition))
}

/// The part of a file in keys, by its name without folders: 24 characters behind all others.
pub fn file_part(name: &str) -> String {
    STANDARD.encode(md5(name.as_bytes()))
}

fn hashed(text: &str) -> String {
    STANDARD.encode(XxHash64::oneshot(SEED, text.as_bytes()).to_be_bytes())
}

/// The shard of a key among so many: Java's hash of a string, its `abs`, and its remainder.
pub fn shard_of(key: &str, shards: usize) -> usize {
    let step = |hash: i32, unit: u16| hash.wrapping_mul(31).wrapping_add(i32::from(unit));
    let hash = key.encode_utf16().fold(0_i32, step);
    let shards = i64::try_from(shards).unwrap_or(i64::MAX).max(1);
    let remainder = i64::from(hash.wrapping_abs()) % shards;
    // Of the one hash without a positive twin, the remainder is negative, and Java takes its absolute value once more.
    usize::try_from(remainder.abs()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_of_statistics_hash_as_java_hashes_them() {
        let check = |text: &str, expected: &str| assert_eq!(hashed(text), expected, "{text}");
        check(".", "FXThHwelITM=");
        check("region=us", "431THTTwO5Q=");
        check("city=sao_paulo", "6Hj+sBy+gvM=");
        check("txn_id", "RXObmOuurgM=");
        check("cnt", "si9R0ZFE8dU=");
        check("part=p1", "tssgLg9E7p0=");
        check("__partition_stat__", "2CMHrhWVE9w=");
        assert_eq!(partition_part(&PartitionPath::default()), "FXThHwelITM=");
    }

    #[test]
    fn keys_fall_into_the_shards_that_java_puts_them_in() {
        let check = |key: &str, expected| assert_eq!(shard_of(key, 10), expected, "{key}");
        for (key, shard) in [
            ("TXN-009", 0),
            ("TXN-008", 1),
            ("TXN-007", 2),
            ("TXN-006", 3),
            ("TXN-005", 4),
        ] {
            check(key, shard);
        }
        check("a", 7);
        check("hello", 2);
        check("__all_partitions__", 1);
        check("city=chennai", 0);
        // Its hash is the least int, whose absolute value is itself.
        check("polygenelubricants", 8);
        check("\u{1f600}", 9);
        // Version 2 of a secondary index hashes the value alone, with the sign behind it.
        check("Spotify$", 0);
        check("Amazon$", 6);
        check("\0$", 6);
        check("Singapore Airlines$", 9);
        check("rider-A$334e26e9-8355-45cc-97c6-c31daf0df330", 4);
        assert_eq!(shard_of("a", 1), 0);
        assert_eq!(shard_of("a", 0), 0);
    }
}
