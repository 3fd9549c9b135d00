//! Minimum, maximum and nulls of columns without their rows, against the rows that Spark reads.

use std::cmp::Ordering;

use hudi_wasm::error::ErrorKind;
use hudi_wasm::storage::CallScope;
use hudi_wasm::table::{ColumnStatsFacts, Table};
use serde_json::{Value, json};

use crate::spark::{open, options, read};
use crate::support::{self, block_on, rows::rows};

async fn stats(table: &Table, columns: &[String], query: &Value) -> Vec<ColumnStatsFacts> {
    let table = table.for_call(CallScope::default());
    let found = table.column_stats(columns, &options(query)).await.unwrap();
    assert_eq!(table.storage().metrics().counters().rows_scanned, 0);
    let counted = columns.len() == found.iter().filter(|row| row.file_path.is_none()).count();
    assert!(counted, "one row for all files of each column");
    found
}

/// A bound as a filter takes it.
fn literal(bound: &Value) -> Value {
    match bound.get("bigint") {
        Some(text) => text.clone(),
        None => match bound {
            Value::String(text) => json!(text),
            other => json!(other.to_string()),
        },
    }
}

/// How many rows pass one filter.
async fn count(table: &Table, column: &str, operator: &str, value: &Value) -> usize {
    let query = json!({"filters": [[column, operator, literal(value)]], "projection": [column]});
    rows(&read(table, &query).await.unwrap()).len()
}

/// What Spark's rows say of a column: nulls, and the bounds where JSON has the column's own order.
fn of_rows(all: &[Value], column: &str) -> (u64, Option<(Value, Value)>) {
    let values: Vec<&Value> = all
        .iter()
        .map(|row| &row[column])
        .filter(|v| !v.is_null())
        .collect();
    let order = |a: &&&Value, b: &&&Value| match (a.as_i64(), b.as_i64()) {
        (Some(a), Some(b)) => a.cmp(&b),
        _ => a
            .as_str()
            .map(str::as_bytes)
            .cmp(&b.as_str().map(str::as_bytes)),
    };
    let whole = values.iter().all(|value| value.is_i64());
    let ends = values.iter().min_by(order).zip(values.iter().max_by(order));
    let ends = ends
        .filter(|_| whole)
        .map(|(min, max)| ((**min).clone(), (**max).clone()));
    ((all.len() - values.len()) as u64, ends)
}

#[test]
fn bounds_and_nulls_are_those_of_sparks_rows_from_the_metadata_table_and_from_footers() {
    block_on(async {
        let (mut compared, mut sources) = (0, std::collections::BTreeSet::new());
        for name in support::cow_tables() {
            let expected = support::expected(&name);
            let Some(recorded) = support::queries(&expected, "snapshot").into_iter().next() else {
                continue;
            };
            let Some(all) = recorded["rows"].as_array().filter(|all| !all.is_empty()) else {
                continue;
            };
            let table = open(&name).await;
            let schema = table.schema(true).await.unwrap();
            let columns = schema.fields().iter().map(|field| field.name().clone());
            let columns: Vec<String> = columns.filter(|name| all[0].get(name).is_some()).collect();
            for enable in ["true", "false"] {
                let query = json!({"hudiOptions": {"hoodie.metadata.enable": enable}});
                let found = stats(&table, &columns, &query).await;
                for row in found.iter().filter(|row| row.file_path.is_none()) {
                    let told = format!("{name} {enable} {row:?}");
                    sources.insert(row.source);
                    let (nulls, ends) = of_rows(all, &row.column);
                    if let Some(count) = row.value_count {
                        assert_eq!(count, all.len() as u64, "{told}");
                    }
                    if let Some(count) = row.null_count {
                        assert_eq!(count, nulls, "{told}");
                    }
                    let (Some(min), Some(max)) = (&row.min, &row.max) else {
                        continue;
                    };
                    if let Some((least, greatest)) = ends {
                        assert_eq!(literal(min), json!(least.to_string()), "{told}");
                        assert_eq!(literal(max), json!(greatest.to_string()), "{told}");
                    } else if row.tight {
                        assert_eq!(count(&table, &row.column, "<", min).await, 0, "{told}");
                        assert_eq!(count(&table, &row.column, ">", max).await, 0, "{told}");
                        assert!(count(&table, &row.column, "=", min).await > 0, "{told}");
                        assert!(count(&table, &row.column, "=", max).await > 0, "{told}");
                    }
                    compared += 1;
                }
            }
        }
        assert!(compared > 500, "{compared}");
        assert_eq!(
            sources.into_iter().collect::<Vec<_>>(),
            ["footer", "metadata-table"]
        );
    });
}

#[test]
fn files_add_up_to_the_table_and_the_metadata_table_costs_no_footer() {
    block_on(async {
        let table = open("v9_cow_skipping").await;
        let columns = ["n".to_owned(), "_hoodie_record_key".to_owned()];
        let call = table.for_call(CallScope::default());
        let found = call
            .column_stats(&columns, &options(&json!({})))
            .await
            .unwrap();
        assert!(
            found
                .iter()
                .all(|row| row.source == "metadata-table" && row.tight)
        );
        let requests = call.storage().metrics().counters().requests;
        assert!(requests < 20, "{requests} requests for sixty files");
        let of_files = found
            .iter()
            .filter(|row| row.column == "n" && row.file_path.is_some());
        let counts: Vec<u64> = of_files.map(|row| row.value_count.unwrap()).collect();
        assert_eq!((counts.len(), counts.iter().sum::<u64>()), (60, 120_000));
    });
}

#[test]
fn bounds_of_a_merge_on_read_table_hold_all_its_rows_and_are_not_tight() {
    block_on(async {
        for name in [
            "v9_mor_all_types",
            "v8_mor_parts",
            "v6_mor_parts",
            "v9_mor_event_time",
        ] {
            let expected = support::expected(name);
            let recorded = support::queries(&expected, "snapshot").remove(0);
            let all = recorded["rows"].as_array().unwrap();
            let table = open(name).await;
            let schema = table.schema(false).await.unwrap();
            let columns: Vec<_> = schema
                .fields()
                .iter()
                .map(|field| field.name().clone())
                .collect();
            for row in stats(&table, &columns, &json!({})).await {
                if let (None, Some(min), Some(max)) = (&row.file_path, &row.min, &row.max) {
                    assert!(!row.tight, "{name} {row:?}");
                    if let (_, Some((least, greatest))) = of_rows(all, &row.column) {
                        let number = |value: &Value| {
                            literal(value).as_str().unwrap().parse::<i64>().unwrap()
                        };
                        assert_ne!(
                            number(min).cmp(&number(&json!({"bigint": least.to_string()}))),
                            Ordering::Greater
                        );
                        assert_ne!(
                            number(max).cmp(&number(&json!({"bigint": greatest.to_string()}))),
                            Ordering::Less
                        );
                    }
                }
            }
        }
    });
}

#[test]
fn an_unknown_column_and_another_query_are_refused() {
    block_on(async {
        let table = open("v9_cow_simple").await;
        let check = async |column: &str, query: Value, kind: ErrorKind| {
            let error = table
                .column_stats(&[column.to_owned()], &options(&query))
                .await;
            assert_eq!(error.unwrap_err().kind(), kind);
        };
        check("absent", json!({}), ErrorKind::Schema).await;
        check(
            "id",
            json!({"queryType": "incremental"}),
            ErrorKind::InvalidArgument,
        )
        .await;
    });
}
