use futures::StreamExt;
use hudi_wasm::model::{Action, TimelineLayout};
use hudi_wasm::table::{Rows, WriteOptions};
use hudi_wasm::timeline::payload::CommitMetadata;
use serde_json::{Value, json};

use crate::support::{block_on, store, store_of};
use crate::{batch, create, open, paths, read, rows, schema};

fn simple() -> Value {
    json!({"tableName": "t", "recordKeyFields": ["id"], "orderingFields": ["ts"]})
}

fn parts(kind: &str, version: u32) -> Value {
    json!({"tableName": "t", "recordKeyFields": ["id"], "orderingFields": ["ts"], "partitionFields": ["city"],
           "hiveStylePartitioning": true, "tableType": kind, "tableVersion": version})
}

#[test]
fn rows_that_are_appended_are_read_whatever_the_table() {
    for json in [
        simple(),
        parts("COPY_ON_WRITE", 9),
        parts("MERGE_ON_READ", 9),
        parts("COPY_ON_WRITE", 8),
        parts("MERGE_ON_READ", 8),
    ] {
        block_on(async {
            let store = store_of([]);
            let table = create(&store, json.clone()).await.unwrap();
            let first = table.append(
                rows(vec![batch(&[(1, "rome"), (2, "oslo")])]),
                WriteOptions::default(),
            );
            let first = first.await.unwrap();
            assert_eq!(first.inserted, 2);
            let second = rows(vec![batch(&[(3, "rome")]), batch(&[(4, "rome")])]);
            let second = first
                .table
                .append(second, WriteOptions::default())
                .await
                .unwrap();
            let expected = [(1, "rome"), (2, "oslo"), (3, "rome"), (4, "rome")];
            let expected = expected.map(|(id, city)| (id, city.to_owned()));
            assert_eq!(read(&second.table).await, expected, "{json}");
            assert_eq!(read(&open(&store).await).await, expected, "{json}");
            // A handle sees what was there when it was made.
            assert_eq!(read(&first.table).await.len(), 2);
            assert!(read(&table).await.is_empty());
            let instant = second.instant.unwrap();
            assert!(instant.time > first.instant.unwrap().completion.unwrap());
            let mor = json["tableType"] == "MERGE_ON_READ";
            let action = if mor {
                Action::DeltaCommit
            } else {
                Action::Commit
            };
            assert_eq!(instant.action, action);
            let left = paths(&store);
            assert!(
                !left.iter().any(|path| path.starts_with(".hoodie/.temp/")),
                "{left:?}"
            );
        });
    }
}

#[test]
fn nothing_is_committed_without_rows_unless_asked_for() {
    block_on(async {
        let store = store_of([]);
        let table = create(&store, simple()).await.unwrap();
        let before = paths(&store);
        let none = table
            .append(rows(vec![batch(&[])]), WriteOptions::default())
            .await
            .unwrap();
        assert_eq!((none.instant, paths(&store)), (None, before));
        let options = WriteOptions {
            empty_commit: true,
            ..WriteOptions::default()
        };
        let empty = table.append(rows(vec![]), options).await.unwrap();
        assert!(empty.instant.is_some());
        assert!(read(&empty.table).await.is_empty());
    });
}

#[test]
fn columns_that_are_not_the_tables_leave_no_trace() {
    use arrow::datatypes::{DataType, Field, Schema};
    block_on(async {
        let store = store_of([]);
        let table = create(&store, simple()).await.unwrap();
        let before = paths(&store);
        let other = Schema::new(vec![Field::new("id", DataType::Utf8, true)]);
        let other = Rows {
            schema: other.into(),
            batches: futures::stream::empty().boxed(),
        };
        let error = table
            .append(other, WriteOptions::default())
            .await
            .unwrap_err();
        assert_eq!(error.kind().code(), "SCHEMA");
        assert_eq!(paths(&store), before);
    });
}

#[test]
fn a_table_of_version_6_takes_rows_on_the_narrow_path_alone() {
    block_on(async {
        let store = store("v6_cow_append_no_meta");
        let table = open(&store).await;
        let all = table.schema(false).await.unwrap();
        let columns: Vec<_> = all
            .fields()
            .iter()
            .map(|f| schema().index_of(f.name()).unwrap())
            .collect();
        let narrow = batch(&[(100, "x"), (101, "x")]).project(&columns).unwrap();
        let done = table.append(rows(vec![narrow.clone(), narrow]), WriteOptions::default());
        let error = done.await.unwrap_err();
        assert_eq!(
            error.kind().code(),
            "INVALID_ARGUMENT",
            "keys are checked: {error}"
        );

        let before = count(&table).await;
        let narrow = batch(&[(100, "x"), (101, "x")]).project(&columns).unwrap();
        let done = open(&crate::support::store("v6_cow_append_no_meta")).await;
        let done = done
            .append(rows(vec![narrow]), WriteOptions::default())
            .await
            .unwrap();
        assert_eq!((done.files_written, done.inserted), (1, 2));
        assert_eq!(done.instant.unwrap().completion, None);
        assert_eq!(count(&done.table).await, before + 2);

        for table in ["v6_cow_parts", "v6_mor_parts"] {
            let table = open(&crate::support::store(table)).await;
            let error = table
                .append(rows(vec![]), WriteOptions::default())
                .await
                .unwrap_err();
            assert_eq!(error.kind().code(), "UNSUPPORTED");
        }
    });
}

async fn count(table: &hudi_wasm::table::Table) -> usize {
    let mut stream = table
        .read(&hudi_wasm::config::ReadOptions::default())
        .await
        .unwrap();
    let mut count = 0;
    while let Some(batch) = stream.next().await {
        count += batch.unwrap().num_rows();
    }
    count
}

/// Fixtures that are `UNSUPPORTED` to append to, and stay as they are.
fn check_unsupported(tables: &[&str]) {
    block_on(async {
        for table in tables {
            let store = store(table);
            let before = paths(&store);
            let done = open(&store).await;
            let done = done.append(rows(vec![]), WriteOptions::default()).await;
            assert_eq!(done.unwrap_err().kind().code(), "UNSUPPORTED", "{table}");
            assert_eq!(paths(&store), before, "{table}");
        }
    });
}

#[test]
fn a_metadata_table_that_would_go_stale_refuses_a_write() {
    check_unsupported(&[
        "v9_cow_bloom_index",
        "v9_cow_secondary_index",
        "v9_cow_partitioned_rli",
    ]);
}

#[test]
fn a_table_with_schema_on_read_is_refused_since_its_renames_would_be_lost() {
    check_unsupported(&["v9_cow_schema_on_read", "v9_mor_schema_on_read"]);
}

#[test]
fn entries_of_a_commit_that_are_its_own_are_refused() {
    block_on(async {
        let store = store_of([]);
        let table = create(&store, simple()).await.unwrap();
        let before = paths(&store);
        for key in ["schema", "latest_schema"] {
            let options = WriteOptions {
                extra_metadata: [(key.to_owned(), "{}".to_owned())].into(),
                ..WriteOptions::default()
            };
            let done = table.append(rows(vec![batch(&[(1, "x")])]), options).await;
            assert_eq!(done.unwrap_err().kind().code(), "INVALID_ARGUMENT", "{key}");
        }
        assert_eq!(paths(&store), before);
    });
}

#[test]
fn a_call_may_be_ended_until_it_commits() {
    use std::sync::atomic::Ordering::Relaxed;
    block_on(async {
        let store = store_of([]);
        let table = create(&store, simple()).await.unwrap();
        let twice = WriteOptions::default();
        let sealed = twice.committing.clone();
        let same = vec![batch(&[(1, "x"), (1, "x")])];
        table.append(rows(same), twice).await.unwrap_err();
        assert!(!sealed.load(Relaxed));
        let once = WriteOptions::default();
        let sealed = once.committing.clone();
        table
            .append(rows(vec![batch(&[(1, "x")])]), once)
            .await
            .unwrap();
        assert!(sealed.load(Relaxed));
    });
}

#[test]
fn a_partition_that_hadoop_takes_for_a_scheme_is_refused() {
    block_on(async {
        for (encoded, code) in [(false, Some("INVALID_ARGUMENT")), (true, None)] {
            let store = store_of([]);
            let mut json = parts("COPY_ON_WRITE", 9);
            json["urlEncodePartitioning"] = encoded.into();
            let table = create(&store, json).await.unwrap();
            let done = table.append(rows(vec![batch(&[(1, "a:b")])]), WriteOptions::default());
            let done = done.await.map_err(|error| error.kind().code());
            assert_eq!(done.err(), code, "{encoded}");
        }
    });
}

#[test]
fn a_table_of_buckets_is_refused_since_spark_finds_keys_by_bucket_alone() {
    block_on(async {
        for (table, emptied) in [
            ("v9_mor_bucket", false),
            ("v9_mor_bucket_compacted", false),
            ("v9_mor_bucket", true),
        ] {
            let store = store(table);
            if emptied {
                // The newest commit removed a partition, and names no file.
                let body = CommitMetadata::default().to_bytes(TimelineLayout::Two);
                let name = "20261130000000000_20261130000001000.replacecommit";
                let path = format!(".hoodie/timeline/{name}");
                crate::support::put(&store, &path, body.unwrap().to_vec());
            }
            let before = paths(&store);
            let done = open(&store).await;
            let done = done.append(rows(vec![]), WriteOptions::default()).await;
            assert_eq!(done.unwrap_err().kind().code(), "UNSUPPORTED", "{table}");
            assert_eq!(paths(&store), before, "{table}");
        }
    });
}

#[test]
fn a_write_that_another_rolled_back_meanwhile_is_not_completed() {
    block_on(async {
        let store = store_of([]);
        let table = create(&store, simple()).await.unwrap();
        let all = store.clone();
        let first = futures::stream::once(async move { Ok(batch(&[(1, "x")])) });
        // Between the first rows and the last, another writer removes the instant.
        let rest = futures::stream::once(async move {
            for path in paths(&all) {
                let instant = path.starts_with(".hoodie/timeline/2");
                if instant && (path.ends_with("inflight") || path.ends_with("requested")) {
                    crate::support::delete(&all, &path);
                }
            }
            Ok(batch(&[(2, "y")]))
        });
        let rows = Rows {
            schema: schema(),
            batches: first.chain(rest).boxed(),
        };
        let done = table.append(rows, WriteOptions::default()).await;
        assert_eq!(done.err().unwrap().kind().code(), "WRITE_CONFLICT");
        assert!(read(&open(&store).await).await.is_empty());
    });
}

/// The files of another writer, which begins within a millisecond of the only pending instant.
fn begin_another(store: &object_store::memory::InMemory, all: &[String]) -> Vec<String> {
    let own = all
        .iter()
        .find_map(|path| {
            path.strip_prefix(".hoodie/timeline/")?
                .strip_suffix(".commit.requested")
        })
        .unwrap();
    let own: u64 = own.parse().unwrap();
    let other = if own % 1000 == 999 { own - 1 } else { own + 1 };
    let file = format!("f-0_0-1-2_{other}.parquet");
    let marker = format!("{file}.marker.CREATE\n");
    let files = [
        (format!(".hoodie/timeline/{other}.commit.requested"), ""),
        (format!(".hoodie/timeline/{other}.inflight"), ""),
        (
            format!(".hoodie/.temp/{other}/MARKERS.type"),
            "TIMELINE_SERVER_BASED",
        ),
        (format!(".hoodie/.temp/{other}/MARKERS0"), marker.as_str()),
        (file.clone(), "rows"),
    ];
    files
        .into_iter()
        .map(|(path, content)| {
            crate::support::put(store, &path, content.as_bytes().to_vec());
            path
        })
        .collect()
}

#[test]
fn a_writer_that_begins_during_a_write_keeps_all_its_files_and_the_write_is_not_completed() {
    for fails in [false, true] {
        block_on(async {
            let store = store_of([]);
            let mut json = simple();
            json["metadata"] = false.into();
            let table = create(&store, json).await.unwrap();
            let all = store.clone();
            let theirs = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
            let kept = theirs.clone();
            let first = futures::stream::once(async move { Ok(batch(&[(1, "x")])) });
            let rest = futures::stream::once(async move {
                *kept.lock().unwrap() = begin_another(&all, &paths(&all));
                match fails {
                    true => Err(hudi_wasm::Error::invalid_argument("the input broke")),
                    false => Ok(batch(&[(2, "y")])),
                }
            });
            let rows = Rows {
                schema: schema(),
                batches: first.chain(rest).boxed(),
            };
            let done = table.append(rows, WriteOptions::default()).await;
            let code = done.err().unwrap().kind().code();
            let expected = if fails {
                "INVALID_ARGUMENT"
            } else {
                "WRITE_CONFLICT"
            };
            assert_eq!(code, expected);
            let left = paths(&store);
            let theirs = theirs.lock().unwrap().clone();
            for path in &theirs {
                assert!(left.contains(path), "{path} is gone, {fails}");
            }
            let data = |path: &&String| path.ends_with(".parquet");
            assert_eq!(left.iter().filter(data).count(), 1, "ours is rolled back");
            assert!(read(&open(&store).await).await.is_empty());
        });
    }
}

#[test]
fn an_option_that_describes_another_table_is_read_by_and_not_written_by() {
    use hudi_wasm::table::{OpenOptions, Table};
    block_on(async {
        for (key, given) in [
            ("hoodie.table.recordkey.fields", "name"),
            ("hoodie.table.partition.fields", "name"),
            ("hoodie.datasource.write.hive_style_partitioning", "false"),
            ("hoodie.table.keygenerator.type", "COMPLEX"),
            ("hoodie.table.type", "MERGE_ON_READ"),
            ("hoodie.table.ordering.fields", "price"),
            ("hoodie.record.merge.mode", "COMMIT_TIME_ORDERING"),
        ] {
            let store = store_of([]);
            let made = create(&store, parts("COPY_ON_WRITE", 9)).await.unwrap();
            let before = paths(&store);
            let said: std::collections::BTreeMap<_, _> =
                [(key.to_owned(), given.to_owned())].into();
            let by_handle = OpenOptions {
                hudi_options: said.clone(),
                ..OpenOptions::default()
            };
            let by_handle = Table::open(crate::storage(&store), by_handle)
                .await
                .unwrap();
            let by_call = WriteOptions {
                hudi_options: said,
                ..WriteOptions::default()
            };
            for (table, options) in [(&by_handle, WriteOptions::default()), (&made, by_call)] {
                let added = table
                    .append(rows(vec![batch(&[(1, "rome")])]), options)
                    .await;
                let error = added.unwrap_err();
                assert_eq!(error.kind().code(), "INVALID_ARGUMENT", "{key}");
                assert_eq!(error.get("option"), Some(key));
                assert_eq!(error.get("given"), Some(given));
            }
            assert!(read(&by_handle).await.is_empty());
            assert_eq!(paths(&store), before, "{key}");
        }
    });
}

#[test]
fn a_table_of_hashed_buckets_is_refused_by_its_folder_or_by_what_is_said_of_it() {
    block_on(async {
        let store = store_of([]);
        let made = create(&store, parts("MERGE_ON_READ", 9)).await.unwrap();
        for (key, value) in [
            ("hoodie.index.type", "bucket"),
            ("hoodie.bucket.index.hash.field", "id"),
        ] {
            let options = WriteOptions {
                hudi_options: [(key.to_owned(), value.to_owned())].into(),
                ..WriteOptions::default()
            };
            let added = made
                .append(rows(vec![batch(&[(1, "rome")])]), options)
                .await;
            let error = added.unwrap_err();
            assert_eq!(error.kind().code(), "UNSUPPORTED", "{key}");
            assert_eq!(error.get("property"), Some(key));
        }
        let folder = ".hoodie/.bucket_index/consistent_hashing_metadata";
        let file = format!("{folder}/city=rome/00000000000000.hashing_meta");
        crate::support::put(&store, &file, b"{}".to_vec());
        let before = paths(&store);
        let added = rows(vec![batch(&[(1, "rome")])]);
        let error = made.append(added, WriteOptions::default()).await;
        let error = error.unwrap_err();
        assert_eq!(error.kind().code(), "UNSUPPORTED");
        assert_eq!(error.get("path"), Some(folder));
        assert_eq!(paths(&store), before);
    });
}
