//! The blocks of a slice's log files, found by their frames.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use futures::stream::{self, Stream, StreamExt, TryStreamExt};

use super::log_rules;
use crate::codec::log_format::{LogBlock, LogScanner, Step};
use crate::error::{Error, Result, ResultExt};
use crate::model::{InOrder, LogFile};
use crate::storage::{Cause, Storage};

/// Log files read at once; the storage holds its own bound on requests.
const PARALLEL: usize = 8;

/// A log file up to this size is fetched whole, by one request.
const WHOLE: u64 = 4 << 20;

/// Bytes of whole log files that one scan may hold.
const HELD: u64 = 16 << 20;

/// Of a larger file its begin and its end come first, which for most is all that frames need.
const EDGE: u64 = 64 << 10;

/// Contents fetched ahead of the one that is decoded, in bytes and in number.
const AHEAD_BYTES: u64 = 8 << 20;
const AHEAD: usize = 6;

/// How log files are scanned.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ScanOptions {
    /// A damaged span is an error; otherwise it is passed over, counted and warned of.
    pub strict: bool,
    /// The change logs (`.cdc`) are read, and not the data logs.
    pub changes: bool,
    /// Only some of a slice's log files are there: a log compaction counts without the blocks that it has merged.
    pub alone: bool,
}

/// Knows which instants' blocks may be seen, once it has asked about them.
#[async_trait]
pub trait VisibleInstants: Send + Sync {
    /// Finds out whatever takes asking before it can tell of these instants.
    async fn learn(&self, instants: &[&str]) -> Result<()>;

    /// Whether blocks of an instant may be seen.
    fn sees(&self, instant: &str) -> bool;
}

/// The blocks of log files that count, in the order in which they are merged.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LogScan {
    /// Data and delete blocks, oldest first; change blocks when those were asked for.
    pub blocks: Vec<LogBlock>,
    /// Damaged spans that were passed over.
    pub damaged: u64,
}

/// Every block of log files, before it is asked which count.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FoundBlocks {
    blocks: Vec<LogBlock>,
    damaged: u64,
    changes: bool,
    alone: bool,
    paths: Vec<Arc<str>>,
}

/// The blocks of a slice's logs that count, in merge order: what [`find_blocks`] finds, by [`FoundBlocks::counting`].
///
/// `visible` says whether blocks of an instant may be seen. `logs` may be in any order; [`LogBlock::file`] is the index in it.
pub async fn scan_logs(
    storage: &Storage,
    logs: &[LogFile],
    visible: &(dyn Fn(&str) -> bool + Send + Sync),
    options: ScanOptions,
) -> Result<LogScan> {
    find_blocks(storage, logs, options).await?.counting(visible)
}

/// As [`scan_logs`], where it takes asking whether blocks of an instant may be seen.
pub async fn scan_visible_logs(
    storage: &Storage,
    logs: &[LogFile],
    visible: &dyn VisibleInstants,
    options: ScanOptions,
) -> Result<LogScan> {
    let found = find_blocks(storage, logs, options).await?;
    let instants: Vec<&str> = found.instants().into_iter().collect();
    visible.learn(&instants).await?;
    found.counting(&|instant| visible.sees(instant))
}

/// Reads the frames of all log files, several files at once.
///
/// 1. Small files cost one request, others that for their edges and for the frames between; contents of large blocks are
///    not fetched. Empty files cost nothing.
/// 2. A damaged span is passed over, counted in `metrics.corruptLogBlocks` and named in `metrics.warnings`; or it is
///    `Corrupt`, with `path` and `offset`, when `options.strict`.
/// 3. What is fetched and held is bounded by the sizes in `logs`.
///
/// Errors: `Corrupt` for a file that is no log file, or so damaged that looking for blocks has no end; `Unsupported` for
/// frames of a later version; those of the storage.
pub async fn find_blocks(
    storage: &Storage,
    logs: &[LogFile],
    options: ScanOptions,
) -> Result<FoundBlocks> {
    let wanted = logs.iter().enumerate();
    let mut wanted: Vec<_> = wanted
        .filter(|(_, log)| log.name.cdc == options.changes)
        .collect();
    wanted.in_order_by(|(_, a), (_, b)| a.name.cmp(&b.name));
    let mut held = 0u64;
    let mut scans = Vec::with_capacity(wanted.len());
    for (file, log) in wanted {
        let with = held.saturating_add(log.size);
        let whole = log.size <= WHOLE && with <= HELD;
        held = if whole { with } else { held };
        scans.push(scan_file(
            storage.clone(),
            file,
            log.clone(),
            whole,
            options.strict,
        ));
    }
    let scans: Vec<(Vec<LogBlock>, u64)> =
        stream::iter(scans).buffered(PARALLEL).try_collect().await?;
    let mut found = FoundBlocks {
        changes: options.changes,
        alone: options.alone,
        paths: logs.iter().map(|log| log.path.as_str().into()).collect(),
        ..FoundBlocks::default()
    };
    for (blocks, damaged) in scans {
        found.blocks.extend(blocks);
        found.damaged += damaged;
    }
    Ok(found)
}

impl FoundBlocks {
    /// The instants that the answer of [`counting`](Self::counting) depends on.
    pub fn instants(&self) -> BTreeSet<&str> {
        let instants = self.blocks.iter();
        instants
            .filter_map(|block| block.header.instant_time())
            .collect()
    }

    /// Whether a block holds only the columns that it sets.
    pub fn has_partial_updates(&self) -> bool {
        self.blocks.iter().any(|block| block.header.is_partial())
    }

    /// The blocks that count, in merge order.
    ///
    /// 1. Blocks of an instant that is not visible do not count. Commands act whoever gave them.
    /// 2. A rollback takes away all blocks of its target that lie before it, and none behind it.
    /// 3. Blocks of one instant stay together, where the first of them lies.
    /// 4. Blocks that a log compaction has merged do not count; its own take the place of the newest of them, also
    ///    through several such compactions, and count only when one of them is there.
    /// 5. Change blocks count only when they were asked for, and then alone.
    ///
    /// Errors: `Corrupt` for a block that names no instant, `Unsupported` for an unknown command; with `path` and `offset`.
    pub fn counting(self, visible: &(dyn Fn(&str) -> bool + Send + Sync)) -> Result<LogScan> {
        let paths = self.paths;
        let locate = |file: usize, error: Error| match paths.get(file) {
            Some(path) => error.context("path", path),
            None => error,
        };
        let blocks = log_rules::counting(self.blocks, visible, self.changes, self.alone)
            .map_err(|(file, error)| locate(file, error))?;
        Ok(LogScan {
            blocks,
            damaged: self.damaged,
        })
    }
}

/// The content of a block; asks for nothing when it came with the block's frame.
pub async fn block_content(storage: &Storage, logs: &[LogFile], block: &LogBlock) -> Result<Bytes> {
    if let Some(bytes) = &block.fetched {
        return Ok(bytes.clone());
    }
    let log = logs
        .get(block.file)
        .ok_or_else(|| Error::internal("a log block of a file that is not in the list"))?;
    fetch(storage, log, block.content.clone()).await
}

/// The contents of blocks, in order, fetched ahead within a bound.
pub fn block_contents<'a>(
    storage: &'a Storage,
    logs: &'a [LogFile],
    blocks: &'a [LogBlock],
) -> impl Stream<Item = Result<Bytes>> + Send + 'a {
    let largest = blocks.iter().map(LogBlock::content_len).max().unwrap_or(0);
    let ahead = AHEAD_BYTES.checked_div(largest).unwrap_or(AHEAD_BYTES);
    let ahead = usize::try_from(ahead).unwrap_or(AHEAD).clamp(1, AHEAD);
    stream::iter(blocks)
        .map(move |block| block_content(storage, logs, block))
        .buffered(ahead)
}

async fn fetch(storage: &Storage, log: &LogFile, range: Range<u64>) -> Result<Bytes> {
    let mut got = storage
        .get_ranges(&log.path, log.size, &[range], Cause::Log)
        .await?;
    Ok(got.pop().unwrap_or_default())
}

async fn scan_file(
    storage: Storage,
    file: usize,
    log: LogFile,
    whole: bool,
    strict: bool,
) -> Result<(Vec<LogBlock>, u64)> {
    let mut scanner = LogScanner::new(file, log.size);
    let mut asked = feed_edges(&storage, &mut scanner, &log, whole).await?;
    let (mut blocks, mut damaged) = (Vec::new(), 0);
    loop {
        match scanner.step().context("path", &log.path)? {
            Step::Done => break,
            Step::Need(range) => {
                asked += range.end - range.start;
                // Frames ask for a part of the file; only markers without blocks make them ask again and again.
                if asked > log.size.saturating_mul(2).saturating_add(WHOLE) {
                    let message = "a log file has too many damaged spans";
                    return Err(Error::corrupt(message).context("path", &log.path));
                }
                let start = range.start;
                scanner.feed(start, fetch(&storage, &log, range).await?);
            }
            Step::Block(mut block) => {
                block.fetched = block.fetched.take().filter(|_| whole);
                blocks.push(*block);
            }
            Step::Damaged(span) => {
                damaged += 1;
                note_damage(&storage, &log, &span, strict)?;
            }
        }
    }
    if damaged > 0 {
        // Should the bytes have been broken on their way, the next read gets them anew.
        storage.forget(&log.path);
    }
    Ok((blocks, damaged))
}

/// The first bytes of a file: all of them, or its edges. Says how many.
async fn feed_edges(
    storage: &Storage,
    scanner: &mut LogScanner,
    log: &LogFile,
    whole: bool,
) -> Result<u64> {
    let size = log.size;
    let ranges = match whole || size <= 2 * EDGE {
        true => vec![0..size],
        false => vec![0..EDGE, size - EDGE..size],
    };
    let got = storage
        .get_ranges(&log.path, size, &ranges, Cause::Log)
        .await?;
    let mut asked = 0;
    for (range, bytes) in ranges.into_iter().zip(got) {
        asked += range.end - range.start;
        scanner.feed(range.start, bytes);
    }
    Ok(asked)
}

fn note_damage(storage: &Storage, log: &LogFile, span: &Range<u64>, strict: bool) -> Result<()> {
    if strict {
        storage.forget(&log.path);
        return Err(Error::corrupt("a damaged span in a log file")
            .context("path", &log.path)
            .context("offset", span.start)
            .context("end", span.end)
            .context(
                "hint",
                "without strictLogs it is passed over, with a warning",
            ));
    }
    storage.metrics().add_corrupt_log_blocks(1);
    let message = format!(
        "a damaged span of a log file was passed over, bytes {} to {}",
        span.start, span.end
    );
    storage.warn(&message, Some(&log.path));
    Ok(())
}

#[cfg(all(test, not(target_arch = "wasm32")))]
mod tests;
