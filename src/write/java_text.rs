//! Values as Java's key generators write them into keys and paths.

use std::fmt::Write;

use arrow::array::{Array, ArrayRef, AsArray};
use arrow::datatypes::{
    DataType, Decimal128Type, Decimal256Type, Float32Type, Float64Type, Int32Type, Int64Type,
};
use arrow::temporal_conversions::date32_to_datetime;

use crate::codec::java_number;
use crate::error::{Error, Result};
use crate::expr::Scalar;

/// Appends the text of a value that is not null.
///
/// | type | text |
/// |---|---|
/// | string | as it stands |
/// | integers, timestamps | the number; of a timestamp that of its unit since 1970 |
/// | float, double | as Java prints them |
/// | boolean | `true` or `false` |
/// | date | `yyyy-MM-dd` |
/// | decimal | with its scale, as Java prints it |
/// | binary | hexadecimal digits |
pub(super) fn put(out: &mut String, array: &ArrayRef, row: usize) -> Result<()> {
    let refuse = || {
        Error::unsupported("a value of this type makes no key and no partition path")
            .context("type", array.data_type())
    };
    match array.data_type() {
        DataType::Utf8 => out.push_str(array.as_string::<i32>().value(row)),
        DataType::Boolean => out.push_str(if array.as_boolean().value(row) {
            "true"
        } else {
            "false"
        }),
        DataType::Int32 => number(out, array.as_primitive::<Int32Type>().value(row)),
        DataType::Int64 => number(out, array.as_primitive::<Int64Type>().value(row)),
        DataType::Float32 => {
            java_number::float(out, array.as_primitive::<Float32Type>().value(row))
        }
        DataType::Float64 => {
            java_number::double(out, array.as_primitive::<Float64Type>().value(row))
        }
        DataType::Decimal128(_, scale) => {
            let value = array.as_primitive::<Decimal128Type>().value(row);
            decimal(out, &value.to_string(), *scale);
        }
        DataType::Decimal256(_, scale) => {
            let value = array.as_primitive::<Decimal256Type>().value(row);
            decimal(out, &value.to_string(), *scale);
        }
        DataType::Binary => hexadecimal(out, array.as_binary::<i32>().value(row)),
        DataType::FixedSizeBinary(_) => hexadecimal(out, array.as_fixed_size_binary().value(row)),
        DataType::Date32 => match Scalar::from_array(array, row) {
            Some(Scalar::Int(days)) => {
                let days = i32::try_from(days).map_err(|_| refuse())?;
                let date = date32_to_datetime(days).ok_or_else(refuse)?;
                let _ = write!(out, "{}", date.date());
            }
            _ => return Err(refuse()),
        },
        DataType::Timestamp(..) | DataType::Time32(_) | DataType::Time64(_) => {
            match Scalar::from_array(array, row) {
                Some(Scalar::Int(count)) => number(out, count),
                _ => return Err(refuse()),
            }
        }
        _ => return Err(refuse()),
    }
    Ok(())
}

fn number(out: &mut String, value: impl std::fmt::Display) {
    // Writing to a text does not fail.
    let _ = write!(out, "{value}");
}

fn hexadecimal(out: &mut String, bytes: &[u8]) {
    for byte in bytes {
        let _ = write!(out, "{byte:02x}");
    }
}

/// `BigDecimal.toString`: plain unless the scale is negative or the first digit lies below 10⁻⁶.
fn decimal(out: &mut String, unscaled: &str, scale: i8) {
    let (sign, digits) = match unscaled.strip_prefix('-') {
        Some(digits) => ("-", digits),
        None => ("", unscaled),
    };
    out.push_str(sign);
    let exponent = digits.len() as i64 - 1 - i64::from(scale);
    if scale == 0 {
        out.push_str(digits);
    } else if scale > 0 && exponent >= -6 {
        let padded = format!(
            "{digits:0>width$}",
            width = usize::from(scale.unsigned_abs()) + 1
        );
        let (whole, part) = padded.split_at(padded.len() - usize::from(scale.unsigned_abs()));
        let _ = write!(out, "{whole}.{part}");
    } else {
        let (first, rest) = digits.split_at(1);
        let point = if rest.is_empty() { "" } else { "." };
        let _ = write!(out, "{first}{point}{rest}E{exponent:+}");
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::array::{
        BinaryArray, BooleanArray, Date32Array, Decimal128Array, Float64Array, Int64Array,
        StringArray, TimestampMicrosecondArray,
    };

    use super::*;

    fn check(array: ArrayRef, expected: &str) {
        let mut text = String::new();
        put(&mut text, &array, 0).unwrap();
        assert_eq!(text, expected, "{}", array.data_type());
    }

    #[test]
    fn values_are_written_as_spark_wrote_them_to_keys() {
        check(Arc::new(StringArray::from(vec!["a:b"])), "a:b");
        check(Arc::new(Int64Array::from(vec![-7])), "-7");
        check(Arc::new(BooleanArray::from(vec![true])), "true");
        check(Arc::new(Date32Array::from(vec![18_295])), "2020-02-03");
        let micros = TimestampMicrosecondArray::from(vec![1_580_702_706_789_000]);
        check(Arc::new(micros), "1580702706789000");
        check(Arc::new(BinaryArray::from(vec![b"ab".as_slice()])), "6162");
        for (value, text) in [
            (1.5, "1.5"),
            (1e20, "1.0E20"),
            (100.0, "100.0"),
            (1.1, "1.1"),
        ] {
            check(Arc::new(Float64Array::from(vec![value])), text);
        }
    }

    #[test]
    fn decimals_are_written_as_java_prints_them() {
        // Values of BigDecimal's own documentation.
        for (unscaled, scale, text) in [
            (123, 0, "123"),
            (-123, 0, "-123"),
            (123, -1, "1.23E+3"),
            (123, -3, "1.23E+5"),
            (123, 1, "12.3"),
            (123, 5, "0.00123"),
            (123, 10, "1.23E-8"),
            (-123, 12, "-1.23E-10"),
            (15_000, 4, "1.5000"),
            (0, 10, "0E-10"),
        ] {
            let array = Decimal128Array::from(vec![unscaled]);
            let array = array.with_precision_and_scale(20, scale).unwrap();
            check(Arc::new(array), text);
        }
    }
}
