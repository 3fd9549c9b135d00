//! The writer's schema against the table's.

use super::*;
use crate::schema::{DEFAULT_KEY, list_type};

fn timestamp(unit: TimeUnit, zone: Option<&str>) -> DataType {
    DataType::Timestamp(unit, zone.map(Arc::from))
}

/// One column of the writer given as the table's type.
fn given(avro_type: &str, to: DataType, rows: &[Vec<u8>]) -> Result<ArrayRef, Error> {
    let batch = try_read(
        &one(avro_type),
        &schema(vec![Field::new("c", to, true)]),
        rows,
    )?;
    Ok(Arc::clone(batch.column(0)))
}

/// Case T1: 0.14.1 to 1.0 labelled milliseconds as microseconds.
#[test]
fn micros_under_a_table_of_millis_are_the_millis_they_were_mislabelled_from() {
    let micros = r#"{"type":"long","logicalType":"timestamp-micros"}"#;
    let rows = [long(1_720_631_224_939)];
    let found = given(micros, timestamp(TimeUnit::Millisecond, Some("UTC")), &rows).unwrap();
    assert_eq!(
        found.as_primitive::<TimestampMillisecondType>().values(),
        &[1_720_631_224_939]
    );
    let found = given(micros, timestamp(TimeUnit::Microsecond, Some("UTC")), &rows).unwrap();
    assert_eq!(
        found.as_primitive::<TimestampMicrosecondType>().values(),
        &[1_720_631_224_939]
    );
}

/// Case T3: local timestamps are stored as bare numbers.
#[test]
fn a_bare_number_is_a_local_timestamp_by_the_tables_type() {
    let found = given(
        r#""long""#,
        timestamp(TimeUnit::Microsecond, None),
        &[long(1_720_631_224_939_000)],
    )
    .unwrap();
    assert_eq!(
        found.as_primitive::<TimestampMicrosecondType>().values(),
        &[1_720_631_224_939_000]
    );
    let millis = r#"{"type":"long","logicalType":"local-timestamp-millis"}"#;
    let found = given(millis, timestamp(TimeUnit::Microsecond, None), &[long(5)]).unwrap();
    assert_eq!(
        found.as_primitive::<TimestampMicrosecondType>().values(),
        &[5000]
    );
}

/// Case S1: a column is added, and older blocks have none.
#[test]
fn a_column_that_the_writer_lacks_is_its_default_or_null() {
    let table = record(
        r#"{"name":"id","type":"int"},{"name":"n","type":["null","string"],"default":null},
           {"name":"d","type":"string","default":"none"},
           {"name":"s","type":{"type":"record","name":"s","fields":[{"name":"a","type":"int"},{"name":"b","type":"int","default":7}]}}"#,
    );
    let writer = record(
        r#"{"name":"s","type":{"type":"record","name":"s","fields":[{"name":"gone","type":"string"},{"name":"a","type":"int"}]}},
           {"name":"id","type":"int"}"#,
    );
    let reader = own(&table);
    assert_eq!(
        reader
            .field(2)
            .metadata()
            .get(DEFAULT_KEY)
            .map(String::as_str),
        Some("\"none\"")
    );
    let batch = try_read(&writer, &reader, &[[text("x"), long(1), long(2)].concat()]).unwrap();
    assert_eq!(batch.schema(), reader);
    assert_eq!(batch.column(0).as_primitive::<Int32Type>().values(), &[2]);
    assert!(batch.column(1).is_null(0));
    assert_eq!(batch.column(2).as_string::<i32>().value(0), "none");
    let inner = batch.column(3).as_struct();
    assert_eq!(inner.column(0).as_primitive::<Int32Type>().values(), &[1]);
    assert_eq!(inner.column(1).as_primitive::<Int32Type>().values(), &[7]);
}

/// Case S5: int to long was refused, float to double gave 1.100000023841858.
#[test]
fn numbers_are_promoted_as_spark_does() {
    let float = [1.1f32.to_le_bytes().to_vec()];
    let found = given(r#""float""#, DataType::Float64, &float).unwrap();
    assert_eq!(found.as_primitive::<Float64Type>().values(), &[1.1]);
    let found = given(r#"["null","int"]"#, DataType::Int64, &[vec![2, 6], vec![0]]).unwrap();
    assert_eq!(
        found.as_primitive::<Int64Type>(),
        &Int64Array::from(vec![Some(3), None])
    );
    let found = given(r#""long""#, DataType::Float64, &[long(3)]).unwrap();
    assert_eq!(found.as_primitive::<Float64Type>().values(), &[3.0]);
    let found = given(r#""string""#, DataType::Binary, &[text("a")]).unwrap();
    assert_eq!(found.as_binary::<i32>().value(0), b"a");
    let found = given(r#""bytes""#, DataType::Utf8, &[text("a")]).unwrap();
    assert_eq!(found.as_string::<i32>().value(0), "a");
    let decimal = r#"{"type":"bytes","logicalType":"decimal","precision":4,"scale":1}"#;
    let found = given(decimal, DataType::Decimal128(10, 3), &[text([0xff])]).unwrap();
    assert_eq!(found.as_primitive::<Decimal128Type>().values(), &[-100]);
}

#[test]
fn a_change_that_spark_does_not_make_is_refused_by_field() {
    let error = given(r#""boolean""#, DataType::Utf8, &[vec![1]]).unwrap_err();
    assert_eq!(
        (error.kind(), error.get("field")),
        (ErrorKind::Schema, Some("c"))
    );
    let nested = record(
        r#"{"name":"c","type":{"type":"record","name":"s","fields":[{"name":"x","type":"long"}]}}"#,
    );
    let inner = DataType::Struct(vec![Field::new("x", DataType::Int32, true)].into());
    let error = try_read(&nested, &schema(vec![Field::new("c", inner, true)]), &[]).unwrap_err();
    assert_eq!(
        (error.kind(), error.get("field")),
        (ErrorKind::Schema, Some("c.x"))
    );
    let error = try_read(
        &one(r#""int""#),
        &schema(vec![Field::new("d", DataType::Int32, false)]),
        &[],
    )
    .unwrap_err();
    assert_eq!(
        (error.kind(), error.get("field")),
        (ErrorKind::Schema, Some("d"))
    );
    let error = RowDecoder::new(&parse_avro(r#""int""#).unwrap(), &schema(vec![]))
        .err()
        .unwrap();
    assert_eq!(error.kind(), ErrorKind::Schema);
}

#[test]
fn unwanted_fields_of_every_type_are_passed_over() {
    let writer = record(
        r#"{"name":"a","type":["null","string"]},{"name":"f","type":"float"},{"name":"b","type":"boolean"},
           {"name":"m","type":{"type":"map","values":["long","null"]}},
           {"name":"l","type":{"type":"array","items":{"type":"record","name":"s","fields":[{"name":"x","type":"double"},{"name":"y","type":"bytes"}]}}},
           {"name":"e","type":{"type":"enum","name":"e","symbols":["p"]}},{"name":"z","type":{"type":"fixed","name":"z","size":3}},
           {"name":"wanted","type":"int"},{"name":"nulls","type":{"type":"array","items":"null"}},{"name":"after","type":"string"}"#,
    );
    let row = [
        [long(1), text("abc")].concat(),
        vec![0; 5],
        [
            long(2),
            text("k"),
            long(0),
            long(1 << 50),
            text("n"),
            long(1),
            long(0),
        ]
        .concat(),
        // One item with its block's size in bytes, one without.
        [
            long(-1),
            long(10),
            vec![9; 8],
            text("q"),
            long(1),
            vec![9; 8],
            text(""),
            long(0),
        ]
        .concat(),
        [
            long(0),
            vec![1, 2, 3],
            long(42),
            long(-5),
            long(0),
            long(0),
            text("tail"),
        ]
        .concat(),
    ]
    .concat();
    let reader = schema(vec![Field::new("wanted", DataType::Int32, true)]);
    let mut decoder = RowDecoder::new(&parse_avro(&writer).unwrap(), &reader).unwrap();
    let end = decoder.push(&row).unwrap();
    assert!(row[..end].ends_with(&long(42)) && row.len() - end == 3 + text("tail").len());
    assert_eq!(
        decoder
            .finish()
            .unwrap()
            .column(0)
            .as_primitive::<Int32Type>()
            .values(),
        &[42]
    );
    let all = try_read(&writer, &own(&writer), &[row]).unwrap();
    assert_eq!(all.column(9).as_string::<i32>().value(0), "tail");
    assert_eq!(all.column(8).as_list::<i32>().value(0).len(), 5);
}

#[test]
fn rows_are_counted_without_columns() {
    let batch = try_read(&one(r#""int""#), &schema(vec![]), &[long(1), long(2)]).unwrap();
    assert_eq!((batch.num_rows(), batch.num_columns()), (2, 0));
}

#[test]
fn fields_are_found_by_the_names_they_had() {
    use crate::schema::{FileName, FileNames};
    let named = |name: Option<&str>, inner| FileName {
        name: name.map(str::to_owned),
        inner,
    };
    let writer = record(
        r#"{"name":"name","type":"string"},{"name":"gone","type":"string"},{"name":"l","type":{"type":"array","items":
            {"type":"record","name":"s","fields":[{"name":"skipped","type":"int"},{"name":"old","type":"int"}]}}}"#,
    );
    let inner = DataType::Struct(vec![Field::new("new", DataType::Int64, true)].into());
    let reader = schema(vec![
        Field::new("gone", DataType::Utf8, true),
        Field::new("l", list_type(Field::new("element", inner, false)), true),
        Field::new("title", DataType::Utf8, true),
    ]);
    let element = FileNames::new([("new".to_owned(), named(Some("old"), FileNames::SAME))].into());
    let list = FileNames::new([("element".to_owned(), named(Some("element"), element))].into());
    let names = FileNames::new(
        [
            ("gone".to_owned(), named(None, FileNames::SAME)),
            ("title".to_owned(), named(Some("name"), FileNames::SAME)),
            ("l".to_owned(), named(Some("l"), list)),
        ]
        .into(),
    );
    let mut decoder =
        RowDecoder::with_names(&parse_avro(&writer).unwrap(), &reader, &names).unwrap();
    decoder
        .push(
            &[
                text("a"),
                text("old value"),
                long(1),
                long(5),
                long(6),
                long(0),
            ]
            .concat(),
        )
        .unwrap();
    let batch = decoder.finish().unwrap();
    assert_eq!(batch.schema(), reader);
    assert!(batch.column(0).is_null(0));
    assert_eq!(batch.column(2).as_string::<i32>().value(0), "a");
    let element = batch.column(1).as_list::<i32>().value(0);
    assert_eq!(
        element
            .as_struct()
            .column(0)
            .as_primitive::<Int64Type>()
            .values(),
        &[6]
    );
}

#[test]
fn a_vector_is_a_list_of_its_numbers() {
    let vector = |size: usize, dimension: i32, element: &str| {
        format!(
            r#"["null",{{"type":"fixed","name":"v","namespace":"","size":{size},"logicalType":"vector","dimension":{dimension},"elementType":"{element}","storageBacking":"FIXED_BYTES"}}]"#
        )
    };
    // As Hudi 1.2 wrote [0.5, 2.5, -1.0].
    let bytes = [0, 0, 0, 0x3f, 0, 0, 0x20, 0x40, 0, 0, 0x80, 0xbf];
    let row = [&[2][..], &bytes].concat();
    let found = column(&vector(12, 3, "FLOAT"), &[row, vec![0]]);
    let lists = found.as_fixed_size_list();
    assert_eq!((lists.value_length(), lists.is_null(1)), (3, true));
    assert_eq!(
        lists.value(0).as_primitive::<Float32Type>().values(),
        &[0.5, 2.5, -1.0]
    );
    let found = column(&vector(2, 2, "INT8"), &[vec![2, 0xff, 0x80]]);
    assert_eq!(
        found
            .as_fixed_size_list()
            .value(0)
            .as_primitive::<Int8Type>()
            .values(),
        &[-1, -128]
    );
    let doubles = [
        vec![2],
        0.1f64.to_le_bytes().to_vec(),
        1e300f64.to_le_bytes().to_vec(),
    ]
    .concat();
    let found = column(&vector(16, 2, "DOUBLE"), &[doubles]);
    assert_eq!(
        found
            .as_fixed_size_list()
            .value(0)
            .as_primitive::<Float64Type>()
            .values(),
        &[0.1, 1e300]
    );
    // What does not add up is the bytes that it is.
    let odd = column(
        &vector(13, 3, "FLOAT"),
        &[[&[2][..], &bytes, &[7]].concat()],
    );
    assert_eq!(odd.as_fixed_size_binary().value(0)[12], 7);
}
