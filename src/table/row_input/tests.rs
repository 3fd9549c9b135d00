use arrow::array::{Array, AsArray};
use arrow::datatypes::Schema;
use serde_json::json;

use super::*;
use crate::error::ErrorKind;

fn one(kind: DataType, value: &Value) -> Result<ArrayRef> {
    let schema = Arc::new(Schema::new(vec![Field::new("c", kind, true)]));
    let row = Map::from_iter([("c".to_owned(), value.clone())]);
    Ok(Arc::clone(rows_to_batch(&schema, &[row], 7)?.column(0)))
}

/// What a value becomes, as Arrow shows it; a decimal as the number of its last digits.
fn check(kind: DataType, value: Value, expected: &str) {
    let mut array = one(kind, &value).unwrap();
    if let Some(decimals) = array
        .as_any()
        .downcast_ref::<PrimitiveArray<Decimal128Type>>()
    {
        let digits: Vec<String> = decimals.values().iter().map(i128::to_string).collect();
        assert_eq!(digits, [expected]);
        return;
    }
    if let Some(times) = array
        .as_any()
        .downcast_ref::<PrimitiveArray<TimestampMicrosecondType>>()
    {
        // Shown as wall clock: Arrow has no zones here.
        array = Arc::new(times.clone().with_timezone_opt(None::<Arc<str>>));
    }
    let text = format!("{array:?}");
    assert!(
        text.contains(&format!("\n  {expected},\n")),
        "{value}: {text}"
    );
}

fn refused(kind: DataType, value: Value) {
    let error = one(kind.clone(), &value).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Schema, "{value} to {kind}");
    assert_eq!(
        (error.get("field"), error.get("row")),
        (Some("c"), Some("7"))
    );
}

#[test]
fn whole_numbers_come_as_they_are_or_not_at_all() {
    check(
        DataType::Int64,
        json!(9_007_199_254_740_991_i64),
        "9007199254740991",
    );
    check(
        DataType::Int64,
        json!({"$": "n", "v": "-9223372036854775808"}),
        "-9223372036854775808",
    );
    for lost in [
        json!(9_007_199_254_740_992_i64),
        json!(1.5),
        json!(1e300),
        json!("1"),
        json!(true),
        json!({"$": "n", "v": "9223372036854775808"}),
    ] {
        refused(DataType::Int64, lost);
    }
    check(DataType::Int32, json!(-2_147_483_648_i64), "-2147483648");
    refused(DataType::Int32, json!(2_147_483_648_i64));
}

#[test]
fn decimals_are_not_rounded() {
    let kind = DataType::Decimal128(5, 2);
    for (value, expected) in [
        (json!(0.1), "10"),
        (json!("-12.300"), "-1230"),
        (json!({"$": "n", "v": "999"}), "99900"),
        (json!("1.5e1"), "1500"),
        (json!(0), "0"),
    ] {
        check(kind.clone(), value, expected);
    }
    for lost in [
        json!(0.125),
        json!("1000"),
        json!("1.001"),
        json!("x"),
        json!(""),
        json!(true),
    ] {
        refused(kind.clone(), lost);
    }
}

#[test]
fn times_keep_their_moment_and_their_digits() {
    let micros =
        |zone: Option<&str>| DataType::Timestamp(TimeUnit::Microsecond, zone.map(Into::into));
    check(
        micros(Some("UTC")),
        json!("2024-01-01T02:00:00.000001+02:00"),
        "2024-01-01T00:00:00.000001",
    );
    check(
        micros(Some("UTC")),
        json!({"$": "d", "v": 1_704_067_200_001_i64}),
        "2024-01-01T00:00:00.001",
    );
    refused(micros(Some("UTC")), json!("2024-01-01T00:00:00.0000001Z"));
    refused(micros(Some("UTC")), json!("2024-01-01T00:00:00"));
    refused(micros(None), json!({"$": "d", "v": 0}));
    check(
        micros(None),
        json!("2024-01-01T00:00:00.5"),
        "2024-01-01T00:00:00.500",
    );
    check(
        DataType::Date32,
        json!({"$": "d", "v": 86_400_000}),
        "1970-01-02",
    );
    refused(DataType::Date32, json!({"$": "d", "v": 1}));
}

#[test]
fn other_kinds_take_only_their_own() {
    check(DataType::Utf8, json!("ü"), "\"ü\"");
    check(DataType::Boolean, json!(true), "true");
    check(DataType::Float64, json!({"$": "f", "v": "NaN"}), "NaN");
    check(DataType::Binary, json!({"$": "b", "v": "AQI="}), "[1, 2]");
    refused(DataType::Utf8, json!(1));
    refused(DataType::Binary, json!("AQI="));
    refused(DataType::FixedSizeBinary(3), json!({"$": "b", "v": "AQI="}));
    refused(DataType::Float32, json!(1e39));
    refused(
        DataType::Float64,
        json!({"$": "n", "v": "9007199254740993"}),
    );
}

#[test]
fn nested_values_name_their_row_and_place() {
    let inner = Fields::from(vec![Field::new("x", DataType::Int32, true)]);
    let item = Arc::new(Field::new("element", DataType::Struct(inner), true));
    let list = DataType::List(item);
    let good = json!([{"$": "o", "v": {"x": 1}}, null, {"$": "o", "v": {}}]);
    let array = one(list.clone(), &good).unwrap();
    let list_array = array.as_any().downcast_ref::<ListArray>().unwrap();
    assert_eq!(list_array.value(0).len(), 3);
    assert!(list_array.value(0).is_null(1));
    let error = one(list.clone(), &json!([{"$": "o", "v": {"x": 1.5}}])).unwrap_err();
    assert_eq!(error.get("field"), Some("c.element.x"));
    assert_eq!(error.get("row"), Some("7"));
    let error = one(list, &json!([{"$": "o", "v": {"y": 1}}])).unwrap_err();
    assert_eq!(error.get("member"), Some("y"));
    let entries = Fields::from(vec![
        Field::new("key", DataType::Utf8, false),
        Field::new("value", DataType::Int64, true),
    ]);
    let map = DataType::Map(
        Arc::new(Field::new("key_value", DataType::Struct(entries), false)),
        false,
    );
    for value in [
        json!({"$": "o", "v": {"a": 1}}),
        json!({"$": "m", "v": [["a", 1]]}),
    ] {
        let array = one(map.clone(), &value).unwrap();
        assert_eq!(
            array
                .as_any()
                .downcast_ref::<MapArray>()
                .unwrap()
                .value_length(0),
            1
        );
    }
}

#[test]
fn a_column_that_rows_lack_is_null_and_one_that_the_table_lacks_is_refused() {
    let schema = Arc::new(Schema::new(vec![Field::new("a", DataType::Int32, false)]));
    let batch = rows_to_batch(&schema, &[Map::new()], 0).unwrap();
    assert!(batch.column(0).is_null(0));
    let row = Map::from_iter([("b".to_owned(), json!(1))]);
    let error = rows_to_batch(&schema, &[Map::new(), row], 0).unwrap_err();
    assert_eq!(
        (error.kind(), error.get("row")),
        (ErrorKind::Schema, Some("1"))
    );
}

#[test]
fn doubles_come_from_json_text_with_every_bit() {
    // As JavaScript writes them: the fewest digits that are no other double's.
    let mut state = 1_u64;
    let mut random = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        state ^ state >> 29
    };
    let mut wrong = Vec::new();
    for _ in 0..10_000 {
        let near_one = f64::from_bits(random() >> 12 | 0x3ff0_0000_0000_0000) * 10.0 - 9.0;
        let any = f64::from_bits(random());
        for double in [near_one, any].into_iter().filter(|d| d.is_finite()) {
            let text = format!("{double:e}");
            let value: Value = serde_json::from_str(&text).unwrap();
            let array = one(DataType::Float64, &value).unwrap();
            let found = array.as_primitive::<Float64Type>().value(0);
            if found.to_bits() != double.to_bits() && double != 0.0 {
                wrong.push(text);
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "{} doubles, such as {:?}",
        wrong.len(),
        wrong.first()
    );
}

#[test]
fn a_decimal_of_an_absurd_exponent_is_refused() {
    for text in ["1e-2147483648", "1e2147483647", "0e-2147483648"] {
        refused(DataType::Decimal128(10, 2), json!(text));
    }
}
