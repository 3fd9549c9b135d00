use std::sync::Arc;

use object_store::memory::InMemory;
use serde_json::Value;

use super::*;
use crate::commit::{TableLock, WriteClock};
use crate::config::Properties;
use crate::error::ErrorKind;
use crate::host::Zone;
use crate::storage::{Cause, Storage, StorageOptions};
use crate::support::{block_on, delete, put, store};

/// What Spark rolled back in these tables, and where they lay then.
const FAILED: [(&str, &str, &str); 2] = [
    ("v9_cow_rollback", "20261129210606150", "commit"),
    ("v9_mor_rollback", "20261129210626187", "deltacommit"),
];

async fn open(store: &Arc<InMemory>) -> (MetaClient, Writer) {
    let storage = Storage::new(Arc::clone(store) as _, StorageOptions::default());
    let meta = MetaClient::load(storage.clone()).await.unwrap();
    let writer = Writer {
        clock: WriteClock::new(&meta.config, Some(Zone::Utc), &storage),
        lock: TableLock::in_process(&storage),
        options: Properties::new(),
    };
    (meta, writer)
}

/// A table as Spark left it before it rolled back: its plan tells which files there were. Gives plan and result of Spark.
async fn before_rollback(name: &str, time: &str, action: &str) -> (Arc<InMemory>, Value, Value) {
    let store = store(name);
    let (meta, _) = open(&store).await;
    let spark = meta
        .timeline
        .completed(&Action::Rollback)
        .next_back()
        .unwrap();
    let body = |state| meta.body::<Value>(spark, state);
    let plan = body(State::Requested).await.unwrap().unwrap();
    let done = body(State::Completed).await.unwrap().unwrap();
    for state in [State::Requested, State::Inflight, State::Completed] {
        delete(&store, &meta.timeline.file(spark, state).unwrap().path);
    }
    let timeline = ".hoodie/timeline";
    put(
        &store,
        &format!("{timeline}/{time}.{action}.requested"),
        vec![],
    );
    let inflight = match action {
        "commit" => format!("{time}.inflight"),
        _ => format!("{time}.{action}.inflight"),
    };
    put(&store, &format!("{timeline}/{inflight}"), vec![]);
    let mut markers = String::new();
    for request in plan["RollbackRequests"].as_array().unwrap() {
        let path = request["filesToBeDeleted"][0].as_str().unwrap();
        let file = path.split_once(&format!("{name}/")).unwrap().1;
        put(&store, file, b"data".to_vec());
        markers.push_str(&format!("{file}.marker.CREATE\n"));
    }
    let folder = format!(".hoodie/.temp/{time}");
    put(
        &store,
        &format!("{folder}/MARKERS.type"),
        b"TIMELINE_SERVER_BASED".to_vec(),
    );
    put(&store, &format!("{folder}/MARKERS0"), markers.into_bytes());
    (store, plan, done)
}

fn base(name: &str) -> String {
    format!("/tmp/spark/d/{name}")
}

/// The requests of a plan in a settled order.
fn sorted(mut plan: Value) -> Value {
    let requests = plan["RollbackRequests"].as_array_mut().unwrap();
    requests.sort_by_key(Value::to_string);
    plan
}

/// A result without what no two runs share.
fn timeless(mut done: Value) -> Value {
    for partition in done["partitionMetadata"]
        .as_object_mut()
        .unwrap()
        .values_mut()
    {
        let files = partition["successDeleteFiles"].as_array_mut().unwrap();
        files.sort_by_key(Value::to_string);
    }
    done["startRollbackTime"] = Value::Null;
    done["timeTakenInMillis"] = Value::Null;
    done
}

async fn paths(store: &Arc<InMemory>) -> Vec<String> {
    let storage = Storage::new(Arc::clone(store) as _, StorageOptions::default());
    let files = storage.list_all("", None, Cause::Listing).await.unwrap();
    files.into_iter().map(|file| file.path).collect()
}

#[test]
fn a_failed_write_is_planned_undone_and_recorded_as_spark_does() {
    for (name, time, action) in FAILED {
        let store = block_on(async {
            let (store, plan, done) = before_rollback(name, time, action).await;
            let (meta, writer) = open(&store).await;
            let base = base(name);
            let all = Rollbacks {
                writer: &writer,
                base: &base,
            };
            let found = rollback_failed(&meta, all).await.unwrap();
            assert_eq!(found.len(), 1, "{name}");
            assert_eq!(found[0].rolled_back.as_str(), time);
            let (meta, _) = open(&store).await;
            let ours = meta
                .timeline
                .completed(&Action::Rollback)
                .next_back()
                .unwrap();
            let body = |state| meta.body::<Value>(ours, state);
            let our_plan = body(State::Requested).await.unwrap().unwrap();
            let our_result = body(State::Completed).await.unwrap().unwrap();
            assert_eq!(sorted(our_plan), sorted(plan), "{name}");
            assert_eq!(our_result["startRollbackTime"], ours.time.as_str());
            assert_eq!(timeless(our_result), timeless(done), "{name}");
            assert_eq!(rollback_failed(&meta, all).await.unwrap(), vec![]);
            store
        });
        let left = block_on(paths(&store));
        let left: Vec<_> = left.iter().filter(|path| path.contains(time)).collect();
        assert!(left.is_empty(), "{name}: {left:?}");
    }
}

#[test]
fn a_rollback_that_ended_early_goes_on_with_its_own_plan_and_instant() {
    for (name, time, action) in FAILED {
        block_on(async {
            let (store, ..) = before_rollback(name, time, action).await;
            let (meta, writer) = open(&store).await;
            let base = base(name);
            let all = Rollbacks {
                writer: &writer,
                base: &base,
            };
            let plan = plan(&meta, meta.timeline.pending_writes().next().unwrap(), &base).await;
            let files = Requested {
                plan: plan.unwrap().to_bytes().unwrap(),
                inflight: Bytes::new(),
            };
            let begun = request(&meta, &writer, Action::Rollback, files)
                .await
                .unwrap();
            // Its markers are gone already, so only the plan knows the files.
            delete(&store, &format!(".hoodie/.temp/{time}/MARKERS0"));
            delete(&store, &format!(".hoodie/.temp/{time}/MARKERS.type"));
            let (meta, _) = open(&store).await;
            let found = rollback_failed(&meta, all).await.unwrap();
            assert_eq!(found.len(), 1, "{name}");
            assert_eq!(found[0].instant.time, begun.time);
            assert_eq!(found[0].files_deleted, 2);
            assert!(!paths(&store).await.iter().any(|path| path.contains(time)));
        });
    }
}

#[test]
fn an_instant_that_only_requested_leaves_nothing_but_its_rollback() {
    block_on(async {
        let store = store("v9_cow_simple");
        let time = "20261129235959000";
        let requested = format!(".hoodie/timeline/{time}.commit.requested");
        put(&store, &requested, vec![]);
        let (meta, writer) = open(&store).await;
        let all = Rollbacks {
            writer: &writer,
            base: "/t",
        };
        let found = rollback_failed(&meta, all).await.unwrap();
        assert_eq!((found.len(), found[0].files_deleted), (1, 0));
        assert!(!paths(&store).await.contains(&requested));
    });
}

#[test]
fn the_newest_completed_write_is_rolled_back_and_no_other() {
    let store = store("v9_cow_simple");
    block_on(async {
        let (meta, writer) = open(&store).await;
        let all = Rollbacks {
            writer: &writer,
            base: "/t",
        };
        let writes: Vec<_> = meta.timeline.completed_writes().cloned().collect();
        let [first, .., last] = writes.as_slice() else {
            panic!("more than one write");
        };
        let refused = rollback(&meta, all, &first.time).await.unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::InvalidArgument);
        let unknown = InstantTime::parse("20200101000000000").unwrap();
        let refused = rollback(&meta, all, &unknown).await.unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::NotFound);
        let named = meta.commit_metadata(last).await.unwrap().unwrap();
        let stats: Vec<_> = named.partition_to_write_stats.values().flatten().collect();
        let done = rollback(&meta, all, &last.time).await.unwrap();
        assert_eq!(done.files_deleted, stats.len());
        let (meta, _) = open(&store).await;
        assert!(
            meta.timeline
                .completed_writes()
                .all(|i| i.time != last.time)
        );
    });
}
