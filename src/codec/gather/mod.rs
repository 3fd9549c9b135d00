//! Rows picked from arrays, by runs: the `take` and `filter` kernels would bring half a megabyte each.
//!
//! It knows arrays and places of rows, and not why they are picked.

mod arrays;
mod patch;
mod plain;
mod runs;

pub use arrays::{gather, replace};
pub use runs::{NO_SOURCE, Run, Runs};
