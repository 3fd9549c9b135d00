use std::sync::Arc;

use object_store::memory::InMemory;
use serde_json::Value;

use super::*;
use crate::error::ErrorKind;
use crate::storage::{Cause, Storage, StorageOptions};
use crate::support::{block_on, delete, put, store};

/// What Spark rolled back in these tables, and where they lay then.
const FAILED: [(&str, &str, &str); 2] = [
    ("v9_cow_rollback", "20261129210606150", "commit"),
    ("v9_mor_rollback", "20261129210626187", "deltacommit"),
];

async fn open(store: &Arc<InMemory>) -> (MetaClient, Writer) {
    crate::commit::support::open(store, &[]).await
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

/// Tables of which Spark rolled back the newest write, of the metadata table as well: the write, its action, its files.
const COMPLETED: [(&str, &str, &str); 2] = [
    ("v9_cow_rollback", "20261129210606150", "commit"),
    (
        "v9_mor_rollback_to_instant",
        "20261129210723862",
        "deltacommit",
    ),
];

/// A table as it was before Spark rolled back its newest write, which is completed; with Spark's plan and result in the
/// metadata table.
async fn before_metadata_rollback(
    name: &str,
    time: &str,
    action: &str,
) -> (Arc<InMemory>, Value, Value) {
    let (store, plan, _) = before_rollback(name, time, action).await;
    let (meta, _) = open(&store).await;
    let timeline = ".hoodie/metadata/.hoodie/timeline";
    let read = |suffix: &str| {
        let all = block_paths(&store);
        let path = all
            .into_iter()
            .find(|path| path.starts_with(timeline) && path.ends_with(suffix))
            .unwrap();
        let body = crate::timeline::payload::parse(&crate::support::get(&store, &path)).unwrap();
        delete(&store, &path);
        body
    };
    let done = read(".rollback").unwrap();
    let their_plan = read(".rollback.requested").unwrap();
    read(".rollback.inflight");
    for request in their_plan["RollbackRequests"].as_array().unwrap() {
        let path = request["filesToBeDeleted"][0].as_str().unwrap();
        let file = path.split_once(&format!("{name}/")).unwrap().1;
        put(&store, file, b"log".to_vec());
    }
    let own = format!("{timeline}/{time}");
    put(&store, &format!("{own}.deltacommit.requested"), vec![]);
    put(&store, &format!("{own}.deltacommit.inflight"), vec![]);
    let completed = format!("{own}_20261129210726000.deltacommit");
    put(&store, &completed, b"{}".to_vec());
    // Completed, and its markers gone.
    for marker in ["MARKERS0", "MARKERS.type"] {
        delete(&store, &format!(".hoodie/.temp/{time}/{marker}"));
    }
    let mut stats: BTreeMap<String, Vec<_>> = BTreeMap::new();
    for request in plan["RollbackRequests"].as_array().unwrap() {
        let path = request["filesToBeDeleted"][0].as_str().unwrap();
        let partition = request["partitionPath"].as_str().unwrap().to_owned();
        let stat = crate::timeline::payload::WriteStat {
            path: Some(path.split_once(&format!("{name}/")).unwrap().1.to_owned()),
            ..Default::default()
        };
        stats.entry(partition).or_default().push(stat);
    }
    let body = CommitMetadata {
        partition_to_write_stats: stats,
        ..CommitMetadata::default()
    };
    let layout = meta.config.version().layout();
    let body = body.to_bytes(layout).unwrap().to_vec();
    let completed = format!(".hoodie/timeline/{time}_20261129210726001.{action}");
    put(&store, &completed, body);
    // Spark wrote on afterwards.
    for later in meta
        .timeline
        .completed_writes()
        .filter(|i| i.time.as_str() > time)
    {
        for path in block_paths(&store) {
            if path.contains(later.time.as_str()) {
                delete(&store, &path);
            }
        }
    }
    (store, their_plan, done)
}

fn block_paths(store: &Arc<InMemory>) -> Vec<String> {
    use futures::{FutureExt, TryStreamExt};
    use object_store::ObjectStore;
    let all = store.list(None).map_ok(|meta| meta.location.to_string());
    all.try_collect().now_or_never().unwrap().unwrap()
}

#[test]
fn a_completed_write_is_taken_out_of_the_metadata_table_as_spark_does() {
    for (name, time, action) in COMPLETED {
        block_on(async {
            let (store, plan, done) = before_metadata_rollback(name, time, action).await;
            let (meta, writer) = open(&store).await;
            let base = base(name);
            let all = Rollbacks {
                writer: &writer,
                base: &base,
            };
            let target = InstantTime::parse(time).unwrap();
            let found = rollback(&meta, all, &target).await.unwrap();
            let own = format!(".hoodie/metadata/.hoodie/timeline/{}", found.instant.time);
            let body = |suffix: &str| {
                let all = block_paths(&store);
                let path = all
                    .iter()
                    .find(|path| path.starts_with(&own) && path.ends_with(suffix))
                    .unwrap();
                crate::timeline::payload::parse(&crate::support::get(&store, path)).unwrap()
            };
            assert_eq!(sorted(body(".rollback.requested").unwrap()), sorted(plan));
            assert_eq!(
                timeless(body(".rollback").unwrap()),
                timeless(done),
                "{name}"
            );
            let left = block_paths(&store);
            assert!(!left.iter().any(|path| path.contains(time)), "{left:?}");
        });
    }
}

#[test]
fn a_write_that_the_metadata_table_has_compacted_or_never_had_stays() {
    let check = |change: &dyn Fn(&Arc<InMemory>, &str), refused: bool| {
        block_on(async {
            let (name, time, action) = COMPLETED[0];
            let (store, ..) = before_metadata_rollback(name, time, action).await;
            change(&store, ".hoodie/metadata/.hoodie/timeline");
            let before = paths(&store).await;
            let (meta, writer) = open(&store).await;
            let all = Rollbacks {
                writer: &writer,
                base: "/t",
            };
            let target = InstantTime::parse(time).unwrap();
            let done = rollback(&meta, all, &target).await;
            let code = done.as_ref().err().map(|error| error.kind().code());
            assert_eq!(code, refused.then_some("UNSUPPORTED"), "{done:?}");
            if refused {
                assert_eq!(paths(&store).await, before);
            }
        });
    };
    let compaction = |time: &'static str| {
        move |store: &Arc<InMemory>, timeline: &str| {
            let name = format!("{timeline}/{time}_20261129210726999.commit");
            put(store, &name, b"{}".to_vec());
        }
    };
    // The delta commit completed at 20261129210726000.
    check(&compaction("20261129210726500"), true);
    check(&compaction("20261129210610000"), false);
    check(
        &|store, timeline| {
            let name = format!("{timeline}/20261129210726500.compaction.requested");
            put(store, &name, vec![]);
        },
        true,
    );
    check(
        &|store, timeline| {
            let name = format!("{timeline}/20261129210606150_20261129210726000.deltacommit");
            delete(store, &name);
        },
        true,
    );
}

#[test]
fn a_completed_write_that_has_some_markers_left_is_rolled_back_whole() {
    let store = store("v9_cow_simple");
    block_on(async {
        let (meta, writer) = open(&store).await;
        let all = Rollbacks {
            writer: &writer,
            base: "/t",
        };
        let last = meta.timeline.completed_writes().next_back().unwrap();
        // The removal of the markers was cut off: what is left names one file that the write took back itself.
        let temp = format!(".hoodie/.temp/{}", last.time);
        let line = format!("x-0_0-1-2_{}.parquet.marker.CREATE\n", last.time);
        put(&store, &format!("{temp}/MARKERS1"), line.into_bytes());
        rollback(&meta, all, &last.time).await.unwrap();
        let left = paths(&store).await;
        let left: Vec<_> = left
            .iter()
            .filter(|p| p.contains(last.time.as_str()))
            .collect();
        assert!(left.is_empty(), "{left:?}");
    });
}
