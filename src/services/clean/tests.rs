use std::sync::Arc;

use object_store::memory::InMemory;
use serde_json::Value;

use super::*;
use crate::commit::{TableLock, WriteClock, Writer};
use crate::config::Properties;
use crate::host::Zone;
use crate::storage::{Cause, Storage, StorageOptions};
use crate::support::{block_on, delete, put, store};

/// Tables whose newest instant is a clean of Spark, and how many commits it retained.
const CLEANED: [(&str, usize); 2] = [("v9_cow_archived", 3), ("v9_cow_savepoint", 1)];

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

/// A table as it was before Spark's last clean; and that clean's plan, result and base path.
async fn before_clean(name: &str) -> (Arc<InMemory>, Value, Value, String) {
    let store = store(name);
    let (meta, _) = open(&store).await;
    let spark = meta.timeline.completed(&Action::Clean).next_back().unwrap();
    let body = |state| meta.body::<Value>(spark, state);
    let plan = body(State::Requested).await.unwrap().unwrap();
    let done = body(State::Completed).await.unwrap().unwrap();
    for state in [State::Requested, State::Inflight, State::Completed] {
        delete(&store, &meta.timeline.file(spark, state).unwrap().path);
    }
    let mut base = String::new();
    let removed = plan["filePathsToBeDeletedPerPartition"]
        .as_object()
        .unwrap();
    for (partition, files) in removed {
        for file in files.as_array().unwrap() {
            let path = file["filePath"].as_str().unwrap();
            let (folder, name) = path.rsplit_once('/').unwrap();
            base = folder
                .strip_suffix(partition.as_str())
                .unwrap()
                .trim_end_matches('/')
                .to_owned();
            let file = PartitionPath::new(partition).file_path(name);
            put(&store, &file, b"data".to_vec());
        }
    }
    assert!(!base.is_empty(), "{name}");
    (store, plan, done, base)
}

/// The same with what no two runs share left out, and files in a settled order.
fn timeless(mut body: Value) -> Value {
    for key in ["startCleanTime", "timeTakenInMillis"] {
        if body.get(key).is_some() {
            body[key] = Value::Null;
        }
    }
    for key in ["filePathsToBeDeletedPerPartition", "partitionMetadata"] {
        for (_, partition) in body
            .get_mut(key)
            .and_then(Value::as_object_mut)
            .into_iter()
            .flatten()
        {
            let lists = match partition {
                Value::Array(_) => vec![partition],
                other => other.as_object_mut().unwrap().values_mut().collect(),
            };
            for list in lists.into_iter().filter_map(Value::as_array_mut) {
                list.sort_by_key(Value::to_string);
            }
        }
    }
    body
}

#[test]
fn a_clean_is_planned_done_and_recorded_as_spark_does() {
    for (name, retained) in CLEANED {
        block_on(async {
            let (store, spark_plan, spark_done, base) = before_clean(name).await;
            let (meta, writer) = open(&store).await;
            let all = Rollbacks {
                writer: &writer,
                base: &base,
            };
            let plan = plan(&meta, retained, &base).await.unwrap().unwrap();
            let bytes = plan.to_bytes().unwrap();
            let body = crate::timeline::payload::parse(&bytes).unwrap().unwrap();
            assert_eq!(timeless(body), timeless(spark_plan), "{name}");
            let files = Requested {
                plan: bytes,
                inflight: Bytes::new(),
            };
            let pending = request(&meta, &writer, Action::Clean, files).await.unwrap();
            let done = carry_out(&meta, all, &pending, plan.clone()).await.unwrap();
            assert!(done.files_deleted > 0);
            let (meta, _) = open(&store).await;
            let body = meta.body::<Value>(&done.instant, State::Completed).await;
            assert_eq!(
                timeless(body.unwrap().unwrap()),
                timeless(spark_done),
                "{name}"
            );
            let left = meta
                .storage
                .list_all("", None, Cause::Listing)
                .await
                .unwrap();
            for files in plan.file_paths_to_be_deleted_per_partition.values() {
                for file in files {
                    let path = file.file_path.as_deref().unwrap();
                    let path = path.strip_prefix(&format!("{base}/")).unwrap();
                    assert!(left.iter().all(|left| left.path != path), "{path}");
                }
            }
            assert!(super::plan(&meta, retained, &base).await.unwrap().is_none());
        });
    }
}

#[test]
fn a_clean_that_ended_early_goes_on_under_its_own_instant() {
    for (name, retained) in CLEANED {
        block_on(async {
            let (store, _, _, base) = before_clean(name).await;
            let (meta, writer) = open(&store).await;
            let all = Rollbacks {
                writer: &writer,
                base: &base,
            };
            let plan = plan(&meta, retained, &base).await.unwrap().unwrap();
            let files = Requested {
                plan: plan.to_bytes().unwrap(),
                inflight: Bytes::new(),
            };
            let begun = request(&meta, &writer, Action::Clean, files).await.unwrap();
            let (meta, _) = open(&store).await;
            let pending = meta.timeline.pending(&Action::Clean).next().unwrap();
            let done = resume(&meta, all, pending).await.unwrap().unwrap();
            assert_eq!(done.instant.time, begun.time);
            let (meta, _) = open(&store).await;
            assert!(meta.timeline.pending(&Action::Clean).next().is_none());
        });
    }
}

#[test]
fn a_table_with_a_metadata_table_is_left_as_it_is() {
    block_on(async {
        let (store, _, _, base) = before_clean("v9_cow_savepoint").await;
        let (meta, mut writer) = open(&store).await;
        let key = "hoodie.clean.commits.retained".to_owned();
        writer.options.insert(key, "1".to_owned());
        let all = Rollbacks {
            writer: &writer,
            base: &base,
        };
        assert_eq!(clean(&meta, all).await.unwrap(), vec![]);
    });
}
