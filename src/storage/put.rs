//! Whole objects written and removed.

use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use object_store::path::Path;
use object_store::{ObjectStoreExt, PutMode, PutOptions};

use super::classify::classify;
use super::request::{Ask, Reply};
use super::wire::Failure;
use super::{Cause, Storage};
use crate::error::{Error, ErrorKind, Result};
use crate::host;

/// What became of a put that was to find nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PutOutcome {
    /// The object is there and is ours.
    Created,
    /// Another object was there before.
    Exists,
    /// An empty object is there after an answer was lost: ours, or one that was there before, as nothing tells.
    Unclear,
}

/// How a store puts an object where there is none.
#[derive(Debug, Clone)]
pub enum PutIfAbsent {
    /// In one step, as is known of it.
    Kept,
    /// In one step, as is to be shown by two puts in turn before it is relied on; once it was, this holds a value.
    ToBeShown(Arc<OnceLock<()>>),
    /// It cannot, so whoever is the only writer looks first.
    ByLooking,
}

/// What the first of the two puts leaves until the second was refused.
const PROBE_FOLDER: &str = ".hoodie/.temp";

impl Storage {
    /// Whether the store can be written at all.
    ///
    /// Errors: `ReadOnlyStorage` with the reason.
    pub fn require_write(&self) -> Result<()> {
        match self.shared.options.read_only {
            None => Ok(()),
            Some(reason) => Err(Error::read_only_storage(reason)
                .context("hint", "write through a store such as s3, file or memory")),
        }
    }

    /// Puts an object, over whatever is there.
    pub async fn put(&self, path: &str, bytes: Bytes) -> Result<()> {
        self.require_write()?;
        let location = self.location(path)?;
        let once = || self.put_once(&location, path, &bytes, PutMode::Overwrite);
        let put = self.attempts(&ask("PUT", path), once).await;
        self.written(path, bytes.len() as u64);
        put.map_err(|failure| failure.error)
    }

    /// Puts an object where there is none.
    ///
    /// An answer that was lost, or that leaves open what happened, is settled by reading the object back: bytes equal to
    /// ours are ours, unless there are none. Errors: `CommitStateUnknown` when that fails too, and when nothing is there yet, since what was sent may
    /// still land; `ReadOnlyStorage` when the store does not heed the condition; any other error means that nothing was put.
    pub async fn put_if_absent(&self, path: &str, bytes: Bytes) -> Result<PutOutcome> {
        self.require_write()?;
        let mode = match &self.shared.options.put_if_absent {
            PutIfAbsent::Kept => PutMode::Create,
            PutIfAbsent::ToBeShown(shown) => {
                self.show(shown).await?;
                PutMode::Create
            }
            PutIfAbsent::ByLooking => {
                if self.get_if_present(path, Cause::Write).await?.is_some() {
                    return Ok(PutOutcome::Exists);
                }
                PutMode::Overwrite
            }
        };
        let outcome = self.create(path, &bytes, mode).await;
        self.written(path, bytes.len() as u64);
        outcome
    }

    /// Removes an object; one that is gone already is fine.
    pub async fn delete(&self, path: &str) -> Result<()> {
        self.require_write()?;
        let location = self.location(path)?;
        let once = || async {
            match self.shared.store.delete(&location).await {
                Err(error) => Err(classify(error, path)),
                Ok(()) => Ok(done((), 0)),
            }
        };
        let deleted = self.attempts(&ask("DELETE", path), once).await;
        self.forget(path);
        match deleted.map_err(|failure| failure.error) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    /// Drops what is kept of an object that was just written, of whichever version.
    pub(super) fn written(&self, path: &str, size: u64) {
        self.forget(path);
        if let Some(cache) = &self.shared.options.persistent {
            cache.forget(path, size);
        }
    }

    async fn put_once(
        &self,
        location: &Path,
        path: &str,
        bytes: &Bytes,
        mode: PutMode,
    ) -> Result<Reply<()>, Failure> {
        let store = &self.shared.store;
        let put = store.put_opts(location, bytes.clone().into(), PutOptions::from(mode));
        match put.await {
            Ok(_) => Ok(done((), bytes.len() as u64)),
            Err(error) => Err(classify(error, path)),
        }
    }

    async fn create(&self, path: &str, bytes: &Bytes, mode: PutMode) -> Result<PutOutcome> {
        let location = self.location(path)?;
        let first = host::now_millis();
        let (mut attempt, mut unclear) = (1, false);
        loop {
            let once = || self.put_once(&location, path, bytes, mode.clone());
            let failure = match self.attempt(&ask("PUT", path), attempt, once).await {
                Ok(()) => return Ok(PutOutcome::Created),
                Err(failure) => failure,
            };
            let refused = failure.error.kind() == ErrorKind::PreconditionFailed && !failure.retry;
            if !unclear && refused && bytes.is_empty() {
                // Another's empty object cannot be told from ours, and no attempt of ours may have landed.
                return Ok(PutOutcome::Exists);
            }
            if !unclear && !refused && !failure.retry {
                return Err(failure.error);
            }
            unclear |= !refused && !is_answer(&failure);
            // A host may have sent the request twice by itself, so that even a first refusal can be due to ourselves.
            let found = self.get_if_present(path, Cause::Write).await;
            match &found {
                Ok(Some(found)) if found == bytes && bytes.is_empty() => {
                    return Ok(PutOutcome::Unclear);
                }
                Ok(Some(found)) if found == bytes => return Ok(PutOutcome::Created),
                Ok(Some(_)) => return Ok(PutOutcome::Exists),
                _ if refused && !unclear => return Ok(PutOutcome::Exists),
                _ => {}
            }
            if !self.pause(&failure, attempt, first).await {
                return Err(match found {
                    Ok(_) if !unclear => failure.error.context("attempts", attempt),
                    _ => unknown(path, failure.error),
                });
            }
            attempt += 1;
        }
    }

    /// Puts an object twice: only a store that refuses the second put heeds the condition.
    async fn show(&self, shown: &OnceLock<()>) -> Result<()> {
        if shown.get().is_some() {
            return Ok(());
        }
        let path = format!("{PROBE_FOLDER}/.probe-{}", host::random_uuid()?);
        let body = Bytes::from(path.clone());
        self.create(&path, &body, PutMode::Create)
            .await
            .map_err(|error| match error.get("status") {
                Some("501") => ignores("the store does not know the condition If-None-Match"),
                _ => error,
            })?;
        let second = self.create(&path, &Bytes::new(), PutMode::Create).await;
        if let Err(error) = self.delete(&path).await {
            self.warn(
                &format!("a probe could not be removed: {error}"),
                Some(&path),
            );
        }
        match second? {
            PutOutcome::Exists => {
                // Another call may have shown it meanwhile.
                let _ = shown.set(());
                Ok(())
            }
            PutOutcome::Created | PutOutcome::Unclear => Err(ignores(
                "the store passes over the condition If-None-Match and overwrites",
            )),
        }
    }
}

pub(super) fn ask<'a>(method: &'static str, path: &'a str) -> Ask<'a> {
    Ask {
        method,
        path,
        range: None,
        cause: Cause::Write,
    }
}

pub(super) fn done<T>(value: T, bytes: u64) -> Reply<T> {
    Reply {
        value,
        status: 200,
        bytes,
    }
}

/// Whether the store has said that it did not take the object, as against a lost answer, or one of a server that failed on its
/// way. A conflict (409) may be with a request of ours that the host sent again.
fn is_answer(failure: &Failure) -> bool {
    matches!(failure.status(), 400..500 if !matches!(failure.status(), 408 | 409))
}

fn ignores(message: &str) -> Error {
    Error::read_only_storage(message).context(
        "hint",
        "use a store that has conditional puts; where nothing else ever writes, conditionalWrites: false does without",
    )
}

fn unknown(path: &str, source: Error) -> Error {
    Error::commit_state_unknown(
        "the answer to a put was lost, and reading back does not tell whether it landed",
    )
    .context("path", path)
    .with_source(source)
}

#[cfg(test)]
mod tests;
