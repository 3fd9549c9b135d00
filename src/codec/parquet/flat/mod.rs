//! Columns of one value a row, decoded from checked pages straight into arrays; and values and runs as nested columns need them
//! too.
//!
//! The two encodings that Hudi's writers use are read as they stand, texts without a call for the copy of each, rows that lie
//! far apart without those between. Others are undone as a page is opened (`plain`).

mod column;
mod fixed;
mod out;
mod page;
mod plain;
mod run_values;
mod texts;

pub(super) use column::FlatColumn;
pub(super) use out::{Out, Valid};
pub(super) use page::{Next, Page, maxima};
pub(super) use run_values::{Part, RunValues};
