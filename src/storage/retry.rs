//! When a request is made again: for any store, by the host's clock and sleep.

use super::wire::Failure;
use crate::host;

/// When a request is made again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RetryPolicy {
    /// Attempts in all, the first included.
    pub attempts: u32,
    /// The wait before the second attempt is anything up to this, and doubles from there.
    pub base_millis: u32,
    /// A wait without Retry-After is never longer.
    pub max_wait_millis: u32,
    /// No attempt begins later than this after the first; a longer Retry-After ends the call at once.
    pub total_millis: u32,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self {
            attempts: 5,
            base_millis: 200,
            max_wait_millis: 10_000,
            total_millis: 60_000,
        }
    }
}

impl RetryPolicy {
    /// Milliseconds to wait after `failure` of attempt number `attempt` (from 1), `elapsed` milliseconds after the
    /// first began; `None` when that was the last. `random` is in `0.0..1.0` (full jitter).
    fn wait(&self, failure: &Failure, attempt: u32, elapsed: u64, random: f64) -> Option<u32> {
        if !failure.retry || attempt >= self.attempts {
            return None;
        }
        let doubled = 2_u32.saturating_pow(attempt.saturating_sub(1));
        let most = self
            .base_millis
            .saturating_mul(doubled)
            .min(self.max_wait_millis);
        let jitter = (f64::from(most) * random) as u64;
        // Many clients hear the same Retry-After, so the jitter comes on top of it.
        let wait = failure.retry_after.unwrap_or(0).saturating_add(jitter);
        let end = elapsed.saturating_add(wait);
        (end <= u64::from(self.total_millis)).then(|| u32::try_from(wait).ok())?
    }

    /// Waits before the next attempt and says true, or says false at once when there is none.
    pub(super) async fn pause(&self, failure: &Failure, attempt: u32, began: i64) -> bool {
        let elapsed = u64::try_from(host::now_millis() - began).unwrap_or(0);
        match self.wait(failure, attempt, elapsed, host::random_unit()) {
            Some(millis) => {
                host::sleep(millis).await;
                true
            }
            None => false,
        }
    }
}

/// The value of a Retry-After header in milliseconds from `now`: seconds, or an HTTP date.
pub fn retry_after_millis(value: &str, now: i64) -> Option<u64> {
    let value = value.trim();
    if let Ok(seconds) = value.parse::<u64>() {
        return Some(seconds.saturating_mul(1000));
    }
    let date = chrono::DateTime::parse_from_rfc2822(value).ok()?;
    Some(u64::try_from(date.timestamp_millis() - now).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Error;

    const POLICY: RetryPolicy = RetryPolicy {
        attempts: 4,
        base_millis: 100,
        max_wait_millis: 250,
        total_millis: 10_000,
    };

    fn check(after: Option<u64>, attempt: u32, elapsed: u64, random: f64, expected: Option<u32>) {
        let mut failure = Failure::passing(Error::throttled("slow down"));
        failure.retry_after = after;
        assert_eq!(POLICY.wait(&failure, attempt, elapsed, random), expected);
    }

    #[test]
    fn waits_double_up_to_a_maximum_and_are_jittered_in_full() {
        check(None, 1, 0, 0.0, Some(0));
        check(None, 1, 0, 0.5, Some(50));
        check(None, 2, 0, 0.5, Some(100));
        check(None, 3, 0, 0.5, Some(125));
    }

    #[test]
    fn attempts_and_time_end() {
        check(None, 4, 0, 0.5, None);
        check(None, 1, 10_000, 0.5, None);
        check(None, 1, 9_950, 0.5, Some(50));
    }

    #[test]
    fn retry_after_is_honoured_or_ends_the_call() {
        check(Some(2_000), 1, 0, 0.5, Some(2_050));
        check(Some(60_000), 1, 0, 0.5, None);
        check(Some(u64::MAX), 1, 0, 0.5, None);
    }

    #[test]
    fn what_will_not_mend_is_not_asked_again() {
        let failure = Failure::lasting(Error::not_found("gone"));
        assert_eq!(POLICY.wait(&failure, 1, 0, 0.5), None);
    }

    #[test]
    fn retry_after_is_seconds_or_a_date() {
        let now = 1_764_417_600_000; // 2025-11-29T12:00:00Z
        let cases = [
            ("3", Some(3000)),
            (" 0 ", Some(0)),
            ("Sat, 29 Nov 2025 12:00:05 GMT", Some(5000)),
            ("Sat, 29 Nov 2025 11:00:05 GMT", Some(0)),
            ("soon", None),
            ("-1", None),
        ];
        for (value, expected) in cases {
            assert_eq!(retry_after_millis(value, now), expected, "{value}");
        }
    }
}
