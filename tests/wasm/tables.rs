//! Whole tables read by the engine as wasm, against what Spark read.

use std::io::{Cursor, Read};
use std::sync::Arc;

use arrow::array::RecordBatch;
use futures::TryStreamExt;
use hudi_wasm::config::ReadOptions;
use hudi_wasm::storage::{Storage, StorageOptions};
use hudi_wasm::table::{OpenOptions, Table};
use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt};
use serde_json::{Value, json};
use wasm_bindgen_test::wasm_bindgen_test;

use crate::rows::{rows, sort};

macro_rules! fixture {
    ($name:literal) => {
        (
            $name,
            include_bytes!(concat!("../data/", $name, ".zip")).as_slice(),
            include_str!(concat!("../data/", $name, ".expected.json")),
        )
    };
}

type Fixture = (&'static str, &'static [u8], &'static str);

async fn unpack((name, bytes, _): Fixture) -> Arc<dyn ObjectStore> {
    let store = InMemory::new();
    let mut zip = zip::ZipArchive::new(Cursor::new(bytes)).unwrap();
    for index in 0..zip.len() {
        let mut entry = zip.by_index(index).unwrap();
        let path = entry
            .name()
            .strip_prefix(name)
            .unwrap()
            .trim_matches('/')
            .to_owned();
        if entry.is_dir() {
            continue;
        }
        let mut content = Vec::new();
        entry.read_to_end(&mut content).unwrap();
        store
            .put(&Path::parse(path).unwrap(), content.into())
            .await
            .unwrap();
    }
    Arc::new(store)
}

async fn read(table: &Table, query: &Value) -> Vec<RecordBatch> {
    let mut options = query.clone();
    if let Some(as_of) = query.get("asOf") {
        options["asOf"] = json!({ "text": as_of });
    }
    let filters = query["filters"].as_array().into_iter().flatten();
    let text = |value: &Value| value.as_str().map_or(value.to_string(), str::to_owned);
    options["filters"] = filters
        .map(|f| {
            let values = match &f[2] {
                Value::Array(values) => values.iter().map(text).collect(),
                value => vec![text(value)],
            };
            json!({ "field": f[0], "operator": f[1], "values": values })
        })
        .collect();
    let options = ReadOptions::from_json(&options.to_string()).unwrap();
    let stream = table.read(&options).await.unwrap();
    stream.try_collect().await.unwrap()
}

async fn check(fixture: Fixture, queries: usize) {
    let storage = Storage::new(unpack(fixture).await, StorageOptions::default());
    let table = Table::open(storage, OpenOptions::default()).await.unwrap();
    let expected: Value = serde_json::from_str(fixture.2).unwrap();
    let mut asked = 0;
    for recorded in expected["queries"].as_array().unwrap() {
        let query = &recorded["query"];
        if query["queryType"] == "snapshot" && recorded.get("rows").is_some() {
            let mut expected = recorded["rows"].as_array().unwrap().clone();
            sort(&mut expected);
            assert_eq!(
                rows(&read(&table, query).await),
                expected,
                "{} {query}",
                fixture.0
            );
            asked += 1;
        }
    }
    assert_eq!(asked, queries, "{}", fixture.0);
}

#[wasm_bindgen_test]
async fn every_type_reads_as_in_spark() {
    check(fixture!("v9_cow_all_types"), 10).await;
    check(fixture!("v9_cow_all_types_bulk"), 9).await;
}

#[wasm_bindgen_test]
async fn every_codec_reads_as_in_spark() {
    check(fixture!("v9_cow_zstd"), 2).await;
    check(fixture!("v9_cow_lz4"), 2).await;
    check(fixture!("v9_cow_snappy"), 2).await;
}

#[wasm_bindgen_test]
async fn every_table_version_reads_as_in_spark() {
    check(fixture!("v6_cow_parts"), 7).await;
    check(fixture!("v8_cow_parts"), 7).await;
    check(fixture!("v9_cow_hive_parts"), 9).await;
}
