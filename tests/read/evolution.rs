//! Columns that were renamed, dropped and added again.

use arrow::record_batch::RecordBatch;
use serde_json::{Value, json};

use super::spark::{open, read};
use super::support;
use super::support::rows::rows;

/// The rows of a query over a table, one column of them each.
fn column(table: &str, query: &Value, column: &str) -> Vec<Value> {
    support::block_on(async {
        let batches: Vec<RecordBatch> = read(&open(table).await, query).await.unwrap();
        let rows = rows(&batches);
        rows.iter().map(|row| row[column].clone()).collect()
    })
}

/// The base file of `v9_mor_schema_on_read` is of the time before `name` became `title`, and `gone` was dropped later.
#[test]
fn a_renamed_column_is_filtered_by_what_it_holds_in_older_files() {
    let titles = |filters: Value| {
        let query = json!({"readOptimized": true, "filters": filters});
        column("v9_mor_schema_on_read", &query, "title")
    };
    assert_eq!(titles(json!([["title", "=", "b"]])), ["b"]);
    assert_eq!(titles(json!([["title", ">", "b"]])), ["c", "d"]);
    assert_eq!(titles(json!([["title", "IS NULL"]])), [] as [Value; 0]);
    assert_eq!(titles(json!([["amount", ">=", 30]])), ["c", "d"]);
}

#[test]
fn without_the_history_columns_go_by_name() {
    let off = json!({"hoodie.schema.on.read.enable": "false"});
    let query = json!({"readOptimized": true, "hudiOptions": off});
    let titles = column("v9_mor_schema_on_read", &query, "title");
    assert_eq!(titles, [Value::Null, Value::Null, Value::Null, json!("d")]);
}

/// Case S3: a column is dropped and its name used again.
#[test]
fn a_column_that_was_added_again_is_null_in_rows_from_before() {
    let ids = |filters: Value| column("v9_cow_schema_on_read", &json!({"filters": filters}), "id");
    assert_eq!(ids(json!([["gone", "IS NULL"]])), [1, 2, 4]);
    assert_eq!(ids(json!([["gone", "=", "g1"]])), [] as [Value; 0]);
    assert_eq!(ids(json!([["gone", "=", "new g3"]])), [3]);
    let before = json!({"asOf": "20261129212447780", "filters": [["gone", "=", "g1"]]});
    assert_eq!(column("v9_cow_schema_on_read", &before, "id"), [1]);
}

/// Case V12: files from before a nested field was added have it as null.
#[test]
fn a_nested_field_that_was_added_is_null_in_older_files() {
    let expected = support::expected("v9_cow_evolved");
    let all = support::queries(&expected, "snapshot");
    let latest = all
        .iter()
        .find(|query| query["query"] == json!({"queryType": "snapshot"}));
    let rows = latest.unwrap()["rows"].as_array().unwrap();
    let name = "st";
    let fields: Vec<&String> = rows[0][name].as_object().unwrap().keys().collect();
    assert!(fields.len() > 1, "{fields:?}");
    for field in fields {
        let lacking = rows.iter().filter(|row| row[name][field].is_null());
        let mut lacking: Vec<&Value> = lacking.map(|row| &row["id"]).collect();
        lacking.sort_by_key(|id| id.as_i64());
        let query = json!({"filters": [[format!("{name}.{field}"), "IS NULL"]]});
        let mut found = column("v9_cow_evolved", &query, "id");
        found.sort_by_key(Value::as_i64);
        assert_eq!(found.iter().collect::<Vec<_>>(), lacking, "{field}");
    }
}
