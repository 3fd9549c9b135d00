//! A persistent cache that JavaScript keeps: in the browser's Cache API or private files, or one that a caller wrote.

use std::ops::Range;

use async_trait::async_trait;
use bytes::Bytes;
use js_sys::{Function, Uint8Array};
use wasm_bindgen::{JsCast, JsValue};

use super::js_value::{function, get, promise, text};
use crate::host::{self, Kept};
use crate::storage::{KeptAnswer, KeptBytes, PersistentCache};

/// The cache of one table. A key is the path, a question mark and the size.
#[derive(Debug)]
pub struct JsCache(Kept);

impl JsCache {
    /// Over `{ get(key, start, end), put(key, start, data, etag), forget(key) }`; `None` for `undefined`.
    pub fn new(object: JsValue) -> Option<Self> {
        let there = !object.is_undefined() && !object.is_null();
        there.then(|| Self(Kept::new(object)))
    }

    fn verb(&self, name: &str) -> Option<(JsValue, Function)> {
        let object = self.0.get();
        let call = function(&object, name)?;
        Some((object, call))
    }

    fn start(
        &self,
        path: &str,
        size: u64,
        range: Range<u64>,
    ) -> impl Future<Output = crate::Result<KeptAnswer>> + Send + use<> {
        let (verb, key) = (self.verb("get"), key(path, size));
        let work = async move {
            let Some((object, call)) = verb else {
                return KeptAnswer::default();
            };
            let (start, end) = (range.start as f64, range.end as f64);
            let answer = match call.call3(&object, &key, &start.into(), &end.into()) {
                Ok(answer) => host::settled(promise(&answer)).await,
                Err(thrown) => Err(thrown),
            };
            // The cache on the other side fails with a warning, never with an error.
            answer.map_or_else(|_| KeptAnswer::default(), |answer| read(&answer))
        };
        host::run_local(work, || {})
    }
}

fn key(path: &str, size: u64) -> JsValue {
    format!("{path}?{size}").into()
}

fn read(answer: &JsValue) -> KeptAnswer {
    let data = get(answer, "data").dyn_into::<Uint8Array>().ok();
    KeptAnswer {
        found: data.map(|data| KeptBytes {
            bytes: data.to_vec().into(),
            etag: text(answer, "etag"),
        }),
        warning: text(answer, "warning"),
    }
}

#[async_trait]
impl PersistentCache for JsCache {
    async fn get(&self, path: &str, size: u64, range: Range<u64>) -> KeptAnswer {
        self.start(path, size, range).await.unwrap_or_default()
    }

    fn put(&self, path: &str, size: u64, start: u64, bytes: &Bytes, etag: Option<&str>) {
        if let Some((object, call)) = self.verb("put") {
            let (key, data) = (key(path, size), Uint8Array::from(bytes.as_ref()));
            let etag = etag.map_or(JsValue::UNDEFINED, JsValue::from_str);
            let arguments = js_sys::Array::of4(&key, &(start as f64).into(), &data, &etag);
            // Whatever it throws it has to say by the next answer.
            let _ = call.apply(&object, &arguments);
        }
    }

    fn forget(&self, path: &str, size: u64) {
        if let Some((object, call)) = self.verb("forget") {
            let _ = call.call1(&object, &key(path, size));
        }
    }
}
