//! One base path on any object store.
//!
//! [`Storage`] fetches whole objects and planned ranges, lists folders, puts, uploads and deletes objects, retries, keeps at most so many requests in
//! flight, caches immutable files by path and size, pins ETags, and counts and tells what it does. It knows paths,
//! sizes and bytes; it must not know what a file means.
//!
//! 1. Nothing is asked by HEAD, and every range is absolute.
//! 2. A repeated read of an immutable file asks the store for nothing while the cache has room, but for pieces that it is told not to keep.
//! 3. Two answers about one immutable file agree in size and ETag, or the read fails.
//! 4. A put that is to find nothing says truly whether it did, also when its answer was lost; else it says that it does not know.
//! 5. An upload that does not end well leaves nothing: neither a piece of the object nor parts that wait.
//! 6. No credential, signature or URL query gets into an error or an event.

mod cache;
mod cause;
mod classify;
#[cfg(test)]
mod faulty;
mod gate;
mod list;
mod meta;
mod observe;
mod options;
mod persistent;
mod pins;
mod put;
mod ranges;
mod redact;
mod request;
mod retry;
mod store;
mod upload;
pub mod wire;

pub use cache::{MemoryCache, RangeCache};
pub use cause::Cause;
pub use meta::{Folder, ListingFacts, ListingSource, ObjectMeta, UNKNOWN_SIZE};
pub use observe::{CallScope, Counters, Metrics, Observer, RequestEvent, Source};
pub use options::StorageOptions;
pub use persistent::{KeptAnswer, KeptBytes, PersistentCache};
pub use put::{PutIfAbsent, PutOutcome};
pub use redact::{Redacted, redact};
pub use retry::{RetryPolicy, retry_after_millis};
pub use store::Storage;
pub use upload::{Upload, Uploads};

#[cfg(test)]
mod tests;
