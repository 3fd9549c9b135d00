//! The one error of the engine: a kind with a stable code, a message, and what is known about the place.
//!
//! The kinds are the codes of `HudiErrorCode` in `js/index.d.ts`, one for one. Messages may change; codes and
//! context keys may not.

use std::error::Error as StdError;
use std::fmt;

/// An error of any origin, kept as the cause.
pub type BoxError = Box<dyn StdError + Send + Sync>;

/// `Result` with the engine's [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

macro_rules! kinds {
    ($($(#[$doc:meta])* $kind:ident, $code:literal, $retry:literal, $make:ident;)*) => {
        /// What the caller does next; [`ErrorKind::code`] is its stable name in JavaScript.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum ErrorKind { $($(#[$doc])* $kind,)* }

        impl ErrorKind {
            /// Every kind, in the order of `HudiErrorCode`.
            pub const ALL: &'static [Self] = &[$(Self::$kind,)*];

            /// The stable code, such as `TABLE_NOT_FOUND`.
            pub const fn code(self) -> &'static str {
                match self { $(Self::$kind => $code,)* }
            }

            /// Whether the same call, or the call after `refresh()`, may succeed.
            pub const fn retryable(self) -> bool {
                match self { $(Self::$kind => $retry,)* }
            }
        }

        impl Error {
            $(
                $(#[$doc])*
                pub fn $make(message: impl Into<String>) -> Self {
                    Self::new(ErrorKind::$kind, message)
                }
            )*
        }
    };
}

kinds! {
    /// An option, filter, timestamp, key or row that no table would take.
    InvalidArgument, "INVALID_ARGUMENT", false, invalid_argument;
    /// Columns or types do not fit this table.
    Schema, "SCHEMA", false, schema;
    /// Well-formed, but this table version, feature, codec or mode is not handled.
    Unsupported, "UNSUPPORTED", false, unsupported;
    /// The caller's signal fired.
    Aborted, "ABORTED", false, aborted;
    /// The handle was closed, or its instance died in a trap.
    Disposed, "DISPOSED", false, disposed;
    /// A bound that the caller set or the host has would be passed.
    LimitExceeded, "LIMIT_EXCEEDED", false, limit_exceeded;
    /// No `.hoodie/hoodie.properties` below the URI.
    TableNotFound, "TABLE_NOT_FOUND", false, table_not_found;
    /// Create found a table there.
    TableExists, "TABLE_EXISTS", false, table_exists;
    /// A named instant, savepoint or partition, or a file that the timeline counts on, is not there.
    NotFound, "NOT_FOUND", false, not_found;
    /// As of a time at or past the first incomplete commit.
    InstantPending, "INSTANT_PENDING", true, instant_pending;
    /// Files that the as-of or the range needs are cleaned.
    InstantExpired, "INSTANT_EXPIRED", false, instant_expired;
    /// 401 or 403.
    Unauthorized, "UNAUTHORIZED", false, unauthorized;
    /// No answer: offline, DNS, reset, timeout, or CORS, which looks the same.
    Network, "NETWORK", true, network;
    /// 429 or 503: slow down.
    Throttled, "THROTTLED", true, throttled;
    /// Another 5xx.
    Unavailable, "UNAVAILABLE", true, unavailable;
    /// A range was asked and the whole object or another range came.
    RangeNotSupported, "RANGE_NOT_SUPPORTED", false, range_not_supported;
    /// The store cannot list and no `listing` was given.
    ListNotSupported, "LIST_NOT_SUPPORTED", false, list_not_supported;
    /// The store cannot write, or lacks the conditional put that the concurrency mode needs.
    ReadOnlyStorage, "READ_ONLY_STORAGE", false, read_only_storage;
    /// An object changed under a pinned handle.
    PreconditionFailed, "PRECONDITION_FAILED", true, precondition_failed;
    /// Another writer was at work meanwhile, or took the instant.
    WriteConflict, "WRITE_CONFLICT", true, write_conflict;
    /// The lock was not had in time, or was lost before the commit.
    LockTimeout, "LOCK_TIMEOUT", true, lock_timeout;
    /// The answer to the completing put was lost and reading back failed.
    CommitStateUnknown, "COMMIT_STATE_UNKNOWN", false, commit_state_unknown;
    /// Bytes that break the format; `path` and `offset` say where.
    Corrupt, "CORRUPT", false, corrupt;
    /// Wasm memory could not grow.
    OutOfMemory, "OUT_OF_MEMORY", false, out_of_memory;
    /// The module could not be fetched or compiled.
    WasmInit, "WASM_INIT", true, wasm_init;
    /// A fault of this library, panics included.
    Internal, "INTERNAL", false, internal;
}

/// What went wrong: see the [module page](self).
#[derive(Debug)]
pub struct Error(Box<Inner>);

#[derive(Debug)]
struct Inner {
    kind: ErrorKind,
    message: String,
    context: Vec<(&'static str, String)>,
    source: Option<BoxError>,
}

impl Error {
    /// An error of `kind`; the message is a sentence without its full stop.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self(Box::new(Inner {
            kind,
            message: message.into(),
            context: Vec::new(),
            source: None,
        }))
    }

    /// Adds a fact under a stable key (`path`, `offset`, `instant`, `field`, `status`, `hint`, …); the first value
    /// given for a key stays, since it was nearest to the fault.
    #[must_use]
    pub fn context(mut self, key: &'static str, value: impl fmt::Display) -> Self {
        if self.get(key).is_none() {
            self.0.context.push((key, value.to_string()));
        }
        self
    }

    /// Keeps the error that caused this one.
    #[must_use]
    pub fn with_source(mut self, source: impl Into<BoxError>) -> Self {
        self.0.source = Some(source.into());
        self
    }

    /// What the caller does next.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// The message alone, without context and cause.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// The value of a context key.
    pub fn get(&self, key: &str) -> Option<&str> {
        let found = self.0.context.iter().find(|(k, _)| *k == key);
        found.map(|(_, value)| value.as_str())
    }

    /// All context, in the order it was added.
    pub fn contexts(&self) -> &[(&'static str, String)] {
        &self.0.context
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0.message)?;
        for (key, value) in self.0.context.iter().filter(|(k, _)| *k != "hint") {
            write!(f, " [{key}: {value}]")?;
        }
        match &self.0.source {
            Some(source) => write!(f, ": {source}"),
            None => Ok(()),
        }
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.0.source.as_deref().map(|e| e as _)
    }
}

/// Adds context to the error of a result.
pub trait ResultExt<T> {
    /// See [`Error::context`].
    fn context(self, key: &'static str, value: impl fmt::Display) -> Result<T>;
}

impl<T> ResultExt<T> for Result<T> {
    fn context(self, key: &'static str, value: impl fmt::Display) -> Self {
        self.map_err(|error| error.context(key, value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_context_nearest_to_the_fault_stays() {
        let error = Error::corrupt("cut short")
            .context("path", "a")
            .context("path", "b");
        assert_eq!(error.get("path"), Some("a"));
        assert_eq!(error.to_string(), "cut short [path: a]");
    }

    #[test]
    fn codes_are_the_kinds_in_upper_snake_case() {
        for kind in ErrorKind::ALL {
            let mut snake = String::new();
            for c in format!("{kind:?}").chars() {
                if c.is_uppercase() && !snake.is_empty() {
                    snake.push('_');
                }
                snake.push(c.to_ascii_uppercase());
            }
            assert_eq!(snake, kind.code());
        }
    }
}
