//! Which requests wait for which: what a read over a slow network is made of.

use std::fmt;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use futures::TryStreamExt;
use futures::stream::BoxStream;
use hudi_wasm::config::ReadOptions;
use hudi_wasm::storage::{Storage, StorageOptions};
use hudi_wasm::table::{OpenOptions, Table};
use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::{
    CopyOptions, GetOptions, GetResult, ListResult, MultipartUpload, ObjectMeta, ObjectStore,
    PutMultipartOptions, PutOptions, PutPayload, PutResult, Result,
};

use crate::support::{self, block_on};

/// A table of one base file, copy on write.
const TABLE: &str = "v9_cow_simple";

/// A store that notes when a request begins and when it ends; commits take much longer than anything else.
#[derive(Debug)]
struct Slow {
    inner: Arc<InMemory>,
    heard: Mutex<Vec<(char, String)>>,
}

impl Slow {
    async fn pass(&self, path: &str) {
        self.note('>', path);
        let turns = if path.ends_with("commit") { 400 } else { 5 };
        for _ in 0..turns {
            tokio::task::yield_now().await;
        }
        self.note('<', path);
    }

    fn note(&self, what: char, path: &str) {
        self.heard.lock().unwrap().push((what, path.to_owned()));
    }

    /// When the first request of a kind began (`>`) or ended (`<`).
    fn place(&self, what: char, end: &str) -> Option<usize> {
        let heard = self.heard.lock().unwrap();
        let mut heard = heard.iter();
        heard.position(|(noted, path)| *noted == what && path.ends_with(end))
    }
}

impl fmt::Display for Slow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("slow")
    }
}

#[async_trait]
impl ObjectStore for Slow {
    async fn put_opts(&self, location: &Path, _: PutPayload, _: PutOptions) -> Result<PutResult> {
        panic!("a read puts {location}");
    }

    async fn put_multipart_opts(
        &self,
        location: &Path,
        _: PutMultipartOptions,
    ) -> Result<Box<dyn MultipartUpload>> {
        panic!("a read puts {location}");
    }

    async fn get_opts(&self, location: &Path, options: GetOptions) -> Result<GetResult> {
        self.pass(location.as_ref()).await;
        self.inner.get_opts(location, options).await
    }

    fn delete_stream(
        &self,
        _: BoxStream<'static, Result<Path>>,
    ) -> BoxStream<'static, Result<Path>> {
        panic!("a read deletes");
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        self.inner.list(prefix)
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        self.pass(prefix.map_or("", Path::as_ref)).await;
        self.inner.list_with_delimiter(prefix).await
    }

    async fn copy_opts(&self, from: &Path, _: &Path, _: CopyOptions) -> Result<()> {
        panic!("a read copies {from}");
    }
}

/// Reads with the metadata table aside; the rows, and what the store heard after the table was open.
async fn read(mut options: ReadOptions) -> (usize, Arc<Slow>) {
    let store = Arc::new(Slow {
        inner: support::store(TABLE),
        heard: Mutex::default(),
    });
    let storage = Storage::new(Arc::clone(&store) as _, StorageOptions::default());
    let table = Table::open(storage, OpenOptions::default()).await.unwrap();
    store.heard.lock().unwrap().clear();
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
            store.heard
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
