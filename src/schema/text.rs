//! Numbers and dates as text, and text as dates and decimals: type changes that schema on read allows.
//!
//! Texts are Java's: `Double.toString`, `BigDecimal.toString`, `LocalDate.toString`. A text that is no value of the wanted type
//! fails the read; Spark gives null for some of them and fails on others.
//!
//! Source: Hudi 1.1 `SchemaChangeUtils.isTypeUpdateAllow`, `HoodieAvroUtils.rewritePrimaryTypeWithDiffSchemaType`; Spark's `Cast`.

use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, AsArray, Date32Array, Decimal128Array, Decimal256Array, StringArray,
};
use arrow::datatypes::{
    DataType, Date32Type, Decimal128Type, Decimal256Type, Float32Type, Float64Type, Int32Type,
    Int64Type, i256,
};
use chrono::{Datelike, NaiveDate};

use crate::error::{Error, Result};

/// 1970-01-01 in chrono's count of days.
const EPOCH: i32 = 719_163;

/// Whether [`convert`] gives values of `from` as `to`.
pub(super) fn converts(from: &DataType, to: &DataType) -> bool {
    use DataType::{Date32, Decimal128, Decimal256, Float32, Float64, Int32, Int64, Utf8};
    matches!(
        (from, to),
        (
            Int32 | Int64 | Float32 | Float64,
            Utf8 | Decimal128(..) | Decimal256(..)
        ) | (Date32 | Decimal128(..) | Decimal256(..), Utf8)
            | (Utf8, Date32 | Decimal128(..) | Decimal256(..))
    )
}

/// An array given in another type, by way of its text.
///
/// Errors: `Schema` when a text is no value of the type, or a number has too many digits for it.
pub(super) fn convert(array: &ArrayRef, to: &DataType) -> Result<ArrayRef> {
    let texts = match array.as_string_opt::<i32>() {
        Some(texts) => texts.clone(),
        None => to_text(array)?,
    };
    Ok(match to {
        DataType::Utf8 => Arc::new(texts),
        DataType::Date32 => {
            let no = |text| Error::schema("a text of a file is no date").context("value", text);
            let days = texts.iter();
            let days = days.map(|text| text.map(|t| date(t).ok_or_else(|| no(t))).transpose());
            Arc::new(days.collect::<Result<Date32Array>>()?)
        }
        DataType::Decimal128(precision, scale) => {
            let all = decimals(&texts, *precision, *scale)?;
            let all: Decimal128Array = all.into_iter().map(|v| v.and_then(i256::to_i128)).collect();
            Arc::new(
                all.with_precision_and_scale(*precision, *scale)
                    .map_err(misfit)?,
            )
        }
        DataType::Decimal256(precision, scale) => {
            let all: Decimal256Array = decimals(&texts, *precision, *scale)?.into_iter().collect();
            Arc::new(
                all.with_precision_and_scale(*precision, *scale)
                    .map_err(misfit)?,
            )
        }
        other => return Err(super::evolve::refused(array.data_type(), other)),
    })
}

fn misfit(error: arrow::error::ArrowError) -> Error {
    Error::schema("a number of a file does not fit the table's decimal").with_source(error)
}

fn to_text(array: &ArrayRef) -> Result<StringArray> {
    Ok(match array.data_type() {
        DataType::Int32 => {
            let values = array.as_primitive::<Int32Type>().iter();
            values.map(|v| v.map(|v| v.to_string())).collect()
        }
        DataType::Int64 => {
            let values = array.as_primitive::<Int64Type>().iter();
            values.map(|v| v.map(|v| v.to_string())).collect()
        }
        DataType::Float32 => {
            let values = array.as_primitive::<Float32Type>().iter();
            values.map(|v| v.map(float)).collect()
        }
        DataType::Float64 => {
            let values = array.as_primitive::<Float64Type>().iter();
            values.map(|v| v.map(double)).collect()
        }
        DataType::Date32 => {
            let values = array.as_primitive::<Date32Type>().iter();
            let texts = values.map(|days| days.map(date_text).transpose());
            texts.collect::<Result<_>>()?
        }
        DataType::Decimal128(_, scale) => {
            let values = array.as_primitive::<Decimal128Type>().iter();
            values
                .map(|v| v.map(|v| decimal_text(&v.to_string(), *scale)))
                .collect()
        }
        DataType::Decimal256(_, scale) => {
            let values = array.as_primitive::<Decimal256Type>().iter();
            values
                .map(|v| v.map(|v| decimal_text(&v.to_string(), *scale)))
                .collect()
        }
        other => return Err(super::evolve::refused(other, &DataType::Utf8)),
    })
}

/// `Float.toString`.
fn float(value: f32) -> String {
    match value.is_finite() {
        true => java(&super::evolve::two_digits(&format!("{value:e}"), || {
            format!("{value:.1e}")
        })),
        false => not_finite(f64::from(value)),
    }
}

/// `Double.toString`.
fn double(value: f64) -> String {
    match value.is_finite() {
        true => java(&super::evolve::two_digits(&format!("{value:e}"), || {
            format!("{value:.1e}")
        })),
        false => not_finite(value),
    }
}

fn not_finite(value: f64) -> String {
    let text = match value {
        v if v.is_nan() => "NaN",
        v if v > 0.0 => "Infinity",
        _ => "-Infinity",
    };
    text.to_owned()
}

/// A number written as `1.25e-7`, in Java's layout: plain from 0.001 to below 10,000,000, always with a digit behind the point.
fn java(scientific: &str) -> String {
    let (number, exponent) = scientific.split_once('e').unwrap_or((scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let sign = if number.starts_with('-') { "-" } else { "" };
    let digits: String = number.chars().filter(char::is_ascii_digit).collect();
    let (whole, rest, power) = match exponent {
        -3..0 => {
            let zeros = "0".repeat(exponent.unsigned_abs() as usize - 1);
            ("0".to_owned(), zeros + &digits, None)
        }
        0..7 => {
            let point = exponent.unsigned_abs() as usize + 1;
            let padded = format!("{digits:0<point$}");
            let (whole, rest) = padded.split_at(point);
            (whole.to_owned(), rest.to_owned(), None)
        }
        _ => {
            let (whole, rest) = digits.split_at(1.min(digits.len()));
            (whole.to_owned(), rest.to_owned(), Some(exponent))
        }
    };
    let rest = match rest.trim_end_matches('0') {
        "" => "0",
        rest => rest,
    };
    match power {
        Some(power) => format!("{sign}{whole}.{rest}E{power}"),
        None => format!("{sign}{whole}.{rest}"),
    }
}

/// `BigDecimal.toString` of an unscaled number.
fn decimal_text(unscaled: &str, scale: i8) -> String {
    let (sign, digits) = match unscaled.strip_prefix('-') {
        Some(digits) => ("-", digits),
        None => ("", unscaled),
    };
    let scale = i32::from(scale);
    let length = i32::try_from(digits.len()).unwrap_or(i32::MAX);
    let adjusted = length - 1 - scale;
    if scale == 0 {
        return unscaled.to_owned();
    }
    if scale > 0 && adjusted >= -6 {
        let places = scale.unsigned_abs() as usize;
        let padded = format!("{digits:0>width$}", width = places + 1);
        let (whole, rest) = padded.split_at(padded.len() - places);
        return format!("{sign}{whole}.{rest}");
    }
    let (first, rest) = digits.split_at(1.min(digits.len()));
    let point = if rest.is_empty() { "" } else { "." };
    format!("{sign}{first}{point}{rest}E{adjusted:+}")
}

fn date_text(days: i32) -> Result<String> {
    let date = days
        .checked_add(EPOCH)
        .and_then(NaiveDate::from_num_days_from_ce_opt);
    let date = date.ok_or_else(|| Error::schema("a date of a file has no text"));
    Ok(date?.format("%Y-%m-%d").to_string())
}

/// Days since 1970 of a `yyyy-[m]m-[d]d`.
fn date(text: &str) -> Option<i32> {
    let mut parts = text.trim().split('-');
    let (year, month, day) = (parts.next()?, parts.next()?, parts.next()?);
    let digits = |text: &str, most: usize| {
        let fits = (1..=most).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_digit());
        fits.then(|| text.parse::<u32>().ok()).flatten()
    };
    let year = digits(year, 4).filter(|_| year.len() == 4)?;
    let date = NaiveDate::from_ymd_opt(
        i32::try_from(year).ok()?,
        digits(month, 2)?,
        digits(day, 2)?,
    );
    (parts.next().is_none()).then_some(date?.num_days_from_ce() - EPOCH)
}

fn decimals(texts: &StringArray, precision: u8, scale: i8) -> Result<Vec<Option<i256>>> {
    let limit = i256::from_i128(10).checked_pow(u32::from(precision));
    let one = |text: &str| {
        let value = decimal(text, scale).filter(|value| {
            limit.is_none_or(|limit| *value < limit && *value > limit.wrapping_neg())
        });
        let no = "a number of a file is none or does not fit the table's decimal";
        value.ok_or_else(|| Error::schema(no).context("value", text))
    };
    texts.iter().map(|text| text.map(one).transpose()).collect()
}

/// The unscaled number of a decimal text, rounded half up.
fn decimal(text: &str, scale: i8) -> Option<i256> {
    let text = text.trim();
    let (number, exponent) = match text.split_once(['e', 'E']) {
        Some((number, exponent)) => (number, exponent.parse::<i32>().ok()?),
        None => (text, 0),
    };
    let (negative, number) = match number.strip_prefix('-') {
        Some(number) => (true, number),
        None => (false, number.strip_prefix('+').unwrap_or(number)),
    };
    let (whole, rest) = number.split_once('.').unwrap_or((number, ""));
    let digits: Vec<u8> = whole.bytes().chain(rest.bytes()).collect();
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    // The number is its digits times ten to this power of the table's last place.
    let places = i32::try_from(rest.len()).ok()?;
    let shift = exponent
        .checked_sub(places)?
        .checked_add(i32::from(scale))?;
    let cut = usize::try_from(-i64::from(shift)).unwrap_or(0);
    let (kept, dropped) = digits.split_at(digits.len().saturating_sub(cut));
    let ten = i256::from_i128(10);
    let mut value = i256::ZERO;
    for digit in kept {
        let digit = i256::from_i128(i128::from(digit - b'0'));
        value = value.checked_mul(ten)?.checked_add(digit)?;
    }
    // With more places cut than there are digits, zeros stand before them.
    if cut <= digits.len() && dropped.first().is_some_and(|digit| *digit >= b'5') {
        value = value.checked_add(i256::ONE)?;
    }
    if shift > 0 && value != i256::ZERO {
        value = value.checked_mul(ten.checked_pow(shift.unsigned_abs())?)?;
    }
    Some(if negative {
        value.wrapping_neg()
    } else {
        value
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_as_java_does() {
        let check = |value: f64, text: &str| assert_eq!(double(value), text);
        check(0.0, "0.0");
        check(-0.0, "-0.0");
        check(1.0, "1.0");
        check(100.0, "100.0");
        check(0.001, "0.001");
        check(0.00012, "1.2E-4");
        check(9_999_999.0, "9999999.0");
        check(1e7, "1.0E7");
        check(-123.456, "-123.456");
        check(1.5e300, "1.5E300");
        check(5e-324, "4.9E-324");
        check(f64::NAN, "NaN");
        check(f64::NEG_INFINITY, "-Infinity");
        assert_eq!(float(1.1), "1.1");
        assert_eq!(float(1e-45), "1.4E-45");
        assert_eq!(float(16_777_216.0), "1.6777216E7");
    }

    #[test]
    fn decimals_are_written_as_java_does() {
        let check =
            |unscaled: &str, scale: i8, text: &str| assert_eq!(decimal_text(unscaled, scale), text);
        check("150", 2, "1.50");
        check("-5", 2, "-0.05");
        check("0", 0, "0");
        check("0", 3, "0.000");
        check("1", 7, "1E-7");
        check("12", 8, "1.2E-7");
        check("123", 9, "1.23E-7");
        check("1", 6, "0.000001");
    }

    #[test]
    fn texts_are_rounded_half_up_to_decimals() {
        let check = |text: &str, scale: i8, expected: Option<i128>| {
            assert_eq!(
                decimal(text, scale),
                expected.map(i256::from_i128),
                "{text}"
            );
        };
        check("1.005", 2, Some(101));
        check("-1.005", 2, Some(-101));
        check("1.0049", 2, Some(100));
        check(" 12 ", 2, Some(1200));
        check("+1.5E2", 0, Some(150));
        check("1.5e-3", 2, Some(0));
        check("5e-3", 2, Some(1));
        check("0.5e-3", 2, Some(0));
        check("9e-400", 2, Some(0));
        check("9.99", 1, Some(100));
        check("0e99999", 2, Some(0));
        check("1e99999", 2, None);
        check(".5", 1, Some(5));
        for text in ["", "-", "x", "1.2.3", "1e", "NaN", "１"] {
            check(text, 2, None);
        }
    }

    #[test]
    fn dates_are_read_and_written() {
        for (text, days) in [
            ("1970-01-01", 0),
            ("2024-02-29", 19_782),
            ("1969-12-31", -1),
            ("0001-01-01", -719_162),
        ] {
            assert_eq!(date(text), Some(days));
            assert_eq!(date_text(days).unwrap(), text);
        }
        assert_eq!(date("2024-2-9"), date("2024-02-09"));
        for text in [
            "2024",
            "2024-02-30",
            "24-02-01",
            "2024-02-01-01",
            "2024-02-x",
            "",
        ] {
            assert_eq!(date(text), None, "{text}");
        }
        assert_eq!(
            date_text(i32::MAX).unwrap_err().kind(),
            crate::error::ErrorKind::Schema
        );
    }
}
