//! Expected rows come from Spark's rules for comparisons; those of the table of all types are what Spark returned for it.

use std::sync::Arc;

use arrow::array::*;
use arrow::buffer::NullBuffer;
use arrow::datatypes::{DataType, Field, Int32Type, Schema, i256};

use crate::expr::{Filter, FilterValues, Operator, Predicate};

fn batch(columns: Vec<(&str, ArrayRef)>) -> RecordBatch {
    RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(n, a)| (n, a, true)))
        .unwrap()
}

fn rows(batch: &RecordBatch, filters: &[Filter]) -> Vec<usize> {
    let mask = Predicate::bind(filters, batch.schema_ref())
        .unwrap()
        .mask(batch)
        .unwrap();
    assert_eq!((mask.len(), mask.null_count()), (batch.num_rows(), 0));
    (0..mask.len()).filter(|row| mask.value(*row)).collect()
}

/// Rows kept of one column `c`; a text after IN is a list.
fn check(column: &ArrayRef, operator: &str, value: &str, expected: &[usize]) {
    let values = match operator.starts_with("IS") {
        true => FilterValues::None,
        false => FilterValues::Text(value.into()),
    };
    let filter = Filter::parse("c", operator, values).unwrap();
    let batch = batch(vec![("c", column.clone())]);
    assert_eq!(
        rows(&batch, &[filter]),
        expected,
        "{} {operator} {value}",
        column.data_type()
    );
}

#[test]
fn null_matches_nothing_but_is_null() {
    let column: ArrayRef = Arc::new(Int64Array::from(vec![Some(1), None, Some(2)]));
    check(&column, "=", "1", &[0]);
    check(&column, "!=", "1", &[2]);
    check(&column, "<", "9", &[0, 2]);
    check(&column, "IN", "1,2", &[0, 2]);
    check(&column, "NOT IN", "1", &[2]);
    check(&column, "NOT IN", "5", &[0, 2]);
    check(&column, "IS NULL", "", &[1]);
    check(&column, "IS NOT NULL", "", &[0, 2]);
}

#[test]
fn is_null_without_nulls_keeps_none() {
    let column: ArrayRef = Arc::new(Int32Array::from(vec![1, 2]));
    check(&column, "IS NULL", "", &[]);
    check(&column, "IS NOT NULL", "", &[0, 1]);
}

#[test]
fn a_column_of_nulls_has_no_value() {
    let column: ArrayRef = Arc::new(NullArray::new(2));
    check(&column, "IS NULL", "", &[0, 1]);
    check(&column, "IS NOT NULL", "", &[]);
}

#[test]
fn nan_equals_nan_and_is_greater_than_every_number() {
    let values = vec![f64::NAN, -f64::NAN, f64::INFINITY, 1.0, f64::NEG_INFINITY];
    let column: ArrayRef = Arc::new(Float64Array::from(values));
    check(&column, "=", "NaN", &[0, 1]);
    check(&column, "!=", "nan", &[2, 3, 4]);
    check(&column, ">", "Infinity", &[0, 1]);
    check(&column, ">=", "inf", &[0, 1, 2]);
    check(&column, "<", "NaN", &[2, 3, 4]);
    check(&column, "<=", "NaN", &[0, 1, 2, 3, 4]);
    check(&column, ">", "NaN", &[]);
    check(&column, "IN", "NaN, 1", &[0, 1, 3]);
    check(&column, "NOT IN", "NaN, 1", &[2, 4]);
    check(&column, "<", "-Infinity", &[]);
}

#[test]
fn minus_zero_equals_zero() {
    let column: ArrayRef = Arc::new(Float32Array::from(vec![-0.0, 0.0, f32::MIN_POSITIVE]));
    for zero in ["0", "-0.0"] {
        check(&column, "=", zero, &[0, 1]);
        check(&column, "!=", zero, &[2]);
        check(&column, "<", zero, &[]);
        check(&column, ">=", zero, &[0, 1, 2]);
        check(&column, "IN", zero, &[0, 1]);
        check(&column, "NOT IN", zero, &[2]);
    }
}

#[test]
fn text_is_brought_to_the_type_of_a_float_column() {
    let column: ArrayRef = Arc::new(Float32Array::from(vec![0.1, 1.1]));
    check(&column, "=", "0.1", &[0]);
    check(&column, ">", "0.1", &[1]);
}

#[test]
fn integers_compare_without_loss() {
    let column: ArrayRef = Arc::new(Int64Array::from(vec![
        9_007_199_254_740_992,
        9_007_199_254_740_993,
        i64::MIN,
    ]));
    check(&column, ">", "9007199254740992", &[1]);
    check(&column, "=", "-9223372036854775808", &[2]);
    let column: ArrayRef = Arc::new(Int8Array::from(vec![-128, 0, 127]));
    check(&column, ">=", "0", &[1, 2]);
    check(&column, "IN", "127,-128", &[0, 2]);
}

#[test]
fn decimals_compare_by_value_at_any_scale() {
    let decimals = Decimal128Array::from(vec![Some(150), Some(-1), None, Some(0)]);
    let column: ArrayRef = Arc::new(decimals.with_precision_and_scale(10, 2).unwrap());
    check(&column, "=", "1.5", &[0]);
    check(
        &column,
        "=",
        "1.50000000000000000000000000000000000000",
        &[0],
    );
    check(&column, "=", "1.500001", &[]);
    check(&column, "!=", "1.500001", &[0, 1, 3]);
    check(&column, "<", "1.500001", &[0, 1, 3]);
    check(&column, ">", "1.499999", &[0]);
    check(&column, ">=", "1.500001", &[]);
    check(&column, "<=", "-0.001", &[1]);
    check(&column, "<", "-0.0100001", &[]);
    check(&column, ">", "-0.0100001", &[0, 1, 3]);
    check(&column, "<", "1e60", &[0, 1, 3]);
    check(&column, ">", "-1e600", &[0, 1, 3]);
    check(&column, ">", "1e60", &[]);
    check(&column, "=", "1e60", &[]);
    check(&column, "!=", "1e60", &[0, 1, 3]);
    check(&column, "IN", "1.500, 0.001, 1e99", &[0]);
    check(&column, "NOT IN", "1.500, 0.001, 1e99", &[1, 3]);
}

#[test]
fn wide_decimals_compare_by_value() {
    let unscaled = i256::from_i128(i128::MAX).wrapping_mul(i256::from_i128(1000));
    let column = Decimal256Array::from(vec![unscaled, i256::ONE])
        .with_precision_and_scale(76, 0)
        .unwrap();
    let column: ArrayRef = Arc::new(column);
    check(&column, ">", &i128::MAX.to_string(), &[0]);
    check(&column, "=", "1.0", &[1]);
}

#[test]
fn text_compares_by_bytes_of_utf8() {
    // By UTF-16 units U+1F600 would come before U+FF5E.
    let column: ArrayRef = Arc::new(StringArray::from(vec![
        "",
        "Z",
        "a",
        "é",
        "\u{ff5e}",
        "\u{1f600}",
    ]));
    check(&column, "=", "", &[0]);
    check(&column, "<", "a", &[0, 1]);
    check(&column, ">", "z", &[3, 4, 5]);
    check(&column, ">", "\u{ff5e}", &[5]);
    check(&column, "IN", "é,Z", &[1, 3]);
    check(&column, "NOT IN", "é,Z", &[0, 2, 4, 5]);
}

#[test]
fn binary_compares_as_unsigned_bytes() {
    let column: ArrayRef = Arc::new(BinaryArray::from(vec![
        &b""[..],
        b"\x00\xff",
        b"\x7f",
        b"\x80",
    ]));
    check(&column, "=", "00fF", &[1]);
    check(&column, ">", "7f", &[3]);
    check(&column, "<=", "7f", &[0, 1, 2]);
    let fixed = FixedSizeBinaryArray::try_from_iter([[0u8, 1], [255, 0]].into_iter()).unwrap();
    let fixed: ArrayRef = Arc::new(fixed);
    check(&fixed, ">", "01", &[1]);
}

#[test]
fn booleans_order_false_before_true() {
    let column: ArrayRef = Arc::new(BooleanArray::from(vec![Some(true), Some(false), None]));
    check(&column, "=", "TRUE", &[0]);
    check(&column, "!=", "true", &[1]);
    check(&column, "<", "true", &[1]);
    check(&column, "IN", "false", &[1]);
}

#[test]
fn dates_compare_by_day() {
    let column: ArrayRef = Arc::new(Date32Array::from(vec![-1, 0, 19_723]));
    check(&column, "<", "1970-01-01", &[0]);
    check(&column, ">=", "2024-01-01", &[2]);
}

#[test]
fn timestamps_compare_at_any_fraction() {
    let micros = TimestampMicrosecondArray::from(vec![-1, 0, 1]);
    let column: ArrayRef = Arc::new(micros.clone().with_timezone("UTC"));
    check(&column, "=", "1970-01-01T00:00:00.000001Z", &[2]);
    check(&column, "=", "1970-01-01T00:00:00.0000005Z", &[]);
    check(&column, "<", "1970-01-01T00:00:00.0000005Z", &[0, 1]);
    check(&column, ">=", "1970-01-01T00:00:00.0000005Z", &[2]);
    check(&column, "<", "1969-12-31T23:59:59.9999995Z", &[0]);
    check(&column, ">", "1970-01-01T02:00:00+02:00", &[2]);
    check(&column, "<", "+200000-01-01T00:00:00Z", &[0, 1, 2]);
    let local: ArrayRef = Arc::new(micros);
    check(&local, "<=", "1970-01-01T00:00:00", &[0, 1]);
    // The far end of nanoseconds is the year 2262.
    let nanos: ArrayRef =
        Arc::new(TimestampNanosecondArray::from(vec![i64::MAX]).with_timezone("UTC"));
    check(&nanos, "<", "2300-01-01T00:00:00Z", &[0]);
    check(&nanos, ">", "1600-01-01T00:00:00Z", &[0]);
    check(&nanos, "=", "2300-01-01T00:00:00Z", &[]);
}

#[test]
fn times_of_day_compare() {
    let column: ArrayRef = Arc::new(Time64MicrosecondArray::from(vec![0, 3_600_000_000]));
    check(&column, ">=", "01:00:00", &[1]);
    let column: ArrayRef = Arc::new(Time32MillisecondArray::from(vec![0, 3_600_500]));
    check(&column, "=", "01:00:00.5", &[1]);
}

#[test]
fn a_nested_field_is_null_where_its_parent_is() {
    let a: ArrayRef = Arc::new(Int32Array::from(vec![Some(1), Some(1), None, Some(2)]));
    let fields = vec![Field::new("a", DataType::Int32, true)];
    let parent_nulls = Some(NullBuffer::from(vec![true, false, true, true]));
    let column: ArrayRef = Arc::new(StructArray::new(fields.into(), vec![a], parent_nulls));
    let batch = batch(vec![("s", column)]);
    let one = |op: &str, values| Filter::parse("s.a", op, values).unwrap();
    assert_eq!(
        rows(&batch, &[one("=", FilterValues::Text("1".into()))]),
        [0]
    );
    assert_eq!(
        rows(&batch, &[one("!=", FilterValues::Text("2".into()))]),
        [0]
    );
    assert_eq!(rows(&batch, &[one("IS NULL", FilterValues::None)]), [1, 2]);
    let whole = Filter::parse("s", "IS NULL", FilterValues::None).unwrap();
    assert_eq!(rows(&batch, &[whole]), [1]);
}

#[test]
fn lists_are_asked_for_null_alone() {
    let list = ListArray::from_iter_primitive::<Int32Type, _, _>(vec![Some(vec![Some(1)]), None]);
    let column: ArrayRef = Arc::new(list);
    check(&column, "IS NULL", "", &[1]);
}

#[test]
fn filters_are_joined_by_and() {
    let batch = batch(vec![
        ("a", Arc::new(Int32Array::from(vec![1, 2, 3])) as ArrayRef),
        (
            "b",
            Arc::new(StringArray::from(vec!["x", "y", "y"])) as ArrayRef,
        ),
    ]);
    let a = Filter::new("a", Operator::Gt, vec!["1".into()]).unwrap();
    let b = Filter::new("b", Operator::Eq, vec!["y".into()]).unwrap();
    let not_three = Filter::new("a", Operator::Ne, vec!["3".into()]).unwrap();
    assert_eq!(rows(&batch, &[a.clone(), b.clone()]), [1, 2]);
    assert_eq!(rows(&batch, &[a, b, not_three]), [1]);
    assert_eq!(rows(&batch, &[]), [0, 1, 2]);
}

#[test]
fn a_batch_of_another_type_is_refused() {
    let schema = Schema::new(vec![Field::new("c", DataType::Int64, true)]);
    let filter = Filter::new("c", Operator::Eq, vec!["1".into()]).unwrap();
    let predicate = Predicate::bind(&[filter], &schema).unwrap();
    for column in ["c", "d"] {
        let other = batch(vec![(
            column,
            Arc::new(Int32Array::from(vec![1])) as ArrayRef,
        )]);
        assert_eq!(predicate.mask(&other).unwrap_err().get("field"), Some("c"));
    }
}

#[test]
fn spark_keeps_the_same_rows_of_the_table_of_all_types() {
    let f64s = [
        None,
        Some(5e-324),
        Some(-0.0),
        Some(f64::NAN),
        Some(f64::NAN),
        Some(f64::MAX),
        Some(1.0 / 3.0),
        Some(2.0 / 3.0),
        Some(1.0),
        Some(f64::MIN),
    ];
    check(
        &(Arc::new(Float64Array::from(f64s.to_vec())) as ArrayRef),
        ">",
        "0.5",
        &[3, 4, 5, 7, 8],
    );
    let d18 = [
        None,
        Some(1),
        Some(0),
        Some(-1),
        Some(999_999_999_999_999_999),
        Some(-999_999_999_999_999_999),
    ];
    let d18 = Decimal128Array::from(d18.to_vec())
        .with_precision_and_scale(18, 4)
        .unwrap();
    check(&(Arc::new(d18) as ArrayRef), "<", "0", &[3, 5]);
}
