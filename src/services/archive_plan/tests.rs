use super::*;
use crate::model::TimelineLayout;
use crate::storage::ObjectMeta;

fn time(at: usize) -> InstantTime {
    InstantTime::parse(&format!("202601010000{at:05}")).unwrap()
}

fn timeline(names: &[String]) -> Timeline {
    let file = |name: &String| ObjectMeta {
        path: name.clone(),
        size: 1,
        etag: None,
        modified_millis: None,
    };
    let files: Vec<_> = names.iter().map(file).collect();
    Timeline::of_files(&files, TimelineLayout::Two)
}

/// Completed writes at 10, 20, …, each done five later.
fn writes(count: usize, action: &str) -> Vec<String> {
    let done = |at| format!("{}_{}.{action}", time(at), time(at + 5));
    (1..=count).map(|n| done(n * 10)).collect()
}

const KEEP: Keep = Keep { min: 4, max: 6 };

/// The times that leave, in tens.
#[track_caller]
fn check(names: &[String], limits: &Limits, expected: &[usize]) {
    let timeline = timeline(names);
    let found = plan(&timeline, KEEP, limits);
    let found: Vec<_> = found.iter().map(|instant| instant.time.clone()).collect();
    let expected: Vec<_> = expected.iter().map(|at| time(*at)).collect();
    assert_eq!(found, expected);
}

#[test]
fn nothing_leaves_before_the_limit_is_passed_and_then_the_oldest_do() {
    check(&writes(6, "commit"), &Limits::default(), &[]);
    check(&writes(7, "commit"), &Limits::default(), &[10, 20, 30]);
}

#[test]
fn nothing_at_or_after_the_last_write_before_a_pending_one_leaves() {
    for pending in [
        "commit.requested",
        "inflight",
        "compaction.requested",
        "clustering.inflight",
    ] {
        let mut names = writes(9, "commit");
        names.push(format!("{}.{pending}", time(25)));
        check(&names, &Limits::default(), &[10]);
        // Nothing is before it, so it is the bound itself.
        let mut names = writes(9, "commit");
        names.push(format!("{}.{pending}", time(5)));
        check(&names, &Limits::default(), &[]);
    }
}

#[test]
fn a_savepoint_stops_the_archive() {
    let mut names = writes(9, "commit");
    names.push(format!("{}_{}.savepoint", time(20), time(99)));
    check(&names, &Limits::default(), &[10]);
}

#[test]
fn a_replacecommit_stays_until_its_files_are_cleaned() {
    let mut names = writes(9, "commit");
    names.push(format!("{}_{}.replacecommit", time(15), time(16)));
    check(&names, &Limits::default(), &[10]);
    let cleaned = |at| Limits {
        cleaned_until: Some(time(at)),
        ..Limits::default()
    };
    check(&names, &cleaned(15), &[10]);
    check(&names, &cleaned(16), &[10, 15, 20, 30, 40, 50]);
}

#[test]
fn cleans_and_rollbacks_leave_with_the_writes_around_them() {
    let mut names = writes(7, "commit");
    let done = |at, action| format!("{}_{}.{action}", time(at), time(at + 2));
    names.extend([done(12, "clean"), done(25, "rollback"), done(31, "clean")]);
    names.push(format!("{}.clean.requested", time(13)));
    check(&names, &Limits::default(), &[10, 12, 20, 25, 30]);
}

#[test]
fn with_a_metadata_table_only_what_its_compaction_has_leaves() {
    let names = writes(9, "commit");
    let limits = |metadata| Limits {
        compacted: Some(metadata),
        ..Limits::default()
    };
    check(&names, &limits(None), &[]);
    // The write at 20 completed at 25, after that compaction.
    check(&names, &limits(Some(time(24))), &[10]);
    check(&names, &limits(Some(time(26))), &[10, 20]);
    check(&names, &limits(Some(time(99))), &[10, 20, 30, 40, 50]);
}

#[test]
fn what_its_data_table_needs_stays_on_the_timeline_of_a_metadata_table() {
    let names = writes(9, "deltacommit");
    let limits = |before| Limits {
        before: Some(time(before)),
        ..Limits::default()
    };
    check(&names, &limits(10), &[]);
    check(&names, &limits(30), &[10, 20]);
    check(&names, &limits(31), &[10, 20, 30]);
    check(&names, &limits(99), &[10, 20, 30, 40, 50]);
}

#[test]
fn deltacommits_that_a_compaction_waits_for_stay() {
    let names = writes(9, "deltacommit");
    let after = |count| Limits {
        compact_after: Some(count),
        ..Limits::default()
    };
    // Fewer than ten: none may go. Eight wait for the eighth: the second of nine is the first that counts.
    check(&names, &after(10), &[]);
    check(&names, &after(8), &[10]);
    check(&names, &after(5), &[10, 20, 30, 40]);
    let mut names = names;
    names.push(format!("{}_{}.commit", time(62), time(64)));
    check(&names, &after(5), &[10, 20, 30, 40, 50, 60]);
}
