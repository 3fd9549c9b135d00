use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::Cause;

/// Where the bytes of an answer came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// The store.
    Network,
    /// The cache in memory.
    Memory,
    /// The cache that outlives this instance.
    Persistent,
}

impl Source {
    /// The public word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Network => "network",
            Self::Memory => "memory",
            Self::Persistent => "persistent",
        }
    }
}

/// One attempt of one request, or one answer from the cache.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestEvent {
    /// `GET`, `LIST`, `PUT`, `POST` or `DELETE`.
    pub method: &'static str,
    /// Path relative to the table; never a URL, so nothing secret is in it.
    pub path: String,
    /// First byte asked for.
    pub start: Option<u64>,
    /// The byte after the last one asked for.
    pub end: Option<u64>,
    /// The HTTP status, or what it would be where the store is not HTTP; 0 when there was no answer.
    pub status: u16,
    /// Bytes of the body that came, or that was sent.
    pub bytes: u64,
    /// Milliseconds from the request to the end of the body.
    pub millis: u64,
    /// Where the bytes came from.
    pub source: Source,
    /// 1 for the first attempt; 0 when nothing was asked of the store.
    pub attempt: u32,
    /// Why.
    pub cause: Cause,
}

/// Hears what one call does.
pub trait Observer: Send + Sync {
    /// A request ended, well or not.
    fn request(&self, event: &RequestEvent);
    /// So many bytes came in since the call began.
    fn bytes(&self, loaded: u64);
    /// So many of the files that a read takes are read.
    fn files(&self, done: usize, total: usize);
    /// A part of a write begins, by the public word.
    fn phase(&self, _phase: &'static str) {}
    /// So many rows of a write were taken in.
    fn rows(&self, _rows: usize) {}
    /// Something was worked around.
    fn warning(&self, message: &str, path: Option<&str>);
}

/// What one call has cost so far.
#[derive(Debug, Default)]
pub struct Metrics {
    requests: AtomicU64,
    bytes: AtomicU64,
    cache_hits: AtomicU64,
    unpinned: AtomicBool,
    metadata_listing: AtomicBool,
    row_groups_pruned: AtomicU64,
    partitions_unlisted: AtomicU64,
    rows_scanned: AtomicU64,
    corrupt_log_blocks: AtomicU64,
    warnings: Mutex<Vec<String>>,
}

/// The counters of [`Metrics`] at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Counters {
    /// Attempts of requests.
    pub requests: u64,
    /// Bytes of their bodies.
    pub bytes: u64,
    /// Ranges answered by the cache.
    pub cache_hits: u64,
    /// Whether every answer of an immutable file showed an ETag, so that a change under way would be seen.
    pub pinned: bool,
    /// Row groups of base files that were not read, since no row of theirs could pass the filters.
    pub row_groups_pruned: u64,
    /// Partitions, or folders of them, that the filters ruled out before their files were known.
    pub partitions_unlisted: u64,
    /// Rows of the row groups and pages that were read.
    pub rows_scanned: u64,
    /// Damaged spans of log files that were passed over.
    pub corrupt_log_blocks: u64,
    /// What was worked around.
    pub warnings: Vec<String>,
}

impl Metrics {
    /// The counters now.
    pub fn counters(&self) -> Counters {
        Counters {
            requests: self.requests.load(Ordering::Relaxed),
            bytes: self.bytes.load(Ordering::Relaxed),
            cache_hits: self.cache_hits.load(Ordering::Relaxed),
            pinned: !self.unpinned.load(Ordering::Relaxed),
            row_groups_pruned: self.row_groups_pruned.load(Ordering::Relaxed),
            partitions_unlisted: self.partitions_unlisted.load(Ordering::Relaxed),
            rows_scanned: self.rows_scanned.load(Ordering::Relaxed),
            corrupt_log_blocks: self.corrupt_log_blocks.load(Ordering::Relaxed),
            warnings: self
                .warnings
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .clone(),
        }
    }

    /// Counts row groups that need not be read.
    pub fn add_row_groups_pruned(&self, groups: u64) {
        self.row_groups_pruned.fetch_add(groups, Ordering::Relaxed);
    }

    /// Counts partitions whose files need not be known.
    pub fn add_partitions_unlisted(&self, partitions: usize) {
        self.partitions_unlisted
            .fetch_add(partitions as u64, Ordering::Relaxed);
    }

    /// Counts rows that are read.
    pub fn add_rows_scanned(&self, rows: u64) {
        self.rows_scanned.fetch_add(rows, Ordering::Relaxed);
    }

    /// Counts damaged spans of log files.
    pub fn add_corrupt_log_blocks(&self, spans: u64) {
        self.corrupt_log_blocks.fetch_add(spans, Ordering::Relaxed);
    }

    /// Notes that file names came from the metadata table.
    pub fn note_metadata_listing(&self) {
        self.metadata_listing.store(true, Ordering::Relaxed);
    }

    pub(super) fn lists_by_metadata(&self) -> bool {
        self.metadata_listing.load(Ordering::Relaxed)
    }

    pub(super) fn count_request(&self, bytes: u64) -> u64 {
        self.requests.fetch_add(1, Ordering::Relaxed);
        self.bytes.fetch_add(bytes, Ordering::Relaxed) + bytes
    }

    pub(super) fn count_hit(&self) {
        self.cache_hits.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn note_unpinned(&self) {
        self.unpinned.store(true, Ordering::Relaxed);
    }

    /// Keeps a warning unless it was said before; true when it is new.
    pub(super) fn keep_warning(&self, text: String) -> bool {
        let mut warnings = self.warnings.lock().unwrap_or_else(PoisonError::into_inner);
        let new = !warnings.contains(&text) && warnings.len() < MAX_WARNINGS;
        if new {
            warnings.push(text);
        }
        new
    }
}

/// A table with a million odd files must not fill memory with sentences about them.
const MAX_WARNINGS: usize = 1000;

/// Whom one API call reports to.
#[derive(Clone, Default)]
pub struct CallScope {
    /// Hears events as they happen.
    pub observer: Option<Arc<dyn Observer>>,
    /// Counts.
    pub metrics: Arc<Metrics>,
}
