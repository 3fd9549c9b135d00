//! Reads whose file names come from the metadata table: the same rows, fewer requests, and what happens when it is broken.

use std::collections::BTreeSet;
use std::sync::Arc;

use futures::TryStreamExt;
use hudi_wasm::error::ErrorKind;
use hudi_wasm::storage::{CallScope, ListingSource, Storage, StorageOptions};
use hudi_wasm::table::{OpenOptions, Table};
use object_store::memory::InMemory;
use serde_json::{Value, json};

use crate::spark::{fault, open, options, read};
use crate::support::{self, block_on};

/// Tables with a metadata table whose snapshots are read without merging logs.
fn tables() -> Vec<String> {
    let mut names = support::cow_tables();
    names.retain(|name| {
        let expected = support::files(name);
        let mut paths = expected.iter().map(|(path, _)| path);
        paths.any(|path| path.starts_with(".hoodie/metadata/files/"))
    });
    names
}

async fn over(store: &Arc<InMemory>) -> Table {
    let storage = Storage::new(Arc::clone(store) as _, StorageOptions::default());
    let table = Table::open(storage, OpenOptions::default()).await.unwrap();
    table.for_call(CallScope::default())
}

#[test]
fn rows_are_those_of_spark_with_the_metadata_table_on_off_and_held_against_the_store() {
    block_on(async {
        let names = tables();
        assert!(names.len() > 30, "{names:?}");
        for name in names {
            let expected = support::expected(&name);
            let table = open(&name).await;
            let snapshots = support::queries(&expected, "snapshot").into_iter();
            let now = snapshots.filter(|recorded| {
                recorded["query"].get("asOf").is_none()
                    && recorded["query"].get("filters").is_none()
            });
            for mut recorded in now {
                for (enable, check) in [("true", false), ("false", false), ("true", true)] {
                    recorded["query"]["hudiOptions"]["hoodie.metadata.enable"] = json!(enable);
                    recorded["query"]["checkListing"] = json!(check);
                    assert_eq!(fault(&name, &table, &recorded).await, None);
                }
            }
        }
    });
}

/// Whether the plain snapshot has Spark's rows, which listing it used, and its warnings.
async fn told(name: &str, store: &Arc<InMemory>) -> (Option<String>, ListingSource, Vec<String>) {
    let recorded = support::queries(&support::expected(name), "snapshot").remove(0);
    let table = over(store).await;
    let fault = fault(name, &table, &recorded).await;
    let source = table.storage().listing_facts().source;
    (fault, source, table.storage().metrics().counters().warnings)
}

const PARTS: &str = "v9_cow_hive_parts";

/// Paths of a table's metadata table that contain a text.
fn paths(name: &str, part: &str) -> Vec<String> {
    let files = support::files(name).into_iter().map(|(path, _)| path);
    let mut paths: Vec<_> = files
        .filter(|path| path.starts_with(".hoodie/metadata/") && path.contains(part))
        .collect();
    paths.sort();
    assert!(!paths.is_empty(), "{name} has no {part}");
    paths
}

#[test]
fn the_first_batch_of_a_partitioned_table_takes_eight_requests_and_one_a_log_file() {
    block_on(async {
        let store = support::store(PARTS);
        let storage = Storage::new(Arc::clone(&store) as _, StorageOptions::default());
        let scope = CallScope::default();
        let storage = storage.for_call(scope.clone());
        let table = Table::open(storage, OpenOptions::default()).await.unwrap();
        let table = table.for_call(scope.clone());
        let logs = paths(PARTS, "/files/.files").len() as u64;
        let mut batches = table.read(&options(&json!({"limit": 1}))).await.unwrap();
        assert!(batches.try_next().await.unwrap().is_some());
        let requests = scope.metrics.counters().requests;
        assert!(
            requests <= 8 + logs,
            "{requests} requests, {logs} log files"
        );
        assert_eq!(
            table.storage().listing_facts().source,
            ListingSource::MetadataTable
        );
        let again = table.for_call(CallScope::default());
        let mut batches = again.read(&options(&json!({"limit": 1}))).await.unwrap();
        assert!(batches.try_next().await.unwrap().is_some());
        assert_eq!(again.storage().metrics().counters().requests, 0);
    });
}

/// With the metadata table at hand the files of other partitions are known; a folder that is not listed counts as one.
#[test]
fn partitions_that_are_ruled_out_count_among_the_files_left_out() {
    block_on(async {
        let slices = open(PARTS).await.file_slices(&options(&json!({}))).await;
        let facts = serde_json::to_value(slices.unwrap()).unwrap();
        let in_oslo = |slice: &&Value| slice["partitionPath"] == "city=oslo";
        let all = facts.as_array().unwrap().len();
        let oslo = facts.as_array().unwrap().iter().filter(in_oslo).count();
        let others: BTreeSet<_> = support::files(PARTS)
            .iter()
            .filter_map(|(path, _)| {
                path.strip_prefix("city=")?
                    .split('/')
                    .next()
                    .map(str::to_owned)
            })
            .filter(|city| city != "oslo")
            .collect();
        let folders = (oslo + others.len(), others.len());
        for (enable, expected) in [("true", (all, all - oslo)), ("false", folders)] {
            let query = json!({"filters": [["city", "=", "oslo"]], "hudiOptions": {"hoodie.metadata.enable": enable}});
            let table = open(PARTS).await.for_call(CallScope::default());
            let read = table.read(&options(&query)).await.unwrap();
            assert_eq!(read.files(), expected, "{enable}");
        }
    });
}

type Damage = &'static dyn Fn(&InMemory);

#[test]
fn a_broken_metadata_table_is_named_and_the_store_lists_instead() {
    block_on(async {
        let damages: [(&str, Damage); 5] = [
            ("TRABLK", &|store| {
                let path = paths(PARTS, "/files/files-").remove(0);
                let mut bytes = support::get(store, &path);
                bytes.truncate(bytes.len() - 100);
                support::put(store, &path, bytes);
            }),
            ("lacks a partition", &|store| {
                for path in paths(PARTS, "metadata/files/") {
                    support::delete(store, &path);
                }
            }),
            ("no timeline", &|store| {
                for path in paths(PARTS, ".hoodie/timeline/") {
                    support::delete(store, &path);
                }
            }),
            ("behind", &|store| {
                let last = paths(PARTS, ".deltacommit").pop().unwrap();
                support::delete(store, &last);
            }),
            // Somebody wrote once without it, and then with it again.
            ("behind", &|store| {
                let mut completed = paths(PARTS, ".deltacommit");
                completed.retain(|path| path.ends_with(".deltacommit"));
                support::delete(store, &completed[completed.len() - 2]);
            }),
        ];
        for (word, damage) in damages {
            let store = support::store(PARTS);
            damage(&store);
            let (fault, source, warnings) = told(PARTS, &store).await;
            assert_eq!(fault, None, "{word}");
            assert_eq!(source, ListingSource::Store, "{word}");
            let [warning] = warnings.as_slice() else {
                panic!("{word}: {warnings:?}")
            };
            assert!(warning.contains(word), "{warning}");
        }
    });
}

#[test]
fn a_file_that_is_gone_matters_only_when_it_is_live() {
    block_on(async {
        let live: Vec<String> = {
            let table = open(PARTS).await;
            let slices = table.file_slices(&options(&json!({}))).await.unwrap();
            let facts = serde_json::to_value(slices).unwrap();
            let facts = facts.as_array().unwrap().iter();
            let path = |slice: &Value| slice["baseFileRelativePath"].as_str().unwrap().to_owned();
            facts.map(path).collect()
        };
        let all = support::files(PARTS).into_iter().map(|(path, _)| path);
        let mut bases =
            all.filter(|path| path.ends_with(".parquet") && !path.starts_with(".hoodie"));
        let old = bases.find(|path| !live.contains(path)).unwrap();

        let store = support::store(PARTS);
        support::delete(&store, &old);
        let (fault, source, _) = told(PARTS, &store).await;
        assert_eq!((fault, source), (None, ListingSource::MetadataTable));

        support::delete(&store, &live[0]);
        let error = read(&over(&store).await, &json!({})).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotFound);
        assert_eq!(error.get("path"), Some(live[0].as_str()));

        let checked = json!({"checkListing": true});
        let error = read(&over(&store).await, &checked).await.unwrap_err();
        assert!(error.message().contains("differ in a file"), "{error}");
    });
}

#[test]
fn after_a_restore_neither_side_shows_what_was_taken_back() {
    const TABLE: &str = "v9_cow_restored";
    block_on(async {
        let store = support::store(TABLE);
        let files = support::files(TABLE);
        let (path, bytes) = files
            .iter()
            .find(|(path, _)| path.ends_with(".parquet") && !path.starts_with(".hoodie"))
            .unwrap();
        // A base file of an instant that no timeline holds, newer than the live one.
        let (head, _) = path.rsplit_once('_').unwrap();
        support::put(
            &store,
            &format!("{head}_20261129212303999.parquet"),
            bytes.clone(),
        );
        let recorded = support::queries(&support::expected(TABLE), "snapshot").remove(0);
        for enable in ["true", "false"] {
            let mut recorded = recorded.clone();
            recorded["query"]["hudiOptions"]["hoodie.metadata.enable"] = json!(enable);
            let table = over(&store).await;
            assert_eq!(fault(TABLE, &table, &recorded).await, None, "{enable}");
        }
    });
}

#[test]
fn a_switch_that_is_neither_true_nor_false_is_refused() {
    block_on(async {
        let table = open(PARTS).await;
        let query = json!({"hudiOptions": {"hoodie.metadata.enable": "perhaps"}});
        let error = read(&table, &query).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidArgument);
    });
}

/// Each byte of the newest files of the index may be wrong: the rows stay those of Spark, by the store's listing where need be, or the
/// damage is named.
#[test]
fn flipped_bytes_in_the_metadata_table_never_change_a_row() {
    block_on(async {
        let recorded = support::queries(&support::expected(PARTS), "snapshot").remove(0);
        let files = paths(PARTS, "metadata/files/");
        let files: Vec<_> = files
            .iter()
            .filter(|path| !path.ends_with("metadata"))
            .collect();
        let mut state = 7_u64;
        let mut fallen_back = 0;
        for round in 0..150 {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            let random = usize::try_from(state >> 33).unwrap();
            let path = files[round % files.len()];
            let store = support::store(PARTS);
            let mut bytes = support::get(&store, path);
            let place = random % bytes.len();
            bytes[place] ^= 1 << (random % 8);
            support::put(&store, path, bytes);
            let table = over(&store).await;
            let found = fault(PARTS, &table, &recorded).await;
            assert_eq!(found, None, "byte {place} of {path}");
            fallen_back +=
                usize::from(table.storage().listing_facts().source == ListingSource::Store);
        }
        assert!(fallen_back > 20, "{fallen_back}");
    });
}
