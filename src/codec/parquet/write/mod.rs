//! Parquet base files written, as Java's readers and mergers take them.
//!
//! Our own lines rather than the `parquet` crate's writer: columns that are constant or follow from others cost almost nothing,
//! bytes leave as soon as a row group ends, a column with a NaN gets no bounds, and a fifth of the code travels.
//!
//! Knows the format; knows no store, no table and none of Hudi's keys.

mod arrow_schema;
mod bound;
mod column;
mod compress;
mod counter;
mod delta;
mod dictionary;
mod encoder;
mod file;
mod file_schema;
mod footer;
mod hybrid;
mod levels;
mod numbers;
mod page;
mod texts;
mod thrift;

pub use compress::{Codec, Compressor};
pub use file::{ColumnSummary, FileWriter, Rows, Source, TextRows};
pub use file_schema::FileSchema;
