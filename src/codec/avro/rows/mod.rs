//! Avro rows straight into Arrow columns.
//!
//! The writer's schema is compiled once into steps, one a field: pass over it, or put it into a column. A row then is one walk
//! over its bytes; nothing is made for a value but its place in a column. The columns have the writer's types, reduced to the
//! fields that the reader wants, and a finished batch goes through [`Conformer`](crate::schema::Conformer): so promotions,
//! defaults and refusals are those of base files.
//!
//! What the input can cost is bounded by it: every length is held against the bytes that are there, types nest as deep as the
//! schema parser allows, items without bytes and the filling under nulls are counted (`row.rs`).
//!
//! Source: Avro 1.12 specification, "Binary Encoding"; unions as in [`Mixed`](crate::schema::Mixed).

mod column;
mod compile;
mod decimal;
mod decoder;
mod finish;
mod row;
mod skip;

pub(crate) use decimal::large as unscaled;
pub use decoder::RowDecoder;

#[cfg(all(test, not(target_arch = "wasm32")))]
pub(crate) mod tests;
