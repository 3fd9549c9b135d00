//! A bound of a column as the wrapper that statistics keep it in.
//!
//! | column | version 1 | version 2, with the ordinal of Hudi's `ValueType` |
//! |---|---|---|
//! | boolean | `BooleanWrapper` | the same, 2 |
//! | integers to 32 bits, 64 bits | `IntWrapper`, `LongWrapper` | the same, 3 and 4 |
//! | float, double | `FloatWrapper`, `DoubleWrapper` | the same, 5 and 6 |
//! | text | `StringWrapper` | the same, 7 |
//! | bytes, fixed | `BytesWrapper` | the same, 8 |
//! | decimal | `DecimalWrapper` at scale 15; none beyond decimal(30,15) | `BytesWrapper`, 10, `precision,scale` beside |
//! | date | `DateWrapper` | `IntWrapper`, 12 |
//! | time of day | `LongWrapper` | the same, 13 (`IntWrapper`) and 14 |
//! | timestamps by millisecond, microsecond | `LongWrapper` | the same, 15 and 16, without a zone 18 and 19 |
//!
//! Nested columns have no statistics.

use arrow::datatypes::{DataType, TimeUnit, i256};

use super::record::{put_bytes, put_double, put_float, put_long};
use crate::expr::Scalar;

/// How an index definition says that values are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StatsVersion {
    /// `V1`, or no word of it: table version 8, and tables that came from there.
    One,
    /// `V2`: table version 9.
    Two,
}

/// The greatest precision and the one scale of a decimal of version 1.
const PRECISION_OF_VERSION_1: u8 = 30;
const SCALE_OF_VERSION_1: i8 = 15;

/// Branches of the union of wrappers.
const BOOLEAN: i64 = 1;
const INT: i64 = 2;
const LONG: i64 = 3;
const FLOAT: i64 = 4;
const DOUBLE: i64 = 5;
const BYTES: i64 = 6;
const STRING: i64 = 7;
const DATE: i64 = 8;
const DECIMAL: i64 = 9;

/// How the values of one column are kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ValueKind {
    wrapper: i64,
    version: StatsVersion,
    ordinal: i64,
    /// Precision and scale of a decimal.
    decimal: Option<(u8, i8)>,
}

/// A bound as it is kept.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Bound<'a> {
    /// None is known.
    Null,
    /// The zero of the column's type, which Hudi writes for a column without a value.
    Zero,
    /// A value.
    Value(&'a Scalar),
}

impl ValueKind {
    /// How a column is kept; `None` for a type that has no statistics.
    pub(super) fn of(data_type: &DataType, version: StatsVersion) -> Option<Self> {
        let two = version == StatsVersion::Two;
        let (wrapper, ordinal) = match data_type {
            DataType::Boolean => (BOOLEAN, 2),
            DataType::Int8 | DataType::Int16 | DataType::Int32 => (INT, 3),
            DataType::Int64 => (LONG, 4),
            DataType::Float32 => (FLOAT, 5),
            DataType::Float64 => (DOUBLE, 6),
            DataType::Utf8 => (STRING, 7),
            DataType::Binary => (BYTES, 8),
            DataType::FixedSizeBinary(_) => (BYTES, 9),
            DataType::Decimal128(..) | DataType::Decimal256(..) if two => (BYTES, 10),
            DataType::Decimal128(precision, scale) | DataType::Decimal256(precision, scale) => {
                // The digits before the point must fit as well.
                let fits = *precision <= PRECISION_OF_VERSION_1 && *scale <= SCALE_OF_VERSION_1;
                let whole = i16::from(*precision) - i16::from(*scale);
                let room = i16::from(PRECISION_OF_VERSION_1) - i16::from(SCALE_OF_VERSION_1);
                if !fits || whole > room {
                    return None;
                }
                (DECIMAL, 10)
            }
            DataType::Date32 if two => (INT, 12),
            DataType::Date32 => (DATE, 12),
            DataType::Time32(TimeUnit::Millisecond) => (INT, 13),
            DataType::Time64(TimeUnit::Microsecond) => (LONG, 14),
            DataType::Timestamp(TimeUnit::Millisecond, zone) => (LONG, 15 + local(zone)),
            DataType::Timestamp(TimeUnit::Microsecond, zone) => (LONG, 16 + local(zone)),
            _ => return None,
        };
        let decimal = match data_type {
            DataType::Decimal128(precision, scale) | DataType::Decimal256(precision, scale) => {
                Some((*precision, *scale))
            }
            _ => None,
        };
        Some(Self {
            wrapper,
            version,
            ordinal,
            decimal,
        })
    }

    /// Whether these are floats, of which a NaN is greater than all to Spark.
    pub(super) fn is_float(&self) -> bool {
        matches!(self.wrapper, FLOAT | DOUBLE)
    }

    /// Whether these are text.
    pub(super) fn is_text(&self) -> bool {
        self.wrapper == STRING
    }

    /// Whether a record's value type is this one: of version 1 there is none.
    pub(super) fn is_of(&self, value_type: Option<&(u32, Option<String>)>) -> bool {
        match (self.version, value_type) {
            (StatsVersion::One, None) => true,
            (StatsVersion::Two, Some((ordinal, more))) => {
                let decimal = self
                    .decimal
                    .map(|(precision, scale)| format!("{precision},{scale}"));
                i64::from(*ordinal) == self.ordinal && *more == decimal
            }
            _ => false,
        }
    }

    /// Bounds that every value of the type is within. Those of text end with the greatest character there is, sixteen times.
    pub(super) fn widest(&self) -> (Scalar, Scalar) {
        let ints = |min: i64, max: i64| (Scalar::Int(min), Scalar::Int(max));
        match (self.wrapper, self.decimal) {
            (BOOLEAN, _) => (Scalar::Boolean(false), Scalar::Boolean(true)),
            (FLOAT | DOUBLE, _) => (Scalar::Float(f64::NEG_INFINITY), Scalar::Float(f64::NAN)),
            (_, Some((precision, _))) => {
                let ten = i256::from_i128(10);
                let beyond = ten.checked_pow(u32::from(precision)).unwrap_or(i256::MAX);
                let most = beyond.wrapping_sub(i256::ONE);
                (Scalar::Decimal(most.wrapping_neg()), Scalar::Decimal(most))
            }
            (STRING, _) => {
                let last = "\u{10ffff}".repeat(16);
                (Scalar::Bytes(Vec::new()), Scalar::Bytes(last.into_bytes()))
            }
            (BYTES, _) => (Scalar::Bytes(Vec::new()), Scalar::Bytes(vec![0xff; 64])),
            (INT | DATE, _) => ints(i64::from(i32::MIN), i64::from(i32::MAX)),
            _ => ints(i64::MIN, i64::MAX),
        }
    }

    /// A decimal of a record at the column's scale; `None` where it is not whole there.
    pub(super) fn stored_decimal(&self, value: i256) -> Option<Scalar> {
        let (_, scale) = self.decimal?;
        if self.wrapper != DECIMAL {
            return Some(Scalar::Decimal(value));
        }
        let digits = u32::try_from(SCALE_OF_VERSION_1.checked_sub(scale)?).ok()?;
        let factor = i256::from_i128(10).checked_pow(digits)?;
        let whole = value.checked_div(factor)?;
        (whole.checked_mul(factor)? == value).then_some(Scalar::Decimal(whole))
    }

    /// What stands for the bounds of a column that has no value: Java takes the zeros of Parquet's statistics, where the type has one.
    pub(super) fn of_nothing(&self) -> Bound<'static> {
        match self.wrapper {
            BOOLEAN | INT | LONG | FLOAT | DOUBLE | DATE => Bound::Zero,
            _ => Bound::Null,
        }
    }

    /// Appends a bound as a branch of the union of wrappers; null for a value of another type than the column's.
    pub(super) fn put(&self, bound: Bound<'_>, out: &mut Vec<u8>) {
        let scalar = match bound {
            Bound::Null => return put_long(0, out),
            Bound::Zero => match self.wrapper {
                BOOLEAN => &Scalar::Boolean(false),
                FLOAT | DOUBLE => &Scalar::Float(0.0),
                _ => &Scalar::Int(0),
            },
            Bound::Value(scalar) => scalar,
        };
        match (self.wrapper, scalar) {
            (BOOLEAN, Scalar::Boolean(value)) => {
                put_long(BOOLEAN, out);
                out.push(u8::from(*value));
            }
            (INT | LONG | DATE, Scalar::Int(value)) => {
                put_long(self.wrapper, out);
                put_long(*value, out);
            }
            (FLOAT, Scalar::Float(value)) => {
                put_long(FLOAT, out);
                // It was widened from 32 bits.
                put_float(*value as f32, out);
            }
            (DOUBLE, Scalar::Float(value)) => {
                put_long(DOUBLE, out);
                put_double(*value, out);
            }
            (BYTES | STRING, Scalar::Bytes(value)) => {
                put_long(self.wrapper, out);
                put_bytes(value, out);
            }
            (BYTES, Scalar::Decimal(value)) => {
                put_long(BYTES, out);
                put_bytes(minimal(&value.to_be_bytes()), out);
            }
            (DECIMAL, Scalar::Decimal(value)) => match self.rescaled(*value) {
                Some(value) => {
                    put_long(DECIMAL, out);
                    put_bytes(minimal(&value.to_be_bytes()), out);
                }
                None => put_long(0, out),
            },
            _ => put_long(0, out),
        }
    }

    fn rescaled(&self, value: i256) -> Option<i256> {
        let (_, scale) = self.decimal?;
        let digits = u32::try_from(SCALE_OF_VERSION_1.checked_sub(scale)?).ok()?;
        value.checked_mul(i256::from_i128(10).checked_pow(digits)?)
    }

    /// Appends the union of null and `HoodieValueTypeInfo`.
    pub(super) fn put_type(&self, out: &mut Vec<u8>) {
        if self.version == StatsVersion::One {
            return put_long(0, out);
        }
        put_long(1, out);
        put_long(self.ordinal, out);
        match self.decimal {
            Some((precision, scale)) => {
                put_long(1, out);
                put_bytes(format!("{precision},{scale}").as_bytes(), out);
            }
            None => put_long(0, out),
        }
    }
}

/// What the ordinals of timestamps without a zone are greater by.
fn local(zone: &Option<std::sync::Arc<str>>) -> i64 {
    if zone.is_none() { 3 } else { 0 }
}

/// The fewest bytes of a number in two's complement.
fn minimal(bytes: &[u8]) -> &[u8] {
    let mut rest = bytes;
    while let [first, tail @ ..] = rest
        && let [second, ..] = tail
        && ((*first == 0 && second & 0x80 == 0) || (*first == 0xff && second & 0x80 != 0))
    {
        rest = tail;
    }
    rest
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(data_type: DataType, version: StatsVersion, value: &Scalar) -> Vec<u8> {
        let mut out = Vec::new();
        let kind = ValueKind::of(&data_type, version).unwrap();
        kind.put(Bound::Value(value), &mut out);
        kind.put_type(&mut out);
        out
    }

    #[test]
    fn decimals_are_kept_as_spark_keeps_them() {
        let decimal = |value: i128| Scalar::Decimal(i256::from_i128(value));
        let nine = bytes(
            DataType::Decimal128(9, 2),
            StatsVersion::Two,
            &decimal(-999_999_999),
        );
        assert_eq!(
            nine,
            [12, 8, 0xc4, 0x65, 0x36, 0x01, 2, 20, 2, 6, b'9', b',', b'2']
        );
        let one = bytes(DataType::Decimal128(9, 2), StatsVersion::One, &decimal(150));
        assert_eq!(one, [18, 14, 0x05, 0x54, 0x3d, 0xf7, 0x29, 0xc0, 0, 0]);
        assert_eq!(minimal(&[0, 0, 0x80]), [0, 0x80]);
        assert_eq!(minimal(&[0xff, 0xff, 0x7f]), [0xff, 0x7f]);
        assert_eq!(minimal(&[0, 0]), [0]);
        assert_eq!(
            ValueKind::of(&DataType::Decimal128(38, 10), StatsVersion::One),
            None
        );
        assert_eq!(
            ValueKind::of(&DataType::Decimal128(20, 2), StatsVersion::One),
            None
        );
    }

    #[test]
    fn columns_without_a_value_have_zeros_where_the_type_has_one() {
        // As Spark with Hudi 1.1.1 wrote in both versions.
        let of =
            |data_type: DataType, version| ValueKind::of(&data_type, version).unwrap().of_nothing();
        for version in [StatsVersion::One, StatsVersion::Two] {
            let time = DataType::Timestamp(TimeUnit::Microsecond, None);
            for zero in [DataType::Boolean, DataType::Int32, DataType::Date32, time] {
                assert_eq!(of(zero, version), Bound::Zero);
            }
            for none in [DataType::Utf8, DataType::Binary, DataType::Decimal128(9, 2)] {
                assert_eq!(of(none, version), Bound::Null);
            }
        }
    }
}
