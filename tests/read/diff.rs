//! What differs between two times, against the snapshots that Spark read as of them.

use std::collections::BTreeMap;

use hudi_wasm::error::{ErrorKind, Result};
use hudi_wasm::read::Diff;
use hudi_wasm::table::Table;
use serde_json::{Value, json};

use crate::spark::{difference, open, options};
use crate::support::{self, block_on, rows::rows, rows::sort};

async fn diff(table: &Table, query: &Value) -> Result<Diff> {
    table.diff(&options(query)).await
}

type ByKey = BTreeMap<String, Value>;

/// Spark's rows as of an instant, by partition and key.
fn snapshot(snapshots: &[Value], as_of: &str) -> ByKey {
    let query = json!({"queryType": "snapshot", "asOf": as_of});
    let found = snapshots.iter().find(|q| q["query"] == query).unwrap();
    let rows = found["rows"].as_array().unwrap().iter();
    rows.map(|row| {
        let key = [&row["_hoodie_partition_path"], &row["_hoodie_record_key"]];
        (json!(key).to_string(), row.clone())
    })
    .collect()
}

fn own(row: &Value) -> Value {
    let columns = row.as_object().unwrap().iter();
    let own = columns.filter(|(name, _)| !name.starts_with("_hoodie_"));
    own.map(|(name, value)| (name.clone(), value.clone()))
        .collect()
}

fn sorted(rows: impl Iterator<Item = Value>) -> Vec<Value> {
    let mut rows: Vec<Value> = rows.collect();
    sort(&mut rows);
    rows
}

async fn check(name: &str) {
    let snapshots = support::queries(&support::expected(name), "snapshot");
    let times = snapshots.iter().filter(|q| q.get("rows").is_some());
    let times: Vec<&str> = times.filter_map(|q| q["query"]["asOf"].as_str()).collect();
    let table = open(name).await;
    assert!(times.len() > 1, "{name}");
    for (at, from) in times.iter().enumerate() {
        for to in times.iter().skip(at) {
            let (old, new) = (snapshot(&snapshots, from), snapshot(&snapshots, to));
            let found = diff(&table, &json!({"start": from, "end": to}))
                .await
                .unwrap();
            let changed = |key: &&String| match (old.get(*key), new.get(*key)) {
                (Some(old), Some(new)) => own(old) != own(new),
                _ => false,
            };
            let keys: Vec<&String> = old.keys().filter(changed).collect();
            for (what, ours, spark) in [
                (
                    "added",
                    &found.added,
                    sorted(
                        new.iter()
                            .filter(|(key, _)| !old.contains_key(*key))
                            .map(|(_, row)| row.clone()),
                    ),
                ),
                (
                    "removed",
                    &found.removed,
                    sorted(
                        old.iter()
                            .filter(|(key, _)| !new.contains_key(*key))
                            .map(|(_, row)| row.clone()),
                    ),
                ),
                (
                    "before",
                    &found.before,
                    sorted(keys.iter().map(|key| old[*key].clone())),
                ),
                (
                    "after",
                    &found.after,
                    sorted(keys.iter().map(|key| new[*key].clone())),
                ),
            ] {
                let fault = difference(&rows(ours), &spark);
                assert_eq!(fault, None, "{name} {from} {to} {what}");
            }
        }
    }
}

#[test]
fn rows_are_added_removed_and_changed_as_sparks_snapshots_say() {
    block_on(async {
        for name in [
            "v6_cow_parts",
            "v6_mor_compacted",
            "v8_mor_parts",
            "v9_cow_hive_parts",
            "v9_cow_overwrite",
            "v9_cow_clustered",
            "v9_cow_partitioned_rli",
            "v9_cow_all_types",
            "v9_mor_event_time",
            "v9_mor_partial_update",
        ] {
            check(name).await;
        }
    });
}

#[test]
fn filters_and_projection_hold_for_both_times_and_the_earliest_is_empty() {
    block_on(async {
        let table = open("v9_cow_hive_parts").await;
        let query = json!({"filters": [["city", "=", "rome"]], "projection": ["id", "city"]});
        let found = diff(&table, &query).await.unwrap();
        assert!(found.removed.is_empty() && found.before.is_empty() && found.after.is_empty());
        let added = rows(&found.added);
        assert!(!added.is_empty());
        assert!(
            added
                .iter()
                .all(|row| row["city"] == "rome" && row.as_object().unwrap().len() == 2)
        );
        let error = diff(&open("v9_cow_no_meta_fields").await, &json!({}))
            .await
            .unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unsupported);
    });
}
