//! A bound of column statistics as a value of the table's type.
//!
//! | column | version 1 | version 2, by the ordinal of Hudi's `ValueType` |
//! |---|---|---|
//! | boolean | boolean | 2 |
//! | integers | int, long | 3, 4 |
//! | date | days | 12 |
//! | timestamps of microseconds | microseconds | 16, and 19 without zone |
//! | timestamps of milliseconds | not believed: the unit is not written | 15, 18 |
//! | decimal | unscaled bytes at scale 15 | 10: unscaled bytes, `precision,scale` beside |
//! | text | ASCII only: bytes look the same | 7 |
//!
//! Everything else, and a value of another type than the column has now, is not known. Binary is left out since Java compares the
//! bytes of logs as signed ones.

use arrow::datatypes::{DataType, TimeUnit, i256};
use serde_json::Value;

use super::payload::latin1;
use crate::codec::avro::unscaled;
use crate::expr::Scalar;

/// The scale of every decimal in version 1.
const SCALE_OF_VERSION_1: i32 = 15;

/// A value as it stands in a record, unwrapped, as one of the column's type.
pub(super) fn scalar(
    value: &Value,
    data_type: &DataType,
    value_type: Option<&(u32, Option<String>)>,
) -> Option<Scalar> {
    let ordinal = value_type.map(|(ordinal, _)| *ordinal);
    let is = |known: &[u32]| ordinal.is_none_or(|ordinal| known.contains(&ordinal));
    let surely = |known: &[u32]| ordinal.is_some_and(|ordinal| known.contains(&ordinal));
    match data_type {
        DataType::Boolean if is(&[2]) => value.as_bool().map(Scalar::Boolean),
        DataType::Int8 | DataType::Int16 | DataType::Int32 | DataType::Int64 if is(&[3, 4]) => {
            value.as_i64().map(Scalar::Int)
        }
        DataType::Date32 if is(&[12]) => value.as_i64().map(Scalar::Int),
        DataType::Timestamp(TimeUnit::Microsecond, _) if is(&[16, 19]) => {
            value.as_i64().map(Scalar::Int)
        }
        DataType::Timestamp(TimeUnit::Millisecond, _) if surely(&[15, 18]) => {
            value.as_i64().map(Scalar::Int)
        }
        DataType::Utf8 if is(&[7]) => {
            let text = value.as_str()?;
            let sure = ordinal.is_some() || text.is_ascii();
            sure.then(|| Scalar::Bytes(text.as_bytes().to_vec()))
        }
        DataType::Decimal128(_, scale) | DataType::Decimal256(_, scale) if is(&[10]) => {
            let stored = match value_type {
                None => SCALE_OF_VERSION_1,
                Some((_, more)) => more.as_ref()?.rsplit_once(',')?.1.trim().parse().ok()?,
            };
            let unscaled = unscaled(&latin1(value.as_str()?))?;
            rescaled(unscaled, stored, i32::from(*scale)).map(Scalar::Decimal)
        }
        _ => None,
    }
}

/// The same number at another scale, if there it is whole.
fn rescaled(value: i256, from: i32, to: i32) -> Option<i256> {
    let ten = i256::from_i128(10);
    let factor = ten.checked_pow(from.abs_diff(to))?;
    if to >= from {
        return value.checked_mul(factor);
    }
    let whole = value.checked_div(factor)?;
    (whole.checked_mul(factor)? == value).then_some(whole)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(
        value: Value,
        data_type: DataType,
        ordinal: Option<(u32, &str)>,
        expected: Option<Scalar>,
    ) {
        let value_type = ordinal.map(|(ordinal, more)| (ordinal, Some(more.to_owned())));
        let found = scalar(&value, &data_type, value_type.as_ref());
        assert_eq!(found, expected, "{value} as {data_type}");
    }

    #[test]
    fn values_of_both_versions_are_read_in_the_columns_type() {
        let micros = DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into()));
        check(json!(5), DataType::Int32, None, Some(Scalar::Int(5)));
        check(
            json!(5),
            DataType::Int64,
            Some((3, "")),
            Some(Scalar::Int(5)),
        );
        check(
            json!(true),
            DataType::Boolean,
            Some((2, "")),
            Some(Scalar::Boolean(true)),
        );
        check(
            json!(-3),
            DataType::Date32,
            Some((12, "")),
            Some(Scalar::Int(-3)),
        );
        check(json!(7), micros.clone(), None, Some(Scalar::Int(7)));
        check(
            json!("é"),
            DataType::Utf8,
            Some((7, "")),
            Some(Scalar::Bytes("é".into())),
        );
    }

    #[test]
    fn decimals_come_at_the_columns_scale() {
        let column = DataType::Decimal128(10, 2);
        let decimal = |unscaled: i128| Some(Scalar::Decimal(i256::from_i128(unscaled)));
        // 25.00 and 0.00 of a decimal(10,2), as Spark wrote them.
        check(
            json!("\u{9}\u{c4}"),
            column.clone(),
            Some((10, "10,2")),
            decimal(2500),
        );
        check(json!("\0"), column.clone(), Some((10, "10,2")), decimal(0));
        check(
            json!("\u{ff}"),
            column.clone(),
            Some((10, "10,2")),
            decimal(-1),
        );
        check(
            json!("\u{ff}"),
            DataType::Decimal128(12, 4),
            Some((10, "10,2")),
            decimal(-100),
        );
        // 1 at scale 15 is 0x038d7ea4c68000.
        let one = "\u{3}\u{8d}\u{7e}\u{a4}\u{c6}\u{80}\0";
        check(json!(one), column.clone(), None, decimal(100));
        check(json!("\u{1}"), column, None, None);
    }

    #[test]
    fn what_is_not_surely_of_the_columns_type_is_not_known() {
        let millis = DataType::Timestamp(TimeUnit::Millisecond, None);
        check(json!(5), millis.clone(), None, None);
        check(json!(5), millis, Some((16, "")), None);
        check(json!(5), DataType::Date32, Some((3, "")), None);
        check(json!(5), DataType::Utf8, None, None);
        check(json!("é"), DataType::Utf8, None, None);
        check(json!("5"), DataType::Int64, None, None);
        check(json!(0.5), DataType::Float64, Some((6, "")), None);
        check(json!("a"), DataType::Binary, Some((8, "")), None);
        check(Value::Null, DataType::Int32, Some((3, "")), None);
    }
}
