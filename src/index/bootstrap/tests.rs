//! New metadata tables beside those that Spark made.

use std::collections::BTreeMap;

use arrow::datatypes::{DataType, Field};

use super::*;
use crate::host::Zone;
use crate::index::tests::storage_of;
use crate::support;
use crate::timeline::payload::CommitMetadata;

/// The files of a metadata table that its building left, by path without completion times and tokens of tasks.
fn built(files: &BTreeMap<String, Vec<u8>>) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    for (path, content) in files {
        let Some(inside) = path.strip_prefix(".hoodie/metadata/") else {
            continue;
        };
        let name = inside.rsplit('/').next().unwrap();
        let of_building = name.contains("_0000000000000") || name.starts_with("0000000000000");
        if !of_building
            && name != "hoodie.properties"
            && inside != "files/.hoodie_partition_metadata"
        {
            continue;
        }
        let mut parts: Vec<_> = inside.split('_').collect();
        if inside.ends_with(".hfile") {
            parts.remove(parts.len() - 2);
        } else if inside.ends_with(".deltacommit") {
            parts.pop();
        }
        found.insert(parts.join("_"), content.clone());
    }
    found
}

/// Bootstraps a table with the properties of one of Spark's, and gives both metadata tables' files.
async fn both(table: &str, schema: &Schema, indexes: &[Index]) -> [BTreeMap<String, Vec<u8>>; 2] {
    let theirs: BTreeMap<_, _> = support::files(table).into_iter().collect();
    let config = TableConfig::parse(&theirs[".hoodie/hoodie.properties"]).unwrap();
    let leftover = [(".hoodie/metadata/left/over".to_owned(), b"x".to_vec())];
    let storage = storage_of(support::store_of(leftover));
    let clock = WriteClock::new(&config, Some(Zone::Utc), &storage);
    let options = Properties::from([(RECORD_INDEX_GROUPS[0].to_owned(), "2".to_owned())]);
    let new = NewMetadataTable {
        indexes,
        schema,
        options: &options,
    };
    let made = bootstrap(&storage, &config, &clock, &new).await.unwrap();
    let names: Vec<_> = config.metadata_partitions();
    assert_eq!(made.partitions, names, "{table}");
    let mut ours = BTreeMap::new();
    for file in storage
        .list_all(".hoodie", None, Cause::Write)
        .await
        .unwrap()
    {
        let content = storage.get(&file.path, Cause::Write).await.unwrap();
        ours.insert(file.path, content.to_vec());
    }
    assert!(!ours.contains_key(".hoodie/metadata/left/over"));
    [ours, theirs]
}

/// A properties text without what is of its own moment.
fn settings(text: &[u8]) -> Properties {
    properties::parse(text).unwrap()
}

/// A commit's body without sizes, times, and paths that hold a task's token.
fn body(content: &[u8]) -> serde_json::Value {
    let container = crate::codec::avro::Container::read(content).unwrap();
    let [record] = container.records.try_into().unwrap();
    let mut text: CommitMetadata = serde_json::from_value(record).unwrap();
    for stat in text.partition_to_write_stats.values_mut().flatten() {
        assert_eq!(stat.total_write_bytes, stat.file_size_in_bytes);
        (stat.total_write_bytes, stat.file_size_in_bytes) = (0, 0);
        stat.path = None;
        stat.runtime_stats = None;
    }
    // Hudi 1.0 knows fewer kinds of values, and its readers resolve ours.
    let schema = text.extra_metadata.remove("schema").flatten().unwrap();
    assert!(schema.starts_with(r#"{"type":"record","name":"HoodieMetadataRecord""#));
    serde_json::to_value(text).unwrap()
}

fn compare(table: &str, schema: &Schema, indexes: &[Index]) {
    let [ours, theirs] = support::block_on(both(table, schema, indexes));
    let definitions = [&ours, &theirs].map(|files| files.get(DEFINITIONS_PATH));
    assert_eq!(definitions[0], definitions[1], "{table}");
    let (ours, theirs) = (built(&ours), built(&theirs));
    let names = |files: &BTreeMap<String, Vec<u8>>| files.keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(&ours), names(&theirs), "{table}");
    for (path, ours) in &ours {
        let theirs = &theirs[path];
        match path {
            _ if path.ends_with("hoodie.properties") => {
                // The name of the table is that of the data table's properties.
                assert_eq!(settings(ours), settings(theirs), "{table} {path}");
            }
            _ if path.starts_with(".hoodie/timeline/") && !ours.is_empty() => {
                assert_eq!(body(ours), body(theirs), "{table} {path}");
            }
            // Hudi 1.0 names the file in its record.
            _ if path.ends_with(".hfile") && table.starts_with("v8") => {}
            _ if path.ends_with(".hfile") => {
                let of =
                    |bytes: &Vec<u8>| crate::codec::hfile::scan_all(&bytes.clone().into()).unwrap();
                assert_eq!(of(ours), of(theirs), "{table} {path}");
            }
            _ if path.ends_with("metadata") => {
                let lines = |text: &[u8]| {
                    let text = String::from_utf8(text.to_vec()).unwrap();
                    text.lines()
                        .filter(|line| !line.contains("UTC"))
                        .map(str::to_owned)
                        .collect::<Vec<_>>()
                };
                assert_eq!(lines(ours), lines(theirs), "{table} {path}");
            }
            _ => assert_eq!(ours, theirs, "{table} {path}"),
        }
    }
    assert!(ours.len() > 5, "{table}: {}", ours.len());
}

#[test]
fn metadata_tables_are_made_as_spark_makes_them() {
    let field = |name: &str, data_type| Field::new(name, data_type, true);
    let schema = Schema::new(vec![
        field("id", DataType::Int32),
        field("name", DataType::Utf8),
        field("price", DataType::Float64),
        field("ts", DataType::Int64),
        field("city", DataType::Utf8),
    ]);
    compare("v9_cow_hive_parts", &schema, &Index::ALL);
    let stats = [Index::ColumnStats, Index::PartitionStats];
    compare("v8_mor_compacted", &schema, &stats);
}
