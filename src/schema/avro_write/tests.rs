use super::*;
#[cfg(not(target_arch = "wasm32"))]
use crate::schema::{parse_avro, to_arrow};

#[cfg(not(target_arch = "wasm32"))]
#[test]
fn the_schemas_of_sparks_data_frames_are_written_again_in_the_same_text() {
    use crate::timeline::payload::{CommitMetadata, parse, typed};
    let mut count = 0;
    for table in [
        "v9_cow_all_types",
        "v9_cow_simple",
        "v8_mor_parts",
        "v9_mor_all_types",
    ] {
        for (path, bytes) in crate::support::files(table) {
            let commit = path.ends_with("commit") && path.starts_with(".hoodie/timeline/2");
            if !commit || bytes.is_empty() {
                continue;
            }
            let body: CommitMetadata = typed(parse(&bytes).unwrap().unwrap()).unwrap();
            let text = body.schema().unwrap();
            let arrow = to_arrow(&parse_avro(text).unwrap()).unwrap();
            assert_eq!(from_arrow(&arrow, table).unwrap(), text, "{table}");
            count += 1;
        }
    }
    assert!(count > 6, "{count}");
}

#[test]
fn decimals_take_the_bytes_that_spark_gives_them() {
    // Spark's table of bytes by precision; 9, 18 and 38 are in the fixtures.
    let expected = [
        (1, 1),
        (2, 1),
        (3, 2),
        (9, 4),
        (10, 5),
        (15, 7),
        (18, 8),
        (38, 16),
    ];
    for (precision, bytes) in expected {
        assert_eq!(decimal_bytes(precision), bytes, "{precision}");
    }
}

#[test]
fn what_avro_cannot_hold_is_refused_and_named() {
    let check = |fields: Vec<Field>, field: &str| {
        let error = from_arrow(&Schema::new(fields), "t").unwrap_err();
        assert_eq!(error.kind().code(), "SCHEMA");
        assert_eq!(error.get("field"), Some(field));
    };
    let int = |name: &str| Field::new(name, DataType::Int32, true);
    check(vec![int("a-b")], "a-b");
    check(vec![int("1a")], "1a");
    check(vec![int("größe")], "größe");
    check(vec![int("")], "");
    check(vec![int("a"), int("A")], "A");
    check(vec![int("_hoodie_record_key")], "_hoodie_record_key");
    check(vec![Field::new("u", DataType::UInt64, true)], "u");
    let nanos = DataType::Timestamp(TimeUnit::Nanosecond, None);
    check(vec![Field::new("t", nanos, true)], "t");
    check(
        vec![Field::new("d", DataType::Decimal256(40, 2), true)],
        "d",
    );
    let inner = DataType::Struct(vec![int("x y")].into());
    check(vec![Field::new("s", inner, true)], "x y");
    check(vec![], "");
}

#[test]
fn the_tables_name_is_made_fit() {
    let schema = Schema::new(vec![Field::new("a", DataType::Utf8, false)]);
    assert_eq!(
        from_arrow(&schema, "1my-table").unwrap(),
        r#"{"type":"record","name":"__my__table_record","namespace":"hoodie.__my__table","fields":[{"name":"a","type":"string"}]}"#
    );
}
