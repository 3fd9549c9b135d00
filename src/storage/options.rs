use std::sync::{Arc, OnceLock};

use object_store::list::PaginatedListStore;

use super::put::PutIfAbsent;
use super::upload::Uploads;
use super::{ListingFacts, MemoryCache, PersistentCache, RangeCache, RetryPolicy};

/// How a [`Storage`](super::Storage) asks.
#[derive(Clone)]
pub struct StorageOptions {
    /// The table's own path inside the store, without slashes at its ends; empty when the store begins at the table.
    pub base: String,
    /// Requests in flight at most; browsers and workerd hold six themselves.
    pub concurrency: usize,
    /// Bytes of memory that one call may hold of row groups, log rows and keys; `None` leaves it to the host.
    pub memory_limit: Option<u64>,
    /// Wanted ranges at most this many bytes apart become one request.
    pub coalesce_gap: u64,
    /// Bytes that one request asks for at most.
    pub max_request: u64,
    /// Where file names come from.
    pub listing: ListingFacts,
    /// The same once it is told, where only asking tells.
    pub listing_told: Option<Arc<OnceLock<ListingFacts>>>,
    /// Whether one request lists all below a folder, however deep; on a host that shows folder by folder it does not.
    pub lists_flat: bool,
    /// Keeps what never changes; `None` keeps nothing.
    pub cache: Option<Arc<dyn RangeCache>>,
    /// Keeps it beyond the life of this instance.
    pub persistent: Option<Arc<dyn PersistentCache>>,
    /// When to ask again.
    pub retry: RetryPolicy,
    /// The store once more, when it lists by pages: each page is then one request with its own attempts.
    pub pages: Option<Arc<dyn PaginatedListStore>>,
    /// Why the store cannot be written, when it cannot.
    pub read_only: Option<&'static str>,
    /// How an object is put where there is none.
    pub put_if_absent: PutIfAbsent,
    /// How large objects go in.
    pub uploads: Uploads,
}

/// What a table's cache holds unless told otherwise.
const CACHE_BYTES: u64 = 64 << 20;

impl Default for StorageOptions {
    fn default() -> Self {
        Self {
            base: String::new(),
            concurrency: 6,
            memory_limit: None,
            coalesce_gap: 128 << 10,
            max_request: 8 << 20,
            listing: ListingFacts::default(),
            listing_told: None,
            lists_flat: true,
            cache: Some(Arc::new(MemoryCache::new(CACHE_BYTES))),
            persistent: None,
            retry: RetryPolicy::default(),
            pages: None,
            read_only: None,
            put_if_absent: PutIfAbsent::Kept,
            uploads: Uploads::Streamed,
        }
    }
}
