#![cfg(not(target_arch = "wasm32"))]

use super::super::tests::{is_instant, rewritten};
use super::super::{parse, typed};
use super::*;

#[test]
fn commits_of_spark_in_layout_2_are_written_again_with_every_field() {
    let layout = TimelineLayout::Two;
    let write = |commit: CommitMetadata| commit.to_bytes(layout);
    let counts = [
        ".commit",
        ".deltacommit",
        ".inflight",
        ".deltacommit.inflight",
    ]
    .map(|end| rewritten(end, write));
    assert!(counts.iter().all(|count| *count > 20), "{counts:?}");
    let replaced = rewritten(".replacecommit", |commit: CommitMetadata| {
        commit.to_replace_bytes(layout)
    });
    assert!(replaced > 3, "{replaced}");
}

#[test]
fn commits_of_spark_in_layout_1_are_written_again_in_the_same_bytes() {
    let (mut same, mut reordered) = (0, 0);
    for table in crate::support::tables() {
        for (path, file) in crate::support::files(&table) {
            let ends = [
                ".commit",
                ".deltacommit",
                ".inflight",
                ".deltacommit.inflight",
            ];
            let replaces = is_instant(&path, ".replacecommit");
            let commit = ends.iter().any(|end| is_instant(&path, end));
            if !(commit || replaces) || file.first() != Some(&b'{') {
                continue;
            }
            let body: CommitMetadata = typed(parse(&file).unwrap().unwrap()).unwrap();
            let written = match replaces {
                true => body.to_replace_bytes(TimelineLayout::One),
                false => body.to_bytes(TimelineLayout::One),
            };
            let written = written.unwrap();
            if written == file {
                same += 1;
                continue;
            }
            // Java keeps partitions in the order of its hash table.
            assert_eq!(
                parse(&written).unwrap(),
                parse(&file).unwrap(),
                "{table} {path}"
            );
            assert_eq!(written.len(), file.len(), "{table} {path}");
            reordered += 1;
        }
    }
    assert!(same > 100, "{same} the same, {reordered} in another order");
}
