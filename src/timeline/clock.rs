//! Between moments and instants: an instant is a wall clock, and only a table in UTC says whose.

use chrono::{DateTime, TimeDelta, Utc};

use crate::config::{TimeValue, TimelineZone};
use crate::error::{Error, Result};
use crate::host::Zone;
use crate::model::InstantTime;

/// The clock that a table's instants were read from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TimelineClock {
    /// `None` when the table is LOCAL and nobody said where its writers' clocks stood.
    zone: Option<Zone>,
}

impl TimelineClock {
    /// The clock of a table; `timezone`, which the caller gave, counts only when the table is LOCAL.
    pub fn new(table: TimelineZone, timezone: Option<Zone>) -> Self {
        let zone = match table {
            TimelineZone::Utc => Some(Zone::Utc),
            TimelineZone::Local => timezone,
        };
        Self { zone }
    }

    /// The instant that a time names. Text, first match wins:
    ///
    /// 1. 14 or 17 digits are Hudi's own form and stay as they are, in whatever zone. 14 digits compare as text, so
    ///    they are before every instant of their second;
    /// 2. 10, 13, 16 or 19 digits are seconds, milliseconds, microseconds or nanoseconds since 1970;
    /// 3. RFC 3339 with an offset.
    ///
    /// What is finer than a millisecond is cut off.
    ///
    /// Errors: `InvalidArgument` for text without an offset, a date alone and anything else; and for 2, 3 and a
    /// JavaScript `Date` when the zone is not known, with a `hint`.
    pub fn instant(&self, time: &TimeValue) -> Result<InstantTime> {
        match time {
            TimeValue::Millis(millis) => self.at(*millis).map_err(|e| e.context("value", millis)),
            TimeValue::Text(text) => self
                .of_text(text.trim())
                .map_err(|e| e.context("value", text)),
        }
    }

    /// Milliseconds since 1970 in UTC at an instant; `None` when the zone is not known or the digits are no date.
    pub fn epoch_millis(&self, instant: &InstantTime) -> Option<i64> {
        let zone = self.zone.as_ref()?;
        let clock = instant.wall_clock()?.and_utc().timestamp_millis();
        // The offset at the moment is wanted and the moment is not known yet: the offset at a near moment finds it.
        // Where a clock was set back, the first guess that leads to itself counts.
        let mut millis = clock;
        for _ in 0..3 {
            let next = clock.checked_sub(offset_millis(zone, millis).ok()?)?;
            if next == millis {
                break;
            }
            millis = next;
        }
        Some(millis)
    }

    fn of_text(&self, text: &str) -> Result<InstantTime> {
        if text.is_empty() || !text.bytes().all(|b| b.is_ascii_digit()) {
            return self.of_rfc3339(text);
        }
        let number = || text.parse::<i64>().map_err(|e| malformed().with_source(e));
        match text.len() {
            14 | 17 => of_digits(text),
            10 => self.at(number()?.saturating_mul(1000)),
            13 => self.at(number()?),
            16 => self.at(number()? / 1000),
            19 => self.at(number()? / 1_000_000),
            _ => Err(malformed()),
        }
    }

    fn of_rfc3339(&self, text: &str) -> Result<InstantTime> {
        let moment = DateTime::parse_from_rfc3339(text).map_err(|e| malformed().with_source(e))?;
        self.at(moment.timestamp_millis())
    }

    fn at(&self, millis: i64) -> Result<InstantTime> {
        let zone = self.zone.as_ref().ok_or_else(unknown_zone)?;
        let utc = DateTime::<Utc>::from_timestamp_millis(millis).ok_or_else(malformed)?;
        let local = utc
            .naive_utc()
            .checked_add_signed(TimeDelta::milliseconds(offset_millis(zone, millis)?));
        let instant = InstantTime::from_wall_clock(local.ok_or_else(malformed)?);
        // A year of more or fewer than four digits has no instant.
        instant
            .wall_clock()
            .map(|_| instant.clone())
            .ok_or_else(malformed)
    }
}

fn offset_millis(zone: &Zone, millis: i64) -> Result<i64> {
    zone.offset_seconds(millis)
        .map(|seconds| i64::from(seconds) * 1000)
}

/// Hudi's sentinels before the year 1 stay allowed: nothing is before them.
fn of_digits(text: &str) -> Result<InstantTime> {
    let instant = InstantTime::parse(text)?;
    match text.starts_with("0000") || instant.wall_clock().is_some() {
        true => Ok(instant),
        false => Err(malformed()),
    }
}

fn malformed() -> Error {
    Error::invalid_argument("not a time").context(
        "hint",
        "give yyyyMMddHHmmss[SSS], epoch seconds (10 digits), millis (13), micros (16) or nanos (19), or RFC 3339 with an offset",
    )
}

fn unknown_zone() -> Error {
    Error::invalid_argument("the table's instants are some writer's local time, so this moment has no instant")
        .context("hint", "open the table with `timezone` ('host' or a zone such as 'Europe/Paris'), or give the time as yyyyMMddHHmmssSSS")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(clock: &TimelineClock, text: &str, expected: &str) {
        let found = clock.instant(&TimeValue::Text(text.to_owned()));
        let found = found
            .as_ref()
            .map_or_else(|e| e.kind().code(), InstantTime::as_str);
        assert_eq!(found, expected, "{text}");
    }

    fn utc() -> TimelineClock {
        TimelineClock::new(TimelineZone::Utc, Some(Zone::Fixed(3600)))
    }

    /// Shanghai, which has had no summer time since 1991.
    fn shanghai() -> TimelineClock {
        TimelineClock::new(TimelineZone::Local, Some(Zone::Fixed(8 * 3600)))
    }

    // 2024-03-15T14:25:30Z is 1710512730 (GNU date).
    #[test]
    fn every_form_names_the_same_instant_of_a_utc_table() {
        check(&utc(), "20240315142530123", "20240315142530123");
        check(&utc(), "20240315142530", "20240315142530");
        check(&utc(), " 1710512730 ", "20240315142530000");
        check(&utc(), "1710512730123", "20240315142530123");
        check(&utc(), "1710512730123999", "20240315142530123");
        check(&utc(), "1710512730123999999", "20240315142530123");
        check(&utc(), "2024-03-15T14:25:30Z", "20240315142530000");
        check(&utc(), "2024-03-15T14:25:30.1239Z", "20240315142530123");
        check(&utc(), "2024-03-15T22:25:30.123+08:00", "20240315142530123");
        assert_eq!(
            utc()
                .instant(&TimeValue::Millis(1_710_512_730_123))
                .unwrap()
                .as_str(),
            "20240315142530123"
        );
    }

    #[test]
    fn a_local_table_needs_a_zone_for_all_but_its_own_digits() {
        let unknown = TimelineClock::new(TimelineZone::Local, None);
        for text in ["1710512730", "2024-03-15T14:25:30Z"] {
            check(&unknown, text, "INVALID_ARGUMENT");
            check(&shanghai(), text, "20240315222530000");
        }
        check(&unknown, "20240315142530123", "20240315142530123");
        check(&shanghai(), "20240315142530123", "20240315142530123");
        let error = unknown.instant(&TimeValue::Millis(0)).unwrap_err();
        assert!(error.get("hint").unwrap().contains("timezone"));
    }

    #[test]
    fn text_that_names_no_moment_is_an_invalid_argument() {
        for text in [
            "",
            "now",
            "2024-03-15",
            "20240315",
            "2024-03-15T14:25:30",
            "2024-03-15 14:25:30",
            "-1710512730",
            "20241315142530",
            "20240315252530123",
            "171051273",
            "2024-03-15T14:25Z",
            "2024-02-30T00:00:00Z",
            "99999999999999999999",
            "9999999999999999999",
        ] {
            check(&utc(), text, "INVALID_ARGUMENT");
        }
        check(&utc(), "00000000000000", "00000000000000");
    }

    #[test]
    fn an_instant_becomes_a_moment_where_the_zone_is_known() {
        let instant = InstantTime::parse("20240315142530123").unwrap();
        let unknown = TimelineClock::new(TimelineZone::Local, None);
        assert_eq!(utc().epoch_millis(&instant), Some(1_710_512_730_123));
        assert_eq!(
            shanghai().epoch_millis(&instant),
            Some(1_710_512_730_123 - 8 * 3_600_000)
        );
        assert_eq!(unknown.epoch_millis(&instant), None);
        let sentinel = InstantTime::parse("00000000000000").unwrap();
        assert_eq!(utc().epoch_millis(&sentinel), None);
    }
}
