/// Waits for `millis` milliseconds without blocking the thread.
#[cfg(not(target_arch = "wasm32"))]
pub async fn sleep(millis: u32) {
    tokio::time::sleep(std::time::Duration::from_millis(u64::from(millis))).await;
}

/// Waits for `millis` milliseconds without blocking the thread.
#[cfg(target_arch = "wasm32")]
pub async fn sleep(millis: u32) {
    // Dropping it clears the timer, which would keep a Node process alive.
    let _ = super::run_local(gloo::timers::future::TimeoutFuture::new(millis), || {}).await;
}
