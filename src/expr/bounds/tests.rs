//! The mask is the judge: over every small set of values, no bounds may say never where the mask keeps a row.

use std::cmp::Ordering;
use std::sync::Arc;

use arrow::array::*;
use arrow::datatypes::{DataType, Schema, i256};

use crate::expr::{Bounds, ColumnBounds, Filter, Operator, Predicate, Scalar};

struct Known(ColumnBounds);

impl Bounds for Known {
    fn column(&self, path: &[String]) -> Option<ColumnBounds> {
        (path == ["c"]).then(|| self.0.clone())
    }
}

struct Unknown;

impl Bounds for Unknown {
    fn column(&self, _: &[String]) -> Option<ColumnBounds> {
        None
    }
}

/// A type's small world: an array of all its values and the literals to compare them with.
struct World {
    values: ArrayRef,
    literals: Vec<&'static str>,
}

fn worlds() -> Vec<World> {
    let world = |values: ArrayRef, literals: &[&'static str]| World {
        values,
        literals: literals.to_vec(),
    };
    let decimals = Decimal128Array::from(vec![-150, 0, 1, 150])
        .with_precision_and_scale(5, 2)
        .unwrap();
    let wide = [-1, 0, 7].map(i256::from_i128);
    let wide = Decimal256Array::from(wide.to_vec())
        .with_precision_and_scale(50, 0)
        .unwrap();
    let floats = vec![
        f64::NEG_INFINITY,
        -1.0,
        -0.0,
        0.0,
        1.0,
        f64::INFINITY,
        f64::NAN,
    ];
    let float_texts = [
        "-Infinity",
        "-1",
        "-0.0",
        "0",
        "0.5",
        "1",
        "Infinity",
        "NaN",
    ];
    vec![
        world(
            Arc::new(Int32Array::from(vec![-1, 0, 1, i32::MAX])),
            &["-2", "-1", "0", "1", "2147483647"],
        ),
        world(
            Arc::new(Int64Array::from(vec![i64::MIN, 0, i64::MAX])),
            &["-9223372036854775808", "1"],
        ),
        world(
            Arc::new(Int8Array::from(vec![-128, 0, 127])),
            &["-128", "1"],
        ),
        world(
            Arc::new(BooleanArray::from(vec![false, true])),
            &["false", "true"],
        ),
        world(
            Arc::new(Float32Array::from(
                floats.iter().map(|v| *v as f32).collect::<Vec<_>>(),
            )),
            &float_texts,
        ),
        world(Arc::new(Float64Array::from(floats)), &float_texts),
        world(
            Arc::new(decimals),
            &[
                "-1.5", "-1.505", "0", "0.001", "0.01", "1.5", "1e30", "-1e99",
            ],
        ),
        world(Arc::new(wide), &["-1", "0.5", "7", "1e80"]),
        world(
            Arc::new(StringArray::from(vec!["", "a", "ab", "b", "é"])),
            &["", "a", "aa", "ab", "é", "z"],
        ),
        world(
            Arc::new(BinaryArray::from(vec![&b""[..], b"\x00", b"\x7f", b"\x80"])),
            &["", "00", "7f", "ff"],
        ),
        world(
            Arc::new(Date32Array::from(vec![-1, 0, 1])),
            &["1969-12-31", "1970-01-01", "1970-01-03"],
        ),
        world(
            Arc::new(TimestampMicrosecondArray::from(vec![-1, 0, 1]).with_timezone("UTC")),
            &[
                "1969-12-31T23:59:59.9999995Z",
                "1970-01-01T00:00:00Z",
                "1970-01-01T00:00:00.0000015Z",
            ],
        ),
    ]
}

/// Every filter on `c` with one of the literals, or two of them after IN and NOT IN.
fn filters(literals: &[&str]) -> Vec<Filter> {
    let mut filters = Vec::new();
    for operator in Operator::ALL {
        let one = |values: &[&str]| {
            Filter::new(
                "c",
                operator,
                values.iter().map(|v| (*v).to_owned()).collect(),
            )
            .unwrap()
        };
        match operator {
            Operator::IsNull | Operator::IsNotNull => filters.push(one(&[])),
            Operator::In | Operator::NotIn => {
                for a in literals {
                    filters.push(one(&[a]));
                    filters.extend(literals.iter().map(|b| one(&[a, b])));
                }
            }
            _ => filters.extend(literals.iter().map(|a| one(&[a]))),
        }
    }
    filters
}

/// Sets of at most three rows, each a place in the world's values or a null.
fn row_sets(values: usize) -> Vec<Vec<Option<usize>>> {
    let one: Vec<Option<usize>> = (0..values).map(Some).chain([None]).collect();
    let mut sets = vec![vec![]];
    for a in &one {
        sets.push(vec![*a]);
        for b in &one {
            sets.push(vec![*a, *b]);
        }
    }
    sets.extend((0..values).map(|v| vec![Some(v), None, Some(values - 1)]));
    sets
}

fn pick(values: &ArrayRef, rows: &[Option<usize>]) -> ArrayRef {
    let places = UInt64Array::from(
        rows.iter()
            .map(|row| row.map(|v| v as u64))
            .collect::<Vec<_>>(),
    );
    arrow::compute::take(values, &places, None).unwrap()
}

/// Exact bounds as Parquet states them: of the values that are not NaN.
fn exact(array: &ArrayRef) -> ColumnBounds {
    let nan = |scalar: &Scalar| matches!(scalar, Scalar::Float(v) if v.is_nan());
    let mut scalars: Vec<Scalar> = (0..array.len())
        .filter_map(|row| Scalar::from_array(array, row))
        .collect();
    scalars.retain(|scalar| !nan(scalar));
    scalars.sort_by(Scalar::order);
    ColumnBounds {
        min: scalars.first().cloned(),
        max: scalars.last().cloned(),
        null_count: Some(array.null_count() as u64),
        value_count: Some(array.len() as u64),
    }
}

/// The exact bounds and every weaker form of them.
fn weaker(exact: &ColumnBounds, values: &ArrayRef) -> Vec<ColumnBounds> {
    let all: Vec<Scalar> = (0..values.len())
        .filter_map(|row| Scalar::from_array(values, row))
        .collect();
    let below = |min: &Scalar| {
        all.iter()
            .filter(|v| v.order(min) != Ordering::Greater)
            .cloned()
            .collect::<Vec<_>>()
    };
    let above = |max: &Scalar| {
        all.iter()
            .filter(|v| v.order(max) != Ordering::Less)
            .cloned()
            .collect::<Vec<_>>()
    };
    let mut mins: Vec<_> = exact.min.iter().flat_map(below).map(Some).collect();
    let mut maxes: Vec<_> = exact.max.iter().flat_map(above).map(Some).collect();
    mins.push(None);
    maxes.push(None);
    let mut forms = Vec::new();
    for min in &mins {
        for max in &maxes {
            for counted in [true, false] {
                forms.push(ColumnBounds {
                    min: min.clone(),
                    max: max.clone(),
                    null_count: exact.null_count.filter(|_| counted),
                    value_count: exact.value_count.filter(|_| counted),
                });
            }
        }
    }
    forms
}

#[test]
fn bounds_never_drop_what_the_mask_keeps() {
    let mut asked = 0;
    for World { values, literals } in worlds() {
        for rows in row_sets(values.len()) {
            let array = pick(&values, &rows);
            let batch =
                RecordBatch::try_from_iter_with_nullable([("c", array.clone(), true)]).unwrap();
            let forms: Vec<_> = weaker(&exact(&array), &values)
                .into_iter()
                .map(Known)
                .collect();
            for filter in filters(&literals) {
                let predicate =
                    Predicate::bind(std::slice::from_ref(&filter), batch.schema_ref()).unwrap();
                if predicate.mask(&batch).unwrap().true_count() == 0 {
                    continue;
                }
                for known in &forms {
                    asked += 1;
                    assert!(
                        predicate.may_match(known),
                        "{filter} over {array:?} with {:?}",
                        known.0
                    );
                }
                assert!(predicate.may_match(&Unknown), "{filter}");
            }
        }
    }
    assert!(asked > 100_000, "{asked}");
}

/// Whether exact bounds of `values` let `filter` pass.
fn check(values: ArrayRef, operator: &str, text: &str, expected: bool) {
    let filter = Filter::new(
        "c",
        operator.parse().unwrap(),
        match text {
            "" if operator.starts_with("IS") => vec![],
            _ => text.split(',').map(str::to_owned).collect(),
        },
    );
    let schema = Schema::new(vec![arrow::datatypes::Field::new(
        "c",
        values.data_type().clone(),
        true,
    )]);
    let predicate = Predicate::bind(&[filter.unwrap()], &schema).unwrap();
    assert_eq!(
        predicate.may_match(&Known(exact(&values))),
        expected,
        "{operator} {text}"
    );
}

#[test]
fn values_outside_the_bounds_are_never_there() {
    let ints = || Arc::new(Int32Array::from(vec![10, 20])) as ArrayRef;
    for (operator, text, expected) in [
        ("=", "9", false),
        ("=", "10", true),
        ("=", "15", true),
        ("=", "21", false),
        ("<", "10", false),
        ("<", "11", true),
        ("<=", "9", false),
        ("<=", "10", true),
        (">", "20", false),
        (">", "19", true),
        (">=", "21", false),
        (">=", "20", true),
        ("!=", "10", true),
        ("IN", "1,2,30", false),
        ("IN", "1,12", true),
        ("NOT IN", "10,20", true),
        ("IS NULL", "", false),
        ("IS NOT NULL", "", true),
    ] {
        check(ints(), operator, text, expected);
    }
    let same = || Arc::new(Int32Array::from(vec![10, 10])) as ArrayRef;
    check(same(), "!=", "10", false);
    check(same(), "NOT IN", "10,20", false);
    check(same(), "NOT IN", "20", true);
}

#[test]
fn only_nulls_match_only_is_null() {
    let nulls = || new_null_array(&DataType::Int32, 2);
    check(nulls(), "IS NULL", "", true);
    check(nulls(), "IS NOT NULL", "", false);
    check(nulls(), "=", "1", false);
    check(nulls(), "!=", "1", false);
    check(nulls(), "NOT IN", "1", false);
}

#[test]
fn floats_may_hide_a_nan_above_their_maximum() {
    let floats = || Arc::new(Float64Array::from(vec![0.0, 1.0])) as ArrayRef;
    check(floats(), ">", "5", true);
    check(floats(), "=", "NaN", true);
    check(floats(), "!=", "0", true);
    check(floats(), "<", "0", false);
    check(floats(), "<", "-0.0", false);
    check(floats(), "=", "5", false);
    check(floats(), ">", "NaN", false);
}

#[test]
fn a_decimal_between_two_values_of_the_scale_is_placed_between_them() {
    let cents = || {
        Arc::new(
            Decimal128Array::from(vec![100])
                .with_precision_and_scale(5, 2)
                .unwrap(),
        ) as ArrayRef
    };
    check(cents(), ">", "1.001", false);
    check(cents(), "<", "1.001", true);
    check(cents(), "=", "1.001", false);
    check(cents(), "<", "0.999", false);
}
