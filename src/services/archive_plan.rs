//! Which instants leave the active timeline.

use crate::commit::Writer;
use crate::model::{Action, InOrder, Instant, InstantTime};
use crate::timeline::Timeline;

/// How many completed writes stay on the active timeline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Keep {
    /// After archiving.
    pub(super) min: usize,
    /// Without archiving.
    pub(super) max: usize,
}

impl Keep {
    /// As the options say: `hoodie.keep.min.commits` (20) and `hoodie.keep.max.commits` (30). What a clean retains stays
    /// whatever they say, with one write before it and one to spare, as in Hudi. `retained` is the first instant that a clean
    /// of now would retain.
    pub(super) fn of(writer: &Writer, timeline: &Timeline, retained: Option<&InstantTime>) -> Self {
        let count = |key, default| usize::try_from(writer.number(key, default)).unwrap_or(0);
        // A timeline without a write would have no start, and readers would take all files for leftovers.
        let min = count("hoodie.keep.min.commits", 20).max(1);
        let max = count("hoodie.keep.max.commits", 30).max(min);
        let Some(retained) = retained else {
            return Self { min, max };
        };
        let after = timeline.completed_writes().filter(|i| i.time > *retained);
        let least = after.count() + 2;
        match min < least {
            true => Self {
                min: least,
                max: least + max - min,
            },
            false => Self { min, max },
        }
    }
}

/// What else limits an archive.
#[derive(Debug, Clone, Default)]
pub(super) struct Limits {
    /// Of a merge-on-read table: the deltacommits that a compaction waits for stay.
    pub(super) compact_after: Option<usize>,
    /// The first instant that the newest clean retained; replacecommits before it have lost their files.
    pub(super) cleaned_until: Option<InstantTime>,
    /// Of a table with a metadata table, and of a metadata table: the newest compaction of the latter, and none when there was
    /// none.
    pub(super) compacted: Option<Option<InstantTime>>,
    /// Of a metadata table: the first instant that its data table needs on the timeline.
    pub(super) before: Option<InstantTime>,
}

/// The instants that leave, by request time: completed writes, oldest first and without a gap, and the cleans and rollbacks
/// among them.
///
/// 1. Nothing leaves while no more than `keep.max` writes are completed; `keep.min` of them stay.
/// 2. The newest completed write before the first pending one stays, and what follows it: the start of the active timeline
///    never passes a pending instant.
/// 3. The first savepoint stays, and what follows it.
/// 4. A replacecommit stays until a clean has removed what it replaced.
/// 5. What the metadata table holds only in logs stays, on its own timeline too: a reader that no longer finds the instant of
///    a log passes the log over. Java's rules come to the same unless compactions keep failing.
/// 6. A metadata table keeps what is not before the first write, and the first pending instant, of its data table: a rollback
///    may ask for it.
///
/// Source: Hudi 1.1 `TimelineArchiverV2.getCommitInstantsToArchive`.
pub(super) fn plan<'a>(timeline: &'a Timeline, keep: Keep, limits: &Limits) -> Vec<&'a Instant> {
    let writes: Vec<&Instant> = timeline.completed_writes().collect();
    if writes.len() <= keep.max || limits.compacted == Some(None) {
        return Vec::new();
    }
    let bounds = [
        before_pending(timeline, &writes),
        limits
            .compact_after
            .and_then(|deltas| of_compaction(&writes, deltas)),
        of_replaced(timeline, &writes, limits.cleaned_until.as_ref()),
        limits
            .compacted
            .as_ref()
            .and_then(|compaction| of_metadata(&writes, compaction.as_ref())),
        timeline.savepoints().min(),
        limits.before.as_ref(),
    ];
    let first_kept = bounds.into_iter().flatten().min();
    let leaves = |instant: &&Instant| first_kept.is_none_or(|kept| instant.time < *kept);
    let count = writes.len().saturating_sub(keep.min);
    let mut archived: Vec<_> = writes.into_iter().filter(leaves).take(count).collect();
    let Some(last) = archived.last() else {
        return archived;
    };
    let last = last.time.clone();
    let services = timeline.instants().filter(|instant| {
        let service = matches!(instant.action, Action::Clean | Action::Rollback);
        service && instant.is_completed() && instant.time < last
    });
    archived.extend(services);
    archived.in_order();
    archived
}

fn last_before<'a>(writes: &[&'a Instant], time: &InstantTime) -> Option<&'a InstantTime> {
    let before = writes.iter().rev().find(|instant| instant.time < *time);
    before.map(|instant| &instant.time)
}

fn before_pending<'a>(timeline: &'a Timeline, writes: &[&'a Instant]) -> Option<&'a InstantTime> {
    let pending = timeline
        .pending_writes()
        .map(|instant| &instant.time)
        .min()?;
    Some(last_before(writes, pending).unwrap_or(pending))
}

/// The first instant that the schedule of a compaction after so many deltacommits counts from.
fn of_compaction<'a>(writes: &[&'a Instant], after: usize) -> Option<&'a InstantTime> {
    let compaction = writes.iter().rev().find(|i| i.action == Action::Commit);
    let deltas = writes.iter().filter(|instant| {
        let later = |compaction: &&Instant| {
            let completed = instant.completion.as_ref().unwrap_or(&instant.time);
            *completed > compaction.time
        };
        instant.action == Action::DeltaCommit && compaction.is_none_or(later)
    });
    let deltas: Vec<_> = deltas.collect();
    let first = compaction.or(deltas.first().copied())?;
    match (deltas.len() + 1).checked_sub(after.max(1)) {
        Some(kept @ 1..) if deltas.len() >= after => {
            deltas.get(kept - 1).map(|instant| &instant.time)
        }
        _ => Some(&first.time),
    }
}

/// The first replacecommit whose replaced files may still be there, or the write before a pending one.
fn of_replaced<'a>(
    timeline: &'a Timeline,
    writes: &[&'a Instant],
    cleaned_until: Option<&InstantTime>,
) -> Option<&'a InstantTime> {
    let replaces =
        |instant: &&Instant| matches!(instant.action, Action::ReplaceCommit | Action::Clustering);
    let mut all = timeline.instants().filter(replaces);
    let kept = all.find(|instant| cleaned_until.is_none_or(|until| instant.time >= *until));
    let mut pending = timeline.pending_writes().filter(replaces);
    let before = pending
        .next()
        .and_then(|pending| last_before(writes, &pending.time));
    [kept.map(|instant| &instant.time), before]
        .into_iter()
        .flatten()
        .min()
}

/// The first write that completed after the metadata table's newest compaction.
fn of_metadata<'a>(
    writes: &[&'a Instant],
    compaction: Option<&InstantTime>,
) -> Option<&'a InstantTime> {
    let compaction = compaction?;
    let later = writes.iter().find(|instant| {
        let completed = instant.completion.as_ref().unwrap_or(&instant.time);
        completed > compaction
    });
    later.map(|instant| &instant.time)
}

#[cfg(test)]
mod tests;
