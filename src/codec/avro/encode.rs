//! JSON to Avro's bytes: the way back of `datum` and `container`.

use serde_json::{Map, Value};

use super::container::MAGIC;
use super::datum::MAX_DEPTH;
use super::wire::{Type, WireSchema};
use crate::error::{Error, Result};
use crate::host;

/// Appends one record to `out`, from JSON as [`read_datum`](super::read_datum) gives it: unions unwrapped, bytes and
/// fixed as text with one character a byte, enums as their symbol. An absent field is null.
///
/// A union takes the first branch that the value fits. Where several branches are records, or a record and a map, the
/// value is Avro's own JSON form of a record in a union: `{"RecordName": {…}}`, by full name or the last part of it.
///
/// Errors: `Internal` with the `field` for a value that does not fit its type, since all values are made by this engine;
/// `out` may hold a part of the record then.
pub fn write_datum(schema: &WireSchema, value: &Value, out: &mut Vec<u8>) -> Result<()> {
    Writer { schema, out }.value(&schema.root, value, 0)
}

/// An object container file as Hudi writes it on its timeline: the schema's text as it is given is the only header,
/// there is no codec, and all records lie in one block.
///
/// Errors: as [`write_datum`]; `Corrupt` for a schema that is none.
pub fn write_container(schema_json: &str, records: &[Value]) -> Result<Vec<u8>> {
    let schema = WireSchema::parse(schema_json.as_bytes())?;
    let mut body = Vec::new();
    for record in records {
        write_datum(&schema, record, &mut body)?;
    }
    let sync: [u8; 16] = host::random_bytes()?;
    let mut out = Vec::with_capacity(schema_json.len() + body.len() + 80);
    out.extend_from_slice(MAGIC);
    put_length(1, &mut out);
    put_bytes(b"avro.schema", &mut out);
    put_bytes(schema_json.as_bytes(), &mut out);
    put_length(0, &mut out);
    out.extend_from_slice(&sync);
    if !records.is_empty() {
        put_length(records.len(), &mut out);
        put_bytes(&body, &mut out);
        out.extend_from_slice(&sync);
    }
    Ok(out)
}

struct Writer<'a> {
    schema: &'a WireSchema,
    out: &'a mut Vec<u8>,
}

impl<'a> Writer<'a> {
    fn value(&mut self, kind: &'a Type, value: &Value, depth: usize) -> Result<()> {
        if depth > MAX_DEPTH {
            return Err(misfit(value));
        }
        match (kind, value) {
            (Type::Null, Value::Null) => {}
            (Type::Boolean, Value::Bool(flag)) => self.out.push(u8::from(*flag)),
            (Type::Int | Type::Long, Value::Number(_)) => {
                let number = integer(kind, value).ok_or_else(|| misfit(value))?;
                put_long(number, self.out);
            }
            (Type::Float, Value::Number(number)) => {
                let number = number.as_f64().ok_or_else(|| misfit(value))?;
                self.out.extend_from_slice(&(number as f32).to_le_bytes());
            }
            (Type::Double, Value::Number(number)) => {
                let number = number.as_f64().ok_or_else(|| misfit(value))?;
                self.out.extend_from_slice(&number.to_le_bytes());
            }
            (Type::String, Value::String(text)) => put_bytes(text.as_bytes(), self.out),
            (Type::Bytes, Value::String(text)) => {
                let bytes = latin1(text).ok_or_else(|| misfit(value))?;
                put_bytes(&bytes, self.out);
            }
            (Type::Fixed(size), Value::String(text)) => {
                let bytes = latin1(text).filter(|bytes| bytes.len() == *size);
                self.out
                    .extend_from_slice(&bytes.ok_or_else(|| misfit(value))?);
            }
            (Type::Enum(symbols), Value::String(text)) => {
                let symbol = symbols.iter().position(|symbol| symbol == text);
                put_length(symbol.ok_or_else(|| misfit(value))?, self.out);
            }
            (Type::Union(branches), _) => return self.union(branches, value, depth),
            (Type::Array(items), Value::Array(all)) => {
                self.count(all.len());
                for item in all {
                    self.value(items, item, depth + 1)?;
                }
                put_length(0, self.out);
            }
            (Type::Map(values), Value::Object(all)) => {
                self.count(all.len());
                for (key, item) in all {
                    put_bytes(key.as_bytes(), self.out);
                    let written = self.value(values, item, depth + 1);
                    written.map_err(|e| e.context("key", key))?;
                }
                put_length(0, self.out);
            }
            (Type::Record(number), Value::Object(all)) => {
                return self.record(*number, all, depth);
            }
            _ => return Err(misfit(value)),
        }
        Ok(())
    }

    /// The count of a block; an empty array or map has no block.
    fn count(&mut self, count: usize) {
        if count > 0 {
            put_length(count, self.out);
        }
    }

    fn record(&mut self, number: usize, all: &Map<String, Value>, depth: usize) -> Result<()> {
        let fields = self.schema.records.get(number);
        let fields = fields.ok_or_else(|| Error::internal("an Avro record has no fields"))?;
        for field in fields {
            let value = all.get(&field.name).unwrap_or(&Value::Null);
            let written = self.value(&field.kind, value, depth + 1);
            written.map_err(|e| e.context("field", &field.name))?;
        }
        Ok(())
    }

    fn union(&mut self, branches: &'a [Type], value: &Value, depth: usize) -> Result<()> {
        let objects = |kind: &Type| matches!(kind, Type::Record(_) | Type::Map(_));
        let named = branches.iter().filter(|kind| objects(kind)).count() > 1;
        let (at, value) = match value {
            Value::Object(all) if named => {
                let mut entries = all.iter();
                let (name, inner) = entries.next().ok_or_else(|| misfit(value))?;
                let at = branches.iter().position(|kind| self.is_named(kind, name));
                (at, inner)
            }
            _ => (branches.iter().position(|kind| fits(kind, value)), value),
        };
        let at = at.ok_or_else(|| misfit(value))?;
        put_length(at, self.out);
        match branches.get(at) {
            Some(branch) => self.value(branch, value, depth + 1),
            None => Err(misfit(value)),
        }
    }

    fn is_named(&self, kind: &Type, name: &str) -> bool {
        let Type::Record(number) = kind else {
            return false;
        };
        let full = self.schema.names.get(*number);
        full.is_some_and(|full| full == name || full.rsplit('.').next() == Some(name))
    }
}

/// Whether a value could be of a type, by its outermost form.
fn fits(kind: &Type, value: &Value) -> bool {
    match (kind, value) {
        (Type::Null, Value::Null)
        | (Type::Boolean, Value::Bool(_))
        | (Type::Float | Type::Double, Value::Number(_))
        | (Type::String | Type::Bytes, Value::String(_))
        | (Type::Array(_), Value::Array(_))
        | (Type::Map(_) | Type::Record(_), Value::Object(_)) => true,
        (Type::Int | Type::Long, Value::Number(_)) => integer(kind, value).is_some(),
        (Type::Fixed(size), Value::String(text)) => text.chars().count() == *size,
        (Type::Enum(symbols), Value::String(text)) => symbols.iter().any(|s| s == text),
        _ => false,
    }
}

fn integer(kind: &Type, value: &Value) -> Option<i64> {
    let number = value.as_i64()?;
    match kind {
        Type::Int => i32::try_from(number).ok().map(i64::from),
        _ => Some(number),
    }
}

fn misfit(value: &Value) -> Error {
    let form = match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    };
    Error::internal("a value does not fit its Avro type").context("value", form)
}

fn latin1(text: &str) -> Option<Vec<u8>> {
    text.chars().map(|c| u8::try_from(c).ok()).collect()
}

/// A number in Avro's zigzag varint.
pub(super) fn put_long(number: i64, out: &mut Vec<u8>) {
    let mut rest = (number << 1 ^ number >> 63).cast_unsigned();
    while rest > 0x7f {
        out.push((rest & 0x7f) as u8 | 0x80);
        rest >>= 7;
    }
    out.push(rest as u8);
}

fn put_length(length: usize, out: &mut Vec<u8>) {
    // Memory holds no more than 2^63 bytes.
    put_long(length as i64, out);
}

fn put_bytes(bytes: &[u8], out: &mut Vec<u8>) {
    put_length(bytes.len(), out);
    out.extend_from_slice(bytes);
}

#[cfg(test)]
mod tests;
