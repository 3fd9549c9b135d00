//! Ordering values of every type. Cases M3 and M5.

use super::*;
use arrow::array::{
    BinaryArray, BooleanArray, Date32Array, Decimal128Array, Float32Array, Float64Array,
    Int32Array, TimestampMicrosecondArray, TimestampMillisecondArray,
};
use arrow::datatypes::i256;

use crate::error::ErrorKind;

/// A table of key and ordering columns; each array has the values for the keys a, b, c.
fn table(columns: Vec<ArrayRef>) -> RecordBatch {
    let keys: ArrayRef = Arc::new(StringArray::from(vec!["a", "b", "c"]));
    let mut fields = vec![Field::new(RECORD_KEY, DataType::Utf8, true)];
    for (at, column) in columns.iter().enumerate() {
        fields.push(Field::new(
            format!("o{at}"),
            column.data_type().clone(),
            true,
        ));
    }
    let columns = [vec![keys], columns].concat();
    RecordBatch::try_new(Arc::new(Schema::new(fields)), columns).unwrap()
}

fn keys_left(base: &RecordBatch, values: Vec<Vec<Scalar>>) -> Result<Vec<String>> {
    let names = (1..base.num_columns()).map(|at| format!("o{}", at - 1));
    let rules = MergeRules::later(names.collect()).with_winner(Winner::Greater);
    let deletes = ["a", "b", "c"].iter().zip(values);
    let deletes = deletes.map(|(key, values)| Deletion {
        key: (*key).to_owned(),
        ordering: Some(values),
    });
    let blocks = [Block::Deletes(deletes.collect())];
    let left = merged(rules, &base.schema(), std::slice::from_ref(base), &blocks)?;
    let keys = left.column(0).as_string::<i32>().iter();
    Ok(keys.map(|key| key.unwrap().to_owned()).collect())
}

/// Deletes whose value is less than, equal to and greater than that of the rows: only the first row stays.
fn check_deletes(base: ArrayRef, values: [Scalar; 3]) {
    let kind = base.data_type().clone();
    let values = values.map(|value| vec![value]).to_vec();
    assert_eq!(
        keys_left(&table(vec![base]), values).unwrap(),
        ["a"],
        "{kind}"
    );
}

#[test]
fn a_deletes_value_is_compared_in_the_type_of_its_column() {
    let ints = [4, 5, 6].map(Scalar::Int);
    check_deletes(Arc::new(Int64Array::from(vec![5; 3])), ints.clone());
    check_deletes(Arc::new(Int32Array::from(vec![5; 3])), ints.clone());
    check_deletes(Arc::new(Date32Array::from(vec![5; 3])), ints.clone());
    check_deletes(
        Arc::new(TimestampMicrosecondArray::from(vec![5; 3]).with_timezone("UTC")),
        ints.clone(),
    );
    check_deletes(
        Arc::new(TimestampMillisecondArray::from(vec![5; 3])),
        ints.clone(),
    );
    check_deletes(Arc::new(Float64Array::from(vec![5.0; 3])), ints);
    let floats = [4.5, 5.5, 6.5].map(Scalar::Float);
    check_deletes(Arc::new(Float32Array::from(vec![5.5; 3])), floats.clone());
    check_deletes(Arc::new(Float64Array::from(vec![5.5; 3])), floats);
    let bytes = ["ä", "é", "日"].map(|text| Scalar::Bytes(text.as_bytes().to_vec()));
    check_deletes(Arc::new(StringArray::from(vec!["é"; 3])), bytes.clone());
    check_deletes(
        Arc::new(BinaryArray::from_vec(vec!["é".as_bytes(); 3])),
        bytes,
    );
    let flags = [
        Scalar::Boolean(false),
        Scalar::Boolean(true),
        Scalar::Boolean(true),
    ];
    check_deletes(Arc::new(BooleanArray::from(vec![true; 3])), flags);
    // A delete holds decimals with 15 digits after the point, the column here two: 1.49, 1.50, 1.51.
    let decimals = [149, 150, 151]
        .map(|cents: i64| Scalar::Decimal(i256::from_i128(i128::from(cents) * 10_i128.pow(13))));
    let column = Decimal128Array::from(vec![150; 3])
        .with_precision_and_scale(10, 2)
        .unwrap();
    check_deletes(Arc::new(column), decimals);
}

#[test]
fn java_s_order_of_doubles_holds() {
    let rows = |values: [f64; 3]| table(vec![Arc::new(Float64Array::from(values.to_vec()))]);
    let rules = MergeRules::later(vec!["o0".to_owned()]).with_winner(Winner::Greater);
    let base = rows([0.0, f64::NAN, -0.0]);
    let log = rows([-0.0, f64::INFINITY, 0.0]);
    let merged = merged(rules, &base.schema(), &[base], &[Block::Rows(log)]).unwrap();
    let values = merged
        .column(1)
        .as_primitive::<arrow::datatypes::Float64Type>();
    assert!(
        values.value(0).is_sign_positive()
            && values.value(1).is_nan()
            && values.value(2).is_sign_positive()
    );
}

#[test]
fn a_value_of_another_kind_is_corrupt_and_decides_nothing() {
    let base = table(vec![Arc::new(Int64Array::from(vec![5; 3]))]);
    let text = vec![vec![Scalar::Bytes(b"5".to_vec())]; 3];
    assert_eq!(
        keys_left(&base, text).unwrap_err().kind(),
        ErrorKind::Corrupt
    );
    let two = vec![vec![Scalar::Int(9), Scalar::Int(9)]; 3];
    assert_eq!(
        keys_left(&base, two).unwrap_err().kind(),
        ErrorKind::Corrupt
    );
}

#[test]
fn several_columns_are_compared_left_to_right() {
    let two = |first: [i64; 3], second: [&str; 3]| {
        table(vec![
            Arc::new(Int64Array::from(first.to_vec())),
            Arc::new(StringArray::from(second.to_vec())),
        ])
    };
    let rules =
        MergeRules::later(vec!["o0".to_owned(), "o1".to_owned()]).with_winner(Winner::Greater);
    let base = two([5, 5, 5], ["m", "m", "m"]);
    let log = two([5, 5, 6], ["l", "n", "a"]);
    let merged = merged(rules, &base.schema(), &[base], &[Block::Rows(log)]).unwrap();
    let second: Vec<_> = merged
        .column(2)
        .as_string::<i32>()
        .iter()
        .flatten()
        .collect();
    assert_eq!(second, ["m", "n", "a"]);
    let base = two([5, 5, 5], ["m", "m", "m"]);
    let value = |first, second: &str| {
        vec![
            Scalar::Int(first),
            Scalar::Bytes(second.as_bytes().to_vec()),
        ]
    };
    let left = keys_left(&base, vec![value(5, "l"), value(5, "m"), value(6, "a")]);
    assert_eq!(left.unwrap(), ["a"]);
}

#[test]
fn a_binlog_position_is_compared_as_numbers() {
    let rows = |values: [&str; 3]| table(vec![Arc::new(StringArray::from(values.to_vec()))]);
    let rules = MergeRules {
        sequence: true,
        ..MergeRules::later(vec!["o0".to_owned()]).with_winner(Winner::Greater)
    };
    let base = rows(["000001.99", "000010.5", "000001.7"]);
    let log = rows(["000001.100", "9.500", "1.7"]);
    let merged = merged(rules.clone(), &base.schema(), &[base], &[Block::Rows(log)]).unwrap();
    let values: Vec<_> = merged
        .column(1)
        .as_string::<i32>()
        .iter()
        .flatten()
        .collect();
    assert_eq!(values, ["000001.100", "000010.5", "1.7"]);
    let bad = rows(["1", "1.1", "1.1"]);
    let error = super::merged(rules, &bad.schema(), &[], &[Block::Rows(bad)]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt);
}

#[test]
fn an_ordering_field_inside_a_struct_is_found() {
    use arrow::array::StructArray;
    let rows = |values: [i64; 3]| {
        let inner: ArrayRef = Arc::new(Int64Array::from(values.to_vec()));
        let field = Arc::new(Field::new("at", DataType::Int64, true));
        table(vec![Arc::new(StructArray::from(vec![(field, inner)]))])
    };
    let rules = MergeRules::later(vec!["o0.at".to_owned()]).with_winner(Winner::Greater);
    let (base, log) = (rows([5, 5, 5]), rows([4, 5, 6]));
    let merged = merged(rules, &base.schema(), &[base], &[Block::Rows(log)]).unwrap();
    let values = merged
        .column(1)
        .as_struct()
        .column(0)
        .as_primitive::<Int64Type>();
    assert_eq!(values.values().to_vec(), [5, 5, 6]);
}
