use super::*;

fn timeline(layout: TimelineLayout, names: &[&str]) -> Timeline {
    let files = names.iter().map(|name| ObjectMeta {
        path: format!(".hoodie/timeline/{name}"),
        size: 1,
        etag: None,
        modified_millis: None,
    });
    Timeline::of_files(&files.collect::<Vec<_>>(), layout)
}

/// Seventeen digits that end in a number.
fn at(number: u32) -> InstantTime {
    InstantTime::parse(&format!("2026112920302{number:04}")).unwrap()
}

fn name(pattern: &str) -> String {
    pattern
        .split_inclusive(|c: char| !c.is_ascii_digit())
        .map(expand)
        .collect()
}

/// `1_2.commit` with each number made an instant.
fn expand(part: &str) -> String {
    let digits = part.trim_end_matches(|c: char| !c.is_ascii_digit());
    match digits.parse() {
        Ok(number) => format!("{}{}", at(number), &part[digits.len()..]),
        Err(_) => part.to_owned(),
    }
}

fn check(layout: TimelineLayout, patterns: &[&str], expected: &[&str]) {
    let names: Vec<_> = patterns.iter().map(|p| name(p)).collect();
    let timeline = timeline(
        layout,
        &names.iter().map(String::as_str).collect::<Vec<_>>(),
    );
    let shown: Vec<_> = timeline
        .instants()
        .map(|i| {
            let number =
                |time: &InstantTime| time.as_str()[13..].trim_start_matches('0').to_owned();
            let completion = i.completion.as_ref().map(|c| format!("_{}", number(c)));
            format!(
                "{}{} {} {}",
                number(&i.time),
                completion.unwrap_or_default(),
                i.action,
                i.state.as_str()
            )
        })
        .collect();
    assert_eq!(shown, expected, "{patterns:?}");
}

#[test]
fn an_instant_is_in_the_state_of_its_most_advanced_file_in_any_order() {
    let files = ["1.commit.requested", "1.inflight", "1_2.commit"];
    for order in [[0, 1, 2], [2, 1, 0], [1, 2, 0]] {
        let order: Vec<_> = order.iter().map(|i| files[*i]).collect();
        check(TimelineLayout::Two, &order, &["1_2 commit COMPLETED"]);
    }
    check(
        TimelineLayout::One,
        &["1.inflight", "1.commit.requested"],
        &["1 commit INFLIGHT"],
    );
    check(
        TimelineLayout::One,
        &["1.deltacommit.requested"],
        &["1 deltacommit REQUESTED"],
    );
}

#[test]
fn comparable_actions_are_one_instant() {
    check(
        TimelineLayout::Two,
        &[
            "1.compaction.requested",
            "1.compaction.inflight",
            "1_2.commit",
        ],
        &["1_2 commit COMPLETED"],
    );
    check(
        TimelineLayout::Two,
        &["1.logcompaction.inflight", "1_3.deltacommit"],
        &["1_3 deltacommit COMPLETED"],
    );
    check(
        TimelineLayout::Two,
        &["1.clustering.inflight", "1_3.replacecommit"],
        &["1_3 replacecommit COMPLETED"],
    );
    check(
        TimelineLayout::Two,
        &["1.clustering.requested"],
        &["1 clustering REQUESTED"],
    );
}

#[test]
fn a_savepoint_stands_beside_the_commit_whose_time_it_shares() {
    check(
        TimelineLayout::Two,
        &["1_2.commit", "1.savepoint.inflight", "1_3.savepoint"],
        &["1_2 commit COMPLETED", "1_3 savepoint COMPLETED"],
    );
}

#[test]
fn odd_timelines_show_what_parses() {
    check(
        TimelineLayout::Two,
        &[
            "1_2.commit",
            "1.compaction.requested",
            "1.commit.requested",
            "9.vacuum",
            "x.commit",
            "1_2.commit.crc",
        ],
        &["1_2 commit COMPLETED", "9 vacuum COMPLETED"],
    );
    check(
        TimelineLayout::Two,
        &["1_5.commit", "1_3.commit", "1_4.commit"],
        &["1_3 commit COMPLETED"],
    );
    check(TimelineLayout::Two, &["1.commit"], &["1 commit COMPLETED"]);
}

#[test]
fn files_are_trusted_when_completed_or_older_than_the_timeline() {
    let patterns = [
        "2_3.commit",
        "2.savepoint",
        "4.inflight",
        "5_6.deltacommit",
        "7.compaction.requested",
        "8_9.clean",
        "10_11.replacecommit",
    ];
    let names: Vec<_> = patterns.iter().map(|p| name(p)).collect();
    let timeline = timeline(
        TimelineLayout::Two,
        &names.iter().map(String::as_str).collect::<Vec<_>>(),
    );
    let trusted: Vec<_> = (1..13).filter(|n| timeline.is_committed(&at(*n))).collect();
    // 4 is the first write that no savepoint keeps on the timeline, and it is pending itself.
    assert_eq!(trusted, [1, 2, 3, 5, 10]);
    assert_eq!(timeline.start(), Some(&at(4)));
    assert_eq!(timeline.latest_commit().map(|i| &i.time), Some(&at(10)));
    assert_eq!(timeline.savepoints().collect::<Vec<_>>(), [&at(2)]);
    assert_eq!(timeline.completion(&at(5)), Some(at(6)));
    let pending: Vec<_> = timeline.pending_writes().map(|i| i.time.clone()).collect();
    assert_eq!(pending, [at(4), at(7)]);
}

#[test]
fn nothing_is_trusted_on_an_empty_timeline() {
    let timeline = timeline(TimelineLayout::Two, &[]);
    assert!(!timeline.is_committed(&at(1)));
    assert_eq!(timeline.latest_commit(), None);
}
