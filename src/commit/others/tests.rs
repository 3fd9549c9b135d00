#![cfg(not(target_arch = "wasm32"))]

use std::sync::Arc;

use object_store::memory::InMemory;

use super::*;
use crate::commit::{TableLock, WriteClock};
use crate::config::{Properties, TimelineZone};
use crate::host::Zone;
use crate::storage::{Storage, StorageOptions};
use crate::support::{block_on, put, store};

async fn check(store: &Arc<InMemory>, zone: Option<Zone>, over_all: bool) -> Result<()> {
    let storage = Storage::new(Arc::clone(store) as _, StorageOptions::default());
    let meta = MetaClient::load(storage.clone()).await.unwrap();
    assert_eq!(meta.config.timeline_zone(), TimelineZone::Local);
    let lock = TableLock::in_process(&storage);
    let writer = Writer {
        clock: WriteClock::new(&meta.config, zone, &storage),
        lock: if over_all { lock.over_all() } else { lock },
        options: Properties::new(),
    };
    refuse_other_writers(&meta, &writer).await
}

fn refusal(store: &Arc<InMemory>) -> Option<String> {
    let error = block_on(check(store, Some(Zone::Utc), false)).err()?;
    assert_eq!(error.kind().code(), "WRITE_CONFLICT");
    Some(error.message().to_owned())
}

fn lock_file(expired: bool, ahead: i64) -> Vec<u8> {
    let until = host::now_millis() + ahead;
    format!(r#"{{"expired":{expired},"validUntil":{until},"owner":"7f0d"}}"#).into_bytes()
}

#[test]
fn a_lock_file_counts_while_it_is_valid() {
    let store = store("v9_cow_simple");
    assert_eq!(refusal(&store), None);
    let write = |content| put(&store, LOCK_FILE, content);
    write(lock_file(false, 60_000));
    assert!(refusal(&store).unwrap().contains("lock file"));
    write(lock_file(true, 60_000));
    assert_eq!(refusal(&store), None);
    write(lock_file(false, -1_000));
    assert_eq!(refusal(&store), None);
    write(lock_file(false, -100));
    assert!(refusal(&store).is_some(), "clocks drift by half a second");
    write(b"{".to_vec());
    assert!(refusal(&store).unwrap().contains("cannot be read"));
}

#[test]
fn a_heartbeat_counts_while_it_beats() {
    let store = store("v9_cow_simple");
    put(&store, ".hoodie/.heartbeat/20261129203020176", Vec::new());
    assert!(refusal(&store).unwrap().contains("heartbeat"));
}

#[test]
fn a_pending_instant_counts_while_it_is_young() {
    let now = chrono::DateTime::from_timestamp_millis(host::now_millis()).unwrap();
    let instant =
        |age| InstantTime::from_wall_clock((now - chrono::TimeDelta::seconds(age)).naive_utc());
    for (age, name, refuses) in [
        (10, "commit.requested", true),
        (10, "inflight", true),
        (10, "compaction.requested", false),
        (10, "compaction.inflight", true),
        (200, "inflight", false),
        (10, "rollback.requested", true),
        (10, "rollback.inflight", true),
        (200, "rollback.inflight", false),
        (10, "clean.requested", false),
    ] {
        let store = store("v9_cow_simple");
        put(
            &store,
            &format!(".hoodie/timeline/{}.{name}", instant(age)),
            Vec::new(),
        );
        assert_eq!(refusal(&store).is_some(), refuses, "{name} {age} s ago");
        // Under a lock that nobody writes without, whoever left it is gone.
        assert!(
            block_on(check(&store, Some(Zone::Utc), true)).is_ok(),
            "{name}"
        );
    }
}

#[test]
fn files_tell_the_age_of_an_instant_whose_zone_is_not_known() {
    let store = store("v9_cow_simple");
    // Its writer's clock stands in another zone, and it has just begun; by its digits it is old in every zone.
    let now = chrono::DateTime::from_timestamp_millis(host::now_millis()).unwrap();
    let there = InstantTime::from_wall_clock((now - chrono::TimeDelta::hours(30)).naive_utc());
    put(
        &store,
        &format!(".hoodie/timeline/{there}.inflight"),
        Vec::new(),
    );
    assert_eq!(refusal(&store), None);
    let error = block_on(check(&store, None, false)).unwrap_err();
    assert_eq!(error.kind().code(), "WRITE_CONFLICT");
}
