//! One table in several states of its timeline: the rows are those of Spark for what the timeline shows, whatever else lies
//! on the store.

use std::sync::Arc;

use hudi_wasm::storage::{Storage, StorageOptions};
use hudi_wasm::table::{OpenOptions, Table};
use object_store::memory::InMemory;
use serde_json::{Value, json};

use crate::spark::read;
use crate::support::{
    self, block_on, delete, get, put,
    rows::{rows, sort},
    store,
};

async fn open(store: &Arc<InMemory>) -> Table {
    let storage = Storage::new(Arc::clone(store) as _, StorageOptions::default());
    Table::open(storage, OpenOptions::default()).await.unwrap()
}

/// The rows that Spark recorded for a snapshot as of a time or of now.
fn recorded(table: &str, as_of: Option<&str>) -> Vec<Value> {
    let query = match as_of {
        Some(as_of) => json!({"queryType": "snapshot", "asOf": as_of}),
        None => json!({"queryType": "snapshot"}),
    };
    let queries = support::queries(&support::expected(table), "snapshot");
    let entry = queries.iter().find(|entry| entry["query"] == query);
    let mut rows = entry.unwrap()["rows"].as_array().unwrap().clone();
    sort(&mut rows);
    rows
}

async fn snapshot(table: &Table) -> Vec<Value> {
    let query = json!({"queryType": "snapshot"});
    rows(&read(table, &query).await.unwrap())
}

/// The files of a table's timeline folder whose names hold a text.
fn timeline_files(table: &str, part: &str) -> Vec<String> {
    let files = support::files(table).into_iter().map(|(path, _)| path);
    let mut files: Vec<String> = files.filter(|path| path.contains(part)).collect();
    files.retain(|path| path.starts_with(".hoodie/") && !path.contains("/metadata/"));
    files
}

// V18
#[test]
fn a_row_that_moves_to_another_partition_while_a_handle_is_open_is_seen_once() {
    let name = "v9_cow_hive_parts";
    let (before, moved) = ("20261129204527631", "20261129204530173");
    let store = store(name);
    let completed = timeline_files(name, &format!("{moved}_"));
    let [completed] = &completed[..] else {
        panic!("{completed:?}");
    };
    let content = get(&store, completed);
    delete(&store, completed);
    block_on(async {
        let table = open(&store).await;
        assert_eq!(snapshot(&table).await, recorded(name, Some(before)));
        // The move from rome to oslo completes; this handle goes on as it was opened, in both partitions.
        put(&store, completed, content);
        assert_eq!(snapshot(&table).await, recorded(name, Some(before)));
        let table = table.refresh().await.unwrap();
        assert_eq!(snapshot(&table).await, recorded(name, None));
    });
}

// X7
#[test]
fn logs_around_a_compaction_of_version_6_count_before_and_after_it_completes() {
    let name = "v6_mor_compacted";
    let (before, compaction) = ("20261129203134062", "20261129203136624");
    // In bru the second compaction is requested: the log before it and the log named after it are merged over the old base.
    let store = store(name);
    block_on(async {
        assert_eq!(snapshot(&open(&store).await).await, recorded(name, None));
    });
    // Back to when the first compaction had written its base file and was still on its way, and then to its end.
    for later in [
        "20261129203138999",
        "20261129203141211",
        "2026112920314[37]",
    ] {
        for part in [later.replace("[37]", "3363"), later.replace("[37]", "3700")] {
            for file in timeline_files(name, &part) {
                delete(&store, &file);
            }
        }
    }
    let completed = format!(".hoodie/{compaction}.commit");
    let content = get(&store, &completed);
    delete(&store, &completed);
    block_on(async {
        assert_eq!(
            snapshot(&open(&store).await).await,
            recorded(name, Some(before))
        );
    });
    put(&store, &completed, content);
    block_on(async {
        assert_eq!(
            snapshot(&open(&store).await).await,
            recorded(name, Some(compaction))
        );
    });
}

// X9
#[test]
fn what_a_restore_left_behind_stays_hidden() {
    let name = "v9_mor_restored";
    let store = store(name);
    let group = "c649af2d-8248-4c47-8717-11d986c12582-0";
    let log = get(
        &store,
        &format!(".{group}_20261130025948307.log.1_0-152-255"),
    );
    let base = get(
        &store,
        &format!("{group}_0-16-19_20261130025815415.parquet"),
    );
    // As if the restore had not deleted the log of the first deltacommit that it undid, and the compaction's base file.
    let text = String::from_utf8_lossy(&log).into_owned();
    assert!(text.contains("20261130025948307"));
    let mut undone = log;
    let at = text.find("20261130025948307").unwrap();
    undone[at..at + 17].copy_from_slice(b"20261130025910000");
    put(
        &store,
        &format!(".{group}_20261130025910000.log.1_0-66-99"),
        undone,
    );
    put(
        &store,
        &format!("{group}_0-77-99_20261130025920000.parquet"),
        base,
    );
    block_on(async {
        let table = open(&store).await;
        assert_eq!(snapshot(&table).await, recorded(name, None));
        for as_of in ["20261130025815415", "20261130025851532"] {
            let query = json!({"queryType": "snapshot", "asOf": as_of});
            let found = rows(&read(&table, &query).await.unwrap());
            assert_eq!(found, recorded(name, Some(as_of)), "{as_of}");
        }
    });
}

// V04: the rows, not only the blocks.
#[test]
fn rows_of_an_archived_write_that_was_rolled_back_stay_away_without_its_command_block() {
    let name = "v6_mor_archived";
    let store = store(name);
    let group = "b3bb9abf-825d-4203-bf6f-3f707c27f0f2-0";
    delete(&store, &format!(".{group}_20261130023521541.log.3_1-0-1"));
    block_on(async {
        assert_eq!(snapshot(&open(&store).await).await, recorded(name, None));
    });
}

// L1, strictly and not.
#[test]
fn a_cut_log_costs_its_last_block_with_a_warning_or_is_corrupt_when_logs_are_strict() {
    let name = "v9_mor_event_time";
    let files = support::files(name);
    let is_log = |path: &&String| path.contains(".log.") && !path.contains("/metadata/");
    let newest = files
        .iter()
        .map(|(path, _)| path)
        .filter(is_log)
        .max()
        .unwrap();
    let store = store(name);
    let mut log = get(&store, newest);
    log.truncate(log.len() - 1);
    put(&store, newest, log);
    block_on(async {
        let table = open(&store).await.for_call(Default::default());
        assert!(!snapshot(&table).await.is_empty());
        let counters = table.storage().metrics().counters();
        assert!(counters.corrupt_log_blocks > 0);
        let named = counters
            .warnings
            .iter()
            .any(|warning| warning.contains(newest.as_str()));
        assert!(named, "{counters:?}");
        let strict = r#"{"strictLogs": true}"#;
        let strict = hudi_wasm::config::ReadOptions::from_json(strict).unwrap();
        let read = table.read(&strict).await.unwrap();
        let error = futures::TryStreamExt::try_collect::<Vec<_>>(read)
            .await
            .unwrap_err();
        assert_eq!(error.kind().code(), "CORRUPT");
        assert_eq!(error.get("path"), Some(newest.as_str()));
        assert!(error.get("offset").is_some());
    });
}
