//! Which of the blocks found in log files count, and in which order.

use std::collections::{BTreeMap, BTreeSet};

use crate::codec::log_format::{BlockKind, Command, LogBlock};
use crate::error::{Error, Result};
use crate::model::InOrder;

/// The blocks of one instant.
struct Group {
    /// Where the first of them lies among the instants.
    place: usize,
    blocks: Vec<LogBlock>,
}

/// See [`FoundBlocks::counting`](super::FoundBlocks::counting). An error comes with the index of its file.
pub(super) fn counting(
    blocks: Vec<LogBlock>,
    visible: &dyn Fn(&str) -> bool,
    changes: bool,
    alone: bool,
) -> Result<Vec<LogBlock>, (usize, Error)> {
    let counts = |kind: BlockKind| match changes {
        true => kind == BlockKind::Cdc,
        false => kind.has_records(),
    };
    let mut groups: BTreeMap<String, Group> = BTreeMap::new();
    for (place, block) in blocks.into_iter().enumerate() {
        let fault = |error: Error| (block.file, error.context("offset", block.offset));
        if block.kind == BlockKind::Command {
            let target = rolled_back(&block).map_err(fault)?;
            groups.remove(target);
        } else if counts(block.kind) {
            let instant = block.instant_time().map_err(fault)?;
            if visible(instant) {
                let group = groups.entry(instant.to_owned());
                let group = group.or_insert_with(|| Group {
                    place,
                    blocks: Vec::new(),
                });
                group.blocks.push(block);
            }
        }
    }
    Ok(in_merge_order(groups, alone))
}

fn rolled_back(command: &LogBlock) -> Result<&str> {
    let Command::Rollback = command.header.command()?;
    let target = command.header.target_instant_time();
    target.ok_or_else(|| Error::corrupt("a rollback in a log file names no target"))
}

/// Walks from the newest instant to the oldest, so that a log compaction is met before what it has merged.
///
/// `alone` takes a log compaction at its own place when nothing that it has merged is there.
fn in_merge_order(mut groups: BTreeMap<String, Group>, alone: bool) -> Vec<LogBlock> {
    let mut order: Vec<(usize, String)> = groups
        .iter()
        .map(|(instant, group)| (group.place, instant.clone()))
        .collect();
    order.in_order();
    // Merged instant to the last log compaction that holds it.
    let mut merged_into: BTreeMap<String, String> = BTreeMap::new();
    let mut taken: BTreeSet<String> = BTreeSet::new();
    let mut newest_first: Vec<Vec<LogBlock>> = Vec::new();
    for (_, instant) in order.into_iter().rev() {
        let into = merged_into.get(&instant).cloned();
        let stitched = groups.get(&instant).and_then(compacted_times);
        if let Some(originals) = stitched {
            let last = into.unwrap_or(instant);
            let mut originals_there = false;
            for original in originals {
                originals_there |= groups.contains_key(&original);
                merged_into.insert(original, last.clone());
            }
            if alone
                && !originals_there
                && taken.insert(last.clone())
                && let Some(group) = groups.remove(&last)
            {
                newest_first.push(group.blocks);
            }
            continue;
        }
        let counted = into.unwrap_or(instant);
        if taken.insert(counted.clone())
            && let Some(group) = groups.remove(&counted)
        {
            newest_first.push(group.blocks);
        }
    }
    newest_first.into_iter().rev().flatten().collect()
}

fn compacted_times(group: &Group) -> Option<Vec<String>> {
    let first = group.blocks.first()?;
    let times = first.header.compacted_block_times()?;
    Some(times.map(str::to_owned).collect())
}

#[cfg(test)]
mod tests;
