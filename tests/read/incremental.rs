//! Every recorded incremental query of every table.

use std::collections::BTreeMap;

use futures::TryStreamExt;
use hudi_wasm::error::ErrorKind;
use hudi_wasm::storage::CallScope;
use serde_json::{Value, json};

use crate::spark::{fault, half, open, options, read};
use crate::support::{self, block_on, rows::rows};

const FALLBACK: &str = "hoodie.datasource.read.incr.fallback.fulltablescan.enable";

/// Where Spark gives a partition's path for its value (`100%25` for `100%`), though its snapshot of the same rows gives
/// the value.
const PATH_FOR_VALUE: (&str, &str) = ("v9_cow_partition_types", "region");

/// Where Spark gives memory that is no row: an update of some columns without the base file under it. Right is what time
/// travel to the range's end gives of the rows.
const PARTIAL_UPDATES: [&str; 2] = ["v9_mor_partial_update", "v9_mor_partial_update_compacted"];

/// Tables whose cleaner removed files that recorded ranges need, and how many of the queries. Spark answers these with
/// what is left of the rows in the newest snapshot.
const CLEANED: [(&str, usize); 5] = [
    ("v9_cow_archived", 2),
    ("v9_cow_by_1_2", 2),
    ("v9_cow_partition_dropped", 1),
    ("v9_cow_restored", 1),
    ("v9_cow_savepoint", 3),
];

/// The recorded incremental queries with the rows that are right.
fn queries(name: &str) -> Vec<Value> {
    let mut queries = support::queries(&support::expected(name), "incremental");
    if name == PATH_FOR_VALUE.0 {
        let rows = queries.iter_mut().filter_map(|q| q["rows"].as_array_mut());
        for row in rows.flatten() {
            let path = row[PATH_FOR_VALUE.1].as_str().map(decoded);
            row[PATH_FOR_VALUE.1] = json!(path);
        }
    }
    if PARTIAL_UPDATES.contains(&name) {
        let expected = support::expected(name);
        for query in &mut queries {
            query["rows"] = rows_by_time_travel(&expected, &query["query"]);
        }
    }
    queries
}

/// Of the snapshot as of the last instant in a range, the rows that instants of the range wrote.
fn rows_by_time_travel(expected: &Value, query: &Value) -> Value {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let start = text(&query["start"]).unwrap();
    let end = text(&query["end"]).unwrap_or("9".to_owned());
    let instants = expected["instants"].as_array().unwrap().iter();
    let within = |i: &&Value| {
        let completion = i["completion"].as_str().unwrap();
        start.as_str() < completion && completion <= end.as_str()
    };
    let times: Vec<&Value> = instants.filter(within).map(|i| &i["instant"]).collect();
    let Some(last) = times.last() else {
        return json!([]);
    };
    let snapshots = support::queries(expected, "snapshot");
    let then = snapshots
        .iter()
        .find(|q| q["query"]["asOf"] == **last)
        .unwrap();
    let rows = then["rows"].as_array().unwrap().iter();
    rows.filter(|row| times.contains(&&row["_hoodie_commit_time"]))
        .cloned()
        .collect()
}

fn decoded(path: &str) -> String {
    let escapes = [("%2F", "/"), ("%3A", ":"), ("%3D", "="), ("%25", "%")];
    let replace = |text: String, (escaped, plain)| text.replace(escaped, plain);
    escapes.into_iter().fold(path.to_owned(), replace)
}

fn check_as_spark(tables: &[String]) {
    let (mut asked, mut faults) = (0, Vec::new());
    for name in tables {
        block_on(async {
            let table = open(name).await;
            for mut recorded in queries(name) {
                recorded["query"]["hudiOptions"] = json!({ FALLBACK: "true" });
                faults.extend(fault(name, &table, &recorded).await);
                asked += 1;
            }
        });
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert!(asked > 150, "{asked}");
}

#[test]
fn half_of_the_tables_give_the_changes_of_spark() {
    check_as_spark(&half(false));
}

#[test]
fn the_other_half_give_the_changes_of_spark() {
    check_as_spark(&half(true));
}

#[test]
fn cleaned_files_are_named_and_never_fewer_rows() {
    let mut expired = BTreeMap::new();
    let mut faults = Vec::new();
    let tables = support::tables();
    for name in &tables {
        block_on(async {
            let table = open(name).await;
            for recorded in queries(name) {
                let query = &recorded["query"];
                match read(&table, query).await {
                    Err(error) if error.kind() == ErrorKind::InstantExpired => {
                        *expired.entry(name.as_str()).or_default() += 1;
                    }
                    _ => faults.extend(fault(name, &table, &recorded).await),
                }
            }
        });
    }
    assert_eq!(expired, BTreeMap::from(CLEANED));
    // The file of the range's end is there, but not that of an earlier commit within it: Spark looks for both.
    assert_eq!(faults.len(), 2, "{faults:?}");
    // Nor does it give a row that was changed behind the range.
    for (fault, table) in faults
        .iter()
        .zip(["v9_cow_partition_dropped", "v9_cow_restored"])
    {
        assert!(fault.starts_with(table), "{faults:?}");
    }
}

/// Spark leaves out row 3 here, which was written in the range and changed after it.
#[test]
fn a_range_needs_the_files_of_its_end_alone() {
    block_on(async {
        let table = open("v9_cow_restored").await;
        let query = json!({"queryType": "incremental", "start": "earliest", "end": "20261129212305386",
            "projection": ["_hoodie_commit_time", "id", "name"]});
        let row = |time, id, name| json!({"_hoodie_commit_time": time, "id": id, "name": name});
        let (first, second) = ("20261129212300014", "20261129212303268");
        let expected = [
            row(first, 0, "n0"),
            row(first, 2, "n2"),
            row(first, 3, "n3"),
            row(second, 1, "savepointed"),
        ];
        assert_eq!(rows(&read(&table, &query).await.unwrap()), expected);
    });
}

#[test]
fn a_table_without_commits_has_no_changes() {
    block_on(async {
        let table = open("v9_cow_empty").await;
        let query = json!({"queryType": "incremental", "projection": ["_hoodie_commit_time"]});
        assert!(read(&table, &query).await.unwrap().is_empty());
    });
}

#[test]
fn filters_projection_limit_and_streaming_hold_for_changes() {
    block_on(async {
        let table = open("v9_cow_hive_parts").await;
        let asked = async |more: Value| {
            let mut query = json!({"queryType": "incremental", "start": "20261129204521128"});
            query
                .as_object_mut()
                .unwrap()
                .extend(more.as_object().unwrap().clone());
            read(&table, &query).await.unwrap()
        };
        let all = rows(&asked(json!({})).await);
        assert_eq!(all.len(), 6);
        let rome = rows(&asked(json!({"filters": [["city", "=", "rome"]]})).await);
        let expected: Vec<Value> = all
            .iter()
            .filter(|row| row["city"] == "rome")
            .cloned()
            .collect();
        assert_eq!(rome, expected);
        let cut = asked(json!({"limit": 2, "projection": ["city", "id"]})).await;
        assert_eq!(cut.iter().map(|batch| batch.num_rows()).sum::<usize>(), 2);
        assert_eq!(cut[0].num_columns(), 2);
        let streamed = asked(json!({"streaming": true, "batchSize": 1})).await;
        assert!(streamed.iter().all(|batch| batch.num_rows() == 1));
        assert_eq!(rows(&streamed), all);
    });
}

#[test]
fn the_files_of_the_wanted_commits_alone_are_fetched() {
    block_on(async {
        let table = open("v9_cow_hive_parts")
            .await
            .for_call(CallScope::default());
        let last = json!({"queryType": "incremental", "start": "20261129204530017"});
        assert_eq!(rows(&read(&table, &last).await.unwrap()).len(), 1);
        // The newest commit, for its files and the schema, and two files: of the partition left and of the one entered.
        let counted = table.storage().metrics().counters();
        assert_eq!(counted.requests, 3);
    });
}

#[test]
fn a_slice_read_for_a_range_gives_the_rows_that_changed_in_it() {
    block_on(async {
        let table = open("v9_cow_hive_parts").await;
        let query = json!({"queryType": "incremental", "start": "20261129204530017"});
        let expected = rows(&read(&table, &query).await.unwrap());
        let slices = table.file_slices(&options(&query)).await.unwrap();
        let slices: Vec<Value> = slices
            .iter()
            .map(|slice| serde_json::to_value(slice).unwrap())
            .collect();
        let mut found = Vec::new();
        for slice in &slices {
            let path = slice["baseFileRelativePath"].as_str();
            let stream = table.read_paths(path, &[], &options(&query)).await.unwrap();
            found.extend(stream.try_collect::<Vec<_>>().await.unwrap());
        }
        assert!(slices.len() > 1);
        assert_eq!(rows(&found), expected);
        let none = json!({"queryType": "incremental", "start": "20261129204535200"});
        let path = slices[0]["baseFileRelativePath"].as_str();
        let stream = table.read_paths(path, &[], &options(&none)).await.unwrap();
        assert!(stream.try_collect::<Vec<_>>().await.unwrap().is_empty());
    });
}
