//! The container files of every timeline, read by this crate and by apache-avro.
#![cfg(not(target_arch = "wasm32"))]

mod support;

use apache_avro::types::Value as Avro;
use hudi_wasm::codec::avro::{Container, is_container};
use serde_json::{Map, Value, json};

/// A value as this crate writes it: unions unwrapped.
fn plain(value: Avro) -> Value {
    match value {
        Avro::Null => Value::Null,
        Avro::Boolean(value) => json!(value),
        Avro::Int(value) => json!(value),
        Avro::Long(value) => json!(value),
        Avro::Float(value) => json!(value),
        Avro::Double(value) => json!(value),
        Avro::String(text) | Avro::Enum(_, text) => json!(text),
        Avro::Union(_, value) => plain(*value),
        Avro::Array(items) => items.into_iter().map(plain).collect(),
        Avro::Map(pairs) => object(pairs),
        Avro::Record(fields) => object(fields),
        other => panic!("no timeline holds {other:?}"),
    }
}

fn object(pairs: impl IntoIterator<Item = (String, Avro)>) -> Value {
    let pairs = pairs.into_iter().map(|(key, value)| (key, plain(value)));
    Value::Object(pairs.collect::<Map<_, _>>())
}

#[test]
fn every_container_file_of_a_timeline_reads_as_with_apache_avro() {
    let mut compared = 0;
    for table in support::tables() {
        for (path, bytes) in support::files(&table) {
            if path.ends_with(".parquet") || !is_container(&bytes) {
                continue;
            }
            let ours = Container::read(&bytes).unwrap().records;
            let reader = apache_avro::Reader::new(bytes.as_slice()).unwrap();
            let theirs: Vec<_> = reader.map(|record| plain(record.unwrap())).collect();
            assert_eq!(ours, theirs, "{table} {path}");
            compared += 1;
        }
    }
    assert!(compared > 500, "{compared}");
}
