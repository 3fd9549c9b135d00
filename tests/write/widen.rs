//! Columns that an input brings or lacks, under `widen`.

use arrow::array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use arrow::datatypes::{DataType, Field, Schema};
use futures::TryStreamExt;
use hudi_wasm::config::ReadOptions;
use hudi_wasm::table::{Table, TableSchema, WriteOptions};
use serde_json::{Value, json};
use std::sync::Arc;

use crate::stops::ids;
use crate::support::{block_on, get, store_of};
use crate::{batch, create, open, options, paths, read, rows, storage};

fn widen() -> WriteOptions {
    WriteOptions {
        widen: true,
        ..WriteOptions::default()
    }
}

/// Rows of the usual columns and more behind them.
fn with(rows: &[(i32, &str)], more: &[(Field, ArrayRef)]) -> RecordBatch {
    let batch = batch(rows);
    let mut fields: Vec<_> = batch.schema().fields().to_vec();
    let mut columns = batch.columns().to_vec();
    for (field, column) in more {
        fields.push(Arc::new(field.clone()));
        columns.push(Arc::clone(column));
    }
    RecordBatch::try_new(Arc::new(Schema::new(fields)), columns).unwrap()
}

fn note(values: &[Option<&str>]) -> (Field, ArrayRef) {
    let field = Field::new("note", DataType::Utf8, true);
    (field, Arc::new(StringArray::from(values.to_vec())))
}

/// Ids and notes of a snapshot, sorted.
async fn notes(table: &Table, filter: Option<&str>) -> Vec<(i32, Option<String>)> {
    use arrow::array::{Array, AsArray};
    let mut options = ReadOptions::default();
    options.filters.extend(filter.map(|value| {
        let filter = json!({"field": "note", "operator": "=", "values": [value]});
        serde_json::from_value(filter).unwrap()
    }));
    let batches: Vec<RecordBatch> = table
        .read(&options)
        .await
        .unwrap()
        .try_collect()
        .await
        .unwrap();
    let mut found = Vec::new();
    for batch in batches {
        let ids = batch.column_by_name("id").unwrap();
        let ids = ids.as_primitive::<arrow::datatypes::Int32Type>();
        let notes = batch.column_by_name("note").unwrap().as_string::<i32>();
        let note = |row| notes.is_valid(row).then(|| notes.value(row).to_owned());
        found.extend((0..batch.num_rows()).map(|row| (ids.value(row), note(row))));
    }
    found.sort();
    found
}

#[test]
fn a_new_column_becomes_the_tables_last_and_is_null_in_older_rows() {
    for version in [8, 9] {
        block_on(async {
            let store = store_of([]);
            let json = json!({"tableName": "t", "recordKeyFields": ["id"], "partitionFields": ["city"],
                "tableVersion": version});
            let table = create(&store, json).await.unwrap();
            let first = rows(vec![batch(&[(1, "rome"), (2, "oslo")])]);
            table.append(first, WriteOptions::default()).await.unwrap();
            let new = with(&[(3, "rome"), (4, "bern")], &[note(&[Some("x"), None])]);
            table.append(rows(vec![new]), widen()).await.unwrap();
            let table = open(&store).await;
            let schema = table.schema(false).await.unwrap();
            let last = schema.fields().last().unwrap();
            assert_eq!((last.name().as_str(), last.is_nullable()), ("note", true));
            let x = || Some("x".to_owned());
            let all = [(1, None), (2, None), (3, x()), (4, None)];
            assert_eq!(notes(&table, None).await, all);
            assert_eq!(notes(&table, Some("x")).await, [(3, x())]);
            // To Spark a file without statistics of an indexed column holds nulls alone.
            let text = get(&store, ".hoodie/.index_defs/index.json");
            let json: Value = serde_json::from_slice(&text).unwrap();
            let indexed = &json["indexDefinitions"]["column_stats"]["sourceFields"];
            assert_eq!(indexed.as_array().unwrap().last().unwrap(), "note");
            let facts = table
                .column_stats(&["note".to_owned()], &ReadOptions::default())
                .await;
            let facts = facts.unwrap();
            let stored = facts
                .iter()
                .filter(|facts| facts.source == "metadata-table");
            assert_eq!(stored.filter(|facts| facts.file_path.is_some()).count(), 2);
            // A write of the older columns goes on, and one without any that may be missing.
            let older = rows(vec![batch(&[(5, "rome")])]);
            table.append(older, widen()).await.unwrap();
            let narrow = batch(&[(6, "rome")]).project(&[0, 4]).unwrap();
            table.append(rows(vec![narrow]), widen()).await.unwrap();
            let found = notes(&open(&store).await, None).await;
            assert_eq!(found[4..], [(5, None), (6, None)]);
        });
    }
}

/// Hudi leaves the index definitions as they are when a write is taken back, and the properties: what they list is there
/// still, without what the write brought.
#[test]
fn a_new_column_whose_write_is_taken_back_is_gone_and_may_come_as_another_type() {
    block_on(async {
        let store = store_of([]);
        let json =
            json!({"tableName": "t", "recordKeyFields": ["id"], "partitionFields": ["city"]});
        let table = create(&store, json).await.unwrap();
        let first = rows(vec![batch(&[(1, "rome"), (2, "oslo")])]);
        table.append(first, WriteOptions::default()).await.unwrap();
        let properties = get(&store, ".hoodie/hoodie.properties");
        let new = with(&[(3, "rome")], &[note(&[Some("x")])]);
        let done = table.append(rows(vec![new]), widen()).await.unwrap();
        let definitions = get(&store, ".hoodie/.index_defs/index.json");
        let newest = done.instant.unwrap().time.to_string();
        let undone = done.table.rollback(&newest, widen());
        let (_, table) = undone.await.unwrap();
        assert_eq!(ids(&read(&table).await), [1, 2]);
        assert!(
            table
                .schema(false)
                .await
                .unwrap()
                .field_with_name("note")
                .is_err()
        );
        assert_eq!(get(&store, ".hoodie/hoodie.properties"), properties);
        assert_eq!(get(&store, ".hoodie/.index_defs/index.json"), definitions);
        let older = rows(vec![batch(&[(4, "rome")])]);
        table.append(older, WriteOptions::default()).await.unwrap();
        let number: ArrayRef = Arc::new(Int64Array::from(vec![7]));
        let field = Field::new("note", DataType::Int64, true);
        let again = with(&[(5, "rome")], &[(field, number)]);
        let table = open(&store).await;
        table.append(rows(vec![again]), widen()).await.unwrap();
        let table = open(&store).await;
        assert_eq!(ids(&read(&table).await), [1, 2, 4, 5]);
        let with_note = async |operator: &str, values: &[&str]| {
            let filter = json!({"field": "note", "operator": operator, "values": values});
            let mut options = ReadOptions::default();
            options
                .filters
                .push(serde_json::from_value(filter).unwrap());
            let found = table.read(&options).await.unwrap();
            let found: Vec<RecordBatch> = found.try_collect().await.unwrap();
            found.iter().map(RecordBatch::num_rows).sum::<usize>()
        };
        assert_eq!(with_note("=", &["7"]).await, 1);
        assert_eq!(with_note("=", &["8"]).await, 0);
        assert_eq!(with_note("IS NULL", &[]).await, 3);
    });
}

#[test]
fn columns_that_cannot_come_or_be_missing_leave_no_trace() {
    block_on(async {
        let store = store_of([]);
        let json = json!({"tableName": "t", "recordKeyFields": ["id"], "partitionFields": ["city"], "orderingFields": ["ts"]});
        let table = create(&store, json).await.unwrap();
        let before = paths(&store);
        let field = |name: &str, nullable| {
            let column: ArrayRef = Arc::new(Int64Array::from(vec![1]));
            (Field::new(name, DataType::Int64, nullable), column)
        };
        let row: &[(i32, &str)] = &[(1, "rome")];
        let meta = (
            Field::new("_hoodie_x", DataType::Utf8, true),
            note(&[None]).1,
        );
        let cases = [
            (with(row, &[note(&[None])]), WriteOptions::default()),
            (with(row, &[field("new", false)]), widen()),
            (with(row, &[field("NAME", true)]), widen()),
            (with(row, &[field("a-b", true)]), widen()),
            (
                with(row, &[field("new", true), field("new", true)]),
                widen(),
            ),
            (
                with(row, &[(meta.0.with_name("_hoodie_record_key"), meta.1)]),
                widen(),
            ),
            (batch(row).project(&[0, 1, 2, 3]).unwrap(), widen()),
            (batch(row).project(&[1, 2, 3, 4]).unwrap(), widen()),
            (batch(row).project(&[0, 1, 2, 4]).unwrap(), widen()),
            (batch(row).project(&[0, 2, 1, 3, 4]).unwrap(), widen()),
            (
                batch(row).project(&[0, 1, 3, 4]).unwrap(),
                WriteOptions::default(),
            ),
        ];
        for (at, (batch, options)) in cases.into_iter().enumerate() {
            let error = table.append(rows(vec![batch]), options).await.unwrap_err();
            assert_eq!(error.kind().code(), "SCHEMA", "{at}: {error}");
            assert!(error.get("field").is_some(), "{at}: {error}");
        }
        assert_eq!(paths(&store), before);
    });
}

/// What is given for the column `place` of a table whose struct has `street` and `zip`: the fields and the name that is refused.
#[test]
fn fields_inside_of_structs_neither_come_nor_stay_away_and_leave_no_trace() {
    use arrow::array::StructArray;
    let of = |names: &[&str]| {
        let field = |name: &&str| Arc::new(Field::new(*name, DataType::Utf8, true));
        let text = || Arc::new(StringArray::from(vec!["x"])) as ArrayRef;
        let fields = names.iter().map(|name| (field(name), text()));
        let made: ArrayRef = Arc::new(StructArray::from(fields.collect::<Vec<_>>()));
        (Field::new("place", made.data_type().clone(), true), made)
    };
    block_on(async {
        let store = store_of([]);
        let json =
            json!({"tableName": "t", "recordKeyFields": ["id"], "partitionFields": ["city"]});
        let known = with(&[(1, "rome")], &[of(&["street", "zip"])]);
        let columns = TableSchema::Arrow(known.schema().as_ref().clone());
        let table = Table::create(storage(&store), &columns, options(json)).await;
        let table = table.unwrap();
        let table = table
            .append(rows(vec![known]), widen())
            .await
            .unwrap()
            .table;
        let before = paths(&store);
        for (given, field) in [
            (vec!["street", "zip", "floor"], "place.floor"),
            (vec!["street", "floor", "zip"], "place.floor"),
            (vec!["street"], "place.zip"),
            (vec!["street", "postcode"], "place.zip"),
        ] {
            for options in [widen(), WriteOptions::default()] {
                let added = rows(vec![with(&[(2, "rome")], &[of(&given)])]);
                let error = table.append(added, options).await.unwrap_err();
                assert_eq!(error.kind().code(), "SCHEMA", "{given:?}: {error:?}");
                assert_eq!(error.get("field"), Some(field), "{given:?}: {error:?}");
                assert_eq!(paths(&store), before, "{given:?}");
            }
        }
        let moved = with(&[(2, "rome")], &[of(&["zip", "street"])]);
        let done = table.append(rows(vec![moved]), WriteOptions::default());
        assert_eq!(ids(&read(&done.await.unwrap().table).await), [1, 2]);
    });
}
