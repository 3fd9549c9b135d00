#![cfg(not(target_arch = "wasm32"))]

use futures::FutureExt;

use super::*;
use crate::support::block_on;

fn lock(key: &str) -> TableLock {
    TableLock::new(Arc::new(InProcessLocks), key).waiting(20)
}

#[test]
fn a_second_writer_of_a_table_waits_and_times_out() {
    block_on(async {
        let held = lock("one").write().await.unwrap();
        let other = lock("two").write().now_or_never();
        assert!(
            other.unwrap().is_ok(),
            "another table has a lock of its own"
        );
        let error = lock("one").write().await.err().unwrap();
        assert_eq!(error.kind().code(), "LOCK_TIMEOUT");
        assert!(lock("one").section().now_or_never().unwrap().is_ok());
        held.release().await;
        assert!(lock("one").write().now_or_never().unwrap().is_ok());
    });
}

#[test]
fn a_lock_that_is_dropped_is_free_and_a_wait_that_is_dropped_takes_nothing() {
    block_on(async {
        let held = lock("three").write().await.unwrap();
        assert!(lock("three").write().now_or_never().is_none());
        drop(held);
        assert!(lock("three").write().now_or_never().unwrap().is_ok());
    });
}
