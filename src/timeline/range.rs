//! Which instants changed the table within a range of time.

use super::active::Timeline;
use crate::model::{Instant, InstantTime};

/// A range of time over which changes are asked for: the start is excluded, the end included, an absent end is open.
///
/// Units: completion times from table version 8 on, where instants complete out of order; request times in version 6,
/// whose timeline does not tell when an instant completed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ChangeRange {
    /// Nothing that happened at or before it; `None` for the earliest.
    pub start: Option<InstantTime>,
    /// Nothing that happened after it; `None` for whatever the handle sees.
    pub end: Option<InstantTime>,
}

impl ChangeRange {
    /// Whether a time lies in the range.
    pub fn contains(&self, time: &InstantTime) -> bool {
        let after_start = self.start.as_ref().is_none_or(|start| start < time);
        after_start && !self.is_before(time)
    }

    /// Whether the range ends before a time.
    pub fn is_before(&self, time: &InstantTime) -> bool {
        self.end.as_ref().is_some_and(|end| end < time)
    }
}

/// The time by which ranges take an instant: its completion, where the timeline says it.
pub fn settled_time(instant: &Instant) -> &InstantTime {
    instant.completion.as_ref().unwrap_or(&instant.time)
}

impl Timeline {
    /// The completed writes of the active timeline that a range holds, in the order of their request times.
    pub fn completed_in(&self, range: &ChangeRange) -> impl DoubleEndedIterator<Item = &Instant> {
        self.completed_writes()
            .filter(move |instant| range.contains(settled_time(instant)))
    }

    /// Whether a range goes as far as every write that this timeline shows as completed.
    pub fn is_reached_by(&self, range: &ChangeRange) -> bool {
        !self
            .completed_writes()
            .any(|instant| range.is_before(settled_time(instant)))
    }

    /// The timeline as it stood at the end of a range: what completed later is pending in it.
    pub fn at_end_of(&self, range: &ChangeRange) -> Self {
        self.before(|instant| range.is_before(settled_time(instant)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::TimelineLayout;
    use crate::storage::ObjectMeta;

    fn timeline(names: &[&str], layout: TimelineLayout) -> Timeline {
        let files: Vec<ObjectMeta> = names
            .iter()
            .map(|name| ObjectMeta {
                path: format!(".hoodie/timeline/{name}"),
                size: 1,
                etag: None,
                modified_millis: None,
            })
            .collect();
        Timeline::of_files(&files, layout)
    }

    fn range(start: &str, end: &str) -> ChangeRange {
        ChangeRange {
            start: InstantTime::parse(start).ok(),
            end: InstantTime::parse(end).ok(),
        }
    }

    fn check(timeline: &Timeline, start: &str, end: &str, expected: &[&str]) {
        let range = range(start, end);
        let found: Vec<_> = timeline
            .completed_in(&range)
            .map(|i| i.time.as_str())
            .collect();
        assert_eq!(found, expected, "({start}, {end}]");
    }

    const T1: &str = "20240101000000001";
    const T2: &str = "20240101000000002";
    const T3: &str = "20240101000000003";
    const C2: &str = "20240101000000005";
    const C1: &str = "20240101000000009";

    #[test]
    fn an_instant_requested_at_the_start_or_before_it_counts_when_it_completed_later() {
        let names = [
            format!("{T1}_{C1}.commit"),
            format!("{T2}_{C2}.commit"),
            format!("{T3}.commit.requested"),
        ];
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let timeline = timeline(&names, TimelineLayout::Two);
        check(&timeline, "", "", &[T1, T2]);
        // The start is the request time of one instant and after that of the other.
        check(&timeline, T2, "", &[T1, T2]);
        check(&timeline, T1, C2, &[T2]);
        check(&timeline, C2, C1, &[T1]);
        check(&timeline, C1, "", &[]);
        check(&timeline, C2, T3, &[]);
        assert!(timeline.is_reached_by(&range("", C1)));
        assert!(!timeline.is_reached_by(&range("", C2)));
    }

    #[test]
    fn version_6_goes_by_the_request_time() {
        let names = [format!("{T1}.commit"), format!("{T2}.deltacommit")];
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let timeline = timeline(&names, TimelineLayout::One);
        check(&timeline, T1, T2, &[T2]);
        check(&timeline, "", T1, &[T1]);
        check(&timeline, T2, "", &[]);
    }
}
