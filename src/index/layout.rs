//! Where the metadata table's files lie, and what they are called.

use crate::metadata::partition::{COLUMN_STATS, FILES, FOLDER, PARTITION_STATS, RECORD_INDEX};
use crate::model::InstantTime;

/// A partition of the metadata table that is written here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Index {
    /// The files of each partition.
    Files,
    /// Statistics of each file's columns.
    ColumnStats,
    /// Where each record key lies, in one index over all partitions.
    RecordIndex,
    /// Statistics of each partition's columns.
    PartitionStats,
}

impl Index {
    /// All of them, in the order in which Java builds them.
    pub const ALL: [Self; 4] = [
        Self::Files,
        Self::ColumnStats,
        Self::RecordIndex,
        Self::PartitionStats,
    ];

    /// The partition's folder.
    pub const fn folder(self) -> &'static str {
        match self {
            Self::Files => FILES,
            Self::ColumnStats => COLUMN_STATS,
            Self::RecordIndex => RECORD_INDEX,
            Self::PartitionStats => PARTITION_STATS,
        }
    }

    /// The index of a folder; `None` for one that is not written here.
    pub fn of_folder(folder: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|index| index.folder() == folder)
    }

    /// The id of a file group.
    pub(super) fn file_id(self, group: usize) -> String {
        let prefix = match self {
            Self::Files => "files",
            Self::ColumnStats => "col-stats",
            Self::RecordIndex => "record-index",
            Self::PartitionStats => "partition-stats",
        };
        format!("{prefix}-{group:04}-0")
    }
}

/// The path of a file of a partition.
pub(super) fn path(folder: &str, name: &str) -> String {
    format!("{FOLDER}/{folder}/{name}")
}

/// The name of a log file of an instant.
pub(super) fn log_name(file_id: &str, instant: &InstantTime, token: &str) -> String {
    format!(".{file_id}_{instant}.log.1_{token}")
}

/// The name of a base file of an instant.
pub(super) fn base_name(file_id: &str, instant: &InstantTime, token: &str) -> String {
    format!("{file_id}_{token}_{instant}.hfile")
}
