//! The engine's error as JSON text, from which `js/errors.js` makes a `HudiError`. The one place that turns a kind
//! into a code of JavaScript.

use std::error::Error as StdError;

use wasm_bindgen::JsValue;

use crate::error::{Error, ErrorKind};

/// `{code, message, retryable, context, cause?}` as JSON text; the cause is the chain of sources as one sentence.
pub(super) fn to_js(error: &Error) -> JsValue {
    let context: serde_json::Map<String, serde_json::Value> = error
        .contexts()
        .iter()
        .map(|(key, value)| ((*key).to_owned(), value.clone().into()))
        .collect();
    let mut plain = serde_json::json!({
        "code": error.kind().code(),
        "message": error.message(),
        "retryable": error.kind().retryable(),
        "context": context,
    });
    if let (Some(cause), Some(plain)) = (causes(error), plain.as_object_mut()) {
        plain.insert("cause".to_owned(), cause.into());
    }
    JsValue::from_str(&plain.to_string())
}

/// What a function of our JavaScript threw: a `HudiError` keeps its code; anything else is the caller's input that failed.
pub(super) fn from_js(thrown: &JsValue) -> Error {
    let text = |key: &str| js_sys::Reflect::get(thrown, &key.into()).ok()?.as_string();
    let code = text("code");
    let kind = ErrorKind::ALL
        .iter()
        .find(|kind| Some(kind.code()) == code.as_deref());
    let message = text("message").unwrap_or_else(|| "the input failed".to_owned());
    Error::new(kind.copied().unwrap_or(ErrorKind::InvalidArgument), message)
}

/// The messages of all sources, the nearest first, each said once.
fn causes(error: &Error) -> Option<String> {
    let mut text: Option<String> = None;
    let mut next = error.source();
    while let Some(source) = next {
        let message = source.to_string();
        text = match text {
            None => Some(message),
            Some(before) if before.contains(&message) => Some(before),
            Some(before) => Some(format!("{before}: {message}")),
        };
        next = source.source();
    }
    text
}
