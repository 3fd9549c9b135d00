//! Avro's binary encoding: object container files and single records, by the schema they were written with.
//!
//! Own lines rather than a library for two reasons: lengths, depth and the number of values are bounded by the input,
//! so that hostile bytes end in an error at an offset; and the module stays small. Source: Avro 1.12 specification.

mod container;
mod datum;
mod encode;
mod resolve;
mod rows;
mod wire;

pub use container::{Container, is_container};
pub use datum::read_datum;
pub use encode::{write_container, write_datum};
pub use resolve::resolve_datum;
pub use rows::RowDecoder;
#[cfg(all(test, not(target_arch = "wasm32")))]
pub(crate) use rows::tests::oracle::holds;
pub(crate) use rows::unscaled;
pub use wire::WireSchema;
