//! What is written here, read by the reader of metadata tables, beside what Spark wrote.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use arrow::datatypes::{DataType, Field, Schema};
use bytes::Bytes;

use super::*;
use crate::commit::WriteClock;
use crate::expr::Scalar;
use crate::host::Zone;
use crate::metadata::{MetadataListing, MetadataTable};
use crate::model::{InstantTime, PartitionPath};
use crate::storage::{Cause, Storage, StorageOptions};
use crate::support;
use crate::timeline::MetaClient;
use crate::view::{FileListing, PartitionPruner};

pub(super) fn storage_of(store: Arc<object_store::memory::InMemory>) -> Storage {
    Storage::new(store, StorageOptions::default())
}

fn clock(meta: &MetaClient) -> WriteClock {
    WriteClock::new(&meta.config, Some(Zone::Utc), &meta.storage)
}

fn schema() -> Schema {
    let field = |name: &str, data_type| Field::new(name, data_type, true);
    Schema::new(vec![
        field("id", DataType::Int32),
        field("name", DataType::Utf8),
        field("price", DataType::Float64),
        field("ts", DataType::Int64),
        field("city", DataType::Utf8),
    ])
}

fn ids(min: i64, max: i64) -> Vec<ColumnRange> {
    vec![ColumnRange {
        name: "id".into(),
        min: Some(Scalar::Int(min)),
        max: Some(Scalar::Int(max)),
        has_nan: false,
        null_count: 0,
        value_count: 3,
        total_size: 7,
        total_uncompressed_size: 9,
    }]
}

/// The names that the metadata table lists, by partition.
async fn listed(meta: &MetaClient) -> BTreeMap<String, BTreeSet<String>> {
    let table = Arc::new(MetadataTable::load_anew(meta).await.unwrap());
    let listing = MetadataListing::new(meta.storage.clone(), table, meta.config.is_partitioned());
    let found = listing.load(&PartitionPruner::none()).await.unwrap();
    let names = |files: &[crate::storage::ObjectMeta]| {
        let name =
            |file: &crate::storage::ObjectMeta| file.path.rsplit('/').next().unwrap().to_owned();
        files.iter().map(name).collect()
    };
    found
        .iter()
        .map(|p| (p.partition.to_string(), names(&p.files)))
        .collect()
}

/// Commits a change at an instant, and the data instant after it.
async fn commit(meta: &MetaClient, change: &MetadataChange<'_>) -> (MetaClient, InstantTime) {
    let clock = clock(meta);
    let instant = clock.mint(None).await.unwrap();
    let writer = MetadataWriter::open(meta, &clock).await.unwrap().unwrap();
    writer.commit(&instant, change).await.unwrap();
    let again = MetaClient::load(meta.storage.clone()).await.unwrap();
    let before = listed(&again).await;
    let completion = clock.mint(None).await.unwrap();
    let path = format!(".hoodie/timeline/{instant}_{completion}.commit");
    meta.storage.put(&path, Bytes::new()).await.unwrap();
    let after = MetaClient::load(meta.storage.clone()).await.unwrap();
    // The fence: what a delta commit says is seen with the data instant, and not before.
    for file in change.added {
        let names = |all: &BTreeMap<String, BTreeSet<String>>| {
            all.get(file.partition.as_str())
                .is_some_and(|names| names.contains(file.name))
        };
        assert!(
            !names(&before) && names(&listed(&after).await),
            "{}",
            file.name
        );
    }
    (after, instant)
}

#[test]
fn a_commit_on_sparks_table_is_listed_bounded_and_found_by_key() {
    support::block_on(async {
        let meta = MetaClient::load(storage_of(support::store("v9_cow_hive_parts")))
            .await
            .unwrap();
        let old = listed(&meta).await;
        let (paris, vienna) = (
            PartitionPath::new("city=paris"),
            PartitionPath::new("city=vienna"),
        );
        let group = "5fa27133-7a82-4124-9a6b-8a94c18ff8ef-0";
        let columns = [ids(-7, 3), ids(900, 1000)];
        let keys: [RecordKeys; 2] = [["k1", "k2"], ["k3", "ключ"]].map(|k| k.into_iter().collect());
        let name = |at: usize| format!("{group}_{at}-0-0_20270101000000000.parquet");
        let names = [name(0), name(1)];
        let added: Vec<AddedFile<'_>> = [(0, &paris), (1, &vienna)]
            .map(|(at, partition)| AddedFile {
                partition,
                name: &names[at],
                file_id: group,
                size: 1000 + at as u64,
                columns: &columns[at],
                keys: Some(&keys[at]),
            })
            .into();
        let schema = schema();
        let change = MetadataChange {
            schema: &schema,
            added: &added,
            removed: &BTreeMap::new(),
            dropped: &BTreeSet::new(),
        };
        let (meta, instant) = commit(&meta, &change).await;
        let new = listed(&meta).await;
        assert_eq!(new["city=vienna"], BTreeSet::from([names[1].clone()]));
        assert!(new["city=paris"].is_superset(&old["city=paris"]));
        assert_eq!(new["city=paris"].len(), old["city=paris"].len() + 1);

        let table = MetadataTable::load_anew(&meta).await.unwrap();
        let find = |index: &'static str| {
            let (table, storage) = (&table, &meta.storage);
            let (paris, vienna) = (&paris, &vienna);
            async move {
                table
                    .stats(storage, index, &["id"], &[paris, vienna])
                    .await
                    .unwrap()
                    .unwrap()
            }
        };
        let of_files = find("column_stats").await;
        let stats = of_files.of_file(&paris, &names[0], "id").unwrap();
        assert_eq!(
            (stats.min.as_i64(), stats.max.as_i64(), stats.tight),
            (Some(-7), Some(3), false)
        );
        assert_eq!(stats.value_type, Some((3, None)));
        let of_partitions = find("partition_stats").await;
        let stats = of_partitions.of_file(&vienna, "", "id").unwrap();
        assert_eq!(
            (stats.min.as_i64(), stats.max.as_i64(), stats.tight),
            (Some(900), Some(1000), true)
        );
        // Spark's own rows of the partition count on: ids 1 to 10 and later ones.
        let stats = of_partitions.of_file(&paris, "", "id").unwrap();
        assert_eq!(stats.min.as_i64(), Some(-7));
        assert!(stats.max.as_i64() >= Some(10), "{stats:?}");

        let wanted = ["k1", "k2", "k3", "ключ", "nowhere"].map(str::to_owned);
        let found = table
            .locate(&meta.storage, &wanted, &BTreeSet::new())
            .await
            .unwrap();
        assert_eq!(found.len(), 4);
        let place = &found["ключ"][0];
        assert_eq!(
            (place.partition.as_str(), place.file_id.as_str()),
            ("city=vienna", group)
        );
        assert_eq!(
            Some(place.instant_millis),
            clock(&meta).epoch_millis(&instant)
        );
    });
}

#[test]
fn a_file_that_went_is_not_listed_and_its_statistics_are_gone() {
    support::block_on(async {
        let meta = MetaClient::load(storage_of(support::store("v9_cow_hive_parts")))
            .await
            .unwrap();
        let paris = PartitionPath::new("city=paris");
        let gone = listed(&meta).await["city=paris"].first().unwrap().clone();
        let removed = BTreeMap::from([(paris.clone(), BTreeSet::from([gone.clone()]))]);
        let schema = schema();
        let change = MetadataChange {
            schema: &schema,
            added: &[],
            removed: &removed,
            dropped: &BTreeSet::new(),
        };
        let (meta, _) = commit(&meta, &change).await;
        assert!(!listed(&meta).await["city=paris"].contains(&gone));
        let table = MetadataTable::load_anew(&meta).await.unwrap();
        let stats = table
            .stats(&meta.storage, "column_stats", &["id", "ts"], &[&paris])
            .await;
        assert_eq!(stats.unwrap().unwrap().of_file(&paris, &gone, "id"), None);
    });
}

#[test]
fn indexes_that_are_not_kept_here_are_refused_by_name() {
    support::block_on(async {
        let check = async |table: &str, expected: &str| {
            let meta = MetaClient::load(storage_of(support::store(table)))
                .await
                .unwrap();
            let error = MetadataWriter::open(&meta, &clock(&meta))
                .await
                .unwrap_err();
            assert_eq!(error.kind().code(), "UNSUPPORTED", "{table}");
            assert_eq!(error.get("partition"), Some(expected), "{table}");
        };
        check("v9_cow_secondary_index", "secondary_index_by_name").await;
        check("v9_cow_bloom_index", "bloom_filters").await;
        check("v9_cow_partitioned_rli", "record_index").await;
        let building = crate::config::Properties::from([(
            "hoodie.table.metadata.partitions.inflight".to_owned(),
            "column_stats".to_owned(),
        )]);
        assert_eq!(
            require_known_indexes(&building)
                .unwrap_err()
                .get("partition"),
            Some("column_stats")
        );
    });
}

#[test]
fn a_rolled_back_commit_leaves_its_rollback_and_nothing_else() {
    support::block_on(async {
        let meta = MetaClient::load(storage_of(support::store("v9_cow_hive_parts")))
            .await
            .unwrap();
        let paths = async || {
            let files = meta
                .storage
                .list_all(".hoodie/metadata", None, Cause::Write)
                .await
                .unwrap();
            files
                .into_iter()
                .map(|file| file.path)
                .collect::<BTreeSet<_>>()
        };
        let before = paths().await;
        let clock = clock(&meta);
        let instant = clock.mint(None).await.unwrap();
        let paris = PartitionPath::new("city=paris");
        let (columns, keys) = (ids(1, 2), ["k1", "k2"].into_iter().collect());
        let added = [AddedFile {
            partition: &paris,
            name: "new.parquet",
            file_id: "new",
            size: 1,
            columns: &columns,
            keys: Some(&keys),
        }];
        let schema = schema();
        let change = MetadataChange {
            schema: &schema,
            added: &added,
            removed: &BTreeMap::new(),
            dropped: &BTreeSet::new(),
        };
        let writer = MetadataWriter::open(&meta, &clock).await.unwrap().unwrap();
        writer.commit(&instant, &change).await.unwrap();
        let rollback = clock.mint(None).await.unwrap();
        // The second time finds it done.
        for _ in 0..2 {
            rollback_in_metadata(&meta, &clock, &instant, &rollback, "/t")
                .await
                .unwrap();
        }
        let left: Vec<_> = paths().await.difference(&before).cloned().collect();
        assert_eq!(left.len(), 3, "{left:?}");
        let timeline = format!(".hoodie/metadata/.hoodie/timeline/{rollback}");
        assert!(
            left.iter().all(|path| path.starts_with(&timeline)),
            "{left:?}"
        );
        assert!(before.is_subset(&paths().await));
    });
}
