//! Bytes kept where they do not count against the engine's own memory.
//!
//! Wasm memory grows and never shrinks, so what is only kept for later stays in JavaScript's heap: a
//! `Uint8Array` of this thread, addressed by number. Natively they are plain [`Bytes`].

use std::ops::Range;

use bytes::Bytes;

/// Bytes set aside; they are freed when this is dropped.
#[derive(Debug)]
pub struct Outside {
    #[cfg(target_arch = "wasm32")]
    array: super::Kept,
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
impl Outside {
    /// Sets a copy of `bytes` aside.
    pub fn keep(bytes: &Bytes) -> Self {
        Self {
            array: super::Kept::new(js_sys::Uint8Array::from(bytes.as_ref()).into()),
            length: bytes.len(),
        }
    }

    /// The bytes of `range`, or `None` when they are not all there.
    pub fn get(&self, range: Range<usize>) -> Option<Bytes> {
        use wasm_bindgen::JsCast;
        if range.start > range.end || range.end > self.length {
            return None;
        }
        let array: js_sys::Uint8Array = self.array.get().dyn_into().ok()?;
        let start = u32::try_from(range.start).ok()?;
        let end = u32::try_from(range.end).ok()?;
        Some(Bytes::from(array.subarray(start, end).to_vec()))
    }
}
