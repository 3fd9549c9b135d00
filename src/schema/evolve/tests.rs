//! Expected values come from Java's and Spark's rules for casts, and from arithmetic.

use std::sync::Arc;

use arrow::array::*;
use arrow::datatypes::{DataType, Field, TimeUnit};

use super::{keeps_order, may_become, widen_float};
use crate::error::ErrorKind;
use crate::schema::conform_array;

fn check(from: impl Array + 'static, expected: impl Array + 'static) {
    let to = Field::new("c", expected.data_type().clone(), true);
    let from: ArrayRef = Arc::new(from);
    let made = conform_array(&from, &to).unwrap();
    assert_eq!(
        &made,
        &(Arc::new(expected) as ArrayRef),
        "{} to {}",
        from.data_type(),
        to.data_type()
    );
}

fn refused(from: impl Array + 'static, to: DataType) {
    let error =
        conform_array(&(Arc::new(from) as ArrayRef), &Field::new("c", to, true)).unwrap_err();
    assert_eq!(
        (error.kind(), error.get("field")),
        (ErrorKind::Schema, Some("c"))
    );
}

#[test]
fn integers_widen_by_value() {
    check(
        Int8Array::from(vec![Some(-128), None]),
        Int32Array::from(vec![Some(-128), None]),
    );
    check(
        Int16Array::from(vec![i16::MAX]),
        Int32Array::from(vec![32_767]),
    );
    check(
        Int32Array::from(vec![Some(i32::MIN), None]),
        Int64Array::from(vec![Some(-2_147_483_648), None]),
    );
    check(
        Int32Array::from(vec![16_777_217]),
        Float32Array::from(vec![16_777_216.0]),
    );
    check(
        Int32Array::from(vec![i32::MAX]),
        Float64Array::from(vec![2_147_483_647.0]),
    );
    check(
        Int64Array::from(vec![9_007_199_254_740_993]),
        Float64Array::from(vec![9_007_199_254_740_992.0]),
    );
    check(
        Int64Array::from(vec![i64::MAX]),
        Float32Array::from(vec![9.223_372e18]),
    );
}

#[test]
fn a_float_becomes_the_double_of_its_text() {
    for (float, expected) in [
        (1.1_f32, 1.1),
        (0.1, 0.1),
        (-3.3, -3.3),
        (1.0, 1.0),
        (1e10, 1e10),
        (16_777_216.0, 16_777_216.0),
        (f32::MAX, 3.402_823_5e38),
        (f32::MIN_POSITIVE, 1.175_494_4e-38),
        // Java writes no fewer than two digits: Float.MIN_VALUE is 1.4E-45.
        (f32::from_bits(1), 1.4e-45),
        (-f32::from_bits(1), -1.4e-45),
        (f32::INFINITY, f64::INFINITY),
        (f32::NEG_INFINITY, f64::NEG_INFINITY),
    ] {
        assert_eq!(widen_float(float), expected, "{float}");
    }
    assert!(widen_float(f32::NAN).is_nan());
    assert!(widen_float(-0.0).is_sign_negative());
    check(
        Float32Array::from(vec![Some(1.1), None]),
        Float64Array::from(vec![Some(1.1), None]),
    );
}

#[test]
fn text_and_bytes_are_the_same_bytes() {
    check(
        StringArray::from(vec![Some("é"), None]),
        BinaryArray::from(vec![Some("é".as_bytes()), None]),
    );
    check(
        BinaryArray::from(vec![Some("é".as_bytes()), None]),
        StringArray::from(vec![Some("é"), None]),
    );
    refused(BinaryArray::from(vec![&b"\xff"[..]]), DataType::Utf8);
}

#[test]
fn decimals_widen_by_value() {
    let decimal = |values: Vec<Option<i128>>, p, s| {
        Decimal128Array::from(values)
            .with_precision_and_scale(p, s)
            .unwrap()
    };
    check(
        decimal(vec![Some(-150), None], 5, 2),
        decimal(vec![Some(-150_000), None], 10, 5),
    );
    check(
        decimal(vec![Some(99_999)], 5, 2),
        decimal(vec![Some(99_999)], 7, 2),
    );
    let wide = Decimal256Array::from(vec![arrow::datatypes::i256::from_i128(-15_000)]);
    check(
        decimal(vec![Some(-150)], 5, 2),
        wide.clone().with_precision_and_scale(40, 4).unwrap(),
    );
    check(
        wide.with_precision_and_scale(20, 4).unwrap(),
        decimal(vec![Some(-15_000)], 20, 4),
    );
    refused(decimal(vec![Some(1)], 5, 2), DataType::Decimal128(5, 3));
    refused(decimal(vec![Some(1)], 5, 2), DataType::Decimal128(5, 1));
    refused(decimal(vec![Some(1)], 5, 2), DataType::Decimal128(4, 2));
}

#[test]
fn a_decimal_larger_than_its_own_type_is_refused() {
    let broken = Decimal128Array::from(vec![i128::MAX]).with_data_type(DataType::Decimal128(5, 2));
    refused(broken, DataType::Decimal128(38, 30));
}

#[test]
fn timestamps_change_unit_and_keep_their_moment() {
    let millis = |v: Vec<i64>| TimestampMillisecondArray::from(v).with_timezone("UTC");
    let micros = |v: Vec<i64>| TimestampMicrosecondArray::from(v).with_timezone("UTC");
    check(
        millis(vec![-1, 1_720_631_224_939]),
        micros(vec![-1000, 1_720_631_224_939_000]),
    );
    let nanos = TimestampNanosecondArray::from(vec![-1, 1999]);
    // INT96 comes without a zone and is UTC.
    check(nanos.clone(), micros(vec![-1, 1]));
    check(nanos.clone().with_timezone("UTC"), micros(vec![-1, 1]));
    refused(
        TimestampMicrosecondArray::from(vec![0]),
        micros(vec![]).data_type().clone(),
    );
    refused(
        micros(vec![0]),
        DataType::Timestamp(TimeUnit::Microsecond, None),
    );
    refused(millis(vec![i64::MAX]), micros(vec![]).data_type().clone());
}

#[test]
fn micros_under_a_table_of_millis_are_millis_unless_no_year_could_be() {
    let micros = TimestampMicrosecondArray::from(vec![
        Some(1_720_631_224_939),
        Some(253_402_300_799_999),
        Some(1_720_631_224_939_123),
        Some(-1_720_631_224_939_123),
        None,
        Some(0),
    ]);
    let millis = TimestampMillisecondArray::from(vec![
        Some(1_720_631_224_939),
        Some(253_402_300_799_999),
        Some(1_720_631_224_939),
        Some(-1_720_631_224_940),
        None,
        Some(0),
    ]);
    check(micros.with_timezone("UTC"), millis.with_timezone("UTC"));
}

#[test]
fn local_micros_are_believed() {
    let micros = TimestampMicrosecondArray::from(vec![1_720_631_224_939, -1]);
    check(
        micros,
        TimestampMillisecondArray::from(vec![1_720_631_224, -1]),
    );
}

#[test]
fn numbers_without_a_label_are_local_timestamps_by_the_table() {
    check(
        Int64Array::from(vec![Some(5), None]),
        TimestampMillisecondArray::from(vec![Some(5), None]),
    );
    check(
        Int64Array::from(vec![Some(5), None]),
        TimestampMicrosecondArray::from(vec![Some(5), None]),
    );
    refused(
        Int64Array::from(vec![5]),
        DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into())),
    );
}

#[test]
fn a_column_of_nulls_fits_every_type() {
    check(
        NullArray::new(2),
        StringArray::from(vec![None::<&str>, None]),
    );
}

#[test]
fn numbers_dates_and_decimals_become_text_and_text_becomes_dates_and_decimals() {
    let text = |texts: [Option<&str>; 2]| StringArray::from(texts.to_vec());
    check(
        Int32Array::from(vec![Some(-7), None]),
        text([Some("-7"), None]),
    );
    check(
        Int64Array::from(vec![Some(1 << 40), None]),
        text([Some("1099511627776"), None]),
    );
    check(
        Float32Array::from(vec![Some(1.1), None]),
        text([Some("1.1"), None]),
    );
    check(
        Float64Array::from(vec![Some(1e10), None]),
        text([Some("1.0E10"), None]),
    );
    check(
        Date32Array::from(vec![Some(19_782), None]),
        text([Some("2024-02-29"), None]),
    );
    let decimal = |values: [Option<i128>; 2]| {
        let values = Decimal128Array::from(values.to_vec());
        values.with_precision_and_scale(6, 2).unwrap()
    };
    check(decimal([Some(-150), None]), text([Some("-1.50"), None]));
    check(text([Some("-1.499"), None]), decimal([Some(-150), None]));
    check(
        text([Some("2024-02-29"), None]),
        Date32Array::from(vec![Some(19_782), None]),
    );
    check(
        Int32Array::from(vec![Some(9999), None]),
        decimal([Some(999_900), None]),
    );
    check(
        Float64Array::from(vec![Some(0.125), None]),
        decimal([Some(13), None]),
    );
    check(
        Float32Array::from(vec![Some(1.1), None]),
        decimal([Some(110), None]),
    );
    for (text, to) in [
        ("x", DataType::Date32),
        ("x", DataType::Decimal128(6, 2)),
        ("10000", DataType::Decimal128(6, 2)),
        ("1", DataType::Decimal256(76, 76)),
    ] {
        let array: ArrayRef = Arc::new(StringArray::from(vec![text]));
        let error = conform_array(&array, &Field::new("c", to, true)).unwrap_err();
        assert_eq!(
            (error.kind(), error.get("value")),
            (ErrorKind::Schema, Some(text))
        );
    }
    assert!(!keeps_order(&DataType::Int32, &DataType::Utf8));
    assert!(!keeps_order(&DataType::Utf8, &DataType::Date32));
}

#[test]
fn what_would_lose_or_is_no_change_of_hudi_is_refused() {
    refused(Int64Array::from(vec![1]), DataType::Int32);
    refused(Float64Array::from(vec![1.0]), DataType::Float32);
    refused(Float32Array::from(vec![1.0]), DataType::Int32);
    refused(BooleanArray::from(vec![true]), DataType::Utf8);
    refused(BooleanArray::from(vec![true]), DataType::Int32);
    refused(Int32Array::from(vec![1]), DataType::Date32);
    refused(StringArray::from(vec!["1"]), DataType::Int32);
}

#[test]
fn order_is_kept_by_all_but_the_repair_of_labels() {
    let (micros, millis) = (TimeUnit::Microsecond, TimeUnit::Millisecond);
    assert!(keeps_order(&DataType::Float32, &DataType::Float64));
    assert!(keeps_order(
        &DataType::Timestamp(millis, None),
        &DataType::Timestamp(micros, None)
    ));
    let utc = |unit| DataType::Timestamp(unit, Some("UTC".into()));
    assert!(!keeps_order(&utc(micros), &utc(millis)));
    assert!(keeps_order(&utc(millis), &utc(micros)));
    assert!(!keeps_order(&DataType::Utf8, &DataType::Int32));
    assert!(!may_become(&DataType::Utf8, &DataType::Int32));
}
