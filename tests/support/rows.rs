//! Batches as the rows of `NAME.expected.json`: see `tests/README.md`.

use arrow::array::{Array, ArrayRef, AsArray, RecordBatch};
use arrow::datatypes::{
    DataType, Date32Type, Decimal128Type, Float32Type, Float64Type, Int8Type, Int32Type, Int64Type,
    TimeUnit, TimestampMicrosecondType, TimestampMillisecondType,
};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use chrono::{DateTime, Days, NaiveDate};
use serde_json::{Map, Value, json};

/// The rows of batches, without the two meta columns that differ from run to run, sorted by their JSON text.
pub fn rows<'a>(batches: impl IntoIterator<Item = &'a RecordBatch>) -> Vec<Value> {
    let mut rows: Vec<Value> = batches.into_iter().flat_map(batch_rows).collect();
    sort(&mut rows);
    rows
}

/// Sorts rows by their JSON text.
pub fn sort(rows: &mut [Value]) {
    rows.sort_by_key(Value::to_string);
}

fn batch_rows(batch: &RecordBatch) -> Vec<Value> {
    let schema = batch.schema();
    let fields = schema.fields().iter().zip(batch.columns());
    let kept: Vec<_> = fields
        .filter(|(field, _)| {
            !["_hoodie_commit_seqno", "_hoodie_file_name"].contains(&field.name().as_str())
        })
        .collect();
    let row = |at| {
        let values = kept
            .iter()
            .map(|(f, array)| (f.name().clone(), value(array, at)));
        Value::Object(values.collect::<Map<_, _>>())
    };
    (0..batch.num_rows()).map(row).collect()
}

fn value(array: &ArrayRef, at: usize) -> Value {
    if array.is_null(at) {
        return Value::Null;
    }
    match array.data_type() {
        DataType::Boolean => json!(array.as_boolean().value(at)),
        DataType::Int32 => json!(array.as_primitive::<Int32Type>().value(at)),
        DataType::Int64 => integer(array.as_primitive::<Int64Type>().value(at)),
        DataType::Float32 => json!(float(array.as_primitive::<Float32Type>().value(at).into())),
        DataType::Float64 => json!(float(array.as_primitive::<Float64Type>().value(at))),
        DataType::Utf8 => json!(array.as_string::<i32>().value(at)),
        DataType::Binary => json!(STANDARD.encode(array.as_binary::<i32>().value(at))),
        DataType::FixedSizeBinary(_) => {
            json!(STANDARD.encode(array.as_fixed_size_binary().value(at)))
        }
        DataType::Decimal128(..) => {
            json!(array.as_primitive::<Decimal128Type>().value_as_string(at))
        }
        DataType::Date32 => json!(date(array.as_primitive::<Date32Type>().value(at)).to_string()),
        DataType::Timestamp(unit, zone) => json!(timestamp(array, *unit, zone.is_some(), at)),
        DataType::Int8 => json!(array.as_primitive::<Int8Type>().value(at)),
        DataType::FixedSizeList(..) => list(&array.as_fixed_size_list().value(at)),
        DataType::List(_) => list(&array.as_list::<i32>().value(at)),
        DataType::Struct(fields) => {
            let columns = array.as_struct().columns().iter();
            let values = fields
                .iter()
                .zip(columns)
                .map(|(f, column)| (f.name().clone(), value(column, at)));
            Value::Object(values.collect::<Map<_, _>>())
        }
        DataType::Map(..) => {
            let entries = array.as_map().value(at);
            let (keys, values) = (entries.column(0), entries.column(1));
            let pair = |at| json!([value(keys, at), value(values, at)]);
            let mut pairs: Vec<Value> = (0..entries.len()).map(pair).collect();
            pairs.sort_by_key(|pair| pair[0].to_string());
            Value::Array(pairs)
        }
        other => panic!("no text is agreed for {other}"),
    }
}

fn list(array: &ArrayRef) -> Value {
    (0..array.len()).map(|at| value(array, at)).collect()
}

fn integer(value: i64) -> Value {
    match value.unsigned_abs() < 1 << 53 {
        true => json!(value),
        false => json!(value.to_string()),
    }
}

/// The shortest text that reads back, laid out as Python does.
fn float(value: f64) -> String {
    if value.is_nan() {
        return "nan".to_owned();
    }
    if value.is_infinite() {
        return value.to_string();
    }
    let scientific = format!("{value:e}");
    let (digits, exponent) = scientific.split_once('e').unwrap();
    let exponent: i32 = exponent.parse().unwrap();
    if !(-4..16).contains(&exponent) {
        let sign = if exponent < 0 { '-' } else { '+' };
        return format!("{digits}e{sign}{:02}", exponent.abs());
    }
    let plain = value.to_string();
    if plain.contains('.') {
        plain
    } else {
        plain + ".0"
    }
}

fn date(days: i32) -> NaiveDate {
    let epoch = NaiveDate::default();
    let count = Days::new(u64::from(days.unsigned_abs()));
    if days < 0 {
        epoch - count
    } else {
        epoch + count
    }
}

fn timestamp(array: &ArrayRef, unit: TimeUnit, zoned: bool, at: usize) -> String {
    let micros = match unit {
        TimeUnit::Microsecond => array.as_primitive::<TimestampMicrosecondType>().value(at),
        TimeUnit::Millisecond => array.as_primitive::<TimestampMillisecondType>().value(at) * 1000,
        other => panic!("no text is agreed for {other:?}"),
    };
    let moment = DateTime::from_timestamp_micros(micros).unwrap();
    let text = moment.format("%Y-%m-%dT%H:%M:%S%.6f").to_string();
    if zoned { text + "Z" } else { text }
}
