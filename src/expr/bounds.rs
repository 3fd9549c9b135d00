//! Whether rows may pass, by minimum, maximum and counts alone.
//!
//! Promises:
//! 1. `may_match` is false only when the mask keeps none of the rows that the bounds describe.
//! 2. What is not known keeps: a bound or count that is absent never decides.
//! 3. A minimum may be less and a maximum greater than any value there, as those of cut strings are.
//! 4. Bounds of floats say nothing of NaN, which may be there beside them, nor of the sign of a zero; a bound that is NaN is no
//!    bound.

use std::cmp::Ordering;

use arrow::datatypes::DataType;

use super::predicate::{Condition, Orders, Predicate, Test};
use super::scalar::{Scalar, order_floats};

/// What is known of the values of one column in a file, a row group or a page.
///
/// Only bounds that hold are given: a source that may have counted NaN wrongly, as Hudi's column statistics do, or that cut text
/// without rounding up, leaves them out.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ColumnBounds {
    /// Not greater than any value, in the column's type.
    pub min: Option<Scalar>,
    /// Not less than any value, in the column's type.
    pub max: Option<Scalar>,
    /// Rows without a value; of a nested field also those where a struct around it is null.
    pub null_count: Option<u64>,
    /// Rows, those without a value among them.
    pub value_count: Option<u64>,
}

impl ColumnBounds {
    /// Of a column without rows.
    pub fn of_no_rows() -> Self {
        Self {
            null_count: Some(0),
            value_count: Some(0),
            ..Self::default()
        }
    }

    /// Of the rows of both: what is not known of either is not known.
    #[must_use]
    pub fn union(self, other: Self) -> Self {
        let sum = |a: Option<u64>, b: Option<u64>| a?.checked_add(b?);
        let (null_count, value_count) = (
            sum(self.null_count, other.null_count),
            sum(self.value_count, other.value_count),
        );
        let (min, max) = match (self.has_no_value(), other.has_no_value()) {
            (true, _) => (other.min, other.max),
            (false, true) => (self.min, self.max),
            (false, false) => (
                outer(self.min, other.min, Ordering::Less),
                outer(self.max, other.max, Ordering::Greater),
            ),
        };
        Self {
            min,
            max,
            null_count,
            value_count,
        }
    }

    fn has_no_value(&self) -> bool {
        self.null_count.is_some() && self.null_count == self.value_count
    }
}

/// Of two bounds the one further out; none unless both are known.
fn outer(a: Option<Scalar>, b: Option<Scalar>, out: Ordering) -> Option<Scalar> {
    let (a, b) = (a?, b?);
    Some(if b.order(&a) == out { b } else { a })
}

/// Whoever has bounds of columns.
pub trait Bounds {
    /// Of the column, or of the nested field that `path` leads to, outermost name first. None when nothing is known.
    fn column(&self, path: &[String]) -> Option<ColumnBounds>;
}

impl Predicate {
    /// False when no row can pass: see the promises of `bounds.rs`.
    pub fn may_match(&self, bounds: &dyn Bounds) -> bool {
        self.conditions
            .iter()
            .all(|condition| match bounds.column(&condition.path) {
                Some(known) => condition.may_match(&known),
                None => condition.test != Test::Never,
            })
    }
}

impl Condition {
    fn may_match(&self, known: &ColumnBounds) -> bool {
        let all_null = known.has_no_value();
        match &self.test {
            Test::IsNull => known.null_count != Some(0),
            Test::Never => false,
            _ if all_null => false,
            Test::IsNotNull => true,
            Test::Order(orders, scalar) => {
                Range::of(known, &self.data_type).may_order(*orders, scalar)
            }
            Test::OneOf(list, negated) => {
                Range::of(known, &self.data_type).may_be_one_of(list, *negated)
            }
        }
    }
}

/// The bounds that count.
struct Range<'a> {
    min: Option<&'a Scalar>,
    max: Option<&'a Scalar>,
    /// Whether NaN may be there beside them.
    floats: bool,
}

impl<'a> Range<'a> {
    fn of(known: &'a ColumnBounds, data_type: &DataType) -> Self {
        let floats = matches!(data_type, DataType::Float32 | DataType::Float64);
        let nan =
            |bound: &Option<Scalar>| matches!(bound, Some(Scalar::Float(value)) if value.is_nan());
        // One NaN bound means that the other was counted in its presence as well.
        if floats && (nan(&known.min) || nan(&known.max)) {
            return Self {
                min: None,
                max: None,
                floats,
            };
        }
        Self {
            min: known.min.as_ref(),
            max: known.max.as_ref(),
            floats,
        }
    }

    fn may_be_less(&self, than: &Scalar) -> bool {
        self.min.is_none_or(|min| min.order(than) == Ordering::Less)
    }

    fn may_be_greater(&self, than: &Scalar) -> bool {
        let by_nan = self.floats && !is_nan(than);
        by_nan
            || self
                .max
                .is_none_or(|max| max.order(than) == Ordering::Greater)
    }

    fn may_be(&self, scalar: &Scalar) -> bool {
        if self.floats && is_nan(scalar) {
            return true;
        }
        self.min
            .is_none_or(|min| min.order(scalar) != Ordering::Greater)
            && self
                .max
                .is_none_or(|max| max.order(scalar) != Ordering::Less)
    }

    fn may_order(&self, orders: Orders, scalar: &Scalar) -> bool {
        orders.less && self.may_be_less(scalar)
            || orders.equal && self.may_be(scalar)
            || orders.greater && self.may_be_greater(scalar)
    }

    fn may_be_one_of(&self, list: &[Scalar], negated: bool) -> bool {
        if !negated {
            return list.iter().any(|scalar| self.may_be(scalar));
        }
        let only = match (self.min, self.max) {
            (Some(min), Some(max)) if !self.floats && min.order(max) == Ordering::Equal => min,
            _ => return true,
        };
        list.iter()
            .all(|scalar| scalar.order(only) != Ordering::Equal)
    }
}

fn is_nan(scalar: &Scalar) -> bool {
    matches!(scalar, Scalar::Float(value) if order_floats(*value, f64::NAN) == Ordering::Equal)
}

#[cfg(test)]
mod tests;
