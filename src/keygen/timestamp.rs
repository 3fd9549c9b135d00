//! The moments that a timestamp key generator writes as one path.
//!
//! A generator formats a column's moment, perhaps to the day alone, so a path stands for a range of values. The range
//! is given only where every value of the path surely lies in it; it may be wider.

use arrow::array::ArrayRef;
use arrow::datatypes::DataType;
use chrono::{DateTime, Datelike, Days, Months, NaiveDate, NaiveDateTime, TimeDelta, Timelike};

use crate::config::TableConfig;
use crate::expr::Scalar;

/// The farthest that a zone of any place and time lies from UTC, in seconds.
const FARTHEST_OFFSET: i64 = 18 * 3600;

/// How a table's timestamp generator writes moments, when its properties tell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TimestampFormat {
    unit: Unit,
    pattern: Vec<Token>,
    /// Seconds east of UTC; `None` for a zone whose rules are not known here.
    offset: Option<i64>,
}

/// What a column's number counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Unit {
    /// So many milliseconds.
    Millis(i64),
    /// One part of so many in a millisecond.
    Parts(i64),
}

/// A field of a pattern, coarsest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Part {
    Year,
    Month,
    Day,
    Hour,
    Minute,
    Second,
    Milli,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Token {
    Part(Part, usize),
    Literal(char),
}

/// How many folders a value of the generator takes, when the properties tell.
pub(super) fn folders(config: &TableConfig) -> Option<usize> {
    let format = config.keygen_timebased("output.dateformat")?;
    Some(1 + format.matches('/').count())
}

impl TimestampFormat {
    /// `None` when the properties do not tell, or tell something that this file does not know surely.
    pub fn of(config: &TableConfig) -> Option<Self> {
        let get = |key| config.keygen_timebased(key);
        // Hudi asks `timezone` first.
        let zone = get("timezone").or_else(|| get("output.timezone"));
        Some(Self {
            unit: unit(get("timestamp.type")?, get("timestamp.scalar.time.unit"))?,
            pattern: pattern(get("output.dateformat")?)?,
            offset: zone.and_then(offset),
        })
    }

    /// The least and the greatest value of a column of type `data_type` that is written as `text`. Only of integers:
    /// dates as text have several spellings of one moment, and do not sort by it.
    pub(super) fn range(&self, text: &str, data_type: &DataType) -> Option<(Scalar, Scalar)> {
        if !matches!(data_type, DataType::Int32 | DataType::Int64) {
            return None;
        }
        let (start, end) = self.span(text)?;
        let (east, west) = match self.offset {
            Some(offset) => (offset, offset),
            None => (FARTHEST_OFFSET, -FARTHEST_OFFSET),
        };
        let first = start.checked_sub(east.checked_mul(1000)?)?;
        let last = end.checked_sub(west.checked_mul(1000)?)?.checked_sub(1)?;
        let (min, max) = match self.unit {
            Unit::Millis(each) => (first.div_euclid(each), last.div_euclid(each)),
            // Java cuts parts of a millisecond towards zero.
            Unit::Parts(parts) => (
                first.checked_mul(parts)?.checked_sub(parts - 1)?,
                last.checked_mul(parts)?.checked_add(parts - 1)?,
            ),
        };
        Some((Scalar::Int(min), Scalar::Int(max)))
    }

    /// Whether values of a column of type `data_type` are written: those are integers, and the zone must be known.
    pub fn writes(&self, data_type: &DataType) -> bool {
        matches!(data_type, DataType::Int32 | DataType::Int64) && self.offset.is_some()
    }

    /// The path's text for a value; none for one that has no date of four digits. Java cuts fractions of a millisecond
    /// towards zero.
    pub fn write(&self, array: &ArrayRef, row: usize) -> Option<String> {
        let Scalar::Int(count) = Scalar::from_array(array, row)? else {
            return None;
        };
        let millis = match self.unit {
            Unit::Millis(each) => count.checked_mul(each)?,
            Unit::Parts(parts) => count / parts,
        };
        print(&self.pattern, millis, self.offset?)
    }

    /// The first millisecond that the text stands for and the first after it, on the wall clock.
    fn span(&self, text: &str) -> Option<(i64, i64)> {
        let mut values: [Option<u32>; 7] = [None; 7];
        let mut rest = text;
        for token in &self.pattern {
            match token {
                Token::Literal(c) => rest = rest.strip_prefix(*c)?,
                Token::Part(part, width) => {
                    let (digits, after) = rest.split_at_checked(*width)?;
                    if !digits.bytes().all(|b| b.is_ascii_digit()) {
                        return None;
                    }
                    *values.get_mut(*part as usize)? = Some(digits.parse().ok()?);
                    rest = after;
                }
            }
        }
        if !rest.is_empty() {
            return None;
        }
        let known = values.iter().take_while(|value| value.is_some()).count();
        if values.iter().skip(known).any(Option::is_some) {
            return None;
        }
        let [year, month, day, hour, minute, second, milli] = values;
        let date = NaiveDate::from_ymd_opt(
            i32::try_from(year?).ok()?,
            month.unwrap_or(1),
            day.unwrap_or(1),
        )?;
        let (hour, minute) = (hour.unwrap_or(0), minute.unwrap_or(0));
        let start =
            date.and_hms_milli_opt(hour, minute, second.unwrap_or(0), milli.unwrap_or(0))?;
        Some((millis(start), millis(after(start, known)?)))
    }
}

/// A moment in a zone of so many seconds east of UTC; none for one that has no date of four digits.
pub(super) fn print(pattern: &[Token], millis: i64, offset: i64) -> Option<String> {
    let local = millis.checked_add(offset.checked_mul(1000)?)?;
    let clock = DateTime::from_timestamp_millis(local)?.naive_utc();
    if !(0..=9999).contains(&clock.year()) {
        return None;
    }
    let mut text = String::new();
    for token in pattern {
        match token {
            Token::Literal(c) => text.push(*c),
            Token::Part(part, width) => {
                let number = match part {
                    Part::Year => clock.year().unsigned_abs(),
                    Part::Month => clock.month(),
                    Part::Day => clock.day(),
                    Part::Hour => clock.hour(),
                    Part::Minute => clock.minute(),
                    Part::Second => clock.second(),
                    Part::Milli => clock.and_utc().timestamp_subsec_millis(),
                };
                text.push_str(&format!("{number:0width$}"));
            }
        }
    }
    Some(text)
}

fn millis(clock: NaiveDateTime) -> i64 {
    clock.and_utc().timestamp_millis()
}

/// The moment after the span whose `known` coarsest fields are told.
fn after(start: NaiveDateTime, known: usize) -> Option<NaiveDateTime> {
    match known {
        1 => start.checked_add_months(Months::new(12)),
        2 => start.checked_add_months(Months::new(1)),
        3 => start.checked_add_days(Days::new(1)),
        4 => start.checked_add_signed(TimeDelta::hours(1)),
        5 => start.checked_add_signed(TimeDelta::minutes(1)),
        6 => start.checked_add_signed(TimeDelta::seconds(1)),
        7 => start.checked_add_signed(TimeDelta::milliseconds(1)),
        _ => None,
    }
}

fn unit(kind: &str, scalar: Option<&str>) -> Option<Unit> {
    Some(match kind.to_ascii_uppercase().as_str() {
        "UNIX_TIMESTAMP" => Unit::Millis(1000),
        "EPOCHMILLISECONDS" => Unit::Millis(1),
        "EPOCHMICROSECONDS" => Unit::Parts(1000),
        "SCALAR" => match scalar.unwrap_or("SECONDS").to_ascii_uppercase().as_str() {
            "NANOSECONDS" => Unit::Parts(1_000_000),
            "MICROSECONDS" => Unit::Parts(1000),
            "MILLISECONDS" => Unit::Millis(1),
            "SECONDS" => Unit::Millis(1000),
            "MINUTES" => Unit::Millis(60_000),
            "HOURS" => Unit::Millis(3_600_000),
            "DAYS" => Unit::Millis(86_400_000),
            _ => return None,
        },
        _ => return None,
    })
}

/// Reads a Joda pattern of numbers of fixed width; `None` for any other letter or width.
pub(super) fn pattern(text: &str) -> Option<Vec<Token>> {
    let mut tokens = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let run = rest.chars().take_while(|c| *c == first).count();
        if first == '\'' {
            return None;
        }
        if !first.is_ascii_alphabetic() {
            tokens.push(Token::Literal(first));
            rest = rest.get(first.len_utf8()..)?;
            continue;
        }
        let part = match (first, run) {
            ('y' | 'Y', 4) => Part::Year,
            ('M', 2) => Part::Month,
            ('d', 2) => Part::Day,
            ('H', 2) => Part::Hour,
            ('m', 2) => Part::Minute,
            ('s', 2) => Part::Second,
            ('S', 3) => Part::Milli,
            _ => return None,
        };
        tokens.push(Token::Part(part, run));
        rest = rest.get(run..)?;
    }
    Some(tokens)
}

/// Seconds east of UTC of `UTC`, `GMT` or `GMT+8:00`; `None` for zones that change, and for names that Java may not know.
pub(super) fn offset(zone: &str) -> Option<i64> {
    if matches!(zone, "UTC" | "GMT") {
        return Some(0);
    }
    let signed = zone.strip_prefix("GMT")?;
    let sign = if signed.starts_with('-') { -1 } else { 1 };
    let (hours, minutes) = signed.strip_prefix(['+', '-'])?.split_once(':')?;
    let (hours, minutes): (i64, i64) = (hours.parse().ok()?, minutes.parse().ok()?);
    let in_range = (0..=18).contains(&hours) && (0..60).contains(&minutes);
    in_range.then_some(sign * (hours * 3600 + minutes * 60))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn format(kind: &str, output: &str, zone: Option<&str>) -> Option<TimestampFormat> {
        Some(TimestampFormat {
            unit: unit(kind, Some("DAYS"))?,
            pattern: pattern(output)?,
            offset: zone.and_then(offset),
        })
    }

    fn check(
        kind: &str,
        output: &str,
        zone: Option<&str>,
        text: &str,
        expected: Option<(i64, i64)>,
    ) {
        let range =
            format(kind, output, zone).and_then(|format| format.range(text, &DataType::Int64));
        let expected = expected.map(|(min, max)| (Scalar::Int(min), Scalar::Int(max)));
        assert_eq!(range, expected, "{kind} {output} {zone:?} {text}");
    }

    const MILLIS: &str = "EPOCHMILLISECONDS";

    #[test]
    fn a_day_holds_the_values_that_spark_wrote_there() {
        // Rows of two tables that Spark wrote.
        for (zone, day, values) in [
            ("UTC", "2023/11/14", vec![1_700_000_000_000]),
            (
                "UTC",
                "2023/11/15",
                vec![1_700_043_200_000, 1_700_086_400_000],
            ),
            ("UTC", "1969/12/31", vec![-1]),
            (
                "GMT+8:00",
                "2024/01/02",
                vec![1_704_124_800_000, 1_704_168_000_000],
            ),
            (
                "GMT+8:00",
                "2024/01/03",
                vec![1_704_211_200_000, 1_704_254_400_000],
            ),
        ] {
            let format = format(MILLIS, "yyyy/MM/dd", Some(zone)).unwrap();
            let Some((Scalar::Int(min), Scalar::Int(max))) = format.range(day, &DataType::Int64)
            else {
                panic!("{day}");
            };
            assert_eq!(max - min, 86_400_000 - 1);
            for value in values {
                assert!((min..=max).contains(&value), "{value} in {day} of {zone}");
            }
        }
    }

    #[test]
    fn values_are_written_to_the_paths_where_spark_has_them() {
        // Rows of three tables that Spark wrote.
        for (pattern, zone, value, path) in [
            ("yyyy/MM/dd", "UTC", 1_700_000_000_000, "2023/11/14"),
            ("yyyy/MM/dd", "UTC", -1, "1969/12/31"),
            ("yyyy/MM/dd", "GMT+8:00", 1_704_124_800_000, "2024/01/02"),
            ("yyyyMMddHH", "UTC", 1_700_043_200_000, "2023111510"),
        ] {
            let format = format(MILLIS, pattern, Some(zone)).unwrap();
            let array: ArrayRef = std::sync::Arc::new(arrow::array::Int64Array::from(vec![value]));
            assert_eq!(format.write(&array, 0).as_deref(), Some(path));
        }
        let unknown = format(MILLIS, "yyyy", Some("Europe/Rome")).unwrap();
        assert!(!unknown.writes(&DataType::Int64));
    }

    #[test]
    fn a_range_is_as_long_as_the_coarsest_field_left_out() {
        let day = 86_400_000;
        check(
            MILLIS,
            "yyyy",
            Some("UTC"),
            "1970",
            Some((0, 365 * day - 1)),
        );
        check(
            MILLIS,
            "yyyy-MM",
            Some("UTC"),
            "1970-02",
            Some((31 * day, 59 * day - 1)),
        );
        check(
            MILLIS,
            "dd.MM.yyyy",
            Some("UTC"),
            "02.01.1970",
            Some((day, 2 * day - 1)),
        );
        check(
            MILLIS,
            "yyyyMMddHH",
            Some("UTC"),
            "1970010101",
            Some((3_600_000, 7_200_000 - 1)),
        );
        check(
            MILLIS,
            "yyyyMMddHHmmssSSS",
            Some("UTC"),
            "19700101000001002",
            Some((1002, 1002)),
        );
    }

    #[test]
    fn units_other_than_milliseconds_are_widened_to_whole_ones() {
        check(
            "UNIX_TIMESTAMP",
            "yyyyMMdd",
            Some("UTC"),
            "19700102",
            Some((86_400, 172_799)),
        );
        check("SCALAR", "yyyyMMdd", Some("UTC"), "19700102", Some((1, 1)));
        // Java cuts -999 microseconds to 0 milliseconds, which is a moment of 1970.
        check(
            "EPOCHMICROSECONDS",
            "yyyyMMdd",
            Some("UTC"),
            "19700101",
            Some((-999, 86_400_000_000 - 1)),
        );
    }

    #[test]
    fn a_zone_with_rules_is_widened_by_the_farthest_offset() {
        let (day, farthest) = (86_400_000, 18 * 3_600_000);
        for zone in [None, Some("America/New_York"), Some("UTC+8")] {
            check(
                MILLIS,
                "yyyyMMdd",
                zone,
                "19700102",
                Some((day - farthest, 2 * day - 1 + farthest)),
            );
        }
    }

    #[test]
    fn what_is_not_surely_known_has_no_range() {
        for (kind, output, text) in [
            ("DATE_STRING", "yyyyMMdd", "19700102"),
            ("MIXED", "yyyyMMdd", "19700102"),
            (MILLIS, "yyyy-'W'ww", "1970-W01"),
            (MILLIS, "yyyy-D", "1970-1"),
            (MILLIS, "MM/dd", "01/02"),
            (MILLIS, "yyyy/dd", "1970/02"),
            (MILLIS, "hh a", "01 AM"),
            (MILLIS, "yyyyMMdd", "19701302"),
            (MILLIS, "yyyyMMdd", "1970010"),
            (MILLIS, "yyyyMMdd", "197001021"),
            (MILLIS, "yyyyMMdd", "+9700102"),
            (MILLIS, "yyyyMMdd", "__HIVE_DEFAULT_PARTITION__"),
        ] {
            check(kind, output, Some("UTC"), text, None);
        }
        let days = format(MILLIS, "yyyyMMdd", Some("UTC")).unwrap();
        assert_eq!(days.range("19700102", &DataType::Utf8), None);
    }
}
