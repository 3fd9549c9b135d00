//! One base path on any object store.
//!
//! [`Storage`] fetches whole objects and planned ranges, lists folders, retries, keeps at most so many requests in
//! flight, caches immutable files by path and size, pins ETags, and counts and tells what it does. It knows paths,
//! sizes and bytes; it must not know what a file means. Ranges are absolute and nothing is asked by HEAD.

mod cause;
mod meta;
mod observe;
mod options;
mod retry;
mod store;

pub use cause::Cause;
pub use meta::{Folder, ListingFacts, ListingSource, ObjectMeta};
pub use observe::{CallScope, Counters, Metrics, Observer, RequestEvent, Source};
pub use options::StorageOptions;
pub use retry::RetryPolicy;
pub use store::Storage;
