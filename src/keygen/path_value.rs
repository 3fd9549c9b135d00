//! The text of a partition's path as a value of the column's type.

use std::sync::Arc;

use arrow::array::{
    ArrayRef, BinaryArray, BooleanArray, Date32Array, Decimal128Array, Decimal256Array,
    Float32Array, Float64Array, Int8Array, Int16Array, Int32Array, Int64Array, StringArray,
    TimestampMicrosecondArray, TimestampMillisecondArray,
};
use arrow::datatypes::{DataType, TimeUnit, i256};

use crate::expr::{Scalar, parse_date, parse_local_timestamp, parse_timestamp};

/// The value in an array of length 1; `None` when the text is none of the type's, or could be two of them.
///
/// | type | text, as Hudi's writers make it |
/// |---|---|
/// | string | as it stands |
/// | integers | decimal digits |
/// | float, double | as Java prints them: `1.5`, `1.0E20`, `NaN`, `Infinity` |
/// | boolean | `true` or `false` |
/// | date | `yyyy-MM-dd` |
/// | decimal | `1.5000`, `1E-7`; no digit may be lost |
/// | timestamp | microseconds since 1970 where that is the column's unit; RFC 3339, with an offset where the column has a zone |
/// | binary | pairs of hexadecimal digits |
pub(super) fn parse(text: &str, data_type: &DataType) -> Option<ArrayRef> {
    let array: ArrayRef = match data_type {
        DataType::Utf8 => Arc::new(StringArray::from(vec![text])),
        DataType::Int8 => Arc::new(Int8Array::from(vec![text.parse::<i8>().ok()?])),
        DataType::Int16 => Arc::new(Int16Array::from(vec![text.parse::<i16>().ok()?])),
        DataType::Int32 => Arc::new(Int32Array::from(vec![text.parse::<i32>().ok()?])),
        DataType::Int64 => Arc::new(Int64Array::from(vec![text.parse::<i64>().ok()?])),
        DataType::Float32 => Arc::new(Float32Array::from(vec![text.parse::<f32>().ok()?])),
        DataType::Float64 => Arc::new(Float64Array::from(vec![text.parse::<f64>().ok()?])),
        DataType::Boolean => Arc::new(BooleanArray::from(vec![boolean(text)?])),
        DataType::Date32 => Arc::new(Date32Array::from(vec![parse_date(text)?])),
        DataType::Decimal128(precision, scale) => {
            let value = decimal(text, *precision, *scale)?.to_i128()?;
            let array = Decimal128Array::from(vec![value]);
            Arc::new(array.with_precision_and_scale(*precision, *scale).ok()?)
        }
        DataType::Decimal256(precision, scale) => {
            let array = Decimal256Array::from(vec![decimal(text, *precision, *scale)?]);
            Arc::new(array.with_precision_and_scale(*precision, *scale).ok()?)
        }
        DataType::Timestamp(unit, zone) => timestamp(text, *unit, zone.is_some(), data_type)?,
        DataType::Binary => Arc::new(BinaryArray::from(vec![hexadecimal(text)?.as_slice()])),
        _ => return None,
    };
    Some(array)
}

/// The value to compare with, where a text has one meaning only, whichever engine wrote it.
pub(super) fn exact(text: &str, data_type: &DataType) -> Option<Scalar> {
    // Timestamps are written as microseconds, milliseconds or text, by engine and release.
    if matches!(data_type, DataType::Timestamp(..)) {
        return None;
    }
    Scalar::from_array(&parse(text, data_type)?, 0)
}

fn boolean(text: &str) -> Option<bool> {
    text.parse().ok()
}

fn decimal(text: &str, precision: u8, scale: i8) -> Option<i256> {
    let (mantissa, exponent) = match text.split_once('E') {
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().ok()?),
        None => (text, 0),
    };
    let unsigned = mantissa.strip_prefix('-').unwrap_or(mantissa);
    let (whole, part) = unsigned.split_once('.').unwrap_or((unsigned, ""));
    let mut digits = format!("{whole}{part}");
    if whole.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let part_digits = i32::try_from(part.len()).ok()?;
    let zeros = i32::from(scale)
        .checked_add(exponent)?
        .checked_sub(part_digits)?;
    if zeros > 76 {
        return None;
    }
    for _ in 0..zeros {
        digits.push('0');
    }
    for _ in zeros..0 {
        if digits.pop()? != '0' {
            return None;
        }
    }
    let significant = digits.trim_start_matches('0');
    if significant.len() > usize::from(precision) {
        return None;
    }
    let value = match significant {
        "" => i256::ZERO,
        digits => i256::from_string(digits)?,
    };
    Some(if mantissa.starts_with('-') {
        value.wrapping_neg()
    } else {
        value
    })
}

fn timestamp(text: &str, unit: TimeUnit, zoned: bool, data_type: &DataType) -> Option<ArrayRef> {
    let count = match text.parse::<i64>() {
        Ok(count) if unit == TimeUnit::Microsecond => count,
        Ok(_) => return None,
        Err(_) if zoned => parse_timestamp(text, TimeUnit::Microsecond)?,
        Err(_) => parse_local_timestamp(text, TimeUnit::Microsecond)?,
    };
    match data_type {
        DataType::Timestamp(TimeUnit::Microsecond, zone) => {
            let array = TimestampMicrosecondArray::from(vec![count]);
            Some(Arc::new(array.with_timezone_opt(zone.clone())))
        }
        DataType::Timestamp(TimeUnit::Millisecond, zone) => {
            let array = TimestampMillisecondArray::from(vec![count / 1000]);
            Some(Arc::new(array.with_timezone_opt(zone.clone())))
        }
        _ => None,
    }
}

fn hexadecimal(text: &str) -> Option<Vec<u8>> {
    if !text.len().is_multiple_of(2) {
        return None;
    }
    let digit = |byte: u8| u8::try_from(char::from(byte).to_digit(16)?).ok();
    let pairs = text.as_bytes().chunks(2);
    pairs
        .map(|pair| match pair {
            [high, low] => Some(digit(*high)? << 4 | digit(*low)?),
            _ => None,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use arrow::util::display::{ArrayFormatter, FormatOptions};

    use super::*;

    fn check(text: &str, data_type: DataType, expected: Option<&str>) {
        let array = parse(text, &data_type);
        let shown = array.as_ref().map(|array| {
            assert_eq!(array.data_type(), &data_type);
            assert_eq!(array.len(), 1);
            let options = FormatOptions::default();
            ArrayFormatter::try_new(array, &options)
                .unwrap()
                .value(0)
                .to_string()
        });
        assert_eq!(shown.as_deref(), expected, "{text} as {data_type}");
    }

    fn micros() -> DataType {
        DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into()))
    }

    fn check_count(text: &str, data_type: DataType, expected: Option<i64>) {
        let array = parse(text, &data_type);
        let scalar = array.as_ref().and_then(|array| {
            assert_eq!(array.data_type(), &data_type);
            Scalar::from_array(array, 0)
        });
        assert_eq!(scalar, expected.map(Scalar::Int), "{text} as {data_type}");
    }

    #[test]
    fn texts_as_the_writers_make_them_are_values() {
        check("", DataType::Utf8, Some(""));
        check("-1", DataType::Int32, Some("-1"));
        check("1000000000000", DataType::Int64, Some("1000000000000"));
        check("true", DataType::Boolean, Some("true"));
        check("1969-12-31", DataType::Date32, Some("1969-12-31"));
        check("1.0E20", DataType::Float64, Some("1e20"));
        check("1.1", DataType::Float32, Some("1.1"));
        check("NaN", DataType::Float64, Some("NaN"));
        check("1.5000", DataType::Decimal128(10, 4), Some("1.5000"));
        check("-1.5", DataType::Decimal128(10, 4), Some("-1.5000"));
        check("1E-7", DataType::Decimal128(10, 7), Some("0.0000001"));
        check("0E-10", DataType::Decimal128(20, 10), Some("0.0000000000"));
        check(
            "9999999999999999999999999999999999999999",
            DataType::Decimal256(40, 0),
            Some("9999999999999999999999999999999999999999"),
        );
        check("6162", DataType::Binary, Some("6162"));
    }

    #[test]
    fn a_timestamp_is_microseconds_or_says_its_offset() {
        let count = 1_580_702_706_789_000;
        check_count("1580702706789000", micros(), Some(count));
        check_count("2020-02-03T06:05:06.789+02:00", micros(), Some(count));
        check_count("2020-02-03 04:05:06.789", micros(), None);
        let local = |unit| DataType::Timestamp(unit, None);
        check_count(
            "2020-02-03 04:05:06.789",
            local(TimeUnit::Microsecond),
            Some(count),
        );
        check_count(
            "2020-02-03 04:05:06.789",
            local(TimeUnit::Millisecond),
            Some(count / 1000),
        );
        check_count(
            "2020-02-03T04:05:06.789Z",
            local(TimeUnit::Millisecond),
            None,
        );
        check_count("1580702706789", local(TimeUnit::Millisecond), None);
    }

    #[test]
    fn other_texts_are_no_values() {
        check("x", DataType::Int32, None);
        check("2147483648", DataType::Int32, None);
        check("1", DataType::Boolean, None);
        check("True", DataType::Boolean, None);
        check("2024/02/29", DataType::Date32, None);
        check("19782", DataType::Date32, None);
        check("1.23456", DataType::Decimal128(10, 4), None);
        check("1000000", DataType::Decimal128(10, 4), None);
        check("", DataType::Decimal128(10, 4), None);
        check("1E999999999", DataType::Decimal128(10, 4), None);
        check("616", DataType::Binary, None);
        check("[1]", DataType::new_list(DataType::Int32, true), None);
    }

    #[test]
    fn a_timestamp_is_written_in_too_many_ways_to_compare() {
        assert_eq!(exact("1580702706789000", &micros()), None);
        assert_eq!(exact("2020", &DataType::Int32), Some(Scalar::Int(2020)));
    }
}
