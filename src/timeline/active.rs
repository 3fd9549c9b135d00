//! The active timeline of one table, and the questions that need no more than its file names.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, OnceLock, PoisonError, RwLock};

use super::archived::Fate;
use super::layout::TimelineName;
use super::payload::CleanMetadata;
use super::replaced::ReplacedFileGroups;
use crate::model::{Action, Instant, InstantTime, State, TimelineLayout};
use crate::storage::{Folder, ObjectMeta};

/// One file of an instant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InstantFile {
    /// The state it stands for.
    pub state: State,
    /// Path relative to the table.
    pub path: String,
    /// Size in bytes, as listed.
    pub size: u64,
    /// When the store says that it was written, in milliseconds since 1970.
    pub modified_millis: Option<i64>,
}

/// The set of instants that a table showed when it was opened.
///
/// 1. It never changes: instants that complete later are not in it, whatever their time.
/// 2. An instant is in it once, in the most advanced state that a file showed; a completed compaction is a commit, a
///    completed log compaction a deltacommit, a completed clustering a replacecommit.
/// 3. Instants are in the order of their request times, then of their actions.
/// 4. Of older instants it knows what [`MetaClient::learn_archived`](super::MetaClient::learn_archived) has found out.
#[derive(Debug)]
pub struct Timeline {
    entries: Vec<Entry>,
    start: Option<InstantTime>,
    committed: BTreeSet<InstantTime>,
    pending: BTreeSet<InstantTime>,
    /// Folders beside the instants, by path relative to the table.
    folders: Vec<String>,
    /// What was found out about instants older than these.
    fates: RwLock<BTreeMap<InstantTime, Fate>>,
    pub(super) replaced: OnceLock<Arc<ReplacedFileGroups>>,
    pub(super) last_clean: OnceLock<Option<Arc<CleanMetadata>>>,
}

#[derive(Debug, Clone)]
struct Entry {
    instant: Instant,
    files: Vec<InstantFile>,
}

impl Timeline {
    /// The timeline that its folder shows. One level only: sub-folders hold other things whose names look like instants.
    pub(super) fn of_folder(folder: &Folder, layout: TimelineLayout) -> Self {
        Self {
            folders: folder.folders.clone(),
            ..Self::of_files(&folder.files, layout)
        }
    }

    /// Whether a folder stood beside the instants; stores without folders show none that is empty.
    pub(super) fn has_folder(&self, path: &str) -> bool {
        self.folders.iter().any(|folder| folder == path)
    }

    /// The timeline that files of its folder show. Names that are no instant's are passed over.
    pub fn of_files(files: &[ObjectMeta], layout: TimelineLayout) -> Self {
        let mut found: BTreeMap<(InstantTime, Action), Entry> = BTreeMap::new();
        for file in files {
            let name = file.path.rsplit('/').next().unwrap_or_default();
            let Some(name) = TimelineName::parse(name, layout) else {
                continue;
            };
            let key = (name.time.clone(), name.action.completed_as());
            let instant = Instant {
                time: name.time,
                completion: name.completion,
                action: name.action,
                state: name.state,
            };
            let state_file = InstantFile {
                state: instant.state,
                path: file.path.clone(),
                size: file.size,
                modified_millis: file.modified_millis,
            };
            match found.get_mut(&key) {
                Some(entry) => entry.add(instant, state_file),
                None => {
                    found.insert(
                        key,
                        Entry {
                            instant,
                            files: vec![state_file],
                        },
                    );
                }
            }
        }
        Self::of_entries(found.into_values().collect())
    }

    fn of_entries(entries: Vec<Entry>) -> Self {
        let writes = || {
            entries
                .iter()
                .map(|e| &e.instant)
                .filter(|i| i.action.writes_data())
        };
        let times = |state: fn(&Instant) -> bool| {
            writes()
                .filter(|i| state(i))
                .map(|i| i.time.clone())
                .collect::<BTreeSet<_>>()
        };
        let savepoints: BTreeSet<_> = entries
            .iter()
            .filter(|e| e.instant.action == Action::Savepoint)
            .map(|e| &e.instant.time)
            .collect();
        let start = writes()
            .map(|i| &i.time)
            .find(|time| !savepoints.contains(time))
            .cloned();
        Self {
            start,
            committed: times(Instant::is_completed),
            pending: times(|i| !i.is_completed()),
            entries,
            folders: Vec::new(),
            fates: RwLock::default(),
            replaced: OnceLock::new(),
            last_clean: OnceLock::new(),
        }
    }

    /// The same timeline as if the completed writes that `later` names were still on their way.
    pub(super) fn before(&self, later: impl Fn(&Instant) -> bool) -> Self {
        let entries = self.entries.iter().cloned().map(|mut entry| {
            let instant = &mut entry.instant;
            if instant.is_completed() && instant.action.writes_data() && later(instant) {
                instant.state = State::Inflight;
            }
            entry
        });
        Self {
            folders: self.folders.clone(),
            ..Self::of_entries(entries.collect())
        }
    }

    /// Every instant, of every action and state.
    pub fn instants(&self) -> impl DoubleEndedIterator<Item = &Instant> {
        self.entries.iter().map(|entry| &entry.instant)
    }

    /// The completed instants that write data: commits, deltacommits and replacecommits.
    pub fn completed_writes(&self) -> impl DoubleEndedIterator<Item = &Instant> {
        self.instants()
            .filter(|i| i.is_completed() && i.action.writes_data())
    }

    /// The instants that write data and are not completed, table services included.
    pub fn pending_writes(&self) -> impl DoubleEndedIterator<Item = &Instant> {
        self.instants()
            .filter(|i| !i.is_completed() && i.action.writes_data())
    }

    /// The completed instants of one action.
    pub fn completed<'a>(
        &'a self,
        action: &'a Action,
    ) -> impl DoubleEndedIterator<Item = &'a Instant> {
        self.instants()
            .filter(move |i| i.is_completed() && i.action == *action)
    }

    /// The pending instants of one action, by the word in their names.
    pub fn pending<'a>(
        &'a self,
        action: &'a Action,
    ) -> impl DoubleEndedIterator<Item = &'a Instant> {
        self.instants()
            .filter(move |i| !i.is_completed() && i.action == *action)
    }

    /// The completed write with the greatest request time: what a snapshot of now is as of.
    pub fn latest_commit(&self) -> Option<&Instant> {
        self.completed_writes().next_back()
    }

    /// Request time of the first write on the active timeline that no savepoint keeps there: everything older is
    /// archived, hence was completed.
    pub fn start(&self) -> Option<&InstantTime> {
        self.start.as_ref()
    }

    /// Whether files that carry this instant may be trusted: it is completed, or older than the active timeline and not
    /// known to have been rolled back.
    pub fn is_committed(&self, time: &InstantTime) -> bool {
        if self.committed.contains(time) {
            return true;
        }
        self.is_before_start(time) && self.fate(time) != Some(Fate::RolledBack)
    }

    /// Whether a read as of a time, or of now, sees blocks of the instant that a log's header names: it is committed and
    /// was requested by then.
    pub fn sees_block_of(&self, instant: &str, as_of: Option<&InstantTime>) -> bool {
        let Ok(time) = InstantTime::parse(instant) else {
            return false;
        };
        as_of.is_none_or(|as_of| time <= *as_of) && self.is_committed(&time)
    }

    /// Whether a write of this time is on the timeline, whatever its state.
    pub(super) fn writes_at(&self, time: &InstantTime) -> bool {
        self.committed.contains(time) || self.pending.contains(time)
    }

    /// When an instant completed, where the timeline or its archive says it.
    pub fn completion(&self, time: &InstantTime) -> Option<InstantTime> {
        match self.completed_writes().find(|i| i.time == *time) {
            Some(found) => found.completion.clone(),
            None => match self.fate(time) {
                Some(Fate::Completed(completion)) => completion,
                _ => None,
            },
        }
    }

    /// Whether the archive was asked about an instant and did not know it.
    pub fn has_lost(&self, time: &InstantTime) -> bool {
        self.fate(time) == Some(Fate::Unknown)
    }

    fn fate(&self, time: &InstantTime) -> Option<Fate> {
        let fates = self.fates.read().unwrap_or_else(PoisonError::into_inner);
        fates.get(time).cloned()
    }

    /// Whether it was found out what became of an archived instant.
    pub(super) fn knows(&self, time: &InstantTime) -> bool {
        self.fate(time).is_some()
    }

    pub(super) fn learn(&self, found: BTreeMap<InstantTime, Fate>) {
        let mut fates = self.fates.write().unwrap_or_else(PoisonError::into_inner);
        fates.extend(found);
    }

    /// Request times of the savepointed instants.
    pub fn savepoints(&self) -> impl Iterator<Item = &InstantTime> {
        self.completed(&Action::Savepoint).map(|i| &i.time)
    }

    /// The instant of a time and an action; a savepoint shares its time with a commit, so the action is needed. A
    /// pending name finds its completed instant too.
    pub fn find(&self, time: &InstantTime, action: &Action) -> Option<&Instant> {
        self.entry(time, action).map(|entry| &entry.instant)
    }

    /// The file that an instant has for a state.
    pub fn file(&self, instant: &Instant, state: State) -> Option<&InstantFile> {
        let files = &self.entry(&instant.time, &instant.action)?.files;
        files.iter().find(|file| file.state == state)
    }

    fn entry(&self, time: &InstantTime, action: &Action) -> Option<&Entry> {
        let action = action.completed_as();
        let from = self.entries.partition_point(|e| e.instant.time < *time);
        let same = self
            .entries
            .get(from..)?
            .iter()
            .take_while(|e| e.instant.time == *time);
        same.into_iter()
            .find(|e| e.instant.action.completed_as() == action)
    }
}

impl Entry {
    /// Takes in one more file of the instant. Should two completed files differ in their completion times, the earlier
    /// time counts.
    fn add(&mut self, instant: Instant, file: InstantFile) {
        let same = instant.state == self.instant.state;
        let sooner = same && instant.completion.is_some() && {
            let held = &self.instant.completion;
            held.as_ref()
                .is_none_or(|held| instant.completion.as_ref() < Some(held))
        };
        if instant.state > self.instant.state || sooner {
            self.instant = instant;
            self.files.insert(0, file);
        } else {
            self.files.push(file);
        }
    }
}

#[cfg(test)]
mod tests;
