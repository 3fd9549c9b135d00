//! Rows by their record keys, and the estimate of a table's size.

use arrow::array::AsArray;
use futures::TryStreamExt;
use hudi_wasm::error::ErrorKind;
use hudi_wasm::storage::CallScope;
use hudi_wasm::table::{LookupKey, Table};
use serde_json::{Value, json};

use crate::spark::{difference, open, options};
use crate::support::{
    self, block_on,
    rows::{rows, sort},
};

fn key(record_key: &str, partition_path: Option<&str>) -> LookupKey {
    LookupKey {
        record_key: record_key.into(),
        partition_path: partition_path.map(str::to_owned),
    }
}

/// The rows, sorted.
async fn found(table: &Table, keys: &[LookupKey], query: Value) -> Vec<Value> {
    let stream = table.lookup(keys, &options(&query)).await.unwrap();
    let batches: Vec<_> = stream.try_collect().await.unwrap();
    rows(&batches)
}

/// The record keys of the rows, in the order in which they come.
async fn order(table: &Table, keys: &[LookupKey], query: Value) -> Vec<String> {
    let stream = table.lookup(keys, &options(&query)).await.unwrap();
    let batches: Vec<_> = stream.try_collect().await.unwrap();
    let columns = batches
        .iter()
        .map(|batch| batch.column_by_name("_hoodie_record_key").unwrap());
    let texts = columns.flat_map(|column| column.as_string::<i32>().iter().flatten());
    texts.map(str::to_owned).collect()
}

#[test]
fn every_table_gives_the_rows_of_its_keys_in_their_order() {
    block_on(async {
        let mut looked_up = 0;
        for name in support::tables() {
            let expected = support::expected(&name);
            let snapshot = &support::queries(&expected, "snapshot")[0];
            let Some(all) = snapshot["rows"]
                .as_array()
                .or(snapshot["sample"].as_array())
            else {
                continue;
            };
            let with_key =
                |row: &&Value| row.get("_hoodie_record_key").is_some_and(Value::is_string);
            let wanted: Vec<&Value> = all.iter().rev().filter(with_key).take(5).collect();
            if wanted.is_empty() || snapshot["query"].get("readOptimized").is_some() {
                continue;
            }
            let text = |row: &Value, field: &str| row[field].as_str().unwrap().to_owned();
            let mut keys = vec![key("no such key", None)];
            keys.extend(wanted.iter().map(|row| {
                let partition = text(row, "_hoodie_partition_path");
                key(&text(row, "_hoodie_record_key"), Some(&partition))
            }));
            for skipping in ["true", "false"] {
                let table = open(&name).await;
                let query = json!({"hudiOptions": {"hoodie.enable.data.skipping": skipping}});
                let mut spark: Vec<Value> = wanted.iter().map(|row| (*row).clone()).collect();
                let in_order = spark.iter().map(|row| text(row, "_hoodie_record_key"));
                let in_order: Vec<_> = in_order.collect();
                assert_eq!(
                    order(&table, &keys, query.clone()).await,
                    in_order,
                    "{name}"
                );
                sort(&mut spark);
                let found = found(&table, &keys, query).await;
                assert_eq!(difference(&found, &spark), None, "{name}");
            }
            looked_up += 1;
        }
        assert!(looked_up > 80, "{looked_up} tables");
    });
}

#[test]
fn a_hundred_keys_cost_far_less_than_a_hundred_lookups() {
    block_on(async {
        let requests = async |keys: &[LookupKey]| {
            let table = open("v9_cow_rli_large")
                .await
                .for_call(CallScope::default());
            let rows = found(&table, keys, json!({"projection": ["id", "v"]})).await;
            assert_eq!(rows.len(), keys.len());
            table.storage().metrics().counters().requests
        };
        let keys: Vec<_> = (200..300)
            .map(|n| key(&format!("key-{n:05}"), None))
            .collect();
        let (one, hundred) = (requests(&keys[..1]).await, requests(&keys).await);
        assert!(one <= 10, "{one} requests for one key");
        assert!(
            hundred < 4 * one,
            "{hundred} requests for a hundred keys, {one} for one"
        );
    });
}

#[test]
fn a_lookup_gives_the_columns_asked_for_and_takes_filters_and_a_limit() {
    block_on(async {
        let table = open("v9_cow_rli_large").await;
        let keys = ["key-00300", "key-00200", "key-00300"].map(|text| key(text, None));
        let query = json!({"projection": ["v", "id"], "limit": 2});
        let stream = table.lookup(&keys, &options(&query)).await.unwrap();
        let names: Vec<_> = stream
            .schema()
            .fields()
            .iter()
            .map(|f| f.name().clone())
            .collect();
        assert_eq!(names, ["v", "id"]);
        let batches: Vec<_> = stream.try_collect().await.unwrap();
        let ids = batches[0].column(1).as_string::<i32>();
        assert_eq!(
            ids.iter().flatten().collect::<Vec<_>>(),
            ["key-00300", "key-00200"]
        );
        let none = json!({"filters": [["id", "=", "key-00001"]]});
        assert!(found(&table, &keys, none).await.is_empty());
        assert!(found(&table, &[], json!({})).await.is_empty());
    });
}

#[test]
fn what_has_no_record_keys_or_is_no_snapshot_is_refused() {
    block_on(async {
        let keys = [key("1", None)];
        let table = open("v9_cow_no_meta_fields").await;
        let error = table
            .lookup(&keys, &options(&json!({})))
            .await
            .err()
            .unwrap();
        assert_eq!(error.kind(), ErrorKind::Unsupported);
        let table = open("v9_cow_simple").await;
        let query = json!({"queryType": "incremental"});
        let error = table.lookup(&keys, &options(&query)).await.err().unwrap();
        assert_eq!(error.kind(), ErrorKind::InvalidArgument);
    });
}

#[test]
fn a_tables_size_is_estimated_from_one_footer_or_not_at_all() {
    block_on(async {
        let estimate = async |name: &str, query: Value| {
            let table = open(name).await;
            table.compute_table_stats(&options(&query)).await.unwrap()
        };
        // Sixty files of 2,000 rows, nearly of one size.
        let stats = estimate("v9_cow_skipping", json!({})).await.unwrap();
        assert!(stats.num_rows.abs_diff(120_000) < 12_000, "{stats:?}");
        assert!(stats.total_byte_size > 0);
        let off = json!({"hudiOptions": {"hoodie.metadata.enable": "false"}});
        assert_eq!(estimate("v9_cow_skipping", off).await, None);
        let incremental = json!({"queryType": "incremental"});
        assert_eq!(estimate("v9_cow_skipping", incremental).await, None);
    });
}
