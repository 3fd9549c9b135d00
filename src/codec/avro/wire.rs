use std::collections::HashMap;

use serde_json::Value;

use crate::error::{Error, Result};

/// A writer's schema, reduced to what lies on the wire: logical types, docs, defaults and aliases are left out.
/// Records are held by number, so a schema may be recursive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WireSchema {
    pub(super) root: Type,
    pub(super) records: Vec<Vec<Field>>,
    /// The full names of the records, in the same order.
    pub(super) names: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Field {
    pub(super) name: String,
    pub(super) kind: Type,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Type {
    Null,
    Boolean,
    Int,
    Long,
    Float,
    Double,
    Bytes,
    String,
    Fixed(usize),
    Enum(std::sync::Arc<Vec<String>>),
    Array(Box<Type>),
    Map(Box<Type>),
    Union(Vec<Type>),
    Record(usize),
}

impl WireSchema {
    /// Reads Avro's JSON form.
    ///
    /// Errors: `Corrupt` when the text is not JSON or not a schema.
    pub fn parse(json: &[u8]) -> Result<Self> {
        let json: Value = serde_json::from_slice(json)
            .map_err(|e| Error::corrupt("an Avro schema is not JSON").with_source(e))?;
        let mut parser = Parser {
            names: HashMap::new(),
            records: Vec::new(),
            record_names: Vec::new(),
        };
        let root = parser.any(&json, "")?;
        Ok(Self {
            root,
            records: parser.records,
            names: parser.record_names,
        })
    }
}

struct Parser {
    names: HashMap<String, Type>,
    records: Vec<Vec<Field>>,
    record_names: Vec<String>,
}

fn fault(message: &str, json: &Value) -> Error {
    let mut text = json.to_string();
    if let Some((at, _)) = text.char_indices().nth(80) {
        text.truncate(at);
    }
    Error::corrupt(message).context("schema", text)
}

impl Parser {
    fn any(&mut self, json: &Value, namespace: &str) -> Result<Type> {
        match json {
            Value::String(name) => self.named(name, namespace, json),
            Value::Array(branches) => {
                let branches = branches.iter().map(|branch| self.any(branch, namespace));
                Ok(Type::Union(branches.collect::<Result<_>>()?))
            }
            Value::Object(object) => match object.get("type") {
                Some(Value::String(kind)) => self.complex(kind, json, namespace),
                Some(inner) => self.any(inner, namespace),
                None => Err(fault("an Avro schema has no type", json)),
            },
            _ => Err(fault("not an Avro schema", json)),
        }
    }

    fn complex(&mut self, kind: &str, json: &Value, namespace: &str) -> Result<Type> {
        let part = |key: &str| {
            json.get(key)
                .ok_or_else(|| fault("an Avro schema lacks a part", json))
        };
        match kind {
            "array" => Ok(Type::Array(Box::new(self.any(part("items")?, namespace)?))),
            "map" => Ok(Type::Map(Box::new(self.any(part("values")?, namespace)?))),
            "fixed" => {
                let size = part("size")?
                    .as_u64()
                    .and_then(|size| usize::try_from(size).ok());
                let size = size.ok_or_else(|| fault("a fixed type has no size", json))?;
                self.define(json, namespace, Type::Fixed(size))
            }
            "enum" => {
                let symbols = part("symbols")?.as_array().into_iter().flatten();
                let symbols = symbols
                    .filter_map(|s| s.as_str().map(str::to_owned))
                    .collect();
                self.define(json, namespace, Type::Enum(std::sync::Arc::new(symbols)))
            }
            "record" | "error" => self.record(json, namespace),
            name => self.named(name, namespace, json),
        }
    }

    fn record(&mut self, json: &Value, namespace: &str) -> Result<Type> {
        let index = self.records.len();
        self.records.push(Vec::new());
        let kind = self.define(json, namespace, Type::Record(index))?;
        let (name, namespace) = full_name(json, namespace)?;
        self.record_names.push(name);
        let mut fields = Vec::new();
        let listed = json.get("fields").and_then(Value::as_array);
        for field in listed.ok_or_else(|| fault("a record has no fields", json))? {
            let name = field.get("name").and_then(Value::as_str);
            let name = name
                .ok_or_else(|| fault("a field has no name", field))?
                .to_owned();
            let kind = field
                .get("type")
                .ok_or_else(|| fault("a field has no type", field))?;
            let kind = self.any(kind, &namespace)?;
            fields.push(Field { name, kind });
        }
        if let Some(slot) = self.records.get_mut(index) {
            *slot = fields;
        }
        Ok(kind)
    }

    fn define(&mut self, json: &Value, namespace: &str, kind: Type) -> Result<Type> {
        let (name, _) = full_name(json, namespace)?;
        self.names.insert(name, kind.clone());
        Ok(kind)
    }

    fn named(&self, name: &str, namespace: &str, json: &Value) -> Result<Type> {
        Ok(match name {
            "null" => Type::Null,
            "boolean" => Type::Boolean,
            "int" => Type::Int,
            "long" => Type::Long,
            "float" => Type::Float,
            "double" => Type::Double,
            "bytes" => Type::Bytes,
            "string" => Type::String,
            _ => {
                let full = match name.contains('.') || namespace.is_empty() {
                    true => name.to_owned(),
                    false => format!("{namespace}.{name}"),
                };
                let found = self.names.get(&full).or_else(|| self.names.get(name));
                found
                    .cloned()
                    .ok_or_else(|| fault("an Avro schema names an unknown type", json))?
            }
        })
    }
}

/// The full name of a named type, and the namespace inside it.
fn full_name(json: &Value, enclosing: &str) -> Result<(String, String)> {
    let name = json.get("name").and_then(Value::as_str);
    let name = name.ok_or_else(|| fault("a named type has no name", json))?;
    if let Some((namespace, _)) = name.rsplit_once('.') {
        return Ok((name.to_owned(), namespace.to_owned()));
    }
    let namespace = json
        .get("namespace")
        .and_then(Value::as_str)
        .unwrap_or(enclosing);
    let full = match namespace.is_empty() {
        true => name.to_owned(),
        false => format!("{namespace}.{name}"),
    };
    Ok((full, namespace.to_owned()))
}
