use std::sync::Arc;

use arrow::datatypes::{DataType, Field, TimeUnit};

use super::*;
use crate::error::ErrorKind;
use crate::schema::{parse_avro, type_name};

fn record(fields: &str) -> String {
    format!(r#"{{"type":"record","name":"r","fields":[{fields}]}}"#)
}

fn field(avro_type: &str) -> Result<Field> {
    let json = record(&format!(r#"{{"name":"c","type":{avro_type}}}"#));
    Ok(to_arrow(&parse_avro(&json)?)?.field(0).clone())
}

fn check(avro_type: &str, expected: &str) {
    assert_eq!(
        type_name(field(avro_type).unwrap().data_type()),
        expected,
        "{avro_type}"
    );
}

#[test]
fn stored_types_have_arrow_types() {
    check(r#""null""#, "Null");
    check(r#""boolean""#, "Boolean");
    check(r#""int""#, "Int32");
    check(r#""long""#, "Int64");
    check(r#""float""#, "Float32");
    check(r#""double""#, "Float64");
    check(r#""string""#, "Utf8");
    check(r#""bytes""#, "Binary");
    check(r#"{"type":"string","avro.java.string":"String"}"#, "Utf8");
    check(r#"{"type":{"type":"string"}}"#, "Utf8");
    check(
        r#"{"type":"fixed","name":"f","size":7}"#,
        "FixedSizeBinary<7>",
    );
    check(r#"{"type":"enum","name":"e","symbols":["A","B"]}"#, "Utf8");
    check(r#"{"type":"array","items":["null","int"]}"#, "List<Int32>");
    check(r#"{"type":"map","values":"long"}"#, "Map<Utf8, Int64>");
    check(
        r#"{"type":"record","name":"s","fields":[{"name":"a","type":"int"}]}"#,
        "Struct<a: Int32>",
    );
}

#[test]
fn logical_types_have_arrow_types() {
    let fixed = |size: u32, p: u32, s: u32| {
        format!(
            r#"{{"type":"fixed","name":"f","size":{size},"logicalType":"decimal","precision":{p},"scale":{s}}}"#
        )
    };
    check(&fixed(4, 9, 2), "Decimal128<9, 2>");
    check(&fixed(16, 38, 10), "Decimal128<38, 10>");
    check(&fixed(17, 39, 10), "Decimal256<39, 10>");
    check(
        r#"{"type":"bytes","logicalType":"decimal","precision":5,"scale":1}"#,
        "Decimal128<5, 1>",
    );
    check(r#"{"type":"string","logicalType":"uuid"}"#, "Utf8");
    check(r#"{"type":"int","logicalType":"date"}"#, "Date32");
    check(
        r#"{"type":"int","logicalType":"time-millis"}"#,
        "Time32<Millisecond>",
    );
    check(
        r#"{"type":"long","logicalType":"time-micros"}"#,
        "Time64<Microsecond>",
    );
    check(
        r#"{"type":"long","logicalType":"timestamp-millis"}"#,
        "Timestamp<Millisecond, UTC>",
    );
    check(
        r#"{"type":"long","logicalType":"timestamp-micros"}"#,
        "Timestamp<Microsecond, UTC>",
    );
    check(
        r#"{"type":"long","logicalType":"local-timestamp-millis"}"#,
        "Timestamp<Millisecond>",
    );
    check(
        r#"{"type":"long","logicalType":"local-timestamp-micros"}"#,
        "Timestamp<Microsecond>",
    );
}

#[test]
fn a_union_with_null_is_nullable_in_either_order() {
    for (union, nullable) in [
        (r#"["null","int"]"#, true),
        (r#"["int","null"]"#, true),
        (r#"["int"]"#, false),
        (r#""int""#, false),
    ] {
        let field = field(union).unwrap();
        assert_eq!(
            (field.data_type(), field.is_nullable()),
            (&DataType::Int32, nullable),
            "{union}"
        );
    }
    assert!(field(r#"["null"]"#).unwrap().is_nullable());
}

#[test]
fn a_union_of_several_types_is_what_spark_makes_of_it() {
    let check = |union: &str, expected: DataType, nullable: bool| {
        let field = field(union).unwrap();
        assert_eq!(
            (field.data_type(), field.is_nullable()),
            (&expected, nullable),
            "{union}"
        );
    };
    check(r#"["int","long"]"#, DataType::Int64, false);
    check(r#"["long","null","int"]"#, DataType::Int64, true);
    check(r#"["null","double","float"]"#, DataType::Float64, true);
    let member = |name: &str, kind| Field::new(name, kind, true);
    let members = vec![
        member("member0", DataType::Int32),
        member("member1", DataType::Utf8),
    ];
    check(
        r#"["int","null","string"]"#,
        DataType::Struct(members.into()),
        true,
    );
}

#[test]
fn a_union_in_a_union_is_refused_by_the_path_of_its_column() {
    for (avro_type, path) in [
        (r#"["null",[ "null", "int" ]]"#, "c"),
        (r#"["int",[ "null", "string" ]]"#, "c"),
        (
            r#"{"type":"record","name":"s","fields":[{"name":"ok","type":"int"},{"name":"bad","type":[["int"]]}]}"#,
            "c.bad",
        ),
    ] {
        let error = field(avro_type).unwrap_err();
        assert_eq!(
            (error.kind(), error.get("field")),
            (ErrorKind::Unsupported, Some(path)),
            "{avro_type}"
        );
    }
}

#[test]
fn nested_nullability_and_names_are_kept() {
    let element = |nullable| Arc::new(Field::new("element", DataType::Int32, nullable));
    assert_eq!(
        field(r#"{"type":"array","items":["null","int"]}"#)
            .unwrap()
            .data_type(),
        &DataType::List(element(true))
    );
    assert_eq!(
        field(r#"{"type":"array","items":"int"}"#)
            .unwrap()
            .data_type(),
        &DataType::List(element(false))
    );
    let entries = |value: Field| {
        let fields = vec![Field::new("key", DataType::Utf8, false), value];
        DataType::Map(
            Arc::new(Field::new(
                "key_value",
                DataType::Struct(fields.into()),
                false,
            )),
            false,
        )
    };
    let map =
        field(r#"{"type":"map","values":["null",{"type":"int","logicalType":"date"}]}"#).unwrap();
    assert_eq!(
        map.data_type(),
        &entries(Field::new("value", DataType::Date32, true))
    );
}

#[test]
fn what_arrow_has_no_word_for_is_metadata() {
    let json = record(
        r#"{"name":"a","type":"int","doc":"how many","default":3},
           {"name":"b","type":["null","int"],"doc":"","default":null},
           {"name":"v","type":["null",{"type":"fixed","name":"v","size":12,"logicalType":"vector"}]}"#,
    );
    let schema = to_arrow(&parse_avro(&json).unwrap()).unwrap();
    let a = schema.field(0).metadata();
    assert_eq!(
        (
            a.get(DOC_KEY).map(String::as_str),
            a.get(DEFAULT_KEY).map(String::as_str)
        ),
        (Some("how many"), Some("3"))
    );
    assert!(schema.field(1).metadata().is_empty());
    assert_eq!(
        schema
            .field(2)
            .metadata()
            .get(LOGICAL_TYPE_KEY)
            .map(String::as_str),
        Some("vector")
    );
    assert_eq!(schema.field(2).data_type(), &DataType::FixedSizeBinary(12));
}

#[test]
fn a_schema_that_doubles_at_each_level_is_refused() {
    let mut json = String::from(
        r#"{"name":"l0","type":{"type":"record","name":"l0","fields":[{"name":"x","type":"int"}]}}"#,
    );
    for level in 1..40 {
        let below = level - 1;
        json += &format!(
            r#",{{"name":"l{level}","type":{{"type":"record","name":"l{level}","fields":[{{"name":"a","type":"l{below}"}},{{"name":"b","type":"l{below}"}}]}}}}"#
        );
    }
    let error = to_arrow(&parse_avro(&record(&json)).unwrap()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
}

#[test]
fn only_a_record_is_a_table_schema() {
    assert_eq!(
        to_arrow(&parse_avro(r#""int""#).unwrap())
            .unwrap_err()
            .kind(),
        ErrorKind::Schema
    );
}

#[test]
fn units_of_timestamps_keep_their_zone() {
    let nanos = field(r#"{"type":"long","logicalType":"timestamp-nanos"}"#).unwrap();
    assert_eq!(
        nanos.data_type(),
        &DataType::Timestamp(TimeUnit::Nanosecond, Some("UTC".into()))
    );
}
