//! Text as a value of a column's type.
//!
//! | type | text |
//! |---|---|
//! | Boolean | true, t, yes, y, 1 or false, f, no, n, 0, in any letter case |
//! | Int8 to Int64 | decimal digits with an optional sign, within the type |
//! | Float32, Float64 | a number, NaN, Infinity, in any letter case; brought to the nearest value of the type |
//! | Decimal | a number of any digits and any size |
//! | Utf8 | as it stands |
//! | Binary, FixedSizeBinary | pairs of hexadecimal digits |
//! | Date32, Time, Timestamp | see `date_time.rs`; with any digits of a fraction |

use arrow::datatypes::{DataType, TimeUnit, i256};

use super::date_time;
use super::decimal::{Placed, parse_decimal};
use super::scalar::Scalar;
use crate::error::{Error, Result};
use crate::schema::type_name;

/// A literal beside the values of a column.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Literal {
    /// Less than all of them.
    Below,
    /// The greatest of them that is not greater than the literal, and whether the two are equal.
    At(Scalar, bool),
    /// Greater than all of them.
    Above,
}

/// Errors: `Schema` with `value` and a hint when the text is none of the type's, or the type has no values to compare.
pub(super) fn parse_literal(text: &str, data_type: &DataType) -> Result<Literal> {
    let parsed = match data_type {
        DataType::Boolean => boolean(text).map(|v| at(Scalar::Boolean(v))),
        DataType::Int8 => text
            .parse::<i8>()
            .ok()
            .map(|v| at(Scalar::Int(i64::from(v)))),
        DataType::Int16 => text
            .parse::<i16>()
            .ok()
            .map(|v| at(Scalar::Int(i64::from(v)))),
        DataType::Int32 => text
            .parse::<i32>()
            .ok()
            .map(|v| at(Scalar::Int(i64::from(v)))),
        DataType::Int64 => text.parse::<i64>().ok().map(|v| at(Scalar::Int(v))),
        DataType::Float32 => text
            .parse::<f32>()
            .ok()
            .map(|v| at(Scalar::Float(f64::from(v)))),
        DataType::Float64 => text.parse::<f64>().ok().map(|v| at(Scalar::Float(v))),
        DataType::Decimal128(_, scale) => {
            let ends = (i256::from_i128(i128::MIN), i256::from_i128(i128::MAX));
            parse_decimal(text, *scale).map(|placed| decimal(placed.within(ends.0, ends.1)))
        }
        DataType::Decimal256(_, scale) => parse_decimal(text, *scale).map(decimal),
        DataType::Utf8 => Some(at(Scalar::Bytes(text.as_bytes().to_vec()))),
        DataType::Binary | DataType::FixedSizeBinary(_) => {
            hexadecimal(text).map(|v| at(Scalar::Bytes(v)))
        }
        DataType::Date32 => date_time::parse_date(text).map(|v| at(Scalar::Int(i64::from(v)))),
        DataType::Time32(unit) | DataType::Time64(unit) => {
            date_time::time_of_day(text, *unit).map(count)
        }
        DataType::Timestamp(unit, Some(_)) => date_time::zoned(text, *unit).map(count),
        DataType::Timestamp(unit, None) => date_time::local(text, *unit).map(count),
        other => {
            let message = format!(
                "a column of type {} has no comparison but IS NULL and IS NOT NULL",
                type_name(other)
            );
            return Err(Error::schema(message));
        }
    };
    parsed.ok_or_else(|| misfit(text, data_type))
}

fn misfit(text: &str, data_type: &DataType) -> Error {
    let message = format!(
        "a filter's value does not fit the column's type {}",
        type_name(data_type)
    );
    let error = Error::schema(message).context("value", text);
    let hint = match data_type {
        DataType::Timestamp(unit, Some(_)) if date_time::local(text, *unit).is_some() => {
            "a timestamp with zone needs an offset, such as Z or +02:00"
        }
        DataType::Timestamp(unit, None) if date_time::zoned(text, *unit).is_some() => {
            "a timestamp without zone is written without an offset"
        }
        DataType::Timestamp(..) => "timestamps are written as 2024-01-31T12:00:00Z",
        DataType::Date32 if date_time::zoned(text, TimeUnit::Second).is_some() => {
            "a date is written without time, as 2024-01-31"
        }
        DataType::Date32 => "dates are written as 2024-01-31",
        DataType::Binary | DataType::FixedSizeBinary(_) => {
            "bytes are written as pairs of hexadecimal digits"
        }
        DataType::Int8 | DataType::Int16 | DataType::Int32 | DataType::Int64 => {
            "a whole number within the type is needed"
        }
        _ => return error,
    };
    error.context("hint", hint)
}

fn at(scalar: Scalar) -> Literal {
    Literal::At(scalar, true)
}

fn decimal(placed: Placed) -> Literal {
    match placed {
        Placed::Below => Literal::Below,
        Placed::At(value, exact) => Literal::At(Scalar::Decimal(value), exact),
        Placed::Above => Literal::Above,
    }
}

fn count((count, exact): date_time::Count) -> Literal {
    match i64::try_from(count) {
        Ok(count) => Literal::At(Scalar::Int(count), exact),
        Err(_) if count < 0 => Literal::Below,
        Err(_) => Literal::Above,
    }
}

fn boolean(text: &str) -> Option<bool> {
    match text.to_ascii_lowercase().as_str() {
        "true" | "t" | "yes" | "y" | "1" => Some(true),
        "false" | "f" | "no" | "n" | "0" => Some(false),
        _ => None,
    }
}

fn hexadecimal(text: &str) -> Option<Vec<u8>> {
    let digits: Option<Vec<u8>> = text
        .chars()
        .map(|c| c.to_digit(16).and_then(|d| u8::try_from(d).ok()))
        .collect();
    let digits = digits.filter(|digits| digits.len() % 2 == 0)?;
    let pairs = digits
        .chunks_exact(2)
        .map(|pair| pair.iter().fold(0, |byte, digit| byte << 4 | digit));
    Some(pairs.collect())
}
