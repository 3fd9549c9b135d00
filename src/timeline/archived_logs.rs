//! The archived timeline of layout 1: log files of `HoodieArchivedMetaEntry`, one entry a state of an instant.

use bytes::Bytes;
use serde::Deserialize;
use serde_json::Value;

use super::archived::{ArchivedInstants, times};
use super::meta_client::MetaClient;
use super::payload::RollbackMetadata;
use crate::codec::avro::{WireSchema, read_datum};
use crate::codec::log_block::AvroRows;
use crate::codec::log_format::{LogBlock, LogScanner, Step};
use crate::error::{Error, Result, ResultExt};
use crate::model::{Action, InOrder, InstantTime};
use crate::storage::{Cause, ObjectMeta};

/// The parts of an entry that say what became of an instant.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Entry {
    commit_time: Option<String>,
    action_type: Option<String>,
    action_state: Option<String>,
    hoodie_rollback_metadata: Option<RollbackMetadata>,
}

impl MetaClient {
    /// Reads the archive's files from the newest back to the one that goes past `first`.
    ///
    /// Errors: those of the storage, `Corrupt` for entries that cannot be read. Damaged spans are warned of.
    pub(super) async fn archived_logs_since(
        &self,
        first: &InstantTime,
    ) -> Result<ArchivedInstants> {
        let folder = self.config.archive_folder();
        let listed = self.storage.list_folder(&folder, Cause::Timeline).await?;
        let mut files: Vec<(u64, ObjectMeta)> = listed
            .files
            .into_iter()
            .filter_map(|file| Some((number(&file.path)?, file)))
            .collect();
        files.in_order_by(|a, b| b.0.cmp(&a.0).then_with(|| b.1.path.cmp(&a.1.path)));
        let mut found = ArchivedInstants::default();
        for (_, file) in files {
            let get = self
                .storage
                .get_immutable(&file.path, Some(file.size), Cause::Timeline);
            let oldest = self.read_archive(&get.await?, &file.path, &mut found);
            let oldest = self.storage.checked(&file.path, oldest);
            if oldest
                .context("path", &file.path)?
                .is_some_and(|oldest| oldest < *first)
            {
                break;
            }
        }
        Ok(found)
    }

    /// Takes in one file; says the oldest instant of it.
    fn read_archive(
        &self,
        bytes: &Bytes,
        path: &str,
        found: &mut ArchivedInstants,
    ) -> Result<Option<InstantTime>> {
        let mut scanner = LogScanner::new(0, bytes.len() as u64);
        scanner.feed(0, bytes.clone());
        let mut oldest = None;
        loop {
            match scanner.step()? {
                Step::Block(block) => {
                    for entry in entries(&block)? {
                        let time = found.take(entry);
                        oldest = oldest.into_iter().chain(time).min();
                    }
                }
                Step::Damaged(span) => {
                    let message = "a damaged span of the archived timeline was passed over";
                    self.storage
                        .warn(&format!("{message}, at {}", span.start), Some(path));
                }
                Step::Need(_) | Step::Done => return Ok(oldest),
            }
        }
    }
}

/// The number of an archive's file: `.commits_.archive.<number>[_<token>]`.
fn number(path: &str) -> Option<u64> {
    let name = path.rsplit('/').next()?;
    let rest = name.strip_prefix(".commits_.archive.")?;
    rest.split('_').next()?.parse().ok()
}

fn entries(block: &LogBlock) -> Result<Vec<Entry>> {
    let at = |error: Error| error.context("offset", block.offset);
    let missing = || Error::corrupt("a block of the archived timeline has no schema");
    let schema = block.header.schema().ok_or_else(missing).map_err(at)?;
    let schema = WireSchema::parse(schema.as_bytes()).map_err(at)?;
    let content = block.fetched.clone().unwrap_or_default();
    let mut rows = AvroRows::new(&content).map_err(at)?;
    let mut entries = Vec::new();
    while let Some(row) = rows.next_row(&content).map_err(at)? {
        let row = content.get(row).unwrap_or_default();
        let entry: Value = read_datum(&schema, row).map_err(at)?;
        let entry = serde_json::from_value(entry).map_err(|source| {
            at(
                Error::corrupt("an archived instant holds other fields than it should")
                    .with_source(source),
            )
        });
        entries.push(entry?);
    }
    Ok(entries)
}

impl ArchivedInstants {
    /// Takes in one entry; says its instant.
    fn take(&mut self, entry: Entry) -> Option<InstantTime> {
        let time = InstantTime::parse(&entry.commit_time?).ok()?;
        let action = Action::from_word(&entry.action_type?);
        if entry.action_state.as_deref() == Some("COMPLETED") {
            if action.writes_data() {
                self.completed.insert(time.clone(), None);
            }
            let undone = entry.hoodie_rollback_metadata.unwrap_or_default();
            self.undone.extend(times(undone.commits_rollback));
        }
        Some(time)
    }
}
