//! Work that nobody waits for: what a dropped call still has to undo.

/// Begins work and lets it run to its end. Natively that needs a runtime around the caller; without one it is dropped.
#[cfg(not(target_arch = "wasm32"))]
pub fn detach(work: impl Future<Output = ()> + Send + 'static) {
    if let Ok(runtime) = tokio::runtime::Handle::try_current() {
        runtime.spawn(work);
    }
}

/// Begins work and lets it run to its end.
#[cfg(target_arch = "wasm32")]
pub fn detach(work: impl Future<Output = ()> + Send + 'static) {
    wasm_bindgen_futures::spawn_local(work);
}
