//! A cache that outlives this instance: asked when memory has no bytes, told what came over the network.

use std::ops::Range;
use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;

use super::request::Object;
use super::{Cause, Source, Storage};
use crate::error::Result;
use crate::host;

/// Bytes that were kept, with the ETag that they came with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptBytes {
    /// Exactly the range asked for.
    pub bytes: Bytes,
    /// The entity tag of the object they are of.
    pub etag: Option<String>,
}

/// What a persistent cache answers. A failing one answers with nothing, and says why once.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KeptAnswer {
    /// The bytes, when all of them are there.
    pub found: Option<KeptBytes>,
    /// What went wrong since it was last asked, such as a full disk.
    pub warning: Option<String>,
}

/// Keeps pieces of files that never change, by path and size.
#[async_trait]
pub trait PersistentCache: Send + Sync {
    /// The bytes of `range`.
    async fn get(&self, path: &str, size: u64, range: Range<u64>) -> KeptAnswer;
    /// Begins to keep `bytes`, which begin at `start`; nobody waits for it.
    fn put(&self, path: &str, size: u64, start: u64, bytes: &Bytes, etag: Option<&str>);
    /// Begins to drop whatever is kept of `path` at that size.
    fn forget(&self, path: &str, size: u64);
}

impl Storage {
    fn persistent(&self) -> Option<&Arc<dyn PersistentCache>> {
        self.shared.options.persistent.as_ref()
    }

    /// Bytes of an object from the persistent cache, held against what is known of the object as an answer of the store
    /// would be: two versions of a file never mix.
    pub(super) async fn kept(
        &self,
        path: &str,
        size: u64,
        range: Range<u64>,
        cause: Cause,
    ) -> Option<Bytes> {
        let cache = self.persistent()?;
        let began = host::now_millis();
        let answer = cache.get(path, size, range.clone()).await;
        if let Some(warning) = answer.warning {
            self.warn(&warning, None);
        }
        let kept = answer.found?;
        if kept.bytes.len() as u64 != range.end - range.start
            || self.pin(path, size, kept.etag.as_deref()).is_err()
        {
            cache.forget(path, size);
            return None;
        }
        let millis = u64::try_from(host::now_millis() - began).unwrap_or(0);
        self.tell_hit(path, range, Source::Persistent, millis, cause);
        Some(kept.bytes)
    }

    /// Keeps what came of an object, beyond the life of this instance.
    pub(super) fn keep_persistent(&self, path: &str, start: u64, object: &Object) {
        let Some(cache) = self.persistent() else {
            return;
        };
        let etag = object.etag.as_deref();
        match &object.whole {
            Some(whole) => cache.put(path, object.size, 0, whole, etag),
            None => cache.put(path, object.size, start, &object.bytes, etag),
        }
    }

    pub(super) fn forget_persistent(&self, path: &str) {
        if let (Some(cache), Some(size)) = (self.persistent(), self.known_size(path)) {
            cache.forget(path, size);
        }
    }

    fn pin(&self, path: &str, size: u64, etag: Option<&str>) -> Result<()> {
        if etag.is_none() {
            self.scope.metrics.note_unpinned();
        }
        self.check_pin(path, size, etag)
    }
}
