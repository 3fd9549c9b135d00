//! Parquet base files: which bytes are needed, and batches from them.
//!
//! Knows the file format and what Hudi keeps in footers; knows no store and no table. Columns are decoded here (`flat`,
//! `nested`); of the `parquet` crate there are footers, schemas and page indexes. It trusts what a file says, to the point of
//! panics, so all of it is checked before the crate sees it, and what pages hold before it is decoded:
//!
//! 1. a footer ([`Footer::parse`]): lengths, row counts, offsets and the shape of the schema;
//! 2. page indexes: offsets, which must lie in their chunk and rise;
//! 3. page headers and checksums (`pages`), the size that a page unpacks to (`unpack`);
//! 4. what is in a page (`page_reader`, `levels`, `values`): counts, lengths and indexes. A checksum does not stand in for it:
//!    a hostile file has a right one.
//!
//! Spec: <https://github.com/apache/parquet-format>, and Hudi's keys in base file footers.

mod bloom_text;
mod chunk_bytes;
mod columns;
mod delta;
mod error;
mod flat;
mod footer;
mod gather;
mod group;
mod int96;
mod levels;
mod nested;
mod page_header;
mod page_index;
mod page_reader;
mod page_walk;
mod pages;
mod reader;
mod reading;
mod rows;
mod runs;
mod schema_check;
mod split_block;
mod statistics;
mod thrift;
mod unpack;
mod values;
mod write;

pub use columns::Columns;
pub use footer::{Footer, FooterKeys, first_range, first_ranges, metadata_range};
pub use page_index::{PendingIndex, page_selection};
pub use parquet::arrow::arrow_reader::RowSelection;
pub use reader::{GroupReader, GroupRequest, RowFilterFn, Step};
pub use split_block::BlockFilter;
pub use statistics::{Known, Leaf};
pub use write::{Codec, ColumnSummary, Compressor, FileSchema, FileWriter, Rows, Source, TextRows};

#[cfg(all(test, not(target_arch = "wasm32")))]
mod tests;
