//! A value as text: what a filter's value is read from, the other way round.

use arrow::datatypes::{DataType, TimeUnit, i256};
use chrono::{DateTime, Datelike, NaiveDateTime, Timelike};

use super::scalar::Scalar;

const SECONDS_A_DAY: i64 = 86_400;
/// `yyyy-MM-dd`: a filter on a date takes no longer year.
const PLAIN_DATE: usize = 10;

impl Scalar {
    /// The value as a filter takes it; `None` for a value that is not of the type, and outside of the calendar.
    ///
    /// | type | text |
    /// |---|---|
    /// | numbers | the shortest that reads as the same value; decimals with all digits of their scale |
    /// | text | as it is |
    /// | bytes | pairs of hexadecimal digits |
    /// | dates and times | ISO 8601, with as many digits of a second as are not zero; a zoned moment in UTC, with a `Z` |
    pub fn text(&self, data_type: &DataType) -> Option<String> {
        Some(match (self, data_type) {
            (Self::Boolean(value), DataType::Boolean) => value.to_string(),
            (Self::Int(value), DataType::Date32) => {
                date(value.checked_mul(SECONDS_A_DAY)?).filter(|text| text.len() == PLAIN_DATE)?
            }
            (Self::Int(value), DataType::Timestamp(unit, zone)) => {
                let (seconds, nanos) = split(*value, *unit);
                let zone = if zone.is_some() { "Z" } else { "" };
                format!("{}T{}{zone}", date(seconds)?, time(seconds, nanos)?)
            }
            (Self::Int(value), DataType::Time32(unit) | DataType::Time64(unit)) => {
                let (seconds, nanos) = split(*value, *unit);
                time(seconds, nanos)?
            }
            (Self::Int(value), _) => value.to_string(),
            // Widened, so that the shortest text is that of the narrow type.
            (Self::Float(value), DataType::Float32) => (*value as f32).to_string(),
            (Self::Float(value), _) => value.to_string(),
            (
                Self::Decimal(value),
                DataType::Decimal128(_, scale) | DataType::Decimal256(_, scale),
            ) => decimal(*value, *scale),
            (Self::Bytes(bytes), DataType::Utf8) => std::str::from_utf8(bytes).ok()?.to_owned(),
            (Self::Bytes(bytes), _) => bytes.iter().map(|byte| format!("{byte:02x}")).collect(),
            _ => return None,
        })
    }
}

/// An unscaled number with its point, in all digits of the scale, as Java's `BigDecimal.toPlainString`.
fn decimal(value: i256, scale: i8) -> String {
    let text = value.to_string();
    let (sign, digits) = match text.strip_prefix('-') {
        Some(digits) => ("-", digits),
        None => ("", text.as_str()),
    };
    let Some(scale) = usize::try_from(scale).ok().filter(|scale| *scale > 0) else {
        let zeros = if digits == "0" {
            0
        } else {
            usize::from(scale.unsigned_abs())
        };
        return format!("{sign}{digits}{}", "0".repeat(zeros));
    };
    let digits = format!("{digits:0>width$}", width = scale + 1);
    let (whole, rest) = digits.split_at(digits.len() - scale);
    format!("{sign}{whole}.{rest}")
}

/// Seconds and nanoseconds of a count of units, rounded down.
fn split(count: i64, unit: TimeUnit) -> (i64, u32) {
    let (per_second, nanos) = match unit {
        TimeUnit::Second => (1, 1_000_000_000),
        TimeUnit::Millisecond => (1_000, 1_000_000),
        TimeUnit::Microsecond => (1_000_000, 1_000),
        TimeUnit::Nanosecond => (1_000_000_000, 1),
    };
    let rest = u32::try_from(count.rem_euclid(per_second)).unwrap_or_default();
    (count.div_euclid(per_second), rest * nanos)
}

fn clock(seconds: i64) -> Option<NaiveDateTime> {
    DateTime::from_timestamp(seconds, 0).map(|moment| moment.naive_utc())
}

fn date(seconds: i64) -> Option<String> {
    let day = clock(seconds)?;
    let year = day.year();
    let year = match year {
        0..=9999 => format!("{year:04}"),
        _ => format!("{year:+07}"),
    };
    (year.len() <= 7).then(|| format!("{year}-{:02}-{:02}", day.month(), day.day()))
}

fn time(seconds: i64, nanos: u32) -> Option<String> {
    let clock = clock(seconds)?;
    let text = format!(
        "{:02}:{:02}:{:02}",
        clock.hour(),
        clock.minute(),
        clock.second()
    );
    Some(match nanos {
        0 => text,
        _ => format!("{text}.{nanos:09}")
            .trim_end_matches('0')
            .to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::super::literal::{Literal, parse_literal};
    use super::*;

    fn check(scalar: Scalar, data_type: DataType, expected: &str) {
        let text = scalar.text(&data_type).unwrap();
        assert_eq!(text, expected);
        let read = parse_literal(&text, &data_type).unwrap();
        assert_eq!(read, Literal::At(scalar, true), "{text} as {data_type}");
    }

    #[test]
    fn values_read_as_filters_take_them() {
        let decimal = |unscaled: i128| Scalar::Decimal(i256::from_i128(unscaled));
        check(Scalar::Boolean(true), DataType::Boolean, "true");
        check(Scalar::Int(-7), DataType::Int64, "-7");
        check(Scalar::Float(f64::from(0.1_f32)), DataType::Float32, "0.1");
        check(
            Scalar::Float(1e300),
            DataType::Float64,
            &format!("1{}", "0".repeat(300)),
        );
        check(decimal(-5), DataType::Decimal128(10, 2), "-0.05");
        check(decimal(123_456), DataType::Decimal128(10, 2), "1234.56");
        check(decimal(12), DataType::Decimal128(10, 0), "12");
        check(Scalar::Bytes("é".into()), DataType::Utf8, "é");
        check(Scalar::Bytes(vec![0, 255]), DataType::Binary, "00ff");
    }

    #[test]
    fn moments_read_as_filters_take_them() {
        let micros =
            |zone: Option<&str>| DataType::Timestamp(TimeUnit::Microsecond, zone.map(Into::into));
        check(Scalar::Int(19_723), DataType::Date32, "2024-01-01");
        check(Scalar::Int(-1), DataType::Date32, "1969-12-31");
        check(Scalar::Int(-719_528), DataType::Date32, "0000-01-01");
        check(
            Scalar::Int(-1),
            micros(Some("UTC")),
            "1969-12-31T23:59:59.999999Z",
        );
        check(
            Scalar::Int(1_704_067_200_000_000),
            micros(None),
            "2024-01-01T00:00:00",
        );
        check(
            Scalar::Int(3_661_500),
            DataType::Time32(TimeUnit::Millisecond),
            "01:01:01.5",
        );
        check(
            Scalar::Int(253_402_300_800),
            DataType::Timestamp(TimeUnit::Second, None),
            "+010000-01-01T00:00:00",
        );
        assert_eq!(Scalar::Int(2_932_897).text(&DataType::Date32), None);
        assert_eq!(Scalar::Int(i64::MAX).text(&DataType::Date32), None);
    }
}
