//! What a caller may ask of a read, and what is refused.

use hudi_wasm::config::ReadOptions;
use hudi_wasm::error::ErrorKind::{self, InvalidArgument, Schema, Unsupported};
use hudi_wasm::storage::{CallScope, Storage, StorageOptions};
use hudi_wasm::table::{OpenOptions, Table};
use serde_json::json;

use crate::spark::{open, options, read};
use crate::support::{self, block_on, rows::rows};

#[test]
fn a_limit_cuts_and_a_projection_orders() {
    block_on(async {
        let table = open("v9_cow_simple").await;
        let query = json!({"limit": 2, "projection": ["ts", "id"]});
        let batches = read(&table, &query).await.unwrap();
        assert_eq!(batches.iter().map(|b| b.num_rows()).sum::<usize>(), 2);
        let schema = batches[0].schema();
        let names: Vec<_> = schema.fields().iter().map(|f| f.name().as_str()).collect();
        assert_eq!(names, ["ts", "id"]);
    });
}

#[test]
fn a_filter_on_a_column_outside_the_projection_still_decides() {
    block_on(async {
        let table = open("v9_cow_evolved").await;
        let query = json!({"projection": ["id"], "filters": [["extra", "=", "e1"]]});
        let rows = rows(&read(&table, &query).await.unwrap());
        assert_eq!(rows, [json!({"id": 1})]);
    });
}

#[test]
fn no_column_asked_gives_the_number_of_rows() {
    block_on(async {
        let table = open("v9_cow_drop_partition_cols").await;
        let all = read(&table, &json!({})).await.unwrap();
        let none = read(&table, &json!({"projection": []})).await.unwrap();
        let count = |batches: &[arrow::array::RecordBatch]| {
            batches.iter().map(|b| b.num_rows()).sum::<usize>()
        };
        assert_eq!(count(&none), count(&all));
        assert!(count(&all) > 0);
    });
}

#[test]
fn batches_of_a_stream_have_the_rows_asked_for() {
    block_on(async {
        let table = open("v9_cow_skipping").await;
        let query = json!({"streaming": true, "batchSize": 700, "projection": ["n"]});
        let batches = read(&table, &query).await.unwrap();
        assert!(batches.iter().all(|b| (1..=700).contains(&b.num_rows())));
    });
}

fn check_refused(table: &'static str, query: serde_json::Value, kind: ErrorKind) {
    block_on(async {
        let table = open(table).await;
        let error = read(&table, &query).await.unwrap_err();
        assert_eq!(error.kind(), kind, "{query}: {error}");
    });
}

#[test]
fn what_does_not_fit_the_table_is_refused_before_any_data_is_asked_for() {
    check_refused(
        "v9_cow_simple",
        json!({"filters": [["nope", "=", 1]]}),
        Schema,
    );
    check_refused(
        "v9_cow_simple",
        json!({"filters": [["ts", "=", "abc"]]}),
        Schema,
    );
    check_refused("v9_cow_simple", json!({"projection": ["nope"]}), Schema);
    check_refused(
        "v9_cow_simple",
        json!({"asOf": "2024-01-01"}),
        InvalidArgument,
    );
    check_refused(
        "v9_cow_no_meta_fields",
        json!({"queryType": "incremental"}),
        Unsupported,
    );
    check_refused(
        "v9_cow_simple",
        json!({"queryType": "incremental", "start": "yesterday"}),
        InvalidArgument,
    );
    check_refused("v9_cow_simple", json!({"queryType": "cdc"}), Unsupported);
}

#[test]
fn a_folder_without_a_table_is_not_found_by_name() {
    block_on(async {
        let storage = Storage::new(support::store_of([]), StorageOptions::default());
        let error = Table::open(storage, OpenOptions::default())
            .await
            .unwrap_err();
        assert_eq!(error.kind(), ErrorKind::TableNotFound);
        assert_eq!(error.get("path"), Some(".hoodie/hoodie.properties"));
    });
}

#[test]
fn options_are_one_json_object() {
    let error = ReadOptions::from_json(r#"{"limit": "many"}"#).unwrap_err();
    assert_eq!(error.kind(), InvalidArgument);
}

#[test]
fn a_read_asks_for_the_schema_the_listing_and_each_small_file_once() {
    block_on(async {
        let table = open("v9_cow_simple").await.for_call(CallScope::default());
        assert!(!read(&table, &json!({})).await.unwrap().is_empty());
        // The newest commit, one folder, one base file of less than half a megabyte.
        assert_eq!(table.storage().metrics().counters().requests, 3);
        let again = table.for_call(CallScope::default());
        assert!(!read(&again, &json!({})).await.unwrap().is_empty());
        let counted = again.storage().metrics().counters();
        assert_eq!((counted.requests, counted.cache_hits), (1, 2));
    });
}

#[test]
fn a_plan_tells_what_the_filters_leave_and_fetches_no_column() {
    block_on(async {
        let table = open("v9_cow_hive_parts").await;
        let query = json!({"filters": [["city", "=", "rome"]]});
        let plan = table.explain(&options(&query)).await.unwrap();
        let (kept, pruned): (Vec<_>, Vec<_>) =
            plan.files.iter().partition(|f| f.pruned_by.is_none());
        assert!(!kept.is_empty() && !pruned.is_empty());
        assert!(
            pruned
                .iter()
                .all(|file| file.pruned_by == Some("partition"))
        );
        assert_eq!(plan.estimated_requests, kept.len() as u64);
    });
}

#[test]
fn keys_of_the_caller_stand_over_those_of_the_table() {
    block_on(async {
        let open = async |key: &str, value: &str| {
            let storage = Storage::new(support::store("v9_cow_simple"), StorageOptions::default());
            let hudi_options = [(key.to_owned(), value.to_owned())].into();
            let options = OpenOptions {
                hudi_options,
                ..OpenOptions::default()
            };
            Table::open(storage, options).await
        };
        let utc = open("hoodie.table.timeline.timezone", "UTC").await.unwrap();
        let facts = utc.facts();
        assert_eq!(facts.timezone, "UTC");
        assert_eq!(facts.hudi_options["hoodie.table.timeline.timezone"], "UTC");
        let version = open("hoodie.table.version", "8").await.unwrap_err();
        assert_eq!(version.kind(), InvalidArgument);
        let dropped = open("hoodie.read.as.of.timestamp", "20240101000000")
            .await
            .unwrap();
        assert_eq!(dropped.storage().metrics().counters().warnings.len(), 1);
    });
}

#[test]
fn the_keys_of_a_read_are_its_options_and_unknown_ones_are_kept() {
    block_on(async {
        let table = open("v9_cow_hive_parts").await;
        let named = json!({"queryType": "incremental", "start": "20261129204527433", "end": "20261129204530017"});
        let by_key = json!({"hudiOptions": {
            "hoodie.read.query.type": "INCREMENTAL",
            "hoodie.read.start.timestamp": "20261129204527433",
            "hoodie.read.end.timestamp": "20261129204530017",
            "hoodie.read.some.later.option": "on",
        }});
        let expected = rows(&read(&table, &named).await.unwrap());
        assert_eq!(expected.len(), 2);
        assert_eq!(rows(&read(&table, &by_key).await.unwrap()), expected);
    });
}

#[test]
fn a_range_takes_every_form_of_time() {
    block_on(async {
        let open_in = async |zone: &str| {
            let storage = Storage::new(
                support::store("v9_cow_hive_parts"),
                StorageOptions::default(),
            );
            let options = OpenOptions {
                timezone: Some(zone.to_owned()),
                ..OpenOptions::default()
            };
            Table::open(storage, options).await.unwrap()
        };
        let table = open_in("UTC").await;
        // The third and the fourth commit completed at 20:45:27.433 and at 20:45:30.017.
        for (start, end) in [
            ("20261129204527433", "20261129204530017"),
            ("2026-11-29T20:45:27.433Z", "2026-11-29T21:45:30.017+01:00"),
            ("1795985127433", "1795985130017000"),
            ("1795985127433000000", "20261129204530017"),
        ] {
            let query = json!({"queryType": "incremental", "start": start, "end": end});
            let found = rows(&read(&table, &query).await.unwrap());
            assert_eq!(found.len(), 2, "{start} {end}");
        }
        // A clock two hours ahead reads the same moment as a later time of day.
        let ahead = open_in("+02:00").await;
        let query = json!({"queryType": "incremental", "start": "2026-11-29T18:45:27.433Z"});
        assert_eq!(rows(&read(&ahead, &query).await.unwrap()).len(), 3);
    });
}
