//! An image as JSON text. Spark has two ways of writing it, and a query may give both.
//!
//! | | image of a change log | image of a data file |
//! |---|---|---|
//! | columns | the table's | the meta fields, then the table's |
//! | spacing | `{"id": 0, "name": null}` | `{"id":0}` |
//! | null | written | left out, but in lists |
//! | NaN, infinities | as text | as text |
//! | date, timestamp | days; units of the column | days; microseconds |
//! | binary | text with one character a byte | base64 |
//! | decimal | bytes of the unscaled value: a list of numbers, text where Avro stores `bytes` | a number |
//!
//! The last cell is not Spark's: it writes `{"zero":false}` there, from which no value can be had.
//!
//! Source: Avro's `GenericData.toString`; Hudi 1.1 `InternalRowToJsonStringConverter`, Jackson.

use std::fmt::Write;

use arrow::array::{Array, ArrayRef, AsArray, FixedSizeListArray, StructArray};
use arrow::datatypes::{
    DataType, Date32Type, Decimal128Type, Decimal256Type, Fields, Float32Type, Float64Type,
    Int32Type, Int64Type, Time32MillisecondType, Time64MicrosecondType, TimeUnit,
    TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType,
    TimestampSecondType,
};

use crate::codec::java_number;
use crate::schema::{AvroKind, AvroRecord, AvroSchema};

/// Whose text it is.
#[derive(Clone, Copy)]
pub(super) enum Style<'a> {
    /// A change log's: the record's Avro schema says how decimals are stored.
    Log(Option<&'a AvroRecord>),
    /// A data file's.
    File,
}

/// Whether values of a type have a text.
pub(super) fn has_text(data_type: &DataType) -> bool {
    match data_type {
        DataType::Boolean
        | DataType::Utf8
        | DataType::Float32
        | DataType::Float64
        | DataType::Binary
        | DataType::FixedSizeBinary(_)
        | DataType::Decimal128(..)
        | DataType::Decimal256(..)
        | DataType::Int32
        | DataType::Int64
        | DataType::Date32
        | DataType::Time32(TimeUnit::Millisecond)
        | DataType::Time64(TimeUnit::Microsecond)
        | DataType::Timestamp(..)
        | DataType::Null => true,
        DataType::Struct(fields) => fields.iter().all(|field| has_text(field.data_type())),
        DataType::List(item) | DataType::FixedSizeList(item, _) => has_text(item.data_type()),
        DataType::Map(entries, _) => has_text(entries.data_type()),
        _ => false,
    }
}

/// A row as the text of an image of a data file: rows that differ have different texts.
pub(in crate::read) fn row_text(fields: &Fields, columns: &[ArrayRef], at: usize) -> String {
    let mut text = String::new();
    object(&mut text, fields, columns, at, Style::File);
    text
}

/// Adds the row at `at` of some columns as one JSON object.
pub(super) fn object(
    out: &mut String,
    fields: &Fields,
    columns: &[ArrayRef],
    at: usize,
    style: Style<'_>,
) {
    out.push('{');
    let mut first = true;
    for (field, column) in fields.iter().zip(columns) {
        let is_null = column.is_null(at);
        if is_null && matches!(style, Style::File) {
            continue;
        }
        separate(out, &mut first, style);
        text(out, field.name(), style);
        out.push_str(style.colon());
        let stored = style.field(field.name());
        value(out, column.as_ref(), at, style, stored);
    }
    out.push('}');
}

impl<'a> Style<'a> {
    fn colon(self) -> &'static str {
        match self {
            Self::Log(_) => ": ",
            Self::File => ":",
        }
    }

    fn comma(self) -> &'static str {
        match self {
            Self::Log(_) => ", ",
            Self::File => ",",
        }
    }

    fn is_log(self) -> bool {
        matches!(self, Self::Log(_))
    }

    /// How a field is stored.
    fn field(self, name: &str) -> Option<&'a AvroSchema> {
        let Self::Log(Some(record)) = self else {
            return None;
        };
        let field = record.fields.iter().find(|field| field.name == name)?;
        Some(stored(&field.schema))
    }
}

/// The type beside null.
fn stored(schema: &AvroSchema) -> &AvroSchema {
    schema.nullable().map_or(schema, |(one, _)| one)
}

fn separate(out: &mut String, first: &mut bool, style: Style<'_>) {
    if !std::mem::take(first) {
        out.push_str(style.comma());
    }
}

fn value(
    out: &mut String,
    array: &dyn Array,
    at: usize,
    style: Style<'_>,
    schema: Option<&AvroSchema>,
) {
    if array.is_null(at) {
        out.push_str("null");
        return;
    }
    match array.data_type() {
        DataType::Boolean => out.push_str(match array.as_boolean().value(at) {
            true => "true",
            false => "false",
        }),
        DataType::Utf8 => text(out, array.as_string::<i32>().value(at), style),
        DataType::Float32 => {
            let number = array.as_primitive::<Float32Type>().value(at);
            quoted_unless(out, number.is_finite(), |out| {
                java_number::float(out, number)
            });
        }
        DataType::Float64 => {
            let number = array.as_primitive::<Float64Type>().value(at);
            quoted_unless(out, number.is_finite(), |out| {
                java_number::double(out, number)
            });
        }
        DataType::Binary => binary(out, array.as_binary::<i32>().value(at), style),
        DataType::FixedSizeBinary(_) => {
            let bytes = array.as_fixed_size_binary().value(at);
            match style {
                Style::Log(_) => signed_bytes(out, bytes),
                Style::File => binary(out, bytes, style),
            }
        }
        DataType::Decimal128(..) => {
            let decimals = array.as_primitive::<Decimal128Type>();
            let bytes = decimals.value(at).to_be_bytes();
            decimal(out, &bytes, &decimals.value_as_string(at), style, schema);
        }
        DataType::Decimal256(..) => {
            let decimals = array.as_primitive::<Decimal256Type>();
            let bytes = decimals.value(at).to_be_bytes();
            decimal(out, &bytes, &decimals.value_as_string(at), style, schema);
        }
        DataType::Struct(fields) => {
            let record = schema.and_then(AvroSchema::as_record);
            let style = match style {
                Style::Log(_) => Style::Log(record),
                Style::File => Style::File,
            };
            nested(out, fields, array.as_struct(), at, style);
        }
        DataType::List(_) => {
            let items = array.as_list::<i32>().value(at);
            list(out, items.as_ref(), style, schema);
        }
        DataType::FixedSizeList(..) => {
            if let Some(lists) = array.as_any().downcast_ref::<FixedSizeListArray>() {
                list(out, lists.value(at).as_ref(), style, schema);
            }
        }
        DataType::Map(..) => map(out, &array.as_map().value(at), style, schema),
        _ => whole(out, array, at, style),
    }
}

/// Numbers without a fraction: integers, dates, times.
fn whole(out: &mut String, array: &dyn Array, at: usize, style: Style<'_>) {
    let micros = |value: i64, factor: i64| match style {
        Style::Log(_) => value,
        Style::File => value.saturating_mul(factor),
    };
    let number = match array.data_type() {
        DataType::Int32 => i64::from(array.as_primitive::<Int32Type>().value(at)),
        DataType::Date32 => i64::from(array.as_primitive::<Date32Type>().value(at)),
        DataType::Int64 => array.as_primitive::<Int64Type>().value(at),
        DataType::Time32(TimeUnit::Millisecond) => {
            i64::from(array.as_primitive::<Time32MillisecondType>().value(at))
        }
        DataType::Time64(TimeUnit::Microsecond) => {
            array.as_primitive::<Time64MicrosecondType>().value(at)
        }
        DataType::Timestamp(TimeUnit::Second, _) => micros(
            array.as_primitive::<TimestampSecondType>().value(at),
            1_000_000,
        ),
        DataType::Timestamp(TimeUnit::Millisecond, _) => {
            let value = array.as_primitive::<TimestampMillisecondType>().value(at);
            micros(value, 1000)
        }
        DataType::Timestamp(TimeUnit::Microsecond, _) => {
            array.as_primitive::<TimestampMicrosecondType>().value(at)
        }
        DataType::Timestamp(TimeUnit::Nanosecond, _) => {
            array.as_primitive::<TimestampNanosecondType>().value(at)
        }
        _ => return out.push_str("null"),
    };
    // Writing to a string does not fail.
    let _ = write!(out, "{number}");
}

fn nested(out: &mut String, fields: &Fields, array: &StructArray, at: usize, style: Style<'_>) {
    object(out, fields, array.columns(), at, style);
}

fn list(out: &mut String, items: &dyn Array, style: Style<'_>, schema: Option<&AvroSchema>) {
    let item = match schema.map(|schema| &schema.kind) {
        Some(AvroKind::Array(item)) => Some(stored(item)),
        _ => None,
    };
    out.push('[');
    let mut first = true;
    for at in 0..items.len() {
        separate(out, &mut first, style);
        value(out, items, at, style, item);
    }
    out.push(']');
}

fn map(out: &mut String, entries: &StructArray, style: Style<'_>, schema: Option<&AvroSchema>) {
    let of_value = match schema.map(|schema| &schema.kind) {
        Some(AvroKind::Map(value)) => Some(stored(value)),
        _ => None,
    };
    out.push('{');
    let mut first = true;
    if let [keys, values] = entries.columns() {
        for at in 0..entries.len() {
            if values.is_null(at) && !style.is_log() {
                continue;
            }
            separate(out, &mut first, style);
            value(out, keys.as_ref(), at, style, None);
            out.push_str(style.colon());
            value(out, values.as_ref(), at, style, of_value);
        }
    }
    out.push('}');
}

/// A decimal by its unscaled value and by its text.
fn decimal(
    out: &mut String,
    bytes: &[u8],
    number: &str,
    style: Style<'_>,
    schema: Option<&AvroSchema>,
) {
    if !style.is_log() {
        out.push_str(number);
        return;
    }
    match schema.map(|schema| &schema.kind) {
        Some(AvroKind::Fixed(fixed)) => {
            let negative = bytes.first().is_some_and(|first| *first > 127);
            let more = fixed.size.saturating_sub(bytes.len());
            let mut padded = vec![if negative { 255 } else { 0 }; more];
            let skipped = bytes.len().saturating_sub(fixed.size);
            padded.extend(bytes.iter().skip(skipped));
            signed_bytes(out, &padded);
        }
        _ => binary(out, shortest(bytes), style),
    }
}

/// Two's complement without the leading bytes that say nothing, as `BigInteger.toByteArray` gives it.
fn shortest(bytes: &[u8]) -> &[u8] {
    let mut rest = bytes;
    while let [first, second, ..] = rest {
        let spare = (*first == 0 && *second < 128) || (*first == 255 && *second > 127);
        match rest.get(1..) {
            Some(tail) if spare => rest = tail,
            _ => break,
        }
    }
    rest
}

fn signed_bytes(out: &mut String, bytes: &[u8]) {
    out.push('[');
    for (at, byte) in bytes.iter().enumerate() {
        let comma = if at == 0 { "" } else { ", " };
        let _ = write!(out, "{comma}{}", i8::from_be_bytes([*byte]));
    }
    out.push(']');
}

fn binary(out: &mut String, bytes: &[u8], style: Style<'_>) {
    match style {
        Style::Log(_) => {
            let characters: String = bytes.iter().map(|byte| char::from(*byte)).collect();
            text(out, &characters, style);
        }
        Style::File => {
            out.push('"');
            base64(out, bytes);
            out.push('"');
        }
    }
}

fn base64(out: &mut String, bytes: &[u8]) {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for chunk in bytes.chunks(3) {
        let byte = |at: usize| u32::from(chunk.get(at).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for place in 0..4 {
            let index = (bits >> (18 - 6 * place)) & 63;
            let letter = ALPHABET.get(index as usize).copied().unwrap_or(b'=');
            let beyond = place as usize > chunk.len();
            out.push(if beyond { '=' } else { char::from(letter) });
        }
    }
}

fn quoted_unless(out: &mut String, plain: bool, write: impl Fn(&mut String)) {
    let quote = if plain { "" } else { "\"" };
    out.push_str(quote);
    write(out);
    out.push_str(quote);
}

fn text(out: &mut String, given: &str, style: Style<'_>) {
    out.push('"');
    for c in given.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if is_escaped(c, style) => {
                let _ = write!(out, "\\u{:04X}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
}

fn is_escaped(c: char, style: Style<'_>) -> bool {
    let more = ('\u{7f}'..='\u{9f}').contains(&c) || ('\u{2000}'..='\u{20ff}').contains(&c);
    c < ' ' || (style.is_log() && more)
}
