//! Options to slices, slices to a bounded stream of batches.

mod run;

pub use run::{SliceTask, run};
