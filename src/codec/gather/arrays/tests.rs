use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, AsArray, BooleanArray, Decimal128Array, Float64Array, Int64Array, ListArray,
    MutableArrayData, StringArray, make_array, new_null_array,
};
use arrow::datatypes::{Int32Type, Int64Type};

use super::*;

/// Rows as `(source, row)`; `None` for a null.
type Wanted = [Option<(usize, usize)>];

/// Gathers, and compares row by row with slices of the sources.
fn check(sources: &[ArrayRef], wanted: &Wanted) {
    let mut runs = Runs::default();
    for row in wanted {
        let (source, row) = row.map_or((NO_SOURCE, 0), |(source, row)| (source as u32, row as u32));
        runs.push(source, row);
    }
    let references: Vec<&ArrayRef> = sources.iter().collect();
    let gathered = gather(&references, &runs).unwrap();
    gathered.to_data().validate_full().unwrap();
    assert_eq!(gathered.len(), wanted.len());
    for (at, row) in wanted.iter().enumerate() {
        let expected = match row {
            Some((source, row)) => sources[*source].slice(*row, 1),
            None => new_null_array(gathered.data_type(), 1),
        };
        assert_eq!(&gathered.slice(at, 1), &expected, "row {at}");
    }
    // The same by an array that is another's too, and by one of its own.
    let before = copied(&sources[0]);
    for first in [Arc::clone(&sources[0]), copied(&sources[0])] {
        let replaced = replace(first, &references[1..], &runs).unwrap();
        replaced.to_data().validate_full().unwrap();
        assert_eq!(&replaced, &gathered);
    }
    assert_eq!(&sources[0], &before);
}

/// In memory of its own.
fn copied(array: &ArrayRef) -> ArrayRef {
    let data = array.to_data();
    let mut copy = MutableArrayData::new(vec![&data], false, array.len());
    copy.try_extend(0, 0, array.len()).unwrap();
    make_array(copy.freeze())
}

/// Runs of one row, of a few and of many, out of both sources and their slices, with nulls or without.
fn check_all(first: ArrayRef, second: ArrayRef) {
    let (a, b) = (first.len(), second.len());
    let alternating: Vec<_> = (0..a.min(b)).map(|row| Some((row % 2, row))).collect();
    let long = (0..a).map(|row| Some((0, row)));
    let long: Vec<_> = long.chain((1..b).map(|row| Some((1, row)))).collect();
    let backwards: Vec<_> = (0..b).rev().map(|row| Some((1, row))).collect();
    let with_nulls: Vec<_> = (0..a)
        .map(|row| (row % 5 != 0).then_some((0, row)))
        .collect();
    let replaced: Vec<_> = (0..a)
        .map(|row| Some((usize::from(row % 3 == 1 && row < b - 1), row)))
        .collect();
    let sliced = [first.slice(3, a - 5), second.slice(1, b - 1)];
    for sources in [&[first, second], &sliced] {
        for wanted in [&alternating, &long, &backwards, &with_nulls, &replaced] {
            let fits =
                |row: &Option<(usize, usize)>| row.is_none_or(|(of, at)| at < sources[of].len());
            let wanted: Vec<_> = wanted.iter().copied().filter(fits).collect();
            check(sources, &wanted);
        }
    }
}

fn nullable<T>(rows: usize, value: impl Fn(usize) -> T) -> impl Iterator<Item = Option<T>> {
    (0..rows).map(move |row| (row % 7 != 3).then(|| value(row)))
}

#[test]
fn texts_of_every_length_are_gathered_whole() {
    let text = |row: usize| "añ".repeat(row % 70);
    let plain: StringArray = (0..300).map(|row| Some(text(row))).collect();
    let with_nulls: StringArray = nullable(200, text).collect();
    check_all(Arc::new(plain.clone()), Arc::new(with_nulls));
    check_all(Arc::new(plain.clone()), Arc::new(plain));
}

#[test]
fn numbers_and_truth_values_are_gathered_with_their_nulls() {
    let longs: Int64Array = nullable(99, |row| row as i64).collect();
    check_all(
        Arc::new(Int64Array::from_iter_values(0..120)),
        Arc::new(longs),
    );
    let doubles: Float64Array = nullable(50, |row| row as f64 / 3.0).collect();
    check_all(Arc::new(doubles.clone()), Arc::new(doubles));
    let decimals = Decimal128Array::from_iter(nullable(60, |row| row as i128));
    let decimals = decimals.with_precision_and_scale(18, 4).unwrap();
    check_all(Arc::new(decimals.clone()), Arc::new(decimals));
    let booleans: BooleanArray = nullable(130, |row| row % 3 == 0).collect();
    let plain = BooleanArray::from_iter((0..77).map(|row| Some(row % 2 == 0)));
    check_all(Arc::new(booleans), Arc::new(plain));
}

fn replacing(rows: usize, replaced: impl Fn(usize) -> bool) -> Runs {
    let mut runs = Runs::default();
    (0..rows as u32).for_each(|row| runs.push(u32::from(replaced(row as usize)), row));
    runs
}

#[test]
fn rows_of_the_same_size_are_written_where_the_others_lie() {
    let runs = replacing(40, |row| row % 3 == 0);
    let longs = Int64Array::from_iter_values(0..40);
    let memory = longs.values().as_ptr();
    let negative: ArrayRef = Arc::new(Int64Array::from_iter_values((0..40).map(|row| -row)));
    let replaced = replace(Arc::new(longs), &[&negative], &runs).unwrap();
    let replaced = replaced.as_primitive::<Int64Type>();
    assert_eq!(replaced.values().as_ptr(), memory);
    assert_eq!(&replaced.values()[..7], [0, 1, 2, -3, 4, 5, -6]);

    let width = |row: usize| row % 11;
    let text = |letter: &str| -> StringArray {
        (0..40).map(|row| Some(letter.repeat(width(row)))).collect()
    };
    let own = text("a");
    let memory = own.value_data().as_ptr();
    let other: ArrayRef = Arc::new(text("b"));
    let replaced = replace(Arc::new(own), &[&other], &runs).unwrap();
    let replaced = replaced.as_string::<i32>();
    assert_eq!(replaced.value_data().as_ptr(), memory);
    for row in 0..40 {
        let letter = if row % 3 == 0 { "b" } else { "a" };
        assert_eq!(replaced.value(row), letter.repeat(width(row)));
    }
}

#[test]
fn a_row_of_another_length_behind_many_of_the_same_is_no_harm() {
    let own = copied(&(Arc::new(StringArray::from_iter_values(["abc"; 90])) as ArrayRef));
    let other = (0..90).map(|row| if row == 80 { "longer" } else { "xyz" });
    let other: ArrayRef = Arc::new(StringArray::from_iter_values(other));
    let replaced = replace(own, &[&other], &replacing(90, |row| row % 2 == 0)).unwrap();
    let replaced = replaced.as_string::<i32>();
    for row in 0..90 {
        let expected = match row {
            80 => "longer",
            _ if row % 2 == 0 => "xyz",
            _ => "abc",
        };
        assert_eq!(replaced.value(row), expected);
    }
}

#[test]
fn rows_of_another_type_replace_none() {
    let longs: ArrayRef = Arc::new(Int64Array::from_iter_values(0..5));
    let texts: ArrayRef = Arc::new(StringArray::from_iter_values(["a", "b"]));
    let decimals: ArrayRef = Arc::new(Decimal128Array::from_iter_values(0..5));
    let coarser = Decimal128Array::from_iter_values(0..5).with_precision_and_scale(38, 2);
    let coarser: ArrayRef = Arc::new(coarser.unwrap());
    for (first, other) in [(&longs, &texts), (&texts, &longs), (&decimals, &coarser)] {
        let runs = replacing(first.len(), |row| row == 1);
        assert!(replace(Arc::clone(first), &[other], &runs).is_err());
    }
}

#[test]
fn lists_are_gathered_by_arrow() {
    let rows = nullable(40, |row| vec![Some(row as i32); row % 4]);
    let lists: ListArray = ListArray::from_iter_primitive::<Int32Type, _, _>(rows);
    check_all(Arc::new(lists.clone()), Arc::new(lists));
}

#[test]
fn a_run_beyond_its_array_is_refused() {
    let longs: ArrayRef = Arc::new(Int64Array::from_iter_values(0..5));
    let texts: ArrayRef = Arc::new(StringArray::from_iter_values(["a", "b"]));
    let flags: ArrayRef = Arc::new(BooleanArray::from(vec![Some(true), None]));
    for array in [&longs, &texts, &flags] {
        for (source, row) in [(0, array.len() as u32), (1, 0)] {
            let mut runs = Runs::default();
            runs.push(0, 0);
            runs.push(source, row);
            let error = gather(&[array], &runs).unwrap_err();
            assert_eq!(error.kind(), crate::error::ErrorKind::Internal);
        }
        let mut runs = replacing(array.len() - 1, |_| false);
        runs.push(1, array.len() as u32);
        let error = replace(copied(array), &[array], &runs).unwrap_err();
        assert_eq!(error.kind(), crate::error::ErrorKind::Internal);
    }
    assert!(gather(&[&longs, &texts], &Runs::default()).is_err());
}
