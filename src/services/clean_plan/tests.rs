use super::*;
use crate::model::TimelineLayout;
use crate::storage::ObjectMeta;

fn timeline(names: &str) -> Timeline {
    let file = |name: &str| ObjectMeta {
        path: format!("202601010000000{name}"),
        size: 1,
        etag: None,
        modified_millis: None,
    };
    let files: Vec<_> = names.split_whitespace().map(file).collect();
    Timeline::of_files(&files, TimelineLayout::One)
}

#[track_caller]
fn check(names: &str, retained: usize, expected: Option<&str>) {
    let timeline = timeline(names);
    let found = earliest_to_retain(&timeline, retained);
    let found = found.map(|instant| instant.time.as_str().trim_start_matches("202601010000000"));
    assert_eq!(found, expected);
}

#[test]
fn so_many_writes_from_the_end_are_retained_and_what_a_pending_one_needs() {
    let three = "10.commit 20.commit 30.commit";
    check(three, 3, None);
    check(three, 2, Some("20"));
    check(three, 1, Some("30"));
    check(&format!("{three} 40.inflight"), 1, Some("30"));
    check(&format!("{three} 15.inflight"), 1, Some("15"));
    check(&format!("{three} 05.compaction.requested"), 1, Some("05"));
    check(
        &format!("{three} 05.clean.requested 15.rollback"),
        1,
        Some("30"),
    );
}
