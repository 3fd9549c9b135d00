//! A promise in, a `Send` future out.

use futures::channel::oneshot;
use futures::future::{Either, select};
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
    let promise = settled(start());
    let local = run_local(async move { take(promise.await) }, cancel);
    async move { local.await? }
}

/// Runs `work`, which may hold JavaScript values, as a local task; only what it returns crosses over.
///
/// When the returned future is dropped before `work` ends, `work` is dropped and `cancel` runs once.
pub fn run_local<T, W, C>(
    work: W,
    cancel: C,
) -> impl Future<Output = Result<T>> + Send + use<T, W, C>
where
    T: Send + 'static,
    W: Future<Output = T> + 'static,
    C: FnOnce() + 'static,
{
    let (mut sender, receiver) = oneshot::channel();
    spawn_local(async move {
        let ended = select(Box::pin(work), sender.cancellation()).await;
        match ended {
            Either::Left((value, _)) => {
                let _ = sender.send(value);
            }
            Either::Right((_, work)) => {
                drop(work);
                cancel();
            }
        }
    });
    async move {
        let ended = receiver.await;
        ended.map_err(|_| Error::internal("a task that waits for JavaScript ended early"))
    }
}

/// Waits for a promise inside of [`run_local`].
#[allow(
    clippy::disallowed_methods,
    clippy::future_not_send,
    reason = "this is the one place that turns promises into futures; run_local makes them Send"
)]
pub async fn settled(promise: Promise) -> Result<JsValue, JsValue> {
    JsFuture::from(promise).await
}
