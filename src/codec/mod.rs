//! Bytes to values and back; sans-IO: no async, no path, no clock.
//!
//! A codec is given bytes and answers with values, or with the byte ranges it needs next. Whoever drives it knows the
//! path and adds it to errors.

pub mod avro;
pub mod bloom;
pub mod bytes;
pub mod gather;
pub mod hfile;
pub mod ipc;
pub mod java_json;
pub mod java_number;
pub mod log_block;
pub mod log_format;
pub mod md5;
pub mod parquet;
