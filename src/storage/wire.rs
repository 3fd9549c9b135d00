//! What a store's connection and [`Storage`](super::Storage) tell each other through `object_store`.
//!
//! `object_store` passes the extensions of a get to the request, those of a response to the result, and keeps the
//! error of a connection as a source. Stores that are not HTTP need none of this.

use std::fmt;
use std::sync::{Mutex, PoisonError};

use bytes::Bytes;

use crate::error::Error;

/// Down: the size of the object asked for, in bytes, known from a listing or an earlier answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KnownSize(pub u64);

/// Up: how the answer came.
#[derive(Debug, Clone, Default)]
pub struct Answer {
    /// The HTTP status.
    pub status: u16,
    /// Bytes of the body that came over the wire.
    pub bytes: u64,
    /// The whole object, when all of it came although a range was asked for.
    pub whole: Option<Bytes>,
    /// Whether the body was stored compressed and came decoded, so that its length is not the object's size.
    pub decoded: bool,
}

/// Up: an error of ours with what retrying needs to know.
#[derive(Debug)]
pub struct Failure {
    /// The error.
    pub error: Error,
    /// Whether the same request may succeed soon.
    pub retry: bool,
    /// What the server asked to wait, in milliseconds.
    pub retry_after: Option<u64>,
    /// The size of the object, when the server named it while refusing a range.
    pub size: Option<u64>,
}

impl Failure {
    /// A failure that asking again will not mend.
    pub fn lasting(error: Error) -> Self {
        Self {
            error,
            retry: false,
            retry_after: None,
            size: None,
        }
    }

    /// A failure that may be over soon.
    pub fn passing(error: Error) -> Self {
        Self {
            retry: true,
            ..Self::lasting(error)
        }
    }

    /// The status in the error's context; 0 when there was no answer.
    pub fn status(&self) -> u16 {
        let status = self.error.get("status").and_then(|s| s.parse().ok());
        status.unwrap_or(0)
    }
}

/// A [`Failure`] on its way through foreign errors; it is taken out once.
pub struct Carried(Mutex<Option<Failure>>);

impl Carried {
    /// Wraps a failure.
    pub fn new(failure: Failure) -> Self {
        Self(Mutex::new(Some(failure)))
    }

    /// The failure, the first time.
    pub fn take(&self) -> Option<Failure> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl fmt::Debug for Carried {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Carried")
    }
}

impl fmt::Display for Carried {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the request failed")
    }
}

impl std::error::Error for Carried {}
