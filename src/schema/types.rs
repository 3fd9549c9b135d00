//! Avro types to Arrow types.
//!
//! | Avro | Arrow |
//! |---|---|
//! | null, boolean, int, long, float, double | Null, Boolean, Int32, Int64, Float32, Float64 |
//! | string, enum, uuid on string | Utf8 |
//! | bytes | Binary |
//! | fixed | FixedSizeBinary(n) |
//! | decimal on bytes or fixed | Decimal128(p, s), above 38 digits Decimal256(p, s) |
//! | date | Date32 |
//! | time-millis, time-micros | Time32(ms), Time64(µs) |
//! | timestamp-millis, -micros, -nanos | Timestamp(unit, "UTC") |
//! | local-timestamp-millis, -micros, -nanos | Timestamp(unit) |
//! | fixed with Hudi's logical type vector | FixedSizeList of Float32, Float64 or Int8 |
//! | array | List of `element` |
//! | map | Map of `key_value`: `key` Utf8, `value` |
//! | record | Struct |
//! | union of null and one other | the other, nullable |
//! | union of int and long, of float and double | Int64, Float64 |
//! | union of several others | Struct of nullable `member0`, `member1`, … |
//!
//! Field metadata keeps what Arrow has no word for: see [`DOC_KEY`], [`DEFAULT_KEY`] and [`LOGICAL_TYPE_KEY`].

use std::collections::HashMap;
use std::sync::Arc;

use arrow::datatypes::{DataType, Field, Fields, Schema, TimeUnit};
use serde_json::Value;

use super::avro::{AvroField, AvroKind, AvroSchema, LogicalType, Mixed, VectorElement};
use crate::error::{Error, Result};

/// Metadata key of a field's documentation.
pub const DOC_KEY: &str = "doc";
/// Metadata key of a field's default when it is not null, as JSON text: what rows read that lack the column.
pub const DEFAULT_KEY: &str = "default";
/// Metadata key of a logical type that Arrow has no type for, such as `blob`.
pub const LOGICAL_TYPE_KEY: &str = "logicalType";

/// A schema that names itself twice a level would grow without end when written out; no real table comes near.
const MAX_FIELDS: usize = 100_000;

/// The Arrow schema of a record schema, by the table above.
///
/// Errors: `Schema` when it is not a record, `Unsupported` (context `field`, `a.b` for nested) for a union inside a union.
/// Source: `schema` of the Hudi technical specification and the Avro 1.11 specification, "Logical Types".
pub fn to_arrow(schema: &AvroSchema) -> Result<Schema> {
    let Some(record) = schema.as_record() else {
        return Err(Error::schema("the table's Avro schema is not a record"));
    };
    let mut converter = Converter {
        path: Vec::new(),
        fields: 0,
    };
    Ok(Schema::new(converter.fields(&record.fields)?))
}

struct Converter {
    path: Vec<String>,
    fields: usize,
}

impl Converter {
    fn fields(&mut self, fields: &[AvroField]) -> Result<Fields> {
        let list = fields.iter().map(|field| {
            self.path.push(field.name.clone());
            let arrow = self.field(&field.name, &field.schema)?;
            self.path.pop();
            Ok(arrow.with_metadata(metadata(field)))
        });
        list.collect()
    }

    fn field(&mut self, name: &str, schema: &AvroSchema) -> Result<Field> {
        self.fields += 1;
        if self.fields > MAX_FIELDS {
            return Err(Error::unsupported("the table's schema has too many fields"));
        }
        let (data_type, nullable) = match (schema.mixed(), schema.nullable()) {
            (Some((mixed, nullable)), _) => (self.mixed(mixed)?, nullable),
            (None, Some((inner, nullable))) => (self.data_type(inner)?, nullable),
            (None, None) => return Err(self.union_in_union()),
        };
        Ok(Field::new(name, data_type, nullable))
    }

    fn union_in_union(&self) -> Error {
        Error::unsupported("a union inside a union is not supported")
            .context("field", self.path.join("."))
    }

    fn mixed(&mut self, mixed: Mixed<'_>) -> Result<DataType> {
        Ok(match mixed {
            Mixed::Long => DataType::Int64,
            Mixed::Double => DataType::Float64,
            Mixed::Members(members) => {
                let members = members.iter().enumerate();
                let fields = members.map(|(at, member)| {
                    if matches!(member.kind, AvroKind::Union(_)) {
                        return Err(self.union_in_union());
                    }
                    Ok(self.field(&member_name(at), member)?.with_nullable(true))
                });
                DataType::Struct(fields.collect::<Result<_>>()?)
            }
        })
    }

    fn data_type(&mut self, schema: &AvroSchema) -> Result<DataType> {
        if let Some(leaf) = leaf_type(schema) {
            return Ok(leaf);
        }
        Ok(match &schema.kind {
            AvroKind::Array(items) => list_type(self.field("element", items)?),
            AvroKind::Map(values) => map_type(self.field("value", values)?),
            AvroKind::Record(record) => DataType::Struct(self.fields(&record.fields)?),
            _ => return Err(self.union_in_union()),
        })
    }
}

/// The Arrow type of an Avro type that holds no other; none for one that does.
pub fn leaf_type(schema: &AvroSchema) -> Option<DataType> {
    if let Some(logical) = schema.logical {
        return Some(logical_type(logical, &schema.kind));
    }
    Some(match &schema.kind {
        AvroKind::Null => DataType::Null,
        AvroKind::Boolean => DataType::Boolean,
        AvroKind::Int => DataType::Int32,
        AvroKind::Long => DataType::Int64,
        AvroKind::Float => DataType::Float32,
        AvroKind::Double => DataType::Float64,
        AvroKind::Bytes => DataType::Binary,
        AvroKind::String | AvroKind::Enum(_) => DataType::Utf8,
        AvroKind::Fixed(fixed) => fixed_size_binary(fixed.size),
        AvroKind::Array(_) | AvroKind::Map(_) | AvroKind::Record(_) | AvroKind::Union(_) => {
            return None;
        }
    })
}

/// A list, as an Avro array becomes one; its field is called `element`.
pub fn list_type(element: Field) -> DataType {
    DataType::List(Arc::new(element))
}

/// A map with text keys, as an Avro map becomes one; its field is called `value`.
pub fn map_type(value: Field) -> DataType {
    let key = Field::new("key", DataType::Utf8, false);
    let entries = DataType::Struct(vec![key, value].into());
    DataType::Map(Arc::new(Field::new("key_value", entries, false)), false)
}

/// The name of the field that holds one branch of a union of several types.
pub fn member_name(at: usize) -> String {
    format!("member{at}")
}

fn fixed_size_binary(size: usize) -> DataType {
    DataType::FixedSizeBinary(i32::try_from(size).unwrap_or(i32::MAX))
}

fn logical_type(logical: LogicalType, kind: &AvroKind) -> DataType {
    let utc = || Some(Arc::from("UTC"));
    match logical {
        LogicalType::Decimal { precision, scale } if precision <= 38 => {
            DataType::Decimal128(precision, scale)
        }
        LogicalType::Decimal { precision, scale } => DataType::Decimal256(precision, scale),
        LogicalType::Uuid => match kind {
            AvroKind::Fixed(fixed) => fixed_size_binary(fixed.size),
            _ => DataType::Utf8,
        },
        LogicalType::Date => DataType::Date32,
        LogicalType::TimeMillis => DataType::Time32(TimeUnit::Millisecond),
        LogicalType::TimeMicros => DataType::Time64(TimeUnit::Microsecond),
        LogicalType::TimestampMillis => DataType::Timestamp(TimeUnit::Millisecond, utc()),
        LogicalType::TimestampMicros => DataType::Timestamp(TimeUnit::Microsecond, utc()),
        LogicalType::TimestampNanos => DataType::Timestamp(TimeUnit::Nanosecond, utc()),
        LogicalType::LocalTimestampMillis => DataType::Timestamp(TimeUnit::Millisecond, None),
        LogicalType::LocalTimestampMicros => DataType::Timestamp(TimeUnit::Microsecond, None),
        LogicalType::LocalTimestampNanos => DataType::Timestamp(TimeUnit::Nanosecond, None),
        LogicalType::Vector { element, dimension } => {
            let element = match element {
                VectorElement::Float => DataType::Float32,
                VectorElement::Double => DataType::Float64,
                VectorElement::Int8 => DataType::Int8,
            };
            DataType::FixedSizeList(Arc::new(Field::new("element", element, false)), dimension)
        }
    }
}

fn metadata(field: &AvroField) -> HashMap<String, String> {
    let mut metadata = HashMap::new();
    if let Some(doc) = &field.doc {
        metadata.insert(DOC_KEY.to_owned(), doc.clone());
    }
    if let Some(default) = field
        .default
        .as_ref()
        .filter(|default| **default != Value::Null)
    {
        metadata.insert(DEFAULT_KEY.to_owned(), default.to_string());
    }
    let other = field
        .schema
        .nullable()
        .and_then(|(inner, _)| inner.other_logical.clone());
    if let Some(other) = other {
        metadata.insert(LOGICAL_TYPE_KEY.to_owned(), other);
    }
    metadata
}

#[cfg(test)]
mod tests;
