//! Log rows and deletes gathered, one version a key.

use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch};
use arrow::buffer::BooleanBuffer;
use arrow::datatypes::DataType;

use super::columns::MergeColumns;
use super::deletes::{Deletion, Marks, marked};
use super::key_column::KeyColumn;
use super::keys::Keys;
use super::layers::Layers;
use super::merger::Merger;
use super::ordering::OrderingValues;
use super::rules::{DeleteOrder, MergeRules, Winner};
use crate::error::{Error, Result};

/// What the logs of one slice say of each key, put together block by block in merge order.
///
/// 1. Time is linear in the rows, whatever their order, and in the blocks.
/// 2. A key has one version at any time; of partial updates, a chain of the rows that its columns come from.
/// 3. Keys are those of the rows, or the positions of base rows that blocks name. One or the other, for all blocks.
#[derive(Debug)]
pub struct Changes {
    pub(super) rules: Arc<MergeRules>,
    pub(super) columns: MergeColumns,
    pub(super) sources: Sources,
    pub(super) keys: Keys,
    pub(super) entries: Vec<Entry>,
    pub(super) layers: Layers,
    /// Whether a block held partial updates.
    pub(super) partial: bool,
}

/// The version of one key.
#[derive(Debug, Clone, Copy)]
pub(super) struct Entry {
    /// The row that won, numbered through all sources.
    pub(super) version: u32,
    /// The row that holds its ordering values.
    pub(super) order: u32,
    /// The row that came last, whether it won or not.
    pub(super) latest: u32,
    /// Its columns' rows, when they are of several.
    pub(super) chain: u32,
    pub(super) deleted: bool,
    /// Whether it is a delete by arrival.
    pub(super) natural: bool,
}

/// The rows of one block, or the entries of one delete block.
#[derive(Debug)]
pub(super) struct Source {
    /// Of the merge's columns those that the block has; none of a delete block.
    pub(super) columns: Vec<Option<ArrayRef>>,
    pub(super) ordering: Option<OrderingValues>,
}

/// Sources, and where in the count of all rows each begins.
#[derive(Debug, Default)]
pub(super) struct Sources {
    list: Vec<Source>,
    starts: Vec<u32>,
    rows: u32,
    /// What the columns take in memory.
    bytes: usize,
}

impl Sources {
    fn push(&mut self, source: Source, rows: usize) -> Result<u32> {
        let start = self.rows;
        let end = u32::try_from(rows)
            .ok()
            .and_then(|rows| start.checked_add(rows));
        let end = end.filter(|end| *end < u32::MAX);
        let too_many =
            || Error::limit_exceeded("the log files of one file group hold too many rows");
        self.rows = end.ok_or_else(too_many)?;
        let columns = source.columns.iter().flatten();
        self.bytes += columns
            .map(|column| column.get_array_memory_size())
            .sum::<usize>();
        self.list.push(source);
        self.starts.push(start);
        Ok(start)
    }

    /// Lets go of one column of all sources.
    pub(super) fn drop_column(&mut self, at: usize) {
        for source in &mut self.list {
            if let Some(column) = source.columns.get_mut(at) {
                *column = None;
            }
        }
    }

    /// What all columns take in memory.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    pub(super) fn list(&self) -> &[Source] {
        &self.list
    }

    /// The source of a row and its place there.
    pub(super) fn place(&self, version: u32) -> (usize, usize) {
        let source = self.starts.partition_point(|start| *start <= version) - 1;
        let start = self.starts.get(source).copied().unwrap_or(0);
        (source, (version - start) as usize)
    }

    /// Ordering values and the place of a row in them; `None` when its block has none.
    pub(super) fn ordering(&self, version: u32) -> Option<(&OrderingValues, usize)> {
        let (source, row) = self.place(version);
        Some((self.list.get(source)?.ordering.as_ref()?, row))
    }
}

impl Changes {
    /// Nothing yet.
    pub fn new(rules: &Arc<MergeRules>, columns: MergeColumns) -> Self {
        Self {
            rules: Arc::clone(rules),
            columns,
            sources: Sources::default(),
            keys: Keys::new(),
            entries: Vec::new(),
            layers: Layers::default(),
            partial: false,
        }
    }

    /// How many keys there are.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Bytes of memory that the rows take, of keys too.
    pub fn bytes(&self) -> u64 {
        let entries = self.entries.capacity() * size_of::<Entry>();
        (self.sources.bytes + self.keys.memory() + entries) as u64
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Takes the rows of a data block, of the types of the merge's columns. A block of partial updates may lack columns.
    ///
    /// Errors: `Corrupt` for a row without a key, `Unsupported` for partial updates where the table's own rule fills rows,
    /// `LimitExceeded` for more than 2^32 rows.
    pub fn push(
        &mut self,
        batch: &RecordBatch,
        partial: bool,
        positions: Option<&[u64]>,
    ) -> Result<()> {
        if partial && self.rules.fill.is_some() {
            let message = "blocks of partial updates in a table that has a partial update mode";
            return Err(
                Error::unsupported(message).context("property", "hoodie.table.partial.update.mode")
            );
        }
        let rows = batch.num_rows();
        let arrays = self.arrays(batch, partial)?;
        let ordering = self.ordering(&arrays)?;
        let deleted = marked(&self.marks(&arrays), rows)?;
        let positions = self.positions(positions, rows)?;
        let keys = match positions {
            None => Some(KeyColumn::new(&self.columns, &arrays)?),
            Some(_) => None,
        };
        self.partial |= partial;
        let source = Source {
            columns: arrays,
            ordering,
        };
        let start = self.sources.push(source, rows)?;
        let mut buffer = String::new();
        for row in 0..rows {
            let key = match (&keys, positions) {
                (Some(keys), _) => self.keys.add(keys.key(row, &mut buffer)?)?,
                (None, positions) => self.keys.add(&position(positions, row))?,
            };
            let deleted = deleted.as_ref().is_some_and(|deleted| deleted.value(row));
            let version = start + row as u32;
            let entry = self.entry(version, deleted);
            self.take(key, entry, false);
        }
        Ok(())
    }

    /// Takes the entries of a delete block.
    ///
    /// Errors: `Corrupt` for ordering values that do not fit the ordering columns.
    pub fn push_deletes(&mut self, deletes: &[Deletion], positions: Option<&[u64]>) -> Result<()> {
        let types: Vec<DataType> = self.ordering_types()?;
        // Where arrival decides, no value counts.
        let values = deletes.iter().map(|delete| match types.is_empty() {
            true => None,
            false => delete.ordering.as_deref(),
        });
        let ordering = OrderingValues::of_deletes(values, &types, self.rules.sequence)?;
        let positions = self.positions(positions, deletes.len())?;
        let columns = vec![None; self.columns.schema().fields().len()];
        let ordering = Some(ordering);
        let start = self
            .sources
            .push(Source { columns, ordering }, deletes.len())?;
        for (row, delete) in deletes.iter().enumerate() {
            let key = match positions {
                None => self.keys.add(delete.key.as_bytes())?,
                Some(_) => self.keys.add(&position(positions, row))?,
            };
            let entry = self.entry(start + row as u32, true);
            self.take(key, entry, true);
        }
        Ok(())
    }

    pub(super) fn by_position(&self) -> bool {
        self.columns.by_position
    }

    /// Nothing more comes: the versions, ready to be put over the base.
    pub fn finish(self) -> Result<Merger> {
        Merger::new(self)
    }

    fn positions<'a>(
        &self,
        positions: Option<&'a [u64]>,
        rows: usize,
    ) -> Result<Option<&'a [u64]>> {
        match (self.columns.by_position, positions) {
            (false, _) => Ok(None),
            (true, Some(positions)) if positions.len() == rows => Ok(Some(positions)),
            _ => Err(Error::corrupt(
                "a log block names another number of positions than it has rows",
            )),
        }
    }

    /// The block's arrays in the order of the merge's columns.
    fn arrays(&self, batch: &RecordBatch, partial: bool) -> Result<Vec<Option<ArrayRef>>> {
        let fields = self.columns.schema().fields().iter();
        let arrays = fields.map(|field| {
            let array = batch.column_by_name(field.name());
            if array.is_none() && !partial {
                return Err(
                    Error::internal("a log batch lacks a column").context("field", field.name())
                );
            }
            if array.is_some_and(|array| array.data_type() != field.data_type()) {
                return Err(Error::internal("a log batch has a column of another type")
                    .context("field", field.name()));
            }
            Ok(array.cloned())
        });
        arrays.collect()
    }

    /// The ordering values of a block; `None` when it has none of the columns, as partial updates may.
    fn ordering(&self, arrays: &[Option<ArrayRef>]) -> Result<Option<OrderingValues>> {
        let places = self.columns.ordering.iter();
        let found = places.filter_map(|place| place.values(arrays.get(place.root)?.as_ref()?));
        let found: Vec<ArrayRef> = found.collect();
        match found.len() {
            0 if !self.columns.ordering.is_empty() => Ok(None),
            all if all == self.columns.ordering.len() => {
                OrderingValues::of_rows(&found, self.rules.sequence).map(Some)
            }
            _ => Err(Error::unsupported(
                "partial updates that set some of several ordering columns",
            )),
        }
    }

    fn ordering_types(&self) -> Result<Vec<DataType>> {
        let fields = self.columns.schema().fields();
        let types = self.columns.ordering.iter().map(|place| {
            let field = fields.get(place.root);
            let empty = field.map(|field| arrow::array::new_empty_array(field.data_type()));
            let values = empty.and_then(|empty| place.values(&empty));
            let lacks = || Error::internal("an ordering column was lost");
            values
                .map(|values| values.data_type().clone())
                .ok_or_else(lacks)
        });
        types.collect()
    }

    fn marks<'a>(&'a self, arrays: &'a [Option<ArrayRef>]) -> Marks<'a> {
        let array = |at: Option<usize>| arrays.get(at?)?.as_ref();
        let marker = self
            .rules
            .delete_mark
            .as_ref()
            .map(|(_, marker)| marker.as_str());
        Marks {
            is_deleted: array(self.columns.is_deleted),
            operation: array(self.columns.operation),
            mark: array(self.columns.mark).zip(marker),
        }
    }

    fn entry(&self, version: u32, deleted: bool) -> Entry {
        let ordering = self.sources.ordering(version);
        let natural = deleted && ordering.is_none_or(|(values, row)| values.is_natural(row));
        Entry {
            version,
            order: version,
            latest: version,
            chain: Layers::NONE,
            deleted,
            natural,
        }
    }

    /// Merges one version into those of its key.
    fn take(&mut self, (number, new): (u32, bool), incoming: Entry, of_delete_block: bool) {
        if new {
            self.entries.push(incoming);
            return;
        }
        let Some(held) = self.entries.get(number as usize).copied() else {
            return;
        };
        if of_delete_block && held.natural && self.rules.compares() {
            return;
        }
        let wins = self.wins(&held, &incoming);
        let layered = (self.partial || (self.rules.fill.is_some() && self.rules.fill_in_logs))
            && !held.deleted
            && !incoming.deleted;
        let merged = match (wins, layered) {
            (true, false) => incoming,
            (true, true) => Entry {
                chain: self.layers.over(&incoming, &held),
                order: match self.sources.ordering(incoming.order) {
                    Some(_) => incoming.order,
                    None => held.order,
                },
                ..incoming
            },
            (false, true) => Entry {
                chain: self.layers.over(&held, &incoming),
                latest: incoming.latest,
                ..held
            },
            (false, false) => held,
        };
        if let Some(entry) = self.entries.get_mut(number as usize) {
            *entry = merged;
        }
    }

    /// Whether a version wins over the one before it in the logs.
    fn wins(&self, held: &Entry, incoming: &Entry) -> bool {
        let of_delete = held.deleted || incoming.deleted;
        let by_value = match self.rules.in_logs {
            Winner::Greater => true,
            Winner::Later => of_delete && self.rules.deletes == DeleteOrder::Always,
        };
        if !by_value || incoming.natural || held.natural {
            return true;
        }
        if held.deleted && self.rules.deletes == DeleteOrder::Forgotten && !incoming.deleted {
            return true;
        }
        let (Some((old, old_row)), Some((new, new_row))) = (
            self.sources.ordering(held.order),
            self.sources.ordering(incoming.order),
        ) else {
            return true;
        };
        old.order(old_row, new, new_row) != Some(std::cmp::Ordering::Greater)
    }
}

fn position(positions: Option<&[u64]>, row: usize) -> [u8; 8] {
    let position = positions.and_then(|positions| positions.get(row));
    position.copied().unwrap_or(u64::MAX).to_le_bytes()
}

impl Source {
    pub(super) fn column(&self, at: usize) -> Option<&ArrayRef> {
        self.columns.get(at)?.as_ref()
    }
}

/// A set of rows, for which arrow's buffer has no mutable form without a builder.
#[derive(Debug)]
pub(super) struct RowSet(Vec<u64>);

impl RowSet {
    pub(super) fn new(rows: usize) -> Self {
        Self(vec![0; rows.div_ceil(64)])
    }

    pub(super) fn has(&self, row: usize) -> bool {
        self.0
            .get(row / 64)
            .is_some_and(|word| word >> (row % 64) & 1 == 1)
    }

    /// Adds a row; true when it was not in.
    pub(super) fn add(&mut self, row: usize) -> bool {
        let Some(word) = self.0.get_mut(row / 64) else {
            return false;
        };
        let bit = 1_u64 << (row % 64);
        let new = *word & bit == 0;
        *word |= bit;
        new
    }
}

/// Which rows of a column count as given; `None` for all.
pub(super) type Present = Option<BooleanBuffer>;
