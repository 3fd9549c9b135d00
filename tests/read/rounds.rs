//! Which requests wait for which: what a read over a slow network is made of.

use std::sync::Arc;

use futures::TryStreamExt;
use hudi_wasm::config::ReadOptions;
use hudi_wasm::storage::{Storage, StorageOptions};
use hudi_wasm::table::{OpenOptions, Table};

use crate::support::watched::Watched;
use crate::support::{self, block_on};

/// A table of one base file, copy on write.
const TABLE: &str = "v9_cow_simple";

/// Reads with the metadata table aside; the rows, and what the store heard after the table was open.
async fn read(mut options: ReadOptions) -> (usize, Arc<Watched>) {
    let store = Watched::new(support::store(TABLE));
    store.slow("commit", 4000);
    let storage = Storage::new(Arc::clone(&store) as _, StorageOptions::default());
    let table = Table::open(storage, OpenOptions::default()).await.unwrap();
    store.requests();
    let metadata = "hoodie.metadata.enable".to_owned();
    options.hudi_options.insert(metadata, "false".to_owned());
    let read = table.read(&options).await.unwrap();
    let rows = read.map_ok(|batch| batch.num_rows());
    let rows: Vec<usize> = rows.try_collect().await.unwrap();
    (rows.iter().sum(), store)
}

#[test]
fn the_first_footer_is_fetched_while_the_schema_is_on_its_way() {
    block_on(async {
        let (rows, store) = read(ReadOptions::default()).await;
        assert!(rows > 0);
        let schema = (store.place('>', "commit"), store.place('<', "commit"));
        let footer = (store.place('>', ".parquet"), store.place('<', ".parquet"));
        assert!(
            schema.0 < footer.0 && footer.1 < schema.1,
            "{:?}",
            store.asked()
        );
    });
}

#[test]
fn with_filters_no_file_is_asked_for_before_they_are_bound() {
    block_on(async {
        let filter = hudi_wasm::config::RawFilter {
            field: "_hoodie_record_key".to_owned(),
            operator: "!=".to_owned(),
            values: vec!["none".to_owned()],
        };
        let mut options = ReadOptions::default();
        options.filters.push(filter);
        let (rows, store) = read(options).await;
        assert!(rows > 0);
        assert!(store.place('<', "commit") < store.place('>', ".parquet"));
    });
}

#[test]
fn a_limit_of_no_rows_fetches_no_file() {
    block_on(async {
        let mut options = ReadOptions::default();
        options.limit = Some(0);
        let (rows, store) = read(options).await;
        assert_eq!((rows, store.place('>', ".parquet")), (0, None));
    });
}

/// A table of three partitions with a metadata table.
const PARTS: &str = "v9_cow_hive_parts";

/// Log files of the one file group that lists the table.
fn logs() -> usize {
    let files = support::files(PARTS).into_iter();
    let logs = files.filter(|(path, _)| path.starts_with(".hoodie/metadata/files/.files"));
    logs.count()
}

async fn open(store: &Arc<Watched>) -> Table {
    let storage = Storage::new(Arc::clone(store) as _, StorageOptions::default());
    Table::open(storage, OpenOptions::default()).await.unwrap()
}

async fn first_batch(table: &Table) {
    let mut options = ReadOptions::default();
    options.limit = Some(1);
    let mut read = table.read(&options).await.unwrap();
    assert!(read.try_next().await.unwrap().is_some());
}

async fn whole(table: &Table) {
    let read = table.read(&ReadOptions::default()).await.unwrap();
    let batches: Vec<_> = read.try_collect().await.unwrap();
    assert!(!batches.is_empty());
}

#[test]
fn the_first_batch_of_a_partitioned_table_comes_in_five_rounds_and_few_requests() {
    block_on(async {
        let store = Watched::new(support::store(PARTS));
        let table = open(&store).await;
        first_batch(&table).await;
        let asked = store.requests();
        let rounds = asked.iter().map(|asked| asked.round).max();
        // The properties, one listing of everything, the index's base file, the schema, and of the first file its end and data.
        assert!(asked.len() <= 6 + logs(), "{asked:#?}");
        assert!(rounds <= Some(5), "{asked:#?}");
        let empty = asked
            .iter()
            .any(|asked| asked.what.ends_with(".log.1_0-0-0"));
        assert!(!empty, "the first log file of a group says nothing");
        whole(&table).await;
        store.asked();
        whole(&table).await;
        assert_eq!(store.asked(), Vec::<String>::new());
        whole(&table.refresh().await.unwrap()).await;
        let asked = store.asked();
        assert!(asked.len() <= 2, "{asked:?}");
    });
}
