use std::sync::Arc;

use arrow::array::*;
use arrow::buffer::{NullBuffer, OffsetBuffer};
use arrow::datatypes::*;

use super::*;
use crate::error::{Error, ErrorKind};
use crate::schema::{parse_avro, to_arrow};

mod hostile;
pub(crate) mod oracle;
mod resolution;

/// A long, as Avro writes it.
fn long(value: i64) -> Vec<u8> {
    let mut rest = ((value << 1) ^ (value >> 63)) as u64;
    let mut bytes = Vec::new();
    while rest > 0x7f {
        bytes.push((rest & 0x7f) as u8 | 0x80);
        rest >>= 7;
    }
    bytes.push(rest as u8);
    bytes
}

/// Bytes or a text.
fn text(value: impl AsRef<[u8]>) -> Vec<u8> {
    [long(value.as_ref().len() as i64), value.as_ref().to_vec()].concat()
}

fn record(fields: &str) -> String {
    format!(r#"{{"type":"record","name":"r","fields":[{fields}]}}"#)
}

/// A record of one field `c`.
fn one(avro_type: &str) -> String {
    record(&format!(r#"{{"name":"c","type":{avro_type}}}"#))
}

fn schema(fields: Vec<Field>) -> SchemaRef {
    Arc::new(Schema::new(fields))
}

/// The table's schema when the table was written by this schema alone.
fn own(writer: &str) -> SchemaRef {
    Arc::new(to_arrow(&parse_avro(writer).unwrap()).unwrap())
}

fn try_read(writer: &str, reader: &SchemaRef, rows: &[Vec<u8>]) -> Result<RecordBatch, Error> {
    let mut decoder = RowDecoder::new(&parse_avro(writer).unwrap(), reader)?;
    for row in rows {
        decoder.push(row)?;
    }
    assert_eq!(decoder.rows(), rows.len());
    decoder.finish()
}

/// Rows of one column in its own type.
fn column(avro_type: &str, rows: &[Vec<u8>]) -> ArrayRef {
    let writer = one(avro_type);
    let batch = try_read(&writer, &own(&writer), rows).unwrap();
    Arc::clone(batch.column(0))
}

fn check(avro_type: &str, rows: &[Vec<u8>], expected: impl Array) {
    let found = column(avro_type, rows);
    assert_eq!(found.to_data(), expected.to_data(), "{avro_type}");
}

#[test]
fn plain_types_are_read_in_their_arrow_types() {
    check(r#""null""#, &[vec![], vec![]], NullArray::new(2));
    check(
        r#""boolean""#,
        &[vec![1], vec![0]],
        BooleanArray::from(vec![true, false]),
    );
    let ints = [long(i64::from(i32::MIN)), long(i64::from(i32::MAX))];
    check(
        r#""int""#,
        &ints,
        Int32Array::from(vec![i32::MIN, i32::MAX]),
    );
    let longs = [long(i64::MIN), long(i64::MAX), long(-1)];
    check(
        r#""long""#,
        &longs,
        Int64Array::from(vec![i64::MIN, i64::MAX, -1]),
    );
    check(
        r#""float""#,
        &[1.5f32.to_le_bytes().to_vec()],
        Float32Array::from(vec![1.5]),
    );
    check(
        r#""double""#,
        &[(-0.1f64).to_le_bytes().to_vec()],
        Float64Array::from(vec![-0.1]),
    );
    check(
        r#""string""#,
        &[text("é"), text("")],
        StringArray::from(vec!["é", ""]),
    );
    check(
        r#""bytes""#,
        &[text([0xff])],
        BinaryArray::from(vec![&[0xff][..]]),
    );
    let fixed = FixedSizeBinaryArray::try_from_iter([[1u8, 2]].into_iter()).unwrap();
    check(
        r#"{"type":"fixed","name":"f","size":2}"#,
        &[vec![1, 2]],
        fixed,
    );
    let symbols = r#"{"type":"enum","name":"e","symbols":["INLINE","OUT_OF_LINE"]}"#;
    check(
        symbols,
        &[long(1), long(0)],
        StringArray::from(vec!["OUT_OF_LINE", "INLINE"]),
    );
}

#[test]
fn null_may_be_either_branch_and_any_other() {
    let expected = || Int32Array::from(vec![None, Some(3)]);
    check(r#"["null","int"]"#, &[vec![0], vec![2, 6]], expected());
    check(r#"["int","null"]"#, &[vec![2], vec![0, 6]], expected());
    check(r#"["int"]"#, &[vec![0, 6]], Int32Array::from(vec![3]));
    check(r#"["null"]"#, &[vec![0]], NullArray::new(1));
}

#[test]
fn logical_types_keep_the_stored_number() {
    let logical = |kind: &str, name: &str| format!(r#"{{"type":"{kind}","logicalType":"{name}"}}"#);
    let number = || [long(-3)];
    check(
        &logical("int", "date"),
        &number(),
        Date32Array::from(vec![-3]),
    );
    check(
        &logical("int", "time-millis"),
        &number(),
        Time32MillisecondArray::from(vec![-3]),
    );
    check(
        &logical("long", "time-micros"),
        &number(),
        Time64MicrosecondArray::from(vec![-3]),
    );
    let utc = "UTC";
    check(
        &logical("long", "timestamp-millis"),
        &number(),
        TimestampMillisecondArray::from(vec![-3]).with_timezone(utc),
    );
    check(
        &logical("long", "timestamp-micros"),
        &number(),
        TimestampMicrosecondArray::from(vec![-3]).with_timezone(utc),
    );
    check(
        &logical("long", "timestamp-nanos"),
        &number(),
        TimestampNanosecondArray::from(vec![-3]).with_timezone(utc),
    );
    check(
        &logical("long", "local-timestamp-millis"),
        &number(),
        TimestampMillisecondArray::from(vec![-3]),
    );
    check(
        &logical("long", "local-timestamp-micros"),
        &number(),
        TimestampMicrosecondArray::from(vec![-3]),
    );
    check(
        &logical("string", "uuid"),
        &[text("x")],
        StringArray::from(vec!["x"]),
    );
}

/// Case T5: a decimal column of a log block came back all null.
#[test]
fn decimals_of_bytes_and_of_fixed_are_read_with_their_sign() {
    let max = 10i128.pow(20) - 1;
    let fixed = |v: i128| v.to_be_bytes()[7..].to_vec();
    let values = [-1, 0, max, -max];
    check(
        r#"{"type":"fixed","name":"f","size":9,"logicalType":"decimal","precision":20,"scale":2}"#,
        &values.map(fixed),
        Decimal128Array::from(values.to_vec())
            .with_precision_and_scale(20, 2)
            .unwrap(),
    );
    let values = [-100, 0, 9_999_999_999, -9_999_999_999i128];
    check(
        r#"{"type":"bytes","logicalType":"decimal","precision":10,"scale":4}"#,
        &[
            text([0x9c]),
            text([0]),
            text(9_999_999_999i64.to_be_bytes()),
            text([0xfd, 0xab, 0xf4, 0x1c, 0x01]),
        ],
        Decimal128Array::from(values.to_vec())
            .with_precision_and_scale(10, 4)
            .unwrap(),
    );
    let wide = i256::from_i128(i128::MAX).wrapping_mul(i256::from_i128(-10));
    let nullable = r#"["null",{"type":"bytes","logicalType":"decimal","precision":45,"scale":1}]"#;
    check(
        nullable,
        &[[long(1), text(wide.to_be_bytes())].concat(), long(0)],
        Decimal256Array::from(vec![Some(wide), None])
            .with_precision_and_scale(45, 1)
            .unwrap(),
    );
}

/// Case T7: any table with a map failed once a log was merged.
#[test]
fn maps_are_read_with_null_and_empty_ones_and_null_values() {
    let (a, b) = (text("a"), text("b"));
    let rows = [
        vec![0],
        vec![2, 0],
        [&[2, 4][..], &a, &[2, 2], &b, &[0, 0]].concat(),
        // Blocks of one, the second with its size in bytes.
        [&[2, 2][..], &b, &[2, 6], &[1, 8], &a, &[2, 8], &[0]].concat(),
    ];
    let keys = StringArray::from(vec!["a", "b", "b", "a"]);
    let values = Int32Array::from(vec![Some(1), None, Some(3), Some(4)]);
    let fields: Fields = vec![
        Field::new("key", DataType::Utf8, false),
        Field::new("value", DataType::Int32, true),
    ]
    .into();
    let entries = StructArray::new(fields.clone(), vec![Arc::new(keys), Arc::new(values)], None);
    let map = MapArray::new(
        Arc::new(Field::new("key_value", DataType::Struct(fields), false)),
        OffsetBuffer::new(vec![0, 0, 0, 2, 4].into()),
        entries,
        Some(NullBuffer::from(vec![false, true, true, true])),
        false,
    );
    check(
        r#"["null",{"type":"map","values":["null","int"]}]"#,
        &rows,
        map,
    );
    let structs = r#"{"type":"map","values":{"type":"record","name":"s","fields":[{"name":"x","type":"int"}]}}"#;
    let found = column(structs, &[[&[2][..], &a, &[6, 0]].concat()]);
    let value = found.as_map().value(0);
    assert_eq!(
        value
            .column(1)
            .as_struct()
            .column(0)
            .as_primitive::<Int32Type>()
            .values(),
        &[3]
    );
}

#[test]
fn lists_of_records_of_lists_are_read() {
    let avro_type = r#"{"type":"array","items":["null",{"type":"record","name":"s","fields":[
        {"name":"n","type":["null","long"]},{"name":"l","type":{"type":"array","items":"string"}}]}]}"#;
    let rows = [
        // Three items in two blocks: null, (null, []), (7, ["x", "y"]).
        [
            &[4, 0, 2, 0, 0][..],
            &[1, 20, 2, 2, 14, 4],
            &text("x"),
            &text("y"),
            &[0],
            &[0],
        ]
        .concat(),
        vec![0],
    ];
    let array = column(avro_type, &rows);
    let list = array.as_list::<i32>();
    assert_eq!(list.value_offsets(), [0, 3, 3]);
    let items = list.values().as_struct();
    assert_eq!((items.is_null(0), items.is_null(1)), (true, false));
    let numbers = items.column(0).as_primitive::<Int64Type>();
    assert_eq!(numbers.iter().collect::<Vec<_>>(), [None, None, Some(7)]);
    let inner = items.column(1).as_list::<i32>();
    assert_eq!(inner.value_offsets(), [0, 0, 0, 2]);
    assert_eq!(
        inner.value(2).as_string::<i32>(),
        &StringArray::from(vec!["x", "y"])
    );
}

/// Case V10: unions of two or more types beside null.
#[test]
fn a_union_of_several_types_is_read_as_spark_reads_it() {
    let rows = [
        [long(0), long(5)].concat(),
        [long(1)].concat(),
        [long(2), long(1 << 40)].concat(),
    ];
    check(
        r#"["int","null","long"]"#,
        &rows,
        Int64Array::from(vec![Some(5), None, Some(1 << 40)]),
    );
    let rows = [
        [long(0), 0.5f32.to_le_bytes().to_vec()].concat(),
        [long(1), 0.1f64.to_le_bytes().to_vec()].concat(),
    ];
    check(
        r#"["float","double"]"#,
        &rows,
        Float64Array::from(vec![0.5, 0.1]),
    );
    let rows = [
        [long(0), long(5)].concat(),
        vec![2],
        [long(2), text("x")].concat(),
    ];
    let members: Vec<ArrayRef> = vec![
        Arc::new(Int32Array::from(vec![Some(5), None, None])),
        Arc::new(StringArray::from(vec![None, None, Some("x")])),
    ];
    let fields = vec![
        Field::new("member0", DataType::Int32, true),
        Field::new("member1", DataType::Utf8, true),
    ];
    let expected = StructArray::new(
        fields.into(),
        members,
        Some(NullBuffer::from(vec![true, false, true])),
    );
    check(r#"["int","null","string"]"#, &rows, expected);
}

#[test]
fn a_decoder_goes_on_after_a_batch() {
    let writer = one(r#"["null","string"]"#);
    let mut decoder = RowDecoder::new(&parse_avro(&writer).unwrap(), &own(&writer)).unwrap();
    for round in 0..3 {
        for row in 0..round {
            let row = match row {
                0 => vec![0],
                _ => [long(1), text(format!("{round}"))].concat(),
            };
            decoder.push(&row).unwrap();
        }
        let batch = decoder.finish().unwrap();
        let texts: Vec<_> = batch
            .column(0)
            .as_string::<i32>()
            .iter()
            .map(|t| t.map(str::to_owned))
            .collect();
        let expected: Vec<_> = (0..round)
            .map(|row| (row > 0).then(|| round.to_string()))
            .collect();
        assert_eq!(texts, expected);
    }
}
