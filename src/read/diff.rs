//! Two snapshots of a table compared by record key.

use std::collections::hash_map::DefaultHasher;
use std::collections::{BTreeSet, HashMap};
use std::hash::Hasher;

use arrow::array::{
    Array, ArrayRef, AsArray, MutableArrayData, RecordBatch, RecordBatchOptions, make_array,
};
use arrow::datatypes::{Fields, SchemaRef};
use futures::TryStreamExt;
use futures::stream::{BoxStream, StreamExt};

use super::cdc::row_text;
use crate::config::RawFilter;
use crate::error::{Error, Result};
use crate::model::meta_field::{PARTITION_PATH, RECORD_KEY, is_meta_field};
use crate::model::{FileSlice, InstantTime};
use crate::read::{Bound, Merging, run};
use crate::timeline::MetaClient;

/// Rows of one batch that is given.
const BATCH_ROWS: usize = 8192;

/// One of the snapshots.
#[derive(Debug, Clone, Default)]
pub struct DiffSide {
    /// Its slices; `None` for a table before its first instant.
    pub slices: Vec<FileSlice>,
    /// The instant that it is as of; `None` for now.
    pub as_of: Option<InstantTime>,
}

/// What is different, with all columns of the selection.
#[derive(Debug, Clone, Default)]
pub struct Diff {
    /// Rows that only the second snapshot has.
    pub added: Vec<RecordBatch>,
    /// Rows that only the first has.
    pub removed: Vec<RecordBatch>,
    /// Changed rows as the first has them.
    pub before: Vec<RecordBatch>,
    /// The same rows, in the same order, as the second has them.
    pub after: Vec<RecordBatch>,
}

/// A row's partition and key: a key may be in several partitions.
type Key = (String, String);

/// Where a row is: its batch, and its place there.
type Place = (usize, usize);

/// Compares two snapshots. Rows are the same when all of the table's own columns are.
///
/// 1. Slices that both snapshots have are not read; of the others first a fingerprint of each row is taken, then the rows
///    that differ are read by their keys. So memory holds keys and what differs.
/// 2. `filters` are those that `bound` selects by: the two are filtered snapshots.
pub async fn diff_rows(
    meta: &MetaClient,
    bound: &Bound,
    filters: &[RawFilter],
    (mut from, mut to): (DiffSide, DiffSide),
    strict: bool,
) -> Result<Diff> {
    let (old, new) = (from.slices.clone(), to.slices.clone());
    from.slices
        .retain(|slice| !(is_settled(slice) && new.contains(slice)));
    to.slices
        .retain(|slice| !(is_settled(slice) && old.contains(slice)));
    let reader = Reader {
        meta,
        bound,
        filters,
        strict,
    };
    let mut old: HashMap<Key, u128> = HashMap::new();
    let mut rows = reader.rows(&from, None)?;
    while let Some(batch) = rows.try_next().await? {
        for row in 0..batch.num_rows() {
            old.insert(key(&batch, row)?, fingerprint(&batch, row));
        }
    }
    let (mut added, mut changed) = (BTreeSet::new(), BTreeSet::new());
    let mut rows = reader.rows(&to, None)?;
    while let Some(batch) = rows.try_next().await? {
        for row in 0..batch.num_rows() {
            let key = key(&batch, row)?;
            match old.remove(&key) {
                None => drop(added.insert(key)),
                Some(print) if print == fingerprint(&batch, row) => {}
                Some(_) => drop(changed.insert(key)),
            }
        }
    }
    let removed: BTreeSet<Key> = old.into_keys().collect();
    let before = reader.keyed(&from, removed.iter().chain(&changed)).await?;
    let after = reader.keyed(&to, added.iter().chain(&changed)).await?;
    Ok(Diff {
        added: after.pick(&added)?,
        removed: before.pick(&removed)?,
        before: before.pick(&changed)?,
        after: after.pick(&changed)?,
    })
}

/// Whether a slice has the same rows at every time that sees these files. A log that is named by its base, as version 6 names
/// it, holds blocks of several instants.
fn is_settled(slice: &FileSlice) -> bool {
    slice
        .data_logs()
        .all(|log| log.name.instant != slice.instant)
}

struct Reader<'a> {
    meta: &'a MetaClient,
    bound: &'a Bound,
    filters: &'a [RawFilter],
    strict: bool,
}

impl Reader<'_> {
    fn rows(
        &self,
        side: &DiffSide,
        keys: Option<Vec<String>>,
    ) -> Result<BoxStream<'static, Result<RecordBatch>>> {
        let mut filters = self.filters.to_vec();
        filters.extend(keys.map(|values| RawFilter {
            field: RECORD_KEY.to_owned(),
            operator: "IN".to_owned(),
            values,
        }));
        let merging = Merging {
            meta: self.meta,
            as_of: side.as_of.as_ref(),
            members: None,
            strict: self.strict,
        };
        let bound = self.bound.filtered(&filters)?;
        let tasks = bound.tasks(&side.slices, &merging)?;
        Ok(run(&self.meta.storage, tasks, None).boxed())
    }

    /// The rows of some keys.
    async fn keyed(&self, side: &DiffSide, keys: impl Iterator<Item = &Key>) -> Result<Keyed> {
        let keys: BTreeSet<&str> = keys.map(|(_, key)| key.as_str()).collect();
        let mut keyed = Keyed::default();
        if keys.is_empty() {
            return Ok(keyed);
        }
        let keys = keys.into_iter().map(str::to_owned).collect();
        let mut rows = self.rows(side, Some(keys))?;
        while let Some(batch) = rows.try_next().await? {
            for row in 0..batch.num_rows() {
                keyed
                    .places
                    .insert(key(&batch, row)?, (keyed.batches.len(), row));
            }
            keyed.batches.push(batch);
        }
        Ok(keyed)
    }
}

/// Rows by their keys.
#[derive(Default)]
struct Keyed {
    batches: Vec<RecordBatch>,
    places: HashMap<Key, Place>,
}

impl Keyed {
    /// The rows of some keys, in the order of the keys.
    fn pick(&self, keys: &BTreeSet<Key>) -> Result<Vec<RecordBatch>> {
        let places = keys.iter().map(|key| {
            let place = self.places.get(key).copied();
            place.ok_or_else(|| Error::internal("a row was read once and not again"))
        });
        let places = places.collect::<Result<Vec<Place>>>()?;
        let batches = places
            .chunks(BATCH_ROWS)
            .map(|places| self.gathered(places));
        batches.collect()
    }

    fn gathered(&self, places: &[Place]) -> Result<RecordBatch> {
        let schema = self.batches.first().map(RecordBatch::schema);
        let schema: SchemaRef = schema.ok_or_else(|| Error::internal("rows of no batch"))?;
        let columns = (0..schema.fields().len()).map(|at| {
            let columns = self
                .batches
                .iter()
                .filter_map(|batch| batch.columns().get(at));
            gather(
                &columns.collect::<Vec<_>>(),
                places.iter().copied().map(Some),
            )
        });
        let columns = columns.collect::<Result<Vec<ArrayRef>>>()?;
        let options = RecordBatchOptions::new().with_row_count(Some(places.len()));
        RecordBatch::try_new_with_options(schema, columns, &options).map_err(misfit)
    }
}

/// Rows of several arrays of one type as one array; `None` is null.
pub(super) fn gather(
    columns: &[&ArrayRef],
    places: impl Iterator<Item = Option<Place>>,
) -> Result<ArrayRef> {
    let data: Vec<_> = columns.iter().map(|column| column.to_data()).collect();
    let mut gathered = MutableArrayData::new(data.iter().collect(), true, places.size_hint().0);
    for place in places {
        let extended = match place {
            Some((source, row)) => gathered.try_extend(source, row, row + 1),
            None => gathered.try_extend_nulls(1),
        };
        extended.map_err(misfit)?;
    }
    Ok(make_array(gathered.freeze()))
}

fn misfit(error: arrow::error::ArrowError) -> Error {
    Error::internal("rows do not fit their columns").with_source(error)
}

fn key(batch: &RecordBatch, row: usize) -> Result<Key> {
    let text = |name: &str| {
        let column = batch.column_by_name(name)?.as_string_opt::<i32>()?;
        column.is_valid(row).then(|| column.value(row).to_owned())
    };
    let key = text(RECORD_KEY).ok_or_else(|| Error::corrupt("a row has no record key"))?;
    Ok((text(PARTITION_PATH).unwrap_or_default(), key))
}

/// Of the table's own columns. Two hashes of 64 bits, so that no two rows of a table are likely to share them.
fn fingerprint(batch: &RecordBatch, row: usize) -> u128 {
    let schema = batch.schema();
    let own = schema.fields().iter().zip(batch.columns());
    let own = own.filter(|(field, _)| !is_meta_field(field.name()));
    let (fields, columns): (Vec<_>, Vec<_>) = own
        .map(|(field, column)| (field.clone(), column.clone()))
        .unzip();
    let text = row_text(&Fields::from(fields), &columns, row);
    let hash = |seed: u8| {
        let mut hasher = DefaultHasher::new();
        hasher.write_u8(seed);
        hasher.write(text.as_bytes());
        u128::from(hasher.finish())
    };
    hash(0) << 64 | hash(1)
}
