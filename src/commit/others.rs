use serde::Deserialize;

use super::writer::Writer;
use crate::error::{Error, Result};
use crate::host;
use crate::model::{Action, Instant, InstantTime, State};
use crate::storage::Cause;
use crate::timeline::MetaClient;

const LOCK_FILE: &str = ".hoodie/.locks/table_lock.json";
const HEARTBEATS: &str = ".hoodie/.heartbeat";
/// What Hudi adds to the end of a lock's validity, since clocks drift.
const DRIFT_MILLIS: i64 = 500;

/// The lock that Hudi's `StorageBasedLockProvider` keeps in the store.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct LockFile {
    expired: bool,
    valid_until: i64,
    owner: String,
}

/// Refuses a single writer where others show: a lock file that is valid, a heartbeat that still beats, or a pending
/// instant younger than a heartbeat may be old and not of this process. What is older is a failed write, and rolled back; under
/// a lock that nobody writes without, whatever is pending.
///
/// Where the zone of a LOCAL table is not given, an instant is young whose files are.
///
/// `hoodie.client.heartbeat.interval_in_ms` (60000) times `hoodie.client.heartbeat.tolerable.misses` (2) is that age.
///
/// Errors: `WriteConflict` with what was found; those of the storage.
pub async fn refuse_other_writers(meta: &MetaClient, writer: &Writer) -> Result<()> {
    refuse_lock(meta).await?;
    if writer.lock.is_over_all() {
        return Ok(());
    }
    let interval = writer.number("hoodie.client.heartbeat.interval_in_ms", 60_000);
    let misses = writer.number("hoodie.client.heartbeat.tolerable.misses", 2);
    let young = interval.saturating_mul(misses);
    refuse_heartbeat(meta, writer, young).await?;
    let pending = meta.timeline.instants().filter(|i| may_be_at_work(i));
    for instant in pending.filter(|i| !writer.is_own(&i.time)) {
        if let Some(age) = age_millis(meta, writer, instant).filter(|age| *age < young) {
            return Err(refused("another writer's instant is pending and young")
                .context("instant", &instant.time)
                .context("action", &instant.action)
                .context("ageMillis", age)
                .context("waitMillis", young - age));
        }
    }
    Ok(())
}

/// How long ago an instant began, by its digits. Where their zone is not known they may be hours off, and the store's own time of its
/// files counts where that is later.
fn age_millis(meta: &MetaClient, writer: &Writer, instant: &Instant) -> Option<i64> {
    let by_digits = writer.clock.age_millis(&instant.time);
    if !writer.clock.is_guessed() {
        return by_digits;
    }
    let files = [State::Requested, State::Inflight].map(|state| meta.timeline.file(instant, state));
    let written = files
        .into_iter()
        .flatten()
        .filter_map(|file| file.modified_millis);
    let by_store = written.max().map(|at| host::now_millis() - at);
    by_digits.into_iter().chain(by_store).min()
}

/// Whether an instant shows that somebody is writing; a plan of a table service may wait for days.
fn may_be_at_work(instant: &Instant) -> bool {
    match instant.action {
        Action::Commit
        | Action::DeltaCommit
        | Action::ReplaceCommit
        | Action::Rollback
        | Action::Restore => !instant.is_completed(),
        _ => instant.action.writes_data() && instant.state == State::Inflight,
    }
}

async fn refuse_lock(meta: &MetaClient) -> Result<()> {
    let found = meta.storage.get_if_present(LOCK_FILE, Cause::Lock).await?;
    let Some(bytes) = found else { return Ok(()) };
    let lock: LockFile = serde_json::from_slice(&bytes).map_err(|source| {
        refused("a lock file is there and cannot be read")
            .context("path", LOCK_FILE)
            .with_source(source)
    })?;
    let left = lock.valid_until.saturating_add(DRIFT_MILLIS) - host::now_millis();
    if lock.expired || left < 0 {
        return Ok(());
    }
    Err(refused("another writer holds the table's lock file")
        .context("path", LOCK_FILE)
        .context("owner", lock.owner)
        .context("waitMillis", left))
}

async fn refuse_heartbeat(meta: &MetaClient, writer: &Writer, young: i64) -> Result<()> {
    let beats = meta.storage.list_folder(HEARTBEATS, Cause::Lock).await?;
    for beat in beats.files {
        let name = beat.path.rsplit('/').next().unwrap_or_default();
        let Ok(instant) = InstantTime::parse(name) else {
            continue;
        };
        let age = beat.modified_millis.map(|at| host::now_millis() - at);
        if age.is_some_and(|age| age < young) && !writer.is_own(&instant) {
            return Err(refused("another writer's heartbeat is young")
                .context("path", beat.path)
                .context("instant", instant));
        }
    }
    Ok(())
}

fn refused(message: &str) -> Error {
    Error::write_conflict(message).context(
        "hint",
        "this writer must be the table's only one: stop the other, or wait until it is done",
    )
}

#[cfg(test)]
mod tests;
