use std::collections::BTreeMap;
use std::sync::Arc;

use super::*;
use crate::commit::support::open;
use crate::metadata::{MetadataListing, MetadataTable};
use crate::model::{State, TimelineLayout};
use crate::services::archive;
use crate::storage::{Cause, ObjectMeta};
use crate::support::{block_on, store};
use crate::timeline::payload::{CleanMetadata, CleanerPlan};
use crate::view::{FileListing, PartitionPruner};

/// Its metadata table has fourteen versions of its one file group, and was archived by Spark.
const TABLE: &str = "v9_cow_archived";

/// Spark cleaned its metadata table, by file versions.
const CLEANED: &str = "v9_cow_mdt_compacted";

async fn own(data: &MetaClient) -> MetaClient {
    MetaClient::load(data.storage.below(FOLDER)).await.unwrap()
}

/// What the metadata table lists: names with sizes, by partition.
async fn listed(meta: &MetaClient) -> BTreeMap<String, Vec<(String, u64)>> {
    let table = Arc::new(MetadataTable::load_anew(meta).await.unwrap());
    let listing = MetadataListing::new(meta.storage.clone(), table, meta.config.is_partitioned());
    let found = listing.load(&PartitionPruner::none()).await.unwrap();
    let files = |files: &[ObjectMeta]| {
        let mut files: Vec<_> = files.iter().map(|f| (f.path.clone(), f.size)).collect();
        files.sort();
        files
    };
    let found = found.iter();
    found
        .map(|p| (p.partition.to_string(), files(&p.files)))
        .collect()
}

async fn base_files(meta: &MetaClient) -> usize {
    let all = meta.storage.list_all("files", None, Cause::Listing);
    let all = all.await.unwrap();
    all.iter()
        .filter(|file| file.path.ends_with(".hfile"))
        .count()
}

async fn newest_clean(meta: &MetaClient) -> (CleanerPlan, CleanMetadata) {
    let clean = meta.timeline.completed(&Action::Clean).next_back().unwrap();
    let plan = meta.body(clean, State::Requested).await.unwrap();
    let done = meta.body(clean, State::Completed).await.unwrap();
    (plan.unwrap(), done.unwrap())
}

#[test]
fn old_versions_of_its_file_groups_go_and_it_lists_what_it_listed() {
    block_on(async {
        let store = store(TABLE);
        let (data, writer) = open(&store, &[("hoodie.clean.commits.retained", "1")]).await;
        let before = listed(&data).await;
        let meta = own(&data).await;
        assert_eq!(base_files(&meta).await, 14);
        let all = Rollbacks {
            writer: &writer,
            base: &own_base("/t"),
        };
        assert_eq!(clean(&meta, all).await.unwrap().len(), 1);
        let meta = own(&data).await;
        // The newest, which is the one before the commit that is retained.
        assert_eq!(base_files(&meta).await, 1);
        let (plan, done) = newest_clean(&meta).await;
        assert_eq!(
            done.partition_metadata.keys().collect::<Vec<_>>(),
            ["files"]
        );
        let (data, _) = open(&store, &[]).await;
        assert_eq!(listed(&data).await, before);

        // In Spark's shape, but for the policy's own fields.
        let (data, _) = open(&crate::support::store(CLEANED), &[]).await;
        let (spark_plan, spark_done) = newest_clean(&own(&data).await).await;
        let root = |plan: &CleanerPlan| {
            let file = &plan.file_paths_to_be_deleted_per_partition["files"][0];
            let path = file.file_path.clone().unwrap();
            path.split_once(".hoodie/metadata/files/")
                .unwrap()
                .0
                .to_owned()
        };
        assert_eq!(root(&plan), "file:/t/");
        assert_eq!(
            root(&spark_plan),
            "file:/tmp/spark/m/fw/v9_cow_mdt_compacted/"
        );
        let versions = (plan.version, done.version, plan.extra_metadata);
        let spark = (
            spark_plan.version,
            spark_done.version,
            spark_plan.extra_metadata,
        );
        assert_eq!(versions, spark);
        let (ours, theirs) = (
            &done.partition_metadata["files"],
            &spark_done.partition_metadata["files"],
        );
        assert_eq!(ours.is_partition_deleted, theirs.is_partition_deleted);
        assert_eq!(ours.success_delete_files, ours.delete_path_patterns);
        assert_eq!(theirs.success_delete_files, theirs.delete_path_patterns);
    });
}

#[test]
fn its_instants_move_to_its_history_up_to_the_data_tables_first_write() {
    block_on(async {
        let store = store(TABLE);
        let options = [
            ("hoodie.keep.min.commits", "2"),
            ("hoodie.keep.max.commits", "3"),
            ("hoodie.clean.commits.retained", "1"),
        ];
        let (data, writer) = open(&store, &options).await;
        let before = listed(&data).await;
        let own_writes = async || {
            let meta = own(&data).await;
            let archived = meta.archived_writes(None).await.unwrap();
            let active: Vec<_> = meta.timeline.completed_writes().cloned().collect();
            (archived, active)
        };
        let (archived, active) = own_writes().await;
        archive(&data, &writer).await.unwrap();
        let (data, _) = open(&store, &options).await;
        assert_eq!(archive_metadata(&data, &writer).await.unwrap(), 0);
        let before_all = first_needed(&data.timeline);
        let few = archive_before(&own(&data).await, &writer, before_all).await;
        assert_eq!(few.unwrap(), 9);
        let (now_archived, now_active) = own_writes().await;
        // The data table's first write is that of 20261129205756818 now.
        let first = now_active.first().unwrap();
        assert_eq!(first.time.as_str(), "20261129205756818");
        assert_eq!(now_archived.len(), archived.len() + 9);
        assert_eq!(
            [now_archived, now_active].concat(),
            [archived, active].concat()
        );
        let (data, _) = open(&store, &[]).await;
        assert_eq!(listed(&data).await, before);
    });
}

#[test]
fn its_options_follow_those_of_the_data_table() {
    let check = |options: &[(&str, &str)], expected: [i64; 4]| {
        block_on(async {
            let (_, writer) = open(&store(TABLE), options).await;
            let own = own_options(&writer);
            let keys = [
                "hoodie.clean.commits.retained",
                "hoodie.keep.min.commits",
                "hoodie.keep.max.commits",
                "hoodie.compact.inline.max.delta.commits",
            ];
            assert_eq!(keys.map(|key| own.number(key, -1)), expected);
        });
    };
    check(&[], [20, 21, 31, 10]);
    let options = [
        ("hoodie.cleaner.commits.retained", "24"),
        ("hoodie.keep.min.commits", "30"),
        ("hoodie.keep.max.commits", "40"),
        ("hoodie.metadata.compact.max.delta.commits", "3"),
    ];
    check(&options, [28, 31, 41, 3]);
    let few = [
        ("hoodie.keep.min.commits", "2"),
        ("hoodie.keep.max.commits", "5"),
    ];
    check(&few, [20, 21, 24, 10]);
}

#[test]
fn its_path_names_the_scheme_of_the_local_disk() {
    assert_eq!(own_base("/t/x/"), "file:/t/x/.hoodie/metadata");
    assert_eq!(own_base("s3a://b/t"), "s3a://b/t/.hoodie/metadata");
}

/// A timeline of delta commits a second apart, `c` for a compaction in between, `k` for a clean and `p` for a pending clean.
fn timeline(kinds: &str) -> Timeline {
    let name = |(at, kind): (usize, char)| {
        let (from, to) = (at * 10, at * 10 + 1);
        let time = |at| format!("20260101000000{at:03}");
        let done = |action| format!("{}_{}.{action}", time(from), time(to));
        match kind {
            'c' => done("commit"),
            'k' => done("clean"),
            'p' => format!("{}.clean.requested", time(from)),
            _ => done("deltacommit"),
        }
    };
    let file = |name: String| ObjectMeta {
        path: format!(".hoodie/timeline/{name}"),
        size: 1,
        etag: None,
        modified_millis: None,
    };
    let files: Vec<_> = kinds.chars().enumerate().map(name).map(file).collect();
    Timeline::of_files(&files, TimelineLayout::Two)
}

#[test]
fn a_clean_is_due_once_for_each_compaction_that_is_out_of_use_and_not_soon_after_one() {
    let due = |kinds: &str| clean_is_due(&timeline(kinds), 3, 3);
    // Three writes after the compaction are retained, so what it replaced goes.
    assert!(!due("ddd"));
    assert!(!due("dcdd"));
    assert!(due("dcddd"));
    assert!(due("ddcddddd"));
    // It was seen by a clean that retained as many, not by one before.
    assert!(!due("dcdddkd"));
    assert!(due("dcddkdd"));
    assert!(due("dckddd"));
    // A newer one is just there, then is not yet out of use, then is.
    assert!(!due("dcdddkcdd"));
    assert!(due("dcdddkcddd"));
    assert!(!due("dcdddcd"));
    // One that ended early is gone on with, also not soon after a compaction.
    assert!(due("ddp"));
    assert!(!due("ddpc"));
    // Where compactions follow each other sooner than that, they are not waited for.
    assert!(!due("cdcdcdcd"));
    assert!(clean_is_due(&timeline("cdcdcdcd"), 3, 1));
}

#[test]
fn a_compaction_that_no_clean_has_seen_stays_on_the_timeline() {
    let before = |own: &str| {
        let (data, own) = (timeline("dddddddddd"), timeline(own));
        let before = archived_before(&data, &own, 3).cloned();
        before.map(|time| time.to_string())
    };
    let data = timeline("kkkkkkkkkd");
    let own = timeline("dcddddd");
    let kept = archived_before(&data, &own, 3).unwrap();
    assert_eq!(kept.as_str(), "20260101000000010");
    let cleaned = timeline("dcdddkd");
    let kept = archived_before(&data, &cleaned, 3).unwrap();
    assert_eq!(kept.as_str(), "20260101000000090");
    // The data table's first write is older here.
    assert_eq!(before("dcddddd").unwrap(), "20260101000000000");
}

#[test]
fn what_is_not_after_the_data_tables_first_pending_instant_is_needed() {
    let first = |kinds: &str| {
        let timeline = timeline(kinds);
        first_needed(&timeline).map(|time| time.as_str().to_owned())
    };
    assert_eq!(first("kdd").unwrap(), "20260101000000010");
    assert_eq!(first("kpdd").unwrap(), "20260101000000010");
    assert_eq!(first("dpd").unwrap(), "20260101000000000");
    assert_eq!(first("k"), None);
}
