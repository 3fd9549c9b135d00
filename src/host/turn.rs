//! The host's turn: events, painting and answers get their chance, and work goes on at once after them.

/// Lets the host do what waits, then goes on.
#[cfg(not(target_arch = "wasm32"))]
pub async fn turn() {
    tokio::task::yield_now().await;
}

/// Lets the host do what waits, then goes on. By a message to itself, since browsers make a timer of 0 ms wait 4 ms
/// when timers follow each other; by such a timer where the host has no message channels.
#[cfg(target_arch = "wasm32")]
pub async fn turn() {
    if !matches!(super::run_local(by_message(), || {}).await, Ok(true)) {
        super::sleep(0).await;
    }
}

#[cfg(target_arch = "wasm32")]
#[allow(
    clippy::future_not_send,
    reason = "it runs inside host::run_local, which is Send"
)]
async fn by_message() -> bool {
    let Some((here, there)) = ports() else {
        return false;
    };
    let here = Port(here);
    let mut sent = false;
    let message = js_sys::Promise::new(&mut |resolve, _| {
        sent = js_sys::Reflect::set(&here.0, &"onmessage".into(), &resolve).is_ok()
            && call(&there, "postMessage", &wasm_bindgen::JsValue::NULL);
    });
    if sent {
        let _ = super::settled(message).await;
    }
    sent
}

/// A port that is closed whatever becomes of the wait: an open one keeps a Node process alive.
#[cfg(target_arch = "wasm32")]
struct Port(wasm_bindgen::JsValue);

#[cfg(target_arch = "wasm32")]
impl Drop for Port {
    fn drop(&mut self) {
        call(&self.0, "close", &wasm_bindgen::JsValue::UNDEFINED);
    }
}

#[cfg(target_arch = "wasm32")]
fn ports() -> Option<(wasm_bindgen::JsValue, wasm_bindgen::JsValue)> {
    use wasm_bindgen::JsCast;
    let make = js_sys::Reflect::get(&js_sys::global(), &"MessageChannel".into()).ok()?;
    let make = make.dyn_ref::<js_sys::Function>()?;
    let channel = js_sys::Reflect::construct(make, &js_sys::Array::new()).ok()?;
    let port = |name: &str| js_sys::Reflect::get(&channel, &name.into()).ok();
    Some((port("port1")?, port("port2")?))
}

#[cfg(target_arch = "wasm32")]
fn call(object: &wasm_bindgen::JsValue, method: &str, argument: &wasm_bindgen::JsValue) -> bool {
    use wasm_bindgen::JsCast;
    let found = js_sys::Reflect::get(object, &method.into()).ok();
    let function = found.and_then(|found| found.dyn_into::<js_sys::Function>().ok());
    function.is_some_and(|function| function.call1(object, argument).is_ok())
}
