#![cfg(not(target_arch = "wasm32"))]

use std::sync::Arc;

use object_store::memory::InMemory;

use super::*;
use crate::storage::StorageOptions;
use crate::support::{block_on, delete, get, put, store, store_of};

fn storage(store: &Arc<InMemory>) -> Storage {
    Storage::new(Arc::clone(store) as _, StorageOptions::default())
}

fn add(properties: &mut Properties) {
    properties.insert(
        "hoodie.table.metadata.partitions".to_owned(),
        "files".to_owned(),
    );
}

#[test]
fn a_table_is_created_once() {
    block_on(async {
        let from = properties::parse(&get(&store("v9_cow_simple"), MAIN)).unwrap();
        let target = store_of([]);
        let config = create_properties(&storage(&target), &from).await.unwrap();
        assert_eq!(config.properties(), &from, "the checksum is Spark's");
        let first = get(&target, MAIN);
        assert!(first.starts_with(b"#Properties saved on 2"));
        // Many times over: two within one millisecond are alike but for who made them.
        for _ in 0..100 {
            let again = create_properties(&storage(&target), &from).await;
            assert_eq!(again.unwrap_err().kind().code(), "TABLE_EXISTS");
        }
        assert_eq!(get(&target, MAIN), first);
    });
}

#[test]
fn an_update_leaves_one_whole_file() {
    block_on(async {
        let target = store("v9_cow_utc_zone");
        let before = get(&target, MAIN);
        update_properties(&storage(&target), |_| {}).await.unwrap();
        assert_eq!(get(&target, MAIN), before, "nothing to change");
        let changed = update_properties(&storage(&target), |table| {
            table.insert("hoodie.table.name".to_owned(), "other".to_owned());
        })
        .await;
        assert_eq!(changed.unwrap().table_name(), "other");
        assert!(get(&target, MAIN).starts_with(b"#Updated at 2"));
        let backup = storage(&target)
            .get_if_present(BACKUP, Cause::Properties)
            .await;
        assert!(backup.unwrap().is_none());
    });
}

#[test]
fn an_update_that_was_cut_off_is_taken_back_first() {
    block_on(async {
        for half in [None, Some(b"#Updated at\nhoodie.table".to_vec())] {
            let target = store("v9_cow_utc_zone");
            let before = get(&target, MAIN);
            put(&target, BACKUP, before);
            delete(&target, MAIN);
            if let Some(half) = half {
                put(&target, MAIN, half);
            }
            let config = update_properties(&storage(&target), add).await.unwrap();
            assert_eq!(config.metadata_partitions(), ["files"]);
        }
        let error = update_properties(&storage(&store_of([])), add)
            .await
            .unwrap_err();
        assert_eq!(error.kind().code(), "TABLE_NOT_FOUND");
    });
}
