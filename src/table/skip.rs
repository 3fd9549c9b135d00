//! Slices ruled out by what the metadata table knows of them, before any of their files is opened.

use std::collections::{BTreeMap, BTreeSet};

use arrow::datatypes::{DataType, TimeUnit};

use super::listing::worked_around;
use super::open::Table;
use super::skip_values::by_bucket;
use crate::codec::java_number;
use crate::config::{KeyGeneratorType, PartitionFieldKind, ReadOptions};
use crate::error::Result;
use crate::expr::Scalar;
use crate::metadata::partition::{COLUMN_STATS, PARTITION_STATS, RECORD_INDEX};
use crate::metadata::{IndexDefinition, MetadataTable, StoredStats};
use crate::model::meta_field::RECORD_KEY;
use crate::model::{FileSlice, InOrder, InstantTime, PartitionPath};
use crate::read::{Bound, Slices};
use crate::storage::Storage;

/// `HudiReadPlan`'s words for what ruled a slice out.
const BY_PARTITION_STATS: &str = "partition-stats";
const BY_COLUMN_STATS: &str = "column-stats";
const BY_RECORD_INDEX: &str = "record-index";
const BY_SECONDARY_INDEX: &str = "secondary-index";

/// Record keys that an index is asked for at most.
const MOST_KEYS: usize = 10_000;

/// One attempt to rule slices out.
pub(super) struct Skipping<'a> {
    table: &'a Table,
    pub(super) bound: &'a Bound,
    pub(super) metadata: &'a MetadataTable,
    /// Whether what the metadata table knows of now holds: not of a time before.
    latest: bool,
    /// Whether indexes are asked even where opening the files costs no more.
    pub(super) always: bool,
}

impl Table {
    /// Moves slices that no row of can pass the filters from kept to skipped.
    ///
    /// What is not surely ruled out stays; so does all of a table whose columns are followed by numbers, since statistics go by
    /// names. An index that is broken is warned of and not used.
    pub(super) async fn skip(
        &self,
        options: &ReadOptions,
        bound: &Bound,
        mut slices: Slices,
        as_of: Option<&InstantTime>,
    ) -> Result<Slices> {
        let switch = options.data_skipping(self.meta.config.properties())?;
        let one = if switch == Some(true) { 0 } else { 1 };
        if bound.predicate().is_empty()
            || bound.is_numbered()
            || slices.kept.len() <= one
            || switch == Some(false)
        {
            return Ok(slices);
        }
        let config = &self.meta.config;
        // Of a time before a rescaling the buckets were others.
        if let Some(index) = options.bucket_index(config.properties())?
            && as_of.is_none()
        {
            by_bucket(config, &index, bound, &mut slices);
        }
        let Some(metadata) = self.metadata(options).await? else {
            return Ok(slices);
        };
        let skipping = Skipping {
            table: self,
            bound,
            metadata: &metadata,
            latest: as_of.is_none(),
            always: switch == Some(true),
        };
        let before = slices.clone();
        match skipping.all(&mut slices).await {
            Ok(()) => Ok(slices),
            Err(error) => {
                let what = "the metadata table rules no file out";
                worked_around(&self.meta.storage, what, &error)
                    .then_some(before)
                    .ok_or(error)
            }
        }
    }
}

impl Skipping<'_> {
    async fn all(&self, slices: &mut Slices) -> Result<()> {
        if !self.always && self.partitions_told_all() {
            return Ok(());
        }
        if self.latest {
            self.by_record_index(slices).await?;
            self.by_secondary_index(slices).await?;
            self.by_partition_stats(slices).await?;
        }
        self.by_column_stats(slices).await?;
        self.by_expression_indexes(slices).await?;
        self.by_bloom_filters(slices).await
    }

    /// Whether the filters name partition columns alone whose values stand in the paths: what they rule out is ruled out.
    fn partitions_told_all(&self) -> bool {
        let fields = self.table.meta.config.partition_fields();
        let in_path = |name: &&str| {
            let mut named = fields.iter().filter(|field| field.name == **name);
            named.any(|field| field.kind == PartitionFieldKind::Simple)
        };
        self.bound.predicate().columns().iter().all(in_path)
    }

    /// Whether reading an index costs less than opening the slices: by the number of their files.
    pub(super) async fn pays(&self, index: &str, slices: &Slices) -> Result<bool> {
        let kept = slices.kept.len();
        if kept == 0 || !self.metadata.has(index) {
            return Ok(false);
        }
        let groups = self.metadata.slices(self.storage(), index).await?;
        let files: usize = groups.iter().map(|group| 1 + group.logs.len()).sum();
        Ok(!groups.is_empty() && (self.always || (kept > 1 && files <= 2 * kept + 4)))
    }

    pub(super) fn storage(&self) -> &Storage {
        &self.table.meta.storage
    }

    async fn by_partition_stats(&self, slices: &mut Slices) -> Result<()> {
        let Some(stats) = self.stats(PARTITION_STATS, slices).await? else {
            return Ok(());
        };
        let schema = self.bound.columns().read_schema();
        let predicate = self.bound.predicate();
        let may_match =
            |partition: &&PartitionPath| predicate.may_match(&stats.partition(partition, schema));
        let kept = partitions(&slices.kept).into_iter().filter(may_match);
        let kept: BTreeSet<PartitionPath> = kept.cloned().collect();
        slices.retain(BY_PARTITION_STATS, |slice| kept.contains(&slice.partition));
        Ok(())
    }

    async fn by_column_stats(&self, slices: &mut Slices) -> Result<()> {
        let Some(stats) = self.stats(COLUMN_STATS, slices).await? else {
            return Ok(());
        };
        let schema = self.bound.columns().read_schema();
        let predicate = self.bound.predicate();
        slices.retain(BY_COLUMN_STATS, |slice| {
            predicate.may_match(&stats.slice(slice, schema))
        });
        Ok(())
    }

    /// What an index of statistics says of the filters' columns in the partitions of the kept slices, where asking pays.
    async fn stats(&self, index: &str, slices: &Slices) -> Result<Option<StoredStats>> {
        if !self.pays(index, slices).await? {
            return Ok(None);
        }
        let columns = self.bound.predicate().columns();
        let partitions: Vec<_> = partitions(&slices.kept).into_iter().collect();
        let stats = self
            .metadata
            .stats(self.storage(), index, &columns, &partitions);
        stats.await
    }

    async fn by_record_index(&self, slices: &mut Slices) -> Result<()> {
        match self.record_keys() {
            Some(keys) => self.by_keys(slices, &keys, BY_RECORD_INDEX).await,
            None => Ok(()),
        }
    }

    async fn by_secondary_index(&self, slices: &mut Slices) -> Result<()> {
        let names = self.metadata.partitions();
        if slices.kept.len() <= 1 && !self.always
            || names
                .filter(|name| name.starts_with("secondary_index_"))
                .count()
                == 0
        {
            return Ok(());
        }
        let storage = self.storage();
        for index in self.metadata.index_definitions(storage).await? {
            if let Some(values) = self.values_of(&index)
                && self.pays(&index.partition, slices).await?
            {
                let keys = self
                    .metadata
                    .record_keys_of(storage, &index, &values)
                    .await?;
                self.by_keys(slices, &keys, BY_SECONDARY_INDEX).await?;
            }
        }
        Ok(())
    }

    /// Keeps the slices that hold one of these record keys.
    ///
    /// A key whose file group is not in view says that the index and the view differ: then nothing is ruled out.
    async fn by_keys(&self, slices: &mut Slices, keys: &[String], by: &'static str) -> Result<()> {
        let partitions = partitions(&slices.kept);
        let storage = self.storage();
        let asked = keys.len() <= MOST_KEYS && self.pays(RECORD_INDEX, slices).await?;
        if !asked || !self.metadata.indexes_records(storage, &partitions).await? {
            return Ok(());
        }
        let located = self.metadata.locate(storage, keys, &partitions).await?;
        let in_view = |partition: &PartitionPath, file_id: &str| {
            let mut all = slices
                .kept
                .iter()
                .chain(slices.skipped.iter().map(|(slice, _)| slice));
            all.any(|slice| slice.partition == *partition && slice.file_id == file_id)
        };
        let pruner = self.bound.pruner();
        let mut groups: BTreeMap<PartitionPath, BTreeSet<String>> = BTreeMap::new();
        for place in located.into_values().flatten() {
            let partition = PartitionPath::new(&place.partition);
            if !pruner.keeps(&partition) {
                continue;
            }
            if !in_view(&partition, &place.file_id) {
                return Ok(());
            }
            groups.entry(partition).or_default().insert(place.file_id);
        }
        slices.retain(by, |slice| {
            let groups = groups.get(&slice.partition);
            groups.is_some_and(|groups| groups.contains(&slice.file_id))
        });
        Ok(())
    }

    /// The record keys that rows must have one of, when the filters say so.
    pub(super) fn record_keys(&self) -> Option<Vec<String>> {
        let config = &self.table.meta.config;
        if !config.populate_meta_fields() {
            return None;
        }
        if let Some(keys) = Self::texts_of(self.bound, RECORD_KEY) {
            return Some(keys);
        }
        // Other generators spell the field's name along, some releases of them.
        let plain = matches!(
            config.keygen(),
            KeyGeneratorType::Simple | KeyGeneratorType::NonPartition | KeyGeneratorType::Timestamp
        );
        match config.record_key_fields().as_slice() {
            [field] if plain => Self::texts_of(self.bound, field),
            _ => None,
        }
    }

    /// The values of a secondary index, in every way that its keys may spell them.
    fn values_of(&self, index: &IndexDefinition) -> Option<Vec<String>> {
        match index.columns.as_slice() {
            [column] if index.kind == "secondary_index" => {
                one_of(self.bound, column, secondary_texts)
            }
            _ => None,
        }
    }

    /// The values that a column must have one of, as record keys spell them; only of types whose spelling is sure.
    pub(super) fn texts_of(bound: &Bound, column: &str) -> Option<Vec<String>> {
        one_of(bound, column, |value, data_type| {
            text_of(value, data_type).map(|text| vec![text])
        })
    }
}

/// What the values that a column must have one of are spelled as.
fn one_of(
    bound: &Bound,
    column: &str,
    spell: impl Fn(&Scalar, &DataType) -> Option<Vec<String>>,
) -> Option<Vec<String>> {
    let schema = bound.columns().read_schema();
    let data_type = schema.field_with_name(column).ok()?.data_type();
    let values = bound.predicate().one_of(column)?.into_iter();
    let texts: Option<Vec<_>> = values.map(|value| spell(value, data_type)).collect();
    Some(texts?.concat())
}

fn text_of(value: &Scalar, data_type: &DataType) -> Option<String> {
    match (data_type, value) {
        (DataType::Int32 | DataType::Int64, Scalar::Int(value)) => Some(value.to_string()),
        (DataType::Utf8, Scalar::Bytes(text)) if !text.is_empty() => {
            String::from_utf8(text.clone()).ok()
        }
        _ => None,
    }
}

/// The keys that a value may have in a secondary index: Java's `toString` of it. A column may have been narrower when an entry was
/// written, and minus zero is another text than zero. Dates are days from 1970 since Hudi 1.1 and `yyyy-MM-dd` before, timestamps
/// microseconds.
fn secondary_texts(value: &Scalar, data_type: &DataType) -> Option<Vec<String>> {
    let spelled = |write: &dyn Fn(&mut String)| {
        let mut text = String::new();
        write(&mut text);
        text
    };
    let mut texts = match (data_type, value) {
        (DataType::Boolean, Scalar::Boolean(value)) => vec![value.to_string()],
        (DataType::Date32, Scalar::Int(days)) => vec![days.to_string(), value.text(data_type)?],
        (DataType::Timestamp(TimeUnit::Microsecond, _), Scalar::Int(micros)) => {
            vec![micros.to_string()]
        }
        (DataType::Float32 | DataType::Float64, Scalar::Float(value)) => {
            let zero = *value == 0.0;
            let signs = [*value, -*value];
            let signs = signs
                .get(..if zero { 2 } else { 1 })
                .unwrap_or_default()
                .iter();
            signs
                .flat_map(|value| {
                    let narrow = *value as f32;
                    let whole = value.fract() == 0.0 && value.abs() < 9e18;
                    let double = Some(spelled(&|out| java_number::double(out, *value)));
                    let float = (f64::from(narrow) == *value || value.is_nan())
                        .then(|| spelled(&|out| java_number::float(out, narrow)));
                    let integer = whole.then(|| (*value as i64).to_string());
                    [double, float, integer].into_iter().flatten()
                })
                .collect()
        }
        _ => vec![text_of(value, data_type)?],
    };
    texts.in_order();
    texts.dedup();
    Some(texts)
}

fn partitions(slices: &[FileSlice]) -> BTreeSet<&PartitionPath> {
    slices.iter().map(|slice| &slice.partition).collect()
}
