//! Faults on request, so that tests can see what they do to a packed build.

use js_sys::Promise;
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

use super::call::{Cancel, promise};
use crate::error::{Error, Result};
use crate::host;

/// Provokes the fault of that name, at once or, for a name that ends in `later`, in a task some milliseconds on.
///
/// `panic` and `panic later` panic, `memory` and `memory later` allocate without end, `stack` recurses without end;
/// `wait` never settles, for a call to be pending meanwhile; any other name is an ordinary error.
#[wasm_bindgen(js_name = _probe)]
pub fn probe(name: String, cancel: &Cancel) -> Promise {
    if !name.ends_with("later") && name != "wait" {
        return match fault(&name) {
            Ok(()) => Promise::resolve(&JsValue::UNDEFINED),
            Err(error) => Promise::reject(&super::error::to_js(&error)),
        };
    }
    let future = async move {
        if name == "wait" {
            std::future::pending::<()>().await;
        }
        host::sleep(5).await;
        fault(&name)?;
        Ok(JsValue::UNDEFINED)
    };
    promise(cancel, future, || ())
}

#[allow(clippy::panic, reason = "this is what the probe is for")]
fn fault(name: &str) -> Result<()> {
    match name.split(' ').next() {
        Some("panic") => panic!("the probe was asked to panic"),
        Some("memory") => {
            // Asked for and not touched, so that the host need not find the pages.
            let mut held: Vec<Vec<u8>> = Vec::new();
            loop {
                held.push(std::hint::black_box(Vec::with_capacity(256 << 20)));
            }
        }
        Some("stack") => {
            std::hint::black_box(deeper(1));
            Ok(())
        }
        _ => Err(Error::invalid_argument("no such probe").context("field", name)),
    }
}

#[allow(unconditional_recursion, reason = "this is what the probe is for")]
fn deeper(depth: u64) -> u64 {
    std::hint::black_box(deeper(std::hint::black_box(depth + 1))) + 1
}
