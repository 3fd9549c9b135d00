//! The metadata table written: what a write of the data table means for its indexes, as Hudi's own records, log blocks and base files.
//!
//! It knows the layout of the metadata table and nothing of how rows are written: whoever writes tells what came and what went, as a
//! [`MetadataChange`]. The data table's instants are others' as well; the metadata table's own are made here.
//!
//! | file | holds |
//! |---|---|
//! | `change.rs` | [`MetadataChange`]: files added and removed, with their columns' ranges |
//! | `record_keys.rs` | [`RecordKeys`]: many keys in little memory |
//! | `bootstrap.rs` | [`bootstrap`]: a metadata table for a table without files |
//! | `writer.rs` | [`MetadataWriter`]: one delta commit a data instant |
//! | `rollback.rs` | [`rollback_in_metadata`]: a delta commit taken back with its data instant, where it was not compacted |
//! | `compaction.rs`, `compaction_plan.rs` | logs made base files, when and what of |
//! | `compaction_merge.rs`, `compaction_stats.rs` | the versions of a key made one, in their bytes |
//! | `layout.rs` | [`Index`]: partitions, and names of files |
//! | `columns.rs`, `definitions.rs` | [`columns_to_index`], and the file that says so |
//! | `entries.rs` | a change as records, by file group |
//! | `stats.rs`, `value.rs` | ranges of columns, bounds as typed wrappers |
//! | `record.rs`, `shard_file.rs` | one record as Avro's bytes; records as a log file or a base file |
//! | `own_timeline.rs` | the metadata table's instants and what they report |
//!
//! Source: Hudi 1.1 `HoodieBackedTableMetadataWriter`, `HoodieTableMetadataUtil`, `HoodieMetadataPayload`.

mod bootstrap;
mod change;
mod columns;
mod compaction;
mod compaction_merge;
mod compaction_plan;
mod compaction_stats;
mod definitions;
mod entries;
mod layout;
mod own_timeline;
mod record;
mod record_keys;
mod rollback;
mod shard_file;
mod stats;
mod value;
mod writer;

pub use bootstrap::{Bootstrapped, NewMetadataTable, bootstrap};
pub use change::{AddedFile, ColumnRange, MetadataChange};
pub use columns::columns_to_index;
pub use definitions::DEFINITIONS_PATH;
pub use layout::Index;
pub use record_keys::RecordKeys;
pub use rollback::{check_rollback_in_metadata, rollback_in_metadata};
pub use value::StatsVersion;
pub use writer::{MetadataWriter, require_known_indexes};

#[cfg(all(test, not(target_arch = "wasm32")))]
mod tests;
