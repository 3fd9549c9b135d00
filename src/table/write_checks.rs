//! What a write refuses before it begins, and before it completes.

use super::open::Table;
use crate::commit::Pending;
use crate::config::{Properties, read_key, refuse_other_table};
use crate::error::{Error, ErrorKind, Result};
use crate::model::{Action, Instant, State, TableType, TableVersion};
use crate::storage::Cause;
use crate::timeline::table_schema;

impl Table {
    /// Refuses options, of the handle or of the call, that describe another table than `hoodie.properties` does: rows would be
    /// keyed, laid out and compared as no reader expects.
    pub(super) fn check_options(&self, options: &Properties) -> Result<()> {
        refuse_other_table(self.meta.config.stored(), &self.options.hudi_options)?;
        refuse_other_table(self.meta.config.stored(), options)
    }

    /// Refuses tables whose state a write would leave wrong.
    pub(super) fn check_writable(&self) -> Result<()> {
        let config = &self.meta.config;
        if config.version() == TableVersion::Six {
            let narrow = config.table_type() == TableType::CopyOnWrite
                && !config.is_partitioned()
                && !config.populate_meta_fields()
                && config.metadata_partitions().is_empty();
            if !narrow {
                return Err(Error::unsupported(
                    "writing to a table of version 6 that is partitioned, merge on read, or has meta fields or a metadata table",
                )
                .context("property", "hoodie.table.version")
                .context("hint", "upgrade the table to version 8 or 9 with Spark"));
            }
        }
        if config.drop_partition_columns() {
            return Err(Error::unsupported(
                "writing to a table whose files lack the partition columns",
            )
            .context("property", "hoodie.datasource.write.drop.partition.columns"));
        }
        self.check_indexes()
    }

    /// Refuses tables with schema on read: a commit without the numbers of the columns would undo their renames.
    pub(super) async fn check_unnumbered(&self) -> Result<()> {
        let schema = table_schema::load(&self.meta, None).await?;
        match schema.numbered {
            None => Ok(()),
            Some(_) => Err(Error::unsupported("writing to a table with schema on read")
                .context("hint", "write it with Spark")),
        }
    }

    /// Refuses tables whose file groups are buckets of a hash, by the number that their ids begin with: Spark looks for a key
    /// in its bucket alone, and takes no other id. Those of a consistent hash have no number, and a folder of their own; where
    /// properties or options tell, they count too.
    pub(super) async fn check_no_buckets(&self, options: &Properties) -> Result<()> {
        self.check_not_said_bucketed(options)?;
        if self.meta.config.table_type() == TableType::MergeOnRead {
            let storage = &self.meta.storage;
            let found = storage.list_folder(HASHED, Cause::Listing).await?;
            if !found.files.is_empty() || !found.folders.is_empty() {
                return Err(bucketed().context("path", HASHED));
            }
        }
        // A commit that only removed has no file ids: the one before it tells.
        for instant in self.meta.timeline.completed_writes().rev() {
            let metadata = self
                .meta
                .commit_metadata(instant)
                .await?
                .unwrap_or_default();
            let mut stats = metadata
                .partition_to_write_stats
                .values()
                .flatten()
                .peekable();
            if stats.peek().is_none() {
                continue;
            }
            return match stats.find(|stat| is_bucket(&stat.file_id)) {
                None => Ok(()),
                Some(stat) => Err(bucketed().context("fileId", &stat.file_id)),
            };
        }
        Ok(())
    }

    fn check_not_said_bucketed(&self, options: &Properties) -> Result<()> {
        for said in [self.meta.config.properties(), options] {
            let is = |key: &str, word: &str| {
                said.get(key)
                    .is_some_and(|text| text.trim().eq_ignore_ascii_case(word))
            };
            let is_set = |key: &str| said.get(key).is_some_and(|text| !text.trim().is_empty());
            let key = read_key::INDEX_TYPE;
            if is(key, "BUCKET") {
                return Err(bucketed().context("property", key));
            }
            let key = read_key::BUCKET_FIELDS;
            if is_set(key) {
                return Err(bucketed().context("property", key));
            }
        }
        Ok(())
    }
}

/// Where Hudi keeps which hashes the groups of a consistent hash hold.
const HASHED: &str = ".hoodie/.bucket_index/consistent_hashing_metadata";

fn bucketed() -> Error {
    Error::unsupported("writing to a table with a bucket index")
        .context("hint", "write it with Spark")
}

/// Whether a file id begins with a bucket's number, of eight digits; a random id begins so once in hundreds of thousands.
fn is_bucket(file_id: &str) -> bool {
    let number = file_id.split('-').next().unwrap_or_default();
    number.len() == 8 && number.starts_with("0000") && number.bytes().all(|b| b.is_ascii_digit())
}

/// A file that comes before the completed one and may or may not have landed: the write is not committed, and never will be.
pub(super) fn given_up(error: Error) -> Error {
    match error.kind() {
        ErrorKind::CommitStateUnknown => Error::unavailable(
            "the write was given up before its commit: a put of it had no answer",
        )
        .context("hint", "write again: nothing of this write is visible")
        .with_source(error),
        _ => error,
    }
}

/// Refuses to complete an instant that another writer has taken for a failed one and rolled back, since its files are gone; and one
/// beside which another writer has worked, since the schema and the statistics that are to be committed may be behind by now.
///
/// `before` is the table as it was when the write began, `now` as it is in the second critical section.
pub(super) fn still_alone(before: &Table, now: &Table, pending: &Pending) -> Result<()> {
    let (before, now) = (&before.meta.timeline, &now.meta.timeline);
    let own = now.find(&pending.time, &pending.action);
    if own.is_none_or(|own| own.state != State::Inflight) {
        return Err(Error::write_conflict(
            "another writer took this write for a failed one and rolled it back",
        )
        .context("instant", &pending.time));
    }
    let works = |instant: &&Instant| {
        instant.action.writes_data()
            || matches!(
                instant.action,
                Action::Rollback | Action::Restore | Action::Indexing
            )
    };
    let known = |instant: &&Instant| {
        let earlier = before.find(&instant.time, &instant.action);
        instant.time == pending.time || earlier.is_some_and(|it| it.state == instant.state)
    };
    match now.instants().filter(works).find(|i| !known(i)) {
        None => Ok(()),
        Some(other) => Err(
            Error::write_conflict("another writer was at work meanwhile")
                .context("instant", &pending.time)
                .context("other", &other.time)
                .context("action", &other.action)
                .context("hint", "write again: nothing of this write is there"),
        ),
    }
}
