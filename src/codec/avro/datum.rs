use serde_json::{Map, Value};

use super::wire::{Type, WireSchema};
use crate::codec::bytes::Cursor;
use crate::error::{Error, Result};

/// Nesting beyond this is refused: Hudi's own schemas nest seven deep.
pub(super) const MAX_DEPTH: usize = 64;

/// Memory that a file may take once decoded, in values; a text of the schema costs one more a 16 bytes.
#[derive(Debug)]
pub(super) struct Budget(usize);

impl Budget {
    /// What a file of so many bytes may mean. Types without bytes on the wire (null, empty records) and names that the
    /// schema holds once would else grow without bound; a real record costs about four a byte.
    pub(super) fn for_bytes(bytes: usize) -> Self {
        Self(bytes.saturating_mul(8).saturating_add(4096))
    }
}

/// Reads a lone record, such as an HFile's value, as JSON: as in the [module page](super).
///
/// Errors: `Corrupt` with the `offset`, also when bytes are left.
pub fn read_datum(schema: &WireSchema, bytes: &[u8]) -> Result<Value> {
    let mut cursor = Cursor::new(bytes);
    let record = read(schema, &mut cursor, &mut Budget::for_bytes(bytes.len()))?;
    match cursor.is_empty() {
        true => Ok(record),
        false => Err(cursor.fault("an Avro record ends before its bytes do")),
    }
}

/// Reads one record as JSON: unions unwrapped, bytes and fixed as text with one character a byte, enums as their
/// symbol, numbers that JSON has not (NaN, the infinities) as null.
///
/// Errors: `Corrupt` with the `offset`.
pub(super) fn read(
    schema: &WireSchema,
    cursor: &mut Cursor<'_>,
    budget: &mut Budget,
) -> Result<Value> {
    Reader { schema, budget }.value(&schema.root, cursor, 0)
}

struct Reader<'a> {
    schema: &'a WireSchema,
    budget: &'a mut Budget,
}

impl Reader<'_> {
    fn spend(&mut self, text: &str, cursor: &Cursor<'_>) -> Result<()> {
        let left = self.budget.0.checked_sub(1 + text.len() / 16);
        let left =
            left.ok_or_else(|| cursor.fault("a file holds more values than its bytes can mean"));
        self.budget.0 = left?;
        Ok(())
    }

    fn value(&mut self, kind: &Type, cursor: &mut Cursor<'_>, depth: usize) -> Result<Value> {
        self.spend("", cursor)?;
        if depth > MAX_DEPTH {
            return Err(cursor.fault("a record nests too deep"));
        }
        Ok(match kind {
            Type::Null => Value::Null,
            Type::Boolean => match cursor.u8()? {
                0 => Value::Bool(false),
                1 => Value::Bool(true),
                _ => return Err(cursor.fault("a boolean is neither 0 nor 1")),
            },
            Type::Int => {
                let value = i32::try_from(cursor.zigzag()?);
                Value::from(value.map_err(|_| cursor.fault("an int has more than 32 bits"))?)
            }
            Type::Long => Value::from(cursor.zigzag()?),
            Type::Float => Value::from(f32::from_le_bytes(cursor.array()?)),
            Type::Double => Value::from(f64::from_le_bytes(cursor.array()?)),
            Type::Bytes => Value::String(latin1(prefixed(cursor)?)),
            Type::Fixed(size) => Value::String(latin1(cursor.take(*size)?)),
            Type::String => Value::String(text(cursor)?),
            Type::Enum(symbols) => {
                let symbol = index(cursor.zigzag()?).and_then(|i| symbols.get(i));
                let symbol = symbol.ok_or_else(|| cursor.fault("an enum has no such symbol"))?;
                self.spend(symbol, cursor)?;
                Value::String(symbol.clone())
            }
            Type::Union(branches) => {
                let branch = index(cursor.zigzag()?).and_then(|i| branches.get(i));
                let branch = branch.ok_or_else(|| cursor.fault("a union has no such branch"))?;
                self.value(branch, cursor, depth + 1)?
            }
            Type::Array(items) => self.array(items, cursor, depth)?,
            Type::Map(values) => self.map(values, cursor, depth)?,
            Type::Record(number) => self.record(*number, cursor, depth)?,
        })
    }

    fn array(&mut self, items: &Type, cursor: &mut Cursor<'_>, depth: usize) -> Result<Value> {
        let mut all = Vec::new();
        loop {
            let count = block_count(cursor)?;
            if count == 0 {
                return Ok(Value::Array(all));
            }
            for _ in 0..count {
                all.push(self.value(items, cursor, depth + 1)?);
            }
        }
    }

    fn map(&mut self, values: &Type, cursor: &mut Cursor<'_>, depth: usize) -> Result<Value> {
        let mut all = Map::new();
        loop {
            let count = block_count(cursor)?;
            if count == 0 {
                return Ok(Value::Object(all));
            }
            for _ in 0..count {
                let key = text(cursor)?;
                all.insert(key, self.value(values, cursor, depth + 1)?);
            }
        }
    }

    fn record(&mut self, number: usize, cursor: &mut Cursor<'_>, depth: usize) -> Result<Value> {
        let schema = self.schema;
        let fields = schema.records.get(number);
        let fields = fields.ok_or_else(|| Error::internal("an Avro record has no fields"))?;
        let mut all = Map::new();
        for field in fields {
            self.spend(&field.name, cursor)?;
            let value = self.value(&field.kind, cursor, depth + 1);
            let value = value.map_err(|e| e.context("field", &field.name))?;
            all.insert(field.name.clone(), value);
        }
        Ok(Value::Object(all))
    }
}

/// The items of the next block of an array or map; a negative count is followed by the block's size in bytes.
fn block_count(cursor: &mut Cursor<'_>) -> Result<u64> {
    let count = cursor.zigzag()?;
    if count < 0 {
        cursor.zigzag()?;
    }
    Ok(count.unsigned_abs())
}

fn index(value: i64) -> Option<usize> {
    usize::try_from(value).ok()
}

fn text(cursor: &mut Cursor<'_>) -> Result<String> {
    let fault = cursor.fault("a string is not UTF-8");
    let bytes = prefixed(cursor)?;
    match std::str::from_utf8(bytes) {
        Ok(text) => Ok(text.to_owned()),
        Err(source) => Err(fault.with_source(source)),
    }
}

/// Bytes after their count.
pub(super) fn prefixed<'a>(cursor: &mut Cursor<'a>) -> Result<&'a [u8]> {
    let length = cursor.length()?;
    cursor.take(length)
}

fn latin1(bytes: &[u8]) -> String {
    bytes.iter().map(|b| char::from(*b)).collect()
}
