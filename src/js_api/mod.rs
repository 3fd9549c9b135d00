//! The classes that JavaScript sees (wasm32 only).
//!
//! Thin on purpose: plain data crosses as JSON text, callbacks as functions, batches as Arrow IPC in memory that
//! JavaScript owns. `js/` gives it all its public shape and is the only caller; nothing here is public API.
//!
//! Knows promises, JavaScript values and the facade `table`; must not know how a table is read.

mod alloc;
mod boot;
mod call;
mod error;
mod events;
mod input;
mod ipc;
mod locks;
mod parquet;
mod probe;
mod stream;
mod table;
mod write;

pub use boot::{boot, out_of_memory, version};
pub use call::Cancel;
pub use locks::locks;
pub use parquet::ParquetFile;
pub use probe::probe;
pub use stream::Stream;
pub use table::Table;
