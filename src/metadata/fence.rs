//! Which instants of the metadata table may be seen beside the data table's timeline.

use std::collections::BTreeSet;

use crate::model::{Action, Instant, InstantTime};
use crate::timeline::Timeline;

/// What the instants that built a partition begin with.
pub(super) const BOOTSTRAP: &str = "00000000000000";

/// Digits of an instant's time; version 6 appends more to those of the metadata table.
const DIGITS: usize = 17;

/// The instants whose log blocks may be seen: Hudi's `getValidInstantTimestamps`, as of when the data table was opened.
///
/// | instant of a block | seen |
/// |---|---|
/// | completed on the data timeline, whatever its action | yes |
/// | completed on the metadata timeline, not on the data timeline, not after all of it | yes: archived there, or of the metadata table alone |
/// | `00000000000000…`, which built a partition | yes |
/// | pending on the data timeline, or later than all of it | no |
/// | else, rolled back ones among them | no |
#[derive(Debug, Clone, Default)]
pub struct Fence {
    data_completed: BTreeSet<InstantTime>,
    data_pending: BTreeSet<InstantTime>,
    own_completed: BTreeSet<InstantTime>,
    /// Of those the writes: a service has a time of its own and brings nothing new.
    own_writes: BTreeSet<InstantTime>,
    /// The greatest time on the data timeline.
    last: Option<InstantTime>,
}

impl Fence {
    /// Between the data table's timeline and the metadata table's own.
    pub fn new(data: &Timeline, own: &Timeline) -> Self {
        let times = |timeline: &Timeline, wanted: fn(&Instant) -> bool| {
            let found = timeline.instants().filter(|instant| wanted(instant));
            found.map(|instant| instant.time.clone()).collect()
        };
        Self {
            data_completed: times(data, Instant::is_completed),
            data_pending: times(data, |instant| !instant.is_completed()),
            own_completed: times(own, Instant::is_completed),
            own_writes: times(own, |instant| {
                instant.is_completed() && instant.action == Action::DeltaCommit
            }),
            last: data.instants().map(|instant| instant.time.clone()).max(),
        }
    }

    /// Whether blocks of this instant may be seen.
    pub fn shows(&self, instant: &str) -> bool {
        let Ok(time) = InstantTime::parse(instant) else {
            return false;
        };
        if self.data_completed.contains(&time) || instant.starts_with(BOOTSTRAP) {
            return true;
        }
        self.own_completed.contains(&time)
            && !self.data_pending.contains(&time)
            && !self.is_later(&time)
    }

    /// Whether a base file of this instant may hold what the data timeline does not know yet.
    pub fn is_ahead(&self, base: &InstantTime) -> bool {
        let mut later = self.own_writes.iter().filter(|time| self.is_later(time));
        // A compaction has a time of its own, later than all it merged.
        later.any(|time| time < base)
    }

    fn is_later(&self, time: &InstantTime) -> bool {
        let digits = time.as_str().get(..DIGITS).unwrap_or(time.as_str());
        let last = self.last.as_ref();
        last.is_some_and(|last| digits > last.as_str().get(..DIGITS).unwrap_or(last.as_str()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::TimelineLayout;
    use crate::storage::ObjectMeta;

    const T1: &str = "20260101000000001";
    const T2: &str = "20260101000000002";
    const T3: &str = "20260101000000003";
    const T4: &str = "20260101000000004";
    const T5: &str = "20260101000000005";

    fn timeline(names: &[&str]) -> Timeline {
        let file = |name: &&str| ObjectMeta {
            path: (*name).to_owned(),
            size: 1,
            etag: None,
            modified_millis: None,
        };
        let files: Vec<_> = names.iter().map(file).collect();
        Timeline::of_files(&files, TimelineLayout::One)
    }

    #[test]
    fn pending_later_and_rolled_back_instants_are_hidden_and_archived_ones_seen() {
        let data = timeline(&[
            &format!("{T2}.commit"),
            &format!("{T3}.clean"),
            &format!("{T4}.inflight"),
        ]);
        let own = timeline(
            &[T1, T2, T3, T4, T5]
                .map(|t| format!("{t}.deltacommit"))
                .each_ref()
                .map(|t| t.as_str()),
        );
        let fence = Fence::new(&data, &own);
        for seen in [T1, T2, T3, "00000000000000000", "00000000000000010001"] {
            assert!(fence.shows(seen), "{seen}");
        }
        for hidden in [T4, T5, "20251231000000000", "not an instant"] {
            assert!(!fence.shows(hidden), "{hidden}");
        }
        let time = |text| InstantTime::parse(text).unwrap();
        assert!(!fence.is_ahead(&time(T5)));
        assert!(fence.is_ahead(&time("20260101000000006")));
    }

    #[test]
    fn digits_that_version_six_appends_do_not_make_an_instant_later() {
        let data = timeline(&[&format!("{T2}.commit")]);
        let own = timeline(&[&format!("{T2}.deltacommit"), &format!("{T2}001.commit")]);
        let fence = Fence::new(&data, &own);
        assert!(fence.shows(&format!("{T2}001")));
        assert!(!fence.is_ahead(&InstantTime::parse(&format!("{T2}001")).unwrap()));
    }
}
