//! The `hoodie.*` keys, typed.

mod options;

pub use options::{DEFAULT_BATCH_SIZE, QueryType, RawFilter, ReadOptions, TimeValue, read_key};
