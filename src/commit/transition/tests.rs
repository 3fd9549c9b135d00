#![cfg(not(target_arch = "wasm32"))]

use std::sync::Arc;

use object_store::memory::InMemory;

use super::*;
use crate::support::{block_on, get, put, store};

async fn open(store: &Arc<InMemory>) -> (MetaClient, Writer) {
    crate::commit::support::open(store, &[]).await
}

fn files(plan: &'static [u8], inflight: &'static [u8]) -> Requested {
    Requested {
        plan: Bytes::from_static(plan),
        inflight: Bytes::from_static(inflight),
    }
}

fn read(store: &Arc<InMemory>, name: &str) -> Vec<u8> {
    get(store, &format!(".hoodie/timeline/{name}"))
}

#[test]
fn an_instant_goes_from_requested_to_completed_under_one_time() {
    block_on(async {
        let store = store("v9_cow_simple");
        let (meta, writer) = open(&store).await;
        let pending = request(&meta, &writer, Action::Commit, files(b"", b"load"))
            .await
            .unwrap();
        let time = &pending.time;
        assert_eq!(read(&store, &format!("{time}.commit.requested")), b"");
        assert_eq!(read(&store, &format!("{time}.inflight")), b"load");
        let newest = newest(&meta.timeline).unwrap();
        assert!(*time > newest, "{time} after {newest}");
        assert!(writer.is_own(time));

        let (meta, writer) = open(&store).await;
        assert_eq!(resolve(&meta, time), Outcome::NotCommitted);
        let done = complete(&meta, &writer, &pending, Bytes::from_static(b"done"))
            .await
            .unwrap();
        let completion = done.completion.clone().unwrap();
        assert!(completion > *time);
        assert_eq!(
            read(&store, &format!("{time}_{completion}.commit")),
            b"done"
        );
        assert!(!writer.is_own(time));
        let (meta, _) = open(&store).await;
        assert_eq!(resolve(&meta, time), Outcome::Committed);
        assert_eq!(meta.timeline.find(time, &Action::Commit), Some(&done));
    });
}

#[test]
fn a_service_is_completed_under_the_name_of_its_write() {
    block_on(async {
        let store = store("v9_cow_simple");
        let (meta, writer) = open(&store).await;
        let asked = files(b"plan", b"");
        let pending = request(&meta, &writer, Action::Compaction, asked)
            .await
            .unwrap();
        let time = &pending.time;
        assert_eq!(
            read(&store, &format!("{time}.compaction.requested")),
            b"plan"
        );
        assert_eq!(read(&store, &format!("{time}.compaction.inflight")), b"");
        let done = complete(&meta, &writer, &pending, Bytes::new())
            .await
            .unwrap();
        assert_eq!(done.action, Action::Commit);
        let completion = done.completion.unwrap();
        read(&store, &format!("{time}_{completion}.commit"));
    });
}

#[test]
fn layout_1_has_no_completion_time_in_its_names() {
    block_on(async {
        let store = store("v6_cow_append_no_meta");
        let (meta, writer) = open(&store).await;
        let pending = request(&meta, &writer, Action::Commit, files(b"", b"{}"))
            .await
            .unwrap();
        let time = &pending.time;
        assert_eq!(
            get(&store, &format!(".hoodie/{time}.commit.requested")),
            b""
        );
        assert_eq!(get(&store, &format!(".hoodie/{time}.inflight")), b"{}");
        let done = complete(&meta, &writer, &pending, Bytes::from_static(b"{ }"))
            .await
            .unwrap();
        assert_eq!(done.completion, None);
        assert_eq!(get(&store, &format!(".hoodie/{time}.commit")), b"{ }");
    });
}

#[test]
fn a_file_that_is_there_is_never_written_over() {
    block_on(async {
        let store = store("v9_cow_simple");
        let (meta, writer) = open(&store).await;
        let pending = request(&meta, &writer, Action::Commit, files(b"", b""))
            .await
            .unwrap();
        let path = format!(".hoodie/timeline/{}.inflight", pending.time);
        put(&store, &path, b"other".to_vec());
        let again = create_file(&meta, &pending, State::Inflight, None, Bytes::new()).await;
        assert_eq!(again.unwrap_err().kind().code(), "WRITE_CONFLICT");
        assert_eq!(get(&store, &path), b"other");
    });
}

#[test]
fn an_instant_that_the_timeline_no_longer_holds_is_not_known() {
    block_on(async {
        let (meta, _) = open(&store("v9_cow_simple")).await;
        let old = InstantTime::parse("20200101000000000").unwrap();
        assert_eq!(resolve(&meta, &old), Outcome::Unknown);
        let later = InstantTime::parse("20990101000000000").unwrap();
        assert_eq!(resolve(&meta, &later), Outcome::NotCommitted);
    });
}
