//! What a partition's path says of its rows.

use arrow::datatypes::DataType;

use super::path_value;
use crate::expr::{Bounds, ColumnBounds, Scalar};

/// Bounds of the partition fields in one partition, or below one folder of the table.
///
/// 1. They hold for every row that the partition gives: values that come from the file are written as the path says.
/// 2. A field of which nothing is surely known has none.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PathBounds {
    columns: Vec<(String, ColumnBounds)>,
}

impl PathBounds {
    pub(super) fn add(&mut self, name: &str, bounds: Option<ColumnBounds>) {
        if let Some(bounds) = bounds {
            self.columns.push((name.to_owned(), bounds));
        }
    }
}

impl Bounds for PathBounds {
    fn column(&self, path: &[String]) -> Option<ColumnBounds> {
        let name = path.join(".");
        let found = self.columns.iter().find(|(column, _)| *column == name);
        found.map(|(_, bounds)| bounds.clone())
    }
}

/// Every row is null.
pub(super) fn null() -> ColumnBounds {
    ColumnBounds {
        min: None,
        max: None,
        null_count: Some(1),
        value_count: Some(1),
    }
}

/// Every row has the value of `text`.
pub(super) fn one(text: &str, data_type: &DataType) -> Option<ColumnBounds> {
    let value = path_value::exact(text, data_type)?;
    Some(between(value.clone(), value))
}

/// Every row has a value from `min` to `max`.
fn between(min: Scalar, max: Scalar) -> ColumnBounds {
    ColumnBounds {
        min: Some(min),
        max: Some(max),
        null_count: Some(0),
        value_count: Some(1),
    }
}

/// Values from `min` to `max`, and perhaps nulls among them.
pub(super) fn between_or_null((min, max): (Scalar, Scalar)) -> ColumnBounds {
    ColumnBounds {
        min: Some(min),
        max: Some(max),
        null_count: None,
        value_count: None,
    }
}

/// Every row has the value of `text`, or one that goes on with a slash after it.
pub(super) fn begins(text: &str, data_type: &DataType) -> Option<ColumnBounds> {
    if *data_type != DataType::Utf8 {
        return one(text, data_type);
    }
    // '0' is the character after the slash.
    let end = format!("{text}0");
    let bytes = |text: &str| Scalar::Bytes(text.as_bytes().to_vec());
    Some(between(bytes(text), bytes(&end)))
}
