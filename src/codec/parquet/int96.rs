//! Spark can be told to write timestamps as INT96, days and nanoseconds. By default Arrow counts nanoseconds in 64
//! bits, which ends in 1677 and 2262; microseconds hold what Spark can hold, so these columns are read as such, and as
//! points in time, which is all that Spark writes this way.

use std::sync::Arc;

use arrow::datatypes::{DataType, Field, FieldRef, Fields, Schema, TimeUnit};
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions};
use parquet::basic::Type as PhysicalType;
use parquet::file::metadata::ParquetMetaData;

use super::error::from_parquet;
use crate::error::Result;

/// The file's columns in Arrow's types. A schema that an Arrow writer embedded is not used: the table's schema rules.
pub(super) fn arrow_metadata(metadata: Arc<ParquetMetaData>) -> Result<ArrowReaderMetadata> {
    let plain = ArrowReaderOptions::new().with_skip_arrow_metadata(true);
    let found = ArrowReaderMetadata::try_new(Arc::clone(&metadata), plain.clone());
    let found = found.map_err(from_parquet)?;
    let schema = found.parquet_schema();
    let leaves: Vec<bool> = schema
        .columns()
        .iter()
        .map(|leaf| leaf.physical_type() == PhysicalType::INT96)
        .collect();
    if !leaves.contains(&true) {
        return Ok(found);
    }
    let mut leaves = leaves.into_iter();
    let fields = each_field(found.schema().fields(), &mut leaves);
    let options = plain.with_schema(Arc::new(Schema::new(fields)));
    ArrowReaderMetadata::try_new(metadata, options).map_err(from_parquet)
}

fn each_field(fields: &Fields, leaves: &mut impl Iterator<Item = bool>) -> Fields {
    fields
        .iter()
        .map(|field| one_field(field, leaves))
        .collect()
}

/// Arrow's leaves and Parquet's stand in the same order, so walking one walks the other.
fn one_field(field: &FieldRef, leaves: &mut impl Iterator<Item = bool>) -> FieldRef {
    let data_type = match field.data_type() {
        DataType::Struct(fields) => DataType::Struct(each_field(fields, leaves)),
        DataType::List(element) => DataType::List(one_field(element, leaves)),
        DataType::Map(entries, sorted) => DataType::Map(one_field(entries, leaves), *sorted),
        leaf => match leaves.next() {
            Some(true) => DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into())),
            _ => leaf.clone(),
        },
    };
    Arc::new(Field::clone(field).with_data_type(data_type))
}
