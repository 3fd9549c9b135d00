//! Bytes kept where they do not count against the engine's own memory.
//!
//! Wasm memory grows and never shrinks, so what is only kept for later stays in JavaScript's heap: a list of
//! `Uint8Array`s of this thread, addressed by number. Natively they are plain [`Bytes`].

use std::ops::Range;

use bytes::Bytes;

/// Bytes set aside; they are freed when this is dropped.
#[derive(Debug)]
pub struct Outside {
    #[cfg(target_arch = "wasm32")]
    id: u32,
    #[cfg(not(target_arch = "wasm32"))]
    bytes: Bytes,
    length: usize,
}

impl Outside {
    /// How many bytes are set aside.
    pub fn len(&self) -> usize {
        self.length
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }
}

#[cfg(not(target_arch = "wasm32"))]
impl Outside {
    /// Sets a copy of `bytes` aside.
    pub fn keep(bytes: &Bytes) -> Self {
        // A slice of a joined body would keep all of the body alive.
        let bytes = Bytes::copy_from_slice(bytes);
        Self {
            length: bytes.len(),
            bytes,
        }
    }

    /// The bytes of `range`, or `None` when they are not all there.
    pub fn get(&self, range: Range<usize>) -> Option<Bytes> {
        (range.start <= range.end && range.end <= self.length).then(|| self.bytes.slice(range))
    }
}

#[cfg(target_arch = "wasm32")]
mod registry {
    use std::cell::RefCell;
    use std::collections::HashMap;

    use js_sys::Uint8Array;

    #[derive(Default)]
    pub(super) struct Registry {
        pub(super) next: u32,
        pub(super) arrays: HashMap<u32, Uint8Array>,
    }

    thread_local! {
        pub(super) static REGISTRY: RefCell<Registry> = RefCell::default();
    }
}

#[cfg(target_arch = "wasm32")]
impl Outside {
    /// Sets a copy of `bytes` aside.
    pub fn keep(bytes: &Bytes) -> Self {
        let array = js_sys::Uint8Array::from(bytes.as_ref());
        let id = registry::REGISTRY.with_borrow_mut(|registry| {
            let mut id = registry.next;
            while registry.arrays.contains_key(&id) {
                id = id.wrapping_add(1);
            }
            registry.next = id.wrapping_add(1);
            registry.arrays.insert(id, array);
            id
        });
        Self {
            id,
            length: bytes.len(),
        }
    }

    /// The bytes of `range`, or `None` when they are not all there.
    pub fn get(&self, range: Range<usize>) -> Option<Bytes> {
        if range.start > range.end || range.end > self.length {
            return None;
        }
        let start = u32::try_from(range.start).ok()?;
        let end = u32::try_from(range.end).ok()?;
        registry::REGISTRY.with_borrow(|registry| {
            let array = registry.arrays.get(&self.id)?;
            Some(Bytes::from(array.subarray(start, end).to_vec()))
        })
    }
}

#[cfg(target_arch = "wasm32")]
impl Drop for Outside {
    fn drop(&mut self) {
        // At the end of the thread the registry may be gone already, and its arrays with it.
        let _ = registry::REGISTRY.try_with(|registry| {
            if let Ok(mut registry) = registry.try_borrow_mut() {
                registry.arrays.remove(&self.id);
            }
        });
    }
}
