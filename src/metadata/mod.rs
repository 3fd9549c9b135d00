//! The metadata table (MDT): one more Hudi table below `.hoodie/metadata`, whose records say what the data table holds.
//!
//! It is opened with the rooms below: its timeline by `timeline`, its file slices by `view`, its logs by `slice`. Here is what its
//! records mean. It must not know how a read is planned.
//!
//! 1. Only partitions that `hoodie.table.metadata.partitions` lists are used: those under construction are not.
//! 2. A log block counts when its instant is completed on the data table's timeline, or completed on the metadata table's own and
//!    not pending on the other: see [`Fence`].
//! 3. A handle stays where it was opened: what the metadata table learned of later instants is passed over.
//! 4. What is not surely known is not answered: a file without statistics, a value of another type, a float.
//!
//! | file | holds |
//! |---|---|
//! | `partition.rs` | names of partitions, keys, and the shard of a key |
//! | `fence.rs` | [`Fence`]: which of its instants may be seen |
//! | `hfile_read.rs` | an HFile, or one inside of a log block, read by ranges |
//! | `payload.rs` | what a record says, and how a newer one merges with an older one |
//! | `shard.rs` | [`Shard`]: one file group, looked into by keys, by prefixes or whole |
//! | `versions.rs` | [`ShardVersions`]: one file group from its first key to its last, with all versions of each |
//! | `metadata_table.rs` | [`MetadataTable`]: partitions and their shards |
//! | `stats.rs`, `stats_value.rs` | [`StoredStats`]: bounds of columns in files and partitions |
//! | `record_index.rs` | [`Locations`]: record keys to file groups, secondary values to record keys |
//! | `bloom.rs` | Bloom filters of base files |
//! | `index_defs.rs` | [`IndexDefinition`]: which secondary and expression indexes there are |
//! | `listing.rs` | [`MetadataListing`]: files of the data table |
//!
//! Source: Hudi 1.1 `HoodieBackedTableMetadata`, `HoodieMetadataPayload`, `HoodieTableMetadataUtil`.

mod bloom;
mod fence;
mod hfile_read;
mod index_defs;
mod listing;
mod metadata_table;
pub mod partition;
mod payload;
mod record_index;
mod shard;
mod stats;
mod stats_value;
mod versions;

pub use fence::Fence;
pub use index_defs::IndexDefinition;
pub use listing::MetadataListing;
pub use metadata_table::MetadataTable;
pub use payload::{ColumnStats, FileEntry, Payload, RecordLocation};
pub use record_index::Locations;
pub use shard::Shard;
pub use stats::StoredStats;
pub use versions::{ShardVersions, Versions};

#[cfg(all(test, not(target_arch = "wasm32")))]
mod tests;
