//! What filters ask of the metadata table of a table of ours.

use std::sync::Arc;

use futures::TryStreamExt;
use hudi_wasm::config::{RawFilter, ReadOptions};
use hudi_wasm::storage::{Storage, StorageOptions};
use hudi_wasm::table::{OpenOptions, Table, WriteOptions};
use object_store::memory::InMemory;
use serde_json::json;

use crate::support::watched::Watched;
use crate::support::{block_on, store_of};
use crate::{batch, create, rows};

/// Rows of a filter by a list, and whether statistics were asked for.
async fn asked(store: &Arc<InMemory>, field: &str, values: &[&str]) -> (usize, bool) {
    let watched = Watched::new(Arc::clone(store));
    let storage = Storage::new(Arc::clone(&watched) as _, StorageOptions::default());
    let table = Table::open(storage, OpenOptions::default()).await.unwrap();
    let mut options = ReadOptions::default();
    options.filters.push(RawFilter {
        field: field.to_owned(),
        operator: "IN".to_owned(),
        values: values.iter().map(|value| (*value).to_owned()).collect(),
    });
    let read = table.read(&options).await.unwrap();
    let found: Vec<usize> = read
        .map_ok(|batch| batch.num_rows())
        .try_collect()
        .await
        .unwrap();
    let asked = watched.asked();
    let stats = asked
        .iter()
        .any(|asked| format!("{asked:?}").contains("_stats/"));
    (found.iter().sum(), stats)
}

#[test]
fn filters_on_partition_columns_alone_ask_no_statistics() {
    block_on(async {
        let store = store_of([]);
        let options =
            json!({"tableName": "t", "recordKeyFields": ["id"], "partitionFields": ["city"]});
        let table = create(&store, options).await.unwrap();
        let cities = ["rome", "oslo", "bern", "kiev"];
        let all: Vec<_> = (0..12).map(|id| (id, cities[id as usize % 4])).collect();
        table
            .append(rows(vec![batch(&all)]), WriteOptions::default())
            .await
            .unwrap();
        assert_eq!(asked(&store, "city", &["rome", "oslo"]).await, (6, false));
        assert_eq!(asked(&store, "price", &["1.5", "2.5"]).await, (2, true));
    });
}
