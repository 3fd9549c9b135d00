use super::*;
use crate::error::ErrorKind;

fn refused(json: &str, kind: ErrorKind) -> Error {
    let error = parse_avro(json).unwrap_err();
    assert_eq!(error.kind(), kind, "{json}: {error}");
    error
}

fn record(fields: &str) -> String {
    format!(r#"{{"type":"record","name":"r","namespace":"n.s","fields":[{fields}]}}"#)
}

fn field(json: &str, at: usize) -> AvroSchema {
    parse_avro(&record(json))
        .unwrap()
        .as_record()
        .unwrap()
        .fields[at]
        .schema
        .clone()
}

#[test]
fn a_name_is_found_by_its_short_and_its_full_form() {
    let first = r#"{"name":"a","type":{"type":"fixed","name":"f","size":3}}"#;
    for name in ["f", "n.s.f"] {
        let json = format!(r#"{first},{{"name":"b","type":"{name}"}}"#);
        assert_eq!(field(&json, 1), field(&json, 0), "{name}");
    }
    let json = format!(r#"{first},{{"name":"b","type":"other.f"}}"#);
    assert_eq!(
        refused(&record(&json), ErrorKind::Schema).get("type"),
        Some("other.f")
    );
}

#[test]
fn a_name_lies_in_the_namespace_of_the_record_around_it() {
    let json = r#"{"name":"a","type":{"type":"record","name":"inner","namespace":"x","fields":[
        {"name":"e","type":{"type":"enum","name":"e","symbols":["A"]}}]}},{"name":"b","type":"x.e"}"#;
    assert!(matches!(field(json, 1).kind, AvroKind::Enum(e) if e.name == "x.e"));
}

#[test]
fn a_type_that_contains_itself_is_refused() {
    let json = record(r#"{"name":"next","type":["null","r"]}"#);
    let error = refused(&json, ErrorKind::Unsupported);
    assert_eq!(
        (error.get("type"), error.get("field")),
        (Some("n.s.r"), Some("next"))
    );
}

#[test]
fn nesting_without_end_is_refused() {
    let deep = format!(
        "{}\"int\"{}",
        r#"{"type":"array","items":"#.repeat(70),
        "}".repeat(70)
    );
    refused(&deep, ErrorKind::Unsupported);
    let deeper = format!("{}\"int\"{}", "[".repeat(100_000), "]".repeat(100_000));
    refused(&deeper, ErrorKind::Schema);
}

#[test]
fn annotations_that_do_not_fit_are_dropped() {
    for (json, expected) in [
        (
            r#"{"type":"long","logicalType":"timestamp-micros"}"#,
            Some(LogicalType::TimestampMicros),
        ),
        (r#"{"type":"int","logicalType":"timestamp-micros"}"#, None),
        (
            r#"{"type":"fixed","name":"f","size":5,"logicalType":"decimal","precision":10,"scale":2}"#,
            Some(LogicalType::Decimal {
                precision: 10,
                scale: 2,
            }),
        ),
        (
            r#"{"type":"fixed","name":"f","size":16,"logicalType":"decimal","precision":38,"scale":38}"#,
            Some(LogicalType::Decimal {
                precision: 38,
                scale: 38,
            }),
        ),
        (
            r#"{"type":"bytes","logicalType":"decimal","precision":76}"#,
            Some(LogicalType::Decimal {
                precision: 76,
                scale: 0,
            }),
        ),
        (
            r#"{"type":"fixed","name":"f","size":4,"logicalType":"decimal","precision":10,"scale":2}"#,
            None,
        ),
        (
            r#"{"type":"bytes","logicalType":"decimal","precision":5,"scale":6}"#,
            None,
        ),
        (
            r#"{"type":"bytes","logicalType":"decimal","precision":0}"#,
            None,
        ),
        (r#"{"type":"bytes","logicalType":"decimal"}"#, None),
        (r#"{"type":"bytes","logicalType":"vector"}"#, None),
    ] {
        assert_eq!(parse_avro(json).unwrap().logical, expected, "{json}");
    }
    let vector = parse_avro(r#"{"type":"bytes","logicalType":"vector"}"#).unwrap();
    assert_eq!(vector.other_logical.as_deref(), Some("vector"));
}

#[test]
fn every_cut_of_a_schema_is_an_error() {
    let json = record(
        r#"{"name":"a","type":["null",{"type":"map","values":"long"}],"default":null},{"name":"é","type":"string"}"#,
    );
    assert!(parse_avro(&json).is_ok());
    for end in (0..json.len()).filter(|end| json.is_char_boundary(*end)) {
        refused(&json[..end], ErrorKind::Schema);
    }
}

#[test]
fn what_is_no_schema_is_refused() {
    for json in [
        "1",
        "[]",
        "{}",
        r#""unknown""#,
        r#"{"type":"record","name":"r"}"#,
        r#"{"type":"record","fields":[]}"#,
        r#"{"type":"array"}"#,
        r#"{"type":"map"}"#,
        r#"{"type":"enum","name":"e","symbols":[]}"#,
        r#"{"type":"fixed","name":"f","size":-1}"#,
        r#"{"type":"fixed","name":"f","size":4294967296}"#,
        r#"{"type":"record","name":"r","fields":[{"type":"int"}]}"#,
        r#"{"type":"record","name":"r","fields":[{"name":"a"}]}"#,
        r#"{"type":"record","name":"r","fields":[{"name":"a","type":"int"},{"name":"a","type":"int"}]}"#,
    ] {
        refused(json, ErrorKind::Schema);
    }
}
