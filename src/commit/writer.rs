use std::collections::BTreeSet;
use std::sync::{Mutex, OnceLock, PoisonError};

use super::clock::WriteClock;
use super::lock::TableLock;
use crate::config::Properties;
use crate::model::InstantTime;

/// What every write of a handle shares: its clock, the lock of the table, and the `hoodie.*` options of the call.
#[derive(Debug, Clone)]
pub struct Writer {
    /// Where new instants come from.
    pub clock: WriteClock,
    /// What keeps writers apart.
    pub lock: TableLock,
    /// Options of the call, by their full names.
    pub options: Properties,
}

impl Writer {
    /// A numeric option.
    pub fn number(&self, key: &str, default: i64) -> i64 {
        let text = self.options.get(key).map(|text| text.trim());
        text.and_then(|text| text.parse().ok()).unwrap_or(default)
    }

    /// Remembers that an instant is of this process, so that what is left of it is nobody else's work.
    pub(super) fn claim(&self, instant: &InstantTime) {
        with_claims(|claims| claims.insert((self.lock.key().to_owned(), instant.clone())));
    }

    /// Whether an instant was requested by this process.
    pub fn is_own(&self, instant: &InstantTime) -> bool {
        let claim = (self.lock.key().to_owned(), instant.clone());
        with_claims(|claims| claims.contains(&claim))
    }

    /// Forgets an instant that is settled.
    pub(super) fn settle(&self, instant: &InstantTime) {
        let claim = (self.lock.key().to_owned(), instant.clone());
        with_claims(|claims| claims.remove(&claim));
    }
}

type Claims = BTreeSet<(String, InstantTime)>;

fn with_claims<T>(act: impl FnOnce(&mut Claims) -> T) -> T {
    static CLAIMS: OnceLock<Mutex<Claims>> = OnceLock::new();
    let claims = CLAIMS.get_or_init(Mutex::default);
    act(&mut claims.lock().unwrap_or_else(PoisonError::into_inner))
}
