//! Errors of `object_store` to kinds of ours.

use std::error::Error as StdError;
use std::io;

use object_store::Error as StoreError;

use super::redact::Redacted;
use super::wire::{Carried, Failure};
use crate::error::{Error, ErrorKind};

/// What went wrong with `path`. Nothing of a foreign error's text passes unredacted.
pub(super) fn classify(error: StoreError, path: &str) -> Failure {
    if let Some(mut failure) = carried(&error) {
        failure.error = failure.error.context("path", path);
        return failure;
    }
    let (kind, message, status) = match &error {
        StoreError::NotFound { .. } => (ErrorKind::NotFound, "there is no such object", 404),
        StoreError::InvalidPath { .. } => (ErrorKind::InvalidArgument, "not a path", 0),
        StoreError::AlreadyExists { .. } => (
            ErrorKind::PreconditionFailed,
            "the object exists already",
            409,
        ),
        StoreError::Precondition { .. } => (
            ErrorKind::PreconditionFailed,
            "the object is not as it was expected to be",
            412,
        ),
        StoreError::NotModified { .. } => (
            ErrorKind::PreconditionFailed,
            "the object was asked for only if changed, and is not",
            304,
        ),
        StoreError::PermissionDenied { .. } => {
            (ErrorKind::Unauthorized, "the store refuses access", 403)
        }
        StoreError::Unauthenticated { .. } => {
            (ErrorKind::Unauthorized, "the store wants credentials", 401)
        }
        StoreError::NotSupported { .. } | StoreError::NotImplemented { .. } => {
            (ErrorKind::Unsupported, "the store cannot do this", 0)
        }
        StoreError::UnknownConfigurationKey { .. } => {
            (ErrorKind::InvalidArgument, "unknown store option", 0)
        }
        StoreError::JoinError { .. } => (ErrorKind::Internal, "a task of the store ended early", 0),
        _ => return other(error, path),
    };
    let mut made = Error::new(kind, message).context("path", path);
    if status != 0 {
        made = made.context("status", status);
    }
    Failure::lasting(made.with_source(Redacted::new(&error, &[])))
}

/// `Generic`: a refused range of a local store, an I/O error, or an answer that could not be understood.
fn other(error: StoreError, path: &str) -> Failure {
    let text = chain(&error);
    let source = Redacted::new(&text, &[]);
    if let Some(size) = size_of_refused_range(&text) {
        let made = Error::precondition_failed("the object ends before the bytes asked for")
            .context("path", path)
            .context("size", size);
        let mut failure = Failure::lasting(made.with_source(source));
        failure.size = Some(size);
        return failure;
    }
    match find::<io::Error>(&error).map(io::Error::kind) {
        Some(io::ErrorKind::NotFound | io::ErrorKind::IsADirectory) => Failure::lasting(
            Error::not_found("there is no such object")
                .context("path", path)
                .with_source(source),
        ),
        Some(io::ErrorKind::PermissionDenied) => Failure::lasting(
            Error::unauthorized("the store refuses access")
                .context("path", path)
                .with_source(source),
        ),
        Some(_) => Failure::lasting(
            Error::unavailable("the store failed")
                .context("path", path)
                .with_source(source),
        ),
        None => Failure::passing(
            Error::unavailable("the store's answer was not understood")
                .context("path", path)
                .with_source(source),
        ),
    }
}

/// `object_store` keeps this error private, so its words are all there is: "Wanted range starting at {start}, but
/// object was only {size} bytes long" (0.14.2, `util.rs`).
fn size_of_refused_range(text: &str) -> Option<u64> {
    let (_, rest) = text.split_once("object was only ")?;
    let (size, _) = rest.split_once(" bytes long")?;
    size.parse().ok()
}

/// The words of an error and of all its causes.
fn chain(error: &(dyn StdError + 'static)) -> String {
    let mut text = error.to_string();
    let mut at = error.source();
    while let Some(cause) = at {
        let more = cause.to_string();
        if !text.contains(&more) {
            text.push_str(": ");
            text.push_str(&more);
        }
        at = cause.source();
    }
    text
}

fn carried(error: &StoreError) -> Option<Failure> {
    find::<Carried>(error).and_then(Carried::take)
}

fn find<'a, T: StdError + 'static>(error: &'a (dyn StdError + 'static)) -> Option<&'a T> {
    let mut at = Some(error);
    while let Some(error) = at {
        if let Some(found) = error.downcast_ref::<T>() {
            return Some(found);
        }
        at = error.source();
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use object_store::client::{HttpError, HttpErrorKind};

    fn generic(source: impl Into<Box<dyn StdError + Send + Sync>>) -> StoreError {
        StoreError::Generic {
            store: "test",
            source: source.into(),
        }
    }

    fn check(error: StoreError, kind: ErrorKind, retry: bool, status: u16) -> Failure {
        let failure = classify(error, "a/b");
        assert_eq!(failure.error.kind(), kind);
        assert_eq!(failure.retry, retry);
        assert_eq!(failure.status(), status);
        assert_eq!(failure.error.get("path"), Some("a/b"));
        failure
    }

    #[test]
    fn each_error_of_the_store_has_its_kind() {
        let source = || "x".into();
        let path = || "p".to_owned();
        check(
            StoreError::NotFound {
                path: path(),
                source: source(),
            },
            ErrorKind::NotFound,
            false,
            404,
        );
        check(
            StoreError::Precondition {
                path: path(),
                source: source(),
            },
            ErrorKind::PreconditionFailed,
            false,
            412,
        );
        check(
            StoreError::PermissionDenied {
                path: path(),
                source: source(),
            },
            ErrorKind::Unauthorized,
            false,
            403,
        );
        check(
            StoreError::Unauthenticated {
                path: path(),
                source: source(),
            },
            ErrorKind::Unauthorized,
            false,
            401,
        );
        check(
            StoreError::NotSupported { source: source() },
            ErrorKind::Unsupported,
            false,
            0,
        );
        check(generic("odd xml"), ErrorKind::Unavailable, true, 0);
        check(
            generic(io::Error::from(io::ErrorKind::PermissionDenied)),
            ErrorKind::Unauthorized,
            false,
            0,
        );
    }

    #[test]
    fn our_own_error_comes_back_out_of_the_chain() {
        let ours = Error::throttled("slow down").context("status", 429);
        let mut sent = Failure::passing(ours);
        sent.retry_after = Some(2000);
        let http = HttpError::new(HttpErrorKind::Interrupted, Carried::new(sent));
        let failure = check(generic(http), ErrorKind::Throttled, true, 429);
        assert_eq!(failure.retry_after, Some(2000));
    }

    #[test]
    fn a_range_past_the_end_names_the_size() {
        let text = "Wanted range starting at 5, but object was only 3 bytes long";
        let failure = check(generic(text), ErrorKind::PreconditionFailed, false, 0);
        assert_eq!(failure.size, Some(3));
    }

    #[test]
    fn a_signed_url_in_a_foreign_error_does_not_pass() {
        let error = generic("GET https://h/p?X-Amz-Signature=abc123: broken pipe");
        let failure = check(error, ErrorKind::Unavailable, true, 0);
        assert!(!format!("{} {:?}", failure.error, failure.error).contains("abc123"));
    }
}
