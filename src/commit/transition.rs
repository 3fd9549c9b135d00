use bytes::Bytes;

use super::clock::newest;
use super::writer::Writer;
use crate::error::{Error, ErrorKind, Result};
use crate::model::{Action, Instant, InstantTime, State};
use crate::storage::PutOutcome;
use crate::timeline::{MetaClient, TimelineName};

/// Times that are tried when another writer took one: each is greater than the last.
const ATTEMPTS: usize = 3;

/// An instant that is requested and begun; its completed file is still to come.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pending {
    /// When it was requested: the time that its data files carry.
    pub time: InstantTime,
    /// What it does, by its pending name.
    pub action: Action,
}

/// What the first two files of an instant hold.
#[derive(Debug, Clone, Default)]
pub struct Requested {
    /// The plan, of table services; empty for writes.
    pub plan: Bytes,
    /// The work load, of writes; empty for table services.
    pub inflight: Bytes,
}

/// What became of an instant: see [`resolve`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// It is completed.
    Committed,
    /// It is pending, so nothing of it is visible; or nothing is there of it any more.
    NotCommitted,
    /// It is older than the active timeline, whose archive does not know it.
    Unknown,
}

/// Claims a new instant: mints its time, writes its requested file and then its inflight file.
///
/// The caller stands in a [critical section](super::TableLock::section) and has loaded `meta` inside it.
///
/// Errors: `WriteConflict` when the clock is behind, or others take the times; those of the storage.
pub async fn request(
    meta: &MetaClient,
    writer: &Writer,
    action: Action,
    files: Requested,
) -> Result<Pending> {
    let mut after = newest(&meta.timeline);
    for _ in 0..ATTEMPTS {
        let time = writer.clock.mint(after.as_ref()).await?;
        let pending = Pending {
            time: time.clone(),
            action: action.clone(),
        };
        writer.claim(&time);
        let requested = name(&pending, State::Requested, None);
        let claimed = put(meta, &requested, files.plan.clone()).await?;
        if claimed == PutOutcome::Exists {
            writer.settle(&time);
            after = Some(time);
            continue;
        }
        let inflight = name(&pending, State::Inflight, None);
        let begun = put(meta, &inflight, files.inflight.clone()).await?;
        // Of two writers that may both have put an empty first file, the one that puts the second has the instant. What is left of it
        // is not this writer's to roll back then.
        let is_ours = match begun {
            PutOutcome::Created => true,
            PutOutcome::Unclear => claimed == PutOutcome::Created,
            PutOutcome::Exists => false,
        };
        if !is_ours {
            writer.settle(&time);
            return Err(taken(meta, Some(time)));
        }
        return Ok(pending);
    }
    Err(taken(meta, after))
}

/// Completes an instant: mints the completion time and writes the completed file. From then on the instant is visible.
///
/// The caller stands in a [critical section](super::TableLock::section) and has loaded `meta` inside it. Nothing may be
/// tried again with another time afterwards, whatever comes back.
///
/// Errors: `CommitStateUnknown` with the `instant` when no answer came and reading back does not tell; `WriteConflict`
/// when the clock is behind; else those of the storage, and then the instant is not completed.
pub async fn complete(
    meta: &MetaClient,
    writer: &Writer,
    pending: &Pending,
    body: Bytes,
) -> Result<Instant> {
    let newest = newest(&meta.timeline).max(Some(pending.time.clone()));
    let completion = writer.clock.mint(newest.as_ref()).await?;
    let done = name(pending, State::Completed, Some(completion.clone()));
    let written = create(meta, &done, body).await;
    written.map_err(|error| match error.kind() {
        ErrorKind::CommitStateUnknown => error
            .context("instant", &pending.time)
            .context("hint", "ask table.resolve(instant) before writing again"),
        _ => error.context("instant", &pending.time),
    })?;
    writer.settle(&pending.time);
    let layout = meta.config.version().layout();
    Ok(Instant {
        time: pending.time.clone(),
        completion: done.completion_in(layout),
        action: done.action,
        state: State::Completed,
    })
}

/// Writes one file of an instant whose time is known already, as the metadata table's are.
///
/// Errors: `WriteConflict` when it is there; those of the storage.
pub async fn create_file(
    meta: &MetaClient,
    pending: &Pending,
    state: State,
    completion: Option<InstantTime>,
    body: Bytes,
) -> Result<()> {
    create(meta, &name(pending, state, completion), body).await
}

/// What became of an instant, by a timeline that was loaded after it was tried.
pub fn resolve(meta: &MetaClient, instant: &InstantTime) -> Outcome {
    let mut found = meta.timeline.instants().filter(|i| i.time == *instant);
    let completed = |i: &Instant| i.is_completed() && i.action != Action::Savepoint;
    if found.any(completed) {
        return Outcome::Committed;
    }
    match meta.timeline.start() {
        Some(start)
            if instant < start && meta.timeline.find(instant, &Action::Commit).is_none() =>
        {
            Outcome::Unknown
        }
        _ => Outcome::NotCommitted,
    }
}

fn name(pending: &Pending, state: State, completion: Option<InstantTime>) -> TimelineName {
    let action = match state {
        State::Completed => pending.action.completed_as(),
        _ => pending.action.clone(),
    };
    TimelineName {
        time: pending.time.clone(),
        completion,
        action,
        state,
    }
}

async fn put(meta: &MetaClient, name: &TimelineName, body: Bytes) -> Result<PutOutcome> {
    let folder = meta.config.timeline_folder();
    let path = format!(
        "{folder}/{}",
        name.file_name(meta.config.version().layout())
    );
    meta.storage.put_if_absent(&path, body).await
}

async fn create(meta: &MetaClient, name: &TimelineName, body: Bytes) -> Result<()> {
    match put(meta, name, body).await? {
        // Whoever has the instant has its later files.
        PutOutcome::Created | PutOutcome::Unclear => Ok(()),
        PutOutcome::Exists => Err(taken(meta, Some(name.time.clone()))),
    }
}

fn taken(meta: &MetaClient, time: Option<InstantTime>) -> Error {
    let error = Error::write_conflict("another writer has taken the instant")
        .context("path", meta.config.timeline_folder());
    match time {
        Some(time) => error.context("instant", time),
        None => error,
    }
}

#[cfg(test)]
mod tests;
