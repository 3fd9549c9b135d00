//! Change queries: every change within a range, with what the row was before and after it.
//!
//! | file | holds |
//! |---|---|
//! | `splits.rs` | [`Split`]: what one instant did to one file group, and which files tell it |
//! | `images.rs` | the rows of a split, before and after, from change logs and data files |
//! | `output.rs` | [`CdcOutput`]: changes to batches of `op`, `ts_ms`, `before`, `after` |
//! | `json.rs` | an image as JSON text, in the two ways Spark writes it |
//! | `run.rs` | [`run_cdc`]: splits to a stream |
//!
//! Source: Hudi 1.1 `HoodieCDCExtractor`, `CDCFileGroupIterator`.

mod images;
mod json;
mod output;
mod run;
mod splits;

pub(super) use json::row_text;
pub use output::{CdcOutput, ImageForm, cdc_schema};
pub use run::{CdcImages, run_cdc};
pub use splits::{Case, Split, cdc_splits};
