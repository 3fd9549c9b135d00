//! Files of one instant in the table's own store.

use std::collections::HashMap;
use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use futures::lock::Mutex;

use super::target::{FileSink, FileTarget, OpenedFile};
use crate::commit::{MarkerKind, Markers};
use crate::config::properties::{self, Properties};
use crate::error::Result;
use crate::host::now_millis;
use crate::model::{InstantTime, PARTITION_METAFILE, PartitionPath};
use crate::storage::{PutOutcome, Storage, Upload};

/// Opens files of a pending instant: the partition's metafile, the marker, then the file, as Java does.
pub struct StoreTarget {
    storage: Storage,
    markers: Arc<Markers>,
    instant: InstantTime,
    /// Whether each partition met so far is new.
    partitions: Mutex<HashMap<PartitionPath, bool>>,
}

impl StoreTarget {
    /// A target for the files of `instant`, marked in `markers`.
    pub fn new(storage: Storage, markers: Arc<Markers>, instant: InstantTime) -> Self {
        Self {
            storage,
            markers,
            instant,
            partitions: Mutex::default(),
        }
    }

    /// Makes a folder a partition, once; whether this call did.
    async fn begin_partition(&self, partition: &PartitionPath) -> Result<bool> {
        let mut partitions = self.partitions.lock().await;
        if let Some(new) = partitions.get(partition) {
            return Ok(*new);
        }
        let mut table = Properties::new();
        table.insert("commitTime".to_owned(), self.instant.to_string());
        let depth = partition.segments().count().to_string();
        table.insert("partitionDepth".to_owned(), depth);
        let date = properties::java_date(now_millis());
        let text = properties::store(&table, &["partition metadata", &date]);
        let path = partition.file_path(PARTITION_METAFILE);
        let put = self.storage.put_if_absent(&path, Bytes::from(text)).await?;
        let new = put == PutOutcome::Created;
        partitions.insert(partition.clone(), new);
        Ok(new)
    }
}

#[async_trait]
impl FileTarget for StoreTarget {
    async fn open(&self, partition: &PartitionPath, name: &str) -> Result<OpenedFile> {
        let new_partition = self.begin_partition(partition).await?;
        self.markers
            .create(partition, name, MarkerKind::Create)
            .await?;
        let upload = self.storage.upload(&partition.file_path(name)).await?;
        Ok(OpenedFile {
            sink: Box::new(StoreSink(upload)),
            new_partition,
        })
    }
}

struct StoreSink(Upload);

#[async_trait]
impl FileSink for StoreSink {
    async fn write(&mut self, bytes: Bytes) -> Result<()> {
        self.0.write(bytes).await
    }

    async fn complete(self: Box<Self>) -> Result<u64> {
        self.0.complete().await
    }

    async fn abort(self: Box<Self>) {
        // The error that led here is the one to tell of.
        let _aborted = self.0.abort().await;
    }
}
