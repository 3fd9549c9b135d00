//! Dates and times from text.
//!
//! ```text
//! date        yyyy-MM-dd
//! time        HH:mm:ss[.fraction]
//! timestamp   date ( T | t | blank ) time ( Z | z | ±HH:mm )      with zone: RFC 3339
//!             date ( T | t | blank ) time                         without zone
//! ```
//!
//! A year may also have a sign and six digits, as in the text of a JavaScript `Date` outside years 0 to 9999. A fraction has any
//! number of digits; the caller learns whether the unit it asked for holds them all.

use arrow::datatypes::TimeUnit;

/// A count of units, rounded down, and whether nothing was lost; it may lie outside 64 bits.
pub(super) type Count = (i128, bool);

/// Days from 1970-01-01.
pub fn parse_date(text: &str) -> Option<i32> {
    let (days, rest) = date(text)?;
    (rest.is_empty() && text.len() == 10).then_some(i32::try_from(days).ok()?)
}

/// A moment in units from 1970-01-01T00:00:00Z, rounded down; the text must have an offset. None also when 64 bits do not hold it.
pub fn parse_timestamp(text: &str, unit: TimeUnit) -> Option<i64> {
    zoned(text, unit).and_then(|(count, _)| i64::try_from(count).ok())
}

/// A wall-clock time in units from 1970-01-01T00:00:00, rounded down; the text must have no offset.
pub fn parse_local_timestamp(text: &str, unit: TimeUnit) -> Option<i64> {
    local(text, unit).and_then(|(count, _)| i64::try_from(count).ok())
}

pub(super) fn zoned(text: &str, unit: TimeUnit) -> Option<Count> {
    let (seconds, fraction, rest) = date_time(text)?;
    Some(count(seconds - offset(rest)?, fraction, unit))
}

pub(super) fn local(text: &str, unit: TimeUnit) -> Option<Count> {
    let (seconds, fraction, rest) = date_time(text)?;
    rest.is_empty().then(|| count(seconds, fraction, unit))
}

pub(super) fn time_of_day(text: &str, unit: TimeUnit) -> Option<Count> {
    let (seconds, fraction, rest) = time(text)?;
    rest.is_empty().then(|| count(seconds, fraction, unit))
}

fn date_time(text: &str) -> Option<(i64, &str, &str)> {
    let (days, rest) = date(text)?;
    let rest = rest.strip_prefix(['T', 't', ' '])?;
    let (seconds, fraction, rest) = time(rest)?;
    Some((days * 86_400 + seconds, fraction, rest))
}

fn date(text: &str) -> Option<(i64, &str)> {
    let (year, rest) = match text.strip_prefix(['+', '-']) {
        Some(rest) => {
            let (year, rest) = digits(rest, 6)?;
            (if text.starts_with('-') { -year } else { year }, rest)
        }
        None => digits(text, 4)?,
    };
    let (month, rest) = digits(rest.strip_prefix('-')?, 2)?;
    let (day, rest) = digits(rest.strip_prefix('-')?, 2)?;
    let fits = (1..=12).contains(&month) && (1..=days_of(year, month)).contains(&day);
    fits.then(|| (days_from_civil(year, month, day), rest))
}

/// Seconds of the day, the digits of the fraction, and what follows.
fn time(text: &str) -> Option<(i64, &str, &str)> {
    let (hour, rest) = digits(text, 2)?;
    let (minute, rest) = digits(rest.strip_prefix(':')?, 2)?;
    let (second, rest) = digits(rest.strip_prefix(':')?, 2)?;
    let (fraction, rest) = match rest.strip_prefix('.') {
        Some(rest) => {
            let end = rest
                .find(|c: char| !c.is_ascii_digit())
                .unwrap_or(rest.len());
            let (fraction, rest) = rest.split_at(end);
            (Some(fraction).filter(|digits| !digits.is_empty())?, rest)
        }
        None => ("", rest),
    };
    let fits = hour < 24 && minute < 60 && second < 60;
    fits.then_some((hour * 3600 + minute * 60 + second, fraction, rest))
}

/// Seconds that a zone is ahead of UTC.
fn offset(text: &str) -> Option<i64> {
    if matches!(text, "Z" | "z") {
        return Some(0);
    }
    let (hours, rest) = digits(text.strip_prefix(['+', '-'])?, 2)?;
    let (minutes, rest) = digits(rest.strip_prefix(':')?, 2)?;
    let seconds = hours * 3600 + minutes * 60;
    let fits = rest.is_empty() && hours < 24 && minutes < 60;
    fits.then_some(if text.starts_with('-') {
        -seconds
    } else {
        seconds
    })
}

fn count(seconds: i64, fraction: &str, unit: TimeUnit) -> Count {
    let places = match unit {
        TimeUnit::Second => 0,
        TimeUnit::Millisecond => 3,
        TimeUnit::Microsecond => 6,
        TimeUnit::Nanosecond => 9,
    };
    let (held, lost) = fraction.split_at_checked(places).unwrap_or((fraction, ""));
    let padded = held.bytes().chain(std::iter::repeat(b'0')).take(places);
    let part = padded.fold(0_i128, |sum, digit| sum * 10 + i128::from(digit - b'0'));
    let scale = 10_i128.pow(u32::try_from(places).unwrap_or(0));
    (
        i128::from(seconds) * scale + part,
        lost.bytes().all(|digit| digit == b'0'),
    )
}

/// Exactly `n` leading digits as a number, and what follows them.
fn digits(text: &str, n: usize) -> Option<(i64, &str)> {
    let (head, rest) = text.split_at_checked(n)?;
    let all = head.bytes().all(|byte| byte.is_ascii_digit());
    Some((all.then(|| head.parse().ok())??, rest))
}

fn days_of(year: i64, month: i64) -> i64 {
    match month {
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Days from 1970-01-01 in the proleptic Gregorian calendar. Years count from March, so that the leap day ends one.
fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * 146_097 + day_of_era - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_days_from_1970() {
        for (text, expected) in [
            ("1970-01-01", Some(0)),
            ("1969-12-31", Some(-1)),
            ("2000-02-29", Some(11_016)),
            ("2024-01-01", Some(19_723)),
            ("1900-01-01", Some(-25_567)),
            ("9999-12-31", Some(2_932_896)),
            ("0001-01-01", Some(-719_162)),
            ("1900-02-29", None),
            ("2023-02-29", None),
            ("2024-13-01", None),
            ("2024-00-01", None),
            ("2024-01-00", None),
            ("2024-1-1", None),
            ("2024-01-01T00:00:00Z", None),
            (" 2024-01-01", None),
            ("+002024-01-01", None),
            ("20240101", None),
            ("２０２４-01-01", None),
            ("", None),
        ] {
            assert_eq!(parse_date(text), expected, "{text}");
        }
    }

    #[test]
    fn each_day_of_four_centuries_follows_the_one_before() {
        let mut expected = days_from_civil(1899, 12, 31);
        for year in 1900..2301 {
            for month in 1..=12 {
                for day in 1..=days_of(year, month) {
                    expected += 1;
                    assert_eq!(
                        days_from_civil(year, month, day),
                        expected,
                        "{year}-{month}-{day}"
                    );
                }
            }
        }
    }

    fn check(text: &str, expected: Option<Count>) {
        assert_eq!(zoned(text, TimeUnit::Microsecond), expected, "{text}");
    }

    #[test]
    fn timestamps_with_zone_need_an_offset() {
        check("1970-01-01T00:00:00Z", Some((0, true)));
        check("1970-01-01t00:00:01.5z", Some((1_500_000, true)));
        check("1970-01-01 08:00:00+08:00", Some((0, true)));
        check("1969-12-31T19:30:00-04:30", Some((0, true)));
        check("1969-12-31T23:59:59.999999Z", Some((-1, true)));
        check("1970-01-01T00:00:00.0000001Z", Some((0, false)));
        check("1969-12-31T23:59:59.9999999Z", Some((-1, false)));
        check("1970-01-01T00:00:00.1234560000Z", Some((123_456, true)));
        check(
            "+275760-09-13T00:00:00.000Z",
            Some((8_640_000_000_000_000_000, true)),
        );
        check(
            "-000001-01-01T00:00:00.000Z",
            Some((-62_198_755_200_000_000, true)),
        );
        for text in [
            "1970-01-01T00:00:00",
            "1970-01-01",
            "1970-01-01T00:00Z",
            "1970-01-01T00:00:00.Z",
            "1970-01-01T24:00:00Z",
            "1970-01-01T00:00:60Z",
            "1970-01-01T00:00:00+8",
            "1970-01-01T00:00:00+0800",
            "1970-01-01T00:00:00 Z",
            "1720631224939",
        ] {
            check(text, None);
        }
    }

    #[test]
    fn timestamps_without_zone_must_have_no_offset() {
        assert_eq!(
            parse_local_timestamp("1970-01-02T00:00:00.5", TimeUnit::Millisecond),
            Some(86_400_500)
        );
        assert_eq!(
            parse_local_timestamp("1970-01-02T00:00:00Z", TimeUnit::Millisecond),
            None
        );
        assert_eq!(
            parse_local_timestamp("1970-01-02", TimeUnit::Millisecond),
            None
        );
    }
}
