//! A store that counts what it is asked, shows some files empty at first, and fails the test on any write.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use futures::stream::BoxStream;
use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::{
    CopyOptions, GetOptions, GetResult, ListResult, MultipartUpload, ObjectMeta, ObjectStore,
    ObjectStoreExt, PutMultipartOptions, PutOptions, PutPayload, PutResult, Result,
};

/// Every request in order, as `GET path` and `LIST path`.
#[derive(Debug)]
pub struct Watched {
    inner: Arc<InMemory>,
    asked: Mutex<Vec<String>>,
    empty_answers: Mutex<BTreeMap<String, usize>>,
    empty: Arc<InMemory>,
}

impl Watched {
    pub fn new(inner: Arc<InMemory>) -> Arc<Self> {
        let (asked, empty_answers) = (Mutex::default(), Mutex::default());
        Arc::new(Self {
            inner,
            asked,
            empty_answers,
            empty: Arc::default(),
        })
    }

    /// The next answers for this path have no bytes.
    pub fn empty_at_first(&self, path: &str, times: usize) {
        self.empty_answers
            .lock()
            .unwrap()
            .insert(path.to_owned(), times);
    }

    /// What was asked since the last call.
    pub fn asked(&self) -> Vec<String> {
        std::mem::take(&mut self.asked.lock().unwrap())
    }

    fn note(&self, method: &str, path: &str) {
        self.asked.lock().unwrap().push(format!("{method} {path}"));
    }

    fn is_empty_now(&self, path: &str) -> bool {
        let mut left = self.empty_answers.lock().unwrap();
        left.get_mut(path).is_some_and(|left| {
            let now = *left > 0;
            *left = left.saturating_sub(1);
            now
        })
    }
}

impl fmt::Display for Watched {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("watched")
    }
}

#[async_trait]
impl ObjectStore for Watched {
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
        self.note("GET", location.as_ref());
        if self.is_empty_now(location.as_ref()) {
            self.empty.put(location, PutPayload::default()).await?;
            return self.empty.get(location).await;
        }
        self.inner.get_opts(location, options).await
    }

    async fn get_ranges(&self, _: &Path, _: &[Range<u64>]) -> Result<Vec<bytes::Bytes>> {
        panic!("the engine plans its own ranges");
    }

    fn delete_stream(
        &self,
        _: BoxStream<'static, Result<Path>>,
    ) -> BoxStream<'static, Result<Path>> {
        panic!("a read deletes");
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        self.note("LIST", prefix.map_or("", Path::as_ref));
        self.inner.list(prefix)
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        self.note("LIST", prefix.map_or("", Path::as_ref));
        self.inner.list_with_delimiter(prefix).await
    }

    async fn copy_opts(&self, from: &Path, _: &Path, _: CopyOptions) -> Result<()> {
        panic!("a read copies {from}");
    }
}
