//! An HFile read by ranges: a base file, or the content of a log block.

use std::ops::Range;

use bytes::Bytes;

use crate::codec::hfile::{HFile, KeyValue, Opening, Query, Search, first_range};
use crate::error::{Error, Result, ResultExt};
use crate::storage::{Cause, Storage};

/// Where an HFile lies: the whole of a file, or a part of one.
#[derive(Debug, Clone)]
pub(super) struct Place {
    pub(super) path: String,
    /// Bytes of the file around it.
    pub(super) file_size: u64,
    /// Its own bytes in that file.
    pub(super) part: Range<u64>,
    pub(super) cause: Cause,
}

/// An HFile whose indexes are there.
#[derive(Debug, Clone)]
pub(super) struct OpenHFile {
    place: Place,
    file: HFile,
    /// All of a small file, so that looking into it costs no request even without a cache.
    whole: Option<Bytes>,
}

impl Place {
    fn size(&self) -> u64 {
        self.part.end.saturating_sub(self.part.start)
    }

    async fn get(&self, storage: &Storage, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        let shift = |range: &Range<u64>| range.start + self.part.start..range.end + self.part.start;
        let ranges: Vec<_> = ranges.iter().map(shift).collect();
        let path = &self.path;
        storage
            .get_ranges(path, self.file_size, &ranges, self.cause)
            .await
    }

    async fn get_one(&self, storage: &Storage, range: Range<u64>) -> Result<Bytes> {
        let mut found = self.get(storage, &[range]).await?;
        found
            .pop()
            .ok_or_else(|| Error::internal("a range was not fetched"))
    }

    /// Hands on what was made of the file's bytes; damage is told with the path, and what is cached of the file dropped.
    fn checked<T>(&self, storage: &Storage, made: Result<T>) -> Result<T> {
        let made = storage.checked(&self.path, made);
        let made = match self.part.start {
            0 => made,
            start => made.context("block", start),
        };
        made.context("path", &self.path)
    }
}

impl OpenHFile {
    /// Opens an HFile: one request for a small one, two or three else.
    ///
    /// Errors: `Corrupt` and `Unsupported` with `path` and `offset`, those of the storage.
    pub(super) async fn open(storage: &Storage, place: Place) -> Result<Self> {
        let size = place.size();
        let mut range = first_range(size);
        loop {
            let tail = place.get_one(storage, range.clone()).await?;
            match place.checked(storage, HFile::open(size, &tail))? {
                Opening::Open(file) => {
                    let whole = (range.start == 0).then_some(tail);
                    return Ok(Self { place, file, whole });
                }
                Opening::Need(wider) if wider.start < range.start => range = wider,
                Opening::Need(_) => {
                    return Err(Error::internal("an HFile wants what it was given"));
                }
            }
        }
    }

    /// Whether all of its bytes are there.
    pub(super) fn is_held(&self) -> bool {
        self.whole.is_some()
    }

    /// Avro JSON of the values, where the file says it.
    pub(super) fn schema(&self) -> Option<&str> {
        self.file.info().schema.as_deref()
    }

    pub(super) fn place(&self) -> &Place {
        &self.place
    }

    async fn blocks(&self, storage: &Storage, needs: &[Range<u64>]) -> Result<Vec<Bytes>> {
        match &self.whole {
            Some(whole) => Ok(needs.iter().filter_map(|range| cut(whole, range)).collect()),
            None => self.place.get(storage, needs).await,
        }
    }

    /// The entries that a query wants, by key. Of a large file only the blocks that may hold them are fetched.
    pub(super) async fn find(&self, storage: &Storage, query: &Query) -> Result<Vec<KeyValue>> {
        let mut search = self.file.search(query.clone());
        loop {
            let needs = search.needs();
            if needs.is_empty() {
                return Ok(search.finish());
            }
            let blocks = self.blocks(storage, &needs).await?;
            self.place.checked(storage, search.give(&blocks))?;
        }
    }
}

/// Compressed bytes that a stream fetches at a time.
const AT_ONCE: u64 = 1 << 20;

/// The entries of an HFile from its first to its last, some data blocks at a time.
#[derive(Debug)]
pub(super) struct RecordStream {
    search: Search,
}

impl OpenHFile {
    /// Begins to read all of it.
    pub(super) fn stream(&self) -> RecordStream {
        RecordStream {
            search: self.file.search(Query::All),
        }
    }
}

impl RecordStream {
    /// The entries of the next data blocks of the file, which is the one that the stream is of; `None` behind the last.
    pub(super) async fn next(
        &mut self,
        storage: &Storage,
        file: &OpenHFile,
    ) -> Result<Option<Vec<KeyValue>>> {
        loop {
            let needs = self.search.needs();
            let Some(first) = needs.first() else {
                return Ok(None);
            };
            let near = first.start.saturating_add(AT_ONCE);
            let at_data = self.search.is_at_data();
            let count = match at_data {
                true => needs.partition_point(|range| range.end <= near).max(1),
                false => needs.len(),
            };
            let needs: Vec<_> = needs.into_iter().take(count).collect();
            let blocks = file.blocks(storage, &needs).await?;
            if !at_data {
                file.place.checked(storage, self.search.give(&blocks))?;
                continue;
            }
            let mut found = Vec::new();
            for block in &blocks {
                found.extend(file.place.checked(storage, self.search.give_one(block))?);
            }
            return Ok(Some(found));
        }
    }
}

fn cut(whole: &Bytes, range: &Range<u64>) -> Option<Bytes> {
    let (start, end) = (
        usize::try_from(range.start).ok()?,
        usize::try_from(range.end).ok()?,
    );
    (start <= end && end <= whole.len()).then(|| whole.slice(start..end))
}
