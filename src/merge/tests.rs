//! Blocks of rows put over a base of rows: what wins, what is deleted, what is filled.

mod fill;
mod keys;
mod orders;
mod winners;

use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, Int64Array, RecordBatch, StringArray};
use arrow::datatypes::{DataType, Field, Int64Type, Schema};

use super::rules::{DeleteOrder, Fill, Winner};
use super::*;
use crate::error::Result;
use crate::expr::Scalar;
use crate::model::meta_field::RECORD_KEY;

/// A row of the tests: key, ordering value, text.
type Row = (&'static str, Option<i64>, Option<&'static str>);

/// A row as it came out.
type Shown = (String, Option<i64>, Option<String>);

fn row(key: &'static str, ts: i64, text: &'static str) -> Row {
    (key, Some(ts), Some(text))
}

fn schema() -> Schema {
    Schema::new(vec![
        Field::new(RECORD_KEY, DataType::Utf8, true),
        Field::new("ts", DataType::Int64, true),
        Field::new("text", DataType::Utf8, true),
    ])
}

fn batch(rows: &[Row]) -> RecordBatch {
    let columns: Vec<ArrayRef> = vec![
        Arc::new(StringArray::from_iter_values(rows.iter().map(|row| row.0))),
        Arc::new(Int64Array::from_iter(rows.iter().map(|row| row.1))),
        Arc::new(StringArray::from_iter(rows.iter().map(|row| row.2))),
    ];
    RecordBatch::try_new(Arc::new(schema()), columns).unwrap()
}

fn delete(key: &str, ts: Option<i64>) -> Deletion {
    Deletion {
        key: key.to_owned(),
        ordering: ts.map(|ts| vec![Scalar::Int(ts)]),
    }
}

/// One block.
#[derive(Clone)]
enum Block {
    Rows(RecordBatch),
    Partial(RecordBatch),
    Deletes(Vec<Deletion>),
}

fn by_event_time() -> MergeRules {
    MergeRules::later(vec!["ts".to_owned()]).with_winner(Winner::Greater)
}

fn by_commit_time() -> MergeRules {
    MergeRules::later(Vec::new())
}

/// Blocks over base batches, all columns of `table`; the base batches come one by one.
fn merged(
    rules: MergeRules,
    table: &Schema,
    base: &[RecordBatch],
    blocks: &[Block],
) -> Result<RecordBatch> {
    let rules = Arc::new(rules);
    let columns = MergeColumns::new(&rules, table, table, false)?;
    let mut changes = Changes::new(&rules, columns);
    for block in blocks {
        match block {
            Block::Rows(batch) => changes.push(batch, false, None)?,
            Block::Partial(batch) => changes.push(batch, true, None)?,
            Block::Deletes(deletes) => changes.push_deletes(deletes, None)?,
        }
    }
    let mut merger = changes.finish()?;
    let schema = Arc::clone(merger.columns().schema());
    let all: Vec<usize> = (0..schema.fields().len()).collect();
    let mut out = Vec::new();
    // Columns that are gathered, and the same where the base's are written over.
    let both = |mut merged: Merged| {
        let gathered = merged.batch(&all, &schema)?;
        assert_eq!(merged.into_batch(&all, &schema)?, gathered);
        Ok::<_, crate::error::Error>(gathered)
    };
    for batch in base {
        out.push(both(merger.merge(batch)?)?);
    }
    while let Some(rest) = merger.rest(2) {
        assert!(rest.num_rows() <= 2);
        out.push(both(rest)?);
    }
    Ok(arrow::compute::concat_batches(&schema, &out).unwrap())
}

fn show(batch: &RecordBatch) -> Vec<Shown> {
    let keys = batch.column_by_name(RECORD_KEY).unwrap().as_string::<i32>();
    let ts = batch
        .column_by_name("ts")
        .unwrap()
        .as_primitive::<Int64Type>();
    let texts = batch.column_by_name("text").unwrap().as_string::<i32>();
    let rows = keys.iter().zip(ts.iter()).zip(texts.iter());
    let rows = rows.map(|((key, ts), text)| (key.unwrap().to_owned(), ts, text.map(str::to_owned)));
    rows.collect()
}

fn shown(rows: &[Row]) -> Vec<Shown> {
    show(&batch(rows))
}

/// Merges blocks over a base of one batch and holds the rows against those expected, in order.
fn check(rules: MergeRules, base: &[Row], blocks: &[Block], expected: &[Row]) {
    let merged = merged(rules, &schema(), &[batch(base)], blocks).unwrap();
    assert_eq!(show(&merged), shown(expected));
}

fn rows(rows: &[Row]) -> Block {
    Block::Rows(batch(rows))
}

fn deletes(deletes: &[(&str, Option<i64>)]) -> Block {
    Block::Deletes(deletes.iter().map(|(key, ts)| delete(key, *ts)).collect())
}
