//! The metadata table compacted as tables are appended to.

use std::sync::Arc;

use arrow::array::AsArray;
use arrow::datatypes::Int32Type;
use futures::StreamExt;
use hudi_wasm::config::{RawFilter, ReadOptions};
use hudi_wasm::storage::{Storage, StorageOptions};
use hudi_wasm::table::{OpenOptions, Table, TableSchema, WriteOptions};
use object_store::local::LocalFileSystem;
use object_store::memory::InMemory;
use serde_json::json;

use crate::stops::{STOPS, Stop, Stopping, assert_no_orphans, copy, ids, stopping};
use crate::support::watched::Watched;
use crate::support::{block_on, store_of};
use crate::{batch, create, open, options, paths, read, rows, schema};

pub(crate) const CITIES: [&str; 3] = ["rome", "oslo", "bern"];

/// A compaction after so many delta commits.
fn every(deltas: u32) -> WriteOptions {
    let options = [
        ("hoodie.client.heartbeat.interval_in_ms", "0".to_owned()),
        (
            "hoodie.metadata.compact.max.delta.commits",
            deltas.to_string(),
        ),
    ];
    WriteOptions {
        hudi_options: options.map(|(key, value)| (key.to_owned(), value)).into(),
        ..WriteOptions::default()
    }
}

/// Two rows an append, of ids that go on.
pub(crate) async fn append(
    table: &Table,
    at: i32,
    options: WriteOptions,
) -> hudi_wasm::Result<Table> {
    let city = |id: i32| CITIES[id as usize % CITIES.len()];
    let added = batch(&[(2 * at, city(2 * at)), (2 * at + 1, city(2 * at + 1))]);
    let done = table.append(rows(vec![added]), options).await?;
    Ok(done.table)
}

fn compactions(store: &Arc<InMemory>, end: &str) -> usize {
    let own = ".hoodie/metadata/.hoodie/timeline/";
    let all = paths(store);
    all.iter()
        .filter(|path| path.starts_with(own) && path.ends_with(end))
        .count()
}

pub(crate) fn shape(kind: &str, version: u32) -> serde_json::Value {
    json!({"tableName": "t", "recordKeyFields": ["id"], "partitionFields": ["city"], "tableType": kind,
           "tableVersion": version})
}

/// The same rows by the metadata table, by listing, and by looking for keys, of which every so manieth is.
pub(crate) async fn agrees(store: &Arc<InMemory>, count: i32, every: usize, name: &str) {
    let by_index = ids(&read(&open(store).await).await);
    let listing = OpenOptions {
        hudi_options: [("hoodie.metadata.enable".to_owned(), "false".to_owned())].into(),
        ..OpenOptions::default()
    };
    let listed = Table::open(crate::storage(store), listing).await.unwrap();
    assert_eq!(by_index, (0..count).collect::<Vec<_>>(), "{name}");
    assert_eq!(by_index, ids(&read(&listed).await), "{name}");
    let table = open(store).await;
    for id in (0..count).step_by(every) {
        assert_eq!(with_id(&table, id).await, [id], "{name}");
    }
    assert!(with_id(&table, count).await.is_empty(), "{name}");
}

async fn with_id(table: &Table, id: i32) -> Vec<i32> {
    let filter = RawFilter {
        field: "_hoodie_record_key".to_owned(),
        operator: "=".to_owned(),
        values: vec![id.to_string()],
    };
    let mut options = ReadOptions::default();
    options.filters.push(filter);
    let mut stream = table.read(&options).await.unwrap();
    let mut found = Vec::new();
    while let Some(batch) = stream.next().await {
        let batch = batch.unwrap();
        let ids = batch.column_by_name("id").unwrap();
        found.extend(ids.as_primitive::<Int32Type>().values());
    }
    found
}

/// Requests that a snapshot costs.
async fn requests(store: &Arc<InMemory>) -> usize {
    let watched = Watched::new(Arc::clone(store));
    let storage = Storage::new(Arc::clone(&watched) as _, StorageOptions::default());
    let table = Table::open(storage, OpenOptions::default()).await.unwrap();
    read(&table).await;
    watched.asked().len()
}

#[test]
fn the_metadata_table_is_compacted_after_ten_delta_commits_and_says_the_same() {
    for (kind, version) in [
        ("COPY_ON_WRITE", 9),
        ("MERGE_ON_READ", 9),
        ("COPY_ON_WRITE", 8),
    ] {
        block_on(async {
            let name = format!("{kind} {version}");
            let store = store_of([]);
            let mut table = create(&store, shape(kind, version)).await.unwrap();
            let (mut before, mut after) = (0, 0);
            for at in 0..25 {
                table = append(&table, at, WriteOptions::default()).await.unwrap();
                // Four delta commits built the indexes, and six appends more are ten, which the seventh finds.
                let expected = match at + 1 {
                    ..7 => 0,
                    7..17 => 1,
                    _ => 2,
                };
                assert_eq!(compactions(&store, ".commit"), expected, "{name} {at}");
                // Ten logs a file group and one, though the latter has two data files more.
                match at {
                    15 => before = requests(&store).await,
                    16 => after = requests(&store).await,
                    _ => {}
                }
            }
            agrees(&store, 50, 1, &name).await;
            assert_eq!(compactions(&store, ".compaction.requested"), 2, "{name}");
            println!(
                "{name}: {before} requests of a snapshot before a compaction, {after} after it"
            );
            assert!(after < before, "{name}: {after} and {before}");
        });
    }
}

#[test]
fn services_that_are_off_compact_nothing() {
    block_on(async {
        let store = store_of([]);
        let mut table = create(&store, shape("COPY_ON_WRITE", 9)).await.unwrap();
        for at in 0..3 {
            let off = WriteOptions {
                inline_services: Some(false),
                ..every(1)
            };
            table = append(&table, at, off).await.unwrap();
        }
        assert_eq!(compactions(&store, ".commit"), 0);
        append(&table, 3, every(1)).await.unwrap();
        assert_eq!(compactions(&store, ".commit"), 1);
        agrees(&store, 8, 1, "on again").await;
    });
}

/// Stops an append in which a compaction runs after every change of the store.
fn check_stops(kind: &str, version: u32, stop: Stop) -> usize {
    block_on(async {
        let start = store_of([]);
        let mut table = create(&start, shape(kind, version)).await.unwrap();
        for at in 0..3 {
            let never = every(1000);
            table = append(&table, at, never).await.unwrap();
        }
        // A compaction before, whose base files the next one merges with.
        append(&table, 3, every(5)).await.unwrap();
        assert_eq!(compactions(&start, ".commit"), 1);
        for at in 0.. {
            let left = copy(&start);
            let store = Stopping::new(&left, at, stop);
            let handle = Table::open(stopping(&store), OpenOptions::default())
                .await
                .unwrap();
            let result = append(&handle, 4, every(1)).await;
            let name = format!("{kind} {version} {stop:?} after {at}");
            if !store.has_come() {
                assert_eq!(ids(&read(&result.unwrap()).await).len(), 10, "{name}");
                assert_eq!(compactions(&left, ".commit"), 2, "{name}");
                return at;
            }
            let shown = ids(&read(&open(&left).await).await).len() as i32;
            assert!(shown == 8 || shown == 10, "{name}: {shown}");
            if result.is_ok() {
                assert_eq!(shown, 10, "{name}");
            }
            let again = append(&open(&left).await, shown / 2, every(1000)).await;
            let again = again.unwrap_or_else(|error| panic!("{name}: {error:?}"));
            assert_eq!(ids(&read(&again).await).len() as i32, shown + 2, "{name}");
            agrees(&left, shown + 2, 9, &name).await;
            assert_no_orphans(&left, &name);
            // What was begun is ended by the next append.
            let begun = compactions(&left, ".compaction.requested");
            assert_eq!(compactions(&left, ".commit"), begun, "{name}");
            let more = append(&again, shown / 2 + 1, every(1)).await;
            more.unwrap_or_else(|error| panic!("{name}: {error:?}"));
            agrees(&left, shown + 4, 5, &name).await;
        }
        unreachable!()
    })
}

#[test]
fn a_compaction_that_is_stopped_anywhere_loses_nothing_and_is_gone_on_with() {
    let mut stops = 0;
    for (kind, version) in [
        ("COPY_ON_WRITE", 9),
        ("MERGE_ON_READ", 9),
        ("COPY_ON_WRITE", 8),
    ] {
        for stop in STOPS {
            let of = check_stops(kind, version, stop);
            println!("{kind} {version} {stop:?}: {of} stops");
            stops += of;
        }
    }
    println!("{stops} stops of an append with a compaction of the metadata table");
    assert!(stops > 200, "{stops}");
}

/// Another engine's attempt at the same plan has other write tokens: its files are not written over, and one may be half a file.
#[test]
fn base_files_of_another_attempt_go_before_a_compaction_is_gone_on_with() {
    use object_store::ObjectStoreExt;
    block_on(async {
        let start = store_of([]);
        let mut table = create(&start, shape("COPY_ON_WRITE", 9)).await.unwrap();
        for at in 0..4 {
            table = append(&table, at, every(1000)).await.unwrap();
        }
        let before = paths(&start);
        for at in 0.. {
            let left = copy(&start);
            let store = Stopping::new(&left, at, Stop::Refused);
            let handle = Table::open(stopping(&store), OpenOptions::default());
            let _ = append(&handle.await.unwrap(), 4, every(1)).await;
            let new = |path: &&String| path.ends_with(".hfile") && !before.contains(path);
            let Some(ours) = paths(&left).iter().find(new).cloned() else {
                continue;
            };
            assert_eq!(compactions(&left, ".commit"), 0);
            assert!(ours.contains("_0-0-0_"), "{ours}");
            let theirs = ours.replace("_0-0-0_", "_7-88-999_");
            let half = "half a file".into();
            left.put(&theirs.as_str().into(), half).await.unwrap();
            let shown = ids(&read(&open(&left).await).await).len() as i32;
            let again = append(&open(&left).await, shown / 2, every(1000)).await;
            again.unwrap();
            assert_eq!(compactions(&left, ".commit"), 1);
            assert!(!paths(&left).contains(&theirs));
            agrees(&left, shown + 2, 9, "another attempt").await;
            return;
        }
    });
}

/// `HUDI_COMPACTED_OUT=folder cargo test --test write compacted_tables` leaves tables there for Spark.
#[test]
fn compacted_tables_are_written_into_a_folder() {
    let here = tempfile::tempdir().unwrap();
    let out = std::env::var("HUDI_COMPACTED_OUT").map_or(here.path().to_owned(), Into::into);
    for (short, kind, version) in [
        ("v9_cow_parts", "COPY_ON_WRITE", 9),
        ("v9_mer_parts", "MERGE_ON_READ", 9),
        ("v8_cow_parts", "COPY_ON_WRITE", 8),
    ] {
        let folder = out.join(short);
        std::fs::create_dir_all(&folder).unwrap();
        let store = LocalFileSystem::new_with_prefix(&folder).unwrap();
        let storage = Storage::new(Arc::new(store), StorageOptions::default());
        let json = json!({"tableName": short, "recordKeyFields": ["id"], "orderingFields": ["ts"],
            "partitionFields": ["city"], "hiveStylePartitioning": true, "tableType": kind, "tableVersion": version});
        block_on(async {
            let columns = TableSchema::Arrow(schema().as_ref().clone());
            let mut table = Table::create(storage, &columns, options(json))
                .await
                .unwrap();
            for at in 0..12 {
                table = append(&table, at, every(4)).await.unwrap();
            }
            assert_eq!(ids(&read(&table).await), (0..24).collect::<Vec<_>>());
        });
    }
}
