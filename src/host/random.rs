/// A random number in `0.0..1.0`, good enough for jitter.
#[cfg(target_arch = "wasm32")]
pub fn random_unit() -> f64 {
    js_sys::Math::random()
}

/// A random number in `0.0..1.0`, good enough for jitter.
#[cfg(not(target_arch = "wasm32"))]
pub fn random_unit() -> f64 {
    use std::hash::{BuildHasher, RandomState};
    let bits = RandomState::new().hash_one(0_u8) >> 11;
    bits as f64 / (1_u64 << 53) as f64
}
