//! The object stores that a browser, Node or a worker can reach.
//!
//! Knows URLs, headers, signatures and `fetch`; must not know what a table is.

#[cfg(not(target_arch = "wasm32"))]
mod native;

#[cfg(not(target_arch = "wasm32"))]
pub use native::{open_folder, open_memory};
