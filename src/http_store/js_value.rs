//! Small readings of JavaScript values; none of them throws.

use js_sys::{Function, Object, Promise, Reflect};
use wasm_bindgen::{JsCast, JsValue};
use web_sys::AbortController;

use crate::error::{Error, ErrorKind, Result};
use crate::storage::Redacted;
use crate::storage::wire::Failure;

/// The largest integer that a number holds exactly.
const MAX_SAFE: f64 = 9_007_199_254_740_991.0;

/// A property; `undefined` where there is none, or its getter throws.
pub(super) fn get(object: &JsValue, key: &str) -> JsValue {
    match object.is_object() || object.is_function() {
        true => Reflect::get(object, &key.into()).unwrap_or(JsValue::UNDEFINED),
        false => JsValue::UNDEFINED,
    }
}

/// An options object with a signal, and what fires it.
pub(super) fn options() -> (Object, impl FnOnce() + 'static) {
    let options = Object::new();
    let controller = AbortController::new().ok();
    if let Some(controller) = &controller {
        set(&options, "signal", &controller.signal());
    }
    let abort = move || {
        if let Some(controller) = controller {
            controller.abort();
        }
    };
    (options, abort)
}

/// A text property.
pub(super) fn text(object: &JsValue, key: &str) -> Option<String> {
    get(object, key).as_string()
}

/// A function property.
pub(super) fn function(object: &JsValue, key: &str) -> Option<Function> {
    get(object, key).dyn_into().ok()
}

/// A whole, positive number that is exact, or a bigint.
pub(super) fn whole(value: &JsValue) -> Option<u64> {
    match value.as_f64() {
        Some(number) => {
            let exact = (0.0..=MAX_SAFE).contains(&number) && number.fract() == 0.0;
            exact.then_some(number as u64)
        }
        None => u64::try_from(value.clone()).ok(),
    }
}

/// Sets a property of an object that we made.
pub(super) fn set(object: &Object, key: &str, value: &JsValue) {
    // It fails for frozen objects and proxies only.
    let _ = Reflect::set(object, &key.into(), value);
}

/// A promise of `value`, which may be one already.
pub(super) fn promise(value: &JsValue) -> Promise {
    Promise::resolve(value)
}

/// A boolean option; absent is `None`. Errors: `InvalidArgument` for anything else.
pub(super) fn flag(object: &JsValue, key: &'static str) -> Result<Option<bool>> {
    let value = get(object, key);
    match value.as_bool() {
        None if !value.is_undefined() && !value.is_null() => Err(Error::invalid_argument(
            "a storage option must be true or false",
        )
        .context("field", key)),
        flag => Ok(flag),
    }
}

/// What a thrown value says: an error with one of our codes keeps it, one with an HTTP status is judged by it, any
/// other is `otherwise`. Its words are redacted, also of each of `secrets`.
pub(super) fn thrown(value: &JsValue, otherwise: ErrorKind, secrets: &[&str]) -> Failure {
    let code = text(value, "code");
    let known = ErrorKind::ALL
        .iter()
        .find(|kind| Some(kind.code()) == code.as_deref());
    let status = get(value, "status")
        .as_f64()
        .filter(|s| *s >= 100.0 && *s < 600.0);
    let status = status.map(|s| s as u16);
    let (kind, retry) = match (known, status) {
        (Some(kind), _) => (*kind, passing(*kind)),
        (None, Some(status)) => by_status(status),
        (None, None) => (otherwise, passing(otherwise)),
    };
    let words = words(value);
    let mut error = Error::new(
        kind,
        match words.is_empty() {
            true => "the request failed".to_owned(),
            false => crate::storage::redact(&words, secrets),
        },
    );
    if let Some(status) = status {
        error = error.context("status", status);
    }
    if let Some(hint) = text(value, "hint") {
        error = error.context("hint", crate::storage::redact(&hint, secrets));
    }
    if let Some(cause) = Some(get(value, "cause")).filter(JsValue::is_object) {
        error = error.with_source(Redacted::new(self::words(&cause), secrets));
    }
    Failure {
        retry,
        ..Failure::lasting(error)
    }
}

fn passing(kind: ErrorKind) -> bool {
    use ErrorKind::{Network, Throttled, Unavailable};
    matches!(kind, Network | Throttled | Unavailable)
}

fn by_status(status: u16) -> (ErrorKind, bool) {
    super::refusal::kind_of_status(status)
}

/// Message of an error, or the value as text.
fn words(value: &JsValue) -> String {
    if let Some(text) = value.as_string() {
        return text;
    }
    let message = text(value, "message").filter(|m| !m.is_empty());
    let code = text(value, "code");
    match (message, code) {
        (Some(message), Some(code)) if !message.contains(&code) => format!("{message} ({code})"),
        (Some(message), _) => message,
        (None, code) => code.unwrap_or_default(),
    }
}
