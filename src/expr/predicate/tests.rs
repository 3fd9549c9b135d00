use std::sync::Arc;

use arrow::datatypes::{DataType, Field, Schema, TimeUnit};

use crate::error::{Error, ErrorKind};
use crate::expr::{Filter, Operator, Predicate};

fn schema() -> Schema {
    let zoned = DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into()));
    let element = Arc::new(Field::new("element", DataType::Int32, true));
    let inner = Field::new("b", DataType::Int32, true);
    let nested = DataType::Struct(vec![inner, Field::new("c.d", DataType::Utf8, true)].into());
    Schema::new(vec![
        Field::new("i", DataType::Int32, true),
        Field::new("f", DataType::Float32, true),
        Field::new("dec", DataType::Decimal128(10, 2), true),
        Field::new("bool", DataType::Boolean, true),
        Field::new("bin", DataType::Binary, true),
        Field::new("day", DataType::Date32, true),
        Field::new("ts", zoned, true),
        Field::new(
            "local",
            DataType::Timestamp(TimeUnit::Microsecond, None),
            true,
        ),
        Field::new("list", DataType::List(element), true),
        Field::new("a", nested, true),
        Field::new("x.y", DataType::Int32, true),
    ])
}

fn bind(field: &str, operator: Operator, values: &[&str]) -> Result<Predicate, Error> {
    let values = values.iter().map(|value| (*value).to_owned()).collect();
    Predicate::bind(&[Filter::new(field, operator, values).unwrap()], &schema())
}

fn refused(field: &str, value: &str) -> Error {
    let error = bind(field, Operator::Eq, &[value]).unwrap_err();
    assert_eq!(
        (error.kind(), error.get("field")),
        (ErrorKind::Schema, Some(field)),
        "{value}"
    );
    error
}

#[test]
fn text_that_is_no_value_of_the_column_is_refused() {
    for (field, value) in [
        ("i", "abc"),
        ("i", "1.5"),
        ("i", "2147483648"),
        ("i", ""),
        ("f", "x"),
        ("dec", "NaN"),
        ("dec", ""),
        ("bool", "maybe"),
        ("bin", "abc"),
        ("bin", "zz"),
        ("day", "2024-02-30"),
        ("day", "2024-01-01T00:00:00Z"),
        ("ts", "2024-01-01"),
        ("ts", "2024-01-01T00:00:00"),
        ("local", "2024-01-01T00:00:00Z"),
    ] {
        assert_eq!(refused(field, value).get("value"), Some(value));
    }
}

#[test]
fn a_wrong_value_among_others_is_refused() {
    let error = bind("i", Operator::In, &["1", "x"]).unwrap_err();
    assert_eq!(
        (error.kind(), error.get("value")),
        (ErrorKind::Schema, Some("x"))
    );
}

#[test]
fn the_hint_says_what_a_timestamp_needs() {
    assert!(
        refused("ts", "2024-01-01T00:00:00")
            .get("hint")
            .unwrap()
            .contains("offset")
    );
    assert!(
        refused("local", "2024-01-01T00:00:00Z")
            .get("hint")
            .unwrap()
            .contains("without an offset")
    );
}

#[test]
fn lists_and_structs_are_compared_with_nothing() {
    refused("list", "1");
    refused("a", "1");
    assert!(bind("list", Operator::IsNull, &[]).is_ok());
    assert!(bind("a", Operator::IsNotNull, &[]).is_ok());
}

#[test]
fn unknown_columns_are_refused_with_near_names() {
    assert_eq!(refused("I", "1").get("hint"), Some("near names: i"));
    assert!(
        refused("list.element", "1")
            .get("hint")
            .unwrap()
            .contains("list or map")
    );
    assert!(
        refused("a.z", "1")
            .get("hint")
            .unwrap()
            .contains("no such field")
    );
    refused("i.b", "1");
    refused("nothing", "1");
    refused("a.", "1");
}

#[test]
fn nested_fields_are_found_by_path_and_columns_named_by_their_root() {
    for (field, root) in [("a.b", "a"), ("a.c.d", "a"), ("x.y", "x.y")] {
        let value = if field == "a.c.d" { "t" } else { "1" };
        let predicate = bind(field, Operator::Eq, &[value]).unwrap();
        assert_eq!(predicate.columns(), [root]);
        assert_eq!(predicate.paths().next().unwrap().first().unwrap(), root);
    }
    let predicate = bind("a.c.d", Operator::Eq, &["t"]).unwrap();
    assert_eq!(predicate.paths().next().unwrap(), ["a", "c.d"]);
}

#[test]
fn columns_are_named_once_and_a_part_of_the_filters_can_be_taken() {
    let filter =
        |field: &str, value: &str| Filter::new(field, Operator::Eq, vec![value.into()]).unwrap();
    let filters = [
        filter("i", "1"),
        filter("f", "1"),
        filter("i", "2"),
        filter("a.b", "3"),
    ];
    let predicate = Predicate::bind(&filters, &schema()).unwrap();
    assert_eq!(predicate.columns(), ["i", "f", "a"]);
    let part = predicate.only(|column| column == "i" || column == "a");
    assert_eq!(
        part.filters().map(ToString::to_string).collect::<Vec<_>>(),
        ["i = 1", "i = 2", "a.b = 3"]
    );
    assert!(predicate.only(|_| false).is_empty());
}
