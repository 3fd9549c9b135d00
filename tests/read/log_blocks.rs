//! Which blocks of the log files that Spark wrote count, by the commits that Spark made.

use std::collections::BTreeSet;
use std::sync::Arc;

use hudi_wasm::model::{FileSlice, InstantTime, State, TableVersion};
use hudi_wasm::read::TableInstants;
use hudi_wasm::slice::{ScanOptions, scan_visible_logs};
use hudi_wasm::storage::{Storage, StorageOptions};
use hudi_wasm::timeline::MetaClient;
use hudi_wasm::view::{self, DirectoryListing, PartitionPruner, SnapshotOptions};
use object_store::memory::InMemory;

use super::support::{block_on, delete, store};

async fn open(store: Arc<InMemory>) -> MetaClient {
    MetaClient::load(Storage::new(store, StorageOptions::default()))
        .await
        .unwrap()
}

async fn slices(meta: &MetaClient, as_of: Option<&InstantTime>) -> Vec<FileSlice> {
    let listing = DirectoryListing::new(meta.storage.clone(), meta.config.is_partitioned());
    let options = SnapshotOptions {
        as_of,
        ..SnapshotOptions::default()
    };
    let none = PartitionPruner::none();
    view::snapshot(meta, &listing, &none, options)
        .await
        .unwrap()
}

/// The instants of the blocks that count, of all slices.
async fn counted(meta: &MetaClient, as_of: Option<&InstantTime>) -> BTreeSet<String> {
    let visible = TableInstants::new(meta, as_of);
    let strict = ScanOptions {
        strict: true,
        ..ScanOptions::default()
    };
    let mut instants = BTreeSet::new();
    for slice in slices(meta, as_of).await {
        let scan = scan_visible_logs(&meta.storage, &slice.logs, &visible, strict)
            .await
            .unwrap();
        for block in &scan.blocks {
            instants.insert(block.instant_time().unwrap().to_owned());
        }
    }
    instants
}

/// Instants of completed writes up to a time whose commits say that they wrote logs, but for those before the last
/// compaction.
async fn logged(meta: &MetaClient, as_of: Option<&InstantTime>) -> BTreeSet<String> {
    let mut instants = BTreeSet::new();
    for instant in meta.timeline.completed_writes() {
        if as_of.is_some_and(|as_of| instant.time > *as_of) {
            continue;
        }
        assert!(meta.timeline.file(instant, State::Completed).is_some());
        let commit = meta.commit_metadata(instant).await.unwrap().unwrap();
        let stats = commit.partition_to_write_stats.values().flatten();
        let mut paths = stats.filter_map(|stat| stat.path.as_deref());
        if paths.any(|path| path.contains(".log.")) {
            instants.insert(instant.time.to_string());
        }
    }
    instants
}

// L5: v6_mor_rollback and v6_mor_parts hold blocks of instants that never completed, between others.
#[test]
fn blocks_that_count_are_those_of_completed_writes_at_every_time() {
    let tables = [
        "v6_mor_all_types",
        "v6_mor_parts",
        "v6_mor_rollback",
        "v8_mor_parts",
        "v9_mor_event_time",
        "v9_mor_inflight",
        "v9_mor_log_only",
        "v9_mor_orphan_log",
        "v9_mor_rollback",
        "v9_mor_rollback_to_instant",
        "v9_mor_nonblocking_writers",
    ];
    for table in tables {
        block_on(async {
            let meta = open(store(table)).await;
            let times: Vec<InstantTime> = meta
                .timeline
                .completed_writes()
                .map(|instant| instant.time.clone())
                .collect();
            for as_of in times.iter().map(Some).chain([None]) {
                let found = counted(&meta, as_of).await;
                assert_eq!(found, logged(&meta, as_of).await, "{table} as of {as_of:?}");
            }
        });
    }
}

// V04
#[test]
fn a_block_that_was_rolled_back_and_archived_does_not_count_though_its_command_is_gone() {
    let failed = "20261130023546038";
    let kept = "20261130023536246";
    let found = |without_command: bool| {
        let store = store("v6_mor_archived");
        if without_command {
            let command = ".b3bb9abf-825d-4203-bf6f-3f707c27f0f2-0_20261130023521541.log.3_1-0-1";
            delete(&store, command);
        }
        block_on(async {
            let meta = open(store).await;
            assert_eq!(meta.config.version(), TableVersion::Six);
            counted(&meta, None).await
        })
    };
    let counted = found(false);
    assert!(
        counted.contains(kept) && !counted.contains(failed),
        "{counted:?}"
    );
    assert_eq!(counted.len(), 9);
    assert_eq!(found(true), counted);
}
