//! Tables that this engine makes and writes: what is in them, what is beside them, and what is refused.
#![cfg(not(target_arch = "wasm32"))]

#[path = "../support/mod.rs"]
mod support;

mod append;
mod compaction;
mod create;
mod damaged_input;
mod for_spark;
mod later_rows;
mod metadata_services;
mod result_file;
mod service_stops;
mod skipping;
mod stops;
mod stops_for_spark;
mod widen;

use std::sync::Arc;

use arrow::array::{ArrayRef, Float64Array, Int32Array, Int64Array, RecordBatch, StringArray};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use futures::StreamExt;
use hudi_wasm::config::ReadOptions;
use hudi_wasm::storage::{Storage, StorageOptions};
use hudi_wasm::table::{CreateOptions, OpenOptions, Rows, Table, TableSchema};
use object_store::memory::InMemory;
use serde_json::Value;

pub(crate) fn storage(store: &Arc<InMemory>) -> Storage {
    Storage::new(Arc::clone(store) as _, StorageOptions::default())
}

/// id, name, price, ts and city: the columns of most fixtures.
pub(crate) fn schema() -> SchemaRef {
    Arc::new(Schema::new(vec![
        Field::new("id", DataType::Int32, true),
        Field::new("name", DataType::Utf8, true),
        Field::new("price", DataType::Float64, true),
        Field::new("ts", DataType::Int64, true),
        Field::new("city", DataType::Utf8, true),
    ]))
}

/// Rows of those columns: an id and a city each, the rest follows from the id.
pub(crate) fn batch(rows: &[(i32, &str)]) -> RecordBatch {
    let ids = || rows.iter().map(|(id, _)| *id);
    let columns: Vec<ArrayRef> = vec![
        Arc::new(ids().collect::<Int32Array>()),
        Arc::new(StringArray::from_iter_values(
            ids().map(|id| format!("n{id}")),
        )),
        Arc::new(
            ids()
                .map(|id| Some(f64::from(id) + 0.5))
                .collect::<Float64Array>(),
        ),
        Arc::new(ids().map(|id| i64::from(id) * 10).collect::<Int64Array>()),
        Arc::new(StringArray::from_iter_values(
            rows.iter().map(|(_, city)| *city),
        )),
    ];
    RecordBatch::try_new(schema(), columns).unwrap()
}

pub(crate) fn rows(batches: Vec<RecordBatch>) -> Rows {
    let schema = batches.first().map_or_else(schema, |batch| batch.schema());
    let batches = futures::stream::iter(batches.into_iter().map(Ok)).boxed();
    Rows { schema, batches }
}

pub(crate) fn options(json: Value) -> CreateOptions {
    serde_json::from_value(json).unwrap()
}

pub(crate) async fn create(store: &Arc<InMemory>, json: Value) -> hudi_wasm::Result<Table> {
    let schema = TableSchema::Arrow(schema().as_ref().clone());
    Table::create(storage(store), &schema, options(json)).await
}

pub(crate) async fn open(store: &Arc<InMemory>) -> Table {
    Table::open(storage(store), OpenOptions::default())
        .await
        .unwrap()
}

/// Ids and cities of a snapshot read, sorted.
pub(crate) async fn read(table: &Table) -> Vec<(i32, String)> {
    use arrow::array::AsArray;
    let mut stream = table.read(&ReadOptions::default()).await.unwrap();
    let mut found = Vec::new();
    while let Some(batch) = stream.next().await {
        let batch = batch.unwrap();
        let ids = batch.column_by_name("id").unwrap();
        let ids = ids.as_primitive::<arrow::datatypes::Int32Type>();
        let cities = batch.column_by_name("city").unwrap().as_string::<i32>();
        for row in 0..batch.num_rows() {
            found.push((ids.value(row), cities.value(row).to_owned()));
        }
    }
    found.sort();
    found
}

/// The paths in a store, sorted.
pub(crate) fn paths(store: &Arc<InMemory>) -> Vec<String> {
    use futures::{FutureExt, TryStreamExt};
    use object_store::ObjectStore;
    let all = store.list(None).map_ok(|meta| meta.location.to_string());
    let mut all: Vec<String> = all.try_collect().now_or_never().unwrap().unwrap();
    all.sort();
    all
}
