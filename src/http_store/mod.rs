//! The object stores that a browser, Node or a worker can reach.
//!
//! Knows URLs, headers, signatures and `fetch`; must not know what a table is. Everything that can be judged without
//! a network is: a `Transport` only sends one request and reads one body.

#![cfg_attr(
    not(target_arch = "wasm32"),
    allow(
        dead_code,
        reason = "only the tests connect natively; a native build opens local folders"
    )
)]

#[cfg(target_arch = "wasm32")]
mod body;
#[cfg(target_arch = "wasm32")]
mod caller;
mod connector;
mod crypto;
#[cfg(target_arch = "wasm32")]
mod fetch;
#[cfg(target_arch = "wasm32")]
mod js_cache;
#[cfg(target_arch = "wasm32")]
mod js_listing;
#[cfg(target_arch = "wasm32")]
mod js_store;
#[cfg(target_arch = "wasm32")]
mod js_value;
#[cfg(target_arch = "wasm32")]
mod js_write;
mod judge;
mod listing;
pub mod manifest;
#[cfg(not(target_arch = "wasm32"))]
mod native;
#[cfg(target_arch = "wasm32")]
mod open;
mod refusal;
mod s3;
mod signer;
#[cfg(test)]
mod tests;
mod web_folder;

#[cfg(target_arch = "wasm32")]
pub use js_cache::JsCache;
pub use manifest::Manifest;
#[cfg(not(target_arch = "wasm32"))]
pub use native::{open_folder, open_memory};
#[cfg(target_arch = "wasm32")]
pub use open::{OpenedStore, open};
