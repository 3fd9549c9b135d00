use std::sync::{Arc, Mutex, OnceLock};

use bytes::Bytes;

use super::*;
use crate::storage::faulty::{Fault, Faulty};
use crate::storage::{CallScope, Observer, RequestEvent};

const OURS: Bytes = Bytes::from_static(b"ours");

/// The outcome of a put-if-absent whose nth attempt goes by `faults`, over an object that may be there before, and the
/// calls that it took.
async fn check(
    before: Option<&'static str>,
    faults: &'static [Fault],
    get: Fault,
) -> (Result<PutOutcome>, Vec<String>) {
    let store = Faulty::new(move |verb, nth| match verb {
        "create" => faults.get(nth - 1).copied().unwrap_or(Fault::None),
        "get" => get,
        _ => Fault::None,
    });
    let storage = store.storage(PutIfAbsent::Kept);
    if let Some(before) = before {
        storage.put("a/b", before.into()).await.unwrap();
        store.calls();
    }
    let outcome = storage.put_if_absent("a/b", OURS).await;
    let calls = store.calls();
    if outcome.is_ok() {
        let there = storage.shared.store.get(&"a/b".into()).await;
        let ours = match get {
            Fault::None => there.unwrap().bytes().await.unwrap() == OURS,
            _ => matches!(outcome, Ok(PutOutcome::Created)),
        };
        assert_eq!(ours, matches!(outcome, Ok(PutOutcome::Created)));
    }
    (outcome, calls)
}

#[tokio::test]
async fn nothing_there_is_created_and_something_there_stays() {
    let (outcome, calls) = check(None, &[], Fault::None).await;
    assert_eq!(outcome.unwrap(), PutOutcome::Created);
    assert_eq!(calls, ["create"]);
    let (outcome, _) = check(Some("theirs"), &[], Fault::None).await;
    assert_eq!(outcome.unwrap(), PutOutcome::Exists);
}

#[tokio::test]
async fn w1_a_lost_answer_to_a_put_that_landed_is_success() {
    let (outcome, calls) = check(None, &[Fault::AnswerLost], Fault::None).await;
    assert_eq!(outcome.unwrap(), PutOutcome::Created);
    assert_eq!(calls, ["create", "get"]);
}

#[tokio::test]
async fn w7_an_unclear_attempt_makes_a_later_refusal_unclear() {
    // The first read back fails as well, so only the refusal of the second attempt tells that something is there.
    let store = Faulty::new(|verb, nth| match (verb, nth) {
        ("create", 1) => Fault::AnswerLost,
        ("get", 1) => Fault::Refused,
        _ => Fault::None,
    });
    let storage = store.storage(PutIfAbsent::Kept);
    let outcome = storage.put_if_absent("a/b", OURS).await.unwrap();
    assert_eq!(outcome, PutOutcome::Created);
    assert_eq!(store.calls(), ["create", "get", "create", "get"]);
}

#[tokio::test]
async fn a_lost_put_is_put_again_and_another_ones_object_is_not_taken_for_ours() {
    for fault in [Fault::Lost, Fault::Failed, Fault::Conflict] {
        let faults: &'static [Fault] = vec![fault].leak();
        let (outcome, calls) = check(None, faults, Fault::None).await;
        assert_eq!(outcome.unwrap(), PutOutcome::Created, "{fault:?}");
        assert_eq!(calls, ["create", "get", "create"], "{fault:?}");
        let (outcome, calls) = check(Some("theirs"), faults, Fault::None).await;
        assert_eq!(outcome.unwrap(), PutOutcome::Exists, "{fault:?}");
        assert_eq!(calls, ["create", "get"], "{fault:?}");
    }
}

#[tokio::test]
async fn a_put_that_never_lands_is_its_own_error() {
    let (outcome, calls) = check(None, &[Fault::Throttled; 3], Fault::None).await;
    assert_eq!(outcome.unwrap_err().kind(), ErrorKind::Throttled);
    assert_eq!(calls.len(), 6);
    let (outcome, calls) = check(None, &[Fault::Refused], Fault::None).await;
    assert_eq!(outcome.unwrap_err().kind(), ErrorKind::Unauthorized);
    assert_eq!(calls, ["create"]);
}

#[tokio::test]
async fn a_put_without_an_answer_may_land_after_it_was_looked_for() {
    for faults in [
        &[Fault::Lost; 3],
        &[Fault::Failed; 3],
        &[Fault::Conflict; 3],
        &[Fault::Lost, Fault::Throttled, Fault::Throttled],
        &[Fault::Lost, Fault::Refused, Fault::None],
    ] {
        let (outcome, _) = check(None, faults, Fault::None).await;
        let error = outcome.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::CommitStateUnknown, "{faults:?}");
        assert_eq!(error.get("path"), Some("a/b"));
    }
}

#[tokio::test]
async fn what_can_neither_be_put_nor_read_back_is_unknown() {
    for faults in [
        &[Fault::AnswerLost, Fault::Lost, Fault::Lost],
        &[Fault::Lost, Fault::Refused, Fault::None],
        &[Fault::AnswerLost, Fault::None, Fault::None],
    ] {
        let (outcome, _) = check(None, faults, Fault::Refused).await;
        let error = outcome.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::CommitStateUnknown, "{faults:?}");
        assert_eq!(error.get("path"), Some("a/b"));
    }
}

#[tokio::test]
async fn an_empty_object_of_another_is_not_taken_for_ours() {
    let store = Faulty::new(|_, _| Fault::None);
    let storage = store.storage(PutIfAbsent::Kept);
    let first = storage.put_if_absent("a", Bytes::new()).await.unwrap();
    let second = storage.put_if_absent("a", Bytes::new()).await.unwrap();
    assert_eq!((first, second), (PutOutcome::Created, PutOutcome::Exists));
}

#[tokio::test]
async fn w1_an_empty_object_after_a_lost_answer_is_not_said_to_be_ours() {
    for (fault, before) in [(Fault::AnswerLost, false), (Fault::Lost, true)] {
        let store = Faulty::new(move |verb, nth| match (verb, nth) {
            ("create", 1) => fault,
            _ => Fault::None,
        });
        let storage = store.storage(PutIfAbsent::Kept);
        if before {
            storage.put("a", Bytes::new()).await.unwrap();
        }
        let outcome = storage.put_if_absent("a", Bytes::new()).await.unwrap();
        assert_eq!(outcome, PutOutcome::Unclear, "{fault:?}");
    }
}

#[tokio::test]
async fn w3_the_condition_is_shown_by_two_puts_once() {
    let store = Faulty::new(|_, _| Fault::None);
    let shown = Arc::new(OnceLock::new());
    let storage = store.storage(PutIfAbsent::ToBeShown(shown.clone()));
    storage.put_if_absent("a", OURS).await.unwrap();
    assert_eq!(store.calls(), ["create", "create", "delete", "create"]);
    let refreshed = storage.refreshed();
    refreshed.put_if_absent("b", OURS).await.unwrap();
    assert_eq!(store.calls(), ["create"]);
    // Another handle on the same place.
    let other = store.storage(PutIfAbsent::ToBeShown(shown));
    other.put_if_absent("c", OURS).await.unwrap();
    assert_eq!(store.calls(), ["create"]);
    let left = storage.list_all("", None, Cause::Listing).await.unwrap();
    let left: Vec<_> = left.iter().map(|meta| meta.path.as_str()).collect();
    assert_eq!(left, ["a", "b", "c"]);
}

#[tokio::test]
async fn w3_a_store_that_passes_over_the_condition_is_not_written() {
    let store = Faulty::new(|verb, _| match verb {
        "create" => Fault::Overwrites,
        _ => Fault::None,
    });
    let storage = store.storage(PutIfAbsent::ToBeShown(Arc::default()));
    storage.put("a", "theirs".into()).await.unwrap();
    for _ in 0..2 {
        let error = storage.put_if_absent("a", OURS).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ReadOnlyStorage);
    }
    assert_eq!(storage.get("a", Cause::Write).await.unwrap(), "theirs");
}

#[tokio::test]
async fn without_the_condition_the_only_writer_looks_first() {
    let store = Faulty::new(|_, _| Fault::None);
    let storage = store.storage(PutIfAbsent::ByLooking);
    let first = storage.put_if_absent("a", OURS).await.unwrap();
    let second = storage.put_if_absent("a", "new".into()).await.unwrap();
    assert_eq!((first, second), (PutOutcome::Created, PutOutcome::Exists));
    assert_eq!(storage.get("a", Cause::Write).await.unwrap(), OURS);
    assert_eq!(store.calls(), ["get", "put", "get", "get"]);
}

#[tokio::test]
async fn a_replaced_object_is_not_answered_by_the_cache() {
    let store = Faulty::new(|_, _| Fault::None);
    let storage = store.storage(PutIfAbsent::Kept);
    let read = || storage.get_immutable("a", Some(4), Cause::Data);
    storage.put("a", "one!".into()).await.unwrap();
    assert_eq!(read().await.unwrap(), "one!");
    storage.put("a", "two!".into()).await.unwrap();
    assert_eq!(read().await.unwrap(), "two!");
    storage.delete("a").await.unwrap();
    assert_eq!(read().await.unwrap_err().kind(), ErrorKind::NotFound);
    storage.put_if_absent("a", "six!".into()).await.unwrap();
    assert_eq!(read().await.unwrap(), "six!");
}

#[tokio::test]
async fn deleting_what_is_gone_is_fine_and_a_refusal_is_not() {
    let store = Faulty::new(|verb, _| match verb {
        "delete" => Fault::Lost,
        "put" => Fault::Refused,
        _ => Fault::None,
    });
    let storage = store.storage(PutIfAbsent::Kept);
    storage.delete("never/there").await.unwrap();
    let error = storage.put("a", OURS).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unauthorized);
}

#[derive(Default)]
struct Ear(Mutex<Vec<RequestEvent>>);

impl Observer for Ear {
    fn request(&self, event: &RequestEvent) {
        self.0.lock().unwrap().push(event.clone());
    }
    fn bytes(&self, _: u64) {}
    fn files(&self, _: usize, _: usize) {}
    fn warning(&self, _: &str, _: Option<&str>) {}
}

#[tokio::test]
async fn each_attempt_is_told_with_its_cause() {
    let store = Faulty::new(|verb, nth| match (verb, nth) {
        ("put", 1) => Fault::Failed,
        _ => Fault::None,
    });
    let ear = Arc::new(Ear::default());
    let scope = CallScope {
        observer: Some(ear.clone()),
        ..CallScope::default()
    };
    let storage = store.storage(PutIfAbsent::Kept).for_call(scope);
    storage.put("a", OURS).await.unwrap();
    storage.delete("a").await.unwrap();
    let told: Vec<_> = ear.0.lock().unwrap().drain(..).collect();
    let told: Vec<_> = told
        .iter()
        .map(|e| (e.method, e.status, e.bytes, e.attempt, e.cause))
        .collect();
    let expected = [
        ("PUT", 500, 0, 1, Cause::Write),
        ("PUT", 200, 4, 2, Cause::Write),
        ("DELETE", 200, 0, 1, Cause::Write),
    ];
    assert_eq!(told, expected);
}

#[tokio::test]
async fn a_store_that_cannot_be_written_says_why() {
    let options = super::super::StorageOptions {
        read_only: Some("a web folder cannot be written"),
        ..Default::default()
    };
    let storage = Storage::new(Faulty::new(|_, _| Fault::None), options);
    let refused = [
        storage.require_write().unwrap_err(),
        storage.put("a", OURS).await.unwrap_err(),
        storage.put_if_absent("a", OURS).await.unwrap_err(),
        storage.delete("a").await.unwrap_err(),
        storage.upload("a").await.unwrap_err(),
    ];
    for error in refused {
        assert_eq!(error.kind(), ErrorKind::ReadOnlyStorage);
        assert_eq!(error.message(), "a web folder cannot be written");
    }
}
