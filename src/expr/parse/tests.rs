use serde_json::json;

use super::*;
use crate::error::ErrorKind;

fn check(json: Value, expected: &str) {
    assert_eq!(
        Filter::from_json(&json).unwrap().to_string(),
        expected,
        "{json}"
    );
}

fn refused(json: Value) -> Error {
    let error = Filter::from_json(&json).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidArgument, "{json}");
    error
}

#[test]
fn operators_are_read_in_any_letter_case() {
    check(json!(["a", "in", "x"]), "a IN (x)");
    check(json!(["a", "Not  In", ["x", "y"]]), "a NOT IN (x, y)");
    check(json!(["a", "is null"]), "a IS NULL");
    check(json!(["a", "IS NOT null"]), "a IS NOT NULL");
}

#[test]
fn text_after_in_is_split_trimmed_and_unescaped() {
    let values = |text: &str| {
        Filter::parse("a", "IN", FilterValues::Text(text.into()))
            .unwrap()
            .values
    };
    assert_eq!(values("sf, la ,nyc"), ["sf", "la", "nyc"]);
    assert_eq!(values(r"Smith\, John,Jane"), ["Smith, John", "Jane"]);
    assert_eq!(values(r"a\\,b\c"), [r"a\", r"b\c"]);
    assert_eq!(values("a,,b,"), ["a", "b"]);
}

#[test]
fn a_list_is_taken_as_it_stands() {
    let filter =
        Filter::from_json(&json!(["a", "IN", [" x, y", "", r"\,", 1, true, 2.5]])).unwrap();
    assert_eq!(filter.values, [" x, y", "", r"\,", "1", "true", "2.5"]);
}

#[test]
fn text_after_other_operators_is_taken_as_it_stands() {
    assert_eq!(
        Filter::from_json(&json!(["a", "=", " x,y "]))
            .unwrap()
            .values,
        [" x,y "]
    );
}

#[test]
fn wrong_counts_are_refused_at_once() {
    for json in [
        json!(["a", "="]),
        json!(["a", "=", ["x", "y"]]),
        json!(["a", "<", []]),
        json!(["a", "IN", []]),
        json!(["a", "NOT IN", " , "]),
        json!(["a", "IN"]),
        json!(["a", "IS NULL", "x"]),
        json!({"field": "a", "operator": "IN", "values": []}),
    ] {
        assert_eq!(refused(json).get("field"), Some("a"));
    }
}

#[test]
fn unknown_operators_and_shapes_are_refused() {
    assert_eq!(
        refused(json!(["a", "LIKE", "x"])).get("operator"),
        Some("LIKE")
    );
    assert_eq!(refused(json!(["a", "==", "x"])).get("operator"), Some("=="));
    refused(json!(["a"]));
    refused(json!(["a", "=", null]));
    refused(json!(["a", "=", {"x": 1}]));
    refused(json!("a = 1"));
    refused(json!(["", "=", "1"]));
}

#[test]
fn negation_twice_is_the_filter_itself() {
    for operator in Operator::ALL {
        assert_ne!(operator.negate(), operator);
        assert_eq!(operator.negate().negate(), operator);
    }
}
