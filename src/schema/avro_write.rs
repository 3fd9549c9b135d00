//! Arrow to Avro: the schema that a commit holds.

use arrow::datatypes::{DataType, Field, Schema, TimeUnit};
use serde_json::Value;

use super::types::{DEFAULT_KEY, DOC_KEY};
use crate::error::{Error, Result};
use crate::model::meta_field::is_meta_field;

/// Nesting beyond this is refused, as it is when a schema is read.
const MAX_DEPTH: usize = 64;

/// The Avro JSON of a table's columns, as Spark makes it of a data frame: the record `TABLE_record` in the namespace
/// `hoodie.TABLE`, nullable columns as `["null", T]` with the default null, nested records and decimals named by their path.
///
/// | Arrow | Avro |
/// |---|---|
/// | booleans; floats and doubles; texts; binaries | `boolean`; `float`, `double`; `string`; `bytes` |
/// | integers to 32 bits; of 64 bits and unsigned 32 | `int`; `long` |
/// | dates; timestamps in ms and us | `date`; `timestamp-*` with a zone, `local-timestamp-*` without |
/// | decimals | `fixed` with the logical type `decimal` |
/// | lists; maps; structs | `array`; `map` with text keys; `record` |
///
/// Errors: `Schema` with the `field` for a name that Avro cannot hold, a name that is there twice (in any case, since Spark
/// tells none apart), a meta field and a type that is not in the table.
/// Source: Spark `SchemaConverters.toAvroType`, Hudi `AvroConversionUtils.getAvroRecordNameAndNamespace`.
pub fn from_arrow(schema: &Schema, table: &str) -> Result<String> {
    let table = sanitized(table);
    let mut writer = Writer {
        out: String::new(),
        path: Vec::new(),
    };
    let name = format!("{table}_record");
    let namespace = format!("hoodie.{table}");
    writer.record(&name, &namespace, schema.fields())?;
    Ok(writer.out)
}

/// Refuses names that Avro cannot hold: they must be letters, digits and `_`, and begin with no digit.
///
/// Errors: `Schema` with the `field`.
pub fn check_name(name: &str) -> Result<()> {
    let mut chars = name.chars();
    let first = chars
        .next()
        .is_some_and(|c| c.is_ascii_alphabetic() || c == '_');
    match first && chars.all(|c| c.is_ascii_alphanumeric() || c == '_') {
        true => Ok(()),
        false => Err(Error::schema("Avro cannot hold a column of this name")
            .context("field", name)
            .context(
                "hint",
                "names are letters, digits and _, and do not begin with a digit",
            )),
    }
}

/// A name as Hudi makes it fit for Avro: two underscores for each character that is none of its.
fn sanitized(name: &str) -> String {
    let mut out = String::new();
    for (at, c) in name.chars().enumerate() {
        let fits = c == '_' || c.is_ascii_alphabetic() || (at > 0 && c.is_ascii_digit());
        match fits {
            true => out.push(c),
            false => out.push_str("__"),
        }
    }
    out
}

struct Writer {
    out: String,
    path: Vec<String>,
}

impl Writer {
    fn record(
        &mut self,
        name: &str,
        namespace: &str,
        fields: &arrow::datatypes::Fields,
    ) -> Result<()> {
        if self.path.len() > MAX_DEPTH {
            return Err(self.refused("the schema nests too deep"));
        }
        if fields.is_empty() {
            return Err(self.refused("a record without columns cannot be stored"));
        }
        self.out.push_str(&format!(
            r#"{{"type":"record","name":"{name}","namespace":"{namespace}","fields":["#
        ));
        let inside = format!("{namespace}.{name}");
        for (at, field) in fields.iter().enumerate() {
            self.path.push(field.name().clone());
            check_name(field.name()).map_err(|e| e.context("path", self.path.join(".")))?;
            let same =
                |other: &&std::sync::Arc<Field>| other.name().eq_ignore_ascii_case(field.name());
            if fields.iter().take(at).any(|other| same(&other)) {
                return Err(self.refused("two columns have the same name"));
            }
            if self.path.len() == 1 && is_meta_field(field.name()) {
                return Err(self.refused("a column has the name of a meta field"));
            }
            if at > 0 {
                self.out.push(',');
            }
            self.field(field, &inside)?;
            self.path.pop();
        }
        self.out.push_str("]}");
        Ok(())
    }

    fn field(&mut self, field: &Field, namespace: &str) -> Result<()> {
        self.out
            .push_str(&format!(r#"{{"name":"{}","type":"#, field.name()));
        self.nullable(field, field.name(), namespace)?;
        if let Some(doc) = field.metadata().get(DOC_KEY) {
            self.out
                .push_str(&format!(r#","doc":{}"#, Value::from(doc.as_str())));
        }
        match field.metadata().get(DEFAULT_KEY) {
            Some(default) if !field.is_nullable() => {
                self.out.push_str(&format!(r#","default":{default}"#));
            }
            _ if field.is_nullable() => self.out.push_str(r#","default":null"#),
            _ => {}
        }
        self.out.push('}');
        Ok(())
    }

    fn nullable(&mut self, field: &Field, name: &str, namespace: &str) -> Result<()> {
        if !field.is_nullable() {
            return self.data_type(field.data_type(), name, namespace);
        }
        self.out.push_str(r#"["null","#);
        self.data_type(field.data_type(), name, namespace)?;
        self.out.push(']');
        Ok(())
    }

    fn data_type(&mut self, data_type: &DataType, name: &str, namespace: &str) -> Result<()> {
        use DataType as T;
        let plain = match data_type {
            T::Boolean => r#""boolean""#,
            T::Int8 | T::Int16 | T::Int32 | T::UInt8 | T::UInt16 => r#""int""#,
            T::Int64 | T::UInt32 => r#""long""#,
            T::Float16 | T::Float32 => r#""float""#,
            T::Float64 => r#""double""#,
            T::Utf8 | T::LargeUtf8 | T::Utf8View => r#""string""#,
            T::Binary | T::LargeBinary | T::BinaryView => r#""bytes""#,
            T::Date32 | T::Date64 => r#"{"type":"int","logicalType":"date"}"#,
            T::Timestamp(unit, zone) => timestamp(*unit, zone.is_some())
                .ok_or_else(|| self.refused_type(data_type, "give it in microseconds"))?,
            T::Decimal32(p, s) | T::Decimal64(p, s) | T::Decimal128(p, s) | T::Decimal256(p, s) => {
                return self.decimal(data_type, *p, *s, name, namespace);
            }
            T::FixedSizeBinary(size) => {
                self.out.push_str(&format!(
                    r#"{{"type":"fixed","name":"fixed","namespace":"{namespace}.{name}","size":{size}}}"#
                ));
                return Ok(());
            }
            T::Dictionary(_, values) => return self.data_type(values, name, namespace),
            T::RunEndEncoded(_, values) => {
                return self.data_type(values.data_type(), name, namespace);
            }
            T::List(item)
            | T::LargeList(item)
            | T::ListView(item)
            | T::LargeListView(item)
            | T::FixedSizeList(item, _) => {
                self.out.push_str(r#"{"type":"array","items":"#);
                self.nullable(item, name, namespace)?;
                self.out.push('}');
                return Ok(());
            }
            T::Map(entries, _) => return self.map(entries, name, namespace),
            T::Struct(fields) => return self.record(name, namespace, fields),
            _ => return Err(self.refused_type(data_type, "give it as another type")),
        };
        self.out.push_str(plain);
        Ok(())
    }

    fn map(&mut self, entries: &Field, name: &str, namespace: &str) -> Result<()> {
        let DataType::Struct(fields) = entries.data_type() else {
            return Err(self.refused("a map has no entries"));
        };
        let (Some(key), Some(value)) = (fields.first(), fields.get(1)) else {
            return Err(self.refused("a map has no entries"));
        };
        if !matches!(
            key.data_type(),
            DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View
        ) {
            return Err(self.refused_type(key.data_type(), "Avro knows maps with text keys alone"));
        }
        self.out.push_str(r#"{"type":"map","values":"#);
        self.nullable(value, name, namespace)?;
        self.out.push('}');
        Ok(())
    }

    fn decimal(
        &mut self,
        data_type: &DataType,
        precision: u8,
        scale: i8,
        name: &str,
        namespace: &str,
    ) -> Result<()> {
        if precision > 38 || scale < 0 || i16::from(scale) > i16::from(precision) {
            let hint = "decimals have at most 38 digits, and no more behind the point than in all";
            return Err(self.refused_type(data_type, hint));
        }
        let size = decimal_bytes(precision);
        self.out.push_str(&format!(
            r#"{{"type":"fixed","name":"fixed","namespace":"{namespace}.{name}","size":{size},"logicalType":"decimal","precision":{precision},"scale":{scale}}}"#
        ));
        Ok(())
    }

    fn refused(&self, message: &str) -> Error {
        Error::schema(message).context("field", self.path.join("."))
    }

    fn refused_type(&self, data_type: &DataType, hint: &str) -> Error {
        self.refused("Avro has no type for this column's")
            .context("type", super::type_name(data_type))
            .context("hint", hint)
    }
}

fn timestamp(unit: TimeUnit, zoned: bool) -> Option<&'static str> {
    Some(match (unit, zoned) {
        (TimeUnit::Millisecond, true) => r#"{"type":"long","logicalType":"timestamp-millis"}"#,
        (TimeUnit::Microsecond, true) => r#"{"type":"long","logicalType":"timestamp-micros"}"#,
        (TimeUnit::Millisecond, false) => {
            r#"{"type":"long","logicalType":"local-timestamp-millis"}"#
        }
        (TimeUnit::Microsecond, false) => {
            r#"{"type":"long","logicalType":"local-timestamp-micros"}"#
        }
        _ => return None,
    })
}

/// The bytes that hold every number of so many digits, with its sign: Spark's `minBytesForPrecision`.
fn decimal_bytes(precision: u8) -> u32 {
    let most = 10_u128
        .checked_pow(u32::from(precision))
        .unwrap_or(u128::MAX)
        - 1;
    let bits = u128::BITS - most.leading_zeros() + 1;
    bits.div_ceil(8)
}

#[cfg(test)]
mod tests;
