//! Files ruled out by the metadata table: never one with a row that passes.

use arrow::array::AsArray;
use arrow::datatypes::Int64Type;
use futures::TryStreamExt;
use hudi_wasm::storage::CallScope;
use hudi_wasm::table::Table;
use serde_json::{Value, json};

use crate::spark::{difference, fault, open, options, read};
use crate::support::{
    self, block_on,
    rows::{rows, sort},
};

/// The query with statistics and indexes asked whatever that costs, or not at all.
fn with(query: &Value, skipping: bool) -> Value {
    let mut query = query.clone();
    query["hudiOptions"]["hoodie.enable.data.skipping"] = json!(skipping.to_string());
    query
}

/// Sorted rows, and how many files were left out.
async fn rows_of(table: &Table, query: &Value) -> (Vec<Value>, usize) {
    let table = table.for_call(CallScope::default());
    let stream = table.read(&options(query)).await.unwrap();
    let (_, left_out) = stream.files();
    let batches: Vec<_> = stream.try_collect().await.unwrap();
    let mut found = rows(&batches);
    sort(&mut found);
    let warnings = table.storage().metrics().counters().warnings;
    assert_eq!(warnings, Vec::<String>::new(), "{query}");
    (found, left_out)
}

#[test]
fn every_recorded_filter_has_sparks_rows_with_files_ruled_out() {
    block_on(async {
        let mut queries = 0;
        for name in &support::tables() {
            let table = open(name).await;
            for mut recorded in support::queries(&support::expected(name), "snapshot") {
                if recorded["query"].get("filters").is_some() {
                    recorded["query"] = with(&recorded["query"], true);
                    assert_eq!(fault(name, &table, &recorded).await, None);
                    queries += 1;
                }
            }
        }
        assert!(queries > 60, "{queries}");
    });
}

/// Numbers that look random and are the same each time.
struct Random(u64);

impl Random {
    fn below(&mut self, below: i64) -> i64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        i64::try_from(self.0 >> 33).unwrap() % below
    }
}

/// A filter on a column of the table, by the values that its rows have.
fn filter(random: &mut Random, rows: &[Value], columns: &[String]) -> Value {
    let pick = |random: &mut Random, of: usize| {
        usize::try_from(random.below(i64::try_from(of).unwrap())).unwrap()
    };
    let column = &columns[pick(random, columns.len())];
    let value = |random: &mut Random| rows[pick(random, rows.len())][column].clone();
    let text = |value: Value| match value {
        Value::Null => json!("0"),
        Value::Bool(_) | Value::Number(_) => json!(value.to_string()),
        other => other,
    };
    let operators = [
        "=",
        "!=",
        "<",
        "<=",
        ">",
        ">=",
        "IN",
        "NOT IN",
        "IS NULL",
        "IS NOT NULL",
    ];
    match operators[pick(random, operators.len())] {
        operator @ ("IS NULL" | "IS NOT NULL") => json!([column, operator]),
        operator @ ("IN" | "NOT IN") => {
            let values: Vec<_> = (0..=random.below(4)).map(|_| text(value(random))).collect();
            json!([column, operator, values])
        }
        operator => json!([column, operator, text(value(random))]),
    }
}

/// Random filters, read with and without statistics; how many of them left files out.
async fn check(name: &str, seed: u64, count: usize) -> usize {
    let table = open(name).await;
    let (all, _) = rows_of(&table, &json!({})).await;
    let scalars = |row: &Value| {
        let fields = row.as_object().unwrap().iter();
        let names = fields.filter(|(_, value)| !value.is_array() && !value.is_object());
        names.map(|(name, _)| name.clone()).collect::<Vec<_>>()
    };
    let columns = scalars(&all[0]);
    let mut random = Random(seed);
    let mut helped = 0;
    for _ in 0..count {
        let filters: Vec<_> = (0..=random.below(2))
            .map(|_| filter(&mut random, &all, &columns))
            .collect();
        let query = json!({"filters": filters});
        // A value of one column that is none of its type is refused on both sides alike.
        if read(&table, &with(&query, false)).await.is_err() {
            assert!(read(&table, &with(&query, true)).await.is_err(), "{query}");
            continue;
        }
        let (without, _) = rows_of(&table, &with(&query, false)).await;
        let (pruned, left_out) = rows_of(&table, &with(&query, true)).await;
        assert_eq!(difference(&pruned, &without), None, "{name} {query}");
        helped += usize::from(left_out > 0);
    }
    helped
}

/// The sorted values of the column `n`, which tells rows of the table of sixty files apart, and how many files were left out.
async fn numbers(table: &Table, query: &Value) -> (Vec<i64>, usize) {
    let mut query = query.clone();
    query["projection"] = json!(["n"]);
    let stream = table.read(&options(&query)).await.unwrap();
    let (_, left_out) = stream.files();
    let batches: Vec<_> = stream.try_collect().await.unwrap();
    let mut found = Vec::new();
    for batch in &batches {
        let column = batch.column(0).as_primitive::<Int64Type>();
        found.extend_from_slice(column.values());
    }
    found.sort_unstable();
    (found, left_out)
}

#[test]
fn two_hundred_random_filters_over_sixty_files_give_what_a_full_read_gives() {
    block_on(async {
        let table = open("v9_cow_skipping").await;
        let sample = support::expected("v9_cow_skipping")["queries"][0]["sample"].clone();
        let sample = sample.as_array().unwrap();
        let columns = [
            "id",
            "n",
            "name",
            "day",
            "amount",
            "ts",
            "_hoodie_record_key",
            "_hoodie_commit_time",
        ];
        let columns = columns.map(str::to_owned);
        let mut random = Random(42);
        let mut helped = 0;
        for _ in 0..200 {
            let filters: Vec<_> = (0..=random.below(2))
                .map(|_| filter(&mut random, sample, &columns))
                .collect();
            let query = json!({"filters": filters});
            let (without, _) = numbers(&table, &with(&query, false)).await;
            let (pruned, left_out) = numbers(&table, &with(&query, true)).await;
            assert!(
                pruned == without,
                "{query}: {} rows, in full {}",
                pruned.len(),
                without.len()
            );
            helped += usize::from(left_out > 0);
        }
        assert!(helped > 50, "{helped} filters ruled files out");
    });
}

/// Spark opened so many files, as recorded; text apart, we open no more.
#[test]
fn no_more_files_are_read_than_spark_reads() {
    block_on(async {
        let table = open("v9_cow_skipping").await;
        for recorded in support::queries(&support::expected("v9_cow_skipping"), "snapshot") {
            let Some(spark) = recorded["filesRead"].as_u64() else {
                continue;
            };
            let stream = table.read(&options(&recorded["query"])).await.unwrap();
            let (all, left_out) = stream.files();
            assert!(
                (all - left_out) as u64 <= spark,
                "{}: {all} less {left_out}, Spark's {spark}",
                recorded["query"]
            );
        }
    });
}

#[test]
fn random_filters_over_tables_with_every_index_give_what_a_full_read_gives() {
    let tables = [
        "v9_cow_all_types",
        "v9_cow_all_types_bulk",
        "v9_cow_mdt_compacted",
        "v9_cow_secondary_index",
        "v9_cow_partitioned_rli",
        "v9_cow_expression_index",
        "v9_cow_evolved",
        "v9_cow_bloom_index",
    ];
    block_on(async {
        for (seed, name) in (7..).zip(tables) {
            check(name, seed, 40).await;
        }
    });
}

/// How many slices each reason rules out, and how many are left under an empty one.
async fn reasons(name: &str, query: Value) -> std::collections::BTreeMap<&'static str, usize> {
    let table = open(name).await;
    let plan = table.explain(&options(&with(&query, true))).await.unwrap();
    let mut counts = std::collections::BTreeMap::new();
    for file in plan.files {
        *counts
            .entry(file.pruned_by.unwrap_or_default())
            .or_insert(0) += 1;
    }
    counts
}

#[test]
fn a_plan_says_for_each_file_what_ruled_it_out() {
    block_on(async {
        let by_n = reasons("v9_cow_skipping", json!({"filters": [["n", "=", 77777]]})).await;
        assert_eq!(by_n, [("", 1), ("column-stats", 59)].into());
        let by_key = json!({"filters": [["_hoodie_record_key", "IN", ["1", "absent"]]]});
        let by_key = reasons("v9_cow_secondary_index", by_key).await;
        assert!(by_key["record-index"] > 0 && by_key[""] == 1, "{by_key:?}");
        let by_name = json!({"filters": [["name", "=", "a$b"]]});
        let by_name = reasons("v9_cow_secondary_index", by_name).await;
        assert!(
            by_name["secondary-index"] > 0 && by_name[""] == 1,
            "{by_name:?}"
        );
        let absent = json!({"filters": [["_hoodie_record_key", "=", "absent"]]});
        assert!(
            !reasons("v9_cow_partitioned_rli", absent)
                .await
                .contains_key("")
        );
    });
}

/// Files from before a column was added have no statistics of it, and are the very files where it is null.
#[test]
fn files_without_statistics_of_a_column_are_read_for_its_nulls() {
    block_on(async {
        let table = open("v9_cow_evolved").await;
        let (all, _) = rows_of(&table, &json!({})).await;
        let names: Vec<_> = all[0].as_object().unwrap().keys().cloned().collect();
        let has_null = |name: &&String| all.iter().any(|row| row[*name].is_null());
        let added: Vec<_> = names.iter().filter(has_null).collect();
        assert!(!added.is_empty());
        for name in added {
            for operator in ["IS NULL", "IS NOT NULL"] {
                let query = with(&json!({"filters": [[name, operator]]}), true);
                let (found, _) = rows_of(&table, &query).await;
                let passes = |row: &&Value| row[name].is_null() == (operator == "IS NULL");
                assert_eq!(
                    found.len(),
                    all.iter().filter(passes).count(),
                    "{name} {operator}"
                );
            }
        }
    });
}

/// The rows that Spark reads and those that the reasons leave, which must be the same ones.
async fn pruned_by(name: &str, query: Value) -> std::collections::BTreeMap<&'static str, usize> {
    let table = open(name).await;
    let (without, _) = rows_of(&table, &with(&query, false)).await;
    let (pruned, _) = rows_of(&table, &with(&query, true)).await;
    assert_eq!(difference(&pruned, &without), None, "{name} {query}");
    reasons(name, query).await
}

/// The caller says what the table does not: four buckets, of the record key.
#[test]
fn buckets_that_hold_none_of_the_keys_are_not_opened() {
    const BUCKETS: &str = "hoodie.bucket.index.num.buckets";
    block_on(async {
        for name in ["v9_mor_bucket", "v9_mor_bucket_compacted"] {
            let count = if name == "v9_mor_bucket" { "4" } else { "2" };
            let table = open(name).await;
            let (all, _) = rows_of(&table, &json!({})).await;
            let mut helped = 0;
            for row in &all {
                let key = &row["id"];
                let query = json!({"filters": [["id", "=", key]], "hudiOptions": {"hoodie.index.type": "BUCKET", BUCKETS: count}});
                let by = pruned_by(name, query).await;
                helped += by.get("bucket").copied().unwrap_or_default();
                let other = json!({"filters": [["id", "=", key]], "hudiOptions": {"hoodie.index.type": "BUCKET"}});
                assert!(
                    !pruned_by(name, other).await.contains_key("bucket"),
                    "no number"
                );
                let fewer = json!({"filters": [["id", "=", key]], "hudiOptions": {"hoodie.index.type": "BUCKET", BUCKETS: "1"}});
                assert!(
                    !pruned_by(name, fewer).await.contains_key("bucket"),
                    "names of more buckets"
                );
            }
            assert!(helped >= all.len(), "{name}: {helped}");
        }
        let table = open("v9_mor_bucket").await;
        let none = json!({"filters": [["id", "=", 1]], "hudiOptions": {"hoodie.index.type": "BUCKET", BUCKETS: "none"}});
        let error = read(&table, &none).await.unwrap_err();
        assert_eq!(error.kind().code(), "INVALID_ARGUMENT");
    });
}

#[test]
fn bloom_filters_rule_out_files_that_bounds_keep() {
    block_on(async {
        let name = "v9_cow_bloom_index";
        let table = open(name).await;
        let (all, _) = rows_of(&table, &json!({})).await;
        for row in &all {
            let query =
                json!({"filters": [["_hoodie_record_key", "=", row["_hoodie_record_key"]]]});
            let by = pruned_by(name, query).await;
            assert_eq!(by.get(""), Some(&1), "{by:?}");
        }
        // Between the least and the greatest key of every file, and in none.
        let keys: Vec<&str> = all
            .iter()
            .map(|row| row["_hoodie_record_key"].as_str().unwrap())
            .collect();
        let absent = format!("{}!", keys.iter().min().unwrap());
        let by = pruned_by(
            name,
            json!({"filters": [["_hoodie_record_key", "IN", [absent]]]}),
        )
        .await;
        assert!(
            by.contains_key("bloom-filter") && !by.contains_key(""),
            "{by:?}"
        );
    });
}

#[test]
fn indexes_over_lower_and_upper_rule_out_by_a_plain_comparison() {
    block_on(async {
        let name = "v9_cow_expression_index";
        let table = open(name).await;
        let (all, _) = rows_of(&table, &json!({})).await;
        let mut by_all = std::collections::BTreeSet::new();
        for row in all.iter().filter(|row| row["name"].is_string()) {
            let by = pruned_by(name, json!({"filters": [["name", "=", row["name"]]]})).await;
            by_all.extend(by.into_keys());
        }
        let odd = ["zzz", "NAME3", "naïve"];
        for value in odd {
            by_all.extend(
                pruned_by(name, json!({"filters": [["name", "=", value]]}))
                    .await
                    .into_keys(),
            );
        }
        assert!(by_all.contains("expression-index"), "{by_all:?}");
    });
}

#[test]
fn a_secondary_index_over_dates_and_timestamps_is_asked_as_java_spells_them() {
    block_on(async {
        // Hudi 1.1 spells a date as the days from 1970, 1.0 as `yyyy-MM-dd`.
        let names = [
            "v9_cow_secondary_index_times",
            "v8_cow_secondary_index_times",
        ];
        for (name, column) in names
            .iter()
            .flat_map(|name| [(*name, "day"), (*name, "at")])
        {
            let table = open(name).await;
            let (all, _) = rows_of(&table, &json!({})).await;
            let mut asked = 0;
            for row in all.iter().filter(|row| row[column].is_string()) {
                let by = pruned_by(name, json!({"filters": [[column, "=", row[column]]]})).await;
                asked += usize::from(by.contains_key("secondary-index"));
            }
            assert!(asked > 0, "{name} {column}");
            let dates = ["1970-01-01", "2024-02-29", "2000-01-01"];
            let moment = |date: &&str| match column {
                "day" => (*date).to_owned(),
                _ => format!("{date}T00:00:00Z"),
            };
            let values: Vec<_> = dates.iter().map(moment).collect();
            pruned_by(name, json!({"filters": [[column, "IN", values]]})).await;
            let absent = json!({"filters": [[column, "=", values[2]]]});
            assert_eq!(
                pruned_by(name, absent).await.get(""),
                None,
                "{name} {column}"
            );
        }
    });
}

#[test]
fn the_bloom_filter_that_comes_with_a_footer_spares_the_file() {
    block_on(async {
        let name = "v9_cow_bloom_index";
        let table = open(name).await;
        let (all, _) = rows_of(&table, &json!({})).await;
        let keys = all.iter().map(|row| row["_hoodie_record_key"].clone());
        let keys: Vec<Value> = keys.collect();
        let least = keys.iter().filter_map(Value::as_str).min().unwrap();
        let scanned = async |key: Value| {
            let filters = json!([["_hoodie_record_key", "=", key]]);
            let query =
                json!({"filters": filters, "hudiOptions": {"hoodie.metadata.enable": "false"}});
            let table = table.for_call(CallScope::default());
            let read = table.read(&options(&query)).await.unwrap();
            let batches: Vec<_> = read.try_collect().await.unwrap();
            let rows: usize = batches.iter().map(|batch| batch.num_rows()).sum();
            (rows, table.storage().metrics().counters().rows_scanned)
        };
        for key in &keys {
            assert_eq!(scanned(key.clone()).await.0, 1, "{key}");
        }
        // Between the least and the greatest key of a file, and in none.
        assert_eq!(scanned(json!(format!("{least}!"))).await, (0, 0));
    });
}

#[test]
fn a_secondary_index_over_doubles_is_asked_as_java_spells_them() {
    block_on(async {
        let name = "v9_cow_secondary_index";
        let by = pruned_by(name, json!({"filters": [["price", "=", 1.5]]})).await;
        assert!(
            by.contains_key("secondary-index") && by.get("") == Some(&1),
            "{by:?}"
        );
        let table = open(name).await;
        let (all, _) = rows_of(&table, &json!({})).await;
        for row in all.iter().filter(|row| !row["price"].is_null()) {
            pruned_by(
                name,
                json!({"filters": [["price", "IN", [row["price"], "-0", "nan"]]]}),
            )
            .await;
        }
    });
}
