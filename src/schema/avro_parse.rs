//! Avro schema JSON to [`AvroSchema`].

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::{Map, Value};

use super::avro::{
    AvroEnum, AvroField, AvroFixed, AvroKind, AvroRecord, AvroSchema, LogicalType, VectorElement,
};
use crate::error::{Error, Result};

/// Nested types deeper than this are refused; serde_json itself stops at 128 levels of JSON.
const MAX_DEPTH: usize = 60;

/// A decimal of more digits has no Arrow type.
const MAX_PRECISION: u64 = 76;

/// Reads a schema from its JSON, with every named type resolved.
///
/// Errors: `Schema` when the text is no Avro schema, `Unsupported` when a type contains itself.
/// Source: Avro 1.11 specification, "Schema Declaration".
pub fn parse_avro(json: &str) -> Result<AvroSchema> {
    let value: Value = serde_json::from_str(json)
        .map_err(|e| Error::schema("the Avro schema is not JSON").with_source(e))?;
    Parser::default().schema(&value, "", 0)
}

/// The named types met so far; None while a type's own body is read.
#[derive(Default)]
struct Parser {
    named: HashMap<String, Option<AvroSchema>>,
}

impl Parser {
    fn schema(&mut self, value: &Value, namespace: &str, depth: usize) -> Result<AvroSchema> {
        if depth > MAX_DEPTH {
            return Err(Error::unsupported("the Avro schema nests too deeply"));
        }
        match value {
            Value::String(name) => self.by_name(name, namespace),
            Value::Array(branches) => {
                let branches = branches
                    .iter()
                    .map(|branch| self.schema(branch, namespace, depth + 1))
                    .collect::<Result<Vec<_>>>()?;
                if branches.is_empty() {
                    return Err(Error::schema("an Avro union has no branch"));
                }
                Ok(AvroSchema::plain(AvroKind::Union(Arc::new(branches))))
            }
            Value::Object(object) => self.object(object, namespace, depth),
            _ => Err(Error::schema(
                "an Avro type is neither name, object nor union",
            )),
        }
    }

    fn by_name(&self, name: &str, namespace: &str) -> Result<AvroSchema> {
        if let Some(kind) = primitive(name) {
            return Ok(AvroSchema::plain(kind));
        }
        let full = full_name(name, namespace);
        let found = self.named.get(&full).or_else(|| self.named.get(name));
        match found {
            Some(Some(schema)) => Ok(schema.clone()),
            Some(None) => {
                Err(Error::unsupported("an Avro type contains itself").context("type", full))
            }
            None => Err(Error::schema("an Avro type is not defined").context("type", full)),
        }
    }

    fn object(
        &mut self,
        object: &Map<String, Value>,
        namespace: &str,
        depth: usize,
    ) -> Result<AvroSchema> {
        let kind = match object.get("type") {
            Some(Value::String(name)) => name.as_str(),
            // `{"type": {"type": "array", …}}` is the inner type with properties around it.
            Some(inner @ (Value::Object(_) | Value::Array(_))) => {
                return self.schema(inner, namespace, depth + 1);
            }
            _ => return Err(Error::schema("an Avro type has no \"type\"")),
        };
        let schema = match kind {
            "record" | "error" | "enum" | "fixed" => {
                return self.definition(kind, object, namespace, depth);
            }
            "array" => AvroSchema::plain(AvroKind::Array(
                self.part(object, "items", namespace, depth)?,
            )),
            "map" => AvroSchema::plain(AvroKind::Map(
                self.part(object, "values", namespace, depth)?,
            )),
            name => self.by_name(name, namespace)?,
        };
        Ok(with_logical(schema, object))
    }

    fn part(
        &mut self,
        object: &Map<String, Value>,
        key: &'static str,
        namespace: &str,
        depth: usize,
    ) -> Result<Arc<AvroSchema>> {
        let part = object.get(key).ok_or_else(|| {
            Error::schema(format!(
                "an Avro {} has no \"{key}\"",
                if key == "items" { "array" } else { "map" }
            ))
        })?;
        Ok(Arc::new(self.schema(part, namespace, depth + 1)?))
    }

    fn definition(
        &mut self,
        kind: &str,
        object: &Map<String, Value>,
        namespace: &str,
        depth: usize,
    ) -> Result<AvroSchema> {
        let Some(name) = object.get("name").and_then(Value::as_str) else {
            return Err(Error::schema(format!("an Avro {kind} has no name")));
        };
        let own = object
            .get("namespace")
            .and_then(Value::as_str)
            .unwrap_or(namespace);
        let full = full_name(name, own);
        let inner = full
            .rsplit_once('.')
            .map_or("", |(space, _)| space)
            .to_owned();
        self.named.insert(full.clone(), None);
        let kind = match kind {
            "enum" => AvroKind::Enum(Arc::new(enum_of(full.clone(), object)?)),
            "fixed" => AvroKind::Fixed(Arc::new(fixed_of(full.clone(), object)?)),
            _ => AvroKind::Record(Arc::new(self.record(
                full.clone(),
                object,
                &inner,
                depth,
            )?)),
        };
        let schema = with_logical(AvroSchema::plain(kind), object);
        self.named.insert(full, Some(schema.clone()));
        Ok(schema)
    }

    fn record(
        &mut self,
        name: String,
        object: &Map<String, Value>,
        namespace: &str,
        depth: usize,
    ) -> Result<AvroRecord> {
        let Some(list) = object.get("fields").and_then(Value::as_array) else {
            return Err(Error::schema("an Avro record has no fields").context("type", name));
        };
        let mut fields: Vec<AvroField> = Vec::with_capacity(list.len());
        let mut seen = std::collections::HashSet::with_capacity(list.len());
        for field in list {
            let Some(field_name) = field.get("name").and_then(Value::as_str) else {
                return Err(
                    Error::schema("a field of an Avro record has no name").context("type", name)
                );
            };
            if !seen.insert(field_name) {
                return Err(Error::schema("two fields of an Avro record have one name")
                    .context("field", field_name));
            }
            let schema = self
                .schema(
                    field.get("type").unwrap_or(&Value::Null),
                    namespace,
                    depth + 1,
                )
                .map_err(|e| e.context("field", field_name))?;
            fields.push(AvroField {
                name: field_name.to_owned(),
                aliases: texts(field.get("aliases")),
                doc: text(field.get("doc")).filter(|doc| !doc.is_empty()),
                default: field.get("default").cloned(),
                schema,
            });
        }
        Ok(AvroRecord { name, fields })
    }
}

fn primitive(name: &str) -> Option<AvroKind> {
    Some(match name {
        "null" => AvroKind::Null,
        "boolean" => AvroKind::Boolean,
        "int" => AvroKind::Int,
        "long" => AvroKind::Long,
        "float" => AvroKind::Float,
        "double" => AvroKind::Double,
        "bytes" => AvroKind::Bytes,
        "string" => AvroKind::String,
        _ => return None,
    })
}

/// A name with a dot is full already; another lies in the namespace around it.
fn full_name(name: &str, namespace: &str) -> String {
    if name.contains('.') || namespace.is_empty() {
        name.to_owned()
    } else {
        format!("{namespace}.{name}")
    }
}

fn text(value: Option<&Value>) -> Option<String> {
    value.and_then(Value::as_str).map(str::to_owned)
}

fn texts(value: Option<&Value>) -> Vec<String> {
    let list = value
        .and_then(Value::as_array)
        .map_or(&[][..], Vec::as_slice);
    list.iter().filter_map(|v| text(Some(v))).collect()
}

fn enum_of(name: String, object: &Map<String, Value>) -> Result<AvroEnum> {
    let symbols = texts(object.get("symbols"));
    if symbols.is_empty() {
        return Err(Error::schema("an Avro enum has no symbols").context("type", name));
    }
    Ok(AvroEnum {
        name,
        symbols,
        default: text(object.get("default")),
    })
}

fn fixed_of(name: String, object: &Map<String, Value>) -> Result<AvroFixed> {
    let size = object.get("size").and_then(Value::as_u64);
    match size.and_then(|size| i32::try_from(size).ok()) {
        Some(size) => Ok(AvroFixed {
            name,
            size: size.unsigned_abs() as usize,
        }),
        None => Err(Error::schema("an Avro fixed has no size").context("type", name)),
    }
}

/// An annotation that does not fit its type is dropped, as the specification asks of readers.
fn with_logical(mut schema: AvroSchema, object: &Map<String, Value>) -> AvroSchema {
    let Some(name) = object.get("logicalType").and_then(Value::as_str) else {
        return schema;
    };
    let logical = match (name, &schema.kind) {
        ("decimal", AvroKind::Bytes) => decimal(object, usize::MAX),
        ("decimal", AvroKind::Fixed(fixed)) => decimal(object, fixed.size),
        ("uuid", AvroKind::String | AvroKind::Fixed(_)) => Some(LogicalType::Uuid),
        ("vector", AvroKind::Fixed(fixed)) => vector(object, fixed.size),
        ("date", AvroKind::Int) => Some(LogicalType::Date),
        ("time-millis", AvroKind::Int) => Some(LogicalType::TimeMillis),
        ("time-micros", AvroKind::Long) => Some(LogicalType::TimeMicros),
        ("timestamp-millis", AvroKind::Long) => Some(LogicalType::TimestampMillis),
        ("timestamp-micros", AvroKind::Long) => Some(LogicalType::TimestampMicros),
        ("timestamp-nanos", AvroKind::Long) => Some(LogicalType::TimestampNanos),
        ("local-timestamp-millis", AvroKind::Long) => Some(LogicalType::LocalTimestampMillis),
        ("local-timestamp-micros", AvroKind::Long) => Some(LogicalType::LocalTimestampMicros),
        ("local-timestamp-nanos", AvroKind::Long) => Some(LogicalType::LocalTimestampNanos),
        _ => None,
    };
    match logical {
        Some(logical) => schema.logical = Some(logical),
        None => schema.other_logical = Some(name.to_owned()),
    }
    schema
}

fn vector(object: &Map<String, Value>, size: usize) -> Option<LogicalType> {
    let element = match object.get("elementType").and_then(Value::as_str) {
        None | Some("FLOAT") => VectorElement::Float,
        Some("DOUBLE") => VectorElement::Double,
        Some("INT8") => VectorElement::Int8,
        Some(_) => return None,
    };
    let dimension = i32::try_from(object.get("dimension")?.as_i64()?).ok()?;
    let bytes = dimension.checked_mul(element.size())?;
    let fits = dimension > 0 && usize::try_from(bytes) == Ok(size);
    fits.then_some(LogicalType::Vector { element, dimension })
}

fn decimal(object: &Map<String, Value>, size: usize) -> Option<LogicalType> {
    let precision = object
        .get("precision")?
        .as_u64()
        .filter(|p| (1..=MAX_PRECISION).contains(p))?;
    let scale = match object.get("scale") {
        None => 0,
        Some(scale) => scale.as_u64().filter(|s| *s <= precision)?,
    };
    // n bytes hold floor((8n - 1) · log10 2) digits; 0.30103 is log10 2 rounded up, and 32 bytes are all of 76 digits.
    let digits = (8 * size.min(32)).saturating_sub(1) as u64 * 30103 / 100_000;
    (precision <= digits).then_some(LogicalType::Decimal {
        precision: u8::try_from(precision).ok()?,
        scale: i8::try_from(scale).ok()?,
    })
}

#[cfg(test)]
mod tests;
