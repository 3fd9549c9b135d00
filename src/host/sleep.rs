/// Waits for `millis` milliseconds without blocking the thread.
#[cfg(not(target_arch = "wasm32"))]
pub async fn sleep(millis: u32) {
    tokio::time::sleep(std::time::Duration::from_millis(u64::from(millis))).await;
}

/// Waits for `millis` milliseconds without blocking the thread.
#[cfg(target_arch = "wasm32")]
pub async fn sleep(millis: u32) {
    let (sender, receiver) = futures::channel::oneshot::channel();
    wasm_bindgen_futures::spawn_local(async move {
        gloo::timers::future::TimeoutFuture::new(millis).await;
        let _ = sender.send(());
    });
    let _ = receiver.await;
}
