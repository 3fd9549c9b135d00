use std::collections::BTreeMap;
use std::sync::Arc;

use object_store::memory::InMemory;
use serde_json::Value;

use super::*;
use crate::codec::avro::{WireSchema, read_datum};
use crate::codec::hfile::scan_all;
use crate::codec::log_format::frames;
use crate::commit::Writer;
use crate::storage::Cause;
use crate::support::{block_on, delete, get, put, store};
use crate::timeline::payload::CommitMetadata;

/// Tables whose newest instant is a clean of Spark, and how many commits it retained.
const CLEANED: [(&str, usize); 3] = [
    ("v9_cow_archived", 3),
    ("v9_cow_savepoint", 1),
    ("v9_cow_partition_dropped", 1),
];

async fn open(store: &Arc<InMemory>) -> (MetaClient, Writer) {
    crate::commit::support::open(store, &[]).await
}

/// The files of an instant in the metadata table, by path.
async fn in_metadata(store: &Arc<InMemory>, time: &str) -> BTreeMap<String, Vec<u8>> {
    let (meta, _) = open(store).await;
    let all = meta
        .storage
        .list_all(".hoodie/metadata", None, Cause::Write);
    let all = all.await.unwrap().into_iter();
    let of = all.filter(|file| file.path.contains(time));
    of.map(|file| (file.path.clone(), get(store, &file.path)))
        .collect()
}

/// What a delta commit of the metadata table tells: by partition and file group the records and deleted keys of each block;
/// and its completed file without sizes, tokens and times.
fn told(files: &BTreeMap<String, Vec<u8>>) -> (BTreeMap<String, Vec<Value>>, Value) {
    let mut groups: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    let mut body = Value::Null;
    for (path, content) in files {
        if let Some((group, _)) = path.split_once("_2026").filter(|_| path.contains(".log.")) {
            for (code, schema, content) in frames(content) {
                groups
                    .entry(group.to_owned())
                    .or_default()
                    .push(block(code, &schema, content));
            }
        } else if path.ends_with(".deltacommit") {
            body = completed(content);
        }
    }
    (groups, body)
}

fn block(code: u32, schema: &str, content: Vec<u8>) -> Value {
    if code == 1 {
        let deletes = crate::codec::log_block::deletes(&content).unwrap();
        let mut keys: Vec<_> = deletes.iter().map(|delete| delete.key.as_str()).collect();
        keys.sort_unstable();
        return Value::from(keys);
    }
    let schema = WireSchema::parse(schema.as_bytes()).unwrap();
    let entries = scan_all(&content.into()).unwrap().into_iter();
    let records = entries.map(|entry| {
        let key = String::from_utf8(entry.key.to_vec()).unwrap();
        (key, read_datum(&schema, &entry.value).unwrap())
    });
    Value::Object(records.collect())
}

fn completed(content: &[u8]) -> Value {
    let body = crate::timeline::payload::parse(content).unwrap().unwrap();
    let mut body: CommitMetadata = serde_json::from_value(body).unwrap();
    for stats in body.partition_to_write_stats.values_mut() {
        stats.sort_by(|a, b| a.file_id.cmp(&b.file_id));
        for stat in stats {
            (stat.total_write_bytes, stat.file_size_in_bytes) = (0, 0);
            (stat.path, stat.log_files) = (None, Vec::new());
            // The delta commit's own time.
            stat.prev_commit = None;
            stat.runtime_stats = None;
        }
    }
    serde_json::to_value(body).unwrap()
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
    for path in in_metadata(&store, spark.time.as_str()).await.keys() {
        delete(&store, path);
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
    for partition in plan["partitionsToBeDeleted"].as_array().unwrap() {
        let partition = PartitionPath::new(partition.as_str().unwrap());
        let metafile = partition.file_path(crate::model::PARTITION_METAFILE);
        put(&store, &metafile, b"partitionDepth=1\n".to_vec());
    }
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

fn spark_time(done: &Value) -> &str {
    done["startCleanTime"].as_str().unwrap()
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
            let index = Indexed::open(&meta, all).await.unwrap();
            let index = index.as_ref();
            let done = carry_out(&meta, all, index, &pending, plan.clone()).await;
            let done = done.unwrap();
            assert!(done.files_deleted > 0);
            let theirs = in_metadata(&crate::support::store(name), spark_time(&spark_done)).await;
            let ours = in_metadata(&store, done.instant.time.as_str()).await;
            assert_eq!(told(&ours), told(&theirs), "{name}");
            assert_eq!(ours.len(), theirs.len(), "{name}");
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
            // It told the metadata table, and ended before it was completed itself.
            let index = Indexed::open(&meta, all).await.unwrap();
            let gone = removed(&plan);
            index.as_ref().unwrap().remove(&begun, &gone).await.unwrap();
            let before = in_metadata(&store, begun.time.as_str()).await;
            let (meta, _) = open(&store).await;
            let pending = meta.timeline.pending(&Action::Clean).next().unwrap();
            let index = Indexed::open(&meta, all).await.unwrap();
            let done = resume(&meta, all, index.as_ref(), pending).await;
            assert_eq!(done.unwrap().unwrap().instant.time, begun.time);
            let (meta, _) = open(&store).await;
            assert!(meta.timeline.pending(&Action::Clean).next().is_none());
            assert_eq!(in_metadata(&store, begun.time.as_str()).await, before);
        });
    }
}

fn removed(plan: &CleanerPlan) -> BTreeMap<String, CleanedPartition> {
    let name = |file: &crate::timeline::payload::CleanFileInfo| {
        let path = file.file_path.as_deref().unwrap();
        path.rsplit('/').next().unwrap().to_owned()
    };
    let partitions = plan.file_paths_to_be_deleted_per_partition.iter();
    let cleaned = partitions.map(|(partition, files)| {
        let cleaned = CleanedPartition {
            delete_path_patterns: files.iter().map(name).collect(),
            ..CleanedPartition::default()
        };
        (partition.clone(), cleaned)
    });
    cleaned.collect()
}

/// What the metadata table says, by partition.
async fn told_of(meta: &MetaClient) -> BTreeMap<String, usize> {
    use crate::view::{FileListing, PartitionPruner};
    let table = crate::metadata::MetadataTable::load_anew(meta)
        .await
        .unwrap();
    let listing =
        crate::metadata::MetadataListing::new(meta.storage.clone(), Arc::new(table), true);
    let found = listing.load(&PartitionPruner::none()).await.unwrap();
    let found = found.into_iter();
    found
        .map(|one| (one.partition.to_string(), one.files.len()))
        .collect()
}

#[test]
fn a_partition_goes_with_its_files_unless_it_got_others_since_the_plan() {
    for late in [false, true] {
        block_on(async {
            let (store, spark_plan, _, base) = before_clean("v9_cow_partition_dropped").await;
            let (meta, writer) = open(&store).await;
            let all = Rollbacks {
                writer: &writer,
                base: &base,
            };
            let known = told_of(&meta).await;
            assert_eq!(known.keys().collect::<Vec<_>>(), ["city=ams", "city=bru"]);
            // Spark's own plan, left pending.
            let plan: CleanerPlan = serde_json::from_value(spark_plan).unwrap();
            let files = Requested {
                plan: plan.to_bytes().unwrap(),
                inflight: Bytes::new(),
            };
            request(&meta, &writer, Action::Clean, files).await.unwrap();
            let file =
                "city=bru/11111111-1111-1111-1111-111111111111-0_0-1-1_20991231000000000.parquet";
            if late {
                put(&store, file, b"data".to_vec());
            }
            let (meta, _) = open(&store).await;
            clean(&meta, all).await.unwrap();
            let (meta, _) = open(&store).await;
            let done = meta.last_clean().await.unwrap().unwrap();
            let cleaned = &done.partition_metadata["city=bru"];
            assert_eq!(cleaned.is_partition_deleted, Some(!late));
            let left = meta.storage.list_all("city=bru", None, Cause::Listing);
            let left: Vec<_> = left.await.unwrap().into_iter().map(|f| f.path).collect();
            let after = told_of(&meta).await;
            match late {
                false => {
                    assert!(left.is_empty(), "{left:?}");
                    assert_eq!(after.keys().collect::<Vec<_>>(), ["city=ams"]);
                }
                true => {
                    assert!(left.iter().any(|path| path == file), "{left:?}");
                    assert_eq!(after["city=bru"], 0);
                }
            }
            assert_eq!(after["city=ams"], known["city=ams"]);
        });
    }
}

#[test]
fn a_metadata_table_that_is_not_kept_here_is_left_with_its_files() {
    block_on(async {
        let store = store("v9_cow_mdt_compacted");
        let (meta, mut writer) = open(&store).await;
        let key = "hoodie.clean.commits.retained".to_owned();
        writer.options.insert(key, "1".to_owned());
        let all = Rollbacks {
            writer: &writer,
            base: "/t",
        };
        let error = clean(&meta, all).await.unwrap_err();
        assert_eq!(error.kind().code(), "UNSUPPORTED");
        let (after, _) = open(&store).await;
        assert!(after.timeline.instants().eq(meta.timeline.instants()));
    });
}
