//! A promise in, a `Send` future out.

use futures::channel::oneshot;
use js_sys::Promise;
use wasm_bindgen::JsValue;
use wasm_bindgen_futures::{JsFuture, spawn_local};

use crate::error::{Error, Result};

/// Awaits the promise that `start` makes and brings its value into Rust by `take`, on the one JavaScript thread.
///
/// `JsValue` is not `Send`, so the promise is awaited in a local task and only what `take` returns crosses over.
/// When the returned future is dropped before the promise settles, `cancel` runs once.
pub fn await_promise<T, S, C, K>(
    start: S,
    cancel: C,
    take: K,
) -> impl Future<Output = Result<T>> + Send + use<T, S, C, K>
where
    T: Send + 'static,
    S: FnOnce() -> Promise,
    C: FnOnce() + 'static,
    K: FnOnce(Result<JsValue, JsValue>) -> Result<T> + 'static,
{
    let (mut sender, receiver) = oneshot::channel();
    let promise = JsFuture::from(start());
    spawn_local(async move {
        let settled = futures::future::select(promise, sender.cancellation()).await;
        match settled {
            futures::future::Either::Left((value, _)) => {
                let _ = sender.send(take(value));
            }
            futures::future::Either::Right(_) => cancel(),
        }
    });
    async move {
        match receiver.await {
            Ok(value) => value,
            Err(_) => Err(Error::internal(
                "the task that waits for a promise ended early",
            )),
        }
    }
}
