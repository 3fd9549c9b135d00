//! Answers that say no: which kind of error, and what the caller can do.

use super::judge::{Asked, Received, refused_size};
use crate::error::{Error, ErrorKind};
use crate::storage::wire::Failure;

/// The failure that a status outside of 2xx stands for. Of the body only the code is used: S3 puts what was signed,
/// and by whom, into the rest.
pub(super) fn refuse(asked: &Asked, received: &Received, retry_after: Option<u64>) -> Failure {
    let status = received.status;
    let code = error_code(&received.body);
    let region = header(received, "x-amz-bucket-region");
    let (kind, message, retry) = sort(status, code.as_deref(), asked.known.is_some());
    let mut error = Error::new(kind, message).context("status", status);
    if let Some(code) = &code {
        error = error.context("code", code);
    }
    if let Some(region) = region {
        error = error.context("region", region);
    }
    if let Some(hint) = hint(status, code.as_deref(), kind) {
        error = error.context("hint", hint);
    }
    if let Some(millis) = retry_after {
        error = error.context("retryAfter", millis.div_ceil(1000));
    }
    Failure {
        error,
        retry,
        retry_after: retry_after.filter(|_| retry),
        size: (status == 416)
            .then(|| refused_size(&received.headers))
            .flatten(),
    }
}

/// The kind of error that a status alone stands for, and whether it may be over soon.
#[cfg(target_arch = "wasm32")]
pub(super) fn kind_of_status(status: u16) -> (ErrorKind, bool) {
    let (kind, _, retry) = sort(status, None, true);
    (kind, retry)
}

fn sort(status: u16, code: Option<&str>, size_known: bool) -> (ErrorKind, &'static str, bool) {
    use ErrorKind::{
        InvalidArgument, Network, NotFound, PreconditionFailed, Throttled, Unauthorized,
        Unavailable,
    };
    match (status, code) {
        (_, Some("ExpiredToken" | "InvalidToken" | "TokenRefreshRequired")) => (
            Unauthorized,
            "the credentials have expired or are refused",
            false,
        ),
        (_, Some("SlowDown")) => (Throttled, "the server asks to slow down", true),
        (_, Some("RequestTimeout")) | (408, _) => (Network, "the request took too long", true),
        (_, Some("NoSuchBucket")) => (NotFound, "there is no such bucket", false),
        (401 | 403 | 407, _) => (Unauthorized, "the server refuses access", false),
        (404 | 410, _) => (NotFound, "there is no such object", false),
        (304 | 409 | 412, _) => (
            PreconditionFailed,
            "the object is not as it was expected to be",
            false,
        ),
        (416, _) if size_known => (
            PreconditionFailed,
            "the object ends before the bytes asked for",
            false,
        ),
        (416, _) => (
            PreconditionFailed,
            "the object has no bytes at the range asked for",
            false,
        ),
        (425 | 429, _) => (Throttled, "the server asks to slow down", true),
        (503, _) => (Throttled, "the server asks to slow down", true),
        (501 | 505, _) => (Unavailable, "the server cannot do what was asked", false),
        (500..=599, _) => (Unavailable, "the server failed", true),
        (300..=399, _) => (
            InvalidArgument,
            "the bucket or the object is elsewhere",
            false,
        ),
        (0, _) => (Network, "the answer cannot be seen by script", false),
        _ => (
            InvalidArgument,
            "the server does not accept the request",
            false,
        ),
    }
}

fn hint(status: u16, code: Option<&str>, kind: ErrorKind) -> Option<&'static str> {
    Some(match (status, code, kind) {
        (_, Some("SignatureDoesNotMatch"), _) => {
            "check the secret key, the region and the endpoint; a proxy must keep the Host header"
        }
        (_, Some("RequestTimeTooSkewed"), _) => "set this machine's clock",
        (_, Some("AuthorizationHeaderMalformed" | "PermanentRedirect"), _) | (300..=399, _, _) => {
            "set the region and the endpoint of the bucket"
        }
        (_, _, ErrorKind::Unauthorized) => {
            "check that the credentials are given, not expired, and may read and list this place"
        }
        _ => return None,
    })
}

fn header<'a>(received: &'a Received, name: &str) -> Option<&'a str> {
    let value = received.headers.get(name)?.to_str().ok()?;
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '-';
    (value.len() <= 40 && value.chars().all(plain)).then_some(value)
}

/// `<Code>…</Code>` of an S3 error, when it is one word.
fn error_code(body: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(body);
    let (_, rest) = text.split_once("<Code>")?;
    let (code, _) = rest.split_once("</Code>")?;
    let word = !code.is_empty() && code.len() <= 64;
    (word && code.chars().all(|c| c.is_ascii_alphanumeric())).then(|| code.to_owned())
}
