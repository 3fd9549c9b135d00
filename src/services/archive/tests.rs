use std::sync::Arc;

use object_store::memory::InMemory;

use super::*;
use crate::support::{block_on, delete, get, put, store};

/// Spark archived this table down to six commits; its metadata table was last compacted at 20261129205803600.
const TABLE: &str = "v9_cow_archived";
/// The least that stays: what a clean of one commit retains, and one more.
const KEPT: [&str; 2] = ["20261129205756818", "20261129205803470"];
const HISTORY: &str = ".hoodie/timeline/history";

async fn open(store: &Arc<InMemory>) -> (MetaClient, Writer) {
    let options = [
        ("hoodie.keep.min.commits", "2"),
        ("hoodie.keep.max.commits", "3"),
        ("hoodie.clean.commits.retained", "1"),
    ];
    crate::commit::support::open(store, &options).await
}

/// Every completed write, archived or not.
async fn all_writes(meta: &MetaClient) -> Vec<Instant> {
    let mut all = meta.archived_writes(None).await.unwrap();
    all.extend(meta.timeline.completed_writes().cloned());
    all
}

fn times(meta: &MetaClient, action: &Action) -> Vec<String> {
    let found = meta.timeline.instants().filter(|i| i.action == *action);
    found.map(|i| i.time.to_string()).collect()
}

#[test]
fn instants_move_to_the_history_beside_what_spark_archived() {
    block_on(async {
        let store = store(TABLE);
        let (meta, writer) = open(&store).await;
        let before = all_writes(&meta).await;
        assert_eq!(archive(&meta, &writer).await.unwrap(), 8);
        let (meta, _) = open(&store).await;
        assert_eq!(times(&meta, &Action::Commit), KEPT);
        let cleans = [
            "20261129205755562",
            "20261129205801988",
            "20261129205807740",
        ];
        assert_eq!(times(&meta, &Action::Clean), cleans);
        assert_eq!(all_writes(&meta).await, before);
        assert_eq!(get(&store, &format!("{HISTORY}/_version_")), b"16");
        let name = "20261129205735235_20261129205751899_0.parquet";
        let size = get(&store, &format!("{HISTORY}/{name}")).len();
        let manifest = String::from_utf8(get(&store, &format!("{HISTORY}/manifest_16"))).unwrap();
        let older = String::from_utf8(get(&store, &format!("{HISTORY}/manifest_15"))).unwrap();
        let older = older.strip_suffix(" ]\n}").unwrap();
        let entry =
            format!(", {{\n    \"fileName\" : \"{name}\",\n    \"fileLen\" : {size}\n  }} ]\n}}");
        assert_eq!(manifest, format!("{older}{entry}"));
        assert_eq!(archive(&meta, &writer).await.unwrap(), 0);
    });
}

#[test]
fn what_an_archive_left_behind_is_removed_by_the_next_and_archived_once() {
    block_on(async {
        let store = store(TABLE);
        let (meta, writer) = open(&store).await;
        let before = all_writes(&meta).await;
        let completed: Vec<_> = meta
            .timeline
            .completed_writes()
            .map(|i| {
                meta.timeline
                    .file(i, State::Completed)
                    .unwrap()
                    .path
                    .clone()
            })
            .map(|path| (path.clone(), get(&store, &path)))
            .collect();
        archive(&meta, &writer).await.unwrap();
        for (path, content) in completed {
            put(&store, &path, content);
        }
        let (meta, _) = open(&store).await;
        assert_eq!(all_writes(&meta).await, before);
        assert_eq!(archive(&meta, &writer).await.unwrap(), 4);
        let (meta, _) = open(&store).await;
        assert_eq!(get(&store, &format!("{HISTORY}/_version_")), b"16");
        assert_eq!(times(&meta, &Action::Commit), KEPT);
        assert_eq!(all_writes(&meta).await, before);
    });
}

#[test]
fn a_metadata_table_that_was_never_compacted_keeps_every_instant() {
    block_on(async {
        let store = store(TABLE);
        for name in [
            "20261129205746114_20261129205746787",
            "20261129205803600_20261129205804305",
        ] {
            delete(
                &store,
                &format!(".hoodie/metadata/.hoodie/timeline/{name}.commit"),
            );
        }
        let (meta, writer) = open(&store).await;
        assert_eq!(archive(&meta, &writer).await.unwrap(), 0);
    });
}

#[test]
fn one_write_stays_whatever_the_options_say() {
    let store = store("v9_cow_simple");
    block_on(async {
        let (meta, writer) = open(&store).await;
        let zero = |key: &str| (key.to_owned(), "0".to_owned());
        let options = ["hoodie.keep.min.commits", "hoodie.keep.max.commits"].map(zero);
        let writer = Writer {
            options: options.into(),
            ..writer
        };
        let keep = Keep::of(&writer, &meta.timeline, None);
        let leaving = plan(&meta.timeline, keep, &Limits::default());
        let writes = meta.timeline.completed_writes().count();
        assert_eq!(leaving.len(), writes - 1);
    });
}
