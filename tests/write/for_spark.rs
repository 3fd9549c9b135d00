//! Tables of every shape in a folder of the disk, which stay for other readers where HUDI_TABLES_OUT names it: what the parity
//! harness does through the package, without building it. `HUDI_TABLES_OUT=… cargo test --test write for_spark`.

use std::sync::Arc;

use hudi_wasm::storage::{Storage, StorageOptions};
use hudi_wasm::table::{Table, TableSchema, WriteOptions};
use object_store::local::LocalFileSystem;
use serde_json::json;

use crate::support::block_on;
use crate::{batch, options, read, rows, schema};

#[test]
fn tables_of_every_shape_are_written_into_a_folder() {
    let here = tempfile::tempdir().unwrap();
    let out = std::env::var("HUDI_TABLES_OUT").map_or(here.path().to_owned(), Into::into);
    let metadata = std::env::var("HUDI_TABLES_METADATA").as_deref() != Ok("false");
    for kind in ["COPY_ON_WRITE", "MERGE_ON_READ"] {
        for version in [8, 9] {
            for parts in [false, true] {
                let short = if kind == "COPY_ON_WRITE" {
                    "cow"
                } else {
                    "mor"
                };
                let shape = if parts { "parts" } else { "flat" };
                let name = format!("v{version}_{short}_{shape}");
                let folder = out.join(&name);
                std::fs::create_dir_all(&folder).unwrap();
                let store = LocalFileSystem::new_with_prefix(&folder).unwrap();
                let storage = Storage::new(Arc::new(store), StorageOptions::default());
                let mut json = json!({"tableName": name, "recordKeyFields": ["id"], "orderingFields": ["ts"],
                    "tableType": kind, "tableVersion": version});
                if parts {
                    json["partitionFields"] = json!(["city"]);
                    json["hiveStylePartitioning"] = json!(true);
                }
                if !metadata {
                    json["metadata"] = json!(false);
                }
                block_on(async {
                    let schema = TableSchema::Arrow(schema().as_ref().clone());
                    let table = Table::create(storage, &schema, options(json))
                        .await
                        .unwrap();
                    let all = [
                        batch(&[(1, "rome"), (2, "oslo"), (3, "rome")]),
                        batch(&[(4, "bern"), (5, "rome")]),
                    ];
                    let mut table = table;
                    for batch in all {
                        let written = table.append(rows(vec![batch]), WriteOptions::default());
                        table = written.await.unwrap().table;
                    }
                    let found = read(&table).await;
                    let cities = ["rome", "oslo", "rome", "bern", "rome"];
                    let expected = (1..).zip(cities.map(str::to_owned));
                    assert_eq!(found, expected.collect::<Vec<_>>());
                });
            }
        }
    }
}
