mod of_commits;

use std::collections::BTreeSet;

use arrow::datatypes::{DataType, Field, Schema};
use serde_json::Value;

use super::*;
use crate::expr::{Filter, FilterValues, Predicate};
use crate::keygen::PartitionColumns;
use crate::storage::{CallScope, Storage, StorageOptions};
use crate::support::{block_on, cow_tables, expected, store};
use crate::view::DirectoryListing;

async fn slices(name: &str, as_of: Option<&str>, read_optimized: bool) -> Vec<FileSlice> {
    let meta = MetaClient::load(Storage::new(store(name), StorageOptions::default()))
        .await
        .unwrap();
    let listing = DirectoryListing::new(meta.storage.clone(), meta.config.is_partitioned());
    let as_of = as_of.map(|text| InstantTime::parse(text).unwrap());
    let options = SnapshotOptions {
        as_of: as_of.as_ref(),
        read_optimized,
    };
    snapshot(&meta, &listing, &PartitionPruner::none(), options)
        .await
        .unwrap()
}

fn base_names(slices: &[FileSlice]) -> Vec<String> {
    let bases = slices.iter().filter_map(|slice| slice.base.as_ref());
    bases.map(|base| base.path.clone()).collect()
}

/// The partitions and instants of the rows that Spark returned.
fn of_rows(query: &Value) -> BTreeSet<String> {
    let rows = query["rows"].as_array().unwrap().iter();
    rows.filter_map(|row| Some(row["_hoodie_partition_path"].as_str()?.to_owned()))
        .collect()
}

#[test]
fn slices_are_in_the_partitions_of_sparks_rows_at_every_time() {
    let mut checked = 0;
    for name in cow_tables() {
        let answers = expected(&name);
        for query in answers["queries"].as_array().unwrap() {
            let words = &query["query"];
            let plain = words["queryType"] == "snapshot" && words.get("filters").is_none();
            if !plain || !query["rows"].is_array() || words.get("projection").is_some() {
                continue;
            }
            let slices = block_on(slices(&name, words["asOf"].as_str(), false));
            let partitions: BTreeSet<_> = slices.iter().map(|s| s.partition.to_string()).collect();
            let rows = of_rows(query);
            assert!(
                rows.is_subset(&partitions),
                "{name} {words}: {rows:?} in {partitions:?}"
            );
            let newest = words["asOf"].as_str().unwrap_or("99999999999999999");
            assert!(
                slices.iter().all(|slice| slice.instant.as_str() <= newest),
                "{name} {words}"
            );
            checked += 1;
        }
    }
    assert!(checked > 100, "{checked}");
}

#[test]
fn a_clustered_table_shows_the_sources_before_and_the_outputs_after() {
    let files = |as_of: Option<&str>| {
        let slices = block_on(slices("v9_cow_clustered", as_of, false));
        let ids = slices
            .iter()
            .map(|slice| slice.file_id.get(..4).unwrap().to_owned());
        ids.collect::<Vec<_>>()
    };
    let sources = [
        "42576110", "5e931f85", "9cc56b04", "d66904f7", "0c6556df", "3f772b9f", "9b67123d",
        "cb455438",
    ];
    let sources = sources.map(|id| id[..4].to_owned());
    assert_eq!(files(Some("20261129204946286")), sources);
    assert_eq!(files(Some("20261129204948683")), ["7909", "a423"]);
    // The update after it went to a new group beside the clustered one.
    assert_eq!(files(None), ["7909", "a0b1", "a423"]);
}

#[test]
fn a_file_of_an_instant_that_is_on_no_timeline_is_hidden() {
    let name = "v9_cow_multi_writer_conflict";
    let store = store(name);
    // What the loser of the conflict left behind: its instant is known to the rollback alone.
    let loser = "city=ams/611e7dba-9d3b-4499-9888-d8f0e5bbae6e-0_0-1-2_20261129214910000.parquet";
    crate::support::put(&store, loser, b"PAR1".to_vec());
    let found = block_on(async {
        let meta = MetaClient::load(Storage::new(store, StorageOptions::default()))
            .await
            .unwrap();
        let listing = DirectoryListing::new(meta.storage.clone(), true);
        let options = SnapshotOptions::default();
        snapshot(&meta, &listing, &PartitionPruner::none(), options)
            .await
            .unwrap()
    });
    assert_eq!(
        base_names(&found),
        [
            "city=ams/611e7dba-9d3b-4499-9888-d8f0e5bbae6e-0_0-1946-12082_20261129214915528.parquet",
            "city=bru/0b7cadf6-52ad-42e5-bc65-4cf6ba2d4873-0_0-1917-12044_20261129214913826.parquet",
        ]
    );
}

#[test]
fn read_optimized_is_the_newest_base_file_of_each_group() {
    let slices = block_on(slices("v6_mor_parts", None, true));
    assert!(slices.iter().all(|slice| slice.logs.is_empty()));
    assert_eq!(
        base_names(&slices),
        [
            "city=ams/a4639947-682e-434b-a437-e62127ff08f2-0_1-12-16_20261129203640896.parquet",
            "city=bru/2e425033-bd39-49ca-8366-8c5337b62324-0_0-12-15_20261129203640896.parquet",
            "city=bru/a2bff8c2-59bf-4ac5-914e-8c9af3684fa9-0_1-107-133_20261129203659156.parquet",
        ]
    );
}

#[test]
fn folders_that_the_pruner_rules_out_are_not_asked_for() {
    let (found, requests) = block_on(async {
        let storage = Storage::new(store("v9_cow_date_partition"), StorageOptions::default());
        let meta = MetaClient::load(storage).await.unwrap();
        let day = Field::new("day", DataType::Date32, true);
        let columns = PartitionColumns::new(&meta.config, &Schema::new(vec![day]), None).unwrap();
        let values = FilterValues::Text("2024-12-31".to_owned());
        let filter = Filter::parse("day", ">", values).unwrap();
        let predicate = Predicate::bind(&[filter], columns.read_schema()).unwrap();
        let pruner = PartitionPruner::new(&columns, &predicate);
        let call = meta.for_call(CallScope::default());
        let listing = DirectoryListing::new(call.storage.clone(), true);
        let options = SnapshotOptions::default();
        let found = snapshot(&call, &listing, &pruner, options).await.unwrap();
        (found, call.storage.metrics().counters().requests)
    });
    let partitions: Vec<_> = found.iter().map(|slice| slice.partition.as_str()).collect();
    assert_eq!(partitions, ["day=2025-01-01", "day=2026-06-01"]);
    // The table's own folder, and two of the six below it.
    assert_eq!(requests, 3);
}
