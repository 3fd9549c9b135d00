//! Parquet base files over the `parquet` crate's push decoder: which bytes are needed, and batches from them.
//!
//! Knows the file format and what Hudi keeps in footers; knows no store and no table. The crate underneath trusts what
//! a file declares about sizes, so every declared size is checked here before the crate sees the bytes:
//!
//! 1. a footer ([`Footer::parse`]): lengths, row counts, offsets and the shape of the schema;
//! 2. page headers (`pages`): sizes and counts of each page of a chunk that is about to be decoded;
//! 3. page indexes: offsets, which must lie in their chunk and rise.
//!
//! Spec: <https://github.com/apache/parquet-format>, and Hudi's keys in base file footers.

mod error;
mod footer;
mod int96;
mod page_header;
mod page_index;
mod pages;
mod reader;
mod schema_check;
mod statistics;
mod thrift;

pub use footer::{Footer, FooterKeys, first_range, metadata_range};
pub use page_index::{PendingIndex, page_selection};
pub use parquet::arrow::arrow_reader::RowSelection;
pub use reader::{Columns, GroupReader, GroupRequest, RowFilterFn, Step};
pub use statistics::{Known, Leaf};

#[cfg(all(test, not(target_arch = "wasm32")))]
mod tests;
