//! Base files that Spark wrote, brought to their table's schema and filtered: the rows are those that Spark returned.
#![cfg(not(target_arch = "wasm32"))]

mod support;

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow::array::{Array, AsArray, RecordBatch};
use arrow::compute::{concat_batches, filter_record_batch};
use arrow::datatypes::{Int64Type, SchemaRef};
use hudi_wasm::expr::{Filter, Predicate};
use hudi_wasm::schema::{conform, parse_avro, to_arrow};
use parquet::arrow::arrow_reader::{ArrowReaderOptions, ParquetRecordBatchReaderBuilder};
use serde_json::Value;

type Reader = ParquetRecordBatchReaderBuilder<bytes::Bytes>;

/// The newest base file of each file group; enough of a view for tables without replacecommits and failed writes.
fn newest_files(table: &str) -> Vec<Reader> {
    let mut newest: BTreeMap<String, (String, Vec<u8>)> = BTreeMap::new();
    for (path, content) in support::files(table) {
        let name = path.rsplit('/').next().unwrap().to_owned();
        let Some((stem, _)) = name.split_once(".parquet") else {
            continue;
        };
        if path.starts_with(".hoodie/") || content.is_empty() {
            continue;
        }
        let parts: Vec<&str> = stem.split('_').collect();
        let (id, instant) = (parts[0].to_owned(), parts[2].to_owned());
        if newest.get(&id).is_none_or(|(known, _)| *known < instant) {
            newest.insert(id, (instant, content));
        }
    }
    let options = || ArrowReaderOptions::new().with_skip_arrow_metadata(true);
    let mut files: Vec<_> = newest.into_values().collect();
    files.sort();
    files
        .into_iter()
        .map(|(_, content)| Reader::try_new_with_options(content.into(), options()).unwrap())
        .collect()
}

/// The Avro schema in a file's footer, as Hudi's Avro writer leaves it there.
fn footer_schema(file: &Reader) -> Option<SchemaRef> {
    let pairs = file.metadata().file_metadata().key_value_metadata()?;
    let json = pairs
        .iter()
        .find(|pair| pair.key == "parquet.avro.schema")?
        .value
        .clone()?;
    Some(Arc::new(to_arrow(&parse_avro(&json).unwrap()).unwrap()))
}

/// All rows of the latest snapshot, in the schema of `schema_of`'s newest file.
fn snapshot(table: &str, schema_of: &str) -> RecordBatch {
    let schema = newest_files(schema_of)
        .iter()
        .rev()
        .find_map(footer_schema)
        .unwrap();
    let mut batches = Vec::new();
    for file in newest_files(table) {
        for batch in file.build().unwrap() {
            batches.push(conform(&batch.unwrap(), &schema).unwrap());
        }
    }
    concat_batches(&schema, &batches).unwrap()
}

fn text(batch: &RecordBatch, column: &str) -> Vec<String> {
    let array = batch.column_by_name(column).unwrap().as_string::<i32>();
    array
        .iter()
        .map(|value| value.unwrap_or("null").to_owned())
        .collect()
}

fn sorted(mut rows: Vec<String>) -> Vec<String> {
    rows.sort();
    rows
}

/// Every recorded filter query of the table, by partition and record key.
fn check(table: &str, schema_of: &str, filters: usize) {
    let batch = snapshot(table, schema_of);
    let mut asked = 0;
    for query in support::queries(&support::expected(table), "snapshot") {
        if query["query"].get("asOf").is_some() || query["query"].get("projection").is_some() {
            continue;
        }
        let list = query["query"]["filters"]
            .as_array()
            .cloned()
            .unwrap_or_default();
        asked += usize::from(!list.is_empty());
        let list: Vec<Filter> = list
            .iter()
            .map(|json| Filter::from_json(json).unwrap())
            .collect();
        let mask = Predicate::bind(&list, batch.schema_ref())
            .unwrap()
            .mask(&batch)
            .unwrap();
        let kept = filter_record_batch(&batch, &mask).unwrap();
        let keys = text(&kept, "_hoodie_partition_path")
            .into_iter()
            .zip(text(&kept, "_hoodie_record_key"));
        let rows = query["rows"].as_array().unwrap().iter();
        let expected = rows.map(|row| {
            format!(
                "{} {}",
                part(row, "_hoodie_partition_path"),
                part(row, "_hoodie_record_key")
            )
        });
        assert_eq!(
            sorted(keys.map(|(p, k)| format!("{p} {k}")).collect()),
            sorted(expected.collect()),
            "{table} {list:?}"
        );
    }
    assert_eq!(asked, filters, "{table}");
}

fn part<'a>(row: &'a Value, column: &str) -> &'a str {
    row[column].as_str().unwrap()
}

#[test]
fn filters_on_every_type_keep_what_spark_keeps() {
    check("v9_cow_all_types", "v9_cow_all_types", 7);
    check(
        "v9_cow_all_types_old_lists",
        "v9_cow_all_types_old_lists",
        7,
    );
    // The row writer leaves no Avro schema; its columns are those of the other tables.
    check("v9_cow_all_types_bulk", "v9_cow_all_types", 7);
}

#[test]
fn filters_on_added_and_widened_columns_keep_what_spark_keeps() {
    check("v9_cow_evolved", "v9_cow_evolved", 2);
}

#[test]
fn older_files_have_the_columns_of_the_newest_schema() {
    let batch = snapshot("v9_cow_evolved", "v9_cow_evolved");
    let n = batch
        .column_by_name("n")
        .unwrap()
        .as_primitive::<Int64Type>();
    let n = n
        .iter()
        .map(|value| value.map_or("null".to_owned(), |value| value.to_string()));
    let st = batch.column_by_name("st").unwrap().as_struct();
    let b = st.column_by_name("b").unwrap().as_string::<i32>();
    let st = (0..st.len()).map(|row| match (st.is_null(row), b.is_null(row)) {
        (true, _) => "null".to_owned(),
        (_, true) => "{null}".to_owned(),
        _ => format!("{{{}}}", b.value(row)),
    });
    let rows = text(&batch, "_hoodie_record_key")
        .into_iter()
        .zip(n)
        .zip(st)
        .zip(text(&batch, "extra"));
    let rows = rows.map(|(((key, n), st), extra)| format!("{key} {n} {st} {extra}"));

    let plain = |value: &Value| {
        value
            .as_str()
            .map_or_else(|| value.to_string(), str::to_owned)
    };
    let queries = support::queries(&support::expected("v9_cow_evolved"), "snapshot");
    let expected = queries[0]["rows"].as_array().unwrap().iter().map(|row| {
        let st = match &row["st"] {
            Value::Null => "null".to_owned(),
            st => format!("{{{}}}", plain(&st["b"])),
        };
        format!(
            "{} {} {st} {}",
            part(row, "_hoodie_record_key"),
            plain(&row["n"]),
            plain(&row["extra"])
        )
    });
    assert_eq!(sorted(rows.collect()), sorted(expected.collect()));
}
