//! The Parquet schema of rows as reads give them, in the same forms as base files have.

use arrow::datatypes::{DataType, Field, Schema, TimeUnit};

use super::file_schema::{FileSchema, Kind, Meaning, Node, Physical, Shape, decimal_bytes};
use crate::error::{Error, Result};
use crate::schema::type_name;

impl FileSchema {
    /// The file's schema for arrays of a read.
    ///
    /// Errors: `InvalidArgument` without a column; `Unsupported`, naming the `field`, for a type that is not written:
    /// nanoseconds, vectors, decimals of more than 38 digits, and what no read gives.
    pub fn of_arrow(schema: &Schema) -> Result<Self> {
        match schema.fields().is_empty() {
            true => Err(Error::invalid_argument(
                "a Parquet file has at least one column",
            )),
            false => Ok(Self {
                name: "schema".to_owned(),
                fields: nodes(schema.fields())?,
            }),
        }
    }
}

fn nodes<'a>(fields: impl IntoIterator<Item = &'a std::sync::Arc<Field>>) -> Result<Vec<Node>> {
    let nodes = fields.into_iter().map(|field| node(field.name(), field));
    nodes.collect()
}

fn node(name: &str, field: &Field) -> Result<Node> {
    let leaf = |physical, meaning| Kind::Leaf(physical, meaning);
    let plain = |physical| leaf(physical, Meaning::Plain);
    let kind = match field.data_type() {
        DataType::Boolean => plain(Physical::Boolean),
        DataType::Int32 => plain(Physical::Int32),
        DataType::Int64 => plain(Physical::Int64),
        DataType::Float32 => plain(Physical::Float),
        DataType::Float64 => plain(Physical::Double),
        DataType::Binary => plain(Physical::ByteArray),
        DataType::Utf8 => leaf(Physical::ByteArray, Meaning::Text),
        DataType::FixedSizeBinary(size @ 1..) => plain(Physical::Fixed(*size as usize)),
        DataType::Decimal128(precision, scale) if *scale >= 0 => leaf(
            Physical::Fixed(decimal_bytes(*precision)),
            Meaning::Decimal {
                precision: *precision,
                scale: *scale,
            },
        ),
        DataType::Date32 => leaf(Physical::Int32, Meaning::Date),
        DataType::Time32(TimeUnit::Millisecond) => {
            leaf(Physical::Int32, Meaning::Time { micros: false })
        }
        DataType::Time64(TimeUnit::Microsecond) => {
            leaf(Physical::Int64, Meaning::Time { micros: true })
        }
        DataType::Timestamp(unit @ (TimeUnit::Millisecond | TimeUnit::Microsecond), zone) => leaf(
            Physical::Int64,
            Meaning::Timestamp {
                micros: *unit == TimeUnit::Microsecond,
                utc: zone.is_some(),
            },
        ),
        DataType::List(element) => Kind::Group(Shape::List, vec![node("element", element)?]),
        DataType::Struct(fields) if !fields.is_empty() => {
            Kind::Group(Shape::Record, nodes(fields)?)
        }
        DataType::Map(entries, _) => match entries.data_type() {
            DataType::Struct(pair) => match pair.as_ref() {
                [key, value] => {
                    Kind::Group(Shape::Map, vec![node("key", key)?, node("value", value)?])
                }
                _ => return Err(refused(name, field)),
            },
            _ => return Err(refused(name, field)),
        },
        _ => return Err(refused(name, field)),
    };
    Ok(Node {
        name: name.to_owned(),
        optional: field.is_nullable(),
        kind,
    })
}

fn refused(name: &str, field: &Field) -> Error {
    Error::unsupported("a column of this type is not written to Parquet")
        .context("field", name)
        .context("type", type_name(field.data_type()))
        .context("hint", "leave it out by `projection`")
}
