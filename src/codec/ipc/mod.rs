//! Arrow IPC as callers hand it in: a stream in pieces, or a file as a whole.
//!
//! `arrow` trusts the numbers in a message: it slices and multiplies by them, and on wasm a panic ends the instance. So
//! messages are framed here, and what they declare is held against the bytes that are there, before `arrow` decodes them.
//!
//! | file | holds |
//! |---|---|
//! | `stream.rs` | [`IpcStream`], a stream in pieces |
//! | `file.rs` | [`IpcFile`], a file by its footer; [`schema_of`] either |
//! | `decoder.rs` | one message after the other, to a schema, dictionaries and batches |
//! | `check.rs` | what a schema and a batch declare |
//!
//! Source: the Arrow columnar format, "Serialization and Interprocess Communication (IPC)".

mod check;
mod decoder;
mod file;
mod stream;

pub use file::{IpcFile, schema_of};
pub use stream::IpcStream;

use arrow::ipc::{Message, root_as_message};

use crate::error::{BoxError, Error, Result};

/// Bytes that are not what they say.
fn broken(source: impl Into<BoxError>) -> Error {
    Error::invalid_argument("the input is no whole Arrow IPC")
        .context(
            "hint",
            "give an IPC stream or file without compressed buffers",
        )
        .with_source(source)
}

/// A message, whose tables and vectors lie within it.
fn message(bytes: &[u8]) -> Result<Message<'_>> {
    root_as_message(bytes).map_err(|_| broken("a message that is none"))
}

#[cfg(test)]
mod tests;
