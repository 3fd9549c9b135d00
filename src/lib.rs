//! Apache Hudi tables, read and written where JavaScript runs.
//!
//! One single-threaded async engine, compiled to WebAssembly. The rooms stand on floors, and a room imports only
//! rooms listed before it; `tests/floors.rs` holds that.
//!
//! | floor | rooms |
//! |---|---|
//! | 0 | [`error`] [`host`] [`model`] [`config`] |
//! | 1 | [`schema`] [`expr`] [`codec`] [`keygen`] [`merge`] |
//! | 2 | [`storage`] [`http_store`] |
//! | 3 | [`timeline`] |
//! | 4 | [`commit`] [`view`] [`slice`](mod@slice) |
//! | 5 | [`metadata`] [`read`] |
//! | 6 | [`index`] [`write`](mod@write) |
//! | 7 | [`services`] |
//! | 8 | [`table`] |
//! | 9 | `js_api` (wasm32 only) |
#![warn(
    missing_docs,
    unreachable_pub,
    clippy::future_not_send,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)]
#![cfg_attr(
    test,
    allow(
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::panic,
        clippy::indexing_slicing
    )
)]

pub mod config;
pub mod error;
pub mod host;
pub mod model;

pub mod codec;
pub mod expr;
pub mod keygen;
pub mod merge;
pub mod schema;

pub mod http_store;
pub mod storage;

pub mod timeline;

pub mod commit;
pub mod slice;
pub mod view;

pub mod metadata;
pub mod read;

pub mod index;
pub mod write;

pub mod services;

pub mod table;

#[cfg(target_arch = "wasm32")]
pub mod js_api;

pub use error::{Error, ErrorKind, Result};

/// Tables of `tests/data`, for unit tests.
#[cfg(test)]
#[path = "../tests/support/mod.rs"]
#[allow(unreachable_pub, reason = "integration tests share it")]
mod support;
