//! Tables for other readers, written into the folder that HUDI_TABLES_OUT names: what the parity harness does through the
//! package, without building it. `HUDI_TABLES_OUT=… cargo test --test write for_spark -- --ignored`.

use std::path::Path;
use std::sync::Arc;

use hudi_wasm::storage::{Storage, StorageOptions};
use hudi_wasm::table::{Table, TableSchema, WriteOptions};
use object_store::local::LocalFileSystem;
use serde_json::json;

use crate::support::block_on;
use crate::{batch, options, rows, schema};

#[test]
#[ignore = "writes into a folder for others to read"]
fn tables_of_every_shape_are_written_into_a_folder() {
    let out = std::env::var("HUDI_TABLES_OUT").unwrap();
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
                let folder = Path::new(&out).join(&name);
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
                });
            }
        }
    }
}
