//! Timelines of every table that Spark wrote: instants, as-of rules, schemas, requests, and damage.
#![cfg(not(target_arch = "wasm32"))]

mod damage;
mod odd;
mod requests;
#[path = "../support/mod.rs"]
mod support;

use std::sync::Arc;

use hudi_wasm::Result;
use hudi_wasm::config::TimeValue;
use hudi_wasm::model::InstantTime;
use hudi_wasm::storage::{Storage, StorageOptions};
use hudi_wasm::timeline::{self, MetaClient, TimelineClock};
use object_store::ObjectStore;
use serde_json::Value;

fn open(store: Arc<dyn ObjectStore>) -> Result<MetaClient> {
    let storage = Storage::new(store, StorageOptions::default());
    support::block_on(MetaClient::load(storage))
}

fn table(name: &str) -> MetaClient {
    open(support::store(name)).unwrap()
}

fn time(text: &str) -> InstantTime {
    InstantTime::parse(text).unwrap()
}

fn check_as_of(meta: &MetaClient, as_of: &str) -> Result<()> {
    support::block_on(meta.check_as_of(Some(&time(as_of))))
}

fn code<T>(result: &Result<T>) -> &'static str {
    result
        .as_ref()
        .map_or_else(|e| e.kind().code(), |_| "answered")
}

#[test]
fn every_timeline_shows_the_completed_writes_that_spark_lists() {
    for name in support::tables() {
        let meta = table(&name);
        let mut expected: Vec<_> = support::expected(&name)["instants"]
            .as_array()
            .unwrap()
            .clone();
        expected.sort_by_key(|i| i["instant"].as_str().unwrap().to_owned());
        let layout_two = meta.config.version().number() >= 8;
        let found: Vec<_> = meta
            .timeline
            .completed_writes()
            .map(|i| {
                let completion = i.completion.as_ref().map(|c| c.as_str());
                assert_eq!(completion.is_some(), layout_two, "{name}");
                (
                    i.time.as_str().to_owned(),
                    i.action.as_str().to_owned(),
                    completion.map(str::to_owned),
                )
            })
            .collect();
        let expected: Vec<_> = expected
            .iter()
            .map(|i| {
                let text = |key: &str| i[key].as_str().map(str::to_owned);
                let completion = text("completion").filter(|_| layout_two);
                (
                    text("instant").unwrap(),
                    text("action").unwrap(),
                    completion,
                )
            })
            .collect();
        assert_eq!(found, expected, "{name}");
    }
}

#[test]
fn every_time_that_spark_answers_is_answered_and_every_refusal_has_its_code() {
    let (mut answered, mut refused) = (0, 0);
    for name in support::tables() {
        let meta = table(&name);
        for query in support::queries(&support::expected(&name), "snapshot") {
            let Some(as_of) = query["query"]["asOf"].as_str() else {
                continue;
            };
            let expected = match query["error"].as_str() {
                None => "answered",
                Some(text) if text.contains("first incomplete commit") => "INSTANT_PENDING",
                Some(text) if text.contains("Cleaner cleaned up") => "INSTANT_EXPIRED",
                Some(other) => panic!("{name}: {other}"),
            };
            let result = check_as_of(&meta, as_of);
            assert_eq!(code(&result), expected, "{name} as of {as_of}: {result:?}");
            match expected {
                "answered" => answered += 1,
                _ => refused += 1,
            }
        }
    }
    assert!(answered > 100 && refused >= 18, "{answered} {refused}");
}

#[test]
fn every_schema_names_the_columns_that_spark_reads() {
    for name in support::tables() {
        let meta = table(&name);
        let schema = support::block_on(timeline::table_schema::load(&meta, None))
            .unwrap()
            .avro;
        // Where Spark cannot read the snapshot its schema is not recorded.
        let expected = support::expected(&name);
        let Some(expected) = expected["schema"].as_array() else {
            assert_eq!(name, "v9_mor_hfile_blocks");
            continue;
        };
        let mut expected: Vec<_> = expected
            .iter()
            .map(|c| c[0].as_str().unwrap().to_owned())
            .collect();
        let meta_fields = [
            "commit_time",
            "commit_seqno",
            "record_key",
            "partition_path",
            "file_name",
        ];
        let plain = |column: &String| {
            !meta_fields
                .iter()
                .any(|field| *column == format!("_hoodie_{field}"))
        };
        expected.retain(plain);
        let schema: Value =
            serde_json::from_str(&schema.unwrap_or_else(|| panic!("{name} has no schema")))
                .unwrap();
        let fields = schema["fields"].as_array().unwrap().iter();
        let mut found: Vec<_> = fields
            .map(|f| f["name"].as_str().unwrap().to_owned())
            // Commits of tables with schema on read name the meta fields too.
            .filter(plain)
            .collect();
        expected.sort();
        found.sort();
        assert_eq!(found, expected, "{name}");
    }
}

#[test]
fn every_instant_reads_as_json_and_every_commit_as_its_type() {
    for name in support::tables() {
        let meta = table(&name);
        for instant in meta.timeline.instants() {
            let text = support::block_on(meta.instant_json(instant)).unwrap();
            assert!(
                serde_json::from_str::<Value>(&text).unwrap().is_object(),
                "{name} {instant:?}"
            );
        }
        for instant in meta.timeline.completed_writes() {
            let body = support::block_on(meta.commit_metadata(instant))
                .unwrap()
                .unwrap();
            for (partition, stats) in &body.partition_to_write_stats {
                for stat in stats {
                    assert!(!stat.file_id.is_empty());
                    assert_eq!(stat.partition_path.as_ref(), Some(partition), "{name}");
                    assert!(
                        stat.path.as_ref().unwrap().contains(&stat.file_id),
                        "{name}"
                    );
                }
            }
        }
        support::block_on(timeline::entries(&meta)).unwrap();
    }
}

#[test]
fn moments_find_the_instants_of_a_utc_table_and_need_a_zone_on_a_local_one() {
    let zone = hudi_wasm::host::zone("+08:00").unwrap();
    for (name, zone, offset, known) in [
        ("v9_cow_utc_zone", None, "Z", true),
        ("v9_cow_local_zone", Some(zone), "+08:00", true),
        ("v9_cow_local_zone", None, "+08:00", false),
    ] {
        let meta = table(name);
        let clock = TimelineClock::new(meta.config.timeline_zone(), zone);
        let instant = &meta.timeline.latest_commit().unwrap().time;
        let digits = instant
            .wall_clock()
            .unwrap()
            .format("%Y-%m-%dT%H:%M:%S%.3f");
        let found = clock.instant(&TimeValue::Text(format!("{digits}{offset}")));
        match known {
            true => assert_eq!(&found.unwrap(), instant, "{name}"),
            false => assert_eq!(code(&found), "INVALID_ARGUMENT", "{name}"),
        }
        let millis = clock.epoch_millis(instant);
        assert_eq!(millis.is_some(), known);
        if let Some(millis) = millis {
            assert_eq!(
                &clock.instant(&TimeValue::Millis(millis)).unwrap(),
                instant,
                "{name}"
            );
        }
    }
}
