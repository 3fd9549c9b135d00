//! Table services that are stopped after any of their requests.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use arrow::array::AsArray;
use futures::StreamExt;
use hudi_wasm::config::ReadOptions;
use hudi_wasm::metadata::{MetadataListing, MetadataTable};
use hudi_wasm::model::PartitionPath;
use hudi_wasm::table::{OpenOptions, Table, WriteOptions};
use hudi_wasm::timeline::MetaClient;
use hudi_wasm::view::{DirectoryListing, FileListing, PartitionFiles, PartitionPruner};
use object_store::memory::InMemory;
use serde_json::json;

use crate::stops::{STOPS, Stop, Stopping, assert_no_orphans, copy, ids, stopping};
use crate::support::{block_on, store, store_of};
use crate::{batch, create, open, paths, read, rows};

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

/// A table with so many commits, of one id each, and none archived; with a metadata table or without.
async fn table_of(commits: i32, metadata: bool) -> Arc<InMemory> {
    let start = store_of([]);
    let options = json!({"tableName": "t", "recordKeyFields": ["id"], "partitionFields": ["city"],
                         "metadata": metadata});
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
    for stop in STOPS {
        block_on(async {
            let start = table_of(5, false).await;
            for at in 0.. {
                let name = format!("{stop:?} after {at}");
                let left = copy(&start);
                let store = Stopping::new(&left, at, stop);
                let table = Table::open(stopping(&store), OpenOptions::default())
                    .await
                    .unwrap();
                let result = append(&table, 6).await;
                let writes = all_writes(&left).await.len();
                if !store.has_come() {
                    assert_eq!((ids(&read(&result.unwrap()).await).len(), writes), (6, 6));
                    // What a clean of one commit retains, and one more.
                    let meta = MetaClient::load(crate::storage(&left)).await.unwrap();
                    assert_eq!(meta.timeline.completed_writes().count(), 2);
                    break;
                }
                stops += 1;
                assert!(stop != Stop::Once || result.is_ok(), "{name}: {result:?}");
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
    for stop in STOPS {
        block_on(async {
            let start = table_of(1, false).await;
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
                    if !store.has_come() {
                        assert_eq!(ids(&read(&result.unwrap()).await), [1, 3], "{name}");
                        break;
                    }
                    stops += 1;
                    assert!(stop != Stop::Once || result.is_ok(), "{name}: {result:?}");
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
    for (stop, metadata) in STOPS.into_iter().flat_map(|s| [(s, false), (s, true)]) {
        block_on(async {
            let start = table_of(2, metadata).await;
            let newest = all_writes(&start).await.pop().unwrap();
            for at in 0.. {
                let name = format!("{stop:?} after {at}, metadata {metadata}");
                let left = copy(&start);
                let store = Stopping::new(&left, at, stop);
                let table = Table::open(stopping(&store), OpenOptions::default());
                let result = table.await.unwrap().rollback(&newest, late()).await;
                let shown = ids(&read(&open(&left).await).await);
                if !store.has_come() {
                    assert_eq!(ids(&read(&result.unwrap().1).await), [1], "{name}");
                    assert_metadata_is_true(&left, &name).await;
                    break;
                }
                stops += 1;
                assert!(stop != Stop::Once || result.is_ok(), "{name}: {result:?}");
                assert!(shown == [1] || shown == [1, 2], "{name}: {shown:?}");
                // Java would take it back once more, and fail.
                for timeline in [".hoodie/timeline/", ".hoodie/metadata/.hoodie/timeline/"] {
                    let all = paths(&left);
                    let all = || all.iter().filter_map(|path| path.strip_prefix(timeline));
                    let is_done = all().any(|file| file.ends_with(".rollback"));
                    let is_there = all().any(|file| file.starts_with(&newest));
                    assert!(!(is_done && is_there), "{name}: {timeline}");
                }
                let again = append(&open(&left).await, 4).await;
                let again = again.unwrap_or_else(|error| panic!("{name}: {error:?}"));
                let after = ids(&read(&again).await);
                // A rollback that was planned is carried out; one that was not leaves the write.
                assert!(
                    after == [1, 4] || (shown == [1, 2] && after == [1, 2, 4]),
                    "{name}: {after:?}"
                );
                assert_no_orphans(&left, &name);
                assert_metadata_is_true(&left, &name).await;
                let of_newest = format!(".hoodie/metadata/.hoodie/timeline/{newest}");
                let known = paths(&left).iter().any(|path| path.starts_with(&of_newest));
                assert_eq!(known, metadata && after.contains(&2), "{name}");
            }
        });
    }
    println!("{stops} stops of a rollback of a completed write");
    assert!(stops > 30, "{stops}");
}

/// Names by partition.
fn names(listed: &[PartitionFiles]) -> BTreeMap<PartitionPath, Vec<String>> {
    let mut found = BTreeMap::new();
    for partition in listed {
        let names = partition.files.iter();
        let mut names: Vec<_> = names
            .filter_map(|file| Some(file.path.rsplit('/').next()?.to_owned()))
            .filter(|name| name.ends_with(".parquet") || name.contains(".log."))
            .collect();
        names.sort();
        if !names.is_empty() {
            found.insert(partition.partition.clone(), names);
        }
    }
    found
}

/// The metadata table, where there is one, lists just the files that are there.
pub(crate) async fn assert_metadata_is_true(store: &Arc<InMemory>, name: &str) {
    let meta = MetaClient::load(crate::storage(store)).await.unwrap();
    if !MetadataTable::is_there(&meta) {
        return;
    }
    let (storage, partitioned) = (meta.storage.clone(), meta.config.is_partitioned());
    let table = Arc::new(MetadataTable::load_anew(&meta).await.unwrap());
    let told = MetadataListing::new(storage.clone(), table, partitioned);
    let told = told.load(&PartitionPruner::none()).await.unwrap();
    let there = DirectoryListing::new(storage, partitioned);
    let there = there.load(&PartitionPruner::none()).await.unwrap();
    assert_eq!(names(&told), names(&there), "{name}");
    let partitions = |listed: &[PartitionFiles]| -> BTreeSet<PartitionPath> {
        listed.iter().map(|one| one.partition.clone()).collect()
    };
    assert!(
        partitions(&told).is_subset(&partitions(&there)),
        "{name}: a partition that is gone is listed"
    );
}

/// Ids of a snapshot read, sorted.
async fn shown(table: &Table) -> Vec<i32> {
    let mut stream = table.read(&ReadOptions::default()).await.unwrap();
    let mut found = Vec::new();
    while let Some(batch) = stream.next().await {
        let batch = batch.unwrap();
        let ids = batch.column_by_name("id").unwrap();
        found.extend(ids.as_primitive::<arrow::datatypes::Int32Type>().values());
    }
    found.sort_unstable();
    found
}

/// Appends one row to a table of Spark, which may have no city.
async fn append_to_spark(table: &Table, id: i32) -> hudi_wasm::Result<Table> {
    let schema = table.schema(false).await?;
    let batch = batch(&[(id, "paris")]);
    let columns = schema.fields().iter();
    let columns: Vec<_> = columns
        .map(|field| batch.schema().index_of(field.name()).unwrap())
        .collect();
    let done = table.append(rows(vec![batch.project(&columns).unwrap()]), late());
    done.await.map(|done| done.table)
}

/// Tables that Spark wrote over, so that there are old versions of files: one with every index that is kept here, one whose
/// metadata table was compacted, so that its timeline can be archived, and one whose partitions were overwritten whole, so that some
/// go.
const OF_SPARK: [(&str, bool); 3] = [
    ("v9_cow_hive_parts", false),
    ("v9_cow_archived", true),
    ("v9_cow_overwrite", false),
];

#[test]
fn a_clean_and_an_archive_beside_a_metadata_table_are_stopped_anywhere_and_gone_on_with() {
    let mut stops = 0;
    for (table, archives) in OF_SPARK {
        for stop in STOPS {
            stops += block_on(stops_of_services(table, archives, stop));
        }
    }
    println!("{stops} stops of an append with a clean and an archive beside a metadata table");
    assert!(stops > 100, "{stops}");
}

/// Appends to a copy of a table of Spark, stopping after every change. Returns how many stops there were.
async fn stops_of_services(table: &str, archives: bool, stop: Stop) -> usize {
    let start = store(table);
    let old = shown(&open(&start).await).await;
    let (writes, files) = (all_writes(&start).await.len(), data_files(&start));
    for at in 0.. {
        let name = format!("{table}: {stop:?} after {at}");
        let left = copy(&start);
        let store = Stopping::new(&left, at, stop);
        let handle = Table::open(stopping(&store), OpenOptions::default());
        let result = append_to_spark(&handle.await.unwrap(), 1001).await;
        let with = |more: &[i32]| [old.as_slice(), more].concat();
        let committed = all_writes(&left).await.len() - writes;
        let kept: &[i32] = if committed == 1 { &[1001] } else { &[] };
        assert_eq!(shown(&open(&left).await).await, with(kept), "{name}");
        // A lost answer changes nothing, of the services either.
        if !store.has_come() || stop == Stop::Once {
            assert_eq!(shown(&result.unwrap()).await, with(&[1001]), "{name}");
            assert!(data_files(&left) <= files, "{name}: nothing was cleaned");
            let meta = MetaClient::load(crate::storage(&left)).await.unwrap();
            let active = meta.timeline.completed_writes().count();
            assert_eq!(active <= 3, archives, "{name}: {active}");
            assert_metadata_is_true(&left, &name).await;
            if !store.has_come() {
                return at;
            }
            continue;
        }
        let again = append_to_spark(&open(&left).await, 1002).await;
        let again = again.unwrap_or_else(|error| panic!("{name}: {error:?}"));
        let expected = with(&[kept, &[1002]].concat());
        assert_eq!(shown(&again).await, expected, "{name}");
        assert_eq!(
            all_writes(&left).await.len(),
            writes + committed + 1,
            "{name}"
        );
        let pending = paths(&left);
        let pending = pending.iter().find(|path| {
            let inflight = path.ends_with(".clean.inflight");
            let time = path.trim_end_matches(".clean.inflight");
            inflight
                && !paths(&left)
                    .iter()
                    .any(|path| path.starts_with(&format!("{time}_")))
        });
        assert_eq!(pending, None, "{name}");
        assert_metadata_is_true(&left, &name).await;
    }
    unreachable!()
}

fn data_files(store: &Arc<InMemory>) -> usize {
    let all = paths(store);
    let data = all.iter().filter(|path| !path.starts_with(".hoodie"));
    data.filter(|path| path.ends_with(".parquet")).count()
}
