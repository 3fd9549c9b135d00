use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

use arrow::array::{BooleanArray, RecordBatch};
use bytes::Bytes;
use parquet::arrow::arrow_reader::RowSelection;

use super::columns::Columns;
use super::footer::Footer;
use super::gather::merged;
use super::group::Group;
use super::reading::Reading;
use super::rows::Rows;
use crate::error::{Error, Result};

/// Batches are made about this large, in bytes as their pages unpack to, unless that is more than [`MAX_BATCH_ROWS`].
const BATCH_BYTES: u64 = 8 << 20;
const MAX_BATCH_ROWS: u64 = 64 << 10;
const MIN_BATCH_ROWS: u64 = 256;

/// Values of a column in a batch, about: long lists of one value again and again take hardly a byte in the file.
const BATCH_VALUES: u64 = 4 << 20;

/// What filters decode is kept for the output, up to this many bytes.
const FILTER_CACHE: usize = 16 << 20;

/// Which rows of a batch of the filter's columns to keep.
pub type RowFilterFn = Arc<dyn Fn(RecordBatch) -> Result<BooleanArray> + Send + Sync>;

/// What to read of one row group.
#[derive(Clone)]
pub struct GroupRequest {
    /// Which row group.
    pub group: usize,
    /// The columns of the batches.
    pub columns: Columns,
    /// Rows to keep: decided on these columns, which are decoded first.
    pub filter: Option<(Columns, RowFilterFn)>,
    /// Rows that may be wanted; `None` for all.
    pub selection: Option<RowSelection>,
    /// Stop after so many rows.
    pub limit: Option<usize>,
}

/// What a [`GroupReader`] has to say.
#[derive(Debug)]
pub enum Step {
    /// It cannot go on without these bytes of the file.
    Need(Vec<Range<u64>>),
    /// Rows, in the file's types and the file's order of columns.
    Batch(RecordBatch),
    /// No more rows.
    Done,
}

/// Decodes one row group; asks for byte ranges and never fetches.
///
/// A filter's columns are decoded first, and of the others only the rows that it keeps. What the filter decoded of the
/// output's columns is kept for the output, if it is not too much.
pub struct GroupReader {
    group: Group,
    columns: Columns,
    /// The output's columns that are not kept from the filter.
    rest: Columns,
    filter: Option<(Columns, RowFilterFn)>,
    /// Rows that may be wanted; once the filter is through, those that are.
    wanted: Rows,
    limit: usize,
    batch_rows: usize,
    stage: Stage,
    /// What the filter kept of the output's columns, while the rest is still to be read.
    kept: Option<VecDeque<RecordBatch>>,
}

enum Stage {
    /// The filter's columns are about to be read.
    Filter,
    /// They are being read; the rows kept so far, and the bytes of what is kept of them.
    Filtering(Reading, Rows, usize),
    /// The rest is about to be read.
    Rest,
    Reading(Reading),
    Done,
}

impl GroupReader {
    /// A reader of one row group of the file with this footer.
    pub fn new(footer: &Footer, request: GroupRequest) -> Result<Self> {
        let batch_rows = batch_rows(footer, &request);
        let GroupRequest {
            group,
            columns,
            filter,
            selection,
            limit,
        } = request;
        let group = Group::new(footer, group)?;
        let wanted = selection.map_or_else(|| Rows::all(group.rows()), |rows| Rows::of(&rows));
        let limit = limit.unwrap_or(usize::MAX);
        let (rest, wanted, stage) = match &filter {
            Some((decided, _)) => (columns.without(footer, decided), wanted, Stage::Filter),
            None => (columns.clone(), wanted.first(limit), Stage::Rest),
        };
        let shared = filter.is_some() && !rest.is_empty() && rest.len() < columns.len();
        Ok(Self {
            group,
            columns,
            rest,
            filter,
            wanted,
            limit,
            batch_rows,
            stage,
            kept: shared.then(VecDeque::new),
        })
    }

    /// Every range that may be asked for, filter columns first.
    pub fn planned(&self) -> Vec<Range<u64>> {
        let filter = self.filter.iter().map(|(columns, _)| columns);
        let columns = filter.chain([&self.rest]);
        let ranges = columns.map(|columns| self.group.missing(columns, &self.wanted));
        ranges.flatten().collect()
    }

    /// The next rows, or what is missing for them.
    pub fn step(&mut self) -> Result<Step> {
        loop {
            let step = match std::mem::replace(&mut self.stage, Stage::Done) {
                Stage::Filter => self.begin_filter()?,
                Stage::Filtering(reading, kept, bytes) => self.decide(reading, kept, bytes)?,
                Stage::Rest => self.begin_rest()?,
                Stage::Reading(reading) => self.read(reading)?,
                Stage::Done => Some(Step::Done),
            };
            if let Some(step) = step {
                return Ok(step);
            }
        }
    }

    /// Hands over bytes of the file.
    pub fn push(&mut self, ranges: Vec<Range<u64>>, bytes: Vec<Bytes>) -> Result<()> {
        let mut each = ranges.into_iter().zip(bytes);
        each.try_for_each(|(range, bytes)| self.group.push(&range, &bytes))
    }

    fn begin_filter(&mut self) -> Result<Option<Step>> {
        let (columns, _) = self.filter()?;
        let missing = self.group.missing(columns, &self.wanted);
        if !missing.is_empty() {
            self.stage = Stage::Filter;
            return Ok(Some(Step::Need(missing)));
        }
        let reading = Reading::new(&self.group, columns, &self.wanted, self.batch_rows)?;
        self.stage = Stage::Filtering(reading, Rows::default(), 0);
        Ok(None)
    }

    /// Decides on the rows of one batch of the filter's columns.
    fn decide(
        &mut self,
        mut reading: Reading,
        mut kept: Rows,
        bytes: usize,
    ) -> Result<Option<Step>> {
        let (columns, filter) = self.filter()?;
        let output_only = self.rest.is_empty();
        let batch = match kept.len() < self.limit {
            true => reading.decode()?,
            false => None,
        };
        let ended = batch.is_none();
        if let Some((batch, rows)) = batch {
            let output = self.columns.within(columns, &batch)?;
            let passed = rows.rows(&Rows::of_mask(&filter(batch)?));
            let passed = passed.and(&self.wanted).first(self.limit - kept.len());
            kept.extend(&passed);
            if output_only || self.kept.is_some() {
                reading.gather.add(&output, &rows.places(&passed))?;
            }
        }
        let gathered = reading.gather.take(ended)?;
        if output_only {
            if gathered.is_some() || !ended {
                self.stage = Stage::Filtering(reading, kept, bytes);
            }
            return Ok(gathered.map(Step::Batch));
        }
        let more = gathered
            .as_ref()
            .map_or(0, RecordBatch::get_array_memory_size);
        let bytes = bytes + more;
        if let Some(batches) = &mut self.kept {
            batches.extend(gathered);
            if bytes > FILTER_CACHE {
                // All of the output's columns are decoded again, of the rows that passed.
                self.kept = None;
                self.rest = self.columns.clone();
            }
        }
        self.stage = match ended {
            false => Stage::Filtering(reading, kept, bytes),
            true => {
                self.wanted = kept;
                Stage::Rest
            }
        };
        Ok(None)
    }

    fn begin_rest(&mut self) -> Result<Option<Step>> {
        if self.wanted.is_empty() {
            return Ok(Some(Step::Done));
        }
        let missing = self.group.missing(&self.rest, &self.wanted);
        if !missing.is_empty() {
            self.stage = Stage::Rest;
            return Ok(Some(Step::Need(missing)));
        }
        let reading = Reading::new(&self.group, &self.rest, &self.wanted, self.batch_rows)?;
        self.stage = Stage::Reading(reading);
        Ok(None)
    }

    /// Decodes one batch of the rest, or gives rows that are whole.
    fn read(&mut self, mut reading: Reading) -> Result<Option<Step>> {
        let batch = match (reading.ready.pop_front(), reading.ended) {
            (Some(batch), _) => batch,
            (None, true) => return Ok(Some(Step::Done)),
            (None, false) => {
                match reading.decode()? {
                    Some((batch, rows)) => {
                        reading.gather.add(&batch, &rows.places(&self.wanted))?;
                    }
                    None => reading.ended = true,
                }
                reading.ready.extend(reading.gather.take(reading.ended)?);
                self.stage = Stage::Reading(reading);
                return Ok(None);
            }
        };
        let batch = match &mut self.kept {
            None => batch,
            Some(kept) => {
                let other = kept.pop_front();
                let other = other.ok_or_else(|| Error::internal("kept rows were lost"))?;
                let rows = other.num_rows().min(batch.num_rows());
                let pair = [other.slice(0, rows), batch.slice(0, rows)];
                for (queue, whole) in [(kept, other), (&mut reading.ready, batch)] {
                    if whole.num_rows() > rows {
                        queue.push_front(whole.slice(rows, whole.num_rows() - rows));
                    }
                }
                merged(&pair, &self.columns.sources(&self.rest), rows)?
            }
        };
        self.stage = Stage::Reading(reading);
        Ok(Some(Step::Batch(batch)))
    }

    fn filter(&self) -> Result<&(Columns, RowFilterFn)> {
        let filter = self.filter.as_ref();
        filter.ok_or_else(|| Error::internal("a filter was lost"))
    }
}

/// Rows a batch: as many as make a batch of a good size.
fn batch_rows(footer: &Footer, request: &GroupRequest) -> usize {
    let (_, bytes) = request.columns.bytes(footer, request.group);
    let rows = footer.group_rows(request.group).max(1);
    let width = (bytes / rows).max(1);
    let values = (request.columns.values(footer, request.group) / rows).max(1);
    let fitting = (BATCH_BYTES / width).min(BATCH_VALUES / values);
    let fitting = fitting.clamp(MIN_BATCH_ROWS, MAX_BATCH_ROWS);
    usize::try_from(fitting).unwrap_or(1)
}
