//! HFile version 3, as far as Hudi writes it: base files of the metadata table, and data blocks of log files.
//!
//! A sorted list of keys and values in compressed blocks, with a tree of indexes over them. Sans-IO: whoever drives it
//! fetches the ranges asked for. Two producers are read: HBase's classes (Hudi up to 1.0) and Hudi's own writer (1.1 on).
//!
//! ```text
//! data blocks, leaf index blocks between them | meta blocks, intermediate index blocks
//! | root data index | root meta index | file info      (all three "load on open")
//! | trailer: 4096 bytes
//! ```
//!
//! | file | holds |
//! |---|---|
//! | `trailer.rs` | [`Trailer`], the end of a file |
//! | `block.rs` | one block: header, checksums, decompression |
//! | `index.rs` | index blocks to [`BlockRef`]s |
//! | `info.rs` | [`FileInfo`]: the writer's schema among others |
//! | `key_value.rs` | a data block's keys and values |
//! | `query.rs` | [`Query`]: which keys are wanted |
//! | `reader.rs` | [`HFile`], opened; [`Search`] from the root down to data blocks; [`scan_all`] |
//! | `writer.rs` | [`HFileWriter`]: a file as Hudi 1.1 writes it |
//!
//! Source: Hudi 1.1 `hudi-io` (`HFileReaderImpl`, `HFileBlock`, `HFileTrailer`), HBase 2.4 `HFileBlock`.

mod block;
mod index;
mod info;
mod key_value;
mod pack;
mod proto;
mod query;
mod reader;
mod trailer;
mod writer;

pub use index::BlockRef;
pub use info::FileInfo;
pub use key_value::KeyValue;
pub use query::Query;
pub use reader::{HFile, Opening, Search, first_range, scan_all};
pub use trailer::{Compression, Trailer};
pub use writer::{BaseFileExtras, HFileWriter};

#[cfg(all(test, not(target_arch = "wasm32")))]
mod tests;
