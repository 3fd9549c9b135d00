//! Damaged properties and instants: a typed error with the path, in bounded time, and never a panic.

use hudi_wasm::Error;
use hudi_wasm::model::State;
use hudi_wasm::timeline::{self, MetaClient};
use serde_json::Value;

use super::open;
use super::support::{self, get, put, store};

/// Everything that reading asks of a timeline.
async fn ask(meta: &MetaClient) -> Result<(), Error> {
    for instant in meta.timeline.instants() {
        for state in [State::Requested, State::Inflight, State::Completed] {
            meta.body::<Value>(instant, state).await?;
        }
    }
    meta.replaced_file_groups().await?;
    meta.last_clean().await?;
    meta.pending_clusterings().await?;
    timeline::table_schema::load(meta, None).await?;
    timeline::entries(meta).await?;
    for instant in meta.timeline.completed_writes() {
        meta.check_as_of(Some(&instant.time)).await?;
    }
    Ok(())
}

fn check(name: &str, path: &str, damaged: Vec<u8>) -> Result<(), Error> {
    let store = store_with(name, path, damaged);
    let meta = open(store)?;
    support::block_on(ask(&meta))
}

fn store_with(
    name: &str,
    path: &str,
    content: Vec<u8>,
) -> std::sync::Arc<object_store::memory::InMemory> {
    let files = support::files(name).into_iter();
    // Data files and the metadata table are not asked for here.
    let files = files
        .filter(|(path, _)| path.starts_with(".hoodie/") && !path.starts_with(".hoodie/metadata/"));
    let store = support::store_of(files);
    put(&store, path, content);
    store
}

/// Numbers that are the same in every run (a linear congruential generator).
struct Seeded(u64);

impl Seeded {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % bound
    }
}

/// One file of each kind of content, by table.
const FILES: [(&str, &str); 8] = [
    (
        "v9_cow_overwrite",
        ".hoodie/timeline/20261129205036473_20261129205037759.replacecommit",
    ),
    (
        "v9_cow_overwrite",
        ".hoodie/timeline/20261129205042266_20261129205043712.commit",
    ),
    (
        "v9_cow_overwrite",
        ".hoodie/timeline/20261129205040209.replacecommit.requested",
    ),
    (
        "v9_cow_rollback",
        ".hoodie/timeline/20261129210612199_20261129210613972.rollback",
    ),
    (
        "v9_cow_archived",
        ".hoodie/timeline/20261129205807740_20261129205808747.clean",
    ),
    (
        "v6_cow_clustered",
        ".hoodie/20261129203204759.replacecommit",
    ),
    (
        "v6_cow_clustered",
        ".hoodie/20261129203204759.replacecommit.requested",
    ),
    ("v6_cow_clustered", ".hoodie/20261129203209606.commit"),
];

#[test]
fn a_flipped_instant_is_read_or_refused_with_its_path() {
    let (mut seeded, mut refused) = (Seeded(7), 0);
    for (name, path) in FILES {
        let whole = get(&store(name), path);
        for _ in 0..60 {
            let mut flipped = whole.clone();
            let at = seeded.below(flipped.len());
            flipped[at] ^= 1 << seeded.below(8);
            if let Err(error) = check(name, path, flipped) {
                let code = error.kind().code();
                assert!(
                    ["CORRUPT", "UNSUPPORTED", "INSTANT_EXPIRED"].contains(&code),
                    "{path} at {at}: {error}"
                );
                assert!(
                    code == "INSTANT_EXPIRED" || error.get("path") == Some(path),
                    "{path} at {at}: {error}"
                );
                refused += 1;
            }
        }
    }
    assert!(refused > 100, "{refused}");
}

#[test]
fn a_cut_instant_is_corrupt_and_never_taken_for_whole() {
    let mut seeded = Seeded(11);
    for (name, path) in FILES {
        let whole = get(&store(name), path);
        let some = (0..40).map(|_| 1 + seeded.below(whole.len() - 1));
        for length in some.chain([1, 4, whole.len() - 1, whole.len() - 16]) {
            let error = check(name, path, whole[..length].to_vec()).err();
            let error = error.unwrap_or_else(|| panic!("{path} cut to {length} was read"));
            assert_eq!(
                (error.kind().code(), error.get("path")),
                ("CORRUPT", Some(path)),
                "cut to {length}"
            );
        }
    }
}

#[test]
fn flipped_and_cut_properties_are_read_or_refused_with_their_path() {
    let path = ".hoodie/hoodie.properties";
    let codes = ["CORRUPT", "UNSUPPORTED"];
    let mut seeded = Seeded(13);
    for name in ["v6_cow_parts", "v9_cow_custom_keygen"] {
        let whole = get(&store(name), path);
        for round in 0..200 {
            let mut damaged = whole.clone();
            let at = seeded.below(whole.len());
            match round % 2 {
                0 => damaged[at] ^= 1 << seeded.below(8),
                _ => damaged.truncate(at),
            }
            if let Err(error) = open(store_with(name, path, damaged)) {
                assert!(
                    codes.contains(&error.kind().code()),
                    "{name} at {at}: {error}"
                );
                assert_eq!(error.get("path"), Some(path), "{name} at {at}: {error}");
            }
        }
    }
}
