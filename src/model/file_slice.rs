//! A file group and its slices: a base file and the logs over it.

use super::file_name::{BaseFileName, LogFileName};
use super::instant::InstantTime;
use super::partition::PartitionPath;

/// A base file on the store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BaseFile {
    /// What its name says.
    pub name: BaseFileName,
    /// Relative to the table's folder.
    pub path: String,
    /// In bytes.
    pub size: u64,
}

/// A log file on the store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogFile {
    /// What its name says.
    pub name: LogFileName,
    /// Relative to the table's folder.
    pub path: String,
    /// In bytes.
    pub size: u64,
}

/// One version of a file group: a base file or none, and the logs over it in the order they are merged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileSlice {
    /// The partition that holds the files.
    pub partition: PartitionPath,
    /// The file group's id.
    pub file_id: String,
    /// The base instant: that of the base file, or of the first log when there is none.
    pub instant: InstantTime,
    /// Absent when the slice is of logs alone.
    pub base: Option<BaseFile>,
    /// In merge order; change logs (`.cdc`) are kept among them.
    pub logs: Vec<LogFile>,
}

impl FileSlice {
    /// The logs that a snapshot merges: all but change logs.
    pub fn data_logs(&self) -> impl Iterator<Item = &LogFile> {
        self.logs.iter().filter(|log| !log.name.cdc)
    }

    /// Whether the base file alone is the slice's content.
    pub fn is_base_only(&self) -> bool {
        self.base.is_some() && self.data_logs().next().is_none()
    }

    /// The sizes of base file and data logs together, in bytes.
    pub fn size(&self) -> u64 {
        let base = self.base.as_ref().map_or(0, |base| base.size);
        self.data_logs()
            .fold(base, |sum, log| sum.saturating_add(log.size))
    }
}

/// The slices that share a file id within a partition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileGroup {
    /// The partition that holds the files.
    pub partition: PartitionPath,
    /// Unique within the partition.
    pub file_id: String,
    /// By base instant, oldest first.
    pub slices: Vec<FileSlice>,
}
