use std::sync::Arc;

use arrow::array::{ArrayRef, BinaryArray, RecordBatch, StringArray};
use object_store::memory::InMemory;
use parquet::arrow::ArrowWriter;

use super::*;
use crate::codec::log_format::building::{block, code, key};
use crate::storage::{CallScope, Storage, StorageOptions};
use crate::support::{self, block_on, delete, files, get, put, store};

fn open(store: &Arc<InMemory>) -> MetaClient {
    let store: Arc<InMemory> = Arc::clone(store);
    let meta = block_on(MetaClient::load(Storage::new(
        store,
        StorageOptions::default(),
    )));
    meta.unwrap().for_call(CallScope::default())
}

fn time(text: &str) -> InstantTime {
    InstantTime::parse(text).unwrap()
}

fn learn(meta: &MetaClient, instants: &[&str]) {
    block_on(meta.learn_archived(instants.iter().map(|text| time(text)))).unwrap();
}

fn counters(meta: &MetaClient) -> (u64, Vec<String>) {
    let counters = meta.storage.metrics().counters();
    (counters.requests, counters.warnings)
}

/// Of v6_mor_archived: the first update, the write that failed, the last archived one and the first active one.
const KEPT: &str = "20261130023536246";
const FAILED: &str = "20261130023546038";
const ACTIVE: &str = "20261130023604361";
const ROLLBACK: &str = ".hoodie/20261130023550083.rollback";

// V04
#[test]
fn an_archived_write_that_was_rolled_back_is_not_committed() {
    let meta = open(&store("v6_mor_archived"));
    // Nothing tells, by the active timeline alone.
    assert!(meta.timeline.is_committed(&time(FAILED)));
    learn(&meta, &[KEPT, FAILED, ACTIVE]);
    let committed = [KEPT, FAILED, ACTIVE].map(|text| meta.timeline.is_committed(&time(text)));
    assert_eq!(committed, [true, false, true]);
    assert!(!meta.timeline.sees_block_of(FAILED, None));
    assert_eq!(counters(&meta).1, Vec::<String>::new());
}

/// One entry of layout 1's archive, of the fields that matter.
fn entry(time: &str, action: &str, state: &str, undone: &[&str]) -> Vec<u8> {
    let text = |text: &str| [&[(text.len() * 2) as u8][..], text.as_bytes()].concat();
    let mut row = match undone {
        [] => vec![0],
        _ => {
            let undone = undone.iter().flat_map(|time| text(time));
            [vec![2, 2], undone.collect(), vec![0]].concat()
        }
    };
    for part in [time, action, state] {
        row.push(2);
        row.extend(text(part));
    }
    row
}

fn archive(entries: &[Vec<u8>]) -> Vec<u8> {
    let text = r#"["null","string"]"#;
    let schema = format!(
        r#"{{"type":"record","name":"HoodieArchivedMetaEntry","fields":[
        {{"name":"hoodieRollbackMetadata","type":["null",{{"type":"record","name":"HoodieRollbackMetadata","fields":[
            {{"name":"commitsRollback","type":{{"type":"array","items":"string"}}}}]}}]}},
        {{"name":"commitTime","type":{text}}},{{"name":"actionType","type":{text}}},{{"name":"actionState","type":{text}}}]}}"#
    );
    let mut content = 3u32.to_be_bytes().to_vec();
    content.extend((entries.len() as u32).to_be_bytes());
    for entry in entries {
        content.extend((entry.len() as u32).to_be_bytes());
        content.extend(entry);
    }
    block(code::AVRO, &[(key::SCHEMA, &schema)], &content)
}

#[test]
fn an_archived_rollback_tells_as_well_as_an_active_one() {
    let store = store("v6_mor_archived");
    delete(&store, ROLLBACK);
    let done = "20261130023550083";
    let entries = [
        entry(done, "rollback", "INFLIGHT", &[KEPT]),
        entry(done, "rollback", "COMPLETED", &[FAILED]),
    ];
    let newest = ".hoodie/archived/.commits_.archive.10_1-0-1";
    put(&store, newest, archive(&entries));
    let meta = open(&store);
    learn(&meta, &[KEPT, FAILED]);
    assert!(meta.timeline.is_committed(&time(KEPT)));
    assert!(!meta.timeline.is_committed(&time(FAILED)));
}

#[test]
fn the_archive_is_read_from_its_newest_file_back_as_far_as_needed_and_once() {
    let store = store("v6_mor_archived");
    let meta = open(&store);
    learn(&meta, &[ACTIVE]);
    assert_eq!(counters(&meta).0, 0, "an instant on the timeline");
    // The write just before the active ones, which the newest file holds.
    learn(&meta, &["20261130023602223"]);
    assert_eq!(counters(&meta).0, 2, "the folder and one file");
    learn(&meta, &["20261130023602223"]);
    assert_eq!(counters(&meta).0, 2, "asked twice");
    learn(&meta, &[KEPT]);
    // The folder, two files more; each file is asked for once.
    assert_eq!(counters(&meta).0, 6);
}

#[test]
fn an_instant_that_no_archive_knows_counts_with_a_warning() {
    let store = store("v6_mor_archived");
    for (path, _) in files("v6_mor_archived") {
        if path.contains("/archived/") || path.contains(".rollback") {
            delete(&store, &path);
        }
    }
    let meta = open(&store);
    learn(&meta, &[FAILED]);
    assert!(meta.timeline.is_committed(&time(FAILED)));
    assert!(
        counters(&meta).1[0].contains(FAILED),
        "{:?}",
        counters(&meta)
    );
}

#[test]
fn a_damaged_archive_is_warned_of_and_says_nothing() {
    let store = store("v6_mor_archived");
    put(
        &store,
        ".hoodie/archived/.commits_.archive.5_1-0-1",
        b"not a log".to_vec(),
    );
    let meta = open(&store);
    learn(&meta, &[KEPT, FAILED]);
    assert!(meta.timeline.is_committed(&time(KEPT)));
    // The rollback is on the active timeline, which is not damaged.
    assert!(!meta.timeline.is_committed(&time(FAILED)));
    assert!(
        counters(&meta).1[0].contains(".archive.5_"),
        "{:?}",
        counters(&meta)
    );
}

/// A history of layout 2 with these rows: time, completion, action, body.
fn history(rows: &[(&str, &str, &str, &str)]) -> Vec<u8> {
    let text = |values: Vec<&str>| Arc::new(StringArray::from(values)) as ArrayRef;
    let bodies: Vec<&[u8]> = rows.iter().map(|row| row.3.as_bytes()).collect();
    let batch = RecordBatch::try_from_iter([
        ("instantTime", text(rows.iter().map(|row| row.0).collect())),
        (
            "completionTime",
            text(rows.iter().map(|row| row.1).collect()),
        ),
        ("action", text(rows.iter().map(|row| row.2).collect())),
        ("metadata", Arc::new(BinaryArray::from(bodies)) as ArrayRef),
    ]);
    let batch = batch.unwrap();
    let mut file = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut file, batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    file
}

// X5
#[test]
fn only_the_files_that_the_history_names_tell_when_an_archived_instant_completed() {
    let store = store("v9_cow_archived");
    let folder = ".hoodie/timeline/history";
    let (done, undone, leftover) = (
        "20250101000000000",
        "20250102000000000",
        "20250103000000000",
    );
    let rolled_back = format!(r#"{{"commitsRollback": ["{undone}"]}}"#);
    let file = history(&[
        (done, "20250109000000000", "deltacommit", "{}"),
        (
            "20250104000000000",
            "20250104000000001",
            "rollback",
            &rolled_back,
        ),
    ]);
    let old = history(&[(leftover, "20250103000000001", "deltacommit", "{}")]);
    let listed = "20250101000000000_20250104000000000_1.parquet";
    let manifest = format!(
        r#"{{"files": [{{"fileName": "{listed}", "fileLen": {}}}]}}"#,
        file.len()
    );
    let unlisted = format!("{folder}/{leftover}_{leftover}_0.parquet");
    put(&store, &format!("{folder}/{listed}"), file);
    put(&store, &unlisted, old.clone());
    put(
        &store,
        &format!("{folder}/manifest_99"),
        manifest.into_bytes(),
    );
    let older = format!(
        r#"{{"files": [{{"fileName": "{leftover}_{leftover}_0.parquet", "fileLen": {}}}]}}"#,
        old.len()
    );
    put(&store, &format!("{folder}/manifest_98"), older.into_bytes());
    put(&store, &format!("{folder}/_version_"), b"99".to_vec());
    let meta = open(&store);
    learn(&meta, &[done, undone, leftover]);
    let completion = meta.timeline.completion(&time(done));
    assert_eq!(completion, Some(time("20250109000000000")));
    assert!(meta.timeline.is_committed(&time(done)));
    assert!(!meta.timeline.is_committed(&time(undone)));
    // The file that holds it is a leftover, so nobody knows: it is not dropped, and not taken for known.
    assert!(meta.timeline.is_committed(&time(leftover)));
    assert_eq!(meta.timeline.completion(&time(leftover)), None);
    assert!(meta.timeline.has_lost(&time(leftover)) && !meta.timeline.has_lost(&time(undone)));
    assert!(
        counters(&meta).1[0].contains(leftover),
        "{:?}",
        counters(&meta)
    );
}

#[test]
fn sparks_histories_tell_when_every_archived_write_completed() {
    let expected = support::expected("v9_cow_archived");
    let note = expected["note"].as_str().unwrap();
    let all = note.split("All instants in order: ").nth(1).unwrap();
    let all = all.split('.').next().unwrap().split(' ');
    let all: Vec<(&str, &str)> = all.map(|pair| pair.split_once('_').unwrap()).collect();
    assert_eq!(all.len(), 42);
    let store = store("v9_cow_archived");
    assert!(!get(&store, ".hoodie/timeline/history/_version_").is_empty());
    let meta = open(&store);
    let asked: Vec<&str> = all.iter().map(|(requested, _)| *requested).collect();
    learn(&meta, &asked);
    for (requested, completed) in all {
        let found = meta.timeline.completion(&time(requested));
        assert_eq!(found, Some(time(completed)), "{requested}");
    }
    assert_eq!(counters(&meta).1, Vec::<String>::new());
}
