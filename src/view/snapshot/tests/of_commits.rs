//! Slices of merge-on-read tables against what Spark's own commits and plans say they wrote, one instant after the other.

use std::collections::{BTreeMap, BTreeSet};

use super::*;
use crate::model::{Action, FileName, Instant, State};
use crate::support::tables;
use crate::timeline::payload::CompactionPlan;

/// Base file and log files of a slice, by name.
type Files = (Option<String>, BTreeSet<String>);

/// By partition and file id.
type Groups = BTreeMap<(String, String), Files>;

fn file_name(path: &str) -> String {
    path.rsplit('/').next().unwrap().to_owned()
}

/// Plays the completed writes that were requested by a time, in the order in which they completed.
async fn played(meta: &MetaClient, as_of: Option<&InstantTime>) -> Groups {
    let writes = meta.timeline.completed_writes();
    let mut writes: Vec<&Instant> = writes
        .filter(|i| as_of.is_none_or(|as_of| i.time <= *as_of))
        .collect();
    writes.sort_by_key(|i| {
        (
            i.completion.clone().unwrap_or_else(|| i.time.clone()),
            &i.time,
        )
    });
    let mut groups = Groups::new();
    for instant in writes {
        let plan: Option<CompactionPlan> = match instant.action {
            Action::Commit => meta.body(instant, State::Requested).await.unwrap(),
            _ => None,
        };
        let commit = meta.commit_metadata(instant).await.unwrap().unwrap();
        for (partition, ids) in commit.partition_to_replace_file_ids {
            for id in ids {
                groups.remove(&(partition.clone(), id));
            }
        }
        for (partition, stats) in commit.partition_to_write_stats {
            for stat in stats {
                let Some(name) = stat.path.as_deref().map(file_name) else {
                    continue;
                };
                let key = (partition.clone(), stat.file_id.clone());
                let (base, logs) = groups.entry(key).or_default();
                match FileName::parse(&name).unwrap() {
                    FileName::Log(_) => {
                        logs.insert(name);
                    }
                    FileName::Base(_) => {
                        let operations = plan.iter().flat_map(|plan| &plan.operations);
                        let compacted: BTreeSet<String> = operations
                            .filter(|o| o.file_id == stat.file_id && o.partition_path == partition)
                            .flat_map(|o| o.delta_file_paths.iter().map(|path| file_name(path)))
                            .collect();
                        *base = Some(name);
                        match plan {
                            Some(_) => logs.retain(|log| !compacted.contains(log)),
                            None => logs.clear(),
                        }
                    }
                    FileName::NativeLog(_) => panic!("{name}"),
                }
            }
        }
    }
    groups.retain(|_, (base, logs)| base.is_some() || !logs.is_empty());
    groups
}

async fn shown(meta: &MetaClient, as_of: Option<&InstantTime>) -> Groups {
    let listing = DirectoryListing::new(meta.storage.clone(), meta.config.is_partitioned());
    let options = SnapshotOptions {
        as_of,
        read_optimized: false,
    };
    let none = PartitionPruner::none();
    let slices = snapshot(meta, &listing, &none, options).await.unwrap();
    let files = slices.into_iter().map(|slice| {
        let base = slice.base.as_ref().map(|base| file_name(&base.path));
        let logs = slice.data_logs().map(|log| file_name(&log.path)).collect();
        ((slice.partition.to_string(), slice.file_id), (base, logs))
    });
    files.collect()
}

async fn check(table: &str) -> usize {
    let storage = Storage::new(store(table), StorageOptions::default());
    let meta = MetaClient::load(storage).await.unwrap();
    let writes: Vec<InstantTime> = meta
        .timeline
        .completed_writes()
        .map(|i| i.time.clone())
        .collect();
    let mut checked = 0;
    for as_of in writes.iter().map(Some).chain([None]) {
        let expected = played(&meta, as_of).await;
        let mut found = shown(&meta, as_of).await;
        if meta.config.version() == TableVersion::Six || table.ends_with("from_6") {
            // Logs of rollbacks, failed writes and later writes lie in the slices too; their blocks tell.
            for (key, (_, logs)) in &mut found {
                logs.retain(|log| {
                    expected
                        .get(key)
                        .is_none_or(|(_, known)| known.contains(log))
                });
            }
        }
        assert_eq!(found, expected, "{table} as of {as_of:?}");
        checked += 1;
    }
    checked
}

#[test]
fn every_slice_of_every_merge_on_read_table_is_what_its_commits_wrote() {
    let mut checked = 0;
    for table in tables() {
        let archived = table.contains("archived");
        if !archived && (table.contains("_mor_") || table.contains("upgraded")) {
            checked += block_on(check(&table));
        }
    }
    assert!(checked > 250, "{checked}");
}

// X5
#[test]
fn logs_of_archived_instants_lie_over_the_base_that_they_completed_after() {
    let (found, warnings) = block_on(async {
        let storage = Storage::new(store("v9_mor_archived"), StorageOptions::default());
        let meta = MetaClient::load(storage).await.unwrap();
        let meta = meta.for_call(CallScope::default());
        let found = shown(&meta, None).await;
        (found, meta.storage.metrics().counters().warnings)
    });
    let instants = |files: &Files| {
        let base = FileName::parse(files.0.as_ref().unwrap());
        let Some(FileName::Base(base)) = base else {
            panic!("{files:?}");
        };
        let logs = files.1.iter().map(|name| match FileName::parse(name) {
            Some(FileName::Log(log)) => log.instant.to_string(),
            other => panic!("{other:?}"),
        });
        (base.instant.to_string(), logs.collect::<Vec<_>>())
    };
    let found: Vec<_> = found.values().map(instants).collect();
    // The compaction was requested at 024033458; the log before it is in its base file, that of 024037423 is not.
    assert_eq!(found[0].0, "20261130024033458");
    assert_eq!(found[0].1, ["20261130024037423", "20261130024056296"]);
    assert_eq!(found[1], ("20261130024033458".to_owned(), vec![]));
    assert_eq!(found[2].0, "20261130024100506");
    assert_eq!(found[2].1.len(), 7);
    assert_eq!(warnings, Vec::<String>::new());
}
