//! The metadata tables that Spark wrote, against the store's own listing.

use std::sync::Arc;

use super::*;
use crate::error::Result;
use crate::model::{FileSlice, InstantTime, TableVersion};
use crate::slice::{ScanOptions, scan_logs};
use crate::storage::{Storage, StorageOptions};
use crate::support;
use crate::timeline::MetaClient;
use crate::view::{self, DirectoryListing, FileListing, PartitionPruner, SnapshotOptions};

async fn meta_of(store: Arc<object_store::memory::InMemory>) -> MetaClient {
    let storage = Storage::new(store, StorageOptions::default());
    MetaClient::load(storage).await.unwrap()
}

async fn by_metadata(meta: &MetaClient) -> Result<Vec<FileSlice>> {
    let table = Arc::new(MetadataTable::load(meta).await?);
    let partitioned = meta.config.is_partitioned();
    let listing = MetadataListing::new(meta.storage.clone(), table, partitioned);
    slices(meta, &listing).await
}

async fn slices(meta: &MetaClient, listing: &dyn FileListing) -> Result<Vec<FileSlice>> {
    let options = SnapshotOptions::default();
    view::snapshot(meta, listing, &PartitionPruner::none(), options).await
}

/// The store lists logs of writes that failed, which the metadata table never heard of. In version 6 they carry the name of the
/// slice's instant; none of their blocks counts.
async fn without_dead_logs(
    meta: &MetaClient,
    mut listed: Vec<FileSlice>,
    answered: &[FileSlice],
) -> Vec<FileSlice> {
    let known: Vec<_> = answered.iter().flat_map(|slice| &slice.logs).collect();
    let visible = |instant: &str| {
        InstantTime::parse(instant).is_ok_and(|time| meta.timeline.is_committed(&time))
    };
    for slice in &mut listed {
        let mut kept = Vec::new();
        for log in std::mem::take(&mut slice.logs) {
            let dead = meta.config.version() == TableVersion::Six && !known.contains(&&log) && {
                let logs = std::slice::from_ref(&log);
                let scan = scan_logs(&meta.storage, logs, &visible, ScanOptions::default()).await;
                scan.unwrap().blocks.is_empty()
            };
            if !dead {
                kept.push(log);
            }
        }
        slice.logs = kept;
    }
    listed
}

#[test]
fn every_table_has_the_slices_that_its_store_lists() {
    support::block_on(async {
        let mut compared = 0;
        for name in support::tables() {
            let meta = meta_of(support::store(&name)).await;
            if !MetadataTable::is_there(&meta) {
                continue;
            }
            let partitioned = meta.config.is_partitioned();
            let listing = DirectoryListing::new(meta.storage.clone(), partitioned);
            let listed = slices(&meta, &listing).await.unwrap();
            let answered = by_metadata(&meta).await;
            let answered = answered.unwrap_or_else(|error| panic!("{name}: {error}"));
            let listed = without_dead_logs(&meta, listed, &answered).await;
            assert_eq!(answered, listed, "{name}");
            let table = MetadataTable::load(&meta).await.unwrap();
            assert_eq!(table.lag(&meta.timeline), None, "{name}");
            compared += 1;
        }
        assert!(compared > 50, "{compared} tables with a metadata table");
    });
}
