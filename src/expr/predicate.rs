//! Filters bound to a schema.

use std::cmp::Ordering;

use arrow::datatypes::{DataType, Field, Fields, Schema};

use super::literal::{Literal, parse_literal};
use super::parse::{Filter, Operator};
use super::scalar::Scalar;
use crate::error::{Error, Result, ResultExt};
use crate::model::InOrder;
use crate::schema::unknown_column;

/// The AND of filters whose columns are found and whose values are of the columns' types. Without filters it keeps every row.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Predicate {
    pub(super) conditions: Vec<Condition>,
}

/// One filter of a predicate.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Condition {
    /// As it was given.
    pub(super) filter: Filter,
    /// The column and then the fields of structs on the way to the value.
    pub(super) path: Vec<String>,
    /// Of the value at the end of the path.
    pub(super) data_type: DataType,
    pub(super) test: Test,
}

/// What a value must be; null passes `IsNull` alone.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Test {
    IsNull,
    IsNotNull,
    /// No value is.
    Never,
    /// In one of these orders to the scalar.
    Order(Orders, Scalar),
    /// Among these, which are sorted; or, when the flag is set, not among them.
    OneOf(Vec<Scalar>, bool),
}

/// The orders of a value to a scalar that pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Orders {
    pub(super) less: bool,
    pub(super) equal: bool,
    pub(super) greater: bool,
}

impl Orders {
    pub(super) fn allow(self, order: Ordering) -> bool {
        match order {
            Ordering::Less => self.less,
            Ordering::Equal => self.equal,
            Ordering::Greater => self.greater,
        }
    }
}

impl Predicate {
    /// Finds the columns and reads the values.
    ///
    /// A field is a column of that very name, else the path `a.b` through structs.
    ///
    /// Errors: `Schema` with `field` for an unknown column, a value that is not of the column's type (context `value`), and a
    /// comparison of a list, map or struct.
    pub fn bind(filters: &[Filter], schema: &Schema) -> Result<Self> {
        let bound = filters.iter().map(|filter| {
            let mut path = Vec::new();
            if !resolve(schema.fields(), &filter.field, &mut path) {
                return Err(unknown(schema, &filter.field));
            }
            let data_type = path
                .last()
                .map_or(DataType::Null, |field| field.data_type().clone());
            let test = test(filter, &data_type).context("field", &filter.field)?;
            let path = path.iter().map(|field| field.name().clone()).collect();
            Ok(Condition {
                filter: filter.clone(),
                path,
                data_type,
                test,
            })
        });
        Ok(Self {
            conditions: bound.collect::<Result<_>>()?,
        })
    }

    /// Whether there is no filter.
    pub fn is_empty(&self) -> bool {
        self.conditions.is_empty()
    }

    /// The filters, as they were given.
    pub fn filters(&self) -> impl Iterator<Item = &Filter> {
        self.conditions.iter().map(|condition| &condition.filter)
    }

    /// The columns that a mask needs, each once; of a nested field its outermost one.
    pub fn columns(&self) -> Vec<&str> {
        let mut columns = Vec::with_capacity(self.conditions.len());
        for condition in &self.conditions {
            if let Some(column) = condition
                .path
                .first()
                .filter(|column| !columns.contains(&column.as_str()))
            {
                columns.push(column.as_str());
            }
        }
        columns
    }

    /// For each filter the way to its value, outermost name first: what [`super::Bounds::column`] is asked for.
    pub fn paths(&self) -> impl Iterator<Item = &[String]> {
        self.conditions
            .iter()
            .map(|condition| condition.path.as_slice())
    }

    /// The values of which a column must have one in every row that passes, where the filters say so. No value at all is an
    /// empty list.
    pub fn one_of(&self, column: &str) -> Option<Vec<&Scalar>> {
        let of_column = self
            .conditions
            .iter()
            .filter(|condition| condition.path.as_slice() == [column]);
        let lists = of_column.filter_map(|condition| match &condition.test {
            Test::Order(orders, scalar) if orders.equal && !orders.less && !orders.greater => {
                Some(vec![scalar])
            }
            Test::OneOf(list, false) => Some(list.iter().collect()),
            _ => None,
        });
        lists.min_by_key(Vec::len)
    }

    /// The filters on columns that `keep` names, such as those of the partition path.
    #[must_use]
    pub fn only(&self, keep: impl Fn(&str) -> bool) -> Self {
        let kept = self
            .conditions
            .iter()
            .filter(|condition| condition.path.first().is_some_and(|column| keep(column)));
        Self {
            conditions: kept.cloned().collect(),
        }
    }
}

/// Follows a name into `path`; a name with dots may end a column's name at any of them.
fn resolve<'a>(fields: &'a Fields, name: &str, path: &mut Vec<&'a Field>) -> bool {
    if let Some(field) = fields.iter().find(|field| field.name() == name) {
        path.push(field);
        return true;
    }
    for (dot, _) in name.match_indices('.') {
        let (Some(head), Some(tail)) = (name.get(..dot), name.get(dot + 1..)) else {
            continue;
        };
        let Some(field) = fields.iter().find(|field| field.name() == head) else {
            continue;
        };
        if let DataType::Struct(inner) = field.data_type() {
            path.push(field);
            if resolve(inner, tail, path) {
                return true;
            }
            path.pop();
        }
    }
    false
}

fn unknown(schema: &Schema, name: &str) -> Error {
    let root = name.split('.').next().unwrap_or(name);
    let column = schema.fields().iter().find(|field| field.name() == root);
    let hint = match column.map(|field| field.data_type()) {
        Some(DataType::List(_) | DataType::Map(..)) => {
            "is a list or map, which a filter does not look into"
        }
        Some(_) => "has no such field",
        None => return unknown_column(schema, name),
    };
    Error::schema("the table has no such column")
        .context("field", name)
        .context("hint", format!("the column {root} {hint}"))
}

fn test(filter: &Filter, data_type: &DataType) -> Result<Test> {
    let orders = |less, equal, greater| Orders {
        less,
        equal,
        greater,
    };
    let orders = match filter.operator {
        Operator::IsNull => return Ok(Test::IsNull),
        Operator::IsNotNull => return Ok(Test::IsNotNull),
        Operator::In => return one_of(filter, data_type, false),
        Operator::NotIn => return one_of(filter, data_type, true),
        Operator::Eq => orders(false, true, false),
        Operator::Ne => orders(true, false, true),
        Operator::Lt => orders(true, false, false),
        Operator::Lte => orders(true, true, false),
        Operator::Gt => orders(false, false, true),
        Operator::Gte => orders(false, true, true),
    };
    let [value] = filter.values.as_slice() else {
        return Err(Error::invalid_argument(
            "a comparison takes exactly one value",
        ));
    };
    let passes = |all| if all { Test::IsNotNull } else { Test::Never };
    Ok(match parse_literal(value, data_type)? {
        Literal::At(scalar, true) => Test::Order(orders, scalar),
        // The literal lies between two values of the type: the lower of them is less than it, as all before are.
        Literal::At(scalar, false) => Test::Order(
            Orders {
                equal: orders.less,
                ..orders
            },
            scalar,
        ),
        Literal::Below => passes(orders.greater),
        Literal::Above => passes(orders.less),
    })
}

fn one_of(filter: &Filter, data_type: &DataType, negated: bool) -> Result<Test> {
    let mut values = Vec::with_capacity(filter.values.len());
    for value in &filter.values {
        // A literal that is no value of the type equals none.
        if let Literal::At(scalar, true) = parse_literal(value, data_type)? {
            values.push(scalar);
        }
    }
    values.in_order_by(Scalar::order);
    Ok(Test::OneOf(values, negated))
}

#[cfg(test)]
mod tests;
