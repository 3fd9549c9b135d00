//! A store that notes what it is asked, when, and what waits for what; it shows some files empty at first, and fails the test on
//! any write.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use futures::StreamExt;
use futures::stream::{self, BoxStream};
use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::{
    CopyOptions, GetOptions, GetRange, GetResult, ListResult, MultipartUpload, ObjectMeta,
    ObjectStore, ObjectStoreExt, PutMultipartOptions, PutOptions, PutPayload, PutResult, Result,
};

/// Turns of the executor that a request takes: requests that begin together end together.
const TURNS: usize = 60;

/// One request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// `GET path` or `LIST path`.
    pub what: String,
    /// 1 for what waits for nothing, one more than the request before where an answer was needed first.
    pub round: usize,
    /// Bytes of the answer's body; 0 for listings.
    pub bytes: u64,
}

/// Every request in order.
#[derive(Debug)]
pub struct Watched {
    inner: Arc<InMemory>,
    state: Arc<Mutex<State>>,
    empty: Arc<InMemory>,
}

#[derive(Debug, Default)]
struct State {
    asked: Vec<Request>,
    /// When requests began (`>`) and ended (`<`).
    heard: Vec<(char, String)>,
    /// The greatest round of a request that has ended.
    ended: usize,
    empty_answers: BTreeMap<String, usize>,
    slow: Option<(String, usize)>,
}

impl Watched {
    pub fn new(inner: Arc<InMemory>) -> Arc<Self> {
        Arc::new(Self {
            inner,
            state: Arc::default(),
            empty: Arc::default(),
        })
    }

    /// The next answers for this path have no bytes.
    pub fn empty_at_first(&self, path: &str, times: usize) {
        let mut state = self.state.lock().unwrap();
        state.empty_answers.insert(path.to_owned(), times);
    }

    /// Paths that end so take so many turns more than others.
    pub fn slow(&self, end: &str, turns: usize) {
        self.state.lock().unwrap().slow = Some((end.to_owned(), turns));
    }

    /// What was asked since the last call, in the order of asking.
    pub fn asked(&self) -> Vec<String> {
        self.requests()
            .into_iter()
            .map(|asked| asked.what)
            .collect()
    }

    /// The same with rounds, which begin anew, and bytes.
    pub fn requests(&self) -> Vec<Request> {
        let mut state = self.state.lock().unwrap();
        state.ended = 0;
        state.heard.clear();
        std::mem::take(&mut state.asked)
    }

    /// When, among all that was heard, the first request of a kind began (`>`) or ended (`<`).
    pub fn place(&self, what: char, end: &str) -> Option<usize> {
        let state = self.state.lock().unwrap();
        let mut heard = state.heard.iter();
        heard.position(|(noted, path)| *noted == what && path.ends_with(end))
    }

    fn count(&self, at: usize, bytes: u64) {
        if let Some(asked) = self.state.lock().unwrap().asked.get_mut(at) {
            asked.bytes = bytes;
        }
    }

    fn is_empty_now(&self, path: &str) -> bool {
        let mut state = self.state.lock().unwrap();
        state.empty_answers.get_mut(path).is_some_and(|left| {
            let now = *left > 0;
            *left = left.saturating_sub(1);
            now
        })
    }
}

/// Notes a request and takes its time; its number among those asked.
async fn pass(state: Arc<Mutex<State>>, method: &'static str, path: String) -> usize {
    let (at, round, turns) = {
        let mut state = state.lock().unwrap();
        state.heard.push(('>', path.clone()));
        let round = state.ended + 1;
        state.asked.push(Request {
            what: format!("{method} {path}"),
            round,
            bytes: 0,
        });
        let slow = state.slow.iter().filter(|(end, _)| path.ends_with(end));
        let more: usize = slow.map(|(_, turns)| turns).sum();
        (state.asked.len() - 1, round, TURNS + more)
    };
    for _ in 0..turns {
        tokio::task::yield_now().await;
    }
    let mut state = state.lock().unwrap();
    state.heard.push(('<', path));
    state.ended = state.ended.max(round);
    at
}

fn text(path: Option<&Path>) -> String {
    path.map_or("", Path::as_ref).to_owned()
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
        let at = pass(Arc::clone(&self.state), "GET", location.to_string()).await;
        if self.is_empty_now(location.as_ref()) {
            self.empty.put(location, PutPayload::default()).await?;
            return self.empty.get(location).await;
        }
        if matches!(options.range, Some(GetRange::Suffix(_))) {
            panic!("the engine asks for no suffix");
        }
        let found = self.inner.get_opts(location, options).await?;
        self.count(at, found.range.end - found.range.start);
        Ok(found)
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
        let noted = stream::once(pass(Arc::clone(&self.state), "LIST", text(prefix)));
        let found = self.inner.list(prefix);
        noted.flat_map(|_| stream::empty()).chain(found).boxed()
    }

    fn list_with_offset(
        &self,
        prefix: Option<&Path>,
        offset: &Path,
    ) -> BoxStream<'static, Result<ObjectMeta>> {
        let noted = stream::once(pass(Arc::clone(&self.state), "LIST", text(prefix)));
        let found = self.inner.list_with_offset(prefix, offset);
        noted.flat_map(|_| stream::empty()).chain(found).boxed()
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        pass(Arc::clone(&self.state), "LIST", text(prefix)).await;
        self.inner.list_with_delimiter(prefix).await
    }

    async fn copy_opts(&self, from: &Path, _: &Path, _: CopyOptions) -> Result<()> {
        panic!("a read copies {from}");
    }
}
