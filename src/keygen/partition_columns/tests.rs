use arrow::array::{Array, AsArray, Int32Array, Int64Array};
use arrow::datatypes::{Date32Type, Int64Type, TimeUnit};

use super::*;
use crate::config::properties;
use crate::error::ErrorKind;
use crate::expr::{Bounds, Scalar};

fn config(lines: &str) -> TableConfig {
    let table = "hoodie.table.name=t\nhoodie.table.type=COPY_ON_WRITE\nhoodie.table.version=9\n\
                 hoodie.timeline.layout.version=2\nhoodie.table.recordkey.fields=id\n";
    let table = format!("{table}{lines}");
    let sum = properties::checksum(&properties::parse(table.as_bytes()).unwrap());
    TableConfig::parse(format!("hoodie.table.checksum={sum}\n{table}").as_bytes()).unwrap()
}

/// Properties of a table with these partition fields, and the lines of its own.
fn partitioned(fields: &str, lines: &str) -> TableConfig {
    config(&format!("hoodie.table.partition.fields={fields}\n{lines}"))
}

const HIVE: &str = "hoodie.datasource.write.hive_style_partitioning=true\n";
const ENCODED: &str = "hoodie.datasource.write.partitionpath.urlencode=true\n";
const DROPPED: &str = "hoodie.datasource.write.drop.partition.columns=true\n";
const COMPLEX: &str = "hoodie.table.keygenerator.type=COMPLEX\n";
const TIMESTAMP: &str = "hoodie.table.keygenerator.type=TIMESTAMP\n\
    hoodie.keygen.timebased.timestamp.type=EPOCHMILLISECONDS\n\
    hoodie.keygen.timebased.output.dateformat=yyyy/MM/dd\nhoodie.keygen.timebased.timezone=UTC\n";

fn schema(columns: &[(&str, DataType)]) -> Schema {
    let id = ("id", DataType::Int32);
    let fields = [id].into_iter().chain(columns.iter().cloned());
    Schema::new(
        fields
            .map(|(name, data_type)| Field::new(name, data_type, true))
            .collect::<Vec<_>>(),
    )
}

fn columns(config: &TableConfig, table: &[(&str, DataType)]) -> PartitionColumns {
    PartitionColumns::new(config, &schema(table), None).unwrap()
}

/// The names of the columns whose value is null without a file.
fn null_values(columns: &PartitionColumns, path: &str) -> Vec<String> {
    let values = columns.values(&path.into()).unwrap();
    let nulls = values.iter().inspect(|v| assert!(v.value.is_null(0)));
    nulls.map(|v| v.name.clone()).collect()
}

fn text(columns: &PartitionColumns, path: &str, name: &str) -> String {
    let values = columns.values(&path.into()).unwrap();
    let value = values.iter().find(|v| v.name == name).unwrap();
    value.value.as_string::<i32>().value(0).to_owned()
}

#[test]
fn a_null_folder_is_null_even_where_the_file_has_an_empty_text() {
    let config = partitioned("region,day", &format!("{COMPLEX}{HIVE}{ENCODED}"));
    let columns = columns(
        &config,
        &[("region", DataType::Utf8), ("day", DataType::Date32)],
    );
    let null = "__HIVE_DEFAULT_PARTITION__";
    let check = |path: &str, expected: &[&str]| assert_eq!(null_values(&columns, path), expected);
    check(&format!("region={null}/day=2024-02-29"), &["region"]);
    check(&format!("region=eu/day={null}"), &["day"]);
    check(&format!("region={null}x/day=2024-02-29"), &[]);
    check("region=a%2Fb/day=2024-02-29", &[]);
    check("region=default/day=default", &[]);
}

#[test]
fn dropped_columns_come_from_the_path_in_the_type_of_the_created_schema() {
    let config = partitioned("year,day,city", &format!("{COMPLEX}{HIVE}{DROPPED}"));
    let created = schema(&[("year", DataType::Int64), ("day", DataType::Date32)]);
    let columns = PartitionColumns::new(&config, &schema(&[]), Some(&created)).unwrap();
    let names: Vec<_> = columns
        .read_schema()
        .fields()
        .iter()
        .map(|f| f.name().clone())
        .collect();
    assert_eq!(names, ["id", "year", "day", "city"]);
    let types: Vec<_> = columns
        .columns()
        .iter()
        .map(|c| c.data_type.clone())
        .collect();
    assert_eq!(types, [DataType::Int64, DataType::Date32, DataType::Utf8]);
    let path = "year=-1/day=1970-01-02/city=a b";
    let values = columns.values(&path.into()).unwrap();
    assert_eq!(values[0].value.as_primitive::<Int64Type>().value(0), -1);
    assert_eq!(values[1].value.as_primitive::<Date32Type>().value(0), 1);
    assert_eq!(text(&columns, path, "city"), "a b");
    // The old name of null: a date has it, a text may be it.
    let old = "year=default/day=default/city=default";
    assert_eq!(text(&columns, old, "city"), "default");
    let values = columns.values(&old.into()).unwrap();
    assert!(values[0].value.is_null(0) && values[1].value.is_null(0));
}

#[test]
fn a_path_without_the_dropped_value_is_an_error_by_name() {
    let config = partitioned("year,city", &format!("{COMPLEX}{DROPPED}"));
    let created = schema(&[("year", DataType::Int32)]);
    let columns = PartitionColumns::new(&config, &schema(&[]), Some(&created)).unwrap();
    for path in ["soon/ams", "2020", "2020/a/b"] {
        let error = columns.values(&path.into()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Schema);
        assert_eq!(
            (error.get("field"), error.get("path")),
            (Some("year"), Some(path))
        );
    }
}

#[test]
fn numbers_of_a_timestamp_generator_are_shown_as_text() {
    let config = partitioned("happened", TIMESTAMP);
    let columns = columns(&config, &[("happened", DataType::Int64)]);
    assert_eq!(columns.columns()[0].source, ValueSource::FileAsText);
    assert_eq!(columns.read_schema().field(1).data_type(), &DataType::Int64);
    assert_eq!(columns.shown_schema().field(1).data_type(), &DataType::Utf8);
    assert_eq!(
        columns.partition_schema().field(0).data_type(),
        &DataType::Utf8
    );
    let ids = Arc::new(Int32Array::from(vec![0, 9, 3]));
    let numbers = Arc::new(Int64Array::from(vec![
        Some(1_700_000_000_000),
        Some(-1),
        None,
    ]));
    let batch =
        RecordBatch::try_new(Arc::clone(columns.read_schema()), vec![ids, numbers]).unwrap();
    let shown = columns.show(batch).unwrap();
    let texts: Vec<_> = shown.column(1).as_string::<i32>().iter().collect();
    assert_eq!(texts, [Some("1700000000000"), Some("-1"), None]);
    assert!(columns.values(&"2023/11/14".into()).unwrap().is_empty());
}

#[test]
fn a_batch_without_partition_columns_is_shown_as_it_is() {
    let columns = columns(
        &partitioned("happened", TIMESTAMP),
        &[("happened", DataType::Int64)],
    );
    let empty = Arc::new(Schema::empty());
    let options = RecordBatchOptions::new().with_row_count(Some(3));
    let batch = RecordBatch::try_new_with_options(empty, Vec::new(), &options).unwrap();
    assert_eq!(columns.show(batch).unwrap().num_rows(), 3);
}

#[test]
fn a_timestamp_field_of_a_custom_generator_keeps_its_type() {
    let config = partitioned(
        "region:SIMPLE,happened:TIMESTAMP",
        &format!("hoodie.table.keygenerator.type=CUSTOM\n{HIVE}"),
    );
    let columns = columns(
        &config,
        &[("region", DataType::Utf8), ("happened", DataType::Int64)],
    );
    assert_eq!(
        columns.shown_schema().field(2).data_type(),
        &DataType::Int64
    );
    // The properties hold no format, so the day says nothing.
    let path = PartitionPath::new("region=eu/happened=2024-03-02");
    let known = |name: &str| columns.bounds(&path).column(&[name.to_owned()]);
    assert!(known("happened").is_none());
}

#[test]
fn a_field_inside_a_struct_has_bounds_and_no_value() {
    let inner = DataType::Struct(vec![Field::new("city", DataType::Utf8, true)].into());
    let config = partitioned("place.city", HIVE);
    let columns = columns(&config, &[("place", inner)]);
    let bounds = |folder: &str| {
        let path = PartitionPath::new(format!("place.city={folder}"));
        columns
            .bounds(&path)
            .column(&["place".to_owned(), "city".to_owned()])
    };
    assert_eq!(
        bounds("ams").unwrap().min,
        Some(Scalar::Bytes(b"ams".to_vec()))
    );
    // The file may hold an empty text there.
    assert_eq!(bounds("__HIVE_DEFAULT_PARTITION__"), None);
    assert!(null_values(&columns, "place.city=__HIVE_DEFAULT_PARTITION__").is_empty());
}

#[test]
fn a_field_that_no_schema_knows_is_an_error_unless_dropped() {
    let error = PartitionColumns::new(&partitioned("city", ""), &schema(&[]), None).unwrap_err();
    assert_eq!(
        (error.kind(), error.get("field")),
        (ErrorKind::Schema, Some("city"))
    );
}

#[test]
fn a_timestamp_in_a_path_is_no_bound() {
    let micros = DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into()));
    let columns = columns(&partitioned("at", HIVE), &[("at", micros)]);
    let bounds = |path: &str| columns.bounds(&path.into()).column(&["at".to_owned()]);
    assert_eq!(bounds("at=1580702706789000"), None);
    let null = bounds("at=__HIVE_DEFAULT_PARTITION__").unwrap();
    assert_eq!((null.null_count, null.value_count), (Some(1), Some(1)));
}
