//! Table services that are stopped after any of their requests.

use std::sync::Arc;

use hudi_wasm::table::{OpenOptions, Table, WriteOptions};
use hudi_wasm::timeline::MetaClient;
use object_store::memory::InMemory;
use serde_json::json;

use crate::stops::{Stop, Stopping, assert_no_orphans, copy, ids, stopping};
use crate::support::{block_on, store_of};
use crate::{batch, create, open, read, rows};

/// Another process, after the time that a heartbeat may be old; services come due after few commits.
fn late() -> WriteOptions {
    let options = [
        ("hoodie.client.heartbeat.interval_in_ms", "0"),
        ("hoodie.keep.min.commits", "1"),
        ("hoodie.keep.max.commits", "2"),
        ("hoodie.clean.commits.retained", "1"),
    ];
    WriteOptions {
        hudi_options: options
            .map(|(key, value)| (key.to_owned(), value.to_owned()))
            .into(),
        ..WriteOptions::default()
    }
}

async fn append(table: &Table, id: i32) -> hudi_wasm::Result<Table> {
    let done = table.append(rows(vec![batch(&[(id, "rome")])]), late());
    done.await.map(|done| done.table)
}

/// A table with so many commits, of one id each, and none archived.
async fn table_of(commits: i32) -> Arc<InMemory> {
    let start = store_of([]);
    let options = json!({"tableName": "t", "recordKeyFields": ["id"], "partitionFields": ["city"],
                         "metadata": false});
    let mut table = create(&start, options).await.unwrap();
    for id in 1..=commits {
        let done = table.append(rows(vec![batch(&[(id, "rome")])]), WriteOptions::default());
        table = done.await.unwrap().table;
    }
    start
}

/// Instants of completed writes, archived or not.
async fn all_writes(store: &Arc<InMemory>) -> Vec<String> {
    let meta = MetaClient::load(crate::storage(store)).await.unwrap();
    let archived = meta.archived_writes(None).await.unwrap();
    let all = archived.iter().chain(meta.timeline.completed_writes());
    all.map(|instant| instant.time.to_string()).collect()
}

#[test]
fn an_archive_that_is_stopped_anywhere_loses_no_instant_and_no_row() {
    let mut stops = 0;
    for stop in [Stop::Refused, Stop::Unheard] {
        block_on(async {
            let start = table_of(5).await;
            for at in 0.. {
                let name = format!("{stop:?} after {at}");
                let left = copy(&start);
                let store = Stopping::new(&left, at, stop);
                let table = Table::open(stopping(&store), OpenOptions::default())
                    .await
                    .unwrap();
                let result = append(&table, 6).await;
                let writes = all_writes(&left).await.len();
                if !store.is_over() {
                    assert_eq!((ids(&read(&result.unwrap()).await).len(), writes), (6, 6));
                    // What a clean of one commit retains, and one more.
                    let meta = MetaClient::load(crate::storage(&left)).await.unwrap();
                    assert_eq!(meta.timeline.completed_writes().count(), 2);
                    break;
                }
                stops += 1;
                let shown = ids(&read(&open(&left).await).await).len();
                assert_eq!(shown, writes, "{name}");
                let again = append(&open(&left).await, 7).await;
                let again = again.unwrap_or_else(|error| panic!("{name}: {error:?}"));
                assert_eq!(ids(&read(&again).await).len(), writes + 1, "{name}");
                assert_eq!(all_writes(&left).await.len(), writes + 1, "{name}");
            }
        });
    }
    println!("{stops} stops of an append with an archive");
    assert!(stops > 40, "{stops}");
}

#[test]
fn rollbacks_of_failed_writes_are_stopped_anywhere_and_gone_on_with() {
    let mut stops = 0;
    for stop in [Stop::Refused, Stop::Unheard] {
        block_on(async {
            let start = table_of(1).await;
            // The failed write is stopped after requested, inflight, markers and its data file.
            for failed in 1..6 {
                let middle = copy(&start);
                let store = Stopping::new(&middle, failed, Stop::Refused);
                let table = Table::open(stopping(&store), OpenOptions::default());
                append(&table.await.unwrap(), 2).await.unwrap_err();
                for at in 0.. {
                    let name = format!("{stop:?} after {failed} and {at}");
                    let left = copy(&middle);
                    let store = Stopping::new(&left, at, stop);
                    let table = Table::open(stopping(&store), OpenOptions::default());
                    let result = append(&table.await.unwrap(), 3).await;
                    let shown = ids(&read(&open(&left).await).await);
                    if !store.is_over() {
                        assert_eq!(ids(&read(&result.unwrap()).await), [1, 3], "{name}");
                        break;
                    }
                    stops += 1;
                    assert!(shown == [1] || shown == [1, 3], "{name}: {shown:?}");
                    let again = append(&open(&left).await, 4).await;
                    let again = again.unwrap_or_else(|error| panic!("{name}: {error:?}"));
                    let expected = [shown, vec![4]].concat();
                    assert_eq!(ids(&read(&again).await), expected, "{name}");
                    assert_no_orphans(&left, &name);
                }
            }
        });
    }
    println!("{stops} stops of a rollback and an append");
    assert!(stops > 100, "{stops}");
}

#[test]
fn a_rollback_of_a_completed_write_that_is_stopped_anywhere_is_gone_on_with() {
    let mut stops = 0;
    for stop in [Stop::Refused, Stop::Unheard] {
        block_on(async {
            let start = table_of(2).await;
            let newest = all_writes(&start).await.pop().unwrap();
            for at in 0.. {
                let name = format!("{stop:?} after {at}");
                let left = copy(&start);
                let store = Stopping::new(&left, at, stop);
                let table = Table::open(stopping(&store), OpenOptions::default());
                let result = table.await.unwrap().rollback(&newest, late()).await;
                let shown = ids(&read(&open(&left).await).await);
                if !store.is_over() {
                    assert_eq!(ids(&read(&result.unwrap().1).await), [1], "{name}");
                    break;
                }
                stops += 1;
                assert!(shown == [1] || shown == [1, 2], "{name}: {shown:?}");
                let again = append(&open(&left).await, 4).await;
                let again = again.unwrap_or_else(|error| panic!("{name}: {error:?}"));
                let after = ids(&read(&again).await);
                // A rollback that was planned is carried out; one that was not leaves the write.
                assert!(
                    after == [1, 4] || (shown == [1, 2] && after == [1, 2, 4]),
                    "{name}: {after:?}"
                );
                assert_no_orphans(&left, &name);
            }
        });
    }
    println!("{stops} stops of a rollback of a completed write");
    assert!(stops > 8, "{stops}");
}
