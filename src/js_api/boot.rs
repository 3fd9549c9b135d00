use js_sys::Function;
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

use super::alloc;

/// Prepares a fresh instance: `panicked` is called with the text of a panic just before it traps.
#[wasm_bindgen(js_name = _boot)]
pub fn boot(panicked: Function) {
    thread_local! {
        static PANICKED: std::cell::OnceCell<Function> = const { std::cell::OnceCell::new() };
    }
    PANICKED.with(|cell| {
        let _ = cell.set(panicked);
    });
    std::panic::set_hook(Box::new(|info| {
        PANICKED.with(|cell| {
            if let Some(panicked) = cell.get() {
                let _ = panicked.call1(&JsValue::NULL, &JsValue::from_str(&info.to_string()));
            }
        });
    }));
}

/// Whether an allocation failed since this was last asked; callable after a trap, since it touches one flag only.
#[wasm_bindgen(js_name = _outOfMemory)]
pub fn out_of_memory() -> bool {
    alloc::take_failed()
}

/// The version of the engine, which is that of the package.
#[wasm_bindgen(js_name = _version)]
pub fn version() -> String {
    env!("CARGO_PKG_VERSION").to_owned()
}
