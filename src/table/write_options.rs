//! What every write takes and gives.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde::Deserialize;

use super::open::Table;
use crate::codec::bloom::BloomSettings;
use crate::codec::parquet::Codec;
use crate::commit::{TableLock, WriteClock, Writer};
use crate::config::Properties;
use crate::error::{Error, Result};
use crate::host;
use crate::model::{Instant, PartitionPath};
use crate::timeline::MetaClient;
use crate::write::{AppendOptions, DuplicateKeys};

/// Options of one write, as JavaScript hands them over.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct WriteOptions {
    /// Entries of the commit's metadata beside the schema, such as checkpoints.
    pub extra_metadata: BTreeMap<String, String>,
    /// `hoodie.*` options of this write.
    pub hudi_options: Properties,
    /// `uncompressed`, `snappy`, `gzip` (default) or `lz4_raw`.
    pub compression: Option<String>,
    /// `error` (default) or `keep-latest`.
    pub duplicate_keys: Option<String>,
    /// Whether promotions that lose nothing are made.
    pub widen: bool,
    /// Whether to commit although there is no row.
    pub empty_commit: bool,
    /// The zone of new instants on a LOCAL table.
    pub timezone: Option<String>,
    /// Whether services that are due run after the commit; they do by default.
    pub inline_services: Option<bool>,
    /// Set just before the completed file is put. From then on the caller must let the call end: dropping it would leave
    /// open whether the rows are there.
    #[serde(skip)]
    pub committing: Arc<AtomicBool>,
}

/// What became of a write.
#[derive(Debug)]
pub struct WriteOutcome {
    /// The completed instant; none when there was nothing to commit.
    pub instant: Option<Instant>,
    /// Rows that are new.
    pub inserted: u64,
    /// Data files.
    pub files_written: usize,
    /// Their bytes.
    pub bytes_written: u64,
    /// The partitions that were written to, in order.
    pub partitions: Vec<PartitionPath>,
    /// Attempts until it was committed.
    pub attempts: u32,
    /// The table as of this commit.
    pub table: Table,
}

impl WriteOptions {
    /// The options of the table's handle under those of the call.
    pub(super) fn under(&self, handle: &BTreeMap<String, String>) -> Properties {
        let mut all = handle.clone();
        all.extend(self.hudi_options.clone());
        all
    }

    /// Refuses entries of the commit's metadata that readers take for the table's own columns.
    pub(super) fn check(&self) -> Result<()> {
        let own = |key: &&String| matches!(key.as_str(), "schema" | "latest_schema");
        match self.extra_metadata.keys().find(own) {
            Some(key) => Err(Error::invalid_argument(
                "the commit itself fills this entry of its metadata",
            )
            .context("extraMetadata", key)),
            None => Ok(()),
        }
    }

    /// Says that the call may no longer be ended.
    pub(super) fn seal(&self) {
        self.committing.store(true, Ordering::Relaxed);
    }

    /// What writers of this call share.
    pub(super) fn writer(
        &self,
        meta: &MetaClient,
        lock: TableLock,
        options: Properties,
        handle_zone: Option<&str>,
    ) -> Result<Writer> {
        let zone = self.timezone.as_deref().or(handle_zone);
        let zone = zone.map(host::zone).transpose()?;
        let writer = Writer {
            clock: WriteClock::new(&meta.config, zone, &meta.storage),
            lock,
            options,
        };
        let wait = writer.number("hoodie.write.lock.wait_time_ms", 60_000);
        let lock = writer.lock.clone();
        Ok(Writer {
            lock: lock.waiting(u32::try_from(wait).unwrap_or(u32::MAX)),
            ..writer
        })
    }

    /// How rows become base files.
    ///
    /// Errors: `InvalidArgument` for options that are none.
    pub(super) fn append(&self, writer: &Writer, memory: Option<u64>) -> Result<AppendOptions> {
        let usual = AppendOptions::default();
        let bloom = BloomSettings::default();
        let positive = |key: &'static str, default: i64| match writer.number(key, default) {
            number if number > 0 => Ok(u64::try_from(number).unwrap_or(u64::MAX)),
            number => Err(Error::invalid_argument("not above zero").context(key, number)),
        };
        let max_file_size = positive("hoodie.parquet.max.file.size", 120 << 20)?;
        let entries = positive("hoodie.index.bloom.num_entries", i64::from(bloom.entries))?;
        let most = i64::from(bloom.max_entries);
        let max_entries = positive("hoodie.bloom.index.filter.dynamic.max.entries", most)?;
        let false_positives = match writer.options.get("hoodie.index.bloom.fpp") {
            Some(text) => text
                .trim()
                .parse()
                .ok()
                .filter(|p| *p > 0.0 && *p < 1.0)
                .ok_or_else(|| {
                    Error::invalid_argument("not a share between 0 and 1")
                        .context("hoodie.index.bloom.fpp", text)
                })?,
            None => bloom.false_positives,
        };
        let bloom = BloomSettings {
            entries: u32::try_from(entries).unwrap_or(u32::MAX),
            false_positives,
            max_entries: u32::try_from(max_entries).unwrap_or(u32::MAX),
        };
        Ok(AppendOptions {
            codec: self.codec(writer)?,
            max_file_size,
            memory_limit: memory.map(|bytes| usize::try_from(bytes).unwrap_or(usize::MAX)),
            widen: self.widen,
            duplicate_keys: self.duplicates()?,
            bloom,
            hudi_options: writer.options.clone(),
            ..usual
        })
    }

    fn codec(&self, writer: &Writer) -> Result<Codec> {
        let asked = self.compression.as_ref();
        let asked = asked.or(writer.options.get("hoodie.parquet.compression.codec"));
        match asked
            .map(|word| word.trim().to_ascii_lowercase())
            .as_deref()
        {
            None | Some("gzip") => Ok(Codec::Gzip),
            Some("uncompressed") => Ok(Codec::Uncompressed),
            Some("snappy") => Ok(Codec::Snappy),
            Some("lz4_raw") => Ok(Codec::Lz4Raw),
            Some(other) => Err(Error::invalid_argument("this compression is not written")
                .context("compression", other)
                .context("hint", "uncompressed, snappy, gzip or lz4_raw")),
        }
    }

    fn duplicates(&self) -> Result<DuplicateKeys> {
        match self.duplicate_keys.as_deref() {
            None | Some("error") => Ok(DuplicateKeys::Error),
            Some("keep-latest") => Ok(DuplicateKeys::KeepLatest),
            Some(other) => Err(Error::invalid_argument("not a way to treat equal keys")
                .context("duplicateKeys", other)
                .context("hint", "error or keep-latest")),
        }
    }
}
