use std::sync::atomic::{AtomicI64, Ordering};

use crate::config::{TableConfig, TimeValue, TimelineZone};
use crate::error::{Error, Result};
use crate::host::{self, Zone};
use crate::model::InstantTime;
use crate::storage::Storage;
use crate::timeline::{Timeline, TimelineClock};

/// A clock that is behind by no more than this is waited for: hosts that keep time by network differ by less.
const MAX_WAIT_MILLIS: i64 = 5_000;

/// The newest moment that this process made an instant of, in milliseconds since 1970.
static LAST: AtomicI64 = AtomicI64::new(0);

/// The clock that new instants are read from: the host's, in the zone of the table.
#[derive(Debug, Clone)]
pub struct WriteClock {
    clock: TimelineClock,
    /// Whether the zone is the host's for want of a better one.
    guessed: bool,
}

impl WriteClock {
    /// The clock of a table. `timezone`, which the caller gave, counts when the table's timeline is LOCAL; without it
    /// the host's zone is taken and a warning is left, since other writers may stand elsewhere.
    pub fn new(config: &TableConfig, timezone: Option<Zone>, storage: &Storage) -> Self {
        let guessed = config.timeline_zone() == TimelineZone::Local && timezone.is_none();
        let zone = match (config.timeline_zone(), timezone) {
            (TimelineZone::Utc, _) => Zone::Utc,
            (TimelineZone::Local, Some(zone)) => zone,
            (TimelineZone::Local, None) => {
                storage.warn(
                    "the table's instants are local time and no `timezone` was given: the host's is taken",
                    None,
                );
                Zone::Host
            }
        };
        Self {
            clock: TimelineClock::new(config.timeline_zone(), Some(zone)),
            guessed,
        }
    }

    /// Whether it is not known in which zone other writers' instants are.
    pub(super) fn is_guessed(&self) -> bool {
        self.guessed
    }

    /// A new instant time: now, and greater than `newest` and than all that this process minted. A clock that is behind
    /// by at most five seconds is waited for.
    ///
    /// Errors: `WriteConflict` with both times for a clock that is behind by more: an instant of now would be read as
    /// older than one that is there.
    pub async fn mint(&self, newest: Option<&InstantTime>) -> Result<InstantTime> {
        let mut waited = 0;
        loop {
            let now = host::now_millis();
            let last = LAST.load(Ordering::SeqCst);
            let behind = match newest {
                Some(newest) => self.behind(newest, now)?,
                None => 0,
            };
            let behind = behind.max(last.saturating_sub(now).saturating_add(1));
            if behind <= 0 {
                let claimed = LAST.compare_exchange(last, now, Ordering::SeqCst, Ordering::SeqCst);
                match claimed {
                    Ok(_) => return self.at(now),
                    Err(_) => continue,
                }
            }
            waited += behind;
            if waited > MAX_WAIT_MILLIS {
                return Err(self.too_far_behind(now, newest));
            }
            host::sleep(u32::try_from(behind).unwrap_or(u32::MAX)).await;
        }
    }

    /// How many milliseconds ago an instant was requested; negative when it lies ahead, `None` when its digits are no
    /// moment.
    pub fn age_millis(&self, instant: &InstantTime) -> Option<i64> {
        Some(host::now_millis() - self.clock.epoch_millis(instant)?)
    }

    /// Milliseconds since 1970 at an instant; `None` when its digits are no moment.
    pub fn epoch_millis(&self, instant: &InstantTime) -> Option<i64> {
        self.clock.epoch_millis(instant)
    }

    fn at(&self, millis: i64) -> Result<InstantTime> {
        self.clock.instant(&TimeValue::Millis(millis))
    }

    /// Milliseconds to wait until an instant of now is greater than `newest`; none when it is already.
    fn behind(&self, newest: &InstantTime, now: i64) -> Result<i64> {
        if self.at(now)? > *newest {
            return Ok(0);
        }
        // In the hour that a clock is set back, the moment of an instant may lie in the past and its digits ahead.
        match self.clock.epoch_millis(newest) {
            Some(millis) if millis >= now => Ok(millis - now + 1),
            _ => Ok(i64::from(u32::MAX)),
        }
    }

    fn too_far_behind(&self, now: i64, newest: Option<&InstantTime>) -> Error {
        let error = Error::write_conflict(
            "an instant of now would not be the newest: this clock, or the one of another writer, is wrong",
        );
        let error = match self.at(now) {
            Ok(now) => error.context("now", now),
            Err(_) => error,
        };
        let error = match newest {
            Some(newest) => error.context("newest", newest),
            None => error,
        };
        error.context(
            "hint",
            "on a LOCAL table give `timezone`: the zone in which its writers' clocks stand",
        )
    }
}

/// The greatest time on a timeline: of request or of completion, whatever the action.
pub(super) fn newest(timeline: &Timeline) -> Option<InstantTime> {
    let times = |i: &crate::model::Instant| i.completion.clone().max(Some(i.time.clone()));
    timeline.instants().filter_map(times).max()
}

#[cfg(test)]
mod tests;
