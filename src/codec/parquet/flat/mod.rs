//! Columns without nesting in the two encodings that Hudi's writers use, decoded from checked pages straight into arrays.
//!
//! Most columns of most tables are such. The `parquet` crate makes a call for the copy of each text, which in wasm takes as
//! long as the rest of the work, and takes rows that lie far apart no faster than all of them. Columns of other types and
//! encodings are left to it.

mod column;
mod fixed;
mod page;
mod run_values;
mod texts;

pub(super) use column::FlatColumn;
