//! Incremental reads: the latest state, as of a range's end, of the rows that changed within the range.

use std::collections::BTreeSet;
use std::sync::Arc;

use futures::stream::{self, StreamExt, TryStreamExt};

use crate::config::RawFilter;
use crate::error::{Error, ErrorKind, Result};
use crate::model::meta_field::COMMIT_TIME;
use crate::model::{FileSlice, Instant, InstantTime, TableVersion};
use crate::read::{Bound, Merging, SliceTask, Slices, snapshot_slices};
use crate::slice::{ScanOptions, find_blocks};
use crate::timeline::{ChangeRange, MetaClient, settled_time};
use crate::view::{ChangedFiles, FileListing, PartitionPruner};

/// The slices of a range.
#[derive(Clone)]
pub struct ChangedSlices {
    /// Read whole.
    whole: Vec<FileSlice>,
    /// The table as it stood when the range ended, or as it stands now where the newest snapshot is read.
    then: MetaClient,
    /// Of the files that the range's instants wrote, and nothing else.
    written: Vec<FileSlice>,
    /// Those instants, whose log blocks alone count.
    members: Arc<BTreeSet<InstantTime>>,
    pruned: Vec<FileSlice>,
}

impl ChangedSlices {
    /// Slices that are read whole.
    fn whole(then: &MetaClient, slices: Slices) -> Self {
        Self {
            whole: slices.kept,
            then: then.clone(),
            written: Vec::new(),
            members: Arc::default(),
            pruned: slices.pruned,
        }
    }

    /// All of them.
    pub fn slices(&self) -> Slices {
        Slices {
            kept: self.whole.iter().chain(&self.written).cloned().collect(),
            pruned: self.pruned.clone(),
            ..Slices::default()
        }
    }

    /// What to read of them.
    pub fn tasks(&self, bound: &Bound, strict: bool) -> Result<Vec<SliceTask>> {
        let whole = Merging {
            meta: &self.then,
            as_of: None,
            members: None,
            strict,
        };
        let written = Merging {
            members: Some(Arc::clone(&self.members)),
            ..whole.clone()
        };
        let mut tasks = bound.tasks(&self.whole, &whole)?;
        tasks.extend(bound.tasks(&self.written, &written)?);
        Ok(tasks)
    }
}

/// Slices whose log files are looked into at once; the storage holds its own bound on requests.
const PARALLEL: usize = 16;

/// What a range of time holds: the instants, and how their rows are told.
///
/// 1. Membership decides, not order: a row counts when the instant that wrote it last is among these, whatever the
///    request times around it.
/// 2. Clustering and compaction keep the commit times of rows, so they bring none of their own.
/// 3. Rows are those as of the range's end. Where a file that holds them is cleaned, the read fails.
#[derive(Debug, Clone)]
pub struct Changed {
    range: ChangeRange,
    /// Completed writes of the active timeline, by request time.
    instants: Vec<Instant>,
    archived: Archived,
    /// Whether the range goes as far as the handle sees.
    reaches_now: bool,
    /// Read the newest snapshot where files are cleaned, as Spark does by default: rows that changed again after the
    /// range are missing then.
    fallback: bool,
}

/// The archived writes within a range.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Archived {
    None,
    /// By request time.
    Instants(Vec<InstantTime>),
    /// Some may be: the archive of version 6 is not opened, since request times alone decide there.
    ByTime,
}

impl Changed {
    /// Finds the instants of a range. Archived ones are looked for only where the range may reach them.
    ///
    /// Errors: those of reading the archived timeline.
    pub async fn find(meta: &MetaClient, range: ChangeRange, fallback: bool) -> Result<Self> {
        let timeline = &meta.timeline;
        let mut changed = Self {
            instants: timeline.completed_in(&range).cloned().collect(),
            archived: Archived::None,
            reaches_now: timeline.is_reached_by(&range),
            fallback,
            range,
        };
        if !changed.is_everything() {
            changed.archived = changed.find_archived(meta).await?;
        }
        Ok(changed)
    }

    async fn find_archived(&self, meta: &MetaClient) -> Result<Archived> {
        let start = self.range.start.as_ref();
        if meta.config.version() == TableVersion::Six {
            let first = meta.timeline.start();
            let may = first.is_some_and(|first| start.is_none_or(|start| start < first));
            return Ok(match may && meta.has_archive().await? {
                true => Archived::ByTime,
                false => Archived::None,
            });
        }
        let archived = meta.archived_writes(start).await?;
        let within = archived.into_iter();
        let within = within.filter(|instant| self.range.contains(settled_time(instant)));
        let times: Vec<InstantTime> = within.map(|instant| instant.time).collect();
        Ok(match times.is_empty() {
            true => Archived::None,
            false => Archived::Instants(times),
        })
    }

    /// Whether no instant completed within the range.
    pub fn is_empty(&self) -> bool {
        self.instants.is_empty() && self.archived == Archived::None && !self.is_everything()
    }

    /// The request time of the last instant of the active timeline.
    pub fn last(&self) -> Option<&InstantTime> {
        self.instants.last().map(|instant| &instant.time)
    }

    /// Whether every row of the newest snapshot is asked for.
    fn is_everything(&self) -> bool {
        self.range.start.is_none() && self.reaches_now
    }

    /// What rows must pass besides the caller's filters. It reads the commit time before the columns that it may spare.
    pub fn row_filters(&self) -> Vec<RawFilter> {
        let filter = |operator: &str, values: Vec<String>| RawFilter {
            field: COMMIT_TIME.to_owned(),
            operator: operator.to_owned(),
            values,
        };
        if self.is_everything() {
            return Vec::new();
        }
        let archived = match &self.archived {
            Archived::None => &[],
            Archived::Instants(times) => times.as_slice(),
            Archived::ByTime => {
                let bound = |operator, time: &Option<InstantTime>| {
                    let time = time.as_ref()?;
                    Some(filter(operator, vec![time.to_string()]))
                };
                let bounds = [bound(">", &self.range.start), bound("<=", &self.range.end)];
                return bounds.into_iter().flatten().collect();
            }
        };
        let active = self.instants.iter().map(|instant| &instant.time);
        let times: Vec<String> = archived
            .iter()
            .chain(active)
            .map(ToString::to_string)
            .collect();
        match times.is_empty() {
            true => Vec::new(),
            false => vec![filter("IN", times)],
        }
    }

    /// The slices that hold the rows.
    ///
    /// Errors: those of listing and of commits, and `InstantExpired` when archived instants are asked for up to a time as
    /// of which the files are not all kept.
    pub async fn slices(
        &self,
        meta: &MetaClient,
        listing: &dyn FileListing,
        pruner: &PartitionPruner,
        all: bool,
    ) -> Result<ChangedSlices> {
        let newest = async || {
            let slices = snapshot_slices(meta, listing, pruner, None, false, all).await?;
            Ok(ChangedSlices::whole(meta, slices))
        };
        if self.is_empty() {
            return Ok(ChangedSlices::whole(meta, Slices::default()));
        }
        if self.is_everything() {
            return newest().await;
        }
        if self.archived != Archived::None {
            return match self.reaches_now || self.fallback {
                true => newest().await,
                false => self.slices_at_end(meta, listing, pruner, all).await,
            };
        }
        let files = ChangedFiles::load(meta, &self.instants).await?;
        if self.fallback && is_gone(listing, pruner, &files).await? {
            return newest().await;
        }
        let slices = files.slices(meta)?.into_iter();
        let (kept, pruned): (Vec<_>, Vec<_>) =
            slices.partition(|slice| pruner.keeps(&slice.partition));
        let (partial, written) = with_partial_updates(meta, kept).await?;
        let then = self.then(meta);
        let whole = match partial.is_empty() {
            true => Vec::new(),
            false => self.completed(&then, listing, pruner, partial).await?,
        };
        let members = self.instants.iter().map(|instant| instant.time.clone());
        Ok(ChangedSlices {
            whole,
            then,
            written,
            members: Arc::new(members.collect()),
            pruned,
        })
    }

    /// The table as it stood when the range ended.
    fn then(&self, meta: &MetaClient) -> MetaClient {
        MetaClient {
            timeline: Arc::new(meta.timeline.at_end_of(&self.range)),
            ..meta.clone()
        }
    }

    /// The whole slices, as of the range's end, of those that hold updates of some columns: the other columns of their
    /// rows lie outside of the range.
    async fn completed(
        &self,
        then: &MetaClient,
        listing: &dyn FileListing,
        pruner: &PartitionPruner,
        partial: Vec<FileSlice>,
    ) -> Result<Vec<FileSlice>> {
        if let Some(last) = self.last().filter(|_| !self.reaches_now) {
            then.check_retained(last).await?;
        }
        let wanted = partial
            .into_iter()
            .map(|slice| (slice.partition, slice.file_id));
        let wanted: BTreeSet<_> = wanted.collect();
        let all = snapshot_slices(then, listing, pruner, None, false, false).await?;
        let mut whole = all.kept;
        whole.retain(|slice| wanted.contains(&(slice.partition.clone(), slice.file_id.clone())));
        match whole.len() == wanted.len() {
            true => Ok(whole),
            false => Err(self.expired("the files under updates of some columns are cleaned")),
        }
    }

    /// The slices of the snapshot as it stood when the range ended.
    async fn slices_at_end(
        &self,
        meta: &MetaClient,
        listing: &dyn FileListing,
        pruner: &PartitionPruner,
        all: bool,
    ) -> Result<ChangedSlices> {
        let Some(last) = self.last() else {
            return Err(self.expired("every instant of the range is archived"));
        };
        meta.check_retained(last).await?;
        let then = self.then(meta);
        let slices = snapshot_slices(&then, listing, pruner, None, false, all).await?;
        Ok(ChangedSlices::whole(&then, slices))
    }

    fn expired(&self, message: &str) -> Error {
        let mut error = Error::instant_expired(message);
        if let Some(start) = &self.range.start {
            error = error.context("start", start);
        }
        if let Some(end) = &self.range.end {
            error = error.context("end", end);
        }
        error.context("hint", "leave the end out to read up to now")
    }

    /// What an error of reading the slices means: a file that its commit names and that is gone was cleaned.
    pub fn explain(&self, error: Error) -> Error {
        if error.kind() != ErrorKind::NotFound {
            return error;
        }
        let mut expired = self.expired("a file that holds rows of the range is cleaned");
        if let Some(path) = error.get("path").map(str::to_owned) {
            expired = expired.context("path", path);
        }
        expired.with_source(error)
    }
}

/// Slices that may hold rows with some of their columns alone, and the others. Where the base file is at hand every row is
/// whole.
async fn with_partial_updates(
    meta: &MetaClient,
    slices: Vec<FileSlice>,
) -> Result<(Vec<FileSlice>, Vec<FileSlice>)> {
    let found = slices.into_iter().map(|slice| async move {
        let partial = match slice.base {
            Some(_) => false,
            None => {
                let found = find_blocks(&meta.storage, &slice.logs, ScanOptions::default());
                found.await?.has_partial_updates()
            }
        };
        Ok::<_, Error>((partial, slice))
    });
    let found: Vec<(bool, FileSlice)> =
        stream::iter(found).buffered(PARALLEL).try_collect().await?;
    let (partial, others): (Vec<_>, Vec<_>) = found.into_iter().partition(|(partial, _)| *partial);
    let slices = |list: Vec<(bool, FileSlice)>| list.into_iter().map(|(_, slice)| slice).collect();
    Ok((slices(partial), slices(others)))
}

/// Whether a listing lacks one of the files.
async fn is_gone(
    listing: &dyn FileListing,
    pruner: &PartitionPruner,
    files: &ChangedFiles,
) -> Result<bool> {
    let listed = listing.load(pruner).await?;
    let there: BTreeSet<&str> = listed
        .iter()
        .flat_map(|partition| &partition.files)
        .map(|file| file.path.as_str())
        .collect();
    let wanted = files.partitions().iter();
    let wanted = wanted.filter(|partition| pruner.keeps(&partition.partition));
    let mut wanted = wanted.flat_map(|partition| &partition.files);
    Ok(wanted.any(|file| !there.contains(file.path.as_str())))
}

/// Refuses tables whose rows do not say when they were written.
///
/// Errors: `Unsupported`, as Spark refuses it.
pub fn check_commit_times(meta: &MetaClient) -> Result<()> {
    match meta.config.populate_meta_fields() {
        true => Ok(()),
        false => Err(Error::unsupported(
            "incremental queries need the meta fields, which this table does not have",
        )
        .context("property", "hoodie.populate.meta.fields")),
    }
}
