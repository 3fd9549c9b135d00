//! The metadata table cleaned and archived itself as tables are appended to.

use std::collections::BTreeSet;
use std::sync::Arc;

use futures::TryStreamExt;
use hudi_wasm::config::ReadOptions;
use hudi_wasm::model::Action;
use hudi_wasm::storage::{Storage, StorageOptions};
use hudi_wasm::table::{OpenOptions, Table, TableSchema, WriteOptions};
use hudi_wasm::timeline::MetaClient;
use object_store::local::LocalFileSystem;
use object_store::memory::InMemory;

use crate::compaction::{agrees, append, shape};
use crate::service_stops::assert_metadata_is_true;
use crate::stops::{Stop, Stopping, copy, ids, stopping};
use crate::support::{block_on, store_of};
use crate::{create, open, options, paths, read, schema};

const FOLDER: &str = ".hoodie/metadata";

/// The data table keeps two instants, so that its metadata table may let go; that one is compacted after six, just as a
/// clean has twenty writes to retain.
pub(crate) fn small(inline_services: Option<bool>) -> WriteOptions {
    compacting("6", inline_services)
}

fn compacting(deltas: &str, inline_services: Option<bool>) -> WriteOptions {
    let options = [
        ("hoodie.client.heartbeat.interval_in_ms", "0"),
        ("hoodie.metadata.compact.max.delta.commits", deltas),
        ("hoodie.keep.min.commits", "1"),
        ("hoodie.keep.max.commits", "2"),
        ("hoodie.clean.commits.retained", "1"),
    ];
    WriteOptions {
        hudi_options: options
            .map(|(key, value)| (key.to_owned(), value.to_owned()))
            .into(),
        inline_services,
        ..WriteOptions::default()
    }
}

/// What is told of the metadata table's own instants.
struct Own {
    active: usize,
    archived: usize,
    cleans: usize,
    pending: usize,
    all: BTreeSet<String>,
}

async fn own(store: &Arc<InMemory>) -> Own {
    let storage = crate::storage(store).below(FOLDER);
    let meta = MetaClient::load(storage).await.unwrap();
    let archived = meta.archived_writes(None).await.unwrap();
    let active: Vec<_> = meta.timeline.completed_writes().cloned().collect();
    let all = archived.iter().chain(&active);
    let mut all: BTreeSet<_> = all.map(|instant| instant.time.to_string()).collect();
    let cleans = meta.timeline.completed(&Action::Clean);
    all.extend(cleans.map(|clean| clean.time.to_string()));
    let pending = |instant: &&hudi_wasm::model::Instant| !instant.is_completed();
    Own {
        active: active.len(),
        archived: archived.len(),
        cleans: meta.timeline.completed(&Action::Clean).count(),
        pending: meta.timeline.instants().filter(pending).count(),
        all,
    }
}

fn data_of_index(store: &Arc<InMemory>, folder: &str, end: &str) -> usize {
    let below = format!("{FOLDER}/{folder}/");
    let all = paths(store);
    all.iter()
        .filter(|path| path.starts_with(&below) && path.ends_with(end))
        .count()
}

#[test]
fn a_metadata_table_stays_small_however_often_its_table_is_appended_to() {
    for deltas in [1, 4, 6, 10] {
        block_on(async {
            let store = store_of([]);
            let mut table = create(&store, shape("COPY_ON_WRITE", 9)).await.unwrap();
            let (mut most, mut most_files) = (0, 0);
            for at in 0..70 {
                let options = compacting(&deltas.to_string(), None);
                table = append(&table, at, options).await.unwrap();
                most = most.max(own(&store).await.active);
                most_files = most_files.max(data_of_index(&store, "files", ""));
            }
            let own = own(&store).await;
            let name = format!("compacted after {deltas}");
            println!(
                "70 appends, {name}: {} instants of the metadata table active, {most} at most, {} archived; {most_files} files of its \
                 listing at most",
                own.active, own.archived
            );
            // Twenty are retained and one to spare, and those since the newest compaction before them.
            assert!((21..=23 + deltas).contains(&most), "{name}: {most}");
            assert!(own.archived > 45, "{name}: {}", own.archived);
            // A version and its logs before what is retained, and what is retained.
            assert!(most_files <= 30 + 2 * deltas, "{name}: {most_files}");
            agrees(&store, 140, 10, &name).await;
            assert_metadata_is_true(&store, &name).await;
            let mut checked = ReadOptions::default();
            checked.check_listing = true;
            let both = open(&store).await.read(&checked).await.unwrap();
            let batches: Vec<_> = both.try_collect().await.unwrap();
            let rows: usize = batches.iter().map(|batch| batch.num_rows()).sum();
            assert_eq!(rows, 140, "{name}");
        });
    }
}

#[test]
fn services_that_are_off_leave_the_metadata_table_alone() {
    block_on(async {
        let (start, at) = before_services("COPY_ON_WRITE", 9).await;
        let before = own(&start).await;
        let off = small(Some(false));
        append(&open(&start).await, at, off).await.unwrap();
        let after = own(&start).await;
        assert_eq!(
            (after.cleans, after.archived),
            (before.cleans, before.archived)
        );
        assert_eq!(after.active, before.active + 1);
    });
}

/// A table whose next append cleans, compacts and archives its metadata table; and the number of that append.
pub(crate) async fn before_services(kind: &str, version: u32) -> (Arc<InMemory>, i32) {
    let store = store_of([]);
    let mut table = create(&store, shape(kind, version)).await.unwrap();
    for at in 0..40 {
        let before = copy(&store);
        table = append(&table, at, small(None)).await.unwrap();
        let (old, new) = (own(&before).await, own(&store).await);
        if new.cleans > old.cleans
            && new.archived > old.archived
            && new.all.len() > old.all.len() + 2
        {
            return (before, at);
        }
    }
    panic!("no append of forty cleaned and archived the metadata table");
}

/// Stops an append in which the services run after every change of the store.
fn check_stops(kind: &str, version: u32, stop: Stop) -> usize {
    block_on(async {
        let (start, number) = before_services(kind, version).await;
        let known = own(&start).await.all;
        let count = 2 * number;
        for at in 0.. {
            let name = format!("{kind} {version} {stop:?} after {at}");
            let left = copy(&start);
            let store = Stopping::new(&left, at, stop);
            let handle = Table::open(stopping(&store), OpenOptions::default());
            let result = append(&handle.await.unwrap(), number, small(None)).await;
            if !store.has_come() {
                let rows = ids(&read(&result.unwrap()).await).len();
                assert_eq!(rows as i32, count + 2, "{name}");
                assert!(own(&left).await.all.is_superset(&known), "{name}");
                return at;
            }
            let shown = ids(&read(&open(&left).await).await).len() as i32;
            assert!(shown == count || shown == count + 2, "{name}: {shown}");
            assert!(result.is_err() || shown == count + 2, "{name}");
            agrees(&left, shown, 29, &name).await;
            assert!(own(&left).await.all.is_superset(&known), "{name}");
            // The next write goes on; with a clean once the spare of a compaction is over.
            let mut rows = shown;
            let mut table = open(&left).await;
            for more in 0..4 {
                if more > 0 && own(&left).await.pending == 0 {
                    break;
                }
                let again = append(&table, rows / 2, small(None)).await;
                table = again.unwrap_or_else(|error| panic!("{name}: {error:?}"));
                rows += 2;
            }
            let after = own(&left).await;
            assert_eq!(after.pending, 0, "{name}");
            assert!(after.all.is_superset(&known), "{name}");
            assert!(after.active <= 25, "{name}: {}", after.active);
            agrees(&left, rows, 23, &name).await;
            assert_metadata_is_true(&left, &name).await;
        }
        unreachable!()
    })
}

#[test]
fn services_of_the_metadata_table_that_are_stopped_anywhere_lose_nothing_and_are_gone_on_with() {
    let mut stops = 0;
    for (kind, version, stop) in [
        ("COPY_ON_WRITE", 9, Stop::Refused),
        ("MERGE_ON_READ", 9, Stop::Once),
        ("COPY_ON_WRITE", 8, Stop::Unheard),
        ("COPY_ON_WRITE", 9, Stop::NotOnce),
    ] {
        let of = check_stops(kind, version, stop);
        println!("{kind} {version} {stop:?}: {of} stops");
        stops += of;
    }
    println!(
        "{stops} stops of an append with a clean, a compaction and an archive of the metadata table"
    );
    assert!(stops > 200, "{stops}");
}

/// `HUDI_SERVED_OUT=folder cargo test --test write served_tables` leaves tables there for Spark, and appends to those that it finds.
#[test]
fn served_tables_are_written_into_a_folder_and_appended_to_again() {
    let here = tempfile::tempdir().unwrap();
    let out = std::env::var("HUDI_SERVED_OUT").map_or(here.path().to_owned(), Into::into);
    for (name, kind, version) in [
        ("v9_cow_parts", "COPY_ON_WRITE", 9),
        ("v9_mer_parts", "MERGE_ON_READ", 9),
        ("v8_cow_parts", "COPY_ON_WRITE", 8),
    ] {
        let folder = out.join(name);
        let is_new = !folder.exists();
        std::fs::create_dir_all(&folder).unwrap();
        let store = LocalFileSystem::new_with_prefix(&folder).unwrap();
        let storage = Storage::new(Arc::new(store), StorageOptions::default());
        let json = serde_json::json!({"tableName": name, "recordKeyFields": ["id"], "orderingFields": ["ts"],
            "partitionFields": ["city"], "hiveStylePartitioning": true, "tableType": kind, "tableVersion": version});
        block_on(async {
            let columns = TableSchema::Arrow(schema().as_ref().clone());
            let open = OpenOptions {
                canonical_uri: Some(folder.to_str().unwrap().to_owned()),
                ..OpenOptions::default()
            };
            if is_new {
                Table::create(storage.clone(), &columns, options(json))
                    .await
                    .unwrap();
            }
            let mut table = Table::open(storage.clone(), open).await.unwrap();
            let before = ids(&read(&table).await);
            let first = if is_new {
                0
            } else {
                1000 + before.len() as i32
            };
            for at in 0..30 {
                table = append(&table, first + at, small(None)).await.unwrap();
            }
            let mut expected = before;
            expected.extend(2 * first..2 * first + 60);
            expected.sort_unstable();
            let mut found = ids(&read(&table).await);
            found.sort_unstable();
            assert_eq!(found, expected, "{name}");
            let own = MetaClient::load(storage.below(FOLDER)).await.unwrap();
            let cleans = own.timeline.completed(&Action::Clean).count();
            assert!(cleans > 0, "{name}");
        });
    }
}
