//! What a column's type may become: a value of an older file given in the table's type.
//!
//! | in the file | in the table | how |
//! |---|---|---|
//! | Int8, Int16, Int32 | Int32, Int64, Float32, Float64 | by value |
//! | Int64 | Float32, Float64 | by value, rounded to nearest |
//! | Float32 | Float64 | by its shortest decimal text: 1.1 stays 1.1, as Hudi casts float to string to double |
//! | Utf8 | Binary | the same bytes |
//! | Binary | Utf8 | the same bytes, which must be UTF-8 |
//! | Decimal | Decimal of no fewer digits on either side of the point | by value |
//! | Timestamp | Timestamp of another unit, the zone staying | by value, a finer one rounded down |
//! | Timestamp(ns) without zone, which is how INT96 arrives | Timestamp with zone | as UTC, rounded down |
//! | Timestamp(µs) with zone | Timestamp(ms) with zone | the stored number is milliseconds: see [`repair_micros`] |
//! | Int64 | Timestamp without zone | the stored number, in the table's unit |
//! | FixedSizeBinary | FixedSizeList of numbers, as long | Hudi's VECTOR: numbers one after the other, the lowest byte first |
//!
//! | Int32, Int64, Float32, Float64 | Utf8, Decimal | by its text, see `text.rs`: changes that schema on read allows |
//! | Date32, Decimal | Utf8 | by its text |
//! | Utf8 | Date32, Decimal | by its text |
//!
//! Anything else, such as a boolean read as text, is refused.

use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, AsArray, BinaryArray, Decimal128Array, Decimal256Array, FixedSizeListArray,
    Float32Array, Float64Array, Int8Array, PrimitiveArray, StringArray,
};
use arrow::datatypes::{
    ArrowPrimitiveType, DataType, Decimal128Type, Decimal256Type, DecimalType, FieldRef,
    Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, TimeUnit, i256,
};

use super::text;
use crate::error::{Error, Result};

/// Whether a value of type `from` in a file can be given in type `to` of the table. Nested types are matched by field, not here.
pub fn may_become(from: &DataType, to: &DataType) -> bool {
    use DataType::{
        Binary, Decimal128, Decimal256, FixedSizeBinary, FixedSizeList, Float32, Float64, Int8,
        Int16, Int32, Int64, Timestamp, Utf8,
    };
    match (from, to) {
        (a, b) if a == b => true,
        (Int8 | Int16, Int32)
        | (Int8 | Int16 | Int32, Int64)
        | (Int8 | Int16 | Int32 | Int64, Float32 | Float64)
        | (Float32, Float64)
        | (Utf8, Binary)
        | (Binary, Utf8)
        | (Int64, Timestamp(_, None)) => true,
        (Decimal128(p, s) | Decimal256(p, s), Decimal128(q, t) | Decimal256(q, t)) => {
            t >= s && i16::from(*q) - i16::from(*t) >= i16::from(*p) - i16::from(*s)
        }
        (Timestamp(_, a), Timestamp(_, b)) if a.is_some() == b.is_some() => true,
        (Timestamp(TimeUnit::Nanosecond, None), Timestamp(_, Some(_))) => true,
        (FixedSizeBinary(size), FixedSizeList(element, length)) => {
            let width = element.data_type().primitive_width();
            let width = width.and_then(|width| i32::try_from(width).ok());
            width.and_then(|width| width.checked_mul(*length)) == Some(*size)
        }
        _ => text::converts(from, to),
    }
}

/// Whether `promote` keeps the order of values, so that bounds of the file's type become bounds of the table's.
pub fn keeps_order(from: &DataType, to: &DataType) -> bool {
    let has_order = !matches!(to, DataType::FixedSizeList(..));
    let by_text = from != to && text::converts(from, to);
    may_become(from, to) && has_order && !by_text && !is_micros_as_millis(from, to)
}

/// An array of one leaf type given in another, by the table of this module. The lengths are equal and nulls stay where they are.
///
/// Errors: `Schema` when the change is not in the table or a value does not fit.
pub(super) fn promote(array: &ArrayRef, to: &DataType) -> Result<ArrayRef> {
    use DataType::{
        Binary, Decimal128, Decimal256, FixedSizeBinary, FixedSizeList, Float32, Float64, Int8,
        Int16, Int32, Int64, Timestamp, Utf8,
    };
    let from = array.data_type();
    if !may_become(from, to) {
        return Err(refused(from, to));
    }
    if text::converts(from, to) {
        return text::convert(array, to);
    }
    Ok(match (from, to) {
        (a, b) if a == b => Arc::clone(array),
        (Int8, _) => integers::<Int8Type>(array, to)?,
        (Int16, _) => integers::<Int16Type>(array, to)?,
        (Int32, _) => integers::<Int32Type>(array, to)?,
        (Int64, Timestamp(..)) => reinterpret(array.as_primitive::<Int64Type>().clone(), to),
        (Int64, Float32) => Arc::new(
            array
                .as_primitive::<Int64Type>()
                .unary::<_, Float32Type>(|v| v as f32),
        ),
        (Int64, Float64) => Arc::new(
            array
                .as_primitive::<Int64Type>()
                .unary::<_, Float64Type>(|v| v as f64),
        ),
        (Float32, Float64) => Arc::new(
            array
                .as_primitive::<Float32Type>()
                .unary::<_, Float64Type>(widen_float),
        ),
        (Utf8, Binary) => {
            let (offsets, values, nulls) = array.as_string::<i32>().clone().into_parts();
            Arc::new(BinaryArray::new(offsets, values, nulls))
        }
        (Binary, Utf8) => {
            let (offsets, values, nulls) = array.as_binary::<i32>().clone().into_parts();
            let text = StringArray::try_new(offsets, values, nulls);
            Arc::new(
                text.map_err(|e| Error::schema("bytes read as text are not UTF-8").with_source(e))?,
            )
        }
        (Decimal128(..) | Decimal256(..), Decimal128(..) | Decimal256(..)) => decimals(array, to)?,
        (Timestamp(..), Timestamp(..)) => timestamps(array, to)?,
        (FixedSizeBinary(_), FixedSizeList(element, length)) => vectors(array, element, *length)?,
        _ => return Err(refused(from, to)),
    })
}

pub(super) fn refused(from: &DataType, to: &DataType) -> Error {
    let (from, to) = (super::type_name(from), super::type_name(to));
    Error::schema(format!(
        "a file's {from} cannot be read as the table's {to}"
    ))
}

fn integers<T>(array: &ArrayRef, to: &DataType) -> Result<ArrayRef>
where
    T: ArrowPrimitiveType,
    i32: From<T::Native>,
{
    let array = array.as_primitive::<T>();
    Ok(match to {
        DataType::Int32 => Arc::new(array.unary::<_, Int32Type>(i32::from)),
        DataType::Int64 => Arc::new(array.unary::<_, Int64Type>(|v| i64::from(i32::from(v)))),
        DataType::Float32 => Arc::new(array.unary::<_, Float32Type>(|v| i32::from(v) as f32)),
        DataType::Float64 => Arc::new(array.unary::<_, Float64Type>(|v| f64::from(i32::from(v)))),
        _ => return Err(refused(array.data_type(), to)),
    })
}

/// The double that Java reads from a float's text, which has at least two digits: 1.4E-45 for the smallest, not 1E-45.
pub(super) fn widen_float(value: f32) -> f64 {
    let text = two_digits(&format!("{value:e}"), || format!("{value:.1e}"));
    text.parse().unwrap_or(f64::from(value))
}

/// A number in scientific form by its shortest digits, or by two where those are one.
pub(super) fn two_digits(shortest: &str, by_two: impl FnOnce() -> String) -> String {
    match shortest.trim_start_matches('-').as_bytes().get(1) {
        Some(b'e') => by_two(),
        _ => shortest.to_owned(),
    }
}

fn decimals(array: &ArrayRef, to: &DataType) -> Result<ArrayRef> {
    let too_large = || Error::schema("a decimal of the file does not fit the table's type");
    let step = |from: i8, to: i8| {
        i256::from_i128(10)
            .checked_pow(u32::from(to.abs_diff(from)))
            .ok_or_else(too_large)
    };
    let wide: Decimal256Array = match array.data_type() {
        DataType::Decimal128(_, s) => array
            .as_primitive::<Decimal128Type>()
            .unary::<_, Decimal256Type>(i256::from_i128)
            .with_precision_and_scale(Decimal256Type::MAX_PRECISION, *s)
            .map_err(|e| too_large().with_source(e))?,
        _ => array.as_primitive::<Decimal256Type>().clone(),
    };
    match to {
        DataType::Decimal128(p, s) => {
            let factor = step(wide.scale(), *s)?;
            let values: Decimal128Array = wide.try_unary::<_, Decimal128Type, Error>(|v| {
                v.checked_mul(factor)
                    .and_then(i256::to_i128)
                    .ok_or_else(too_large)
            })?;
            let values = values.with_precision_and_scale(*p, *s);
            Ok(Arc::new(values.map_err(|e| too_large().with_source(e))?))
        }
        DataType::Decimal256(p, s) => {
            let factor = step(wide.scale(), *s)?;
            let values: Decimal256Array = wide.try_unary::<_, Decimal256Type, Error>(|v| {
                v.checked_mul(factor).ok_or_else(too_large)
            })?;
            let values = values.with_precision_and_scale(*p, *s);
            Ok(Arc::new(values.map_err(|e| too_large().with_source(e))?))
        }
        _ => Err(refused(array.data_type(), to)),
    }
}

/// Vectors out of their bytes.
fn vectors(array: &ArrayRef, element: &FieldRef, length: i32) -> Result<ArrayRef> {
    let array = array.as_fixed_size_binary();
    let bytes = array.value_data();
    let start = array.offset() * usize::try_from(array.value_length()).unwrap_or(0);
    let bytes = bytes.get(start..).unwrap_or_default();
    let values: ArrayRef = match element.data_type() {
        DataType::Float32 => {
            let numbers = bytes.as_chunks().0.iter().map(|b| f32::from_le_bytes(*b));
            Arc::new(Float32Array::from_iter_values(numbers))
        }
        DataType::Float64 => {
            let numbers = bytes.as_chunks().0.iter().map(|b| f64::from_le_bytes(*b));
            Arc::new(Float64Array::from_iter_values(numbers))
        }
        DataType::Int8 => {
            let numbers = bytes.iter().map(|b| b.cast_signed());
            Arc::new(Int8Array::from_iter_values(numbers))
        }
        other => return Err(refused(array.data_type(), other)),
    };
    let count = array.len() * usize::try_from(length).unwrap_or(0);
    let values = values.slice(0, count.min(values.len()));
    let vectors =
        FixedSizeListArray::try_new(Arc::clone(element), length, values, array.nulls().cloned());
    let misfit = |e| Error::internal("vectors are not as long as their bytes").with_source(e);
    Ok(Arc::new(vectors.map_err(misfit)?))
}

fn is_micros_as_millis(from: &DataType, to: &DataType) -> bool {
    matches!(
        (from, to),
        (
            DataType::Timestamp(TimeUnit::Microsecond, Some(_)),
            DataType::Timestamp(TimeUnit::Millisecond, Some(_))
        )
    )
}

fn timestamps(array: &ArrayRef, to: &DataType) -> Result<ArrayRef> {
    let (DataType::Timestamp(unit, _), DataType::Timestamp(wanted, _)) = (array.data_type(), to)
    else {
        return Err(refused(array.data_type(), to));
    };
    let numbers = numbers(array, *unit);
    let (from, into) = (per_second(*unit), per_second(*wanted));
    let numbers = if is_micros_as_millis(array.data_type(), to) {
        numbers.unary::<_, Int64Type>(repair_micros)
    } else if from >= into {
        numbers.unary::<_, Int64Type>(|v| v.div_euclid(from / into))
    } else {
        let factor = into / from;
        numbers.try_unary::<_, Int64Type, Error>(|v| {
            let fits = v.checked_mul(factor);
            fits.ok_or_else(|| {
                Error::schema("a timestamp of the file does not fit the table's unit")
            })
        })?
    };
    Ok(reinterpret(numbers, to))
}

/// The end of year 9999 in milliseconds, the last that Spark can show.
const LAST_MILLIS: i64 = 253_402_300_799_999;

/// Hudi 0.14.1 to 1.0 labelled milliseconds as microseconds. Under a table of milliseconds a number labelled microseconds is
/// taken as milliseconds, as Hudi's `AvroSchemaRepair` does, unless that would lie beyond year 9999: then the label was right.
/// Local timestamps were labelled rightly or not at all, so theirs is believed.
fn repair_micros(value: i64) -> i64 {
    if value.unsigned_abs() > LAST_MILLIS.unsigned_abs() {
        value.div_euclid(1000)
    } else {
        value
    }
}

const fn per_second(unit: TimeUnit) -> i64 {
    match unit {
        TimeUnit::Second => 1,
        TimeUnit::Millisecond => 1000,
        TimeUnit::Microsecond => 1_000_000,
        TimeUnit::Nanosecond => 1_000_000_000,
    }
}

fn numbers(array: &ArrayRef, unit: TimeUnit) -> PrimitiveArray<Int64Type> {
    use arrow::datatypes::{
        TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType,
        TimestampSecondType,
    };
    match unit {
        TimeUnit::Second => array
            .as_primitive::<TimestampSecondType>()
            .reinterpret_cast(),
        TimeUnit::Millisecond => array
            .as_primitive::<TimestampMillisecondType>()
            .reinterpret_cast(),
        TimeUnit::Microsecond => array
            .as_primitive::<TimestampMicrosecondType>()
            .reinterpret_cast(),
        TimeUnit::Nanosecond => array
            .as_primitive::<TimestampNanosecondType>()
            .reinterpret_cast(),
    }
}

/// The numbers under a timestamp type, its zone kept.
pub(super) fn reinterpret(numbers: PrimitiveArray<Int64Type>, to: &DataType) -> ArrayRef {
    use arrow::datatypes::{
        TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType,
        TimestampSecondType,
    };
    let DataType::Timestamp(unit, zone) = to else {
        return Arc::new(numbers);
    };
    let zone = zone.clone();
    match unit {
        TimeUnit::Second => Arc::new(
            numbers
                .reinterpret_cast::<TimestampSecondType>()
                .with_timezone_opt(zone),
        ),
        TimeUnit::Millisecond => Arc::new(
            numbers
                .reinterpret_cast::<TimestampMillisecondType>()
                .with_timezone_opt(zone),
        ),
        TimeUnit::Microsecond => Arc::new(
            numbers
                .reinterpret_cast::<TimestampMicrosecondType>()
                .with_timezone_opt(zone),
        ),
        TimeUnit::Nanosecond => Arc::new(
            numbers
                .reinterpret_cast::<TimestampNanosecondType>()
                .with_timezone_opt(zone),
        ),
    }
}

#[cfg(test)]
mod tests;
