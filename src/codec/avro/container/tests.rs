use serde_json::json;

use super::*;

const SYNC: [u8; 16] = *b"0123456789abcdef";

fn long(value: usize) -> Vec<u8> {
    let (mut rest, mut bytes) = (value << 1, Vec::new());
    while rest > 0x7f {
        bytes.push(u8::try_from(rest & 0x7f).unwrap() | 0x80);
        rest >>= 7;
    }
    bytes.push(u8::try_from(rest).unwrap());
    bytes
}

fn prefixed(bytes: &[u8]) -> Vec<u8> {
    [long(bytes.len()), bytes.to_vec()].concat()
}

/// A file by the layout drawn at [`Container`].
fn file(schema: &str, extra: &[(&str, &str)], count: usize, body: &[u8]) -> Vec<u8> {
    let mut bytes = MAGIC.to_vec();
    bytes.extend(long(1 + extra.len()));
    for (key, value) in extra.iter().chain([&("avro.schema", schema)]) {
        bytes.extend(prefixed(key.as_bytes()));
        bytes.extend(prefixed(value.as_bytes()));
    }
    bytes.push(0);
    bytes.extend(SYNC);
    bytes.extend(long(count));
    bytes.extend(prefixed(body));
    bytes.extend(SYNC);
    bytes
}

#[test]
fn every_type_becomes_json_and_unions_are_unwrapped() {
    let check = |schema: &str, body: &[u8], expected: Value| {
        let found = Container::read_one(&file(schema, &[], 1, body)).unwrap();
        assert_eq!(found, expected, "{schema}");
    };
    check(r#""int""#, &[0x01], json!(-1));
    check(r#"{"type":"long"}"#, &[0x80, 0x01], json!(64));
    check(r#""float""#, &1.5f32.to_le_bytes(), json!(1.5));
    check(r#""double""#, &f64::NAN.to_le_bytes(), Value::Null);
    check(
        r#"{"type":"string","avro.java.string":"String"}"#,
        b"\x06abc",
        json!("abc"),
    );
    check(r#""bytes""#, b"\x02\xe9", json!("é"));
    check(
        r#"{"type":"fixed","name":"f","size":2}"#,
        b"ab",
        json!("ab"),
    );
    check(
        r#"{"type":"enum","name":"e","symbols":["x","y"]}"#,
        &[0x02],
        json!("y"),
    );
    check(r#"["null","boolean"]"#, &[0x02, 0x01], json!(true));
    check(
        r#"{"type":"array","items":"int"}"#,
        &[0x03, 0x04, 0x02, 0x04, 0x02, 0x06, 0x00],
        json!([1, 2, 3]),
    );
    check(
        r#"{"type":"map","values":["null","int"]}"#,
        b"\x02\x02k\x02\x0a\x00",
        json!({"k": 5}),
    );
    check(
        r#"{"type":"record","name":"a.R","fields":[{"name":"v","type":"int"},{"name":"next","type":["null","R"]}]}"#,
        &[0x02, 0x02, 0x04, 0x00],
        json!({"v": 1, "next": {"v": 2, "next": null}}),
    );
}

#[test]
fn codecs_are_refused_by_name_but_null_is_none() {
    let read = |codec| Container::read_one(&file(r#""int""#, &[("avro.codec", codec)], 1, &[0x02]));
    assert_eq!(read("null").unwrap(), json!(1));
    let error = read("deflate").unwrap_err();
    assert_eq!(
        (error.kind().code(), error.get("codec")),
        ("UNSUPPORTED", Some("deflate"))
    );
}

#[test]
fn hostile_schemas_and_counts_end_in_bounded_errors() {
    let check = |schema: &str, count: usize, body: &[u8]| {
        let error = Container::read_one(&file(schema, &[], count, body)).unwrap_err();
        assert_eq!(error.kind().code(), "CORRUPT", "{schema}");
    };
    let huge = [0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01];
    check(r#"{"type":"array","items":"null"}"#, 1, &huge);
    check(r#"{"type":"array","items":"long"}"#, 1, &huge);
    check(r#"{"type":"map","values":"null"}"#, 1, &huge);
    check(
        r#"{"type":"record","name":"R","fields":[{"name":"r","type":"R"}]}"#,
        1,
        &[0],
    );
    check(
        r#"{"type":"fixed","name":"f","size":9223372036854775807}"#,
        1,
        &[0],
    );
    check(r#""string""#, 1, &huge);
    check(r#""null""#, 1 << 30, &[]);
    check(r#""int""#, 1, &[0x02, 0x02]);
    check(r#""int""#, 2, &[0x02, 0x02]);
    check(r#""int""#, 0, &[]);
    check(&"[".repeat(100_000), 1, &[0]);
    check(r#"{"type":"record","name":"R"}"#, 1, &[0]);
    check(r#""nobody""#, 1, &[0]);
    let many_nulls = [0x80, 0x89, 0x7a, 0x00].repeat(1000);
    check(r#"{"type":"array","items":"null"}"#, 1000, &many_nulls);
    let long_name = format!(
        r#"{{"type":"record","name":"R","fields":[{{"name":"{}","type":"int"}}]}}"#,
        "n".repeat(100_000)
    );
    check(&long_name, 100_000, &[0x02].repeat(100_000));
}

#[cfg(not(target_arch = "wasm32"))]
#[test]
fn flipped_bytes_of_real_files_end_well_and_cuts_are_corrupt() {
    let files = crate::support::files("v9_cow_overwrite").into_iter();
    let files =
        files.filter(|(path, bytes)| path.starts_with(".hoodie/timeline/") && is_container(bytes));
    for (path, whole) in files {
        Container::read_one(&whole).unwrap();
        for at in (0..whole.len()).step_by(7) {
            let mut flipped = whole.clone();
            flipped[at] ^= 1 << (at % 8);
            if let Err(error) = Container::read_one(&flipped) {
                assert!(
                    ["CORRUPT", "UNSUPPORTED"].contains(&error.kind().code()),
                    "{path} at {at}"
                );
            }
            let error = Container::read_one(&whole[..at]).unwrap_err();
            assert_eq!(error.kind().code(), "CORRUPT", "{path} cut to {at}");
            assert!(error.get("offset").is_some(), "{path} cut to {at}: {error}");
        }
    }
}
