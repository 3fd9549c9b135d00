//! One file group of the metadata table: its base HFile and the log blocks over it, looked into by key.

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;
use futures::future::{try_join, try_join_all};

use super::fence::Fence;
use super::hfile_read::{OpenHFile, Place};
use super::payload::Payload;
use crate::codec::avro::{WireSchema, read_datum};
use crate::codec::hfile::{KeyValue, Query};
use crate::codec::log_block;
use crate::codec::log_format::{BlockKind, LogBlock};
use crate::error::{Error, Result, ResultExt};
use crate::model::{FileSlice, LogFile};
use crate::slice::{ScanOptions, block_content, scan_logs};
use crate::storage::{Cause, Storage};

/// The first log file of a group holds one block without a key, in so many bytes: of those it is not asked for.
const EMPTY_LOG: u64 = 80;

/// The write token of that file, which no other has.
const FIRST_TOKEN: &str = "0-0-0";

/// A file group whose indexes and log frames are there: what is found in it costs data blocks alone.
#[derive(Debug)]
pub struct Shard {
    base: Option<Records>,
    /// In the order in which they are merged.
    changes: Vec<Change>,
}

/// An HFile and the schema of its values.
#[derive(Debug)]
pub(super) struct Records {
    pub(super) file: OpenHFile,
    pub(super) schema: Arc<WireSchema>,
}

/// One log block.
#[derive(Debug)]
pub(super) enum Change {
    Records(Records),
    /// Keys that are gone.
    Deletes(Vec<Bytes>),
}

impl Shard {
    /// Opens the base file and the log blocks that the fence shows: a request for each small file.
    ///
    /// Errors: `Corrupt` and `Unsupported` with `path`, `NotFound` for a file that is gone, those of the storage.
    pub(super) async fn open(storage: &Storage, slice: &FileSlice, fence: &Fence) -> Result<Self> {
        let base = async {
            let Some(base) = &slice.base else {
                return Ok(None);
            };
            let place = Place {
                path: base.path.clone(),
                file_size: base.size,
                part: 0..base.size,
                cause: Cause::MetadataTable,
            };
            Records::open(storage, place, None).await.map(Some)
        };
        let visible = |instant: &str| fence.shows(instant);
        let logs = slice.logs.iter().filter(|log| Self::holds(log));
        let logs: Vec<LogFile> = logs.cloned().collect();
        let changes = async {
            // A damaged span would be lines left out, and with them files of the table.
            let options = ScanOptions {
                strict: true,
                ..ScanOptions::default()
            };
            let scan = scan_logs(storage, &logs, &visible, options).await?;
            let blocks = scan.blocks.iter();
            try_join_all(blocks.map(|block| open_change(storage, &logs, block))).await
        };
        let (base, changes) = try_join(base, changes).await?;
        Ok(Self { base, changes })
    }

    /// Whether a log file may hold a key: all but the first one of a group.
    pub(super) fn holds(log: &LogFile) -> bool {
        log.size > EMPTY_LOG || log.name.write_token.as_deref() != Some(FIRST_TOKEN)
    }

    /// The base file, and the log blocks in the order in which they are merged.
    pub(super) fn into_parts(self) -> (Option<Records>, Vec<Change>) {
        (self.base, self.changes)
    }

    /// Whether all of its bytes are there, so that nothing of it costs a request.
    pub fn is_held(&self) -> bool {
        let records = self.changes.iter().filter_map(|change| match change {
            Change::Records(records) => Some(records),
            Change::Deletes(_) => None,
        });
        let mut all = self.base.iter().chain(records);
        all.all(|records| records.file.is_held())
    }

    /// What the records of the wanted keys say, merged, by key.
    pub async fn find(&self, storage: &Storage, query: &Query) -> Result<BTreeMap<Bytes, Payload>> {
        let mut found = BTreeMap::new();
        if query.is_empty() {
            return Ok(found);
        }
        let base = async {
            match &self.base {
                Some(base) => base.find(storage, query).await,
                None => Ok(Vec::new()),
            }
        };
        let changes = try_join_all(self.changes.iter().map(|change| async move {
            match change {
                Change::Records(records) => records.find(storage, query).await,
                Change::Deletes(_) => Ok(Vec::new()),
            }
        }));
        let (base, changes) = try_join(base, changes).await?;
        for (key, payload) in base {
            add(&mut found, key, payload);
        }
        for (change, records) in self.changes.iter().zip(changes) {
            if let Change::Deletes(keys) = change {
                for key in keys.iter().filter(|key| query.wants(key)) {
                    found.remove(key);
                }
            }
            for (key, payload) in records {
                let merged = match (payload, found.remove(&key)) {
                    (Some(newer), Some(older)) => Some(newer.over(older)),
                    (newer, _) => newer,
                };
                found.extend(merged.map(|merged| (key, merged)));
            }
        }
        Ok(found)
    }
}

/// Takes in a record of the base file, where one key of the record index may stand twice.
fn add(found: &mut BTreeMap<Bytes, Payload>, key: Bytes, payload: Option<Payload>) {
    match (payload, found.get_mut(&key)) {
        (Some(Payload::Record(more)), Some(Payload::Record(known))) => known.extend(more),
        (Some(payload), _) => {
            found.insert(key, payload);
        }
        (None, _) => {}
    }
}

impl Records {
    /// `schema` is the log block's; a base file tells its own.
    async fn open(storage: &Storage, place: Place, schema: Option<&str>) -> Result<Self> {
        let file = OpenHFile::open(storage, place).await?;
        let path = &file.place().path;
        let text = schema.or_else(|| file.schema());
        let text = text.ok_or_else(|| {
            Error::corrupt("an HFile of the metadata table has no schema").context("path", path)
        })?;
        let schema = WireSchema::parse(text.as_bytes()).context("path", path)?;
        Ok(Self {
            schema: Arc::new(schema),
            file,
        })
    }

    async fn find(
        &self,
        storage: &Storage,
        query: &Query,
    ) -> Result<Vec<(Bytes, Option<Payload>)>> {
        let found = self.file.find(storage, query).await?;
        let decode = |KeyValue { key, value }| {
            let record = read_datum(&self.schema, &value)?;
            Ok((key, Payload::of_record(&record)?))
        };
        let decoded: Result<Vec<_>> = found.into_iter().map(decode).collect();
        let path = &self.file.place().path;
        storage.checked(path, decoded).context("path", path)
    }
}

async fn open_change(storage: &Storage, logs: &[LogFile], block: &LogBlock) -> Result<Change> {
    let log = logs.get(block.file);
    let log = log.ok_or_else(|| Error::internal("a log block belongs to no file"))?;
    match block.kind {
        BlockKind::HFileData => {
            let place = Place {
                path: log.path.clone(),
                file_size: log.size,
                part: block.content.clone(),
                cause: Cause::Log,
            };
            let records = Records::open(storage, place, block.header.schema());
            records.await.map(Change::Records)
        }
        BlockKind::Delete => {
            let content = block_content(storage, logs, block).await?;
            let deletes = log_block::deletes(&content);
            let deletes = storage.checked(&log.path, deletes);
            let deletes = deletes.context("path", &log.path)?;
            let keys = deletes.into_iter().map(|delete| Bytes::from(delete.key));
            Ok(Change::Deletes(keys.collect()))
        }
        _ => Err(
            Error::unsupported("a log block of the metadata table that is no HFile")
                .context("path", &log.path)
                .context("offset", block.offset),
        ),
    }
}
