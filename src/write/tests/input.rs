//! What is refused, and what is brought to the table's types.

use arrow::array::{
    BinaryViewArray, DictionaryArray, FixedSizeListArray, Int8Array, Int64Array, LargeListArray,
    LargeStringArray, ListArray, MapArray, RunArray, StringViewArray, StructArray,
    TimestampMillisecondArray,
};
use arrow::buffer::OffsetBuffer;
use arrow::datatypes::{DataType, Field, Int8Type, Int32Type, TimeUnit};

use super::*;
use crate::error::{Error, ErrorKind};

fn avro(fields: &str) -> String {
    format!(r#"{{"type":"record","name":"t_record","namespace":"hoodie.t","fields":[{fields}]}}"#)
}

fn of(columns: &[(&str, ArrayRef)]) -> RecordBatch {
    let columns = columns
        .iter()
        .map(|(name, array)| (*name, array.clone(), true));
    RecordBatch::try_from_iter_with_nullable(columns).unwrap()
}

/// What a table of these Avro fields makes of some columns.
fn written(fields: &str, columns: &[(&str, ArrayRef)], widen: bool) -> Result<RecordBatch> {
    let options = AppendOptions {
        widen,
        ..AppendOptions::default()
    };
    let outcome = append(&config(&[]), &avro(fields), options, &[of(columns)])?;
    let batch = whole(&outcome.files[&outcome.written[0].name]);
    let own: Vec<usize> = (5..batch.num_columns()).collect();
    Ok(batch.project(&own).unwrap())
}

fn failure(fields: &str, columns: &[(&str, ArrayRef)], widen: bool) -> Error {
    written(fields, columns, widen).err().unwrap()
}

fn texts() -> ArrayRef {
    Arc::new(StringArray::from(vec![
        Some("a"),
        None,
        Some("long enough for a view of its own"),
        Some(""),
    ]))
}

const TEXT: &str = r#"{"name":"s","type":["null","string"],"default":null}"#;
const LONG: &str = r#"{"name":"n","type":["null","long"],"default":null}"#;

#[test]
fn text_of_every_form_is_the_same_text() {
    let plain = texts();
    let values = plain.as_string::<i32>();
    let mut dictionary = arrow::array::StringDictionaryBuilder::<Int8Type>::new();
    values
        .iter()
        .for_each(|text| dictionary.append_option(text));
    let ends = arrow::array::Int32Array::from(vec![1, 2, 3, 4]);
    let forms: [ArrayRef; 4] = [
        Arc::new(StringViewArray::from_iter(values.iter())),
        Arc::new(LargeStringArray::from_iter(values.iter())),
        Arc::new(dictionary.finish()),
        Arc::new(RunArray::<Int32Type>::try_new(&ends, &plain).unwrap()),
    ];
    for form in forms {
        // A slice of it too.
        for (start, rows) in [(0, 4), (1, 2)] {
            let given = form.slice(start, rows);
            let found = written(TEXT, &[("s", given)], false).unwrap();
            assert_eq!(
                found.column(0),
                &plain.slice(start, rows),
                "{}",
                form.data_type()
            );
        }
    }
}

#[test]
fn runs_and_dictionaries_hold_numbers_binary_and_lists_too() {
    let numbers = DictionaryArray::<Int32Type>::try_new(
        Int32Array::from(vec![Some(1), None, Some(0), Some(1)]),
        Arc::new(Int64Array::from(vec![10, 20])),
    );
    let found = written(LONG, &[("n", Arc::new(numbers.unwrap()))], false).unwrap();
    let expected = Int64Array::from(vec![Some(20), None, Some(10), Some(20)]);
    assert_eq!(found.column(0).as_ref(), &expected as &dyn Array);

    let binary = r#"{"name":"b","type":["null","bytes"],"default":null}"#;
    let views = BinaryViewArray::from_iter([Some(b"ab".as_slice()), None]);
    let found = written(binary, &[("b", Arc::new(views))], false).unwrap();
    assert_eq!(found.column(0).as_binary::<i32>().value(0), b"ab");

    let list =
        r#"{"name":"l","type":["null",{"type":"array","items":["null","long"]}],"default":null}"#;
    let item = Arc::new(Field::new("item", DataType::Int64, true));
    let items = Arc::new(Int64Array::from(vec![Some(1), None, Some(3), Some(4)]));
    let large = LargeListArray::new(
        item.clone(),
        OffsetBuffer::from_lengths([3, 1]),
        items.clone(),
        None,
    );
    let small = ListArray::new(
        item.clone(),
        OffsetBuffer::from_lengths([3, 1]),
        items.clone(),
        None,
    );
    let fixed = FixedSizeListArray::new(item, 2, items, None);
    for (given, lengths) in [
        (Arc::new(large) as ArrayRef, [3, 1]),
        (Arc::new(small), [3, 1]),
        (Arc::new(fixed), [2, 2]),
    ] {
        let found = written(list, &[("l", given)], false).unwrap();
        let found = found.column(0).as_list::<i32>();
        assert_eq!([found.value_length(0), found.value_length(1)], lengths);
        assert!(found.values().is_null(1));
        let DataType::List(element) = found.data_type() else {
            panic!()
        };
        assert_eq!(element.name(), "element");
    }
}

#[test]
fn nested_columns_come_back_with_their_nulls() {
    let fields = r#"{"name":"m","type":["null",{"type":"map","values":["null","long"]}],"default":null},
        {"name":"r","type":["null",{"type":"record","name":"r","fields":[
            {"name":"a","type":["null","string"],"default":null},
            {"name":"l","type":["null",{"type":"array","items":["null","long"]}],"default":null}]}],"default":null}"#;
    let mut maps = arrow::array::MapBuilder::new(
        None,
        arrow::array::StringBuilder::new(),
        arrow::array::Int64Builder::new(),
    );
    for row in 0..6_i64 {
        if row % 3 == 2 {
            maps.append(false).unwrap();
            continue;
        }
        for entry in 0..row {
            maps.keys().append_value(format!("k{entry}"));
            maps.values()
                .append_option((entry % 2 == 0).then_some(entry));
        }
        maps.append(true).unwrap();
    }
    let maps: MapArray = maps.finish();
    let item = Arc::new(Field::new("element", DataType::Int64, true));
    let lists = ListArray::new(
        item,
        OffsetBuffer::from_lengths([0, 2, 1, 0, 3, 1]),
        Arc::new(Int64Array::from(vec![
            Some(1),
            None,
            Some(3),
            Some(4),
            None,
            Some(6),
            None,
        ])),
        Some(vec![true, true, true, false, true, true].into()),
    );
    let records = StructArray::new(
        vec![
            Field::new("a", DataType::Utf8, true),
            Field::new("l", lists.data_type().clone(), true),
        ]
        .into(),
        vec![
            Arc::new(StringArray::from(vec![
                Some("x"),
                None,
                Some("y"),
                None,
                None,
                Some("z"),
            ])),
            Arc::new(lists),
        ],
        Some(vec![true, true, false, true, true, true].into()),
    );
    let given: [(&str, ArrayRef); 2] = [
        ("m", Arc::new(maps.clone())),
        ("r", Arc::new(records.clone())),
    ];
    let found = written(fields, &given, false).unwrap();
    let show = |array: &ArrayRef| {
        let options = arrow::util::display::FormatOptions::default().with_null("null");
        let formatter = arrow::util::display::ArrayFormatter::try_new(array, &options).unwrap();
        (0..array.len())
            .map(|row| formatter.value(row).to_string())
            .collect::<Vec<_>>()
    };
    let maps: ArrayRef = Arc::new(maps);
    let records: ArrayRef = Arc::new(records);
    assert_eq!(show(found.column(0)), show(&maps));
    assert_eq!(show(found.column(1)), show(&records));
}

#[test]
fn columns_must_be_the_tables_by_name_order_and_type() {
    let number: ArrayRef = Arc::new(Int64Array::from(vec![1]));
    let text: ArrayRef = Arc::new(StringArray::from(vec!["a"]));
    let both = format!("{TEXT},{LONG}");
    let check = |columns: &[(&str, ArrayRef)], field: &str, part: &str| {
        let error = failure(&both, columns, false);
        assert_eq!(error.kind(), ErrorKind::Schema);
        assert_eq!(error.get("field"), Some(field), "{error}");
        assert!(error.to_string().contains(part), "{error}");
    };
    check(&[("s", text.clone())], "n", "lacks a column");
    check(
        &[("n", number.clone()), ("s", text.clone())],
        "s",
        "another order",
    );
    check(
        &[("s", text.clone()), ("N", number.clone())],
        "N",
        "no such column",
    );
    check(
        &[
            ("s", text.clone()),
            ("n", number.clone()),
            ("_hoodie_record_key", text.clone()),
        ],
        "_hoodie_record_key",
        "writers fill",
    );
    check(
        &[("s", number.clone()), ("n", number.clone())],
        "s",
        "not of the table's type",
    );
    let error = failure(&both, &[("s", number.clone()), ("n", number)], false);
    assert_eq!(
        (error.get("type"), error.get("tableType")),
        (Some("Int64"), Some("Utf8"))
    );
    assert!(error.get("hint").is_some());
}

#[test]
fn a_null_where_the_table_has_none_is_named_by_its_row() {
    let required = r#"{"name":"s","type":"string"}"#;
    let nulls: ArrayRef = Arc::new(StringArray::from(vec![Some("a"), None, Some("b"), None]));
    let error = failure(required, &[("s", nulls)], false);
    assert_eq!(
        (error.get("field"), error.get("rows")),
        (Some("s"), Some("1, 3"))
    );
    // A nullable column without nulls is taken.
    let none: ArrayRef = Arc::new(StringArray::from(vec!["a"]));
    written(required, &[("s", none)], false).unwrap();
}

#[test]
fn promotions_that_lose_nothing_are_made_on_request() {
    let small: ArrayRef = Arc::new(Int8Array::from(vec![Some(-3), None]));
    let error = failure(LONG, &[("n", small.clone())], false);
    assert!(error.get("hint").unwrap().contains("widen"), "{error}");
    let found = written(LONG, &[("n", small)], true).unwrap();
    assert_eq!(
        found.column(0).as_ref(),
        &Int64Array::from(vec![Some(-3), None]) as &dyn Array
    );
    // What loses is refused all the same.
    let fraction: ArrayRef = Arc::new(Float64Array::from(vec![1.0]));
    assert_eq!(
        failure(LONG, &[("n", fraction)], true).kind(),
        ErrorKind::Schema
    );
}

#[test]
fn a_decimal_is_promoted_to_more_digits_and_to_no_other_scale() {
    use arrow::array::{AsArray, Decimal128Array};
    let wanted = r#"{"name":"d","type":["null",{"type":"fixed","name":"d7","size":4,"logicalType":"decimal","precision":7,"scale":2}],"default":null}"#;
    let given = |precision: u8, scale: i8| -> ArrayRef {
        let values = Decimal128Array::from(vec![Some(-1234), None]);
        Arc::new(values.with_precision_and_scale(precision, scale).unwrap())
    };
    let found = written(wanted, &[("d", given(5, 2))], true).unwrap();
    let found = found
        .column(0)
        .as_primitive::<arrow::datatypes::Decimal128Type>();
    assert_eq!(
        (found.value_as_string(0).as_str(), found.null_count()),
        ("-12.34", 1)
    );
    for (precision, scale, widen) in [(5, 2, false), (5, 1, true), (5, 3, true), (8, 2, true)] {
        let error = failure(wanted, &[("d", given(precision, scale))], widen);
        assert_eq!(error.kind(), ErrorKind::Schema, "{precision}, {scale}");
    }
}

#[test]
fn timestamps_are_stored_in_the_tables_unit() {
    let micros = r#"{"name":"t","type":["null",{"type":"long","logicalType":"timestamp-micros"}],"default":null}"#;
    let zoned = |values: Vec<Option<i64>>| -> ArrayRef {
        Arc::new(TimestampMillisecondArray::from(values).with_timezone("+02:00"))
    };
    assert!(written(micros, &[("t", zoned(vec![Some(1)]))], false).is_err());
    let found = written(micros, &[("t", zoned(vec![Some(-1), None]))], true).unwrap();
    let DataType::Timestamp(unit, Some(zone)) = found.column(0).data_type() else {
        panic!()
    };
    assert_eq!((unit, zone.as_ref()), (&TimeUnit::Microsecond, "UTC"));
    let data = found.column(0).to_data();
    assert_eq!(data.buffers()[0].typed_data::<i64>()[0], -1000);
    // Beyond the unit's range, and without a zone.
    assert!(written(micros, &[("t", zoned(vec![Some(i64::MAX)]))], true).is_err());
    let local: ArrayRef = Arc::new(TimestampMillisecondArray::from(vec![1]));
    assert!(written(micros, &[("t", local)], true).is_err());
}

fn keyed(ids: Vec<Option<&str>>) -> RecordBatch {
    let rows = ids.len();
    of(&[
        ("id", Arc::new(StringArray::from(ids))),
        ("city", Arc::new(StringArray::from(vec!["x"; rows]))),
        ("n", Arc::new(Int32Array::from_iter_values(0..rows as i32))),
        ("price", Arc::new(Float64Array::from(vec![1.0; rows]))),
    ])
}

#[test]
fn null_and_empty_keys_are_refused_by_their_rows() {
    let batches = [
        keyed(vec![Some("a")]),
        keyed(vec![None, Some("b"), Some("")]),
    ];
    let error = append(&config(&PLAIN), AVRO, AppendOptions::default(), &batches)
        .err()
        .unwrap();
    assert_eq!(error.kind(), ErrorKind::InvalidArgument);
    assert_eq!(
        (error.get("field"), error.get("rows")),
        (Some("id"), Some("1, 3"))
    );
}

#[test]
fn several_key_fields_name_themselves_nulls_and_empties_too() {
    let two = [("hoodie.table.recordkey.fields", "id,city")];
    let given = of(&[
        (
            "id",
            Arc::new(StringArray::from(vec![Some("a:b,c"), None, Some("")])),
        ),
        (
            "city",
            Arc::new(StringArray::from(vec![Some("x"), Some("y"), Some("z")])),
        ),
        ("n", Arc::new(Int32Array::from(vec![1, 2, 3]))),
        ("price", Arc::new(Float64Array::from(vec![1.0; 3]))),
    ]);
    let outcome = append(&config(&two), AVRO, AppendOptions::default(), &[given]).unwrap();
    let keys: Vec<&str> = outcome.written[0].keys.iter().collect();
    assert_eq!(
        keys,
        [
            "id:a:b,c,city:x",
            "id:__null__,city:y",
            "id:__empty__,city:z"
        ]
    );
    let bad = of(&[
        ("id", Arc::new(StringArray::from(vec![Some("a"), None]))),
        (
            "city",
            Arc::new(StringArray::from(vec![Some("x"), Some("")])),
        ),
        ("n", Arc::new(Int32Array::from(vec![1, 2]))),
        ("price", Arc::new(Float64Array::from(vec![1.0; 2]))),
    ]);
    let error = append(&config(&two), AVRO, AppendOptions::default(), &[bad])
        .err()
        .unwrap();
    assert_eq!(error.get("rows"), Some("1"));
}

#[test]
fn one_field_of_the_complex_generator_is_refused_where_nobody_knows_its_form() {
    let complex = [
        ("hoodie.table.recordkey.fields", "id"),
        ("hoodie.table.keygenerator.type", "COMPLEX"),
    ];
    let batches = [keyed(vec![Some("a")])];
    let outcome = append(&config(&complex), AVRO, AppendOptions::default(), &batches).unwrap();
    assert_eq!(outcome.written[0].keys.get(0), "id:a");
    let (_, text) = support::files("v8_cow_parts")
        .into_iter()
        .find(|(path, _)| path == ".hoodie/hoodie.properties")
        .unwrap();
    let eight = TableConfig::parse(&text).unwrap();
    let properties: BTreeMap<String, String> = [
        ("hoodie.table.recordkey.fields", "id"),
        (
            "hoodie.table.keygenerator.class",
            "org.apache.hudi.keygen.ComplexKeyGenerator",
        ),
        ("hoodie.table.keygenerator.type", "COMPLEX"),
        ("hoodie.table.partition.fields", "city"),
    ]
    .map(|(key, value)| (key.to_owned(), value.to_owned()))
    .into();
    let eight = eight.with(&properties).unwrap();
    let error = append(&eight, AVRO, AppendOptions::default(), &batches)
        .err()
        .unwrap();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    for (value, key) in [("true", "a"), ("false", "id:a")] {
        let options = AppendOptions {
            hudi_options: [(
                "hoodie.write.complex.keygen.new.encoding".to_owned(),
                value.to_owned(),
            )]
            .into(),
            ..AppendOptions::default()
        };
        let outcome = append(&eight, AVRO, options, &batches).unwrap();
        assert_eq!(outcome.written[0].keys.get(0), key);
    }
}

#[test]
fn partition_values_that_could_not_be_read_back_are_refused() {
    let two = [
        ("hoodie.table.recordkey.fields", "id"),
        ("hoodie.table.partition.fields", "city,n"),
    ];
    let with = |city: &str| {
        of(&[
            ("id", Arc::new(StringArray::from(vec!["a", "b"]))),
            ("city", Arc::new(StringArray::from(vec!["fine", city]))),
            ("n", Arc::new(Int32Array::from(vec![1, 2]))),
            ("price", Arc::new(Float64Array::from(vec![1.0; 2]))),
        ])
    };
    for city in ["x/y", "..", ".", ".hoodie", "/", "a\0", "a\nb", "\r"] {
        let error = append(&config(&two), AVRO, AppendOptions::default(), &[with(city)]);
        let error = error.err().unwrap();
        assert_eq!(
            (error.get("field"), error.get("rows")),
            (Some("city"), Some("1")),
            "{city}"
        );
    }
    let encoded = [
        two[0],
        two[1],
        ("hoodie.datasource.write.partitionpath.urlencode", "true"),
    ];
    let outcome = append(
        &config(&encoded),
        AVRO,
        AppendOptions::default(),
        &[with("x/y")],
    )
    .unwrap();
    assert_eq!(outcome.written[1].partition.as_str(), "x%2Fy/2");
}

#[test]
fn the_latest_row_of_a_key_is_kept_by_ordering_value_then_by_place() {
    let rows = |ids: [&str; 4], n: [Option<i32>; 4]| {
        of(&[
            ("id", Arc::new(StringArray::from(ids.to_vec()))),
            (
                "city",
                Arc::new(StringArray::from(vec!["x", "x", "y", "y"])),
            ),
            ("n", Arc::new(Int32Array::from(n.to_vec()))),
            (
                "price",
                Arc::new(Float64Array::from(vec![0.0, 1.0, 2.0, 3.0])),
            ),
        ])
    };
    let batches = [
        rows(["a", "b", "c", "a"], [Some(5), Some(1), None, Some(5)]),
        rows(["b", "a", "c", "d"], [Some(0), Some(4), Some(0), None]),
    ];
    let options = |global_keys| AppendOptions {
        duplicate_keys: DuplicateKeys::KeepLatest,
        global_keys,
        ..AppendOptions::default()
    };
    let kept = |properties: &[(&str, &str)], global| {
        let outcome = append(&config(properties), AVRO, options(global), &batches).unwrap();
        let mut rows = Vec::new();
        for written in &outcome.written {
            let batch = whole(&outcome.files[&written.partition.file_path(&written.name)]);
            for row in 0..batch.num_rows() {
                let id = batch.column(5).as_string::<i32>().value(row);
                let price = batch
                    .column(8)
                    .as_primitive::<arrow::datatypes::Float64Type>()
                    .value(row);
                rows.push(format!("{id}{price}"));
            }
        }
        rows.sort();
        rows.join(" ")
    };
    let ordered = [
        PLAIN[0],
        ("hoodie.table.ordering.fields", "n"),
        ("hoodie.record.merge.mode", "EVENT_TIME_ORDERING"),
    ];
    assert_eq!(kept(&ordered, true), "a3 b1 c2 d3");
    let by_time = [
        PLAIN[0],
        ("hoodie.table.ordering.fields", "n"),
        ("hoodie.record.merge.mode", "COMMIT_TIME_ORDERING"),
    ];
    assert_eq!(kept(&by_time, true), "a1 b0 c2 d3");
    // Without a record index a key is one row of its partition.
    let parted = [BY_CITY[0], BY_CITY[1], ("hoodie.table.ordering.fields", "")];
    assert_eq!(kept(&parted, false), "a1 a3 b0 c2 d3");
}

#[test]
fn a_nan_leaves_no_bounds() {
    let double = r#"{"name":"d","type":["null","double"],"default":null}"#;
    let given: ArrayRef = Arc::new(Float64Array::from(vec![Some(1.0), Some(f64::NAN), None]));
    let outcome = append(
        &config(&[]),
        &avro(double),
        AppendOptions::default(),
        &[of(&[("d", given)])],
    )
    .unwrap();
    let column = outcome.written[0]
        .columns
        .iter()
        .find(|c| &*c.name == "d")
        .unwrap();
    assert_eq!(
        (&column.min, &column.max, column.has_nan),
        (&None, &None, true)
    );
    assert_eq!((column.null_count, column.value_count), (1, 3));
}

#[test]
fn values_beyond_their_type_are_refused_with_their_rows() {
    use arrow::array::{Decimal128Array, Time32MillisecondArray, Time64MicrosecondArray};
    let decimal = |name: &str, values: Vec<Option<i128>>| {
        let array = Decimal128Array::from(values)
            .with_precision_and_scale(38, 2)
            .unwrap();
        // What Arrow lets pass: the type says four digits, and the values have more.
        let data = array
            .to_data()
            .into_builder()
            .data_type(DataType::Decimal128(4, 2))
            .build();
        (name.to_owned(), arrow::array::make_array(data.unwrap()))
    };
    let refused = |fields: &str, name: &str, given: ArrayRef, field: &str, rows: &str| {
        let error = failure(fields, &[(name, given)], false);
        let found = (error.kind(), error.get("field"), error.get("rows"));
        assert_eq!(found, (ErrorKind::Schema, Some(field), Some(rows)));
    };
    let fields = |inner: &str| format!(r#"{{"name":"d","type":["null",{inner}],"default":null}}"#);
    let of_four = r#"{"type":"bytes","logicalType":"decimal","precision":4,"scale":2}"#;
    let (name, values) = decimal(
        "d",
        vec![Some(9999), Some(10_000), None, Some(-10_000), Some(-9999)],
    );
    refused(&fields(of_four), &name, values, "d", "1, 3");

    let times = Time32MillisecondArray::from(vec![0, 86_399_999, 86_400_000, -1]);
    let time = r#"{"type":"int","logicalType":"time-millis"}"#;
    refused(&fields(time), "d", Arc::new(times), "d", "2, 3");
    let times = Time64MicrosecondArray::from(vec![Some(86_400_000_000), None, Some(0)]);
    let time = r#"{"type":"long","logicalType":"time-micros"}"#;
    refused(&fields(time), "d", Arc::new(times), "d", "0");

    let item = Arc::new(Field::new("element", DataType::Decimal128(4, 2), true));
    let (_, values) = decimal(
        "d",
        vec![Some(10_000), Some(1), Some(10_000), Some(2), Some(10_000)],
    );
    let nulls = vec![true, false, true].into();
    let offsets = OffsetBuffer::from_lengths([2, 1, 2]);
    let list = ListArray::new(item, offsets, values, Some(nulls)).slice(1, 2);
    let array = format!(r#"{{"type":"array","items":["null",{of_four}]}}"#);
    // The first list is sliced away, and what lies under the null of the second is not written.
    refused(&fields(&array), "d", Arc::new(list), "d.element", "1");
}

#[test]
fn dates_and_timestamps_that_would_lose_are_refused_with_their_rows() {
    use arrow::array::Date64Array;
    let failure = |kind: &str, given: ArrayRef| {
        let fields = format!(r#"{{"name":"d","type":["null",{kind}],"default":null}}"#);
        let error = failure(&fields, &[("d", given)], true);
        (error.kind(), error.get("rows").map(str::to_owned))
    };
    let dates = Date64Array::from(vec![Some(86_400_000), Some(1), None, Some(i64::MAX)]);
    let date = r#"{"type":"int","logicalType":"date"}"#;
    let rows = |rows: &str| (ErrorKind::Schema, Some(rows.to_owned()));
    assert_eq!(failure(date, Arc::new(dates)), rows("1, 3"));
    let times = TimestampMillisecondArray::from(vec![Some(0), None, Some(i64::MAX)]);
    let time = r#"{"type":"long","logicalType":"local-timestamp-micros"}"#;
    assert_eq!(failure(time, Arc::new(times)), rows("2"));
}
