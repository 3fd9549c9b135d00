//! Size and ETag of each immutable object, as first seen: kept together, compared together, dropped together.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::error::{Error, Result};

/// What is known of the objects one table handle has read.
#[derive(Debug, Default)]
pub(super) struct Pins(Mutex<HashMap<String, Pin>>);

#[derive(Debug)]
struct Pin {
    size: u64,
    etag: Option<String>,
}

impl Pins {
    fn lock(&self) -> MutexGuard<'_, HashMap<String, Pin>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The size seen so far.
    pub(super) fn size(&self, path: &str) -> Option<u64> {
        self.lock().get(path).map(|pin| pin.size)
    }

    /// Takes an answer's size and ETag, or says that the object changed. One that `may_grow` may only get larger,
    /// and then under another ETag.
    pub(super) fn check(
        &self,
        path: &str,
        size: u64,
        etag: Option<&str>,
        may_grow: bool,
    ) -> Result<()> {
        let mut pins = self.lock();
        let Some(pin) = pins.get_mut(path) else {
            let etag = etag.map(str::to_owned);
            pins.insert(path.to_owned(), Pin { size, etag });
            return Ok(());
        };
        let grown = may_grow && size > pin.size;
        let other_tag = match (&pin.etag, etag) {
            (Some(before), Some(now)) => opaque(before) != opaque(now),
            _ => false,
        };
        if !grown && (size != pin.size || other_tag) {
            return Err(changed(path));
        }
        pin.size = size;
        if let Some(etag) = etag {
            pin.etag = Some(etag.to_owned());
        }
        Ok(())
    }

    /// Drops what is known of an object, so that the next answer is believed anew.
    pub(super) fn forget(&self, path: &str) {
        self.lock().remove(path);
    }
}

/// An object is not what the handle saw before.
pub(super) fn changed(path: &str) -> Error {
    Error::precondition_failed("the object changed while the table was being read")
        .context("path", path)
        .context("hint", "refresh() and read again; data files of a Hudi table never change in place, so see who rewrites them")
}

/// The tag without its weakness: a cache between may weaken the tag of the same bytes.
fn opaque(etag: &str) -> &str {
    etag.strip_prefix("W/").unwrap_or(etag)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two answers in turn; whether the second is taken.
    fn check(first: (u64, Option<&str>), second: (u64, Option<&str>), may_grow: bool, taken: bool) {
        let pins = Pins::default();
        pins.check("f", first.0, first.1, may_grow).expect("first");
        let result = pins.check("f", second.0, second.1, may_grow);
        assert_eq!(result.is_ok(), taken, "{first:?} {second:?}");
    }

    #[test]
    fn size_and_etag_must_stay() {
        check((5, Some("\"a\"")), (5, Some("\"a\"")), false, true);
        check((5, Some("\"a\"")), (5, Some("W/\"a\"")), false, true);
        check((5, Some("\"a\"")), (5, Some("\"b\"")), false, false);
        check((5, Some("\"a\"")), (6, Some("\"a\"")), false, false);
        check((5, None), (6, None), false, false);
        check((5, None), (5, Some("\"a\"")), false, true);
        check((5, Some("\"a\"")), (5, None), false, true);
    }

    #[test]
    fn what_may_grow_grows_but_never_shrinks_or_changes() {
        check((5, Some("\"a\"")), (6, Some("\"b\"")), true, true);
        check((5, Some("\"a\"")), (4, Some("\"b\"")), true, false);
        check((5, Some("\"a\"")), (5, Some("\"b\"")), true, false);
    }

    #[test]
    fn a_forgotten_object_is_believed_anew() {
        let pins = Pins::default();
        pins.check("f", 5, None, false).expect("first");
        pins.forget("f");
        assert_eq!(pins.size("f"), None);
        pins.check("f", 6, None, false).expect("anew");
    }
}
