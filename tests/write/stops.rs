//! A write that is stopped after any of its requests: what is read then, and what the next write makes of it.

use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use futures::StreamExt;
use futures::stream::BoxStream;
use hudi_wasm::storage::wire::{Carried, Failure};
use hudi_wasm::storage::{Storage, StorageOptions};
use hudi_wasm::table::{OpenOptions, Table, TableSchema, WriteOptions};
use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::{
    CopyOptions, Error, GetOptions, GetResult, ListResult, MultipartUpload, ObjectMeta,
    ObjectStore, PutMultipartOptions, PutOptions, PutPayload, PutResult, Result,
};
use serde_json::{Value, json};

use crate::support::{block_on, get, store_of};
use crate::{batch, create, open, options, paths, read, rows, schema};

/// How the request after the last good one ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stop {
    /// It is not done.
    Refused,
    /// It is done, and nobody hears of it.
    Unheard,
    /// It is done and the answer is lost, and everything goes on.
    Once,
    /// It is not done, and everything goes on.
    NotOnce,
    /// Puts of a completed file get no answer and are not done yet, and everything goes on.
    Late,
    /// Puts of a completed file are refused, and everything goes on.
    Denied,
    /// Another writer's requested file comes before the put of ours, whose answer is lost.
    Met,
    /// The same, and its inflight file comes too.
    Passed,
}

/// How a request may end, each with a number of changes before it.
pub(crate) const STOPS: [Stop; 4] = [Stop::Refused, Stop::Unheard, Stop::Once, Stop::NotOnce];

/// A store whose changes end after so many: nothing is done or answered from then on.
pub(crate) struct Stopping {
    inner: Arc<InMemory>,
    left: AtomicUsize,
    stop: Stop,
    over: AtomicUsize,
    lost: AtomicUsize,
    late: Mutex<Option<(Path, PutPayload)>>,
}

impl Stopping {
    pub(crate) fn new(inner: &Arc<InMemory>, left: usize, stop: Stop) -> Arc<Self> {
        Arc::new(Self {
            inner: Arc::clone(inner),
            left: AtomicUsize::new(left),
            stop,
            over: AtomicUsize::new(0),
            lost: AtomicUsize::new(0),
            late: Mutex::default(),
        })
    }

    pub(crate) fn is_over(&self) -> bool {
        self.over.load(Ordering::SeqCst) > 0
    }

    /// Whether the stop has come, rather than everything been done before it.
    pub(crate) fn has_come(&self) -> bool {
        self.is_over() || self.lost.load(Ordering::SeqCst) > 0
    }

    fn dead() -> Error {
        Error::PermissionDenied {
            path: String::new(),
            source: "stopped".into(),
        }
    }

    /// Whether the next change is done, and whether it is answered.
    fn change(&self) -> (bool, bool) {
        if self.is_over() {
            return (false, false);
        }
        let left = self.left.load(Ordering::SeqCst);
        if left > 0 {
            self.left.store(left - 1, Ordering::SeqCst);
            return (true, true);
        }
        if matches!(self.stop, Stop::Once | Stop::NotOnce) {
            let later = self.lost.fetch_add(1, Ordering::SeqCst) > 0;
            return (later || self.stop == Stop::Once, later);
        }
        self.over.store(1, Ordering::SeqCst);
        (self.stop == Stop::Unheard, false)
    }

    /// What a caller hears of a change that was not answered.
    fn unheard(&self) -> Error {
        match self.stop {
            Stop::Once | Stop::Late | Stop::Met | Stop::Passed => Error::Generic {
                store: "Stopping",
                source: Box::new(Carried::new(Failure::passing(hudi_wasm::Error::network(
                    "the answer was lost",
                )))),
            },
            _ => Self::dead(),
        }
    }

    /// A put that another writer's files may come before.
    async fn meet(&self, at: &Path, body: PutPayload, o: PutOptions) -> Result<PutResult> {
        let path = at.as_ref();
        let claims = path.starts_with(".hoodie/timeline/") && path.ends_with(".commit.requested");
        if !claims || self.lost.fetch_add(1, Ordering::SeqCst) > 0 {
            return self.inner.put_opts(at, body, o).await;
        }
        let inflight = Path::from(path.replace("commit.requested", "inflight"));
        let theirs = [at.clone(), inflight];
        let count = if self.stop == Stop::Passed { 2 } else { 1 };
        for path in &theirs[..count] {
            let put = self
                .inner
                .put_opts(path, body.clone(), PutOptions::default());
            put.await?;
        }
        Err(self.unheard())
    }

    fn answer<T>(&self, answer: Result<T>) -> Result<T> {
        if self.is_over() {
            Err(Self::dead())
        } else {
            answer
        }
    }
}

impl fmt::Debug for Stopping {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Stopping")
    }
}

impl fmt::Display for Stopping {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Stopping")
    }
}

#[async_trait]
impl ObjectStore for Stopping {
    async fn put_opts(&self, at: &Path, body: PutPayload, o: PutOptions) -> Result<PutResult> {
        if matches!(self.stop, Stop::Late | Stop::Denied) {
            if !is_completed(at.as_ref()) {
                return self.inner.put_opts(at, body, o).await;
            }
            *self.late.lock().unwrap() = Some((at.clone(), body));
            return Err(self.unheard());
        }
        if matches!(self.stop, Stop::Met | Stop::Passed) {
            return self.meet(at, body, o).await;
        }
        let (done, answered) = self.change();
        let answer = match done {
            true => self.inner.put_opts(at, body, o).await,
            false => Err(Self::dead()),
        };
        if answered {
            answer
        } else {
            Err(self.unheard())
        }
    }

    async fn put_multipart_opts(
        &self,
        at: &Path,
        o: PutMultipartOptions,
    ) -> Result<Box<dyn MultipartUpload>> {
        self.answer(self.inner.put_multipart_opts(at, o).await)
    }

    async fn get_opts(&self, at: &Path, o: GetOptions) -> Result<GetResult> {
        self.answer(self.inner.get_opts(at, o).await)
    }

    fn delete_stream(
        &self,
        at: BoxStream<'static, Result<Path>>,
    ) -> BoxStream<'static, Result<Path>> {
        match self.change() {
            (true, true) => self.inner.delete_stream(at),
            (true, false) => {
                let (gone, error) = (self.inner.delete_stream(at), self.unheard());
                let error = std::sync::Mutex::new(Some(error));
                gone.map(move |done| error.lock().unwrap().take().map_or(done, Err))
                    .boxed()
            }
            _ => at.map(|_| Err(Self::dead())).boxed(),
        }
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        match self.is_over() {
            true => futures::stream::iter([Err(Self::dead())]).boxed(),
            false => self.inner.list(prefix),
        }
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        self.answer(self.inner.list_with_delimiter(prefix).await)
    }

    async fn copy_opts(&self, from: &Path, to: &Path, o: CopyOptions) -> Result<()> {
        self.answer(self.inner.copy_opts(from, to, o).await)
    }
}

pub(crate) fn copy(store: &Arc<InMemory>) -> Arc<InMemory> {
    let all = paths(store).into_iter();
    store_of(all.map(|path| (path.clone(), get(store, &path))))
}

pub(crate) fn stopping(store: &Arc<Stopping>) -> Storage {
    let mut options = StorageOptions::default();
    options.retry.base_millis = 1;
    Storage::new(Arc::clone(store) as _, options)
}

pub(crate) fn ids(rows: &[(i32, String)]) -> Vec<i32> {
    rows.iter().map(|(id, _)| *id).collect()
}

/// Appends to a table that holds the ids 1 and 2, stopping after every change. Returns how many stops there were.
fn check_append(table: Value, stop: Stop) -> usize {
    block_on(async {
        let start = store_of([]);
        let made = create(&start, table.clone()).await.unwrap();
        let first = rows(vec![batch(&[(1, "rome"), (2, "oslo")])]);
        made.append(first, WriteOptions::default()).await.unwrap();
        for at in 0.. {
            let left = copy(&start);
            let store = Stopping::new(&left, at, stop);
            let handle = Table::open(stopping(&store), OpenOptions::default())
                .await
                .unwrap();
            let second = rows(vec![batch(&[(3, "rome"), (4, "bern")])]);
            let result = handle.append(second, WriteOptions::default()).await;
            if !store.has_come() {
                assert_eq!(ids(&read(&result.unwrap().table).await), [1, 2, 3, 4]);
                return at;
            }
            let name = format!("{table} {stop:?} after {at}");
            // What counts is the completed file.
            let completed = paths(&left)
                .iter()
                .filter(|path| is_completed(path))
                .count();
            let expected: &[i32] = if completed == 2 {
                &[1, 2, 3, 4]
            } else {
                &[1, 2]
            };
            assert_eq!(ids(&read(&open(&left).await).await), expected, "{name}");
            assert!(stop != Stop::Once || result.is_ok(), "{name}: {result:?}");
            match &result {
                Ok(_) => assert_eq!(completed, 2, "{name}"),
                // Whoever is told that a write failed writes again. Here a refusal of the completing put may be a lie.
                Err(error) if completed == 2 && !error.get("path").is_some_and(is_completed) => {
                    assert_eq!(error.kind().code(), "COMMIT_STATE_UNKNOWN", "{name}");
                }
                Err(_) => {}
            }
            let third = rows(vec![batch(&[(5, "rome")])]);
            // Another process, after the time that a heartbeat may be old.
            let late = WriteOptions {
                hudi_options: [(
                    "hoodie.client.heartbeat.interval_in_ms".to_owned(),
                    "0".to_owned(),
                )]
                .into(),
                ..WriteOptions::default()
            };
            let again = open(&left).await.append(third, late).await;
            let again = again.unwrap_or_else(|error| panic!("{name}: {error:?}"));
            let expected = [expected, &[5]].concat();
            assert_eq!(ids(&read(&again.table).await), expected, "{name}");
            assert_no_orphans(&left, &name);
        }
        unreachable!()
    })
}

fn is_completed(path: &str) -> bool {
    let name = path.strip_prefix(".hoodie/timeline/").unwrap_or_default();
    name.contains('_') && name.ends_with("commit")
}

/// Every data file is of a completed instant once the next write is done.
pub(crate) fn assert_no_orphans(store: &Arc<InMemory>, name: &str) {
    let all = paths(store);
    let instants: Vec<_> = all.iter().filter(|path| is_completed(path)).collect();
    for file in all
        .iter()
        .filter(|path| path.ends_with(".parquet") && !path.starts_with(".hoodie"))
    {
        let time = file
            .rsplit('_')
            .next()
            .unwrap()
            .strip_suffix(".parquet")
            .unwrap();
        let known = instants
            .iter()
            .any(|instant| instant.contains(&format!("/{time}_")));
        assert!(known, "{name}: {file}");
    }
}

#[test]
fn an_append_that_is_stopped_anywhere_shows_the_old_rows_or_the_new() {
    let mut stops = 0;
    for stop in STOPS {
        for (kind, version) in [
            ("COPY_ON_WRITE", 9),
            ("MERGE_ON_READ", 9),
            ("COPY_ON_WRITE", 8),
        ] {
            let table = json!({"tableName": "t", "recordKeyFields": ["id"], "partitionFields": ["city"],
                               "tableType": kind, "tableVersion": version});
            stops += check_append(table, stop);
        }
    }
    println!("{stops} stops of an append");
    assert!(stops > 60, "{stops}");
}

#[test]
fn a_create_that_is_stopped_anywhere_leaves_no_table_or_one_without_rows() {
    let mut stops = 0;
    for stop in STOPS {
        let table =
            json!({"tableName": "t", "recordKeyFields": ["id"], "partitionFields": ["city"]});
        for at in 0.. {
            let left = store_of([]);
            let store = Stopping::new(&left, at, stop);
            let columns = TableSchema::Arrow(schema().as_ref().clone());
            let over = block_on(async {
                let made = Table::create(stopping(&store), &columns, options(table.clone())).await;
                if !store.has_come() {
                    made.unwrap();
                    return true;
                }
                let name = format!("{stop:?} after {at}");
                assert!(stop != Stop::Once || made.is_ok(), "{name}: {made:?}");
                let opened = Table::open(crate::storage(&left), OpenOptions::default()).await;
                let table = match opened {
                    Ok(table) => table,
                    Err(error) => {
                        assert_eq!(error.kind().code(), "TABLE_NOT_FOUND", "{name}");
                        create(&left, table.clone()).await.unwrap()
                    }
                };
                assert!(read(&table).await.is_empty(), "{name}");
                let added =
                    table.append(rows(vec![batch(&[(1, "rome")])]), WriteOptions::default());
                let added = added
                    .await
                    .unwrap_or_else(|error| panic!("{name}: {error:?}"));
                assert_eq!(ids(&read(&added.table).await), [1], "{name}");
                false
            });
            if over {
                break;
            }
            stops += 1;
        }
    }
    println!("{stops} stops of a create");
    assert!(stops >= 4, "{stops}");
}

#[test]
fn an_answer_that_is_lost_is_settled_and_the_rows_come_once() {
    let mut lost = 0;
    for kind in ["COPY_ON_WRITE", "MERGE_ON_READ"] {
        let table = json!({"tableName": "t", "recordKeyFields": ["id"], "partitionFields": ["city"],
                           "tableType": kind});
        block_on(async {
            let start = store_of([]);
            create(&start, table.clone()).await.unwrap();
            for at in 0.. {
                let left = copy(&start);
                let store = Stopping::new(&left, at, Stop::Once);
                let handle = Table::open(stopping(&store), OpenOptions::default())
                    .await
                    .unwrap();
                let added = rows(vec![batch(&[(1, "rome"), (2, "bern")])]);
                let added = handle.append(added, WriteOptions::default()).await;
                let added = added.unwrap_or_else(|error| panic!("{kind} {at}: {error:?}"));
                assert_eq!(ids(&read(&added.table).await), [1, 2], "{kind} {at}");
                let completed = paths(&left)
                    .iter()
                    .filter(|path| is_completed(path))
                    .count();
                assert_eq!(completed, 1, "{kind} {at}");
                if !store.has_come() {
                    break;
                }
                lost += 1;
            }
        });
    }
    println!("{lost} answers lost");
    assert!(lost > 20, "{lost}");
}

/// An append to an empty table whose completing put goes by `stop`: its error, what is left, and the put.
async fn check_completing(stop: Stop) -> (hudi_wasm::Error, Arc<InMemory>, Arc<Stopping>) {
    let left = store_of([]);
    let table = json!({"tableName": "t", "recordKeyFields": ["id"], "partitionFields": ["city"]});
    create(&left, table).await.unwrap();
    let store = Stopping::new(&left, usize::MAX, stop);
    let opened = Table::open(stopping(&store), OpenOptions::default()).await;
    let added = rows(vec![batch(&[(1, "rome"), (2, "bern")])]);
    let added = opened.unwrap().append(added, WriteOptions::default()).await;
    (added.unwrap_err(), left, store)
}

fn data_files(store: &Arc<InMemory>) -> usize {
    let all = paths(store).into_iter();
    all.filter(|path| path.ends_with(".parquet") && !path.starts_with(".hoodie"))
        .count()
}

#[test]
fn a_completing_put_without_an_answer_that_lands_late_finds_its_files() {
    block_on(async {
        let (error, left, store) = check_completing(Stop::Late).await;
        assert_eq!(error.kind().code(), "COMMIT_STATE_UNKNOWN", "{error:?}");
        assert_eq!(data_files(&left), 2);
        let instant = error.get("instant").unwrap();
        let table = open(&left).await;
        assert!(read(&table).await.is_empty());
        let before = table.resolve(instant).await.unwrap();
        assert_eq!(before, hudi_wasm::commit::Outcome::NotCommitted);
        let (at, body) = store.late.lock().unwrap().take().unwrap();
        left.put_opts(&at, body, PutOptions::default())
            .await
            .unwrap();
        let after = table.resolve(instant).await.unwrap();
        assert_eq!(after, hudi_wasm::commit::Outcome::Committed);
        assert_eq!(ids(&read(&open(&left).await).await), [1, 2]);
    });
}

#[test]
fn a_completing_put_without_an_answer_that_never_lands_is_taken_back_by_the_next_write() {
    block_on(async {
        let (error, left, _) = check_completing(Stop::Late).await;
        assert_eq!(error.kind().code(), "COMMIT_STATE_UNKNOWN", "{error:?}");
        let third = rows(vec![batch(&[(3, "rome")])]);
        // Another process, after the time that a heartbeat may be old.
        let key = "hoodie.client.heartbeat.interval_in_ms".to_owned();
        let late = WriteOptions {
            hudi_options: [(key, "0".to_owned())].into(),
            ..WriteOptions::default()
        };
        let table = open(&left).await;
        let third = table.append(third, late).await;
        assert_eq!(ids(&read(&third.unwrap().table).await), [3]);
        assert_eq!(data_files(&left), 1);
    });
}

#[test]
fn a_completing_put_that_is_refused_is_a_plain_failure_and_taken_back_at_once() {
    block_on(async {
        let (error, left, _) = check_completing(Stop::Denied).await;
        assert_eq!(error.kind().code(), "UNAUTHORIZED", "{error:?}");
        assert_eq!(data_files(&left), 0);
        assert!(read(&open(&left).await).await.is_empty());
    });
}

#[test]
fn w7_of_two_writers_at_one_time_the_one_that_is_heard_at_the_inflight_file_has_the_instant() {
    block_on(async {
        let left = store_of([]);
        let table =
            json!({"tableName": "t", "recordKeyFields": ["id"], "partitionFields": ["city"]});
        create(&left, table).await.unwrap();
        let store = Stopping::new(&left, usize::MAX, Stop::Met);
        let table = Table::open(stopping(&store), OpenOptions::default());
        let table = table.await.unwrap();
        let added = rows(vec![batch(&[(1, "rome")])]);
        let added = table.append(added, WriteOptions::default()).await;
        assert_eq!(ids(&read(&added.unwrap().table).await), [1]);
        let all = paths(&left);
        let requested = all.iter().filter(|path| {
            path.starts_with(".hoodie/timeline/") && path.ends_with(".commit.requested")
        });
        assert_eq!(requested.count(), 1);
    });
}

#[test]
fn w7_an_instant_that_another_writer_has_begun_is_left_to_it() {
    block_on(async {
        let left = store_of([]);
        let table =
            json!({"tableName": "t", "recordKeyFields": ["id"], "partitionFields": ["city"]});
        create(&left, table).await.unwrap();
        let store = Stopping::new(&left, usize::MAX, Stop::Passed);
        let table = Table::open(stopping(&store), OpenOptions::default());
        let table = table.await.unwrap();
        let before = paths(&left).len();
        // The second time their instant is young: this process must not take it for a failed write of its own.
        for _ in 0..2 {
            let added = rows(vec![batch(&[(1, "rome")])]);
            let added = table.append(added, WriteOptions::default()).await;
            assert_eq!(added.unwrap_err().kind().code(), "WRITE_CONFLICT");
            assert_eq!(paths(&left).len(), before + 2);
        }
    });
}
