//! JavaScript values that Rust holds on to by number, so that their holders are `Send`.

use std::cell::RefCell;
use std::collections::HashMap;

use wasm_bindgen::JsValue;

#[derive(Default)]
struct Registry {
    next: u32,
    values: HashMap<u32, JsValue>,
}

thread_local! {
    static REGISTRY: RefCell<Registry> = RefCell::default();
}

/// A value of this thread's JavaScript; it is let go when this is dropped.
#[derive(Debug)]
pub struct Kept(u32);

impl Kept {
    /// Holds on to a value.
    pub fn new(value: JsValue) -> Self {
        REGISTRY.with_borrow_mut(|registry| {
            let mut id = registry.next;
            while registry.values.contains_key(&id) {
                id = id.wrapping_add(1);
            }
            registry.next = id.wrapping_add(1);
            registry.values.insert(id, value);
            Self(id)
        })
    }

    /// The value; `undefined` on any thread but the one it came from.
    pub fn get(&self) -> JsValue {
        REGISTRY.with_borrow(|registry| {
            let value = registry.values.get(&self.0);
            value.cloned().unwrap_or(JsValue::UNDEFINED)
        })
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        // At the end of the thread the registry may be gone already, and its values with it.
        let _ = REGISTRY.try_with(|registry| match registry.try_borrow_mut() {
            Ok(mut registry) => registry.values.remove(&self.0),
            Err(_) => None,
        });
    }
}
