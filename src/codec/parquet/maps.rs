//! Maps, decoded as lists of entries.
//!
//! The `parquet` crate's reader of maps panics when the levels of keys and of values disagree, where its reader of lists
//! says so. A map is a list of structs in all but name, so the reader is shown a schema in which it is one, and the
//! arrays are given their name afterwards.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, ListArray, MapArray, RecordBatch, StructArray};
use arrow::datatypes::{DataType, Field, FieldRef, Fields, Schema};
use arrow::error::ArrowError;
use parquet::basic::{ConvertedType, LogicalType, Repetition};
use parquet::errors::ParquetError;
use parquet::schema::types::{SchemaDescriptor, Type, TypePtr};

use super::error::from_parquet;
use crate::error::{Error, Result};

/// Whether a map stands among fields or below them.
pub(super) fn any_map(fields: &Fields) -> bool {
    fields.iter().any(|field| has_map(field.data_type()))
}

fn has_map(data_type: &DataType) -> bool {
    match data_type {
        DataType::Map(..) => true,
        DataType::List(element) => has_map(element.data_type()),
        DataType::Struct(fields) => any_map(fields),
        _ => false,
    }
}

/// The same leaves under a schema whose maps are lists.
pub(super) fn schema_of_lists(schema: &SchemaDescriptor) -> Result<SchemaDescriptor> {
    let root = type_of_lists(schema.root_schema_ptr()).map_err(from_parquet)?;
    Ok(SchemaDescriptor::new(root))
}

fn type_of_lists(of: TypePtr) -> Result<TypePtr, ParquetError> {
    if of.is_primitive() {
        return Ok(of);
    }
    let fields = of.get_fields().iter().cloned().map(type_of_lists);
    let fields = fields.collect::<Result<Vec<_>, _>>()?;
    let info = of.get_basic_info();
    let mut group = Type::group_type_builder(of.name()).with_fields(fields);
    if info.has_repetition() {
        group = group.with_repetition(info.repetition());
    }
    if info.has_id() {
        group = group.with_id(Some(info.id()));
    }
    // The repeated group below a map often carries the map's mark too.
    let repeated = info.has_repetition() && info.repetition() == Repetition::REPEATED;
    let logical = info.logical_type_ref();
    let map = matches!(logical, Some(LogicalType::Map))
        || matches!(
            info.converted_type(),
            ConvertedType::MAP | ConvertedType::MAP_KEY_VALUE
        );
    let group = match map {
        true if repeated => group,
        true => group.with_logical_type(Some(LogicalType::List)),
        false => group
            .with_converted_type(info.converted_type())
            .with_logical_type(logical.cloned()),
    };
    group.build().map(Arc::new)
}

/// The types of arrays that are decoded for `fields`.
pub(super) fn fields_of_lists(fields: &Fields) -> Fields {
    fields.iter().map(field_of_lists).collect()
}

fn field_of_lists(field: &FieldRef) -> FieldRef {
    let data_type = match field.data_type() {
        DataType::Map(entries, _) => DataType::List(field_of_lists(entries)),
        DataType::List(element) => DataType::List(field_of_lists(element)),
        DataType::Struct(fields) => DataType::Struct(fields_of_lists(fields)),
        other => other.clone(),
    };
    Arc::new(Field::clone(field).with_data_type(data_type))
}

/// The batch with its lists of entries as the maps that they are.
pub(super) fn with_maps(batch: &RecordBatch, wanted: &Fields) -> Result<RecordBatch> {
    let columns = batch.columns().iter().zip(wanted);
    let columns = columns.map(|(column, field)| array_of(column, field.data_type()));
    let columns = columns.collect::<Result<Vec<_>, _>>();
    let made = columns
        .and_then(|columns| RecordBatch::try_new(Arc::new(Schema::new(wanted.clone())), columns));
    made.map_err(|error| Error::corrupt("the entries of a map are damaged").with_source(error))
}

fn array_of(array: &ArrayRef, wanted: &DataType) -> Result<ArrayRef, ArrowError> {
    let other = || ArrowError::SchemaError("an array is not of its column's type".to_owned());
    Ok(match wanted {
        wanted if !has_map(wanted) => Arc::clone(array),
        DataType::Struct(fields) => {
            Arc::new(struct_of(array.as_struct_opt().ok_or_else(other)?, fields)?)
        }
        DataType::List(element) => {
            let list = array.as_list_opt::<i32>().ok_or_else(other)?;
            let values = array_of(list.values(), element.data_type())?;
            let (offsets, nulls) = (list.offsets().clone(), list.nulls().cloned());
            Arc::new(ListArray::try_new(
                Arc::clone(element),
                offsets,
                values,
                nulls,
            )?)
        }
        DataType::Map(entries, sorted) => {
            let list = array.as_list_opt::<i32>().ok_or_else(other)?;
            let DataType::Struct(fields) = entries.data_type() else {
                return Err(other());
            };
            let values = list.values().as_struct_opt().ok_or_else(other)?;
            let values = struct_of(values, fields)?;
            let (offsets, nulls) = (list.offsets().clone(), list.nulls().cloned());
            let entries = Arc::clone(entries);
            Arc::new(MapArray::try_new(entries, offsets, values, nulls, *sorted)?)
        }
        _ => return Err(other()),
    })
}

fn struct_of(array: &StructArray, fields: &Fields) -> Result<StructArray, ArrowError> {
    let columns = array.columns().iter().zip(fields);
    let columns = columns.map(|(column, field)| array_of(column, field.data_type()));
    let columns = columns.collect::<Result<Vec<_>, _>>()?;
    StructArray::try_new_with_length(fields.clone(), columns, array.nulls().cloned(), array.len())
}
