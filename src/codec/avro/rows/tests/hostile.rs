//! Bytes that are no rows.

use super::*;

fn refused(avro_type: &str, row: &[u8], kind: ErrorKind) {
    let writer = one(avro_type);
    let error = try_read(&writer, &own(&writer), &[row.to_vec()]).unwrap_err();
    assert_eq!(
        (error.kind(), error.get("field")),
        (kind, Some("c")),
        "{avro_type} {row:?}"
    );
}

#[test]
fn values_that_are_none_are_corrupt_and_name_their_field() {
    let corrupt = |avro_type: &str, row: &[u8]| refused(avro_type, row, ErrorKind::Corrupt);
    corrupt(r#""boolean""#, &[2]);
    corrupt(r#""int""#, &long(1 << 31));
    corrupt(r#""long""#, &[0xff; 11]);
    corrupt(r#""float""#, &[0; 3]);
    corrupt(r#""string""#, &[0x02, 0xff]);
    corrupt(r#""string""#, &long(1 << 62));
    corrupt(r#""string""#, &long(-1));
    corrupt(r#"["null","int"]"#, &[4, 0]);
    corrupt(r#"["null","int"]"#, &[1]);
    corrupt(r#"["int"]"#, &[2]);
    corrupt(r#"["int","null","string"]"#, &[6]);
    corrupt(r#"{"type":"enum","name":"e","symbols":["x"]}"#, &[2]);
    corrupt(r#"{"type":"enum","name":"e","symbols":["x"]}"#, &[1]);
    corrupt(r#"{"type":"map","values":"int"}"#, &[2, 2, 0xff, 2, 0]);
    corrupt(
        r#"{"type":"bytes","logicalType":"decimal","precision":4}"#,
        &text([]),
    );
    corrupt(
        r#"{"type":"bytes","logicalType":"decimal","precision":4}"#,
        &text([1; 17]),
    );
    corrupt(r#"{"type":"array","items":"int"}"#, &long(1 << 62));
    corrupt(r#"{"type":"array","items":"int"}"#, &[1, 40, 2]);
}

#[test]
fn items_without_bytes_are_bounded_by_the_row() {
    let empty = r#"{"type":"record","name":"e","fields":[]}"#;
    for items in [
        r#""null""#,
        empty,
        r#"{"type":"fixed","name":"f","size":0}"#,
    ] {
        let array = format!(r#"{{"type":"array","items":{items}}}"#);
        refused(
            &array,
            &[long(1 << 40), long(0)].concat(),
            ErrorKind::Corrupt,
        );
        let few = column(&array, &[[long(1000), long(0)].concat()]);
        assert_eq!(few.as_list::<i32>().value_length(0), 1000);
        // Passed over they cost nothing, so they need no bound.
        let writer = record(&format!(
            r#"{{"name":"c","type":{array}}},{{"name":"d","type":"int"}}"#
        ));
        let reader = schema(vec![Field::new("d", DataType::Int32, false)]);
        let rows = [[long(i64::MAX), long(0), long(5)].concat()];
        assert_eq!(
            try_read(&writer, &reader, &rows)
                .unwrap()
                .column(0)
                .as_primitive::<Int32Type>()
                .values(),
            &[5]
        );
    }
}

#[test]
fn nulls_of_wide_types_are_bounded_by_the_batch() {
    let wide = r#"["null",{"type":"fixed","name":"f","size":100000000}]"#;
    let writer = one(wide);
    let mut decoder = RowDecoder::new(&parse_avro(&writer).unwrap(), &own(&writer)).unwrap();
    let mut pushed = 0;
    let error = loop {
        match decoder.push(&[0]) {
            Ok(_) => pushed += 1,
            Err(error) => break error,
        }
    };
    assert_eq!(
        (pushed, error.kind(), error.get("field")),
        (2, ErrorKind::LimitExceeded, Some("c"))
    );
}

#[test]
fn a_decoder_gives_nothing_after_a_row_that_is_none() {
    let writer = record(r#"{"name":"a","type":"int"},{"name":"b","type":"int"}"#);
    let mut decoder = RowDecoder::new(&parse_avro(&writer).unwrap(), &own(&writer)).unwrap();
    decoder.push(&[2, 2]).unwrap();
    let error = decoder.push(&[2]).unwrap_err();
    assert_eq!(
        (error.kind(), error.get("field"), error.get("offset")),
        (ErrorKind::Corrupt, Some("b"), Some("1"))
    );
    assert!(decoder.push(&[2, 2]).is_err());
    assert!(decoder.finish().is_err());
}

#[test]
fn a_schema_that_doubles_each_level_is_refused() {
    let mut inner = r#""int""#.to_owned();
    for level in 0..40 {
        inner = format!(
            r#"{{"type":"record","name":"r{level}","fields":[{{"name":"a","type":{inner}}},{{"name":"b","type":"{}"}}]}}"#,
            if level == 0 {
                "int".to_owned()
            } else {
                format!("r{}", level - 1)
            },
        );
    }
    let writer = parse_avro(&inner).unwrap();
    let wanted = |name: &str| schema(vec![Field::new(name, DataType::Int32, true)]);
    for reader in [wanted("a"), wanted("b"), wanted("other")] {
        let error = RowDecoder::new(&writer, &reader).err().unwrap();
        assert_eq!(error.kind(), ErrorKind::Unsupported);
    }
}
