//! Timelines that crashes, restores, writers at work and hands on the store leave behind.

use std::sync::Arc;

use hudi_wasm::model::{Action, PartitionPath};
use hudi_wasm::timeline::{self, MetaClient};
use object_store::memory::InMemory;

use super::support::{self, delete, get, put, store};
use super::{check_as_of, code, open, table, time};

const TIMELINE: &str = ".hoodie/timeline";

fn warnings(meta: &MetaClient) -> Vec<String> {
    meta.storage.metrics().counters().warnings
}

/// Makes a completed instant pending again.
fn undo(store: &Arc<InMemory>, file: &str) {
    delete(store, file);
}

#[test]
fn no_properties_is_no_table() {
    let error = open(support::store_of([])).err().unwrap();
    assert_eq!(error.kind().code(), "TABLE_NOT_FOUND");
    assert_eq!(error.get("path"), Some(".hoodie/hoodie.properties"));
    assert!(error.get("hint").is_some());
}

#[test]
fn the_backup_counts_while_the_properties_are_replaced() {
    let (main, backup) = (
        ".hoodie/hoodie.properties",
        ".hoodie/hoodie.properties.backup",
    );
    let store = store("v9_cow_simple");
    let whole = get(&store, main);
    put(&store, backup, whole.clone());
    for damaged in [None, Some(&whole[..0]), Some(&whole[..whole.len() / 2])] {
        match damaged {
            Some(bytes) => put(&store, main, bytes.to_vec()),
            None => delete(&store, main),
        }
        let meta = open(store.clone()).unwrap();
        assert_eq!(meta.config.table_name(), "v9_cow_simple");
        assert!(
            warnings(&meta)[0].contains("backup"),
            "{:?}",
            warnings(&meta)
        );
    }
    delete(&store, backup);
    let error = open(store).err().unwrap();
    assert_eq!(
        (error.kind().code(), error.get("path")),
        ("CORRUPT", Some(main))
    );
}

#[test]
fn a_newer_table_is_refused_even_when_an_old_backup_lies_there() {
    let store = store("v9_cow_simple");
    let main = ".hoodie/hoodie.properties";
    let whole = String::from_utf8(get(&store, main)).unwrap();
    put(
        &store,
        ".hoodie/hoodie.properties.backup",
        whole.clone().into_bytes(),
    );
    put(
        &store,
        main,
        whole
            .replace("hoodie.table.version=9", "hoodie.table.version=10")
            .into_bytes(),
    );
    let error = open(store).err().unwrap();
    assert_eq!(
        (error.kind().code(), error.get("value")),
        ("UNSUPPORTED", Some("10"))
    );
}

#[test]
fn files_in_sub_folders_are_no_instants() {
    let stray = "20200101000000000.commit";
    let six = [
        ".hoodie/.bucket_index/consistent_hashing_metadata/p1",
        ".hoodie/metadata/.hoodie",
        ".hoodie/timeline",
    ];
    let nine = [
        ".hoodie/timeline/history",
        ".hoodie",
        ".hoodie/metadata/.hoodie/timeline",
    ];
    for (name, folders) in [("v6_cow_parts", six), ("v9_cow_simple", nine)] {
        let store = store(name);
        let before = open(store.clone()).unwrap().timeline.start().cloned();
        for folder in folders {
            put(&store, &format!("{folder}/{stray}"), b"{}".to_vec());
        }
        let meta = open(store).unwrap();
        assert_eq!(meta.timeline.start().cloned(), before, "{name}");
        assert!(
            meta.timeline.instants().all(|i| i.time.as_str() > "2026"),
            "{name}"
        );
    }
}

#[test]
fn a_handle_keeps_the_instants_it_was_opened_with() {
    let store = store("v9_cow_simple");
    let meta = open(store.clone()).unwrap();
    let before: Vec<_> = meta.timeline.instants().cloned().collect();
    // An instant that was requested before the newest one and completes after this handle was opened.
    let late = time("20261129204459264");
    let newest = meta.timeline.latest_commit().unwrap();
    let completed = &meta.timeline.file(newest, newest.state).unwrap().path;
    let completed = get(&store, completed);
    put(
        &store,
        &format!("{TIMELINE}/{late}_20261129204800000.commit"),
        completed,
    );
    assert_eq!(
        meta.timeline.instants().cloned().collect::<Vec<_>>(),
        before
    );
    assert!(!meta.timeline.is_committed(&late));
    assert!(open(store).unwrap().timeline.is_committed(&late));
}

#[test]
fn the_newest_empty_commit_is_an_error_and_an_older_one_a_warning() {
    let store = store("v6_cow_parts");
    let meta = open(store.clone()).unwrap();
    let writes: Vec<_> = meta
        .timeline
        .completed_writes()
        .map(|i| i.time.clone())
        .collect();
    let newest = writes.last().unwrap();
    let path = format!(".hoodie/{newest}.commit");
    let content = get(&store, &path);
    put(&store, &path, Vec::new());
    let meta = open(store.clone()).unwrap();
    let error = support::block_on(meta.check_as_of(None)).unwrap_err();
    assert_eq!(
        (error.kind().code(), error.get("path")),
        ("CORRUPT", Some(path.as_str()))
    );
    assert_eq!(error.get("instant"), Some(newest.as_str()));
    assert_eq!(code(&check_as_of(&meta, writes[0].as_str())), "answered");
    // The handle saw no bytes when it listed; the content is there when it asks.
    put(&store, &path, content);
    support::block_on(meta.check_as_of(None)).unwrap();

    let older = format!(".hoodie/{}.commit", writes[0]);
    put(&store, &older, Vec::new());
    let meta = open(store).unwrap();
    support::block_on(meta.check_as_of(None)).unwrap();
    assert!(meta.timeline.is_committed(&writes[0]));
    assert!(warnings(&meta)[0].contains(&older), "{:?}", warnings(&meta));
}

#[test]
fn an_empty_replacecommit_is_an_error_since_it_would_bring_replaced_rows_back() {
    let store = store("v9_cow_overwrite");
    put(
        &store,
        &format!("{TIMELINE}/20261129205036473_20261129205037759.replacecommit"),
        Vec::new(),
    );
    let meta = open(store).unwrap();
    let error = support::block_on(meta.replaced_file_groups()).unwrap_err();
    assert_eq!(
        (error.kind().code(), error.get("instant")),
        ("CORRUPT", Some("20261129205036473"))
    );
}

#[test]
fn replaced_groups_are_hidden_from_their_instant_on() {
    let meta = table("v9_cow_overwrite");
    let replaced = support::block_on(meta.replaced_file_groups()).unwrap();
    assert!(!replaced.is_empty());
    for (partition, file_id, by) in replaced.iter() {
        assert!(meta.timeline.find(by, &Action::ReplaceCommit).is_some());
        assert!(replaced.hides(partition, file_id, None));
        assert!(replaced.hides(partition, file_id, Some(by)));
        assert!(!replaced.hides(partition, file_id, Some(&time("20261129205034816"))));
        assert!(!replaced.hides(&PartitionPath::new("elsewhere"), file_id, None));
    }
    let overwrites: Vec<_> = meta.timeline.completed(&Action::ReplaceCommit).collect();
    assert_eq!(overwrites.len(), 3);
}

#[test]
fn a_pending_overwrite_stops_time_travel_and_a_pending_clustering_does_not() {
    let overwritten = store("v9_cow_overwrite");
    undo(
        &overwritten,
        &format!("{TIMELINE}/20261129205040209_20261129205042153.replacecommit"),
    );
    let meta = open(overwritten).unwrap();
    assert_eq!(code(&check_as_of(&meta, "20261129205040208")), "answered");
    for at in [
        "20261129205040209",
        "20261129205042266",
        "20991231000000000",
    ] {
        assert_eq!(code(&check_as_of(&meta, at)), "INSTANT_PENDING", "{at}");
    }
    support::block_on(meta.check_as_of(None)).unwrap();

    // Version 6 calls a clustering replacecommit; its plan tells.
    let clustered = store("v6_cow_clustered");
    undo(&clustered, ".hoodie/20261129203204759.replacecommit");
    let meta = open(clustered.clone()).unwrap();
    assert_eq!(code(&check_as_of(&meta, "20261129203209606")), "answered");
    let pending = support::block_on(meta.pending_clusterings()).unwrap();
    assert_eq!(pending[0].time, time("20261129203204759"));
    put(
        &clustered,
        ".hoodie/20261129203204759.replacecommit.requested",
        Vec::new(),
    );
    let meta = open(clustered).unwrap();
    assert_eq!(
        code(&check_as_of(&meta, "20261129203209606")),
        "INSTANT_PENDING"
    );
}

#[test]
fn pending_services_do_not_stop_time_travel() {
    let store = store("v9_cow_simple");
    for service in [
        "compaction",
        "logcompaction",
        "clustering",
        "clean",
        "rollback",
        "indexing",
        "restore",
    ] {
        put(
            &store,
            &format!("{TIMELINE}/20261129204450000.{service}.requested"),
            Vec::new(),
        );
        put(
            &store,
            &format!("{TIMELINE}/20261129204450000.{service}.inflight"),
            Vec::new(),
        );
    }
    let meta = open(store).unwrap();
    assert_eq!(code(&check_as_of(&meta, "20261129204502049")), "answered");
}

#[test]
fn before_an_archived_timeline_nothing_is_promised() {
    let store = store("v9_cow_archived");
    let cleans = support::files("v9_cow_archived")
        .into_iter()
        .map(|(path, _)| path);
    let cleans = cleans.filter(|path| path.starts_with(TIMELINE) && path.contains(".clean"));
    cleans.for_each(|path| delete(&store, &path));
    let meta = open(store).unwrap();
    let start = meta.timeline.start().unwrap().as_str().to_owned();
    assert_eq!(code(&check_as_of(&meta, &start)), "answered");
    let error = check_as_of(&meta, "20261129205417663").unwrap_err();
    assert_eq!(
        (error.kind().code(), error.get("earliest")),
        ("INSTANT_EXPIRED", Some(start.as_str()))
    );
    // Nothing is archived here, so a time before the first commit is a time without rows.
    assert_eq!(
        code(&check_as_of(&table("v9_cow_simple"), "20200101000000000")),
        "answered"
    );
    assert_eq!(
        code(&check_as_of(&table("v6_cow_parts"), "20200101000000000")),
        "answered"
    );
}

#[test]
fn a_clean_by_file_versions_keeps_times_whose_files_are_all_newest_or_rewritten() {
    let meta = table("v9_cow_mdt_compacted");
    // Two versions are kept: those of the newest and of the last but one commit; both commits wrote both groups.
    for (at, expected) in [
        ("20261129220404036", "answered"),
        ("20261129220357591", "answered"),
        ("20261129220357590", "INSTANT_EXPIRED"),
        ("20261129220352294", "INSTANT_EXPIRED"),
    ] {
        assert_eq!(code(&check_as_of(&meta, at)), expected, "{at}");
    }
}

#[test]
fn instants_that_a_restore_undid_are_not_trusted() {
    for name in [
        "v9_cow_restored",
        "v9_cow_rollback",
        "v9_cow_multi_writer_conflict",
        "v6_mor_rollback",
    ] {
        let meta = table(name);
        let entries = support::block_on(timeline::entries(&meta)).unwrap();
        let undone: Vec<_> = entries.iter().flat_map(|entry| &entry.rolls_back).collect();
        assert!(!undone.is_empty(), "{name}");
        for instant in undone {
            assert!(
                !meta.timeline.is_committed(&time(instant)),
                "{name} {instant}"
            );
        }
    }
}

#[test]
fn a_rollback_under_way_and_its_target_name_each_other() {
    let store = store("v9_cow_rollback");
    undo(
        &store,
        &format!("{TIMELINE}/20261129210612199_20261129210613972.rollback"),
    );
    let meta = open(store.clone()).unwrap();
    let entries = support::block_on(timeline::entries(&meta)).unwrap();
    let rollback = entries
        .iter()
        .find(|e| e.instant.action == Action::Rollback)
        .unwrap();
    let target = rollback.rolls_back[0].clone();
    put(&store, &format!("{TIMELINE}/{target}.inflight"), Vec::new());
    let meta = open(store).unwrap();
    let entries = support::block_on(timeline::entries(&meta)).unwrap();
    let undone = entries
        .iter()
        .find(|e| e.instant.time.as_str() == target)
        .unwrap();
    assert_eq!(undone.rolled_back_by, [time("20261129210612199")]);
    assert_eq!(code(&check_as_of(&meta, &target)), "INSTANT_PENDING");
}

#[test]
fn commits_without_a_schema_are_passed_over() {
    let store = store("v9_cow_evolved");
    let meta = open(store.clone()).unwrap();
    let schema = |meta: &MetaClient, as_of: Option<&str>| {
        let as_of = as_of.map(time);
        support::block_on(timeline::table_schema::load(meta, as_of.as_ref()))
            .unwrap()
            .avro
    };
    let writes: Vec<_> = meta.timeline.completed_writes().cloned().collect();
    let first = schema(&meta, Some(writes[0].time.as_str())).unwrap();
    assert_ne!(first, schema(&meta, None).unwrap());
    for instant in &writes[1..] {
        let completion = instant.completion.as_ref().unwrap();
        put(
            &store,
            &format!("{TIMELINE}/{}_{completion}.commit", instant.time),
            Vec::new(),
        );
    }
    let meta = open(store).unwrap();
    assert_eq!(schema(&meta, None).unwrap(), first);
    assert_eq!(schema(&meta, Some("20200101000000000")), None);
    let created = schema(&table("v9_cow_empty"), None).unwrap();
    assert!(created.contains("hoodie.v9_cow_empty"), "{created}");
}

#[test]
fn an_instant_that_is_not_there_any_more_says_what_to_do() {
    let store = store("v9_cow_simple");
    let meta = open(store.clone()).unwrap();
    let newest = meta.timeline.latest_commit().unwrap();
    let path = meta
        .timeline
        .file(newest, newest.state)
        .unwrap()
        .path
        .clone();
    delete(&store, &path);
    let error = support::block_on(meta.commit_metadata(newest)).unwrap_err();
    assert_eq!(
        (error.kind().code(), error.get("path")),
        ("NOT_FOUND", Some(path.as_str()))
    );
    assert!(error.get("hint").unwrap().contains("refresh"));
}
