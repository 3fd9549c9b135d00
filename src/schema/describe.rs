//! A schema as JavaScript shows it.
//!
//! Types are spelled as Arrow names them, with what they hold in angle brackets: `Int32`, `Utf8`, `Decimal128<10, 2>`,
//! `Timestamp<Microsecond, UTC>`, `Timestamp<Microsecond>`, `FixedSizeBinary<16>`, `List<Int32>`, `FixedSizeList<Float32, 3>`, `Map<Utf8, Int64>`,
//! `Struct<a: Int32, b: Utf8>`.

use std::collections::BTreeMap;

use arrow::datatypes::{DataType, Field, Schema, TimeUnit};
use serde::Serialize;

/// One column, as in `HudiSchema.fields`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FieldFacts {
    /// The column's name.
    pub name: String,
    /// See [`type_name`].
    #[serde(rename = "type")]
    pub type_name: String,
    /// Whether a row may lack a value.
    pub nullable: bool,
    /// See `types.rs` for the keys.
    pub metadata: BTreeMap<String, String>,
}

/// The columns of a schema, in order.
pub fn describe(schema: &Schema) -> Vec<FieldFacts> {
    let facts = schema.fields().iter().map(|field| FieldFacts {
        name: field.name().clone(),
        type_name: type_name(field.data_type()),
        nullable: field.is_nullable(),
        metadata: field
            .metadata()
            .iter()
            .map(|(k, v)| (k.clone(), v.clone()))
            .collect(),
    });
    facts.collect()
}

/// A type in words: see the page of this module.
pub fn type_name(data_type: &DataType) -> String {
    let unit = |unit: &TimeUnit| match unit {
        TimeUnit::Second => "Second",
        TimeUnit::Millisecond => "Millisecond",
        TimeUnit::Microsecond => "Microsecond",
        TimeUnit::Nanosecond => "Nanosecond",
    };
    match data_type {
        DataType::Decimal128(p, s) => format!("Decimal128<{p}, {s}>"),
        DataType::Decimal256(p, s) => format!("Decimal256<{p}, {s}>"),
        DataType::Timestamp(u, Some(zone)) => format!("Timestamp<{}, {zone}>", unit(u)),
        DataType::Timestamp(u, None) => format!("Timestamp<{}>", unit(u)),
        DataType::Time32(u) => format!("Time32<{}>", unit(u)),
        DataType::Time64(u) => format!("Time64<{}>", unit(u)),
        DataType::FixedSizeBinary(size) => format!("FixedSizeBinary<{size}>"),
        DataType::FixedSizeList(element, size) => {
            format!("FixedSizeList<{}, {size}>", type_name(element.data_type()))
        }
        DataType::List(element) => format!("List<{}>", type_name(element.data_type())),
        DataType::Map(entries, _) => match entries.data_type() {
            DataType::Struct(fields) => {
                let types = fields.iter().map(|field| type_name(field.data_type()));
                format!("Map<{}>", types.collect::<Vec<_>>().join(", "))
            }
            other => format!("Map<{}>", type_name(other)),
        },
        DataType::Struct(fields) => {
            let named =
                |field: &Field| format!("{}: {}", field.name(), type_name(field.data_type()));
            let types = fields.iter().map(|field| named(field));
            format!("Struct<{}>", types.collect::<Vec<_>>().join(", "))
        }
        // The rest are unit variants of the types that tables hold, or types that no table has.
        other => format!("{other:?}"),
    }
}
