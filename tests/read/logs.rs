//! Snapshots over log files: what a caller may ask of them, on tables that Spark wrote.

use std::sync::Arc;

use arrow::array::{AsArray, RecordBatch};
use futures::TryStreamExt;
use hudi_wasm::error::{ErrorKind, Result};
use hudi_wasm::storage::{Storage, StorageOptions};
use hudi_wasm::table::{OpenOptions, Table};
use serde_json::{Value, json};

use crate::spark::{open, options, read};
use crate::support::{
    self, block_on,
    rows::{rows, sort},
};

/// The recorded rows of the newest snapshot.
fn snapshot(name: &str) -> Vec<Value> {
    let queries = support::queries(&support::expected(name), "snapshot");
    let plain = queries
        .iter()
        .find(|entry| entry["query"] == json!({"queryType": "snapshot"}));
    let mut rows = plain.unwrap()["rows"].as_array().unwrap().clone();
    sort(&mut rows);
    rows
}

/// Base and log paths of each slice of the newest snapshot.
async fn slices(table: &Table) -> Vec<(Option<String>, Vec<String>)> {
    let slices = table.file_slices(&options(&json!({}))).await.unwrap();
    let facts = serde_json::to_value(slices).unwrap();
    let paths = facts.as_array().unwrap().iter().map(|slice| {
        let base = slice["baseFileRelativePath"].as_str().map(str::to_owned);
        let logs = slice["logFilesRelativePaths"].as_array().unwrap().iter();
        let logs = logs.map(|log| log.as_str().unwrap().to_owned());
        (base, logs.collect())
    });
    paths.collect()
}

async fn read_paths(
    table: &Table,
    base: Option<&str>,
    logs: &[String],
    query: Value,
) -> Result<Vec<RecordBatch>> {
    let read = table.read_paths(base, logs, &options(&query)).await?;
    read.try_collect().await
}

#[test]
fn slices_named_by_their_paths_are_the_snapshot_in_whatever_order_logs_come() {
    for name in [
        "v9_mor_event_time",
        "v6_mor_compacted",
        "v9_mor_log_only",
        "v8_mor_parts",
    ] {
        block_on(async {
            let table = open(name).await;
            for query in [json!({}), json!({"streaming": true, "batchSize": 2})] {
                let mut batches = Vec::new();
                for (base, mut logs) in slices(&table).await {
                    logs.reverse();
                    let read = read_paths(&table, base.as_deref(), &logs, query.clone());
                    batches.extend(read.await.unwrap());
                }
                assert_eq!(rows(&batches), snapshot(name), "{name} {query}");
                let most = batches.iter().map(RecordBatch::num_rows).max();
                assert!(query == json!({}) || most == Some(2), "{name}");
            }
        });
    }
}

#[test]
fn logs_alone_are_the_rows_they_hold() {
    block_on(async {
        let table = open("v9_mor_commit_time").await;
        let (base, logs) = slices(&table).await.remove(0);
        let alone = read_paths(&table, None, &logs, json!({"projection": ["id", "name"]}));
        let alone = rows(&alone.await.unwrap());
        // Of Spark's last writes a reborn row and one of the oldest ts; the new key went to a base file. Deletes leave nothing.
        let expected = [(0, "reborn"), (1, "oldest ts wins")];
        let expected = expected.map(|(id, name)| json!({"id": id, "name": name}));
        assert_eq!(alone, expected);
        let without = read_paths(&table, base.as_deref(), &[], json!({}))
            .await
            .unwrap();
        assert_eq!(rows(&without).len(), 8);
    });
}

#[test]
fn files_that_are_no_slice_are_invalid_arguments() {
    block_on(async {
        let table = open("v9_mor_clustered").await;
        let all = slices(&table).await;
        let base = all[0].0.as_deref();
        let log = |name: &str| vec![name.to_owned()];
        let other = "other/.x-0_20260101000000000.log.1_0-0-0";
        for (base, logs) in [
            (None, Vec::new()),
            (Some("a.txt"), Vec::new()),
            (base, log("a.log")),
            (base, log(other)),
        ] {
            let error = read_paths(&table, base, &logs, json!({}))
                .await
                .unwrap_err();
            assert_eq!(
                error.kind(),
                ErrorKind::InvalidArgument,
                "{base:?} {logs:?}"
            );
        }
    });
}

#[test]
fn a_stream_has_batches_of_the_size_asked_for() {
    block_on(async {
        let name = "v9_mor_bucket";
        let table = open(name).await;
        let query = json!({"streaming": true, "batchSize": 1});
        let batches = read(&table, &query).await.unwrap();
        assert!(batches.iter().all(|batch| batch.num_rows() == 1));
        assert_eq!(rows(&batches), snapshot(name));
    });
}

#[test]
fn base_rows_come_in_their_order_and_new_keys_after_them() {
    block_on(async {
        let table = open("v9_mor_commit_time").await;
        let query = json!({"projection": ["id"]});
        let batches = read(&table, &query).await.unwrap();
        let ids = batches.iter().flat_map(|batch| {
            let ids = batch
                .column(0)
                .as_primitive::<arrow::datatypes::Int32Type>();
            ids.values().to_vec()
        });
        // 2 and 3 are deleted, 0 is deleted and reborn, 8 is new.
        assert_eq!(ids.collect::<Vec<_>>(), [0, 1, 4, 5, 6, 7, 8]);
    });
}

#[test]
fn any_columns_can_be_asked_for_without_those_of_merging() {
    let name = "v9_mor_event_time";
    block_on(async {
        let table = open(name).await;
        let all = snapshot(name);
        for columns in [
            json!(["name"]),
            json!(["price", "id"]),
            json!(["_hoodie_commit_time"]),
        ] {
            let batches = read(&table, &json!({"projection": columns})).await.unwrap();
            let mut expected: Vec<Value> = all
                .iter()
                .map(|row| {
                    let names = columns.as_array().unwrap().iter();
                    let pairs = names.map(|name| {
                        (
                            name.as_str().unwrap().to_owned(),
                            row[name.as_str().unwrap()].clone(),
                        )
                    });
                    Value::Object(pairs.collect())
                })
                .collect();
            sort(&mut expected);
            assert_eq!(rows(&batches), expected, "{columns}");
        }
        let none = read(&table, &json!({"projection": []})).await.unwrap();
        let count: usize = none.iter().map(RecordBatch::num_rows).sum();
        assert_eq!(count, all.len());
    });
}

/// The base row passes the filter and the merged one does not, and the other way round.
#[test]
fn filters_look_at_merged_rows() {
    let name = "v9_mor_event_time";
    block_on(async {
        let table = open(name).await;
        for (filter, keep) in [
            (json!(["name", "=", "base1"]), "base1"),
            (json!(["name", "=", "base0"]), "base0"),
            (
                json!(["name", "=", "after SQL delete, lower"]),
                "after SQL delete, lower",
            ),
            (json!(["name", "=", "equal"]), "equal"),
        ] {
            let query = json!({"filters": [filter], "projection": ["id"]});
            let found = rows(&read(&table, &query).await.unwrap());
            let expected = snapshot(name).into_iter().filter(|row| row["name"] == keep);
            let expected: Vec<_> = expected.map(|row| json!({"id": row["id"]})).collect();
            assert_eq!(found, expected, "{filter}");
        }
    });
}

#[test]
fn a_limit_counts_merged_rows() {
    let name = "v9_mor_event_time";
    block_on(async {
        let table = open(name).await;
        let all = snapshot(name).len();
        for limit in [0, 1, 3, all, all + 5] {
            let batches = read(&table, &json!({"limit": limit})).await.unwrap();
            let count: usize = batches.iter().map(RecordBatch::num_rows).sum();
            assert_eq!(count, limit.min(all), "{limit}");
        }
    });
}

async fn with_options(name: &str, pairs: &[(&str, &str)]) -> Table {
    let storage = Storage::new(support::store(name), StorageOptions::default());
    let pairs = pairs
        .iter()
        .map(|(key, value)| (key.to_string(), value.to_string()));
    let options = OpenOptions {
        hudi_options: pairs.collect(),
        ..OpenOptions::default()
    };
    Table::open(storage, options).await.unwrap()
}

/// Case M7: never merged by another rule in silence.
#[test]
fn a_table_merged_by_an_unknown_rule_is_refused_by_name_and_its_base_files_are_not() {
    block_on(async {
        let name = "v9_mor_event_time";
        let mine = "com.example.MyPayload";
        let table = with_options(
            name,
            &[
                ("hoodie.record.merge.mode", "CUSTOM"),
                ("hoodie.compaction.payload.class", mine),
            ],
        )
        .await;
        let error = read(&table, &json!({})).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unsupported);
        assert_eq!(
            error.get("property"),
            Some("hoodie.compaction.payload.class")
        );
        assert_eq!(error.get("value"), Some(mine));
        assert!(error.get("path").is_some_and(|path| path.contains(".log.")));
        let base = read(&table, &json!({"readOptimized": true})).await.unwrap();
        let recorded = support::queries(&support::expected(name), "snapshot");
        let recorded = recorded
            .iter()
            .find(|entry| entry["query"]["readOptimized"] == true);
        assert_eq!(json!(rows(&base).len()), recorded.unwrap()["count"]);
    });
}

#[test]
fn damage_in_a_log_is_passed_over_and_told_or_an_error_when_asked() {
    let name = "v9_mor_commit_time";
    let mut files = support::files(name);
    let logs = files
        .iter_mut()
        .filter(|(path, _)| path.contains(".log.") && !path.contains(".hoodie/"));
    let (damaged, content) = logs.max_by(|a, b| a.0.cmp(&b.0)).unwrap();
    let damaged = damaged.clone();
    content.truncate(content.len() - 5);
    let store = support::store_of(files);
    block_on(async {
        let storage = Storage::new(Arc::clone(&store) as _, StorageOptions::default());
        let table = Table::open(storage, OpenOptions::default()).await.unwrap();
        let strict = read(&table, &json!({"strictLogs": true}))
            .await
            .unwrap_err();
        assert_eq!(strict.kind(), ErrorKind::Corrupt);
        assert_eq!(strict.get("path"), Some(damaged.as_str()));
        let table = table.for_call(Default::default());
        let batches = read(&table, &json!({})).await.unwrap();
        // Of the last commit only the key 8 is left, which lies in a base file; nothing else is lost.
        let expected = support::expected(name);
        let instants = expected["instants"].as_array().unwrap();
        let before = &instants[instants.len() - 2]["instant"];
        let recorded = support::queries(&expected, "snapshot");
        let as_of = recorded
            .iter()
            .find(|entry| entry["query"]["asOf"] == *before);
        let mut left = as_of.unwrap()["rows"].as_array().unwrap().clone();
        left.extend(snapshot(name).into_iter().filter(|row| row["id"] == 8));
        sort(&mut left);
        assert_eq!(rows(&batches), left);
        let counted = table.storage().metrics().counters();
        assert_eq!(counted.corrupt_log_blocks, 1);
        assert!(
            counted
                .warnings
                .iter()
                .any(|warning| warning.contains(&damaged)),
            "{:?}",
            counted.warnings
        );
    });
}

#[test]
fn a_plan_counts_log_files() {
    block_on(async {
        let table = open("v9_mor_commit_time").await;
        let estimate = async |query: Value| {
            let plan = table.explain(&options(&query)).await.unwrap();
            let plan = serde_json::to_value(plan).unwrap();
            let of = |key: &str| plan[key].as_u64().unwrap();
            (of("estimatedRequests"), of("estimatedBytes"))
        };
        let merged = estimate(json!({})).await;
        let base = estimate(json!({"readOptimized": true})).await;
        let facts = table.file_slices(&options(&json!({}))).await.unwrap();
        let facts = serde_json::to_value(facts).unwrap();
        let sizes = facts[0]["logFileSizes"].as_array().unwrap().iter();
        let sizes: Vec<u64> = sizes.map(|size| size.as_u64().unwrap()).collect();
        assert_eq!(merged.0, base.0 + sizes.len() as u64);
        assert_eq!(merged.1, base.1 + sizes.iter().sum::<u64>());
    });
}

#[test]
fn log_rows_beyond_the_memory_of_a_call_are_refused_with_the_way_out() {
    let name = "v9_mor_event_time";
    let bounded = |limit| {
        let options = StorageOptions {
            memory_limit: Some(limit),
            ..StorageOptions::default()
        };
        Storage::new(support::store(name), options)
    };
    block_on(async {
        let table = Table::open(bounded(1_000), OpenOptions::default()).await;
        let table = table.unwrap();
        let error = read(&table, &json!({})).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::LimitExceeded);
        assert!(error.get("path").unwrap().contains(".log."));
        assert!(error.get("hint").unwrap().contains("memoryLimit"));
        let table = Table::open(bounded(1 << 20), OpenOptions::default()).await;
        let batches = read(&table.unwrap(), &json!({})).await.unwrap();
        let mut found = rows(&batches);
        sort(&mut found);
        assert_eq!(found, snapshot(name));
    });
}
