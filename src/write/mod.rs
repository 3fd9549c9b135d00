//! Arrow batches to base files: checked, keyed, put into partitions, sized and streamed out.
//!
//! It knows what Java's key generators and writers make of rows. It must not know instants beyond the one it writes for, nor
//! markers, locks or the metadata table: whoever opens files for it ([`FileTarget`]) knows those.
//!
//! | file | holds |
//! |---|---|
//! | `append.rs`, `append_options.rs` | [`AppendWriter`]: batches in, [`WrittenFile`]s out; how |
//! | `open_files.rs` | the files that rows go to, within a budget of memory |
//! | `input.rs`, `normal.rs`, `values.rs` | batches checked against the table's columns; views, dictionaries and their like unfolded; values that are beyond a type |
//! | `record_key.rs`, `partition.rs`, `java_text.rs` | keys and paths as Java's generators write them |
//! | `key_state.rs`, `latest.rs` | the keys of a call, and which of them came before; of the rows of a key the latest |
//! | `base_file.rs` | one file being written: meta columns, Bloom filter, footer |
//! | `result_file.rs` | rows of a read as one file of their own |
//! | `target.rs`, `store_target.rs`, `written.rs` | where files go; what became of them |
//!
//! # Memory
//!
//! What is buffered stays within a budget: the largest open file then gives its row group away, or ends when that would not fill
//! a part of an upload. Beside it grow the keys of the call: their bytes and at most 32 bytes a row.

mod append;
mod append_options;
mod base_file;
mod columns;
mod input;
mod java_text;
mod key_state;
mod latest;
mod normal;
mod open_files;
mod partition;
mod record_key;
mod result_file;
mod store_target;
mod target;
mod values;
mod written;

pub use append::{AppendWriter, Prepared};
pub use append_options::{AppendOptions, DuplicateKeys};
pub use result_file::ResultFile;
pub use store_target::StoreTarget;
pub use target::{FileSink, FileTarget, OpenedFile};
pub use written::WrittenFile;

#[cfg(all(test, not(target_arch = "wasm32")))]
mod tests;
