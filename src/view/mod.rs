//! Which files are the table: the file-system view.
//!
//! It knows how partitions and files are found, which of them an instant made visible, and what a partition's path
//! rules out. It must not know what is in a file. File names come in through [`FileListing`], so that a metadata
//! table can answer as well as a directory.
//!
//! | file | holds |
//! |---|---|
//! | `listing.rs` | [`FileListing`], and [`DirectoryListing`] over a store's folders |
//! | `file_groups.rs` | names and timeline to file groups and slices: [`file_groups()`] |
//! | `snapshot.rs` | the slices that are the table as of a time: [`snapshot()`] |
//! | `changes.rs` | the files that some commits wrote: [`ChangedFiles`] |
//! | `prune.rs` | [`PartitionPruner`]: partitions that a predicate rules out |
//!
//! Source: Hudi 1.1 `AbstractTableFileSystemView`, `HoodieFileGroup`, `FileSystemBackedTableMetadata`.

mod changes;
mod file_groups;
mod listing;
mod prune;
mod snapshot;

pub use changes::ChangedFiles;
pub use file_groups::file_groups;
pub use listing::{DirectoryListing, FileListing, PartitionFiles};
pub use prune::PartitionPruner;
pub use snapshot::{SnapshotOptions, latest_slices, snapshot};
