use std::collections::HashMap;
use std::sync::Arc;

use arrow::array::*;
use arrow::buffer::{NullBuffer, OffsetBuffer};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};

use super::*;
use crate::error::ErrorKind;
use crate::schema::FileName;

fn batch(fields: Vec<Field>, columns: Vec<ArrayRef>) -> RecordBatch {
    RecordBatch::try_new(Arc::new(Schema::new(fields)), columns).unwrap()
}

fn target(fields: Vec<Field>) -> SchemaRef {
    Arc::new(Schema::new(fields))
}

fn ints(values: Vec<Option<i32>>) -> ArrayRef {
    Arc::new(Int32Array::from(values))
}

fn longs(values: Vec<Option<i64>>) -> ArrayRef {
    Arc::new(Int64Array::from(values))
}

fn int(name: &str) -> Field {
    Field::new(name, DataType::Int32, true)
}

fn long(name: &str) -> Field {
    Field::new(name, DataType::Int64, true)
}

fn structs(fields: Vec<Field>, columns: Vec<ArrayRef>, valid: Option<Vec<bool>>) -> ArrayRef {
    Arc::new(StructArray::new(
        fields.into(),
        columns,
        valid.map(NullBuffer::from),
    ))
}

fn refused(batch: &RecordBatch, target: &SchemaRef, path: &str) {
    let error = conform(batch, target).unwrap_err();
    assert_eq!(
        (error.kind(), error.get("field")),
        (ErrorKind::Schema, Some(path)),
        "{error}"
    );
}

#[test]
fn columns_are_found_by_name_widened_and_filled_with_null() {
    let file = batch(
        vec![int("b"), int("gone"), int("a")],
        vec![ints(vec![Some(1)]), ints(vec![Some(2)]), ints(vec![None])],
    );
    let wanted = target(vec![long("a"), int("new"), int("b")]);
    let expected = batch(
        vec![long("a"), int("new"), int("b")],
        vec![longs(vec![None]), ints(vec![None]), ints(vec![Some(1)])],
    );
    assert_eq!(conform(&file, &wanted).unwrap(), expected);
    let conformer = Conformer::new(file.schema_ref(), &wanted).unwrap();
    assert_eq!(conformer.file_columns(), [2, 0]);
}

#[test]
fn names_in_another_letter_case_are_other_names() {
    let file = batch(vec![int("A")], vec![ints(vec![Some(1)])]);
    assert_eq!(
        conform(&file, &target(vec![int("a")]))
            .unwrap()
            .column(0)
            .null_count(),
        1
    );
}

#[test]
fn rows_are_counted_without_columns() {
    let file = batch(vec![int("a")], vec![ints(vec![Some(1), None])]);
    assert_eq!(conform(&file, &target(vec![])).unwrap().num_rows(), 2);
}

#[test]
fn fields_of_structs_are_matched_by_name() {
    let column = structs(
        vec![int("a")],
        vec![ints(vec![Some(1), None, Some(3)])],
        Some(vec![true, true, false]),
    );
    let file = batch(
        vec![Field::new("s", column.data_type().clone(), true)],
        vec![column],
    );
    let fields = vec![Field::new("b", DataType::Utf8, true), long("a")];
    let made = conform(
        &file,
        &target(vec![Field::new(
            "s",
            DataType::Struct(fields.clone().into()),
            true,
        )]),
    )
    .unwrap();
    let b: ArrayRef = Arc::new(StringArray::from(vec![None::<&str>; 3]));
    let expected = structs(
        fields,
        vec![b, longs(vec![Some(1), None, Some(3)])],
        Some(vec![true, true, false]),
    );
    assert_eq!(made.column(0), &expected);
}

fn list(element: Field, values: ArrayRef, lengths: &[usize]) -> ArrayRef {
    let offsets = OffsetBuffer::from_lengths(lengths.iter().copied());
    Arc::new(ListArray::new(Arc::new(element), offsets, values, None))
}

#[test]
fn two_level_lists_become_the_lists_of_the_table() {
    let inner = vec![Field::new("x", DataType::Int32, false)];
    let values = structs(inner, vec![ints(vec![Some(1), Some(2)])], None);
    let column = list(
        Field::new("array", values.data_type().clone(), false),
        values,
        &[0, 2],
    );
    let file = batch(
        vec![Field::new("l", column.data_type().clone(), false)],
        vec![column],
    );
    let inner = vec![long("x"), int("y")];
    let values = structs(
        inner,
        vec![longs(vec![Some(1), Some(2)]), ints(vec![None, None])],
        None,
    );
    let expected = list(
        Field::new("element", values.data_type().clone(), true),
        values,
        &[0, 2],
    );
    let wanted = target(vec![Field::new("l", expected.data_type().clone(), true)]);
    assert_eq!(conform(&file, &wanted).unwrap().column(0), &expected);
}

fn map(names: [&str; 3], value_name_nullable: bool, values: ArrayRef) -> ArrayRef {
    let [entries, key, value] = names;
    let fields = vec![
        Field::new(key, DataType::Utf8, false),
        Field::new(value, values.data_type().clone(), value_name_nullable),
    ];
    let keys: ArrayRef = Arc::new(StringArray::from(vec!["k", "l"]));
    let pairs = StructArray::new(fields.clone().into(), vec![keys, values], None);
    let entries = Field::new(entries, DataType::Struct(fields.into()), false);
    let offsets = OffsetBuffer::from_lengths([1, 0, 1]);
    let nulls = NullBuffer::from(vec![true, false, true]);
    Arc::new(MapArray::new(
        Arc::new(entries),
        offsets,
        pairs,
        Some(nulls),
        false,
    ))
}

#[test]
fn maps_take_the_names_of_the_table_and_widen_their_values() {
    let column = map(
        ["map", "keys", "values"],
        false,
        ints(vec![Some(1), Some(2)]),
    );
    let file = batch(
        vec![Field::new("m", column.data_type().clone(), true)],
        vec![column],
    );
    let expected = map(
        ["key_value", "key", "value"],
        true,
        longs(vec![Some(1), Some(2)]),
    );
    let wanted = target(vec![Field::new("m", expected.data_type().clone(), true)]);
    assert_eq!(conform(&file, &wanted).unwrap().column(0), &expected);
}

#[test]
fn what_cannot_be_given_is_refused_by_its_path() {
    let file = batch(vec![long("a")], vec![longs(vec![None])]);
    refused(&file, &target(vec![int("a")]), "a");
    refused(
        &file,
        &target(vec![Field::new(
            "a",
            DataType::Struct(vec![int("x")].into()),
            true,
        )]),
        "a",
    );
    let inner = structs(vec![long("x")], vec![longs(vec![None])], None);
    let outer = structs(
        vec![Field::new("s", inner.data_type().clone(), true)],
        vec![inner],
        None,
    );
    let file = batch(
        vec![Field::new("o", outer.data_type().clone(), true)],
        vec![outer],
    );
    let narrow = DataType::Struct(vec![int("x")].into());
    let wanted = |inner: DataType| DataType::Struct(vec![Field::new("s", inner, true)].into());
    refused(
        &file,
        &target(vec![Field::new("o", wanted(narrow), true)]),
        "o.s.x",
    );
    let required = DataType::Struct(vec![Field::new("y", DataType::Int32, false)].into());
    refused(
        &file,
        &target(vec![Field::new("o", wanted(required), true)]),
        "o.s.y",
    );
}

#[test]
fn an_absent_column_that_cannot_be_null_is_refused() {
    let file = batch(vec![int("a")], vec![ints(vec![None])]);
    refused(
        &file,
        &target(vec![Field::new("b", DataType::Int32, false)]),
        "b",
    );
}

#[test]
fn a_null_where_the_table_has_none_is_refused() {
    let file = batch(vec![int("a")], vec![ints(vec![None])]);
    let wanted = target(vec![Field::new("a", DataType::Int32, false)]);
    assert_eq!(
        conform(&file, &wanted).unwrap_err().kind(),
        ErrorKind::Schema
    );
}

/// A column that the file lacks, with a default.
fn absent(data_type: DataType, default: &str) -> Result<ArrayRef> {
    let metadata = HashMap::from([(DEFAULT_KEY.to_owned(), default.to_owned())]);
    let wanted = target(vec![
        Field::new("c", data_type, false).with_metadata(metadata),
    ]);
    let file = batch(vec![int("a")], vec![ints(vec![None, None])]);
    Ok(Arc::clone(conform(&file, &wanted)?.column(0)))
}

#[test]
fn an_absent_column_is_its_default() {
    let check = |default: &str, expected: ArrayRef| {
        assert_eq!(
            &absent(expected.data_type().clone(), default).unwrap(),
            &expected,
            "{default}"
        );
    };
    check("3", ints(vec![Some(3), Some(3)]));
    check("-4", longs(vec![Some(-4), Some(-4)]));
    check("true", Arc::new(BooleanArray::from(vec![true, true])));
    check("1.5", Arc::new(Float32Array::from(vec![1.5, 1.5])));
    check("2", Arc::new(Float64Array::from(vec![2.0, 2.0])));
    check("\"é\"", Arc::new(StringArray::from(vec!["é", "é"])));
    check(
        "\"\\u00ff\\u0000\"",
        Arc::new(BinaryArray::from(vec![&b"\xff\x00"[..], b"\xff\x00"])),
    );
    check("7", Arc::new(Date32Array::from(vec![7, 7])));
    check(
        "9",
        Arc::new(TimestampMicrosecondArray::from(vec![9, 9]).with_timezone("UTC")),
    );
    check(
        "[]",
        list(
            Field::new("element", DataType::Int32, true),
            ints(vec![]),
            &[0, 0],
        ),
    );
}

#[test]
fn a_default_of_another_type_is_refused() {
    for (data_type, default) in [
        (DataType::Int32, "\"x\""),
        (DataType::Int32, "2147483648"),
        (DataType::Utf8, "1"),
        (DataType::Boolean, "0"),
        (DataType::Binary, "\"日\""),
    ] {
        assert_eq!(
            absent(data_type, default).unwrap_err().kind(),
            ErrorKind::Schema,
            "{default}"
        );
    }
    assert_eq!(
        absent(DataType::Decimal128(5, 2), "\"x\"")
            .unwrap_err()
            .kind(),
        ErrorKind::Unsupported
    );
}

fn names<const N: usize>(fields: [(&str, Option<&str>, FileNames); N]) -> FileNames {
    let fields = fields.map(|(field, name, inner)| {
        let name = name.map(str::to_owned);
        (field.to_owned(), FileName { name, inner })
    });
    FileNames::new(fields.into())
}

#[test]
fn columns_are_found_by_the_names_they_had() {
    let same = FileNames::default;
    let inner = structs(
        vec![int("x"), int("y")],
        vec![ints(vec![Some(1)]), ints(vec![Some(2)])],
        None,
    );
    let file = batch(
        vec![
            int("name"),
            int("gone"),
            Field::new("s", inner.data_type().clone(), true),
        ],
        vec![ints(vec![Some(7)]), ints(vec![Some(8)]), inner],
    );
    // `name` was renamed, `gone` dropped and added again, and the fields of `s` changed their names with each other.
    let swapped = DataType::Struct(vec![int("x"), int("y")].into());
    let wanted = target(vec![
        long("title"),
        int("gone"),
        Field::new("s", swapped, true),
    ]);
    let in_s = names([("x", Some("y"), same()), ("y", Some("x"), same())]);
    let names = names([
        ("title", Some("name"), same()),
        ("gone", None, same()),
        ("s", Some("s"), in_s),
    ]);
    let conformer = Conformer::with_names(file.schema_ref(), &wanted, &names).unwrap();
    assert_eq!(conformer.file_columns(), [0, 2]);
    let given = conformer.apply(&file).unwrap();
    let expected = structs(
        vec![int("x"), int("y")],
        vec![ints(vec![Some(2)]), ints(vec![Some(1)])],
        None,
    );
    let columns = vec![longs(vec![Some(7)]), ints(vec![None]), expected];
    assert_eq!(given, RecordBatch::try_new(wanted, columns).unwrap());
}
