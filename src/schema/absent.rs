//! The declared default of a column that a file lacks.

use std::sync::Arc;

use arrow::array::{
    ArrayRef, BinaryArray, BooleanArray, Date32Array, Float32Array, Float64Array, Int32Array,
    Int64Array, ListArray, StringArray, new_empty_array,
};
use arrow::buffer::OffsetBuffer;
use arrow::datatypes::{DataType, Field};
use serde_json::Value;

use super::evolve::reinterpret;
use super::types::DEFAULT_KEY;
use crate::error::{Error, Result};

/// `rows` times the default that the field's metadata holds as JSON.
///
/// Errors: `Schema` when the default does not fit the type, `Unsupported` for a default of a record, map, fixed or decimal.
pub(super) fn default_array(field: &Field, rows: usize) -> Result<ArrayRef> {
    let text = field
        .metadata()
        .get(DEFAULT_KEY)
        .map_or("null", String::as_str);
    let value: Value = serde_json::from_str(text).unwrap_or(Value::Null);
    let misfit =
        || Error::schema("the default of a column does not fit its type").context("value", text);
    let int = || value.as_i64().ok_or_else(misfit);
    let int32 = || int().and_then(|v| i32::try_from(v).map_err(|_| misfit()));
    let float = || value.as_f64().ok_or_else(misfit);
    Ok(match field.data_type() {
        DataType::Boolean => Arc::new(BooleanArray::from(vec![
            value
                .as_bool()
                .ok_or_else(misfit)?;
            rows
        ])),
        DataType::Int32 => Arc::new(Int32Array::from_value(int32()?, rows)),
        DataType::Date32 => Arc::new(Date32Array::from_value(int32()?, rows)),
        DataType::Int64 => Arc::new(Int64Array::from_value(int()?, rows)),
        to @ DataType::Timestamp(..) => reinterpret(Int64Array::from_value(int()?, rows), to),
        DataType::Float32 => Arc::new(Float32Array::from_value(float()? as f32, rows)),
        DataType::Float64 => Arc::new(Float64Array::from_value(float()?, rows)),
        DataType::Utf8 => {
            let text = value.as_str().ok_or_else(misfit)?;
            Arc::new(StringArray::from_iter_values(std::iter::repeat_n(
                text, rows,
            )))
        }
        // Avro writes bytes as text whose characters are the bytes.
        DataType::Binary => {
            let characters = value.as_str().ok_or_else(misfit)?.chars();
            let bytes: Option<Vec<u8>> = characters
                .map(|c| u8::try_from(u32::from(c)).ok())
                .collect();
            let bytes = bytes.ok_or_else(misfit)?;
            Arc::new(BinaryArray::from_iter_values(std::iter::repeat_n(
                bytes, rows,
            )))
        }
        DataType::List(element) if value.as_array().is_some_and(Vec::is_empty) => {
            let values = new_empty_array(element.data_type());
            let list = ListArray::try_new(
                Arc::clone(element),
                OffsetBuffer::new_zeroed(rows),
                values,
                None,
            );
            Arc::new(list.map_err(|e| misfit().with_source(e))?)
        }
        other => {
            let message = format!(
                "a default of type {} is not supported",
                super::type_name(other)
            );
            return Err(Error::unsupported(message));
        }
    })
}
