//! What is wrong with rows that come once the instant is taken: it is said by row, and the table is as it was.

use std::sync::Arc;

use arrow::array::{ArrayRef, Int32Array, RecordBatch, StringArray};
use arrow::datatypes::{DataType, Field, Schema};
use futures::StreamExt;
use hudi_wasm::Error;
use hudi_wasm::table::{Rows, WriteOptions};
use serde_json::json;

use crate::service_stops::assert_metadata_is_true;
use crate::stops::ids;
use crate::support::{block_on, store_of};
use crate::{batch, create, open, paths, read, rows, schema};

/// A batch with another first or last column.
fn with(at: usize, column: ArrayRef) -> RecordBatch {
    let mut columns = batch(&[(7, "rome"), (8, "oslo")]).columns().to_vec();
    columns[at] = column;
    RecordBatch::try_new(schema(), columns).unwrap()
}

/// What a stream ends with after two good batches of two rows each, and what is told of it.
struct Fault {
    what: &'static str,
    late: hudi_wasm::Result<RecordBatch>,
    code: &'static str,
    context: (&'static str, &'static str),
}

fn faults() -> [Fault; 5] {
    let null_key = with(0, Arc::new(Int32Array::from(vec![Some(7), None])));
    let no_path = with(4, Arc::new(StringArray::from(vec!["rome", "a:b"])));
    let other = Schema::new(vec![Field::new("id", DataType::Utf8, true)]);
    let ids: ArrayRef = Arc::new(StringArray::from(vec!["7"]));
    let other = RecordBatch::try_new(Arc::new(other), vec![ids]).unwrap();
    let again = batch(&[(9, "rome"), (3, "rome")]);
    let ended = Error::network("the input ended").context("path", "input");
    let fault = |what, late, code, context| Fault {
        what,
        late,
        code,
        context,
    };
    [
        fault(
            "a null key",
            Ok(null_key),
            "INVALID_ARGUMENT",
            ("rows", "5"),
        ),
        fault(
            "a partition",
            Ok(no_path),
            "INVALID_ARGUMENT",
            ("rows", "5"),
        ),
        fault("a key again", Ok(again), "INVALID_ARGUMENT", ("key", "3")),
        fault("columns", Ok(other), "SCHEMA", ("field", "name")),
        fault("the stream", Err(ended), "NETWORK", ("path", "input")),
    ]
}

#[test]
fn rows_that_are_refused_late_are_named_and_leave_the_table_as_it_was_at_once() {
    for (kind, metadata) in [
        ("COPY_ON_WRITE", true),
        ("COPY_ON_WRITE", false),
        ("MERGE_ON_READ", true),
    ] {
        for fault in faults() {
            block_on(async {
                let (what, code, (key, value)) = (fault.what, fault.code, fault.context);
                let name = format!("{kind}, metadata {metadata}: {what}");
                let store = store_of([]);
                let table = json!({"tableName": "t", "recordKeyFields": ["id"], "partitionFields": ["city"],
                    "tableType": kind, "metadata": metadata});
                let table = create(&store, table).await.unwrap();
                let first = rows(vec![batch(&[(1, "rome"), (2, "oslo")])]);
                let table = table.append(first, WriteOptions::default()).await;
                let table = table.unwrap().table;
                let before = paths(&store);
                let all = vec![
                    Ok(batch(&[(3, "rome"), (4, "bern")])),
                    Ok(batch(&[(5, "rome"), (6, "bern")])),
                    fault.late,
                ];
                let added = Rows {
                    schema: schema(),
                    batches: futures::stream::iter(all).boxed(),
                };
                // Each batch ends its files, so that some are whole when the fault comes.
                let small = ("hoodie.parquet.max.file.size".to_owned(), "1".to_owned());
                let options = WriteOptions {
                    hudi_options: [small].into(),
                    ..WriteOptions::default()
                };
                let error = table.append(added, options).await.unwrap_err();
                assert_eq!(error.kind().code(), code, "{name}: {error:?}");
                assert_eq!(error.get(key), Some(value), "{name}: {error:?}");
                assert!(error.get("instant").is_some(), "{name}: {error:?}");
                // What is new is the rollback, and the files that say that a folder is a partition.
                let new: Vec<_> = paths(&store)
                    .into_iter()
                    .filter(|path| !before.contains(path))
                    .collect();
                let expected = |path: &String| {
                    path.contains(".rollback") || path.ends_with(".hoodie_partition_metadata")
                };
                assert!(new.iter().all(expected), "{name}: {new:#?}");
                assert!(
                    new.iter().any(|path| path.ends_with(".rollback")),
                    "{name}: {new:#?}"
                );
                assert_eq!(ids(&read(&open(&store).await).await), [1, 2], "{name}");
                assert_metadata_is_true(&store, &name).await;
                let third = rows(vec![batch(&[(3, "rome")])]);
                let third = table.append(third, WriteOptions::default()).await;
                assert_eq!(ids(&read(&third.unwrap().table).await), [1, 2, 3], "{name}");
                assert_metadata_is_true(&store, &name).await;
            });
        }
    }
}
