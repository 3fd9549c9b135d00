//! Partition columns of every layout: each of their values, asked for alone, gives its rows and no others.

use std::collections::BTreeSet;

use hudi_wasm::storage::{Storage, StorageOptions};
use hudi_wasm::table::{OpenOptions, Table};
use serde_json::{Value, json};

use crate::spark::{difference, open, read};
use crate::support::{self, block_on, rows::rows, rows::sort};

/// Slashes, colons, percent and equals signs, nulls and empty texts, values that begin with another, dates, moments as
/// folders, folders without names, and columns that no file has.
const LAYOUTS: [&str; 9] = [
    "v9_cow_partition_types",
    "v9_cow_partition_plain",
    "v9_cow_date_partition",
    "v9_cow_nonhive_multi",
    "v9_cow_timestamp_keygen",
    "v9_cow_timestamp_keygen_string",
    "v9_cow_custom_keygen",
    "v9_cow_drop_partition_cols",
    "v6_cow_legacy",
];

fn snapshot(name: &str) -> Vec<Value> {
    let recorded = support::queries(&support::expected(name), "snapshot");
    let all = recorded
        .iter()
        .find(|q| q["query"] == json!({"queryType": "snapshot"}));
    all.unwrap()["rows"].as_array().unwrap().clone()
}

async fn partition_fields(table: &Table) -> Vec<String> {
    let schema = table.partition_schema().await.unwrap();
    schema
        .fields()
        .iter()
        .map(|field| field.name().clone())
        .collect()
}

async fn check_each_value(name: &str, table: &Table) {
    let all = snapshot(name);
    for column in partition_fields(table).await {
        let texts: BTreeSet<String> = all.iter().map(|row| row[&column].to_string()).collect();
        assert!(texts.len() > 1, "{name} {column}");
        for text in texts {
            let value: Value = serde_json::from_str(&text).unwrap();
            let filter = match value.is_null() {
                true => json!([column, "IS NULL"]),
                false => json!([column, "=", value]),
            };
            let mut expected: Vec<Value> = all
                .iter()
                .filter(|row| row[&column] == value)
                .cloned()
                .collect();
            sort(&mut expected);
            let found = read(table, &json!({"filters": [filter]})).await.unwrap();
            assert_eq!(
                difference(&rows(&found), &expected),
                None,
                "{name} {column} = {text}"
            );
        }
    }
}

#[test]
fn each_value_of_a_partition_column_gives_its_rows_and_no_others() {
    block_on(async {
        for name in LAYOUTS {
            check_each_value(name, &open(name).await).await;
        }
    });
}

#[test]
fn partition_columns_alone_come_in_the_order_asked_with_every_row() {
    block_on(async {
        for name in LAYOUTS {
            let table = open(name).await;
            let mut columns = partition_fields(&table).await;
            columns.reverse();
            let found = read(&table, &json!({ "projection": columns }))
                .await
                .unwrap();
            let names: Vec<String> = found[0]
                .schema()
                .fields()
                .iter()
                .map(|f| f.name().clone())
                .collect();
            assert_eq!(names, columns, "{name}");
            let row = |row: &Value| -> Value {
                columns
                    .iter()
                    .map(|column| (column.clone(), row[column].clone()))
                    .collect()
            };
            let mut expected: Vec<Value> = snapshot(name).iter().map(row).collect();
            sort(&mut expected);
            assert_eq!(difference(&rows(&found), &expected), None, "{name}");
        }
    });
}

/// Version 6 does not keep the types of a custom generator's fields.
#[test]
fn a_custom_generator_reads_without_the_types_of_its_fields() {
    block_on(async {
        let name = "v9_cow_custom_keygen";
        let mut files = support::files(name);
        let properties = files
            .iter_mut()
            .find(|(path, _)| path == ".hoodie/hoodie.properties");
        let (_, content) = properties.unwrap();
        let text = String::from_utf8(content.clone()).unwrap();
        let bare = text.replace("\\:SIMPLE", "").replace("\\:TIMESTAMP", "");
        assert_ne!(bare, text);
        *content = bare.into_bytes();
        let storage = Storage::new(support::store_of(files), StorageOptions::default());
        let table = Table::open(storage, OpenOptions::default()).await.unwrap();
        check_each_value(name, &table).await;
    });
}
