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

/// A table whose snapshot without options was recorded with Spark's default, which takes columns by name.
const BY_NAME: &str = "v9_mor_schema_on_read";

/// Queries that Spark refuses by a fault of its own, and whose answer follows from its other answers.
const REFUSED_BY_FAULT: &str = "v9_cow_partition_types";

pub(crate) async fn open(name: &str) -> Table {
    let storage = Storage::new(support::store(name), StorageOptions::default());
    Table::open(storage, OpenOptions::default()).await.unwrap()
}

/// The recorded query in the words of the engine's options.
pub(crate) fn options(query: &Value) -> ReadOptions {
    let mut options = query.clone();
    for time in ["asOf", "start", "end"] {
        if let Some(text) = query.get(time) {
            options[time] = json!({ "text": text });
        }
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
        m if m.contains("meta fields are disabled") => ErrorKind::Unsupported,
        m if m.contains("earlier than the first incomplete commit") => ErrorKind::InstantPending,
        other => panic!("no error kind stands for {other:?}"),
    }
}

/// How our answer to a recorded query differs from Spark's; `None` where it does not.
pub(crate) async fn fault(name: &str, table: &Table, recorded: &Value) -> Option<String> {
    let mut query = recorded["query"].clone();
    if name == BY_NAME && query == json!({"queryType": "snapshot"}) {
        query["hudiOptions"] = json!({"hoodie.schema.on.read.enable": "false"});
    }
    let query = &query;
    let told = |what: String| Some(format!("{name} {query}: {what}"));
    let read = read(table, query).await;
    if let Some(message) = recorded.get("error").and_then(Value::as_str) {
        if name == REFUSED_BY_FAULT {
            return None;
        }
        let expected = refusal(message);
        return match read {
            Err(error) if error.kind() == expected => None,
            Err(error) => told(format!("{error}, which is no {expected:?}")),
            Ok(_) => told(format!("not refused with {expected:?}")),
        };
    }
    let rows = match read {
        Ok(batches) => rows(&batches),
        Err(error) => return told(error.to_string()),
    };
    match recorded.get("rows") {
        Some(expected) => difference(&rows, &sorted(expected)).and_then(told),
        None => summary_fault(&rows, recorded).and_then(told),
    }
}

/// The first row that differs, ours then Spark's.
pub(crate) fn difference(ours: &[Value], spark: &[Value]) -> Option<String> {
    let first = ours.iter().zip(spark).find(|(ours, spark)| ours != spark);
    match first {
        Some((ours, spark)) => Some(format!("ours {ours}, Spark's {spark}")),
        None if ours.len() == spark.len() => None,
        None => Some(format!("{} rows, Spark's {}", ours.len(), spark.len())),
    }
}

/// For results of which only sums and a sample are kept.
fn summary_fault(rows: &[Value], recorded: &Value) -> Option<String> {
    if json!(rows.len()) != recorded["count"] {
        return Some(format!(
            "{} rows, Spark's {}",
            rows.len(),
            recorded["count"]
        ));
    }
    for (column, expected) in recorded["sums"].as_object().unwrap() {
        let found: i64 = rows.iter().map(|row| number(&row[column])).sum();
        if found != number(expected) {
            return Some(format!(
                "the sum of {column} is {found}, Spark's {expected}"
            ));
        }
    }
    let texts: HashSet<String> = rows.iter().map(Value::to_string).collect();
    let sample = sorted(&recorded["sample"]).into_iter();
    let missing = sample
        .map(|row| row.to_string())
        .find(|row| !texts.contains(row));
    missing.map(|row| format!("{row} is missing"))
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
    let mut faults = Vec::new();
    for name in names {
        support::block_on(async {
            let expected = support::expected(name);
            let table = open(name).await;
            for recorded in support::queries(&expected, "snapshot") {
                faults.extend(fault(name, &table, &recorded).await);
                queries += 1;
            }
        });
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert!(queries > 0);
}

pub(crate) fn half(odd: bool) -> Vec<String> {
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
