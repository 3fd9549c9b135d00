//! Ordering values, compared.
//!
//! Values of several columns compare left to right. Where either side has no value there is no order, and arrival decides: a
//! later version is never lost for want of a value. Floats compare as Java's: NaN is greater than every number, -0.0 less
//! than 0.0.

use std::cmp::Ordering;

use arrow::array::{Array, ArrayRef, AsArray};
use arrow::buffer::{NullBuffer, ScalarBuffer};
use arrow::datatypes::{DataType, Int32Type, Int64Type, TimestampMicrosecondType, i256};

use crate::error::{Error, Result};
use crate::expr::Scalar;

/// Digits after the point of a decimal in a delete block.
const DELETE_SCALE: i8 = 15;

/// The ordering values of some versions, a column at a time.
#[derive(Debug, Clone)]
pub(super) struct OrderingValues(Vec<Column>);

#[derive(Debug, Clone)]
enum Column {
    Long(ScalarBuffer<i64>, Option<NullBuffer>),
    Int(ScalarBuffer<i32>, Option<NullBuffer>),
    Array(ArrayRef),
    Scalars(Vec<Option<Scalar>>),
}

impl OrderingValues {
    /// Of data rows.
    ///
    /// Errors: `Unsupported` for a type without an order; `Corrupt` for text that is no sequence where `sequence` asks for it.
    pub(super) fn of_rows(columns: &[ArrayRef], sequence: bool) -> Result<Self> {
        let columns = columns.iter().map(|array| {
            Ok(match array.data_type() {
                DataType::Utf8 if sequence => {
                    let texts = array.as_string::<i32>().iter();
                    let parsed = texts.map(|text| text.map(parse_sequence).transpose());
                    Column::Scalars(parsed.collect::<Result<_>>()?)
                }
                DataType::Int64 => {
                    let array = array.as_primitive::<Int64Type>();
                    Column::Long(array.values().clone(), array.nulls().cloned())
                }
                DataType::Timestamp(arrow::datatypes::TimeUnit::Microsecond, _) => {
                    let array = array.as_primitive::<TimestampMicrosecondType>();
                    Column::Long(array.values().clone(), array.nulls().cloned())
                }
                DataType::Int32 => {
                    let array = array.as_primitive::<Int32Type>();
                    Column::Int(array.values().clone(), array.nulls().cloned())
                }
                kind if has_order(kind) => Column::Array(array.clone()),
                kind => {
                    let message = "an ordering column of a type that has no order";
                    return Err(Error::unsupported(message).context("type", kind));
                }
            })
        });
        Ok(Self(columns.collect::<Result<_>>()?))
    }

    /// Of deletes: one list of values each, in the order of the columns, given in the columns' types.
    ///
    /// Errors: `Corrupt` for a value that no column of its type holds, or another number of values than of columns.
    pub(super) fn of_deletes<'a>(
        deletes: impl Iterator<Item = Option<&'a [Scalar]>>,
        types: &[DataType],
        sequence: bool,
    ) -> Result<Self> {
        let mut columns: Vec<Vec<Option<Scalar>>> = vec![Vec::new(); types.len()];
        for values in deletes {
            if let Some(values) = values
                && values.len() != types.len()
            {
                let message =
                    "a delete has another number of ordering values than the table has columns";
                return Err(Error::corrupt(message));
            }
            for (at, (column, kind)) in columns.iter_mut().zip(types).enumerate() {
                let value = values.and_then(|values| values.get(at));
                column.push(value.map(|value| cast(value, kind, sequence)).transpose()?);
            }
        }
        Ok(Self(columns.into_iter().map(Column::Scalars).collect()))
    }

    /// The order of the version at `row` to that at `at` in `other`; `None` when either lacks a value.
    pub(super) fn order(&self, row: usize, other: &Self, at: usize) -> Option<Ordering> {
        for (own, other) in self.0.iter().zip(&other.0) {
            match own.order(row, other, at)? {
                Ordering::Equal => {}
                decided => return Some(decided),
            }
        }
        (!self.0.is_empty()).then_some(Ordering::Equal)
    }

    /// Whether a delete at `row` is one by arrival: it has no value, or Java's int 0, which stands for none.
    pub(super) fn is_natural(&self, row: usize) -> bool {
        match self.0.as_slice() {
            [Column::Int(values, nulls)] => is_null(nulls, row) || values.get(row) == Some(&0),
            columns => columns.iter().any(|column| column.is_null(row)) || columns.is_empty(),
        }
    }
}

fn is_null(nulls: &Option<NullBuffer>, row: usize) -> bool {
    nulls.as_ref().is_some_and(|nulls| nulls.is_null(row))
}

impl Column {
    fn is_null(&self, row: usize) -> bool {
        match self {
            Self::Long(_, nulls) | Self::Int(_, nulls) => is_null(nulls, row),
            Self::Array(array) => array.is_null(row),
            Self::Scalars(values) => values.get(row).is_none_or(Option::is_none),
        }
    }

    fn order(&self, row: usize, other: &Self, at: usize) -> Option<Ordering> {
        match (self, other) {
            (Self::Long(a, a_nulls), Self::Long(b, b_nulls)) => {
                let both = !is_null(a_nulls, row) && !is_null(b_nulls, at);
                both.then(|| a.get(row)?.partial_cmp(b.get(at)?)).flatten()
            }
            (Self::Int(a, a_nulls), Self::Int(b, b_nulls)) => {
                let both = !is_null(a_nulls, row) && !is_null(b_nulls, at);
                both.then(|| a.get(row)?.partial_cmp(b.get(at)?)).flatten()
            }
            _ => Some(order(&self.scalar(row)?, &other.scalar(at)?)),
        }
    }

    fn scalar(&self, row: usize) -> Option<Scalar> {
        match self {
            Self::Long(values, nulls) if !is_null(nulls, row) => {
                values.get(row).map(|value| Scalar::Int(*value))
            }
            Self::Int(values, nulls) if !is_null(nulls, row) => {
                values.get(row).map(|value| Scalar::Int(i64::from(*value)))
            }
            Self::Long(..) | Self::Int(..) => None,
            Self::Array(array) => Scalar::from_array(array.as_ref(), row),
            Self::Scalars(values) => values.get(row)?.clone(),
        }
    }
}

fn order(a: &Scalar, b: &Scalar) -> Ordering {
    match (a, b) {
        (Scalar::Float(a), Scalar::Float(b)) if *a == 0.0 && *b == 0.0 => {
            b.is_sign_negative().cmp(&a.is_sign_negative())
        }
        _ => a.order(b),
    }
}

fn has_order(kind: &DataType) -> bool {
    use DataType::{
        Binary, Boolean, Date32, Decimal128, Decimal256, FixedSizeBinary, Float32, Float64, Int8,
        Int16, Time32, Time64, Timestamp, Utf8,
    };
    matches!(
        kind,
        Boolean
            | Int8
            | Int16
            | Float32
            | Float64
            | Utf8
            | Binary
            | FixedSizeBinary(_)
            | Decimal128(..)
            | Decimal256(..)
            | Date32
            | Time32(_)
            | Time64(_)
            | Timestamp(..)
    )
}

/// `<file>.<position>`, two numbers, as one.
fn parse_sequence(text: &str) -> Result<Scalar> {
    let bad = || {
        Error::corrupt("an ordering value that is no binlog file and position")
            .context("value", text)
    };
    let (file, position) = text.split_once('.').ok_or_else(bad)?;
    let number = |text: &str| text.parse::<u64>().map_err(|_| bad());
    let both = (i128::from(number(file)?) << 64) | i128::from(number(position)?);
    Ok(Scalar::Decimal(i256::from_i128(both)))
}

/// A delete's value in the type of the column that it is compared with.
fn cast(value: &Scalar, kind: &DataType, sequence: bool) -> Result<Scalar> {
    use DataType::{Boolean, Decimal128, Decimal256, Float32, Float64, Utf8};
    let misfit = || {
        Error::corrupt("a delete's ordering value is of another type than the column")
            .context("value", format!("{value:?}"))
            .context("type", kind)
    };
    match (value, kind) {
        (Scalar::Bytes(text), Utf8) if sequence => {
            parse_sequence(std::str::from_utf8(text).map_err(|_| misfit())?)
        }
        (Scalar::Boolean(_), Boolean)
        | (Scalar::Float(_), Float64)
        | (Scalar::Bytes(_), Utf8 | DataType::Binary | DataType::FixedSizeBinary(_)) => {
            Ok(value.clone())
        }
        (Scalar::Float(value), Float32) => Ok(Scalar::Float(f64::from(*value as f32))),
        (Scalar::Int(value), Float32 | Float64) => Ok(Scalar::Float(*value as f64)),
        (Scalar::Int(_), kind) if is_integer(kind) => Ok(value.clone()),
        (Scalar::Int(value), Decimal128(_, scale) | Decimal256(_, scale)) => {
            rescaled(i256::from(*value), 0, *scale).ok_or_else(misfit)
        }
        (Scalar::Decimal(value), Decimal128(_, scale) | Decimal256(_, scale)) => {
            rescaled(*value, DELETE_SCALE, *scale).ok_or_else(misfit)
        }
        _ => Err(misfit()),
    }
}

fn is_integer(kind: &DataType) -> bool {
    use DataType::{Date32, Int8, Int16, Int32, Int64, Time32, Time64, Timestamp};
    matches!(
        kind,
        Int8 | Int16 | Int32 | Int64 | Date32 | Time32(_) | Time64(_) | Timestamp(..)
    )
}

/// A decimal at another scale. Digits that a coarser scale lacks are cut off; the writer had none there.
fn rescaled(value: i256, from: i8, to: i8) -> Option<Scalar> {
    let power = i256::from_i128(10).checked_pow(u32::from(from.abs_diff(to)))?;
    let value = match to >= from {
        true => value.checked_mul(power)?,
        false => value.checked_div(power)?,
    };
    Some(Scalar::Decimal(value))
}
