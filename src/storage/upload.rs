//! Objects of any size written piece by piece, visible once they are whole.

use std::mem;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::{Bytes, BytesMut};
use futures::future::BoxFuture;
use futures::stream::FuturesUnordered;
use futures::{FutureExt, StreamExt};
use object_store::multipart::{MultipartStore, PartId};
use object_store::path::Path;
use object_store::{MultipartId, MultipartUpload, ObjectStoreExt, PutPayload};

use super::classify::classify;
use super::put::{ask, done};
use super::wire::Failure;
use super::{Cause, Storage};
use crate::error::{Error, ErrorKind, Result};
use crate::host;
use crate::model::InOrder;

/// Bytes of each part but the last: S3 takes none below 5 MiB, R2 none that differ.
const PART: usize = 8 << 20;
/// Parts on their way at once, so that a slow answer does not stop the encoder, and memory stays small.
const FLYING: usize = 2;
/// What is gathered at most for a store that takes an object only as a whole, unless the call has a limit of its own.
const AT_ONCE: u64 = 256 << 20;

/// How a store takes large objects.
#[derive(Clone)]
pub enum Uploads {
    /// As one stream of parts in order, none of which can be sent again.
    Streamed,
    /// By parts with numbers, each a request with attempts of its own.
    Parts(Arc<dyn MultipartStore>),
    /// Only as a whole.
    AtOnce,
}

/// An object on its way into a store; nothing of it is visible before [`complete`](Self::complete).
///
/// Whatever fails, and dropping it before its end, aborts it.
pub struct Upload {
    storage: Storage,
    path: String,
    location: Path,
    buffer: BytesMut,
    total: u64,
    begun: Option<Begun>,
    flying: FuturesUnordered<Sent>,
    parts: Vec<(usize, PartId)>,
    next: usize,
}

enum Begun {
    Parts(Arc<dyn MultipartStore>, MultipartId),
    Streamed(Box<dyn MultipartUpload>),
}

impl std::fmt::Debug for Upload {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Upload").field("path", &self.path).finish()
    }
}

impl Storage {
    /// Begins an object. Nothing is asked of the store before a part is full: a small object becomes one put.
    pub async fn upload(&self, path: &str) -> Result<Upload> {
        self.require_write()?;
        Ok(Upload {
            storage: self.clone(),
            path: path.to_owned(),
            location: self.location(path)?,
            buffer: BytesMut::new(),
            total: 0,
            begun: None,
            flying: FuturesUnordered::new(),
            parts: Vec::new(),
            next: 0,
        })
    }
}

impl Upload {
    /// Takes bytes, any number of them. It waits while as many parts as may be are on their way.
    ///
    /// Errors: those of the storage, and then the upload is aborted; `LimitExceeded` where the store takes objects only
    /// as a whole and this one does not fit into memory.
    pub async fn write(&mut self, mut bytes: Bytes) -> Result<()> {
        self.total += bytes.len() as u64;
        if matches!(self.storage.shared.options.uploads, Uploads::AtOnce) {
            self.check_at_once()?;
            self.buffer.extend_from_slice(&bytes);
            return Ok(());
        }
        loop {
            let room = PART - self.buffer.len();
            self.buffer
                .extend_from_slice(&bytes.split_to(room.min(bytes.len())));
            if self.buffer.len() < PART {
                return Ok(());
            }
            // The last bytes of all may still come, so a full part leaves at once.
            let part = mem::take(&mut self.buffer).freeze();
            let sent = self.send(part).await;
            self.or_abort(sent).await?;
        }
    }

    /// Bytes taken so far.
    pub fn written(&self) -> u64 {
        self.total
    }

    /// Makes the object visible, and says how many bytes it has.
    ///
    /// Errors: those of the storage, and then there is no object.
    pub async fn complete(mut self) -> Result<u64> {
        let ended = self.end().await;
        self.or_abort(ended).await?;
        self.begun = None;
        self.storage.written(&self.path, self.total);
        Ok(self.total)
    }

    /// Gives the object up: its parts are removed from the store.
    pub async fn abort(mut self) -> Result<()> {
        self.flying.clear();
        match self.begun.take() {
            Some(begun) => abort(&self.storage, &self.path, &self.location, begun).await,
            None => Ok(()),
        }
    }

    fn check_at_once(&self) -> Result<()> {
        let limit = self.storage.memory_limit().unwrap_or(AT_ONCE);
        match self.total <= limit {
            true => Ok(()),
            false => Err(Error::limit_exceeded(
                "the store takes files only as a whole, and this one is larger than memory allows",
            )
            .context("path", &self.path)
            .context("limit", limit)
            .context("hint", "give the ObjectStore an upload()")),
        }
    }

    async fn end(&mut self) -> Result<()> {
        let last = mem::take(&mut self.buffer).freeze();
        if self.begun.is_none() {
            return self.storage.put(&self.path, last).await;
        }
        if !last.is_empty() {
            self.send(last).await?;
        }
        while let Some(part) = self.flying.next().await {
            self.parts.push(part?);
        }
        let (storage, path) = (&self.storage, self.path.as_str());
        match &mut self.begun {
            None => Err(Error::internal("an upload did not begin")),
            Some(Begun::Streamed(upload)) => {
                let completed = upload.complete().await;
                completed.map_err(|error| classify(error, path).error)?;
                Ok(())
            }
            Some(Begun::Parts(store, id)) => {
                self.parts.in_order_by(|(a, _), (b, _)| a.cmp(b));
                let parts: Vec<PartId> = self.parts.drain(..).map(|(_, id)| id).collect();
                let once = || async {
                    let completed = store
                        .complete_multipart(&self.location, id, parts.clone())
                        .await;
                    match completed {
                        Ok(_) => Ok(done((), 0)),
                        Err(error) => Err(classify(error, path)),
                    }
                };
                let completed = storage.attempts(&ask("POST", path), once).await;
                match completed {
                    Ok(()) => Ok(()),
                    Err(failure) => landed(storage, path, self.total, failure).await,
                }
            }
        }
    }

    /// Sends a part on its way, once there is room for it.
    async fn send(&mut self, part: Bytes) -> Result<()> {
        if self.begun.is_none() {
            self.begun = Some(begin(&self.storage, &self.path, &self.location).await?);
        }
        let most = match &self.begun {
            Some(Begun::Parts(..)) => FLYING,
            _ => 1,
        };
        while self.flying.len() >= most {
            if let Some(part) = self.flying.next().await {
                self.parts.push(part?);
            }
        }
        let sent = match &mut self.begun {
            Some(Begun::Parts(store, id)) => {
                let to = (Arc::clone(store), self.location.clone(), id.clone());
                numbered(&self.storage, &self.path, to, self.next, part)
            }
            Some(Begun::Streamed(upload)) => {
                streamed(&self.storage, &self.path, upload.as_mut(), self.next, part)
            }
            None => return Err(Error::internal("an upload did not begin")),
        };
        self.next += 1;
        self.flying.push(sent);
        // A future does nothing before it is asked for the first time, and the caller may encode for long.
        if let Some(Some(part)) = self.flying.next().now_or_never() {
            self.parts.push(part?);
        }
        Ok(())
    }

    async fn or_abort<T>(&mut self, result: Result<T>) -> Result<T> {
        if result.is_err() {
            self.flying.clear();
            if let Some(begun) = self.begun.take() {
                let aborted = abort(&self.storage, &self.path, &self.location, begun).await;
                if let Err(error) = aborted {
                    self.storage.warn(
                        &format!("an upload could not be aborted: {error}"),
                        Some(&self.path),
                    );
                }
            }
        }
        result
    }
}

impl Drop for Upload {
    fn drop(&mut self) {
        let Some(begun) = self.begun.take() else {
            return;
        };
        let storage = self.storage.clone();
        let (path, location) = (mem::take(&mut self.path), self.location.clone());
        self.flying.clear();
        host::detach(async move {
            // The caller is gone, so nobody is there to hear of it.
            let _ = abort(&storage, &path, &location, begun).await;
        });
    }
}

type Sent = BoxFuture<'static, Result<(usize, PartId)>>;

/// A part with a number, asked for again like any request.
fn numbered(
    storage: &Storage,
    path: &str,
    (store, location, id): (Arc<dyn MultipartStore>, Path, MultipartId),
    index: usize,
    part: Bytes,
) -> Sent {
    let (storage, path) = (storage.clone(), path.to_owned());
    Box::pin(async move {
        let once = || async {
            let size = part.len() as u64;
            let payload = PutPayload::from(part.clone());
            match store.put_part(&location, &id, index, payload).await {
                Ok(id) => Ok(done((index, id), size)),
                Err(error) => Err(classify(error, &path)),
            }
        };
        let sent = storage.attempts(&ask("PUT", &path), once).await;
        sent.map_err(|failure| failure.error)
    })
}

/// The next part of a stream: it is sent once.
fn streamed(
    storage: &Storage,
    path: &str,
    upload: &mut dyn MultipartUpload,
    index: usize,
    part: Bytes,
) -> Sent {
    let (storage, path) = (storage.clone(), path.to_owned());
    let size = part.len() as u64;
    let sent = Mutex::new(Some(upload.put_part(part.into())));
    Box::pin(async move {
        let once = || {
            let sent = sent.lock().unwrap_or_else(PoisonError::into_inner).take();
            let again = || Failure::lasting(Error::internal("a part is sent once"));
            let path = &path;
            async move {
                let sent = sent.ok_or_else(again)?.await;
                sent.map_err(|error| classify(error, path))?;
                Ok(done((), size))
            }
        };
        let sent = storage.attempt(&ask("PUT", &path), 1, once).await;
        sent.map_err(|failure| failure.error)?;
        let content_id = String::new();
        Ok((index, PartId { content_id }))
    })
}

async fn begin(storage: &Storage, path: &str, location: &Path) -> Result<Begun> {
    match &storage.shared.options.uploads {
        Uploads::Parts(store) => {
            let once = || async {
                match store.create_multipart(location).await {
                    Ok(id) => Ok(done(id, 0)),
                    Err(error) => Err(classify(error, path)),
                }
            };
            let id = storage.attempts(&ask("POST", path), once).await;
            let id = id.map_err(|failure| failure.error)?;
            Ok(Begun::Parts(Arc::clone(store), id))
        }
        _ => {
            let upload = storage.shared.store.put_multipart(location).await;
            let upload = upload.map_err(|error| classify(error, path).error)?;
            Ok(Begun::Streamed(upload))
        }
    }
}

async fn abort(storage: &Storage, path: &str, location: &Path, begun: Begun) -> Result<()> {
    let aborted = match begun {
        Begun::Parts(store, id) => {
            let once = || async {
                match store.abort_multipart(location, &id).await {
                    Ok(()) => Ok(done((), 0)),
                    Err(error) => Err(classify(error, path)),
                }
            };
            storage.attempts(&ask("DELETE", path), once).await
        }
        Begun::Streamed(mut upload) => {
            let aborted = upload.abort().await;
            aborted.map_err(|error| classify(error, path))
        }
    };
    match aborted.map_err(|failure| failure.error) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Whether an upload whose end was not confirmed is there: its name is new, so an object of its size is it.
async fn landed(storage: &Storage, path: &str, total: u64, failure: Failure) -> Result<()> {
    let last = total.saturating_sub(1)..total;
    match storage.object(path, Some(last), None, Cause::Write).await {
        Ok(object) if object.size == total => Ok(()),
        _ => Err(failure.error),
    }
}

#[cfg(test)]
mod tests;
