//! Names and timeline to file groups and slices.
//!
//! | | table version 6 | 8 and 9 |
//! |---|---|---|
//! | a log's name holds | the base instant of its slice | the instant that wrote it |
//! | a log belongs to | the slice of that instant | the slice of the greatest base instant up to its completion; the newest when its archive does not know that |
//! | of a pending compaction | logs are named after its instant and join the slice before it | nothing shows |
//! | uncommitted rows hide in | blocks, whose headers the reader asks about | files, left out here |

use std::collections::BTreeMap;

use super::PartitionFiles;
use crate::error::{Error, Result};
use crate::model::{
    BaseFile, BaseFileName, FileGroup, FileName, FileSlice, InOrder, InstantTime, LogFile,
    LogFileName, PartitionPath, TableVersion,
};
use crate::storage::ObjectMeta;
use crate::timeline::Timeline;

/// The file groups of all partitions, by partition and file id, with the slices that are visible.
///
/// 1. A file counts when its instant is committed and, for a read as of a time, was requested by then. Names that are
///    no data files do not count.
/// 2. Slices are sorted by base instant and have a base file or logs; logs are in merge order. The order in which files
///    arrive does not matter.
///
/// Errors: `Unsupported` with `path` for a committed log file of a newer table version.
pub fn file_groups(
    partitions: Vec<PartitionFiles>,
    timeline: &Timeline,
    version: TableVersion,
    as_of: Option<&InstantTime>,
) -> Result<Vec<FileGroup>> {
    let visible = Visible { timeline, as_of };
    let mut groups = Vec::new();
    for PartitionFiles { partition, files } in partitions {
        let mut members: BTreeMap<String, Members> = BTreeMap::new();
        for file in files {
            take(file, &visible, version, &mut members)?;
        }
        for (file_id, members) in members {
            let slices = match version {
                TableVersion::Six => members.slices_by_name(&visible),
                TableVersion::Eight | TableVersion::Nine => members.slices_by_completion(timeline),
            };
            let slices: Vec<FileSlice> = slices
                .into_iter()
                .filter_map(|slice| slice.finish(&partition, &file_id))
                .collect();
            if !slices.is_empty() {
                let partition = partition.clone();
                groups.push(FileGroup {
                    partition,
                    file_id,
                    slices,
                });
            }
        }
    }
    groups.in_order_by(|a, b| (&a.partition, &a.file_id).cmp(&(&b.partition, &b.file_id)));
    Ok(groups)
}

struct Visible<'a> {
    timeline: &'a Timeline,
    as_of: Option<&'a InstantTime>,
}

impl Visible<'_> {
    fn in_time(&self, instant: &InstantTime) -> bool {
        self.as_of.is_none_or(|as_of| instant <= as_of)
    }

    fn file_of(&self, instant: &InstantTime) -> bool {
        self.in_time(instant) && self.timeline.is_committed(instant)
    }
}

/// The visible files of one group.
#[derive(Default)]
struct Members {
    bases: Vec<BaseFile>,
    logs: Vec<LogFile>,
}

fn take(
    file: ObjectMeta,
    visible: &Visible<'_>,
    version: TableVersion,
    members: &mut BTreeMap<String, Members>,
) -> Result<()> {
    let ObjectMeta { path, size, .. } = file;
    let name = path
        .rsplit_once('/')
        .map_or(path.as_str(), |(_, name)| name);
    match FileName::parse(name) {
        Some(FileName::Base(name)) if visible.file_of(&name.instant) => {
            let group = members.entry(name.file_id.clone()).or_default();
            group.bases.push(BaseFile { name, path, size });
        }
        Some(FileName::Log(name)) if log_is_visible(&name, visible, version) => {
            let group = members.entry(name.file_id.clone()).or_default();
            group.logs.push(LogFile { name, path, size });
        }
        Some(FileName::NativeLog(name)) if visible.file_of(&name.instant) => {
            let message = "a log file of a table version newer than 9";
            return Err(Error::unsupported(message)
                .context("path", path)
                .context("instant", name.instant));
        }
        _ => {}
    }
    Ok(())
}

/// In version 6 the name holds the slice's base instant, of which nothing more is known here: it may be a pending
/// compaction.
fn log_is_visible(name: &LogFileName, visible: &Visible<'_>, version: TableVersion) -> bool {
    match version {
        TableVersion::Six => visible.in_time(&name.instant),
        TableVersion::Eight | TableVersion::Nine => visible.file_of(&name.instant),
    }
}

/// A slice while it is put together.
struct Slice {
    instant: InstantTime,
    base: Option<BaseFile>,
    logs: Vec<LogFile>,
}

impl Slice {
    /// `None` for a slice that no snapshot can have rows of.
    fn finish(mut self, partition: &PartitionPath, file_id: &str) -> Option<FileSlice> {
        self.logs.in_order_by(|a, b| a.name.cmp(&b.name));
        let slice = FileSlice {
            partition: partition.clone(),
            file_id: file_id.to_owned(),
            instant: self.instant,
            base: self.base,
            logs: self.logs,
        };
        let has_rows = slice.base.is_some() || slice.data_logs().next().is_some();
        has_rows.then_some(slice)
    }
}

impl Members {
    /// One slice a base instant. Of two base files of one instant, which a task that ran twice leaves behind, the one
    /// whose name sorts last counts, as in Hudi, whose listings are sorted.
    fn base_slices(&mut self) -> BTreeMap<InstantTime, Slice> {
        let mut bases = std::mem::take(&mut self.bases);
        bases.in_order_by(|a, b| a.path.cmp(&b.path));
        let slices = bases.into_iter().map(|base| {
            let BaseFileName { instant, .. } = &base.name;
            let slice = Slice {
                instant: instant.clone(),
                base: Some(base.clone()),
                logs: Vec::new(),
            };
            (instant.clone(), slice)
        });
        slices.collect()
    }

    fn slices_by_name(mut self, visible: &Visible<'_>) -> Vec<Slice> {
        let mut slices = self.base_slices();
        for log in self.logs {
            let instant = log.name.instant.clone();
            let slice = slices.entry(instant.clone()).or_insert_with(|| Slice {
                instant,
                base: None,
                logs: Vec::new(),
            });
            slice.logs.push(log);
        }
        let mut merged: Vec<Slice> = Vec::with_capacity(slices.len());
        for slice in slices.into_values() {
            match merged.last_mut() {
                // A compaction that is not completed opened the slice; until then its logs go on with the one before.
                Some(before) if slice.base.is_none() => before.logs.extend(slice.logs),
                Some(_) => merged.push(slice),
                // Logs under an instant that never completed are all there is of the group.
                None if slice.base.is_none() && !visible.file_of(&slice.instant) => {}
                None => merged.push(slice),
            }
        }
        merged
    }

    fn slices_by_completion(mut self, timeline: &Timeline) -> Vec<Slice> {
        let mut slices = self.base_slices();
        let mut before_any: Option<Slice> = None;
        let mut logs = std::mem::take(&mut self.logs);
        logs.in_order_by(|a, b| a.name.cmp(&b.name));
        for log in logs {
            let written = &log.name.instant;
            let slice = match timeline.completion(written) {
                Some(completed) => slices.range_mut(..=completed).next_back(),
                // As in Hudi: whoever asked and heard nothing must not leave the log out.
                None if timeline.has_lost(written) => slices.iter_mut().next_back(),
                // Nobody has asked; it completed soon after.
                None => slices.range_mut(..=written.clone()).next_back(),
            };
            match slice {
                Some((_, slice)) => slice.logs.push(log),
                None => {
                    let slice = before_any.get_or_insert_with(|| Slice {
                        instant: log.name.instant.clone(),
                        base: None,
                        logs: Vec::new(),
                    });
                    slice.logs.push(log);
                }
            }
        }
        before_any.into_iter().chain(slices.into_values()).collect()
    }
}

#[cfg(test)]
mod tests;
