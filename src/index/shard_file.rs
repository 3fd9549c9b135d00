//! The content of one file of a file group: a log file of one instant, or a base file.

use std::collections::{BTreeMap, BTreeSet};

use super::record::{delete_block, writer_schema};
use crate::codec::bloom::{BloomFilter, BloomSettings};
use crate::codec::hfile::{BaseFileExtras, HFileWriter};
use crate::codec::log_format::{BlockKind, write_block};
use crate::error::Result;
use crate::host;
use crate::model::InstantTime;

/// What one instant puts into one file group.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct ShardChange {
    /// Records by key.
    pub(super) records: BTreeMap<String, Vec<u8>>,
    /// Keys that are gone.
    pub(super) deletes: BTreeSet<String>,
}

impl ShardChange {
    pub(super) fn is_empty(&self) -> bool {
        self.records.is_empty() && self.deletes.is_empty()
    }

    /// The log file of an instant: the records, then the deletes.
    pub(super) fn log_file(&self, folder: &str, instant: &InstantTime) -> Result<Vec<u8>> {
        let mut out = Vec::new();
        if !self.records.is_empty() {
            let records = self.records.iter();
            let records = records.map(|(key, value)| (key.as_str(), value.as_slice()));
            put_records(records, instant, &mut out)?;
        }
        if !self.deletes.is_empty() {
            let keys: Vec<&str> = self.deletes.iter().map(String::as_str).collect();
            let content = delete_block(keys.into_iter(), folder)?;
            let schema = writer_schema();
            let (kind, time) = (BlockKind::Delete, instant.as_str());
            write_block(kind, time, Some(&schema), &content, &mut out)?;
        }
        Ok(out)
    }
}

/// Appends a block of records, which come in the order of their keys.
pub(super) fn put_records<'a>(
    records: impl Iterator<Item = (&'a str, &'a [u8])>,
    instant: &InstantTime,
    out: &mut Vec<u8>,
) -> Result<()> {
    let schema = writer_schema();
    let mut file = HFileWriter::new(&schema);
    for (key, value) in records {
        file.add(key.as_bytes(), value)?;
    }
    let content = file.finish(host::now_millis(), None)?;
    write_block(
        BlockKind::HFileData,
        instant.as_str(),
        Some(&schema),
        &content,
        out,
    )
}

/// The log file that says that a file group is there: one empty block of deletes.
pub(super) fn empty_log_file(instant: &InstantTime) -> Result<Vec<u8>> {
    let content = delete_block(std::iter::empty(), "")?;
    let mut out = Vec::new();
    let (kind, time) = (BlockKind::Delete, instant.as_str());
    write_block(kind, time, None, &content, &mut out)?;
    Ok(out)
}

/// A base file of records, which come in the order of their keys.
pub(super) fn base_file<'a>(
    schema: &str,
    records: impl Iterator<Item = (&'a [u8], &'a [u8])>,
) -> Result<Vec<u8>> {
    let mut file = BaseFileWriter::new(schema);
    for (key, value) in records {
        file.add(key, &[value])?;
    }
    file.finish()
}

/// A base file of which the compressed blocks alone are held.
#[derive(Debug)]
pub(super) struct BaseFileWriter {
    file: HFileWriter,
    bloom: BloomFilter,
}

impl BaseFileWriter {
    pub(super) fn new(schema: &str) -> Self {
        Self {
            file: HFileWriter::new(schema),
            bloom: BloomFilter::new(bloom_settings()),
        }
    }

    /// Adds what there is of a key, which is greater than those before.
    pub(super) fn add(&mut self, key: &[u8], values: &[impl AsRef<[u8]>]) -> Result<()> {
        for (at, value) in values.iter().enumerate() {
            match at {
                0 => self.file.add(key, value.as_ref())?,
                _ => self.file.add_to_last(value.as_ref())?,
            }
            self.bloom.add(key);
        }
        Ok(())
    }

    pub(super) fn finish(self) -> Result<Vec<u8>> {
        let extras = BaseFileExtras {
            bloom_filter: self.bloom.to_base64(),
            bloom_type: "DYNAMIC_V0",
        };
        self.file.finish(host::now_millis(), Some(&extras))
    }
}

/// Java's writer of the metadata table takes other sizes than those of data files.
fn bloom_settings() -> BloomSettings {
    BloomSettings {
        entries: 10_000,
        ..BloomSettings::default()
    }
}

#[cfg(all(test, not(target_arch = "wasm32")))]
mod tests;
