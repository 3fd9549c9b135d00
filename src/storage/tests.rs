use std::collections::VecDeque;
use std::fmt;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use futures::stream::BoxStream;
use futures::{FutureExt, StreamExt};
use object_store::client::{HttpError, HttpErrorKind};
use object_store::path::Path;
use object_store::{
    Attributes, CopyOptions, Error as StoreError, GetOptions, GetRange, GetResult,
    GetResultPayload, ListResult, MultipartUpload, ObjectStore, PutMultipartOptions, PutOptions,
    PutPayload, PutResult, Result as StoreResult,
};

use super::wire::{Answer, Carried, Failure, KnownSize};
use super::*;
use crate::error::{Error, ErrorKind};

/// What the fake does with its next call.
enum Act {
    Fail(Failure),
    /// Another ETag from now on.
    Tag(Option<&'static str>),
    /// The body without its last byte.
    Short,
    /// The whole object under a range request, as the connector hands it up.
    Whole,
    /// The object is this much longer from now on.
    Grow(usize),
}

/// A store with one object, whose bytes are their own offsets, that follows a script and counts.
struct Fake {
    script: Mutex<VecDeque<Act>>,
    size: AtomicUsize,
    etag: Mutex<Option<&'static str>>,
    calls: Mutex<Vec<Option<Range<u64>>>>,
    known: Mutex<Vec<Option<u64>>>,
    flying: AtomicUsize,
    most: AtomicUsize,
}

fn body(range: Range<u64>) -> Bytes {
    range.map(|offset| offset as u8).collect::<Vec<u8>>().into()
}

impl Fake {
    fn new(size: usize, script: Vec<Act>) -> Arc<Self> {
        Arc::new(Self {
            script: Mutex::new(script.into()),
            size: AtomicUsize::new(size),
            etag: Mutex::new(Some("\"one\"")),
            calls: Mutex::default(),
            known: Mutex::default(),
            flying: AtomicUsize::new(0),
            most: AtomicUsize::new(0),
        })
    }

    fn calls(&self) -> Vec<Option<Range<u64>>> {
        std::mem::take(&mut self.calls.lock().unwrap())
    }

    fn answer(&self, location: &Path, options: &GetOptions) -> StoreResult<GetResult> {
        let range = match &options.range {
            Some(GetRange::Bounded(range)) => Some(range.clone()),
            Some(other) => panic!("not an absolute range: {other}"),
            None => None,
        };
        assert!(!options.head, "HEAD");
        self.calls.lock().unwrap().push(range.clone());
        let known = options.extensions.get::<KnownSize>().map(|known| known.0);
        self.known.lock().unwrap().push(known);
        let (mut short, mut whole) = (false, false);
        match self.script.lock().unwrap().pop_front() {
            None => {}
            Some(Act::Fail(failure)) => {
                let source = HttpError::new(HttpErrorKind::Interrupted, Carried::new(failure));
                return Err(StoreError::Generic {
                    store: "fake",
                    source: Box::new(source),
                });
            }
            Some(Act::Tag(tag)) => *self.etag.lock().unwrap() = tag,
            Some(Act::Short) => short = true,
            Some(Act::Whole) => whole = true,
            Some(Act::Grow(more)) => {
                self.size.fetch_add(more, Ordering::SeqCst);
            }
        }
        let size = self.size.load(Ordering::SeqCst) as u64;
        let range = range.map_or(0..size, |r| r.start..r.end.min(size));
        let mut bytes = body(range.clone());
        if short {
            bytes.truncate(bytes.len() - 1);
        }
        let mut extensions = object_store::Extensions::new();
        if whole {
            extensions.insert(Answer {
                status: 200,
                bytes: size,
                whole: Some(body(0..size)),
                decoded: false,
            });
        }
        Ok(GetResult {
            payload: GetResultPayload::Stream(futures::stream::iter([Ok(bytes)]).boxed()),
            meta: object_store::ObjectMeta {
                location: location.clone(),
                last_modified: Default::default(),
                size,
                e_tag: self.etag.lock().unwrap().map(str::to_owned),
                version: None,
            },
            range,
            attributes: Attributes::default(),
            extensions,
        })
    }
}

impl fmt::Debug for Fake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Fake")
    }
}

impl fmt::Display for Fake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Fake")
    }
}

#[async_trait::async_trait]
impl ObjectStore for Fake {
    async fn get_opts(&self, location: &Path, options: GetOptions) -> StoreResult<GetResult> {
        let now = self.flying.fetch_add(1, Ordering::SeqCst) + 1;
        self.most.fetch_max(now, Ordering::SeqCst);
        for _ in 0..3 {
            tokio::task::yield_now().await;
        }
        self.flying.fetch_sub(1, Ordering::SeqCst);
        self.answer(location, &options)
    }
    async fn put_opts(&self, _: &Path, _: PutPayload, _: PutOptions) -> StoreResult<PutResult> {
        unimplemented!()
    }
    async fn put_multipart_opts(
        &self,
        _: &Path,
        _: PutMultipartOptions,
    ) -> StoreResult<Box<dyn MultipartUpload>> {
        unimplemented!()
    }
    fn delete_stream(
        &self,
        _: BoxStream<'static, StoreResult<Path>>,
    ) -> BoxStream<'static, StoreResult<Path>> {
        unimplemented!()
    }
    fn list(&self, _: Option<&Path>) -> BoxStream<'static, StoreResult<object_store::ObjectMeta>> {
        unimplemented!()
    }
    async fn list_with_delimiter(&self, _: Option<&Path>) -> StoreResult<ListResult> {
        unimplemented!()
    }
    async fn copy_opts(&self, _: &Path, _: &Path, _: CopyOptions) -> StoreResult<()> {
        unimplemented!()
    }
}

#[derive(Default)]
struct Ear(Mutex<Vec<RequestEvent>>);

impl Observer for Ear {
    fn request(&self, event: &RequestEvent) {
        self.0.lock().unwrap().push(event.clone());
    }
    fn bytes(&self, _: u64) {}
    fn files(&self, _: usize, _: usize) {}
    fn warning(&self, _: &str, _: Option<&str>) {}
}

fn storage(fake: &Arc<Fake>) -> (Storage, Arc<Ear>, Arc<Metrics>) {
    let options = StorageOptions {
        retry: RetryPolicy {
            attempts: 3,
            base_millis: 1,
            max_wait_millis: 2,
            total_millis: 5_000,
        },
        coalesce_gap: 10,
        max_request: 100,
        concurrency: 2,
        ..StorageOptions::default()
    };
    let (ear, metrics) = (Arc::new(Ear::default()), Arc::new(Metrics::default()));
    let scope = CallScope {
        observer: Some(ear.clone()),
        metrics: Arc::clone(&metrics),
    };
    (
        Storage::new(fake.clone(), options).for_call(scope),
        ear,
        metrics,
    )
}

fn throttled(after: Option<u64>) -> Act {
    let mut failure = Failure::passing(Error::throttled("slow down").context("status", 429));
    failure.retry_after = after;
    Act::Fail(failure)
}

#[tokio::test]
async fn near_ranges_cost_one_request_and_the_second_read_none() {
    let fake = Fake::new(250, vec![]);
    let (storage, ear, metrics) = storage(&fake);
    let wanted = [5..10, 12..20, 100..230, 240..240];
    let expected: Vec<Bytes> = wanted.iter().cloned().map(body).collect();
    let got = storage
        .get_ranges("d/f", 250, &wanted, Cause::Data)
        .await
        .unwrap();
    assert_eq!(got, expected);
    assert_eq!(fake.calls(), [Some(5..20), Some(100..165), Some(165..230)]);
    assert_eq!(metrics.counters().requests, 3);
    assert_eq!(metrics.counters().bytes, 145);

    let again = storage
        .get_ranges("d/f", 250, &wanted, Cause::Data)
        .await
        .unwrap();
    assert_eq!(again, expected);
    assert_eq!(fake.calls(), []);
    assert_eq!(metrics.counters().requests, 3);
    assert_eq!(metrics.counters().cache_hits, 3);
    let last = ear.0.lock().unwrap().last().cloned().unwrap();
    assert_eq!(
        (last.source, last.attempt, last.start),
        (Source::Memory, 0, Some(100))
    );
}

#[tokio::test]
async fn requests_in_flight_stay_within_the_bound() {
    let fake = Fake::new(10_000, vec![]);
    let (storage, ..) = storage(&fake);
    let wanted: Vec<Range<u64>> = (0..20).map(|i| i * 200..i * 200 + 5).collect();
    storage
        .get_ranges("f", 10_000, &wanted, Cause::Data)
        .await
        .unwrap();
    assert_eq!(fake.calls().len(), 20);
    assert_eq!(fake.most.load(Ordering::SeqCst), 2);
}

#[tokio::test]
#[allow(clippy::disallowed_methods, reason = "the waiting itself is measured")]
async fn throttling_is_waited_out_as_the_server_asks() {
    let fake = Fake::new(10, vec![throttled(Some(120)), throttled(None)]);
    let (storage, ear, _) = storage(&fake);
    let began = std::time::Instant::now();
    let got = storage
        .get_ranges("f", 10, &[0..4], Cause::Footer)
        .await
        .unwrap();
    assert_eq!(got, [body(0..4)]);
    assert!(began.elapsed().as_millis() >= 120);
    let events = ear.0.lock().unwrap();
    let told: Vec<_> = events
        .iter()
        .map(|e| (e.attempt, e.status, e.bytes))
        .collect();
    assert_eq!(told, [(1, 429, 0), (2, 429, 0), (3, 206, 4)]);
    assert!(
        events
            .iter()
            .all(|e| e.cause == Cause::Footer && e.path == "f")
    );
}

#[tokio::test]
async fn throttling_that_does_not_end_is_the_error() {
    let fake = Fake::new(10, (0..3).map(|_| throttled(None)).collect());
    let (storage, ..) = storage(&fake);
    let error = storage.get("f", Cause::Timeline).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Throttled);
    assert_eq!(error.get("status"), Some("429"));
    assert_eq!(error.get("attempts"), Some("3"));
    assert_eq!(fake.calls().len(), 3);
}

#[tokio::test]
async fn a_retry_after_longer_than_the_call_may_take_ends_it_at_once() {
    let fake = Fake::new(10, vec![throttled(Some(3_600_000))]);
    let (storage, ..) = storage(&fake);
    let error = storage.get("f", Cause::Timeline).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Throttled);
    assert_eq!(fake.calls().len(), 1);
}

#[tokio::test]
async fn a_body_that_ends_early_is_asked_for_again() {
    let fake = Fake::new(10, vec![Act::Short]);
    let (storage, ..) = storage(&fake);
    let got = storage
        .get_ranges("f", 10, &[2..8], Cause::Data)
        .await
        .unwrap();
    assert_eq!(got, [body(2..8)]);
    assert_eq!(fake.calls().len(), 2);

    let fake = Fake::new(10, vec![Act::Short, Act::Short, Act::Short]);
    let (storage, ..) = self::storage(&fake);
    let error = storage
        .get_ranges("f", 10, &[2..8], Cause::Data)
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Network);
    assert_eq!(error.get("path"), Some("f"));
}

#[tokio::test]
async fn another_etag_is_a_change_and_the_read_after_it_starts_anew() {
    let fake = Fake::new(300, vec![]);
    let (storage, _, metrics) = storage(&fake);
    storage
        .get_ranges("f", 300, &[0..10], Cause::Footer)
        .await
        .unwrap();
    fake.script
        .lock()
        .unwrap()
        .push_back(Act::Tag(Some("\"two\"")));
    let error = storage
        .get_ranges("f", 300, &[200..210], Cause::Data)
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::PreconditionFailed);
    assert_eq!(error.get("path"), Some("f"));
    assert!(metrics.counters().pinned);
    fake.calls();
    storage
        .get_ranges("f", 300, &[0..10], Cause::Footer)
        .await
        .unwrap();
    assert_eq!(
        fake.calls(),
        [Some(0..10)],
        "what was cached of the old object is gone"
    );
}

#[tokio::test]
async fn bytes_that_turn_out_corrupt_are_asked_for_again() {
    let fake = Fake::new(20, vec![]);
    let (storage, ..) = storage(&fake);
    for (made, asked) in [
        (Ok(1), 1),
        (Err(Error::schema("no such column")), 0),
        (Err(Error::corrupt("not a footer")), 0),
        (Ok(2), 1),
    ] {
        let read = storage.get_ranges("f", 20, &[0..10], Cause::Footer).await;
        read.unwrap();
        assert_eq!(fake.calls().len(), asked, "{made:?}");
        let _ = storage.checked("f", made);
    }
}

#[tokio::test]
async fn another_size_than_the_listing_said_is_a_change() {
    let fake = Fake::new(300, vec![]);
    let (storage, ..) = storage(&fake);
    for size in [200, 400] {
        let error = storage
            .get_ranges("f", size, &[0..10], Cause::Data)
            .await
            .unwrap_err();
        assert_eq!(error.kind(), ErrorKind::PreconditionFailed, "{size}");
        let error = storage
            .get_immutable("f", Some(size), Cause::Timeline)
            .await
            .unwrap_err();
        assert_eq!(error.kind(), ErrorKind::PreconditionFailed, "{size}");
    }
    let got = storage
        .get_ranges("f", 200, &[0..10], Cause::Log)
        .await
        .unwrap();
    assert_eq!(got, [body(0..10)], "a log file may have grown");
}

#[tokio::test]
async fn a_host_that_hides_etags_is_read_and_said_to_be_unpinned() {
    let fake = Fake::new(20, vec![Act::Tag(None)]);
    let (storage, _, metrics) = storage(&fake);
    storage
        .get_ranges("f", 20, &[0..10], Cause::Data)
        .await
        .unwrap();
    assert!(!metrics.counters().pinned);
}

#[tokio::test]
async fn a_first_range_tells_the_size_and_is_cached_under_it() {
    let fake = Fake::new(50, vec![]);
    let (storage, ..) = storage(&fake);
    let (size, bytes) = storage.get_first("f", 0..80, Cause::Footer).await.unwrap();
    assert_eq!((size, bytes), (50, body(0..50)));
    storage.get_first("f", 0..80, Cause::Footer).await.unwrap();
    storage
        .get_ranges("f", 50, &[3..9], Cause::Data)
        .await
        .unwrap();
    assert_eq!(fake.calls(), [Some(0..80)]);
}

#[tokio::test]
async fn a_whole_object_given_for_a_range_answers_the_ranges_after_it() {
    let fake = Fake::new(300, vec![Act::Whole]);
    let (storage, _, metrics) = storage(&fake);
    let got = storage
        .get_ranges("f", 300, &[0..10], Cause::Data)
        .await
        .unwrap();
    assert_eq!(got, [body(0..10)]);
    assert_eq!(metrics.counters().bytes, 300);
    storage
        .get_ranges("f", 300, &[250..300], Cause::Data)
        .await
        .unwrap();
    assert_eq!(fake.calls().len(), 1);
}

#[tokio::test]
async fn immutable_files_are_asked_for_once_and_others_each_time() {
    let fake = Fake::new(30, vec![]);
    let (storage, ..) = storage(&fake);
    for size in [Some(30), None, Some(30)] {
        assert_eq!(
            storage
                .get_immutable("i", size, Cause::Timeline)
                .await
                .unwrap(),
            body(0..30)
        );
    }
    assert_eq!(fake.calls(), [None]);
    assert!(
        storage
            .get_immutable("empty", Some(0), Cause::Timeline)
            .await
            .unwrap()
            .is_empty()
    );
    assert_eq!(fake.calls(), []);
    fake.script.lock().unwrap().push_back(Act::Grow(3));
    for size in [33, 33] {
        assert_eq!(
            storage.get("p", Cause::Properties).await.unwrap(),
            body(0..size)
        );
    }
    assert_eq!(fake.calls().len(), 2);
}

#[tokio::test]
async fn a_range_outside_of_the_file_costs_no_request() {
    let fake = Fake::new(30, vec![]);
    let (storage, ..) = storage(&fake);
    #[allow(clippy::reversed_empty_ranges)]
    for range in [0..31, 31..31, 9..8] {
        let error = storage
            .get_ranges("f", 30, &[range], Cause::Data)
            .await
            .unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt);
    }
    assert_eq!(fake.calls(), []);
}

#[tokio::test]
async fn a_dropped_read_gives_its_place_in_the_queue_back() {
    let fake = Fake::new(1000, vec![]);
    let (storage, ..) = storage(&fake);
    let many: Vec<Range<u64>> = (0..5).map(|i| i * 150..i * 150 + 1).collect();
    for _ in 0..3 {
        let read = storage.get_ranges("f", 1000, &many, Cause::Data);
        assert!(read.now_or_never().is_none());
    }
    storage
        .get_ranges("f", 1000, &many, Cause::Data)
        .await
        .unwrap();
}

#[tokio::test]
async fn the_known_size_goes_down_to_the_connection() {
    let fake = Fake::new(30, vec![]);
    let (storage, ..) = storage(&fake);
    storage
        .get_ranges("f", 30, &[0..3], Cause::Data)
        .await
        .unwrap();
    storage.get("f", Cause::Properties).await.unwrap();
    assert_eq!(*fake.known.lock().unwrap(), [Some(30), None]);
}

mod over_memory {
    use super::*;
    use object_store::ObjectStoreExt;
    use object_store::memory::InMemory;
    use object_store::prefix::PrefixStore;

    async fn filled(base: &str, paths: &[&str]) -> Storage {
        let store = Arc::new(InMemory::new());
        for path in paths {
            let location = Path::parse(path).unwrap();
            store.put(&location, "x".into()).await.unwrap();
        }
        let options = StorageOptions {
            base: base.to_owned(),
            ..StorageOptions::default()
        };
        Storage::new(store, options)
    }

    #[tokio::test]
    async fn a_folder_gives_its_files_and_folders_relative_to_the_table() {
        let paths = [
            "w/t/a",
            "w/t/k=1/b",
            "w/t/k=1/c%2Fd/e",
            "w/t/z",
            "w/tt/x",
            "w/y",
        ];
        let storage = filled("w/t", &paths).await;
        let names = |folder: &Folder| {
            let files: Vec<_> = folder.files.iter().map(|f| f.path.clone()).collect();
            (files, folder.folders.clone())
        };
        let top = storage.list_folder("", Cause::Listing).await.unwrap();
        assert_eq!(
            names(&top),
            (vec!["a".into(), "z".into()], vec!["k=1".into()])
        );
        let below = storage.list_folder("k=1", Cause::Listing).await.unwrap();
        assert_eq!(
            names(&below),
            (vec!["k=1/b".into()], vec!["k=1/c%2Fd".into()])
        );
        let none = storage.list_folder("absent", Cause::Listing).await.unwrap();
        assert_eq!(none, Folder::default());
        let all = storage
            .list_all("", Some("k=1/b"), Cause::Listing)
            .await
            .unwrap();
        let all: Vec<_> = all.into_iter().map(|m| m.path).collect();
        assert_eq!(all, ["k=1/c%2Fd/e", "z"]);
    }

    #[tokio::test]
    async fn what_is_not_there_is_not_found_with_its_path() {
        let storage = filled("", &["a"]).await;
        let error = storage.get("b", Cause::Properties).await.unwrap_err();
        assert_eq!(
            (error.kind(), error.get("path")),
            (ErrorKind::NotFound, Some("b"))
        );
        assert_eq!(
            storage
                .get_if_present("b", Cause::Properties)
                .await
                .unwrap(),
            None
        );
        let error = storage.get("../a", Cause::Properties).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidArgument);
    }

    #[tokio::test]
    async fn an_empty_object_has_an_empty_first_range() {
        let store = Arc::new(InMemory::new());
        store.put(&Path::from("e"), "".into()).await.unwrap();
        let inner = PrefixStore::new(store, "");
        let storage = Storage::new(Arc::new(inner), StorageOptions::default());
        let first = storage.get_first("e", 0..10, Cause::Footer).await.unwrap();
        assert_eq!(first, (0, Bytes::new()));
    }
}

#[cfg(not(target_arch = "wasm32"))]
#[tokio::test]
async fn a_local_folder_keeps_percent_signs_in_names() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(folder.path().join("a%2Fb/k=v w")).unwrap();
    std::fs::write(folder.path().join("a%2Fb/k=v w/f+g"), "hello").unwrap();
    std::fs::write(folder.path().join("empty"), "").unwrap();
    let storage = crate::http_store::open_folder(folder.path()).unwrap();
    let all = storage.list_all("", None, Cause::Listing).await.unwrap();
    let all: Vec<_> = all.into_iter().map(|m| (m.path, m.size)).collect();
    assert_eq!(
        all,
        [("a%2Fb/k=v w/f+g".to_owned(), 5), ("empty".to_owned(), 0)]
    );
    let got = storage
        .get_ranges("a%2Fb/k=v w/f+g", 5, &[1..3], Cause::Data)
        .await
        .unwrap();
    assert_eq!(got, ["el"]);
    assert_eq!(storage.get("empty", Cause::Timeline).await.unwrap(), "");
    let first = storage
        .get_first("empty", 0..10, Cause::Footer)
        .await
        .unwrap();
    assert_eq!(first.0, 0);
    let error = storage.get("a%2Fb", Cause::Timeline).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound);
}

/// A persistent cache of one piece, which keeps what it is told.
#[derive(Default)]
struct Disk {
    piece: Mutex<Option<(String, u64, u64, KeptBytes)>>,
    warning: Mutex<Option<String>>,
    forgotten: Mutex<Vec<(String, u64)>>,
}

#[async_trait::async_trait]
impl PersistentCache for Disk {
    async fn get(&self, path: &str, size: u64, range: Range<u64>) -> KeptAnswer {
        let piece = self.piece.lock().unwrap();
        let found = piece.as_ref().and_then(|(name, of, start, kept)| {
            let from = usize::try_from(range.start.checked_sub(*start)?).ok()?;
            let to = usize::try_from(range.end.checked_sub(*start)?).ok()?;
            let here = name == path && *of == size && to <= kept.bytes.len();
            here.then(|| KeptBytes {
                bytes: kept.bytes.slice(from..to),
                etag: kept.etag.clone(),
            })
        });
        KeptAnswer {
            found,
            warning: self.warning.lock().unwrap().take(),
        }
    }

    fn put(&self, path: &str, size: u64, start: u64, bytes: &Bytes, etag: Option<&str>) {
        let kept = KeptBytes {
            bytes: bytes.clone(),
            etag: etag.map(str::to_owned),
        };
        *self.piece.lock().unwrap() = Some((path.to_owned(), size, start, kept));
    }

    fn forget(&self, path: &str, size: u64) {
        self.forgotten.lock().unwrap().push((path.to_owned(), size));
        *self.piece.lock().unwrap() = None;
    }
}

/// A visit of its own: nothing in memory, the same disk.
fn visit(fake: &Arc<Fake>, disk: &Arc<Disk>) -> Storage {
    let options = StorageOptions {
        persistent: Some(Arc::clone(disk) as _),
        ..StorageOptions::default()
    };
    Storage::new(Arc::clone(fake) as _, options)
}

#[tokio::test]
async fn a_second_visit_reads_what_the_first_one_kept() {
    let (fake, disk) = (Fake::new(100, vec![]), Arc::new(Disk::default()));
    let first = visit(&fake, &disk);
    first
        .get_ranges("f", 100, &[10..40], Cause::Data)
        .await
        .unwrap();
    assert_eq!(fake.calls().len(), 1);
    let second = visit(&fake, &disk);
    let got = second.get_ranges("f", 100, &[20..30], Cause::Data).await;
    assert_eq!(got.unwrap(), [body(20..30)]);
    // From memory now.
    second
        .get_ranges("f", 100, &[25..30], Cause::Data)
        .await
        .unwrap();
    assert!(fake.calls().is_empty());
    let counters = second.metrics().counters();
    assert_eq!((counters.requests, counters.cache_hits), (0, 2));
    assert!(counters.pinned);
    // Another size is another file.
    assert!(
        second
            .get_ranges("f", 99, &[20..30], Cause::Data)
            .await
            .is_err()
    );
}

#[tokio::test]
async fn kept_bytes_of_one_version_and_an_answer_of_another_do_not_mix() {
    let fake = Fake::new(100, vec![]);
    let disk = Arc::new(Disk::default());
    visit(&fake, &disk)
        .get_ranges("f", 100, &[0..10], Cause::Data)
        .await
        .unwrap();
    *fake.etag.lock().unwrap() = Some("\"two\"");
    let second = visit(&fake, &disk);
    second
        .get_ranges("f", 100, &[0..10], Cause::Data)
        .await
        .unwrap();
    let error = second
        .get_ranges("f", 100, &[50..60], Cause::Data)
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::PreconditionFailed);
    assert_eq!(*disk.forgotten.lock().unwrap(), [("f".to_owned(), 100)]);
    let third = visit(&fake, &disk);
    third
        .get_ranges("f", 100, &[0..10, 50..60], Cause::Data)
        .await
        .unwrap();
}

#[tokio::test]
async fn broken_bytes_and_a_wrong_length_are_dropped_and_asked_for_anew() {
    let (fake, disk) = (Fake::new(100, vec![]), Arc::new(Disk::default()));
    let storage = visit(&fake, &disk);
    storage
        .get_ranges("f", 100, &[0..10], Cause::Data)
        .await
        .unwrap();
    let parsed: crate::error::Result<()> = Err(Error::corrupt("no such thing"));
    assert!(storage.checked("f", parsed).is_err());
    assert!(disk.piece.lock().unwrap().is_none());
    fake.calls();
    storage
        .get_ranges("f", 100, &[0..10], Cause::Data)
        .await
        .unwrap();
    assert_eq!(fake.calls().len(), 1);
}

#[tokio::test]
async fn a_cache_that_fails_says_so_in_the_warnings() {
    let (fake, disk) = (Fake::new(100, vec![]), Arc::new(Disk::default()));
    *disk.warning.lock().unwrap() = Some("the disk is full".to_owned());
    let storage = visit(&fake, &disk);
    storage
        .get_ranges("f", 100, &[0..10], Cause::Data)
        .await
        .unwrap();
    assert_eq!(storage.metrics().counters().warnings, ["the disk is full"]);
}
