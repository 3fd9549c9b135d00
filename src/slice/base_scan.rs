//! One open file being read, row group by row group.

mod filters;

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

use arrow::array::RecordBatch;

use super::base_bounds::{GroupBounds, bounded_leaves, select_rows};
use super::base_file::OpenFile;
use super::base_request::BaseRequest;
use super::base_shape::{Filtering, Shape};
use crate::codec::parquet::{
    Columns, GroupReader, GroupRequest, PendingIndex, RowSelection, Step, first_ranges,
};
use crate::error::Result;

/// Rows of a batch when the file need not be asked for any column.
const ROWS_WITHOUT_COLUMNS: u64 = 64 << 10;

/// Filters are decided first, in a round of their own, when so many bytes of other columns may then be left out. Fewer bytes
/// take no longer than the round.
const WORTH_A_ROUND: u64 = 2 << 20;

/// A page index that did not come with the footer is fetched when it is this much smaller than the columns.
const INDEX_SHARE: u64 = 16;

/// Requests and bytes that a read takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Estimate {
    /// Requests for footers and columns.
    pub requests: u64,
    /// Bytes of their bodies.
    pub bytes: u64,
}

/// A row group, or rows of one that would not fit in memory as a whole.
struct Piece {
    group: usize,
    rows: Option<Range<usize>>,
}

/// The state of reading one file.
pub(super) struct Scan {
    file: OpenFile,
    request: BaseRequest,
    shape: Shape,
    filtering: Filtering,
    /// Row groups to come, or parts of them.
    groups: VecDeque<Piece>,
    /// The row group being decoded.
    group: Option<GroupReader>,
    /// Bytes fetched for it.
    held: u64,
    /// Rows of a row group that need no column, still to be given.
    bare_rows: u64,
    /// What is left of a batch larger than may be given at once.
    rest: Option<RecordBatch>,
    batch_rows: usize,
    limit: u64,
}

impl Scan {
    /// Plans which row groups to read, by the footer alone.
    pub(super) fn new(file: OpenFile, request: &BaseRequest) -> Result<Self> {
        let footer = &file.footer;
        let shape = Shape::new(footer, request, request.output_schema()?)?;
        let filtering = Filtering::new(footer, request)?;
        let all = 0..footer.metadata().num_row_groups();
        let groups: VecDeque<usize> = match filtering {
            Filtering::Nothing => VecDeque::new(),
            Filtering::All => all.clone().collect(),
            Filtering::Rows(..) => {
                let may_match = |group: &usize| {
                    let group = *group;
                    let bounds = GroupBounds {
                        footer,
                        request,
                        group,
                    };
                    request.predicate.may_match(&bounds)
                };
                all.clone().filter(may_match).collect()
            }
        };
        let pruned = all.len() - groups.len();
        let whole = |group| Piece { group, rows: None };
        let groups = groups.into_iter().map(whole).collect();
        file.storage.metrics().add_row_groups_pruned(pruned as u64);
        Ok(Self {
            shape,
            filtering,
            groups,
            group: None,
            held: 0,
            bare_rows: 0,
            rest: None,
            batch_rows: request.batch_rows.unwrap_or(usize::MAX).max(1),
            limit: request.limit.unwrap_or(u64::MAX),
            request: request.clone(),
            file,
        })
    }

    /// The file's path, relative to the table.
    pub(super) fn path(&self) -> &str {
        &self.file.path
    }

    /// The bytes that the first row group to be read takes, at most.
    pub(super) fn first_bytes(&self) -> u64 {
        let group = self.groups.front();
        group.map_or(0, |piece| self.all_bytes(piece.group))
    }

    /// Bytes of a row group: of the filter's columns, and of those read besides.
    fn group_bytes(&self, group: usize) -> (u64, u64) {
        let footer = &self.file.footer;
        let (other, filter) = match &self.filtering {
            Filtering::Rows(filter, _) => {
                let other = self.shape.columns.without(footer, filter);
                (other.bytes(footer, group).0, filter.bytes(footer, group).0)
            }
            _ => (self.shape.columns.bytes(footer, group).0, 0),
        };
        (filter, other)
    }

    fn all_bytes(&self, group: usize) -> u64 {
        let (filter, other) = self.group_bytes(group);
        filter.saturating_add(other)
    }

    /// Whether a row group's columns would not fit in the memory of a call.
    fn too_large(&self, group: usize) -> bool {
        let limit = self.file.storage.memory_limit();
        limit.is_some_and(|limit| self.all_bytes(group) > limit)
    }

    /// Puts parts of a row group that is too large in its place, where the page index says which pages a part takes.
    fn split(&mut self, group: usize) -> bool {
        let Some(limit) = self.file.storage.memory_limit() else {
            return false;
        };
        let rows = usize::try_from(self.file.footer.group_rows(group)).unwrap_or(0);
        if !self.too_large(group) || !self.file.footer.has_places(group) || rows == 0 {
            return false;
        }
        // Pages at the edges, and dictionaries, are in two parts: half of the memory is left for them.
        let parts = self.all_bytes(group).div_ceil((limit / 2).max(1));
        let step = rows.div_ceil(usize::try_from(parts).unwrap_or(rows).clamp(1, rows));
        for from in (0..rows).step_by(step).rev() {
            let rows = Some(from..rows.min(from + step));
            self.groups.push_front(Piece { group, rows });
        }
        true
    }

    /// What reading the file takes, when no page is spared: the footer's requests and the column chunks that did not come
    /// with it.
    pub(super) fn estimate(&self) -> Estimate {
        let size = self.file.footer.size();
        let first = first_ranges(size);
        let footer: u64 = first.iter().map(|range| range.end - range.start).sum();
        let columns: u64 = match footer == size {
            true => 0,
            false => self
                .groups
                .iter()
                .map(|piece| self.all_bytes(piece.group))
                .sum(),
        };
        let more = columns.div_ceil(self.file.storage.max_request());
        Estimate {
            requests: first.len() as u64 + more,
            bytes: footer + columns,
        }
    }

    /// Loads the page index when it can spare bytes: when it came with the footer, or is small beside the columns.
    pub(super) async fn find_pages(&mut self) -> Result<()> {
        let footer = &self.file.footer;
        let groups: Vec<usize> = self.groups.iter().map(|piece| piece.group).collect();
        let too_large = groups.iter().any(|group| self.too_large(*group));
        let rows: u64 = groups.iter().map(|group| footer.group_rows(*group)).sum();
        let (filter, bounds) = match &self.filtering {
            Filtering::Rows(columns, _) => (Some(columns), bounded_leaves(footer, &self.request)),
            _ => (None, Vec::new()),
        };
        if groups.is_empty() || (filter.is_none() && self.limit >= rows && !too_large) {
            return Ok(());
        }
        let columns: Vec<&Columns> = filter.into_iter().chain([&self.shape.columns]).collect();
        let pending = PendingIndex::new(footer, &groups, &bounds, &columns)?;
        let Some(pending) = pending else {
            return Ok(());
        };
        let range = pending.range();
        let bytes: u64 = groups.iter().map(|group| self.all_bytes(*group)).sum();
        let length = range.end - range.start;
        let worth = bytes >= WORTH_A_ROUND && length <= bytes / INDEX_SHARE;
        if !worth && !too_large && !self.file.has(&range) {
            return Ok(());
        }
        let bytes = self.file.bytes(&[range]).await?.pop().unwrap_or_default();
        match pending.read(&self.file.footer, bytes) {
            Ok(footer) => self.file.footer = Arc::new(footer),
            Err(error) => {
                let storage = &self.file.storage;
                storage.warn(
                    &format!("the page index is not used: {error}"),
                    Some(&self.file.path),
                );
            }
        }
        Ok(())
    }

    /// The next rows.
    pub(super) async fn next(&mut self) -> Result<Option<RecordBatch>> {
        while self.limit > 0 {
            if let Some(batch) = self.rest.take() {
                return Ok(Some(self.cut(batch)));
            }
            let decoded = self.decode().await;
            self.rest = self.file.storage.checked(&self.file.path, decoded)?;
            if self.rest.is_none() && !self.open_group().await? {
                break;
            }
        }
        Ok(None)
    }

    /// The front of a batch, as long as asked for; what is left of it comes next.
    fn cut(&mut self, batch: RecordBatch) -> RecordBatch {
        let left = usize::try_from(self.limit).unwrap_or(usize::MAX);
        let rows = batch.num_rows().min(self.batch_rows).min(left);
        self.limit -= rows as u64;
        if rows == batch.num_rows() {
            return batch;
        }
        self.rest = Some(batch.slice(rows, batch.num_rows() - rows));
        batch.slice(0, rows)
    }

    /// The next batch of the open row group, never empty.
    async fn decode(&mut self) -> Result<Option<RecordBatch>> {
        if self.bare_rows > 0 {
            let rows = self.bare_rows.min(ROWS_WITHOUT_COLUMNS);
            self.bare_rows -= rows;
            let rows = usize::try_from(rows).unwrap_or(0);
            return self.shape.without_file(rows).map(Some);
        }
        while let Some(group) = &mut self.group {
            match group.step()? {
                Step::Batch(batch) if batch.num_rows() == 0 => {}
                Step::Batch(batch) => return self.shape.apply(&batch).map(Some),
                Step::Need(ranges) => {
                    self.held = within_memory(&self.file, self.held, &ranges)?;
                    let bytes = self.file.bytes(&ranges).await?;
                    group.push(ranges, bytes)?;
                }
                Step::Done => self.group = None,
            }
        }
        Ok(None)
    }

    /// Opens the next row group that may have rows and fetches its columns; false when there is none.
    pub(super) async fn open_group(&mut self) -> Result<bool> {
        while let Some(Piece { group, rows: part }) = self.groups.pop_front() {
            if part.is_none() && self.split(group) {
                continue;
            }
            let filter = match &self.filtering {
                Filtering::Rows(columns, filter) => Some((columns.clone(), Arc::clone(filter))),
                _ => None,
            };
            let rows = self.file.footer.group_rows(group);
            if filter.is_none() && self.shape.columns.is_empty() {
                self.bare_rows = rows;
                return Ok(true);
            }
            let selected = filter
                .as_ref()
                .and_then(|_| select_rows(&self.file.footer, &self.request, group));
            let selection = match part {
                None => selected,
                Some(part) => {
                    let all = usize::try_from(rows).unwrap_or(usize::MAX);
                    let part = RowSelection::from_consecutive_ranges(std::iter::once(part), all);
                    Some(selected.map_or(part.clone(), |rows| rows.intersection(&part)))
                }
            };
            let metrics = self.file.storage.metrics();
            let scanned = selection
                .as_ref()
                .map_or(rows, |kept| kept.row_count() as u64);
            if scanned == 0 {
                metrics.add_row_groups_pruned(1);
                continue;
            }
            metrics.add_rows_scanned(scanned);
            let two_rounds = filter.is_some() && self.group_bytes(group).1 >= WORTH_A_ROUND;
            let request = GroupRequest {
                group,
                columns: self.shape.columns.clone(),
                filter,
                selection,
                limit: usize::try_from(self.limit)
                    .ok()
                    .filter(|limit| *limit < usize::MAX),
            };
            let mut reader = GroupReader::new(&self.file.footer, request)?;
            self.held = 0;
            if !two_rounds {
                let ranges: Vec<Range<u64>> = reader.planned();
                self.held = within_memory(&self.file, 0, &ranges)?;
                let bytes = self.file.bytes(&ranges).await?;
                reader.push(ranges, bytes)?;
            }
            self.group = Some(reader);
            return Ok(true);
        }
        Ok(false)
    }
}

/// The bytes held of a row group once `ranges` came too.
///
/// Errors: `LimitExceeded` when they are more than a call may hold.
fn within_memory(file: &OpenFile, held: u64, ranges: &[Range<u64>]) -> Result<u64> {
    let more: u64 = ranges.iter().map(|range| range.end - range.start).sum();
    let held = held.saturating_add(more);
    file.storage.check_memory(held, "a row group")?;
    Ok(held)
}
