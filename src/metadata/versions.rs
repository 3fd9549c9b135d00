//! All that a file group says of each key, one key after the other.

use std::collections::VecDeque;

use bytes::Bytes;

use super::fence::Fence;
use super::hfile_read::RecordStream;
use super::shard::{Change, Records, Shard};
use crate::codec::avro::{WireSchema, resolve_datum};
use crate::codec::hfile::KeyValue;
use crate::error::{Result, ResultExt};
use crate::model::{FileSlice, InOrder};
use crate::storage::Storage;

/// What a file group says of one key, each version an Avro record of the schema that was asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Versions {
    /// The key.
    pub key: Bytes,
    /// Those of the base file: one, or none, or several of a record key that was written twice.
    pub base: Vec<Bytes>,
    /// Those of the log blocks, oldest first; `None` says that the key is gone.
    pub changes: Vec<Option<Bytes>>,
}

/// A file group read from its first key to its last.
///
/// 1. Keys rise, and each comes once.
/// 2. Of the base file and of each log block some blocks of about a megabyte are held at a time.
#[derive(Debug)]
pub struct ShardVersions {
    schema: WireSchema,
    base: Option<Source>,
    changes: Vec<Source>,
    /// Log blocks, those without a key among them.
    pub blocks: u64,
    /// Records and deletes of the log blocks, so far.
    pub records: u64,
}

#[derive(Debug)]
struct Source {
    /// Entries that are there, in the order of keys.
    ready: VecDeque<(Bytes, Option<Bytes>)>,
    stream: Option<(RecordStream, Records)>,
}

impl ShardVersions {
    /// Opens a slice; its records are to be had in `schema`, whatever theirs is.
    ///
    /// Errors: `Corrupt` and `Unsupported` with `path`, `NotFound` for a file that is gone, those of the storage.
    pub async fn open(
        storage: &Storage,
        slice: &FileSlice,
        fence: &Fence,
        schema: WireSchema,
    ) -> Result<Self> {
        let shard = Shard::open(storage, slice, fence).await?;
        let skipped = slice.logs.len() - slice.logs.iter().filter(|l| Shard::holds(l)).count();
        let (base, changes) = shard.into_parts();
        let changes: Vec<Source> = changes.into_iter().map(Source::of_change).collect();
        Ok(Self {
            schema,
            base: base.map(Source::of_records),
            blocks: (skipped + changes.len()) as u64,
            changes,
            records: 0,
        })
    }

    /// The next key.
    ///
    /// Errors: `Corrupt` and `Unsupported` with `path`; those of the storage.
    pub async fn next(&mut self, storage: &Storage) -> Result<Option<Versions>> {
        let schema = &self.schema;
        for source in self.base.iter_mut().chain(&mut self.changes) {
            source.fill(storage, schema).await?;
        }
        let all = self.base.iter().chain(&self.changes);
        let Some(key) = all.filter_map(Source::key).min().cloned() else {
            return Ok(None);
        };
        let mut found = Versions {
            key,
            base: Vec::new(),
            changes: Vec::new(),
        };
        if let Some(base) = &mut self.base {
            while let Some(version) = base.take(&found.key) {
                found.base.extend(version);
                base.fill(storage, schema).await?;
            }
        }
        for source in &mut self.changes {
            while let Some(version) = source.take(&found.key) {
                found.changes.push(version);
                self.records += 1;
                source.fill(storage, schema).await?;
            }
        }
        Ok(Some(found))
    }
}

impl Source {
    fn of_records(records: Records) -> Self {
        Self {
            ready: VecDeque::new(),
            stream: Some((records.file.stream(), records)),
        }
    }

    fn of_change(change: Change) -> Self {
        match change {
            Change::Records(records) => Self::of_records(records),
            Change::Deletes(mut keys) => {
                keys.in_order();
                Self {
                    ready: keys.into_iter().map(|key| (key, None)).collect(),
                    stream: None,
                }
            }
        }
    }

    fn key(&self) -> Option<&Bytes> {
        self.ready.front().map(|(key, _)| key)
    }

    fn take(&mut self, key: &Bytes) -> Option<Option<Bytes>> {
        match self.key() == Some(key) {
            true => self.ready.pop_front().map(|(_, version)| version),
            false => None,
        }
    }

    /// Reads on when nothing is ready.
    async fn fill(&mut self, storage: &Storage, schema: &WireSchema) -> Result<()> {
        let Some((stream, records)) = &mut self.stream else {
            return Ok(());
        };
        while self.ready.is_empty() {
            let Some(found) = stream.next(storage, &records.file).await? else {
                self.stream = None;
                return Ok(());
            };
            let path = &records.file.place().path;
            let same = *records.schema == *schema;
            for KeyValue { key, value } in found {
                let value = match same {
                    true => value,
                    false => {
                        let value = resolve_datum(&records.schema, schema, &value);
                        storage.checked(path, value).context("path", path)?.into()
                    }
                };
                self.ready.push_back((key, Some(value)));
            }
        }
        Ok(())
    }
}
