//! Arrow values in the JSON form of `tests/README.md`, to be compared with what Spark said.

use arrow::array::{Array, ArrayRef, AsArray, RecordBatch};
use arrow::datatypes::{
    DataType, Date32Type, Decimal128Type, Float32Type, Float64Type, Int32Type, Int64Type, TimeUnit,
    TimestampMicrosecondType, TimestampMillisecondType,
};
use base64::Engine;
use chrono::{DateTime, Days, NaiveDate};
use serde_json::{Map, Value, json};

/// The meta fields that the expected rows leave out.
const LEFT_OUT: [&str; 2] = ["_hoodie_commit_seqno", "_hoodie_file_name"];

/// The rows of batches as one JSON text each, sorted.
pub fn rows(batches: &[RecordBatch]) -> Vec<String> {
    let mut rows = Vec::new();
    for batch in batches {
        for row in 0..batch.num_rows() {
            rows.push(row_text(batch, row));
        }
    }
    rows.sort();
    rows
}

/// Expected rows in the same form.
pub fn expected_rows(rows: &Value) -> Vec<String> {
    let mut rows: Vec<String> = rows.as_array().unwrap().iter().map(sorted_text).collect();
    rows.sort();
    rows
}

fn row_text(batch: &RecordBatch, row: usize) -> String {
    let schema = batch.schema();
    let cells = schema.fields().iter().zip(batch.columns());
    let cells = cells.filter(|(field, _)| !LEFT_OUT.contains(&field.name().as_str()));
    let object: Map<_, _> = cells.map(|(field, column)| (field.name().clone(), cell(column, row))).collect();
    sorted_text(&Value::Object(object))
}

/// JSON text whose objects have their keys in order.
fn sorted_text(value: &Value) -> String {
    match value {
        Value::Object(object) => {
            let mut pairs: Vec<_> = object.iter().collect();
            pairs.sort_by_key(|(key, _)| key.as_str());
            let pairs = pairs.iter().map(|(key, value)| format!("{}:{}", json!(key), sorted_text(value)));
            format!("{{{}}}", pairs.collect::<Vec<_>>().join(","))
        }
        Value::Array(items) => {
            let items: Vec<_> = items.iter().map(sorted_text).collect();
            format!("[{}]", items.join(","))
        }
        other => other.to_string(),
    }
}

fn integer(value: i64) -> Value {
    match value.unsigned_abs() < 1 << 53 {
        true => json!(value),
        false => json!(value.to_string()),
    }
}

/// A double as Python's `repr` writes it.
fn float(value: f64) -> Value {
    if value.is_nan() {
        return json!("nan");
    }
    if value.is_infinite() {
        return json!(if value > 0.0 { "inf" } else { "-inf" });
    }
    let scientific = format!("{value:e}");
    let (digits, exponent) = scientific.split_once('e').unwrap();
    let exponent: i32 = exponent.parse().unwrap();
    if (-4..16).contains(&exponent) {
        let plain = format!("{value}");
        return json!(if plain.contains('.') { plain } else { plain + ".0" });
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    json!(format!("{digits}e{sign}{:02}", exponent.abs()))
}

fn decimal(value: i128, scale: i8) -> Value {
    let scale = usize::try_from(scale).unwrap();
    let digits = format!("{:0>width$}", value.unsigned_abs(), width = scale + 1);
    let (whole, fraction) = digits.split_at(digits.len() - scale);
    let sign = if value < 0 { "-" } else { "" };
    let point = if scale > 0 { "." } else { "" };
    json!(format!("{sign}{whole}{point}{fraction}"))
}

fn timestamp(micros: i64, zoned: bool) -> Value {
    let moment = DateTime::from_timestamp_micros(micros).unwrap();
    let zone = if zoned { "Z" } else { "" };
    json!(format!("{}{zone}", moment.format("%Y-%m-%dT%H:%M:%S%.6f")))
}

fn date(days: i32) -> Value {
    let epoch = NaiveDate::from_ymd_opt(1970, 1, 1).unwrap();
    let shift = Days::new(u64::from(days.unsigned_abs()));
    let date = if days < 0 { epoch - shift } else { epoch + shift };
    json!(date.format("%Y-%m-%d").to_string())
}

fn list(items: &ArrayRef) -> Value {
    Value::Array((0..items.len()).map(|i| cell(items, i)).collect())
}

fn cell(array: &ArrayRef, row: usize) -> Value {
    if array.is_null(row) {
        return Value::Null;
    }
    match array.data_type() {
        DataType::Null => Value::Null,
        DataType::Boolean => json!(array.as_boolean().value(row)),
        DataType::Int32 => integer(array.as_primitive::<Int32Type>().value(row).into()),
        DataType::Int64 => integer(array.as_primitive::<Int64Type>().value(row)),
        DataType::Float32 => float(array.as_primitive::<Float32Type>().value(row).into()),
        DataType::Float64 => float(array.as_primitive::<Float64Type>().value(row)),
        DataType::Decimal128(_, scale) => decimal(array.as_primitive::<Decimal128Type>().value(row), *scale),
        DataType::Utf8 => json!(array.as_string::<i32>().value(row)),
        DataType::Binary => base64_text(array.as_binary::<i32>().value(row)),
        DataType::FixedSizeBinary(_) => base64_text(array.as_fixed_size_binary().value(row)),
        DataType::Date32 => date(array.as_primitive::<Date32Type>().value(row)),
        DataType::Timestamp(TimeUnit::Microsecond, zone) => {
            timestamp(array.as_primitive::<TimestampMicrosecondType>().value(row), zone.is_some())
        }
        DataType::Timestamp(TimeUnit::Millisecond, zone) => {
            let millis = array.as_primitive::<TimestampMillisecondType>().value(row);
            timestamp(millis * 1000, zone.is_some())
        }
        DataType::List(_) => list(&array.as_list::<i32>().value(row)),
        DataType::Map(..) => map(array, row),
        DataType::Struct(fields) => {
            let columns = array.as_struct().columns();
            let cells = fields.iter().zip(columns);
            Value::Object(cells.map(|(f, c)| (f.name().clone(), cell(c, row))).collect())
        }
        other => panic!("no canonical form for {other}"),
    }
}

fn map(array: &ArrayRef, row: usize) -> Value {
    let entries = array.as_map().value(row);
    let (keys, values) = (entries.column(0), entries.column(1));
    let mut pairs: Vec<_> = (0..entries.len()).map(|i| (cell(keys, i), cell(values, i))).collect();
    pairs.sort_by_key(|(key, _)| key.to_string());
    Value::Array(pairs.into_iter().map(|(key, value)| json!([key, value])).collect())
}

fn base64_text(bytes: &[u8]) -> Value {
    json!(base64::engine::general_purpose::STANDARD.encode(bytes))
}

/// The sum of a column as the expected files write it: of decimals exactly, of strings their lengths in characters.
pub fn column_sum(batches: &[RecordBatch], column: &str) -> Value {
    let arrays = batches.iter().map(|b| b.column_by_name(column).unwrap());
    let (mut sum, mut scale) = (0_i128, 0);
    for array in arrays {
        for row in (0..array.len()).filter(|row| array.is_valid(*row)) {
            sum += match array.data_type() {
                DataType::Utf8 => array.as_string::<i32>().value(row).chars().count() as i128,
                DataType::Int32 => array.as_primitive::<Int32Type>().value(row).into(),
                DataType::Int64 => array.as_primitive::<Int64Type>().value(row).into(),
                DataType::Decimal128(_, s) => {
                    scale = *s;
                    array.as_primitive::<Decimal128Type>().value(row)
                }
                other => panic!("no sum of {other}"),
            };
        }
    }
    decimal(sum, scale)
}

#[test]
fn numbers_are_written_as_python_writes_them() {
    let expected = [
        (1.0, "1.0"), (-0.0, "-0.0"), (0.1, "0.1"), (1e16, "1e+16"), (1e15, "1000000000000000.0"), (1e-5, "1e-05"),
        (0.0001, "0.0001"), (1.5e300, "1.5e+300"), (f64::NAN, "nan"), (f64::NEG_INFINITY, "-inf"),
    ];
    for (value, text) in expected {
        assert_eq!(float(value), json!(text));
    }
    assert_eq!(decimal(-5, 3), json!("-0.005"));
    assert_eq!(decimal(12, 0), json!("12"));
    assert_eq!(integer(1 << 53), json!("9007199254740992"));
}
