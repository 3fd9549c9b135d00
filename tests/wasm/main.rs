//! The cases that run on wasm32, in a headless browser and in Node alike, by `wasm-pack test`.
#![cfg(target_arch = "wasm32")]

#[path = "../support/rows.rs"]
mod rows;
mod storage;
mod tables;

use wasm_bindgen_test::wasm_bindgen_test;

#[wasm_bindgen_test]
fn the_host_is_a_javascript_engine() {
    assert!(js_sys::Math::max(1.0, 2.0) > 1.5);
}
