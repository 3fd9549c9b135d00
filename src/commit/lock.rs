use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};

use async_trait::async_trait;
use futures::future::{Either, select};
use futures::lock::{Mutex as AsyncMutex, OwnedMutexGuard};

use crate::error::{Error, Result};
use crate::host;
use crate::storage::Storage;

/// Waits that Hudi takes for usual: `hoodie.write.lock.wait_time_ms`.
const WAIT_MILLIS: u32 = 60_000;

/// Who hands out locks: this process, all tabs of an origin, or one day a file in the table's store.
#[async_trait]
pub trait LockProvider: Send + Sync {
    /// Waits for the lock of a key. Dropping the future ends the wait.
    async fn acquire(&self, key: &str) -> Result<Box<dyn HeldLock>>;
}

/// A lock that is held until it is released or dropped.
#[async_trait]
pub trait HeldLock: Send + Sync {
    /// Fails with `LockTimeout` when the lock was lost meanwhile, so that nothing must be committed.
    async fn check(&self) -> Result<()> {
        Ok(())
    }

    /// Gives the lock back; dropping it does the same where no answer is needed.
    async fn release(self: Box<Self>) {}
}

/// The lock of one table: who hands it out, and under which name.
#[derive(Clone)]
pub struct TableLock {
    provider: Arc<dyn LockProvider>,
    key: String,
    wait_millis: u32,
    over_all: bool,
}

impl std::fmt::Debug for TableLock {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TableLock").field("key", &self.key).finish()
    }
}

impl TableLock {
    /// A lock by name; the same table must have the same name in every handle.
    pub fn new(provider: Arc<dyn LockProvider>, key: impl Into<String>) -> Self {
        Self {
            provider,
            key: key.into(),
            wait_millis: WAIT_MILLIS,
            over_all: false,
        }
    }

    /// The lock inside this process, by the store that a storage stands on and its base path.
    pub fn in_process(storage: &Storage) -> Self {
        Self::new(Arc::new(InProcessLocks), storage.identity())
    }

    /// The same lock, waited for so long at most.
    #[must_use]
    pub fn waiting(self, wait_millis: u32) -> Self {
        Self {
            wait_millis,
            ..self
        }
    }

    /// The same lock, which nobody writes without: whoever holds it knows that a pending write has failed.
    #[must_use]
    pub fn over_all(self) -> Self {
        Self {
            over_all: true,
            ..self
        }
    }

    /// Whether nobody writes without it.
    pub fn is_over_all(&self) -> bool {
        self.over_all
    }

    /// The name of the table among locks.
    pub fn key(&self) -> &str {
        &self.key
    }

    /// Becomes the only writer of the table, for the whole of a write: a pending instant of a writer that is still at
    /// work would look like a failed one to the next.
    ///
    /// Errors: `LockTimeout`.
    pub async fn write(&self) -> Result<Box<dyn HeldLock>> {
        self.named("write").await
    }

    /// Enters a critical section of the timeline: an instant is requested or completed in it.
    ///
    /// Errors: `LockTimeout`.
    pub async fn section(&self) -> Result<Box<dyn HeldLock>> {
        self.named("timeline").await
    }

    async fn named(&self, what: &str) -> Result<Box<dyn HeldLock>> {
        let key = format!("hudi:{what}:{}", self.key);
        let wait = Box::pin(host::sleep(self.wait_millis));
        match select(self.provider.acquire(&key), wait).await {
            Either::Left((held, _)) => held,
            Either::Right(_) => Err(Error::lock_timeout("another writer holds the table")
                .context("waited", self.wait_millis)
                .context(
                    "hint",
                    "wait for it, or raise hoodie.write.lock.wait_time_ms",
                )),
        }
    }
}

/// Locks inside this process: one a key.
#[derive(Debug, Clone, Copy, Default)]
pub struct InProcessLocks;

type Registry = Mutex<HashMap<String, Weak<AsyncMutex<()>>>>;

#[async_trait]
impl LockProvider for InProcessLocks {
    async fn acquire(&self, key: &str) -> Result<Box<dyn HeldLock>> {
        Ok(Box::new(InProcessLock(lock_of(key).lock_owned().await)))
    }
}

struct InProcessLock(#[allow(dead_code, reason = "dropping it unlocks")] OwnedMutexGuard<()>);

impl HeldLock for InProcessLock {}

fn lock_of(key: &str) -> Arc<AsyncMutex<()>> {
    static LOCKS: OnceLock<Registry> = OnceLock::new();
    let locks = LOCKS.get_or_init(Mutex::default);
    let mut locks = locks.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(found) = locks.get(key).and_then(Weak::upgrade) {
        return found;
    }
    locks.retain(|_, lock| lock.strong_count() > 0);
    let lock = Arc::new(AsyncMutex::new(()));
    locks.insert(key.to_owned(), Arc::downgrade(&lock));
    lock
}

#[cfg(test)]
mod tests;
