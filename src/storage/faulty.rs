//! A store in memory whose writes go wrong by a script: refused, lost on their way, or done with the answer lost.

use std::fmt;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use futures::StreamExt;
use futures::stream::BoxStream;
use object_store::memory::InMemory;
use object_store::multipart::{MultipartStore, PartId};
use object_store::path::Path;
use object_store::{
    CopyOptions, Error as StoreError, GetOptions, GetResult, ListResult, MultipartId,
    MultipartUpload, ObjectMeta, ObjectStore, PutMode, PutMultipartOptions, PutOptions, PutPayload,
    PutResult, Result as StoreResult,
};

use super::wire::{Carried, Failure};
use super::{PutIfAbsent, RetryPolicy, Storage, StorageOptions, Uploads};
use crate::error::Error;

/// What becomes of one call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fault {
    /// It is done.
    None,
    /// It is not done, and the connection ends.
    Lost,
    /// It is done, and the connection ends.
    AnswerLost,
    /// It is not done, and the server says 500.
    Failed,
    /// It is not done: 403.
    Refused,
    /// It is not done: 429.
    Throttled,
    /// Not done: 409, another request for the object is under way.
    Conflict,
    /// A condition is passed over.
    Overwrites,
}

type Script = Box<dyn FnMut(&str, usize) -> Fault + Send>;

/// The store. Calls are named by verb, and numbered from 1 for each verb.
pub(super) struct Faulty {
    pub(super) inner: InMemory,
    script: Mutex<Script>,
    pub(super) calls: Mutex<Vec<String>>,
    /// Uploads that are neither completed nor aborted.
    pub(super) open: Mutex<Vec<MultipartId>>,
}

impl Faulty {
    pub(super) fn new(script: impl FnMut(&str, usize) -> Fault + Send + 'static) -> Arc<Self> {
        Arc::new(Self {
            inner: InMemory::new(),
            script: Mutex::new(Box::new(script)),
            calls: Mutex::default(),
            open: Mutex::default(),
        })
    }

    pub(super) fn storage(self: &Arc<Self>, put_if_absent: PutIfAbsent) -> Storage {
        let options = StorageOptions {
            retry: RetryPolicy {
                attempts: 3,
                base_millis: 1,
                max_wait_millis: 2,
                total_millis: 5_000,
            },
            uploads: Uploads::Parts(Arc::clone(self) as _),
            put_if_absent,
            ..StorageOptions::default()
        };
        Storage::new(self.clone(), options)
    }

    pub(super) fn calls(&self) -> Vec<String> {
        std::mem::take(&mut self.calls.lock().unwrap())
    }

    fn fault(&self, verb: &str) -> Fault {
        let mut calls = self.calls.lock().unwrap();
        calls.push(verb.to_owned());
        let nth = calls.iter().filter(|call| *call == verb).count();
        (self.script.lock().unwrap())(verb, nth)
    }

    async fn run<T>(
        &self,
        verb: &str,
        work: impl Future<Output = StoreResult<T>> + Send,
    ) -> StoreResult<T> {
        act(self.fault(verb), work).await
    }
}

async fn act<T>(fault: Fault, work: impl Future<Output = StoreResult<T>> + Send) -> StoreResult<T> {
    let failed = |failure| StoreError::Generic {
        store: "faulty",
        source: Box::new(Carried::new(failure)),
    };
    let gone = || failed(Failure::passing(Error::network("no answer")));
    match fault {
        Fault::None | Fault::Overwrites => work.await,
        Fault::Lost => Err(gone()),
        Fault::AnswerLost => {
            work.await?;
            Err(gone())
        }
        Fault::Failed => Err(failed(Failure::passing(
            Error::unavailable("the server failed").context("status", 500),
        ))),
        Fault::Refused => Err(failed(Failure::lasting(
            Error::unauthorized("no").context("status", 403),
        ))),
        Fault::Throttled => Err(failed(Failure::passing(
            Error::throttled("slow down").context("status", 429),
        ))),
        Fault::Conflict => Err(failed(Failure::passing(
            Error::precondition_failed("under way").context("status", 409),
        ))),
    }
}

impl fmt::Debug for Faulty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Faulty")
    }
}

impl fmt::Display for Faulty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Faulty")
    }
}

#[async_trait]
impl ObjectStore for Faulty {
    async fn put_opts(
        &self,
        location: &Path,
        payload: PutPayload,
        options: PutOptions,
    ) -> StoreResult<PutResult> {
        let verb = match options.mode {
            PutMode::Create => "create",
            _ => "put",
        };
        let fault = self.fault(verb);
        let options = match fault {
            Fault::Overwrites => PutOptions::default(),
            _ => options,
        };
        act(fault, self.inner.put_opts(location, payload, options)).await
    }

    async fn put_multipart_opts(
        &self,
        _: &Path,
        _: PutMultipartOptions,
    ) -> StoreResult<Box<dyn MultipartUpload>> {
        unreachable!("uploads go by numbered parts")
    }

    async fn get_opts(&self, location: &Path, options: GetOptions) -> StoreResult<GetResult> {
        self.run("get", self.inner.get_opts(location, options))
            .await
    }

    fn delete_stream(
        &self,
        locations: BoxStream<'static, StoreResult<Path>>,
    ) -> BoxStream<'static, StoreResult<Path>> {
        match self.fault("delete") {
            Fault::None => self.inner.delete_stream(locations),
            _ => futures::stream::iter([Err(StoreError::NotFound {
                path: String::new(),
                source: "gone".into(),
            })])
            .boxed(),
        }
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, StoreResult<ObjectMeta>> {
        self.inner.list(prefix)
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> StoreResult<ListResult> {
        self.inner.list_with_delimiter(prefix).await
    }

    async fn copy_opts(&self, _: &Path, _: &Path, _: CopyOptions) -> StoreResult<()> {
        unreachable!("nothing is copied")
    }
}

#[async_trait]
impl MultipartStore for Faulty {
    async fn create_multipart(&self, path: &Path) -> StoreResult<MultipartId> {
        let id = self.run("begin", self.inner.create_multipart(path)).await?;
        self.open.lock().unwrap().push(id.clone());
        Ok(id)
    }

    async fn put_part(
        &self,
        path: &Path,
        id: &MultipartId,
        index: usize,
        data: PutPayload,
    ) -> StoreResult<PartId> {
        self.run("part", self.inner.put_part(path, id, index, data))
            .await
    }

    async fn complete_multipart(
        &self,
        path: &Path,
        id: &MultipartId,
        parts: Vec<PartId>,
    ) -> StoreResult<PutResult> {
        let work = async {
            let done = self.inner.complete_multipart(path, id, parts).await?;
            self.open.lock().unwrap().retain(|open| open != id);
            Ok(done)
        };
        self.run("complete", work).await
    }

    async fn abort_multipart(&self, path: &Path, id: &MultipartId) -> StoreResult<()> {
        self.open.lock().unwrap().retain(|open| open != id);
        self.run("abort", self.inner.abort_multipart(path, id))
            .await
    }
}
