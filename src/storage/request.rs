//! One request: its attempts, its place in the queue, its events; and the one way to get an object.

use std::ops::Range;

use bytes::Bytes;
use object_store::{Extensions, GetOptions, GetRange};

use super::classify::classify;
use super::wire::{Answer, Failure, KnownSize};
use super::{Cause, RequestEvent, Source, Storage};
use crate::error::Error;
use crate::host;

/// A whole object larger than this is not read at once.
const MAX_WHOLE: u64 = 512 << 20;

/// What is asked, as events tell it.
pub(super) struct Ask<'a> {
    pub(super) method: &'static str,
    pub(super) path: &'a str,
    pub(super) range: Option<Range<u64>>,
    pub(super) cause: Cause,
}

/// A good answer, with its cost.
pub(super) struct Reply<T> {
    pub(super) value: T,
    pub(super) status: u16,
    pub(super) bytes: u64,
}

/// An object, or a range of one.
pub(super) struct Object {
    /// Size of the whole object.
    pub(super) size: u64,
    pub(super) etag: Option<String>,
    pub(super) bytes: Bytes,
    /// All of it, when that came although a range was asked for.
    pub(super) whole: Option<Bytes>,
    /// The object's size is not that of its bytes: see [`Answer::decoded`].
    pub(super) decoded: bool,
}

impl Storage {
    /// Makes a request until it succeeds or the policy ends it; each attempt waits for its turn, counts and is told.
    ///
    /// Dropping the future ends the attempt under way.
    pub(super) async fn attempts<T, F>(
        &self,
        ask: &Ask<'_>,
        once: impl Fn() -> F + Send + Sync,
    ) -> Result<T, Failure>
    where
        T: Send,
        F: Future<Output = Result<Reply<T>, Failure>> + Send,
    {
        let first = host::now_millis();
        let mut attempt = 1;
        loop {
            let failure = match self.attempt(ask, attempt, &once).await {
                Ok(value) => return Ok(value),
                Err(failure) => failure,
            };
            if !self.pause(&failure, attempt, first).await {
                return Err(Failure {
                    error: failure.error.context("attempts", attempt),
                    ..failure
                });
            }
            attempt += 1;
        }
    }

    /// Makes attempt number `attempt` (from 1) of a request.
    pub(super) async fn attempt<T, F>(
        &self,
        ask: &Ask<'_>,
        attempt: u32,
        once: impl Fn() -> F + Send + Sync,
    ) -> Result<T, Failure>
    where
        T: Send,
        F: Future<Output = Result<Reply<T>, Failure>> + Send,
    {
        let turn = self.shared.gate.enter().await;
        let began = host::now_millis();
        let result = once().await;
        drop(turn);
        let (status, bytes) = match &result {
            Ok(reply) => (reply.status, reply.bytes),
            Err(failure) => (failure.status(), 0),
        };
        self.tell(ask, status, bytes, attempt, began);
        result.map(|reply| reply.value)
    }

    /// Waits before the attempt after `attempt` and says true, or says false at once when there is none.
    pub(super) async fn pause(&self, failure: &Failure, attempt: u32, first: i64) -> bool {
        let policy = &self.shared.options.retry;
        policy.pause(failure, attempt, first).await
    }

    fn tell(&self, ask: &Ask<'_>, status: u16, bytes: u64, attempt: u32, began: i64) {
        let loaded = self.scope.metrics.count_request(bytes);
        let Some(observer) = &self.scope.observer else {
            return;
        };
        observer.request(&RequestEvent {
            method: ask.method,
            path: ask.path.to_owned(),
            start: ask.range.as_ref().map(|r| r.start),
            end: ask.range.as_ref().map(|r| r.end),
            status,
            bytes,
            millis: u64::try_from(host::now_millis() - began).unwrap_or(0),
            source: Source::Network,
            attempt,
            cause: ask.cause,
        });
        if bytes > 0 {
            observer.bytes(loaded);
        }
    }

    /// Gets an object or a range of it, with retries.
    pub(super) async fn object(
        &self,
        path: &str,
        range: Option<Range<u64>>,
        known: Option<u64>,
        cause: Cause,
    ) -> Result<Object, Failure> {
        let ask = Ask {
            method: "GET",
            path,
            range,
            cause,
        };
        self.attempts(&ask, || self.get_once(path, ask.range.clone(), known))
            .await
    }

    async fn get_once(
        &self,
        path: &str,
        range: Option<Range<u64>>,
        known: Option<u64>,
    ) -> Result<Reply<Object>, Failure> {
        let location = self.location(path).map_err(Failure::lasting)?;
        let mut extensions = Extensions::new();
        if let Some(size) = known {
            extensions.insert(KnownSize(size));
        }
        let options = GetOptions {
            range: range.clone().map(GetRange::Bounded),
            extensions,
            ..GetOptions::default()
        };
        let result = self.shared.store.get_opts(&location, options).await;
        let mut result = result.map_err(|e| classify(e, path))?;
        let (size, etag, got) = (
            result.meta.size,
            result.meta.e_tag.clone(),
            result.range.clone(),
        );
        let expected = match &range {
            Some(range) => range.start..range.end.min(size),
            None => 0..size,
        };
        if got != expected {
            return Err(Failure::lasting(
                Error::range_not_supported("the store gave another range than was asked for")
                    .context("path", path)
                    .context("offset", expected.start),
            ));
        }
        if got.end - got.start > MAX_WHOLE {
            return Err(Failure::lasting(
                Error::limit_exceeded("the object is too large to be read at once")
                    .context("path", path)
                    .context("size", size),
            ));
        }
        let answer = result.extensions.remove::<Answer>();
        let bytes = result.bytes().await.map_err(|e| classify(e, path))?;
        if bytes.len() as u64 != got.end - got.start {
            return Err(Failure::passing(
                Error::network("the body ended early")
                    .context("path", path)
                    .context("offset", got.start + bytes.len() as u64),
            ));
        }
        let answer = answer.unwrap_or_else(|| Answer {
            status: if range.is_some() { 206 } else { 200 },
            bytes: bytes.len() as u64,
            whole: None,
            decoded: false,
        });
        Ok(Reply {
            value: Object {
                size,
                etag,
                bytes,
                whole: answer.whole,
                decoded: answer.decoded,
            },
            status: answer.status,
            bytes: answer.bytes,
        })
    }
}
