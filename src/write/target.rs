//! Where base files go.

use async_trait::async_trait;
use bytes::Bytes;

use crate::error::Result;
use crate::model::PartitionPath;

/// Bytes of one file on their way to the store.
#[async_trait]
pub trait FileSink: Send {
    /// Takes the next bytes, any number of them. The sink keeps less than three parts of them in memory.
    async fn write(&mut self, bytes: Bytes) -> Result<()>;

    /// Ends the file, which is visible from then on, and returns its size.
    async fn complete(self: Box<Self>) -> Result<u64>;

    /// Gives the file up: nothing of it stays.
    async fn abort(self: Box<Self>);
}

/// A file that has just been opened.
pub struct OpenedFile {
    /// Where its bytes go.
    pub sink: Box<dyn FileSink>,
    /// Whether its partition was made for it.
    pub new_partition: bool,
}

/// Opens base files: the partition's metafile first, then the marker, then the file.
#[async_trait]
pub trait FileTarget: Send + Sync {
    /// Opens the file `name` of a partition.
    async fn open(&self, partition: &PartitionPath, name: &str) -> Result<OpenedFile>;
}
