//! One value of a column and its order.

use std::cmp::Ordering;

use arrow::array::{Array, AsArray};
use arrow::buffer::ScalarBuffer;
use arrow::datatypes::{
    DataType, Date32Type, Decimal128Type, Decimal256Type, Float32Type, Float64Type, Int8Type,
    Int16Type, Int32Type, Int64Type, Time32MillisecondType, Time32SecondType,
    Time64MicrosecondType, Time64NanosecondType, TimeUnit, TimestampMicrosecondType,
    TimestampMillisecondType, TimestampNanosecondType, TimestampSecondType, i256,
};

/// One value, without null. Two values compare only when they are of one column's type.
#[derive(Debug, Clone, PartialEq)]
pub enum Scalar {
    /// Boolean: false is less than true.
    Boolean(bool),
    /// Integers, dates in days, times and timestamps in the column's unit.
    Int(i64),
    /// Both float types; a Float32 is widened without change.
    Float(f64),
    /// Both decimal types: the unscaled number at the column's scale.
    Decimal(i256),
    /// Utf8, by bytes; Binary and FixedSizeBinary, unsigned.
    Bytes(Vec<u8>),
}

impl Scalar {
    /// The value at `row`; None for a null, a row that is not there and a type that has no order.
    pub fn from_array(array: &dyn Array, row: usize) -> Option<Self> {
        if row >= array.len() || array.is_null(row) {
            return None;
        }
        if let Some(values) = small_ints(array) {
            return values.get(row).map(|value| Self::Int(i64::from(*value)));
        }
        if let Some(values) = long_ints(array) {
            return values.get(row).map(|value| Self::Int(*value));
        }
        Some(match array.data_type() {
            DataType::Boolean => Self::Boolean(array.as_boolean().value(row)),
            DataType::Int8 => Self::Int(i64::from(array.as_primitive::<Int8Type>().value(row))),
            DataType::Int16 => Self::Int(i64::from(array.as_primitive::<Int16Type>().value(row))),
            DataType::Float32 => {
                Self::Float(f64::from(array.as_primitive::<Float32Type>().value(row)))
            }
            DataType::Float64 => Self::Float(array.as_primitive::<Float64Type>().value(row)),
            DataType::Decimal128(..) => Self::Decimal(i256::from_i128(
                array.as_primitive::<Decimal128Type>().value(row),
            )),
            DataType::Decimal256(..) => {
                Self::Decimal(array.as_primitive::<Decimal256Type>().value(row))
            }
            DataType::Utf8 => Self::Bytes(array.as_string::<i32>().value(row).as_bytes().to_vec()),
            DataType::Binary => Self::Bytes(array.as_binary::<i32>().value(row).to_vec()),
            DataType::FixedSizeBinary(_) => {
                Self::Bytes(array.as_fixed_size_binary().value(row).to_vec())
            }
            _ => return None,
        })
    }

    /// The order of two values of one type; of two kinds, the order is of no meaning but stays total.
    pub fn order(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Boolean(a), Self::Boolean(b)) => a.cmp(b),
            (Self::Int(a), Self::Int(b)) => a.cmp(b),
            (Self::Float(a), Self::Float(b)) => order_floats(*a, *b),
            (Self::Decimal(a), Self::Decimal(b)) => a.cmp(b),
            (Self::Bytes(a), Self::Bytes(b)) => a.cmp(b),
            _ => self.kind().cmp(&other.kind()),
        }
    }

    fn kind(&self) -> u8 {
        match self {
            Self::Boolean(_) => 0,
            Self::Int(_) => 1,
            Self::Float(_) => 2,
            Self::Decimal(_) => 3,
            Self::Bytes(_) => 4,
        }
    }
}

/// Spark's order of floats: NaN equals NaN and is greater than every number; -0.0 equals 0.0.
pub(super) fn order_floats(a: f64, b: f64) -> Ordering {
    a.partial_cmp(&b)
        .unwrap_or_else(|| a.is_nan().cmp(&b.is_nan()))
}

/// The values of the types that hold 32-bit integers.
pub(super) fn small_ints(array: &dyn Array) -> Option<ScalarBuffer<i32>> {
    Some(match array.data_type() {
        DataType::Int32 => array.as_primitive::<Int32Type>().values().clone(),
        DataType::Date32 => array.as_primitive::<Date32Type>().values().clone(),
        DataType::Time32(TimeUnit::Second) => {
            array.as_primitive::<Time32SecondType>().values().clone()
        }
        DataType::Time32(TimeUnit::Millisecond) => array
            .as_primitive::<Time32MillisecondType>()
            .values()
            .clone(),
        _ => return None,
    })
}

/// The values of the types that hold 64-bit integers.
pub(super) fn long_ints(array: &dyn Array) -> Option<ScalarBuffer<i64>> {
    Some(match array.data_type() {
        DataType::Int64 => array.as_primitive::<Int64Type>().values().clone(),
        DataType::Time64(TimeUnit::Microsecond) => array
            .as_primitive::<Time64MicrosecondType>()
            .values()
            .clone(),
        DataType::Time64(TimeUnit::Nanosecond) => array
            .as_primitive::<Time64NanosecondType>()
            .values()
            .clone(),
        DataType::Timestamp(unit, _) => match unit {
            TimeUnit::Second => array.as_primitive::<TimestampSecondType>().values().clone(),
            TimeUnit::Millisecond => array
                .as_primitive::<TimestampMillisecondType>()
                .values()
                .clone(),
            TimeUnit::Microsecond => array
                .as_primitive::<TimestampMicrosecondType>()
                .values()
                .clone(),
            TimeUnit::Nanosecond => array
                .as_primitive::<TimestampNanosecondType>()
                .values()
                .clone(),
        },
        _ => return None,
    })
}
