//! An allocator that remembers whether memory ran out.
//!
//! On stable Rust a failed allocation ends in a bare `unreachable`, which looks like any other trap. The flag tells
//! `OUT_OF_MEMORY` from a fault.

#![allow(
    unsafe_code,
    reason = "a global allocator can only be written with it; all four bodies pass their arguments on"
)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicBool, Ordering};

static FAILED: AtomicBool = AtomicBool::new(false);

#[global_allocator]
static ALLOCATOR: Flagging = Flagging;

struct Flagging;

/// Whether an allocation failed since the last call.
///
/// The flag is taken, not read: a failure that its caller survived must not explain a later trap.
pub(super) fn take_failed() -> bool {
    FAILED.swap(false, Ordering::Relaxed)
}

fn noted(memory: *mut u8) -> *mut u8 {
    if memory.is_null() {
        FAILED.store(true, Ordering::Relaxed);
    }
    memory
}

// SAFETY: every call goes to the system's allocator with the arguments it was given, under the same contract.
unsafe impl GlobalAlloc for Flagging {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        noted(unsafe { System.alloc(layout) })
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        noted(unsafe { System.alloc_zeroed(layout) })
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        noted(unsafe { System.realloc(memory, layout, size) })
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        unsafe { System.dealloc(memory, layout) }
    }
}
