use serde_json::json;

use super::super::read_datum;
#[cfg(not(target_arch = "wasm32"))]
use super::super::{Container, is_container};
use super::*;

fn wire(schema: &Value) -> WireSchema {
    WireSchema::parse(schema.to_string().as_bytes()).unwrap()
}

fn encoded(schema: &Value, value: &Value) -> Result<Vec<u8>> {
    let mut out = Vec::new();
    write_datum(&wire(schema), value, &mut out).map(|()| out)
}

#[test]
fn every_type_has_the_bytes_of_the_specification() {
    let check = |schema: Value, value: Value, expected: &[u8]| {
        assert_eq!(encoded(&schema, &value).unwrap(), expected, "{schema}");
    };
    check(json!("null"), Value::Null, &[]);
    check(json!("boolean"), json!(true), &[1]);
    check(json!("int"), json!(-1), &[1]);
    check(json!("long"), json!(64), &[0x80, 1]);
    check(
        json!("long"),
        json!(i64::MIN),
        &[[0xff; 9].as_slice(), &[1]].concat(),
    );
    check(json!("float"), json!(1.5), &1.5f32.to_le_bytes());
    check(json!("double"), json!(-2), &(-2f64).to_le_bytes());
    check(json!("string"), json!("é"), b"\x04\xc3\xa9");
    check(json!("bytes"), json!("é"), b"\x02\xe9");
    check(
        json!({"type": "fixed", "name": "f", "size": 2}),
        json!("ab"),
        b"ab",
    );
    let symbols = json!({"type": "enum", "name": "e", "symbols": ["x", "y"]});
    check(symbols, json!("y"), &[2]);
    check(json!(["null", "long"]), json!(5), &[2, 10]);
    check(json!(["int", "null"]), Value::Null, &[2]);
    check(
        json!({"type": "array", "items": "int"}),
        json!([1, 2]),
        &[4, 2, 4, 0],
    );
    check(json!({"type": "array", "items": "int"}), json!([]), &[0]);
    check(
        json!({"type": "map", "values": "int"}),
        json!({"k": 5}),
        b"\x02\x02k\x0a\x00",
    );
    check(json!({"type": "map", "values": "int"}), json!({}), &[0]);
    let record = json!({"type": "record", "name": "r", "fields": [
        {"name": "a", "type": "int"}, {"name": "b", "type": ["null", "string"]}]});
    check(record, json!({"a": 1}), &[2, 0]);
}

#[test]
fn a_record_in_a_union_of_records_is_chosen_by_its_name() {
    let wrapper = |name: &str, kind: &str| {
        json!({"type": "record", "name": name, "namespace": "a.b",
               "fields": [{"name": "value", "type": kind}]})
    };
    let schema = json!([
        "null",
        wrapper("IntWrapper", "int"),
        wrapper("LongWrapper", "long")
    ]);
    for (name, branch) in [
        ("IntWrapper", 2),
        ("LongWrapper", 4),
        ("a.b.LongWrapper", 4),
    ] {
        let mut tagged = Map::new();
        tagged.insert(name.to_owned(), json!({"value": 7}));
        assert_eq!(encoded(&schema, &tagged.into()).unwrap(), [branch, 14]);
    }
    assert!(encoded(&schema, &json!({"value": 7})).is_err());
}

#[test]
fn values_that_do_not_fit_are_refused_and_name_their_field() {
    let refused = |schema: Value, value: Value| {
        let error = encoded(&schema, &value).unwrap_err();
        assert_eq!(error.kind().code(), "INTERNAL", "{schema}");
        error
    };
    refused(json!("int"), json!(1_i64 << 40));
    refused(json!("long"), json!(1.5));
    refused(json!("long"), json!(u64::MAX));
    refused(json!("bytes"), json!("€"));
    refused(
        json!({"type": "fixed", "name": "f", "size": 3}),
        json!("ab"),
    );
    refused(
        json!({"type": "enum", "name": "e", "symbols": ["x"]}),
        json!("y"),
    );
    refused(json!(["null", "long"]), json!("5"));
    let record = json!({"type": "record", "name": "r", "fields": [{"name": "a", "type": "int"}]});
    assert_eq!(refused(record.clone(), json!({})).get("field"), Some("a"));
    let node = json!({"type": "record", "name": "r",
                      "fields": [{"name": "next", "type": ["null", "r"]}]});
    let deep = (0..100).fold(json!({}), |inner, _| json!({"next": inner}));
    refused(node, deep);
}

#[cfg(not(target_arch = "wasm32"))]
#[test]
fn apache_avro_reads_what_is_written() {
    use apache_avro::types::Value as Avro;
    let schema = json!({"type": "record", "name": "r", "fields": [
        {"name": "i", "type": "int"}, {"name": "l", "type": ["null", "long"]},
        {"name": "f", "type": "float"}, {"name": "d", "type": "double"},
        {"name": "s", "type": {"type": "string", "avro.java.string": "String"}},
        {"name": "b", "type": ["bytes", "null"]},
        {"name": "e", "type": {"type": "enum", "name": "e", "symbols": ["x", "y"]}},
        {"name": "a", "type": {"type": "array", "items": ["null", "int"]}},
        {"name": "m", "type": {"type": "map", "values": {"type": "array", "items": "string"}}}]});
    let value = json!({"i": -7, "l": 1_i64 << 50, "f": 0.5, "d": 1e300, "s": "größe", "b": "\u{0}ÿ",
        "e": "y", "a": [1, null, 3], "m": {"k": ["x", ""]}});
    let file = write_container(&schema.to_string(), &[value.clone(), value.clone()]).unwrap();
    assert_eq!(
        Container::read(&file).unwrap().records,
        [value.clone(), value]
    );
    let mut count = 0;
    for row in apache_avro::Reader::new(file.as_slice()).unwrap() {
        let Avro::Record(fields) = row.unwrap() else {
            panic!("not a record");
        };
        let union = |at, inner| Avro::Union(at, Box::new(inner));
        let expected = [
            Avro::Int(-7),
            union(1, Avro::Long(1 << 50)),
            Avro::Float(0.5),
            Avro::Double(1e300),
            Avro::String("größe".to_owned()),
            union(0, Avro::Bytes(vec![0, 255])),
            Avro::Enum(1, "y".to_owned()),
            Avro::Array(vec![
                union(1, Avro::Int(1)),
                union(0, Avro::Null),
                union(1, Avro::Int(3)),
            ]),
            Avro::Map(std::collections::HashMap::from([(
                "k".to_owned(),
                Avro::Array(vec![
                    Avro::String("x".to_owned()),
                    Avro::String(String::new()),
                ]),
            )])),
        ];
        let found: Vec<_> = fields.into_iter().map(|(_, value)| value).collect();
        assert_eq!(found, expected);
        count += 1;
    }
    assert_eq!(count, 2);
}

/// The text of the schema in a container's header, which holds nothing else.
#[cfg(not(target_arch = "wasm32"))]
fn schema_text(file: &[u8]) -> String {
    let mut cursor = crate::codec::bytes::Cursor::new(&file[4..]);
    assert_eq!(cursor.zigzag().unwrap(), 1);
    let length = cursor.length().unwrap();
    assert_eq!(cursor.take(length).unwrap(), b"avro.schema");
    let length = cursor.length().unwrap();
    String::from_utf8(cursor.take(length).unwrap().to_vec()).unwrap()
}

/// Whether Java's order of map entries, which is its hash table's, can be told from the value.
#[cfg(not(target_arch = "wasm32"))]
fn maps_are_small(schema: &WireSchema, kind: &Type, value: &Value) -> bool {
    match (kind, value) {
        (Type::Map(values), Value::Object(all)) => {
            all.len() < 2 && all.values().all(|v| maps_are_small(schema, values, v))
        }
        (Type::Array(items), Value::Array(all)) => {
            all.iter().all(|v| maps_are_small(schema, items, v))
        }
        (Type::Union(branches), _) => branches
            .iter()
            .filter(|kind| fits(kind, value))
            .all(|kind| maps_are_small(schema, kind, value)),
        (Type::Record(number), Value::Object(all)) => schema.records[*number]
            .iter()
            .all(|f| maps_are_small(schema, &f.kind, &all[&f.name])),
        _ => true,
    }
}

#[cfg(not(target_arch = "wasm32"))]
#[test]
fn every_instant_file_that_spark_wrote_is_written_again_in_the_same_bytes() {
    let (mut same, mut reordered) = (0, 0);
    for table in crate::support::tables() {
        let files = crate::support::files(&table).into_iter();
        for (path, file) in files.filter(|(_, bytes)| is_container(bytes)) {
            let text = schema_text(&file);
            let value = Container::read_one(&file).unwrap();
            let written = write_container(&text, std::slice::from_ref(&value)).unwrap();
            assert_eq!(written.len(), file.len(), "{table} {path}");
            assert_eq!(
                Container::read_one(&written).unwrap(),
                value,
                "{table} {path}"
            );
            let schema = WireSchema::parse(text.as_bytes()).unwrap();
            if maps_are_small(&schema, &schema.root, &value) {
                // All but the sync marker, which stands after the header and at the end.
                let header = 4 + 1 + 1 + 11 + varint(text.len()) + text.len() + 1;
                assert_eq!(written[..header], file[..header], "{table} {path}");
                let body = header + 16..file.len() - 16;
                assert_eq!(written[body.clone()], file[body], "{table} {path}");
                same += 1;
            } else {
                reordered += 1;
            }
        }
    }
    assert!(same > 1000 && reordered > 0, "{same} and {reordered}");
}

#[cfg(not(target_arch = "wasm32"))]
fn varint(length: usize) -> usize {
    let mut out = Vec::new();
    put_length(length, &mut out);
    out.len()
}

#[test]
fn a_datum_is_read_back() {
    let schema = json!({"type": "record", "name": "r", "fields": [
        {"name": "key", "type": "string"}, {"name": "size", "type": ["null", "long"]}]});
    let value = json!({"key": "k", "size": null});
    let bytes = encoded(&schema, &value).unwrap();
    assert_eq!(read_datum(&wire(&schema), &bytes).unwrap(), value);
}
