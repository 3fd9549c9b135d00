//! Random schemas and rows, encoded by apache-avro; and the same bytes, damaged.

use std::collections::HashMap;

use apache_avro::types::Value;
use serde_json::{Value as Json, json};

use super::*;
use crate::schema::{AvroKind, AvroSchema, LogicalType};

/// A small generator of even numbers: enough for choices, the same on every machine.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % bound
    }

    fn number(&mut self) -> i64 {
        let shift = self.below(64);
        (self.0 as i64) >> shift
    }

    fn bytes(&mut self, length: usize) -> Vec<u8> {
        (0..length).map(|_| self.below(256) as u8).collect()
    }

    fn text(&mut self) -> String {
        (0..self.below(9))
            .map(|_| ['a', 'Z', '0', 'é', '\u{1f600}'][self.below(5) as usize])
            .collect()
    }
}

struct Schemas<'a> {
    random: &'a mut Random,
    names: usize,
}

impl Schemas<'_> {
    fn record(&mut self, depth: usize) -> Json {
        self.names += 1;
        let name = format!("r{}", self.names);
        let count = 1 + self.random.below(5);
        let fields =
            (0..count).map(|at| json!({"name": format!("f{at}"), "type": self.any(depth)}));
        let fields: Vec<Json> = fields.collect();
        json!({"type": "record", "name": name, "fields": fields})
    }

    fn any(&mut self, depth: usize) -> Json {
        match self.random.below(8) {
            0..=2 => {
                let inner = self.value(depth);
                match self.random.below(2) {
                    0 => json!(["null", inner]),
                    _ => json!([inner, "null"]),
                }
            }
            3 => {
                let record = self.record(depth.saturating_sub(1).min(1));
                json!(["string", "null", "double", record])
            }
            _ => self.value(depth),
        }
    }

    fn value(&mut self, depth: usize) -> Json {
        let logical = |kind: &str, name: &str| json!({"type": kind, "logicalType": name});
        self.names += 1;
        let name = format!("n{}", self.names);
        match self.random.below(if depth == 0 { 16 } else { 20 }) {
            0 => json!("boolean"),
            1 => json!("int"),
            2 => json!("long"),
            3 => json!("float"),
            4 => json!("double"),
            5 => json!("string"),
            6 => json!("bytes"),
            7 => json!({"type": "fixed", "name": name, "size": 1 + self.random.below(20)}),
            8 => json!({"type": "enum", "name": name, "symbols": ["A", "B", "C"]}),
            9 => json!({"type": "bytes", "logicalType": "decimal", "precision": 38, "scale": 3}),
            10 => {
                json!({"type": {"type": "fixed", "name": name, "size": 9, "logicalType": "decimal", "precision": 20, "scale": 2}})
            }
            11 => logical("int", "date"),
            12 => logical("long", "timestamp-micros"),
            13 => logical("long", "timestamp-millis"),
            14 => logical("long", "local-timestamp-micros"),
            15 => logical("long", "time-micros"),
            16 => json!({"type": "array", "items": self.any(depth - 1)}),
            17 => json!({"type": "map", "values": self.any(depth - 1)}),
            _ => self.record(depth - 1),
        }
    }
}

fn value(random: &mut Random, schema: &AvroSchema) -> Value {
    match schema.logical {
        Some(LogicalType::Decimal { .. }) => {
            let length = match &schema.kind {
                AvroKind::Fixed(fixed) => fixed.size,
                _ => 1 + random.below(15) as usize,
            };
            return Value::Decimal(random.bytes(length).into());
        }
        Some(LogicalType::Date) => return Value::Date(random.number() as i32),
        Some(LogicalType::TimeMicros) => return Value::TimeMicros(random.number()),
        Some(LogicalType::TimestampMicros) => return Value::TimestampMicros(random.number()),
        Some(LogicalType::TimestampMillis) => return Value::TimestampMillis(random.number()),
        Some(LogicalType::LocalTimestampMicros) => {
            return Value::LocalTimestampMicros(random.number());
        }
        _ => {}
    }
    match &schema.kind {
        AvroKind::Null => Value::Null,
        AvroKind::Boolean => Value::Boolean(random.below(2) == 1),
        AvroKind::Int => Value::Int(random.number() as i32),
        AvroKind::Long => Value::Long(random.number()),
        AvroKind::Float => Value::Float(random.number() as f32),
        AvroKind::Double => Value::Double(random.number() as f64 / 3.0),
        AvroKind::String => Value::String(random.text()),
        AvroKind::Bytes => {
            let length = random.below(9) as usize;
            Value::Bytes(random.bytes(length))
        }
        AvroKind::Fixed(fixed) => Value::Fixed(fixed.size, random.bytes(fixed.size)),
        AvroKind::Enum(symbols) => {
            let at = random.below(symbols.symbols.len() as u64) as usize;
            Value::Enum(at as u32, symbols.symbols[at].clone())
        }
        AvroKind::Array(items) => {
            Value::Array((0..random.below(4)).map(|_| value(random, items)).collect())
        }
        AvroKind::Map(values) => {
            let entries = (0..random.below(4)).map(|at| (format!("k{at}"), value(random, values)));
            Value::Map(entries.collect::<HashMap<_, _>>())
        }
        AvroKind::Record(record) => {
            let fields = record
                .fields
                .iter()
                .map(|field| (field.name.clone(), value(random, &field.schema)));
            Value::Record(fields.collect())
        }
        AvroKind::Union(branches) => {
            let at = random.below(branches.len() as u64) as usize;
            Value::Union(at as u32, Box::new(value(random, &branches[at])))
        }
    }
}

/// Whether an array holds a value in a row.
pub(crate) fn holds(schema: &AvroSchema, array: &dyn Array, row: usize, value: &Value) -> bool {
    if let (AvroKind::Union(branches), Value::Union(at, inner)) = (&schema.kind, value) {
        let at = *at as usize;
        if **inner == Value::Null {
            return array.is_null(row);
        }
        if schema.nullable().is_some() {
            return holds(&branches[at], array, row, inner);
        }
        let member = branches[..at]
            .iter()
            .filter(|b| b.kind != AvroKind::Null)
            .count();
        let members = array.as_struct();
        let others_are_null =
            (0..members.num_columns()).all(|m| m == member || members.column(m).is_null(row));
        return array.is_valid(row)
            && others_are_null
            && holds(&branches[at], members.column(member), row, inner);
    }
    if array.is_null(row) {
        return false;
    }
    let long = |number: i64| {
        let found = crate::expr::Scalar::from_array(array, row);
        found == Some(crate::expr::Scalar::Int(number))
    };
    match (value, &schema.kind) {
        (Value::Boolean(v), _) => array.as_boolean().value(row) == *v,
        (Value::Int(v) | Value::Date(v), _) => long(i64::from(*v)),
        (
            Value::Long(v)
            | Value::TimeMicros(v)
            | Value::TimestampMicros(v)
            | Value::TimestampMillis(v)
            | Value::LocalTimestampMicros(v),
            _,
        ) => long(*v),
        (Value::Float(v), _) => {
            array.as_primitive::<Float32Type>().value(row).to_bits() == v.to_bits()
        }
        (Value::Double(v), _) => {
            array.as_primitive::<Float64Type>().value(row).to_bits() == v.to_bits()
        }
        (Value::String(v) | Value::Enum(_, v), _) => array.as_string::<i32>().value(row) == v,
        (Value::Bytes(v), _) => array.as_binary::<i32>().value(row) == v,
        (Value::Fixed(_, v), _) if schema.logical.is_some() => {
            let numbers = array.as_fixed_size_list().value(row).to_data();
            numbers.buffers()[0].as_slice() == v
        }
        (Value::Fixed(_, v), _) => array.as_fixed_size_binary().value(row) == v,
        (Value::Decimal(v), _) => {
            let bytes: Vec<u8> = v.try_into().unwrap();
            let sign = if bytes[0] & 0x80 == 0 { 0u8 } else { 0xff };
            let padded = [vec![sign; 16 - bytes.len().min(16)], bytes].concat();
            array
                .as_primitive::<Decimal128Type>()
                .value(row)
                .to_be_bytes()[..]
                == padded[..]
        }
        (Value::Array(items), AvroKind::Array(inner)) => {
            let found = array.as_list::<i32>().value(row);
            found.len() == items.len()
                && items
                    .iter()
                    .enumerate()
                    .all(|(at, item)| holds(inner, &found, at, item))
        }
        (Value::Map(entries), AvroKind::Map(inner)) => {
            let found = array.as_map().value(row);
            let keys = found.column(0).as_string::<i32>();
            found.len() == entries.len()
                && (0..keys.len())
                    .all(|at| holds(inner, found.column(1), at, &entries[keys.value(at)]))
        }
        (Value::Record(fields), AvroKind::Record(record)) => {
            let found = array.as_struct();
            found.num_columns() == fields.len()
                && record
                    .fields
                    .iter()
                    .zip(fields)
                    .all(|(field, (name, value))| {
                        holds(
                            &field.schema,
                            found.column_by_name(name).unwrap(),
                            row,
                            value,
                        )
                    })
        }
        _ => false,
    }
}

struct Case {
    ours: AvroSchema,
    json: String,
    values: Vec<Value>,
    rows: Vec<Vec<u8>>,
}

fn case(random: &mut Random) -> Case {
    let json = Schemas { random, names: 0 }.record(3).to_string();
    let ours = parse_avro(&json).unwrap();
    let theirs = apache_avro::Schema::parse_str(&json).unwrap();
    let values: Vec<Value> = (0..1 + random.below(6))
        .map(|_| value(random, &ours))
        .collect();
    let rows = values
        .iter()
        .map(|value| apache_avro::to_avro_datum(&theirs, value.clone()).unwrap());
    Case {
        rows: rows.collect(),
        ours,
        json,
        values,
    }
}

#[test]
fn rows_that_apache_avro_wrote_are_read_whole_and_by_any_column() {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    for _ in 0..600 {
        let case = case(&mut random);
        let all = own(&case.json);
        let batch = try_read(&case.json, &all, &case.rows).unwrap();
        let record = case.ours.as_record().unwrap();
        for (at, field) in record.fields.iter().enumerate() {
            let alone = Arc::new(all.project(&[at]).unwrap());
            let projected = try_read(&case.json, &alone, &case.rows).unwrap();
            assert_eq!(
                projected.column(0).to_data(),
                batch.column(at).to_data(),
                "{}",
                case.json
            );
            for (row, value) in case.values.iter().enumerate() {
                let Value::Record(fields) = value else {
                    unreachable!()
                };
                assert!(
                    holds(&field.schema, batch.column(at), row, &fields[at].1),
                    "{} {value:?}",
                    case.json
                );
            }
        }
    }
}

#[test]
fn ten_thousand_damaged_rows_are_read_or_refused() {
    let mut random = Random(42);
    let (mut read, mut refused) = (0, 0);
    while read + refused < 10_000 {
        let case = case(&mut random);
        let all = own(&case.json);
        for _ in 0..20 {
            let mut row = case.rows[random.below(case.rows.len() as u64) as usize].clone();
            for _ in 0..1 + random.below(3) {
                let at = random.below(row.len().max(1) as u64) as usize;
                match random.below(4) {
                    0 => row.truncate(at),
                    1 => row.insert(at.min(row.len()), random.below(256) as u8),
                    2 if at < row.len() => row[at] ^= 1 << random.below(8),
                    _ if at < row.len() => {
                        row[at] = [0, 1, 0x7f, 0x80, 0xff][random.below(5) as usize]
                    }
                    _ => {}
                }
            }
            let reader = match random.below(3) {
                0 => Arc::new(all.project(&[all.fields().len() - 1]).unwrap()),
                _ => Arc::clone(&all),
            };
            match try_read(&case.json, &reader, &[row]) {
                Ok(batch) => {
                    assert_eq!(batch.num_rows(), 1);
                    read += 1;
                }
                Err(error) => {
                    let kind = error.kind();
                    assert!(
                        matches!(kind, ErrorKind::Corrupt | ErrorKind::LimitExceeded),
                        "{error}"
                    );
                    refused += 1;
                }
            }
        }
    }
    assert!(
        read > 1000 && refused > 1000,
        "{read} read, {refused} refused"
    );
}
