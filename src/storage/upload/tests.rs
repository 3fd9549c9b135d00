use object_store::memory::InMemory;

use super::*;
use crate::storage::faulty::{Fault, Faulty};
use crate::storage::{PutIfAbsent, StorageOptions};

/// Bytes that tell their place.
fn body(length: usize) -> Bytes {
    (0..length)
        .map(|i| (i / 7919) as u8)
        .collect::<Vec<u8>>()
        .into()
}

/// Two parts and a half.
const LONG: usize = PART * 5 / 2;

async fn write(storage: &Storage, whole: &Bytes, piece: usize) -> Result<u64> {
    let mut upload = storage.upload("f").await?;
    for start in (0..whole.len()).step_by(piece) {
        upload
            .write(whole.slice(start..(start + piece).min(whole.len())))
            .await?;
    }
    upload.complete().await
}

async fn there(storage: &Storage) -> Option<Bytes> {
    storage.get_if_present("f", Cause::Write).await.unwrap()
}

#[tokio::test]
async fn a_long_object_goes_in_equal_parts_and_a_short_one_at_once() {
    let whole = body(LONG);
    for piece in [1_000_003, LONG] {
        let store = Faulty::new(|_, _| Fault::None);
        let storage = store.storage(PutIfAbsent::Kept);
        assert_eq!(write(&storage, &whole, piece).await.unwrap(), LONG as u64);
        let calls = store.calls();
        assert_eq!(calls, ["begin", "part", "part", "part", "complete"]);
        assert_eq!(there(&storage).await.unwrap(), whole);
    }
    for length in [0, 5, PART - 1] {
        let store = Faulty::new(|_, _| Fault::None);
        let storage = store.storage(PutIfAbsent::Kept);
        write(&storage, &body(length), 1 << 20).await.unwrap();
        assert_eq!(store.calls(), ["put"]);
        assert_eq!(there(&storage).await.unwrap(), body(length));
    }
}

#[tokio::test]
async fn a_part_and_the_end_are_asked_again() {
    let store = Faulty::new(|verb, nth| match (verb, nth) {
        ("begin", 1) => Fault::Failed,
        ("part", 1) => Fault::AnswerLost,
        ("part", 3) => Fault::Failed,
        ("complete", 1) => Fault::Lost,
        _ => Fault::None,
    });
    let storage = store.storage(PutIfAbsent::Kept);
    let whole = body(LONG);
    write(&storage, &whole, 1 << 20).await.unwrap();
    assert_eq!(there(&storage).await.unwrap(), whole);
    assert!(store.open.lock().unwrap().is_empty());
}

#[tokio::test]
async fn an_end_whose_answer_is_lost_is_settled_by_looking() {
    let store = Faulty::new(|verb, nth| match (verb, nth) {
        ("complete", 1) => Fault::AnswerLost,
        _ => Fault::None,
    });
    let storage = store.storage(PutIfAbsent::Kept);
    assert_eq!(
        write(&storage, &body(LONG), PART).await.unwrap(),
        LONG as u64
    );
    assert!(!store.calls().contains(&"abort".to_owned()));
}

/// W5: whatever fails, the upload is aborted once, its own error is kept, and there is no object.
async fn check_aborted(verb: &'static str, from: usize, aborts: Fault) {
    let store = Faulty::new(move |asked, nth| match asked {
        asked if asked == verb && nth >= from => Fault::Refused,
        "abort" => aborts,
        _ => Fault::None,
    });
    let storage = store.storage(PutIfAbsent::Kept);
    let error = write(&storage, &body(LONG), 1 << 20).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unauthorized, "{verb}");
    let aborted = store.calls().iter().filter(|c| *c == "abort").count();
    assert_eq!(aborted, 1, "{verb}");
    assert!(store.open.lock().unwrap().is_empty());
    assert_eq!(there(&storage).await, None);
}

#[tokio::test]
async fn w5_a_failed_upload_leaves_nothing_open() {
    for verb in ["part", "complete"] {
        check_aborted(verb, 1, Fault::None).await;
    }
    check_aborted("part", 2, Fault::None).await;
    check_aborted("part", 3, Fault::Refused).await;
}

#[tokio::test]
async fn w5_an_upload_that_is_dropped_or_given_up_is_aborted() {
    for dropped in [true, false] {
        let store = Faulty::new(|_, _| Fault::None);
        let storage = store.storage(PutIfAbsent::Kept);
        let mut upload = storage.upload("f").await.unwrap();
        upload.write(body(LONG)).await.unwrap();
        assert_eq!(store.open.lock().unwrap().len(), 1);
        match dropped {
            true => drop(upload),
            false => upload.abort().await.unwrap(),
        }
        for _ in 0..10 {
            tokio::task::yield_now().await;
        }
        assert!(store.open.lock().unwrap().is_empty());
        assert_eq!(there(&storage).await, None);
    }
}

#[tokio::test]
async fn a_stream_of_parts_serves_where_none_has_a_number() {
    let storage = Storage::new(Arc::new(InMemory::new()), StorageOptions::default());
    let whole = body(LONG);
    write(&storage, &whole, 1_234_567).await.unwrap();
    assert_eq!(there(&storage).await.unwrap(), whole);
}

#[cfg(not(target_arch = "wasm32"))]
#[tokio::test]
async fn a_folder_shows_nothing_before_the_end() {
    let folder = tempfile::tempdir().unwrap();
    let storage = crate::http_store::open_folder(folder.path()).unwrap();
    let whole = body(LONG);
    let mut upload = storage.upload("d/f").await.unwrap();
    upload.write(whole.clone()).await.unwrap();
    let listed = storage.list_all("", None, Cause::Listing).await.unwrap();
    assert_eq!(listed, []);
    upload.complete().await.unwrap();
    let found = storage.get("d/f", Cause::Data).await.unwrap();
    assert_eq!(found, whole);
    let mut upload = storage.upload("d/g").await.unwrap();
    upload.write(whole).await.unwrap();
    upload.abort().await.unwrap();
    let left = std::fs::read_dir(folder.path().join("d")).unwrap();
    assert_eq!(left.count(), 1);
}

#[tokio::test]
async fn a_store_that_takes_only_whole_objects_has_a_bound() {
    let options = StorageOptions {
        uploads: Uploads::AtOnce,
        memory_limit: Some(1000),
        ..StorageOptions::default()
    };
    let storage = Storage::new(Arc::new(InMemory::new()), options);
    write(&storage, &body(1000), 300).await.unwrap();
    assert_eq!(there(&storage).await.unwrap(), body(1000));
    let error = write(&storage, &body(1001), 300).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::LimitExceeded);
    assert_eq!(error.get("limit"), Some("1000"));
}
