//! Options to slices, slices to a bounded stream of batches.
//!
//! `plan` only reads what the timeline and listings say; `run` opens base files and log files. It must not know how a table is
//! opened, nor the words of JavaScript.

mod cdc;
mod diff;
mod incremental;
mod plan;
mod run;
mod visible;

pub use cdc::{Case, CdcImages, CdcOutput, ImageForm, Split, cdc_schema, cdc_splits, run_cdc};
pub use diff::{Diff, DiffSide, diff_rows};
pub use incremental::{Changed, ChangedSlices, check_commit_times};
pub use plan::{Bound, Merging, Selection, Slices, snapshot_slices};
pub use run::{SliceTask, run};
pub use visible::TableInstants;
