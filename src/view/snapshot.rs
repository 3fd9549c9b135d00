use futures::try_join;

use super::{FileListing, PartitionFiles, PartitionPruner, file_groups};
use crate::error::Result;
use crate::model::{FileSlice, InstantTime, LogFileName, TableVersion};
use crate::timeline::{MetaClient, ReplacedFileGroups, Timeline};

/// What a snapshot shows.
#[derive(Debug, Clone, Copy, Default)]
pub struct SnapshotOptions<'a> {
    /// The requested time of the last instant to see; `None` for the latest state. Whether the timeline still reaches
    /// back so far is asked elsewhere.
    pub as_of: Option<&'a InstantTime>,
    /// Base files alone: logs are left out, and groups that have no base file.
    pub read_optimized: bool,
}

/// The newest slice of each file group in the partitions that `pruner` keeps, and in others whose files are known anyway, by
/// partition and file id.
///
/// A group that a completed replacecommit replaced is left out, but for a read as of an earlier time.
///
/// Errors: those of the listing, of the replacecommits' bodies, and of [`file_groups()`].
pub async fn snapshot(
    meta: &MetaClient,
    listing: &dyn FileListing,
    pruner: &PartitionPruner,
    options: SnapshotOptions<'_>,
) -> Result<Vec<FileSlice>> {
    let (files, replaced) = try_join!(listing.load(pruner), meta.replaced_file_groups())?;
    let version = meta.config.version();
    if version != TableVersion::Six && !options.read_optimized {
        let kept = files.iter().filter(|of| pruner.keeps(&of.partition));
        meta.learn_archived(writers_of_logs(kept)).await?;
    }
    latest_slices(files, &meta.timeline, &replaced, version, options)
}

/// The instants that wrote log files, as their names say from version 8 on.
fn writers_of_logs<'a>(files: impl Iterator<Item = &'a PartitionFiles>) -> Vec<InstantTime> {
    let files = files.flat_map(|partition| &partition.files);
    let names = files.filter_map(|file| LogFileName::parse(file.path.rsplit('/').next()?));
    names.map(|name| name.instant).collect()
}

/// As [`snapshot()`], of files that are listed.
pub fn latest_slices(
    partitions: Vec<PartitionFiles>,
    timeline: &Timeline,
    replaced: &ReplacedFileGroups,
    version: TableVersion,
    options: SnapshotOptions<'_>,
) -> Result<Vec<FileSlice>> {
    let SnapshotOptions {
        as_of,
        read_optimized,
    } = options;
    let mut groups = file_groups(partitions, timeline, version, as_of)?;
    groups.retain(|group| !replaced.hides(&group.partition, &group.file_id, as_of));
    let newest = groups.into_iter().filter_map(|group| {
        let mut slices = group.slices.into_iter().rev();
        if !read_optimized {
            return slices.next();
        }
        slices
            .find(|slice| slice.base.is_some())
            .map(|slice| FileSlice {
                logs: Vec::new(),
                ..slice
            })
    });
    Ok(newest.collect())
}

#[cfg(test)]
mod tests;
