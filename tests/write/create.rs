use std::collections::BTreeSet;

use hudi_wasm::config::properties::{Properties, parse};
use hudi_wasm::table::Table;
use hudi_wasm::table::TableSchema;
use serde_json::{Value, json};

use crate::support::{block_on, files, get, put, store_of};
use crate::{create, open, options, paths, read, storage};

const PROPERTIES: &str = ".hoodie/hoodie.properties";

fn properties_of(fixture: &str) -> Properties {
    let files = files(fixture);
    let (_, text) = files.iter().find(|(path, _)| path == PROPERTIES).unwrap();
    parse(text).unwrap()
}

/// Creates a table like the fixture and holds its properties against Spark's.
fn check(fixture: &str, mut json: Value) {
    let mut expected = properties_of(fixture);
    // What the first write adds where there is a metadata table.
    for key in ["partitions", "partitions.inflight"] {
        expected.remove(&format!("hoodie.table.metadata.{key}"));
    }
    expected.remove("hoodie.table.index.defs.path");
    json["tableName"] = json!(fixture);
    json["metadata"] = json!(false);
    let store = store_of([]);
    let table = block_on(create(&store, json)).unwrap();
    let mut found = parse(&get(&store, PROPERTIES)).unwrap();
    // New tables declare UTC, and hold their schema since no commit does yet.
    let zone = found.insert(
        "hoodie.table.timeline.timezone".to_owned(),
        "LOCAL".to_owned(),
    );
    assert_eq!(zone.as_deref(), Some("UTC"));
    let schema = found.remove("hoodie.table.create.schema").unwrap();
    assert!(schema.starts_with(&format!(
        "{{\"type\":\"record\",\"name\":\"{fixture}_record\""
    )));
    assert_eq!(found, expected, "{fixture}");
    assert!(block_on(read(&table)).is_empty());
}

#[test]
fn properties_have_the_keys_and_values_of_sparks_data_frames() {
    check(
        "v9_cow_simple",
        json!({"recordKeyFields": ["id"], "orderingFields": ["ts"]}),
    );
    check(
        "v9_cow_hive_parts",
        json!({"recordKeyFields": ["id"], "orderingFields": ["ts"], "partitionFields": ["city"],
               "hiveStylePartitioning": true}),
    );
    check(
        "v9_mor_event_time",
        json!({"recordKeyFields": ["id"], "orderingFields": ["ts"], "tableType": "MERGE_ON_READ"}),
    );
    check(
        "v9_mor_commit_time",
        json!({"recordKeyFields": ["id"], "tableType": "MERGE_ON_READ"}),
    );
    check(
        "v9_cow_keyless",
        json!({"partitionFields": ["city"], "hiveStylePartitioning": true}),
    );
    check(
        "v9_cow_cdc",
        json!({"recordKeyFields": ["id"], "orderingFields": ["ts"], "partitionFields": ["city"],
               "hiveStylePartitioning": true, "cdc": "DATA_BEFORE_AFTER"}),
    );
    let version_8 = |kind: &str| {
        json!({"recordKeyFields": ["id"], "orderingFields": ["ts"], "partitionFields": ["city"],
               "hiveStylePartitioning": true, "tableType": kind, "tableVersion": 8})
    };
    check("v8_cow_parts", version_8("COPY_ON_WRITE"));
    check("v8_mor_parts", version_8("MERGE_ON_READ"));
}

#[test]
fn a_table_that_is_there_is_left_as_it_is() {
    block_on(async {
        let store = crate::support::store("v9_cow_simple");
        let before = paths(&store);
        let text = get(&store, PROPERTIES);
        let error = create(&store, json!({"tableName": "t"})).await.unwrap_err();
        assert_eq!(error.kind().code(), "TABLE_EXISTS");
        let opened = create(&store, json!({"tableName": "t", "ifExists": "open"}))
            .await
            .unwrap();
        assert!(!read_any(&opened).await.is_empty());
        assert_eq!((paths(&store), get(&store, PROPERTIES)), (before, text));
    });
}

async fn read_any(table: &Table) -> String {
    table.avro_schema(false).await.unwrap()
}

#[test]
fn what_is_left_of_a_table_is_not_brought_to_life() {
    block_on(async {
        let store = store_of([]);
        put(
            &store,
            ".hoodie/timeline/20261129203020176_20261129203021176.commit",
            Vec::new(),
        );
        let error = create(&store, json!({"tableName": "t"})).await.unwrap_err();
        assert_eq!(error.kind().code(), "TABLE_EXISTS");
        assert_eq!(paths(&store).len(), 1);
    });
}

#[test]
fn the_schema_may_be_avro_and_comes_back() {
    block_on(async {
        let store = store_of([]);
        let avro = r#"{"type":"record","name":"r","namespace":"n","fields":[{"name":"a","type":"long"},{"name":"b","type":["null","string"],"default":null}]}"#;
        let schema = TableSchema::Avro(avro.to_owned());
        let made = options(json!({"tableName": "t", "recordKeyFields": ["a"]}));
        Table::create(storage(&store), &schema, made).await.unwrap();
        let table = open(&store).await;
        let names: BTreeSet<_> = table
            .schema(false)
            .await
            .unwrap()
            .fields()
            .iter()
            .map(|f| f.name().clone())
            .collect();
        assert_eq!(names, BTreeSet::from(["a".to_owned(), "b".to_owned()]));
        let found: Value = serde_json::from_str(&table.avro_schema(false).await.unwrap()).unwrap();
        assert_eq!(found, serde_json::from_str::<Value>(avro).unwrap());
    });
}

#[test]
fn what_no_table_would_have_is_refused_before_anything_is_written() {
    let refused = |json: Value, code: &str| {
        let store = store_of([]);
        let error = block_on(create(&store, json.clone())).unwrap_err();
        assert_eq!(error.kind().code(), code, "{json}");
        assert!(paths(&store).is_empty(), "{json}");
    };
    refused(json!({}), "INVALID_ARGUMENT");
    refused(json!({"tableName": "a/b"}), "INVALID_ARGUMENT");
    refused(
        json!({"tableName": "t", "tableVersion": 6}),
        "INVALID_ARGUMENT",
    );
    refused(
        json!({"tableName": "t", "tableType": "MOR"}),
        "INVALID_ARGUMENT",
    );
    refused(
        json!({"tableName": "t", "recordKeyFields": ["nobody"]}),
        "SCHEMA",
    );
    refused(
        json!({"tableName": "t", "recordKeyFields": ["id", "id"]}),
        "INVALID_ARGUMENT",
    );
    refused(
        json!({"tableName": "t", "recordMergeMode": "EVENT_TIME_ORDERING"}),
        "INVALID_ARGUMENT",
    );
    refused(
        json!({"tableName": "t", "keyGenerator": "SIMPLE"}),
        "INVALID_ARGUMENT",
    );
    refused(
        json!({"tableName": "t", "tableVersion": 8, "orderingFields": ["ts", "id"]}),
        "INVALID_ARGUMENT",
    );
    refused(
        json!({"tableName": "t", "metadata": ["bloom_filters"]}),
        "UNSUPPORTED",
    );
    refused(json!({"tableName": "t", "cdc": "ALL"}), "INVALID_ARGUMENT");
}

#[test]
fn options_that_describe_another_table_than_the_new_one_are_refused_by_name() {
    let with = |key: &str, given: &str| {
        json!({"tableName": "t", "recordKeyFields": ["id"], "orderingFields": ["ts"],
               "hudiOptions": {key: given}})
    };
    for (key, given, stored) in [
        ("hoodie.table.type", "MERGE_ON_READ", "COPY_ON_WRITE"),
        (
            "hoodie.datasource.write.table.type",
            "MERGE_ON_READ",
            "COPY_ON_WRITE",
        ),
        ("hoodie.table.recordkey.fields", "ts", "id"),
        ("hoodie.table.partition.fields", "city", "(none)"),
        (
            "hoodie.datasource.write.partitionpath.field",
            "city",
            "(none)",
        ),
        (
            "hoodie.datasource.write.hive_style_partitioning",
            "true",
            "false",
        ),
        ("hoodie.populate.meta.fields", "false", "true"),
        ("hoodie.table.cdc.enabled", "true", "false"),
        ("hoodie.table.timeline.timezone", "LOCAL", "UTC"),
        (
            "hoodie.record.merge.mode",
            "COMMIT_TIME_ORDERING",
            "EVENT_TIME_ORDERING",
        ),
        ("hoodie.table.base.file.format", "ORC", "PARQUET"),
        ("hoodie.table.metadata.partitions", "files", "(none)"),
        ("hoodie.table.nobody.knows.this", "1", "(none)"),
    ] {
        let store = store_of([]);
        let error = block_on(create(&store, with(key, given))).unwrap_err();
        assert_eq!(error.kind().code(), "INVALID_ARGUMENT", "{key}");
        assert_eq!(
            [error.get("option"), error.get("given"), error.get("stored")],
            [Some(key), Some(given), Some(stored)]
        );
        assert!(paths(&store).is_empty(), "{key}");
    }
    for (key, given, kept) in [
        ("hoodie.table.type", "COPY_ON_WRITE", Some("COPY_ON_WRITE")),
        ("hoodie.datasource.write.recordkey.field", "id", None),
        ("hoodie.parquet.max.file.size", "1000000", None),
        ("hoodie.keygen.timebased.timezone", "GMT+1", Some("GMT+1")),
    ] {
        let store = store_of([]);
        block_on(create(&store, with(key, given))).unwrap();
        let table = parse(&get(&store, PROPERTIES)).unwrap();
        assert_eq!(table.get(key).map(String::as_str), kept, "{key}");
    }
}
