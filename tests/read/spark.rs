//! Every recorded snapshot, time-travel, read-optimized and filter query of every table.

use std::collections::HashSet;

use arrow::array::RecordBatch;
use futures::TryStreamExt;
use hudi_wasm::config::ReadOptions;
use hudi_wasm::error::{ErrorKind, Result};
use hudi_wasm::storage::{Storage, StorageOptions};
use hudi_wasm::table::{OpenOptions, Table};
use serde_json::{Value, json};

use crate::support::{
    self,
    rows::{rows, sort},
};

/// Tables whose queries wait for schema evolution by column id and for vector columns.
const LATER: [&str; 4] = [
    "v9_cow_schema_on_read",
    "v9_cow_vector_by_1_2",
    "v9_mor_schema_on_read",
    "v9_mor_vector_by_1_2",
];

/// Queries that Spark refuses by a fault of its own, and whose answer follows from its other answers.
const REFUSED_BY_FAULT: &str = "v9_cow_partition_types";

pub(crate) async fn open(name: &str) -> Table {
    let storage = Storage::new(support::store(name), StorageOptions::default());
    Table::open(storage, OpenOptions::default()).await.unwrap()
}

/// The recorded query in the words of the engine's options.
pub(crate) fn options(query: &Value) -> ReadOptions {
    let mut options = query.clone();
    if let Some(as_of) = query.get("asOf") {
        options["asOf"] = json!({ "text": as_of });
    }
    if let Some(filters) = query.get("filters") {
        let filters = filters.as_array().unwrap().iter().map(filter);
        options["filters"] = filters.collect();
    }
    ReadOptions::from_json(&options.to_string()).unwrap()
}

fn filter(tuple: &Value) -> Value {
    let text = |value: &Value| match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let values: Vec<_> = match tuple.get(2) {
        None => Vec::new(),
        Some(Value::Array(values)) => values.iter().map(text).collect(),
        Some(value) => vec![text(value)],
    };
    json!({ "field": tuple[0], "operator": tuple[1], "values": values })
}

pub(crate) async fn read(table: &Table, query: &Value) -> Result<Vec<RecordBatch>> {
    table.read(&options(query)).await?.try_collect().await
}

fn refusal(message: &str) -> ErrorKind {
    match message {
        m if m.contains("Cleaner cleaned up") => ErrorKind::InstantExpired,
        m if m.contains("earlier than the first incomplete commit") => ErrorKind::InstantPending,
        other => panic!("no error kind stands for {other:?}"),
    }
}

async fn check(name: &str, table: &Table, recorded: &Value) {
    let query = &recorded["query"];
    let read = read(table, query).await;
    let place = format!("{name} {query}");
    if let Some(message) = recorded.get("error").and_then(Value::as_str) {
        if name != REFUSED_BY_FAULT {
            assert_eq!(read.unwrap_err().kind(), refusal(message), "{place}");
        }
        return;
    }
    let batches = read.unwrap_or_else(|error| panic!("{place}: {error}"));
    let rows = rows(&batches);
    if let Some(expected) = recorded.get("rows") {
        let expected = sorted(expected);
        let first = rows
            .iter()
            .zip(&expected)
            .find(|(ours, spark)| ours != spark);
        assert_eq!(first, None, "{place}: ours, then Spark's");
        assert_eq!(rows.len(), expected.len(), "{place}");
        return;
    }
    assert_eq!(json!(rows.len()), recorded["count"], "{place}");
    for (column, expected) in recorded["sums"].as_object().unwrap() {
        let found: i64 = rows.iter().map(|row| number(&row[column])).sum();
        assert_eq!(found, number(expected), "{place} {column}");
    }
    let texts: HashSet<String> = rows.iter().map(Value::to_string).collect();
    for row in sorted(&recorded["sample"]) {
        assert!(
            texts.contains(&row.to_string()),
            "{place}: {row} is missing"
        );
    }
}

fn sorted(rows: &Value) -> Vec<Value> {
    let mut rows = rows.as_array().unwrap().clone();
    sort(&mut rows);
    rows
}

/// A number in hundredths; of a text its length, unless it is a decimal.
fn number(value: &Value) -> i64 {
    match value {
        Value::Number(number) => number.as_i64().unwrap() * 100,
        Value::String(text) => match text.parse::<f64>() {
            Ok(decimal) => (decimal * 100.0).round() as i64,
            Err(_) => text.chars().count() as i64 * 100,
        },
        other => panic!("{other} is in no sum"),
    }
}

fn check_tables(names: &[String]) {
    let mut queries = 0;
    for name in names.iter().filter(|name| !LATER.contains(&name.as_str())) {
        support::block_on(async {
            let expected = support::expected(name);
            let table = open(name).await;
            for recorded in support::queries(&expected, "snapshot") {
                let merges = table.is_mor() && recorded["query"].get("readOptimized").is_none();
                if !merges {
                    check(name, &table, &recorded).await;
                    queries += 1;
                }
            }
        });
    }
    assert!(queries > 0);
}

fn half(odd: bool) -> Vec<String> {
    let names = support::tables().into_iter().enumerate();
    names
        .filter(|(at, _)| (at % 2 == 1) == odd)
        .map(|(_, name)| name)
        .collect()
}

#[test]
fn half_of_the_tables_give_the_rows_of_spark() {
    check_tables(&half(false));
}

#[test]
fn the_other_half_give_the_rows_of_spark() {
    check_tables(&half(true));
}
