//! Filters: read from what a caller gives, bound to a schema, kept or dropped row by row, and asked of bounds.
//!
//! It knows what Spark means by a comparison and how text is read as a value of a column's type. It must not know files or
//! statistics formats: whoever has bounds states them through [`Bounds`].
//!
//! | file | holds |
//! |---|---|
//! | `parse.rs` | [`Filter`] and [`Operator`] from text, lists and JSON |
//! | `literal.rs`, `date_time.rs`, `decimal.rs` | text to a value of a column's type |
//! | `scalar.rs`, `scalar_text.rs` | [`Scalar`], one value and its order, and its text |
//! | `predicate.rs` | [`Predicate`]: filters bound to a schema |
//! | `mask.rs` | over a batch: which rows stay |
//! | `bounds.rs` | over minimum, maximum and counts: maybe or never |
//!
//! Meaning, as Spark's: null matches nothing but IS NULL, also under != and NOT IN. NaN equals NaN and is greater than every
//! number; -0.0 equals 0.0. Text compares by bytes of UTF-8, binary as unsigned bytes, decimals by value at any scale.

mod bounds;
mod date_time;
mod decimal;
mod literal;
mod mask;
mod parse;
mod predicate;
mod scalar;
mod scalar_text;

pub use bounds::{Bounds, ColumnBounds};
pub use date_time::{parse_date, parse_local_timestamp, parse_timestamp};
pub use parse::{Filter, FilterValues, Operator};
pub use predicate::Predicate;
pub use scalar::Scalar;
