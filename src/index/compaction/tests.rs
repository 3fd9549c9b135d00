//! Compactions that Spark ran, run again from what it left, and held against what it wrote.

use super::*;
use crate::codec::avro::read_datum;
use crate::codec::hfile::scan_all;
use crate::index::compaction_plan::operation;
use crate::index::tests::storage_of;
use crate::storage::Storage;
use crate::support;
use crate::timeline::payload::CommitMetadata;

const TIMELINE: &str = ".hoodie/metadata/.hoodie/timeline/";

/// What cannot be the same: times, sizes, tokens.
fn comparable(mut stat: WriteStat) -> WriteStat {
    assert_eq!(stat.total_write_bytes, stat.file_size_in_bytes);
    (stat.total_write_bytes, stat.file_size_in_bytes) = (0, 0);
    stat.total_log_read_time_ms = 0;
    stat.runtime_stats = None;
    stat.path = None;
    stat
}

/// Holds one operation of a plan of Spark's, its stat and its base file against ours.
async fn check(
    storage: &Storage,
    (writer, table): (&MetadataWriter, &MetadataTable),
    theirs: &CompactionOperation,
    stat: &WriteStat,
) -> usize {
    let name = stat.path.clone().unwrap();
    let folder = format!("{FOLDER}/{}", theirs.partition_path);
    let files = storage.list_all(&folder, None, Cause::Write).await.unwrap();
    let by_name = |file: ObjectMeta| (file.path.rsplit('/').next().unwrap().to_owned(), file);
    let files = files.into_iter().map(by_name).collect();
    let slice = slice_of(theirs, Some(&files)).unwrap();
    assert_eq!(operation(&slice), *theirs, "{name}");
    let counts = writer.rewrite(table, &slice, "made").await.unwrap();
    let ours = compacted_stat(&slice, "made", &counts);
    assert_eq!(comparable(ours), comparable(stat.clone()), "{name}");
    let get = async |path: &str| storage.get(path, Cause::Write).await.unwrap();
    let (ours, theirs) = (get("made").await, get(&format!("{FOLDER}/{name}")).await);
    let (ours, theirs) = (scan_all(&ours).unwrap(), scan_all(&theirs).unwrap());
    let schema = WireSchema::parse(writer_schema().as_bytes()).unwrap();
    assert_eq!(ours.len(), theirs.len(), "{name}");
    for (ours, theirs) in ours.iter().zip(&theirs) {
        assert_eq!(ours.key, theirs.key, "{name}");
        let of = |bytes: &[u8]| {
            let mut record = read_datum(&schema, bytes).unwrap();
            // Spark leaves the name of the new file in each record, which nobody reads.
            record["_hoodie_file_name"] = serde_json::Value::Null;
            record
        };
        assert_eq!(of(&ours.value), of(&theirs.value), "{name}");
    }
    ours.len()
}

#[test]
fn compactions_of_spark_are_planned_counted_and_written_as_spark_did() {
    support::block_on(async {
        let (mut operations, mut records) = (0, 0);
        // Hudi 1.2 counts no bytes of logs.
        let table = "v9_cow_mdt_compacted";
        let storage = storage_of(support::store(table));
        let meta = MetaClient::load(storage.clone()).await.unwrap();
        let clock =
            crate::commit::WriteClock::new(&meta.config, Some(crate::host::Zone::Utc), &storage);
        let metadata = MetadataTable::load_anew(&meta).await.unwrap();
        let writer = MetadataWriter::of_any(&meta, &clock).await;
        for (path, file) in support::files(table) {
            let Some(plan) = path.strip_suffix(".compaction.requested") else {
                continue;
            };
            let Some(time) = plan.strip_prefix(TIMELINE) else {
                continue;
            };
            let plan: CompactionPlan = typed(parse(&file).unwrap().unwrap()).unwrap();
            let done = support::files(table).into_iter().find(|(path, _)| {
                path.starts_with(&format!("{TIMELINE}{time}_")) && path.ends_with(".commit")
            });
            let done = parse(&done.unwrap().1).unwrap().unwrap();
            let done: CommitMetadata = typed(done).unwrap();
            let stats: Vec<_> = done.partition_to_write_stats.values().flatten().collect();
            assert_eq!(stats.len(), plan.operations.len());
            for theirs in &plan.operations {
                let stat = stats.iter().find(|stat| stat.file_id == theirs.file_id);
                let folder = format!("{FOLDER}/{}", theirs.partition_path);
                let mut wanted = theirs.data_file_path.iter().chain(&theirs.delta_file_paths);
                let there = |name: &String| {
                    let path = format!("{folder}/{name}");
                    support::files(table).iter().any(|(at, _)| *at == path)
                };
                // The oldest files were cleaned.
                let made = format!("{FOLDER}/{}", stat.unwrap().path.as_ref().unwrap());
                let made = support::files(table).iter().any(|(at, _)| *at == made);
                if made && wanted.all(there) {
                    let both = (&writer, &metadata);
                    records += check(&storage, both, theirs, stat.unwrap()).await;
                    operations += 1;
                }
            }
        }

        println!("{operations} file groups of Spark's compactions, {records} records");
        assert!(operations > 20 && records > 100, "{operations} {records}");
    });
}

#[test]
fn a_plan_over_an_index_that_is_not_kept_here_or_a_file_that_is_gone_is_refused() {
    support::block_on(async {
        let storage = storage_of(support::store("v9_cow_hive_parts"));
        let meta = MetaClient::load(storage.clone()).await.unwrap();
        let clock =
            crate::commit::WriteClock::new(&meta.config, Some(crate::host::Zone::Utc), &storage);
        let table = MetadataTable::load_anew(&meta).await.unwrap();
        let writer = MetadataWriter::open(&meta, &clock).await.unwrap().unwrap();
        let instant = Instant {
            time: InstantTime::parse("20270101000000000").unwrap(),
            completion: None,
            action: Action::Compaction,
            state: State::Inflight,
        };
        for (folder, code) in [("bloom_filters", "UNSUPPORTED"), ("files", "CORRUPT")] {
            let plan = CompactionPlan {
                operations: vec![CompactionOperation {
                    base_instant_time: Some("00000000000000000".to_owned()),
                    delta_file_paths: vec![
                        ".files-0000-0_20270101000000000.log.1_9-9-9".to_owned(),
                    ],
                    file_id: "files-0000-0".to_owned(),
                    partition_path: folder.to_owned(),
                    ..CompactionOperation::default()
                }],
                ..CompactionPlan::default()
            };
            let error = writer
                .run(&meta, &table, &instant, &plan)
                .await
                .unwrap_err();
            assert_eq!(error.kind().code(), code, "{folder}");
        }
    });
}
