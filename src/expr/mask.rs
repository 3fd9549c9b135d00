//! Which rows of a batch a predicate keeps.

use std::cmp::Ordering;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, BooleanArray, RecordBatch};
use arrow::buffer::{BooleanBuffer, NullBuffer};
use arrow::datatypes::{
    DataType, Decimal128Type, Decimal256Type, Float32Type, Float64Type, Int8Type, Int16Type, i256,
};

use super::predicate::{Condition, Predicate, Test};
use super::scalar::{Scalar, long_ints, order_floats, small_ints};
use crate::error::{Error, Result};

impl Predicate {
    /// True for each row that every filter keeps; the mask has no nulls and one value a row.
    ///
    /// The batch holds the columns of [`Predicate::columns`] in the types of the schema that the predicate is bound to.
    ///
    /// Errors: `Internal` when it does not.
    pub fn mask(&self, batch: &RecordBatch) -> Result<BooleanArray> {
        let mut kept: Option<BooleanBuffer> = None;
        for condition in &self.conditions {
            let rows = condition.rows(batch)?;
            kept = Some(match kept {
                Some(kept) => &kept & &rows,
                None => rows,
            });
        }
        let kept = kept.unwrap_or_else(|| BooleanBuffer::new_set(batch.num_rows()));
        Ok(BooleanArray::new(kept, None))
    }
}

impl Condition {
    fn rows(&self, batch: &RecordBatch) -> Result<BooleanBuffer> {
        let misfit = || {
            Error::internal("a batch lacks a filter's column or has it in another type")
                .context("field", &self.filter.field)
        };
        let (array, nulls) = self.value(batch).ok_or_else(misfit)?;
        let len = array.len();
        let passed = match &self.test {
            Test::IsNull => {
                return Ok(
                    nulls.map_or_else(|| BooleanBuffer::new_unset(len), |nulls| !nulls.inner())
                );
            }
            Test::IsNotNull => BooleanBuffer::new_set(len),
            Test::Never => return Ok(BooleanBuffer::new_unset(len)),
            test => passed(&array, test).ok_or_else(misfit)?,
        };
        Ok(match nulls {
            Some(nulls) => &passed & nulls.inner(),
            None => passed,
        })
    }

    /// The array at the end of the path, and where it or a struct around it is null.
    fn value(&self, batch: &RecordBatch) -> Option<(ArrayRef, Option<NullBuffer>)> {
        let (root, rest) = self.path.split_first()?;
        let mut array = Arc::clone(batch.column_by_name(root)?);
        let mut nulls = array.logical_nulls();
        for name in rest {
            let inner = Arc::clone(array.as_struct_opt()?.column_by_name(name)?);
            nulls = NullBuffer::union(nulls.as_ref(), inner.logical_nulls().as_ref());
            array = inner;
        }
        (*array.data_type() == self.data_type).then_some((array, nulls))
    }
}

/// Which values pass; what stands under a null is of no meaning. None when array and scalars are of different kinds.
fn passed(array: &ArrayRef, test: &Test) -> Option<BooleanBuffer> {
    match array.data_type() {
        DataType::Boolean => booleans(array, test),
        DataType::Float32 | DataType::Float64 => floats(array, test),
        DataType::Decimal128(..) | DataType::Decimal256(..) => decimals(array, test),
        DataType::Utf8 | DataType::Binary | DataType::FixedSizeBinary(_) => bytes(array, test),
        _ => integers(array, test),
    }
}

/// Integers and all that is stored as one: dates, times, timestamps.
fn integers(array: &ArrayRef, test: &Test) -> Option<BooleanBuffer> {
    let rows = array.len();
    let int = |scalar: &Scalar| match scalar {
        Scalar::Int(value) => Some(*value),
        _ => None,
    };
    let order = |a: i64, b: &i64| a.cmp(b);
    if let Some(values) = small_ints(array) {
        let value = |row: usize| values.get(row).map_or(0, |value| i64::from(*value));
        return decide(test, rows, value, int, order);
    }
    if let Some(values) = long_ints(array) {
        let value = |row: usize| values.get(row).map_or(0, |value| *value);
        return decide(test, rows, value, int, order);
    }
    if let Some(array) = array.as_primitive_opt::<Int16Type>() {
        return decide(test, rows, |row| i64::from(array.value(row)), int, order);
    }
    let array = array.as_primitive_opt::<Int8Type>()?;
    decide(test, rows, |row| i64::from(array.value(row)), int, order)
}

fn booleans(array: &ArrayRef, test: &Test) -> Option<BooleanBuffer> {
    let array = array.as_boolean_opt()?;
    let boolean = |scalar: &Scalar| match scalar {
        Scalar::Boolean(value) => Some(*value),
        _ => None,
    };
    decide(
        test,
        array.len(),
        |row| array.value(row),
        boolean,
        |a, b| a.cmp(b),
    )
}

fn floats(array: &ArrayRef, test: &Test) -> Option<BooleanBuffer> {
    let float = |scalar: &Scalar| match scalar {
        Scalar::Float(value) => Some(*value),
        _ => None,
    };
    let order = |a: f64, b: &f64| order_floats(a, *b);
    if let Some(array) = array.as_primitive_opt::<Float32Type>() {
        return decide(
            test,
            array.len(),
            |row| f64::from(array.value(row)),
            float,
            order,
        );
    }
    let array = array.as_primitive_opt::<Float64Type>()?;
    decide(test, array.len(), |row| array.value(row), float, order)
}

fn decimals(array: &ArrayRef, test: &Test) -> Option<BooleanBuffer> {
    if let Some(array) = array.as_primitive_opt::<Decimal128Type>() {
        let narrow = |scalar: &Scalar| match scalar {
            Scalar::Decimal(value) => value.to_i128(),
            _ => None,
        };
        return decide(
            test,
            array.len(),
            |row| array.value(row),
            narrow,
            |a, b| a.cmp(b),
        );
    }
    let array = array.as_primitive_opt::<Decimal256Type>()?;
    let wide = |scalar: &Scalar| match scalar {
        Scalar::Decimal(value) => Some(*value),
        _ => None,
    };
    decide(
        test,
        array.len(),
        |row| array.value(row),
        wide,
        |a: i256, b| a.cmp(b),
    )
}

fn bytes(array: &ArrayRef, test: &Test) -> Option<BooleanBuffer> {
    let bytes = |scalar: &Scalar| match scalar {
        Scalar::Bytes(value) => Some(value.clone()),
        _ => None,
    };
    let order = |a: &[u8], b: &Vec<u8>| a.cmp(b.as_slice());
    if let Some(array) = array.as_string_opt::<i32>() {
        return decide(
            test,
            array.len(),
            |row| array.value(row).as_bytes(),
            bytes,
            order,
        );
    }
    if let Some(array) = array.as_binary_opt::<i32>() {
        return decide(test, array.len(), |row| array.value(row), bytes, order);
    }
    let array = array.as_fixed_size_binary_opt()?;
    decide(test, array.len(), |row| array.value(row), bytes, order)
}

/// One loop for every comparison of one type: `value` at a row, `scalar` of the test, and their order.
fn decide<V, S>(
    test: &Test,
    rows: usize,
    value: impl Fn(usize) -> V,
    scalar: impl Fn(&Scalar) -> Option<S>,
    order: impl Fn(V, &S) -> Ordering,
) -> Option<BooleanBuffer>
where
    V: Copy,
{
    Some(match test {
        Test::Order(orders, other) => {
            let other = scalar(other)?;
            BooleanBuffer::collect_bool(rows, |row| orders.allow(order(value(row), &other)))
        }
        Test::OneOf(list, negated) => {
            let list: Vec<S> = list.iter().map(scalar).collect::<Option<_>>()?;
            BooleanBuffer::collect_bool(rows, |row| {
                let value = value(row);
                list.binary_search_by(|other| order(value, other).reverse())
                    .is_ok()
                    != *negated
            })
        }
        Test::IsNull | Test::IsNotNull | Test::Never => return None,
    })
}

#[cfg(test)]
mod tests;
