//! Rows of JavaScript to batches of a table's columns. A value that would lose something on the way is refused.
//!
//! A row is an object by column; in it, what JSON has no word for is `{"$": kind, "v": …}`: `n` a bigint and `f` a number that is not finite
//! or is -0, as text; `d` a Date in milliseconds; `b` bytes in base64; `o` an object; `m` a list of pairs, of a Map.

use std::sync::Arc;

use arrow::array::{
    ArrayRef, BinaryArray, BooleanArray, FixedSizeBinaryArray, ListArray, MapArray, PrimitiveArray,
    RecordBatch, RecordBatchOptions, StringArray, StructArray, new_null_array,
};
use arrow::buffer::{NullBuffer, OffsetBuffer};
use arrow::datatypes::{
    ArrowPrimitiveType, DataType, Date32Type, Decimal128Type, Field, FieldRef, Fields, Float32Type,
    Float64Type, Int32Type, Int64Type, SchemaRef, TimeUnit, TimestampMicrosecondType,
    TimestampMillisecondType,
};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value};

use crate::error::{Error, Result};
use crate::expr::{parse_date, parse_local_timestamp, parse_timestamp};
use crate::schema::unknown_column;

/// The largest whole number that a double holds without its neighbours.
const MAX_SAFE: i64 = 9_007_199_254_740_991;
const DAY_MILLIS: i64 = 86_400_000;

/// A batch of rows in the columns of `schema`. The first row is row `first` of the input; a column that a row lacks is null.
///
/// Errors: `Schema` with the `field`, the `row` and what would help.
pub fn rows_to_batch(
    schema: &SchemaRef,
    rows: &[Map<String, Value>],
    first: u64,
) -> Result<RecordBatch> {
    for (row, values) in rows.iter().enumerate() {
        let unknown = values.keys().find(|name| schema.index_of(name).is_err());
        if let Some(name) = unknown {
            return Err(unknown_column(schema, name).context("row", first + row as u64));
        }
    }
    let numbers: Vec<u64> = (first..first + rows.len() as u64).collect();
    let columns = schema.fields().iter().map(|field| {
        let values: Vec<Option<&Value>> = rows
            .iter()
            .map(|row| given(row.get(field.name())))
            .collect();
        column(field, field.name(), &values, &numbers)
    });
    let columns: Vec<ArrayRef> = columns.collect::<Result<_>>()?;
    // Whether a column may be null is the writer's affair, which names all such rows.
    let open: Vec<Field> = schema
        .fields()
        .iter()
        .map(|field| field.as_ref().clone().with_nullable(true))
        .collect();
    let options = RecordBatchOptions::new().with_row_count(Some(rows.len()));
    let open = Arc::new(arrow::datatypes::Schema::new(open));
    RecordBatch::try_new_with_options(open, columns, &options)
        .map_err(|source| Error::schema("the rows do not fit the table").with_source(source))
}

fn given(value: Option<&Value>) -> Option<&Value> {
    value.filter(|value| !value.is_null())
}

/// `rows[i]` is the row of the input that value `i` belongs to.
fn column(field: &Field, path: &str, values: &[Option<&Value>], rows: &[u64]) -> Result<ArrayRef> {
    let at = Place {
        path,
        rows,
        kind: field.data_type(),
    };
    Ok(match field.data_type() {
        DataType::Boolean => Arc::new(BooleanArray::from(
            at.each(values, |v| v.as_bool().ok_or("true or false"))?,
        )),
        DataType::Int32 => at.numbers::<Int32Type>(values, |v| {
            i32::try_from(whole(v)?).map_err(|_| "a number within 32 bits")
        })?,
        DataType::Int64 => at.numbers::<Int64Type>(values, whole)?,
        DataType::Float32 => at.numbers::<Float32Type>(values, |v| {
            let wide = double(v)?;
            let narrow = wide as f32;
            (narrow.is_finite() || !wide.is_finite())
                .then_some(narrow)
                .ok_or("a number within 32 bits")
        })?,
        DataType::Float64 => at.numbers::<Float64Type>(values, double)?,
        DataType::Date32 => at.numbers::<Date32Type>(values, date)?,
        DataType::Decimal128(precision, scale) => {
            let array: PrimitiveArray<Decimal128Type> =
                at.each(values, |v| decimal(v, *precision, *scale))?.into();
            Arc::new(array.with_data_type(field.data_type().clone()))
        }
        DataType::Timestamp(TimeUnit::Millisecond, zone) => {
            let array: PrimitiveArray<TimestampMillisecondType> = at
                .each(values, |v| time(v, TimeUnit::Millisecond, zone.is_some()))?
                .into();
            Arc::new(array.with_timezone_opt(zone.clone()))
        }
        DataType::Timestamp(TimeUnit::Microsecond, zone) => {
            let array: PrimitiveArray<TimestampMicrosecondType> = at
                .each(values, |v| time(v, TimeUnit::Microsecond, zone.is_some()))?
                .into();
            Arc::new(array.with_timezone_opt(zone.clone()))
        }
        DataType::Utf8 => Arc::new(StringArray::from(
            at.each(values, |v| v.as_str().ok_or("text"))?,
        )),
        DataType::Binary => Arc::new(BinaryArray::from_iter(at.each(values, bytes)?)),
        DataType::FixedSizeBinary(size) => {
            let fixed = at.each(values, |v| {
                bytes(v).and_then(|b| {
                    (i32::try_from(b.len()) == Ok(*size))
                        .then_some(b)
                        .ok_or("bytes of the column's length")
                })
            })?;
            let fixed =
                FixedSizeBinaryArray::try_from_sparse_iter_with_size(fixed.into_iter(), *size);
            Arc::new(
                fixed
                    .map_err(|source| Error::schema("the bytes do not fit").with_source(source))?,
            )
        }
        DataType::Struct(fields) => at.structs(fields, values)?,
        DataType::List(item) => at.lists(item, values)?,
        DataType::Map(entries, _) => at.maps(entries, values)?,
        other if values.iter().all(Option::is_none) => new_null_array(other, values.len()),
        other => {
            return Err(Error::unsupported(
                "rows cannot be given for a column of this type: give Arrow",
            )
            .context("field", path)
            .context("type", other));
        }
    })
}

/// Where values go, for errors.
struct Place<'a> {
    path: &'a str,
    rows: &'a [u64],
    kind: &'a DataType,
}

impl Place<'_> {
    fn each<'v, T>(
        &self,
        values: &[Option<&'v Value>],
        take: impl Fn(&'v Value) -> Result<T, &'static str>,
    ) -> Result<Vec<Option<T>>> {
        let taken = values.iter().enumerate().map(|(index, value)| match value {
            None => Ok(None),
            Some(value) => take(value)
                .map(Some)
                .map_err(|wanted| self.refused(index, wanted)),
        });
        taken.collect()
    }

    fn numbers<T: ArrowPrimitiveType>(
        &self,
        values: &[Option<&Value>],
        take: impl Fn(&Value) -> Result<T::Native, &'static str>,
    ) -> Result<ArrayRef> {
        let array: PrimitiveArray<T> = self.each(values, take)?.into_iter().collect();
        Ok(Arc::new(array))
    }

    fn refused(&self, index: usize, wanted: &str) -> Error {
        let row = self.rows.get(index).copied().unwrap_or_default();
        Error::schema("a value does not fit its column without loss")
            .context("field", self.path)
            .context("type", self.kind)
            .context("row", row)
            .context("hint", format!("give {wanted}"))
    }

    fn structs(&self, fields: &Fields, values: &[Option<&Value>]) -> Result<ArrayRef> {
        let objects = self.each(values, |v| {
            tagged(v, "o").and_then(Value::as_object).ok_or("an object")
        })?;
        for (index, object) in objects.iter().enumerate() {
            let unknown = object.and_then(|o| o.keys().find(|name| fields.find(name).is_none()));
            if let Some(name) = unknown {
                return Err(self
                    .refused(index, "only members that the column has")
                    .context("member", name));
            }
        }
        let columns = fields.iter().map(|field| {
            let path = format!("{}.{}", self.path, field.name());
            let inner: Vec<_> = objects
                .iter()
                .map(|o| o.and_then(|o| given(o.get(field.name()))))
                .collect();
            if !field.is_nullable()
                && let Some(index) = inner
                    .iter()
                    .zip(&objects)
                    .position(|(v, o)| v.is_none() && o.is_some())
            {
                return Err(self
                    .refused(index, "a value for every member that the table requires")
                    .context("member", field.name()));
            }
            column(field, &path, &inner, self.rows)
        });
        let columns: Vec<ArrayRef> = columns.collect::<Result<_>>()?;
        let nulls: NullBuffer = objects.iter().map(Option::is_some).collect();
        let array =
            StructArray::try_new_with_length(open(fields), columns, Some(nulls), values.len());
        Ok(Arc::new(array.map_err(odd)?))
    }

    fn lists(&self, item: &FieldRef, values: &[Option<&Value>]) -> Result<ArrayRef> {
        let lists = self.each(values, |v| v.as_array().ok_or("an array"))?;
        let (mut inner, mut rows) = (Vec::new(), Vec::new());
        for (list, row) in lists.iter().zip(self.rows) {
            inner.extend(
                list.iter()
                    .flat_map(|list| list.iter())
                    .map(|v| given(Some(v))),
            );
            rows.resize(inner.len(), *row);
        }
        let path = format!("{}.{}", self.path, item.name());
        let inner = column(item, &path, &inner, &rows)?;
        let lengths = lists.iter().map(|list| list.map_or(0, Vec::len));
        let nulls: NullBuffer = lists.iter().map(Option::is_some).collect();
        let item = Arc::new(item.as_ref().clone().with_nullable(true));
        let array = ListArray::try_new(
            item,
            OffsetBuffer::from_lengths(lengths),
            inner,
            Some(nulls),
        );
        Ok(Arc::new(array.map_err(odd)?))
    }

    fn maps(&self, entries: &FieldRef, values: &[Option<&Value>]) -> Result<ArrayRef> {
        let DataType::Struct(fields) = entries.data_type() else {
            return Err(odd("a map without entries"));
        };
        let (Some(key), Some(value)) = (fields.first(), fields.get(1)) else {
            return Err(odd("a map without entries"));
        };
        let maps = self.each(values, pairs)?;
        let (mut keys, mut inner, mut rows, mut lengths) =
            (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let texts: Vec<Vec<Value>> = maps
            .iter()
            .map(|m| {
                m.iter()
                    .flatten()
                    .map(|(k, _)| Value::from(k.as_str()))
                    .collect()
            })
            .collect();
        for ((map, texts), row) in maps.iter().zip(&texts).zip(self.rows) {
            keys.extend(texts.iter().map(Some));
            inner.extend(map.iter().flatten().map(|(_, v)| given(Some(v))));
            rows.resize(inner.len(), *row);
            lengths.push(texts.len());
        }
        let path = |field: &Field| format!("{}.{}", self.path, field.name());
        let columns = vec![
            column(key, &path(key), &keys, &rows)?,
            column(value, &path(value), &inner, &rows)?,
        ];
        let nulls: NullBuffer = maps.iter().map(Option::is_some).collect();
        let fields: Fields = vec![
            Arc::clone(key),
            Arc::new(value.as_ref().clone().with_nullable(true)),
        ]
        .into();
        let structs = StructArray::try_new(fields.clone(), columns, None).map_err(odd)?;
        let entries = Arc::new(Field::new(entries.name(), DataType::Struct(fields), false));
        let array = MapArray::try_new(
            entries,
            OffsetBuffer::from_lengths(lengths),
            structs,
            Some(nulls),
            false,
        );
        Ok(Arc::new(array.map_err(odd)?))
    }
}

/// Members may be null in rows of which the struct itself is.
fn open(fields: &Fields) -> Fields {
    fields
        .iter()
        .map(|field| field.as_ref().clone().with_nullable(true))
        .collect()
}

fn odd(source: impl Into<crate::error::BoxError>) -> Error {
    Error::internal("rows could not be put into columns").with_source(source)
}

fn tagged<'a>(value: &'a Value, kind: &str) -> Option<&'a Value> {
    let object = value.as_object()?;
    (object.get("$")?.as_str()? == kind).then(|| object.get("v"))?
}

fn text_of<'a>(value: &'a Value, kind: &str) -> Option<&'a str> {
    tagged(value, kind)?.as_str()
}

fn whole(value: &Value) -> Result<i64, &'static str> {
    if let Some(text) = text_of(value, "n") {
        return text.parse().map_err(|_| "a number within 64 bits");
    }
    match value.as_i64() {
        Some(number) if (-MAX_SAFE..=MAX_SAFE).contains(&number) => Ok(number),
        Some(_) => Err("a bigint: numbers beyond 2^53 have lost digits already"),
        None if value.is_number() => Err("a whole number within 2^53, or a bigint"),
        None => Err("a whole number or a bigint"),
    }
}

fn double(value: &Value) -> Result<f64, &'static str> {
    match text_of(value, "f") {
        Some("NaN") => return Ok(f64::NAN),
        Some("Infinity") => return Ok(f64::INFINITY),
        Some("-Infinity") => return Ok(f64::NEG_INFINITY),
        Some("-0") => return Ok(-0.0),
        _ => {}
    }
    if text_of(value, "n").is_some() {
        let number = whole(value)?;
        let exact = (-MAX_SAFE..=MAX_SAFE).contains(&number);
        return exact
            .then_some(number as f64)
            .ok_or("a number: this bigint has more digits than a double");
    }
    value.as_f64().ok_or("a number")
}

fn bytes(value: &Value) -> Result<Vec<u8>, &'static str> {
    let text = text_of(value, "b").ok_or("a Uint8Array")?;
    STANDARD.decode(text).map_err(|_| "a Uint8Array")
}

fn date(value: &Value) -> Result<i32, &'static str> {
    if let Some(millis) = tagged(value, "d") {
        let millis = millis.as_i64().ok_or("a valid Date")?;
        return match millis.rem_euclid(DAY_MILLIS) {
            0 => i32::try_from(millis / DAY_MILLIS).map_err(|_| "a date within 32 bits"),
            _ => Err("a Date at midnight in UTC, or yyyy-MM-dd"),
        };
    }
    value
        .as_str()
        .and_then(parse_date)
        .ok_or("yyyy-MM-dd, or a Date at midnight in UTC")
}

fn time(value: &Value, unit: TimeUnit, zoned: bool) -> Result<i64, &'static str> {
    let wanted = match zoned {
        true => "RFC 3339 text with an offset, or a Date",
        false => "a time without offset as text: the column has no zone",
    };
    if let Some(millis) = tagged(value, "d").filter(|_| zoned) {
        let millis = millis.as_i64().ok_or("a valid Date")?;
        let scale = if unit == TimeUnit::Millisecond {
            1
        } else {
            1000
        };
        return millis.checked_mul(scale).ok_or("a time within 64 bits");
    }
    let text = value.as_str().ok_or(wanted)?;
    let parse = if zoned {
        parse_timestamp
    } else {
        parse_local_timestamp
    };
    let count = parse(text, unit).ok_or(wanted)?;
    let digits = text.split_once('.').map_or("", |(_, rest)| rest);
    let digits = digits
        .find(|c: char| !c.is_ascii_digit())
        .map_or(digits, |end| digits.get(..end).unwrap_or(digits));
    let held = if unit == TimeUnit::Millisecond { 3 } else { 6 };
    match digits.bytes().skip(held).all(|digit| digit == b'0') {
        true => Ok(count),
        false => Err("no more digits of a second than the column holds"),
    }
}

/// Digits of a number as it is written, without rounding.
fn decimal(value: &Value, precision: u8, scale: i8) -> Result<i128, &'static str> {
    const WANTED: &str = "a number, a bigint or its decimal text";
    let text = match (value, text_of(value, "n")) {
        (_, Some(text)) => text.to_owned(),
        (Value::String(text), _) => text.clone(),
        (Value::Number(number), _) => {
            if number
                .as_i64()
                .is_some_and(|n| n.unsigned_abs() > MAX_SAFE.unsigned_abs())
            {
                return Err("a bigint or text: numbers beyond 2^53 have lost digits already");
            }
            number.to_string()
        }
        _ => return Err(WANTED),
    };
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().map_err(|_| WANTED)?),
        None => (text.as_str(), 0),
    };
    let (negative, digits) = match mantissa.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, mantissa.strip_prefix('+').unwrap_or(mantissa)),
    };
    let (before, after) = digits.split_once('.').unwrap_or((digits, ""));
    let all = format!("{before}{after}");
    if all.is_empty()
        || !all.bytes().all(|b| b.is_ascii_digit())
        || all.len() > 100
        || exponent.unsigned_abs() > 200
    {
        return Err(WANTED);
    }
    let shift = i32::from(scale) + exponent - i32::try_from(after.len()).map_err(|_| WANTED)?;
    let kept = match usize::try_from(-shift) {
        Ok(cut) if cut > 0 => {
            let (kept, lost) = all.split_at(all.len().saturating_sub(cut));
            if lost.bytes().any(|digit| digit != b'0') {
                return Err("no more digits behind the point than the column holds");
            }
            kept.to_owned()
        }
        _ => all + &"0".repeat(usize::try_from(shift).unwrap_or(0)),
    };
    let kept = kept.trim_start_matches('0');
    if kept.len() > usize::from(precision) {
        return Err("no more digits than the column holds");
    }
    let number: i128 = if kept.is_empty() {
        0
    } else {
        kept.parse().map_err(|_| WANTED)?
    };
    Ok(if negative { -number } else { number })
}

/// Entries of a Map or of an object.
fn pairs(value: &Value) -> Result<Vec<(String, &Value)>, &'static str> {
    const WANTED: &str = "an object, or a Map whose keys are text";
    if let Some(object) = tagged(value, "o").and_then(Value::as_object) {
        return Ok(object
            .iter()
            .map(|(key, value)| (key.clone(), value))
            .collect());
    }
    let list = tagged(value, "m").and_then(Value::as_array).ok_or(WANTED)?;
    let pair = |pair: &'_ Value| -> Option<String> {
        pair.as_array()?.first()?.as_str().map(str::to_owned)
    };
    list.iter()
        .map(|entry| {
            let key = pair(entry).ok_or(WANTED)?;
            let value = entry
                .as_array()
                .and_then(|entry| entry.get(1))
                .ok_or(WANTED)?;
            Ok((key, value))
        })
        .collect()
}

#[cfg(test)]
mod tests;
