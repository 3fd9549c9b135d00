//! Removing files that no read needs any more.

use std::collections::{BTreeMap, BTreeSet};

use arrow::datatypes::Schema;
use bytes::Bytes;

use super::clean_plan::{holds_data, plan, retained_commits};
use super::rollback::Rollbacks;
use crate::commit::{Pending, Requested, complete, create_file, request};
use crate::error::{Error, Result, ResultExt};
use crate::host;
use crate::index::{MetadataChange, MetadataWriter};
use crate::model::{Action, Instant, PartitionPath, State, TimelineLayout};
use crate::schema::{add_meta_fields, parse_avro, strip_meta_fields, to_arrow};
use crate::storage::Cause;
use crate::timeline::payload::{CleanMetadata, CleanedPartition, CleanerPlan};
use crate::timeline::{MetaClient, table_schema};

/// What a clean did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cleaned {
    /// The clean.
    pub instant: Instant,
    /// Files removed.
    pub files_deleted: usize,
}

/// Removes what is due by the policy KEEP_LATEST_COMMITS, after the cleans that ended early; nothing is written when there
/// is nothing to remove. `hoodie.clean.automatic=false` is the caller's to heed.
///
/// 1. The plan is there before a file goes.
/// 2. The metadata table learns what went before the clean is completed, in a delta commit of the clean's own time.
/// 3. A partition whose every file is replaced goes with them.
///
/// Tables below version 8 and other policies are left as they are. Errors: `Unsupported` for a metadata table that is not kept
/// here; `LockTimeout`; those of the storage, and then the clean stays pending and the next one goes on.
pub async fn clean(meta: &MetaClient, all: Rollbacks<'_>) -> Result<Vec<Cleaned>> {
    if !is_possible(meta, all) {
        return Ok(Vec::new());
    }
    let index = Indexed::open(meta, all).await?;
    let index = index.as_ref();
    let mut done = Vec::new();
    for pending in meta.timeline.pending(&Action::Clean) {
        done.extend(resume(meta, all, index, pending).await?);
    }
    let meta = MetaClient::load(meta.storage.refreshed()).await?;
    let retained = retained_commits(all.writer);
    if let Some(plan) = plan(&meta, retained, all.base).await? {
        let files = Requested {
            plan: plan.to_bytes()?,
            inflight: Bytes::new(),
        };
        let section = all.writer.lock.section().await?;
        let now = MetaClient::load(meta.storage.refreshed()).await?;
        let pending = request(&now, all.writer, Action::Clean, files).await?;
        section.release().await;
        done.push(carry_out(&meta, all, index, &pending, plan).await?);
    }
    Ok(done)
}

fn is_possible(meta: &MetaClient, all: Rollbacks<'_>) -> bool {
    let options = &all.writer.options;
    let policy = options.get("hoodie.clean.policy");
    let policy = policy.or_else(|| options.get("hoodie.cleaner.policy"));
    meta.config.version().layout() == TimelineLayout::Two
        && policy.is_none_or(|policy| policy.trim() == super::clean_plan::POLICY)
}

/// Goes on with a clean that ended early. One whose plan never landed did nothing, and is removed.
async fn resume(
    meta: &MetaClient,
    all: Rollbacks<'_>,
    index: Option<&Indexed>,
    clean: &Instant,
) -> Result<Option<Cleaned>> {
    let plan: Option<CleanerPlan> = meta.body(clean, State::Requested).await?;
    let Some(plan) = plan else {
        for state in [State::Inflight, State::Requested] {
            if let Some(file) = meta.timeline.file(clean, state) {
                meta.storage.delete(&file.path).await?;
            }
        }
        return Ok(None);
    };
    let pending = Pending {
        time: clean.time.clone(),
        action: Action::Clean,
    };
    if clean.state == State::Requested {
        create_file(meta, &pending, State::Inflight, None, Bytes::new()).await?;
    }
    carry_out(meta, all, index, &pending, plan).await.map(Some)
}

/// The metadata table that a clean tells what went.
struct Indexed {
    writer: MetadataWriter,
    /// The table's columns, which statistics are kept of.
    columns: Schema,
}

impl Indexed {
    /// `None` for a table without one.
    async fn open(meta: &MetaClient, all: Rollbacks<'_>) -> Result<Option<Self>> {
        let Some(writer) = MetadataWriter::open(meta, &all.writer.clock).await? else {
            return Ok(None);
        };
        let avro = table_schema::load(meta, None).await?.avro.ok_or_else(|| {
            Error::unsupported("cleaning a table with a metadata table and without a schema")
        })?;
        let columns = strip_meta_fields(&to_arrow(&parse_avro(&avro)?)?);
        let columns = match meta.config.populate_meta_fields() {
            true => add_meta_fields(&columns),
            false => columns,
        };
        Ok(Some(Self { writer, columns }))
    }

    /// Java tells of all files that were to go, whether they were there or not.
    async fn remove(
        &self,
        clean: &Pending,
        gone: &BTreeMap<String, CleanedPartition>,
    ) -> Result<()> {
        let of = |(partition, cleaned): (&String, &CleanedPartition)| {
            let names: BTreeSet<String> = cleaned.delete_path_patterns.iter().cloned().collect();
            (PartitionPath::new(partition), names)
        };
        let removed = gone.iter().map(of).collect();
        let dropped = gone
            .iter()
            .filter(|(_, cleaned)| cleaned.is_partition_deleted == Some(true));
        let dropped = dropped
            .map(|(partition, _)| PartitionPath::new(partition))
            .collect();
        let change = MetadataChange {
            schema: &self.columns,
            added: &[],
            removed: &removed,
            dropped: &dropped,
        };
        self.writer.commit_again(&clean.time, &change).await
    }
}

/// Deletes the files, tells the metadata table, then completes the clean.
async fn carry_out(
    meta: &MetaClient,
    all: Rollbacks<'_>,
    index: Option<&Indexed>,
    pending: &Pending,
    plan: CleanerPlan,
) -> Result<Cleaned> {
    let began = host::now_millis();
    let mut partitions = BTreeMap::new();
    let mut files_deleted = 0;
    for (partition, files) in &plan.file_paths_to_be_deleted_per_partition {
        let paths = files.iter().filter_map(|file| file.file_path.as_deref());
        let mut names = Vec::new();
        for path in paths {
            // Absolute paths are of whichever engine planned; partition and name say where.
            let name = path.rsplit('/').next().unwrap_or(path);
            let file = PartitionPath::new(partition).file_path(name);
            meta.storage.delete(&file).await.context("path", &file)?;
            names.push(name.to_owned());
        }
        files_deleted += names.len();
        let drop = plan.partitions_to_be_deleted.contains(partition);
        let is_partition_deleted = drop && drop_partition(meta, partition).await?;
        let cleaned = CleanedPartition {
            partition_path: partition.clone(),
            policy: plan.policy.clone(),
            delete_path_patterns: names.clone(),
            success_delete_files: names,
            failed_delete_files: Vec::new(),
            is_partition_deleted: Some(is_partition_deleted),
        };
        partitions.insert(partition.clone(), cleaned);
    }
    let earliest = plan.earliest_instant_to_retain;
    let metadata = CleanMetadata {
        start_clean_time: pending.time.to_string(),
        time_taken_in_millis: host::now_millis() - began,
        total_files_deleted: i64::try_from(files_deleted).unwrap_or(i64::MAX),
        earliest_commit_to_retain: earliest.map_or_else(String::new, |earliest| earliest.timestamp),
        last_completed_commit_timestamp: plan.last_completed_commit_timestamp,
        partition_metadata: partitions,
        version: Some(2),
        bootstrap_partition_metadata: BTreeMap::new(),
        extra_metadata: plan.extra_metadata,
    };
    let section = all.writer.lock.section().await?;
    if let Some(index) = index {
        index.remove(pending, &metadata.partition_metadata).await?;
    }
    let now = MetaClient::load(meta.storage.refreshed()).await?;
    let instant = complete(&now, all.writer, pending, metadata.to_bytes()?).await?;
    section.release().await;
    Ok(Cleaned {
        instant,
        files_deleted,
    })
}

/// Removes what is left of a partition whose files went, and says whether it is gone. Java removes the folder whatever is in it;
/// here a partition that got files since the clean was planned stays.
async fn drop_partition(meta: &MetaClient, partition: &str) -> Result<bool> {
    if partition.is_empty() {
        return Ok(false);
    }
    let left = meta.storage.list_all(partition, None, Cause::Write).await?;
    // Metafiles and checksums go along.
    if left.iter().any(holds_data) {
        return Ok(false);
    }
    for file in left {
        meta.storage.delete(&file.path).await?;
    }
    Ok(true)
}

#[cfg(all(test, not(target_arch = "wasm32")))]
mod tests;
