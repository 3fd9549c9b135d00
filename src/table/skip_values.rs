//! Slices ruled out by the very values that filters name: buckets of record keys, Bloom filters, indexes over expressions.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use arrow::datatypes::DataType;

use super::skip::Skipping;
use crate::config::{BucketIndex, KeyGeneratorType, TableConfig};
use crate::error::Result;
use crate::expr::{ColumnBounds, Scalar};
use crate::keygen::{bucket_of, bucket_of_file};
use crate::metadata::IndexDefinition;
use crate::metadata::partition::BLOOM_FILTERS;
use crate::model::{BaseFile, FileSlice, PartitionPath};
use crate::read::{Bound, Slices};

/// `HudiReadPlan`'s words for what ruled a slice out.
const BY_BUCKET: &str = "bucket";
const BY_BLOOM_FILTER: &str = "bloom-filter";
const BY_EXPRESSION_INDEX: &str = "expression-index";

/// Combinations of values that buckets are made of at most.
const MOST_COMBINATIONS: usize = 1000;

/// What opening a base file takes at least: its end.
const BYTES_OF_AN_OPENING: u64 = 512 << 10;

/// Moves slices whose bucket holds none of the record keys that pass.
///
/// Neither the index nor the number of its buckets is written in the table, so the caller has said them. Where a file group is not
/// named after one of so many buckets nothing is ruled out.
pub(super) fn by_bucket(
    config: &TableConfig,
    index: &BucketIndex,
    bound: &Bound,
    slices: &mut Slices,
) {
    let known = |slice: &FileSlice| {
        bucket_of_file(&slice.file_id).is_some_and(|bucket| bucket < index.buckets)
    };
    if !slices.kept.iter().all(known) {
        return;
    }
    if let Some(buckets) = buckets(config, index, bound) {
        slices.retain(BY_BUCKET, |slice| {
            bucket_of_file(&slice.file_id).is_none_or(|bucket| buckets.contains(&bucket))
        });
    }
}

/// The buckets of keys that pass, where the filters name a value of each hash field.
fn buckets(config: &TableConfig, index: &BucketIndex, bound: &Bound) -> Option<BTreeSet<u32>> {
    let keys = config.record_key_fields();
    let fields: Vec<&str> = match &index.fields {
        Some(fields) => fields.iter().map(String::as_str).collect(),
        None => keys.clone(),
    };
    // Releases differ in the order of fields that stand otherwise than in the key, and in keys that spell their one field.
    let mut in_key = keys.iter();
    let in_order = fields.iter().all(|field| in_key.any(|key| key == field));
    let spelled = *config.keygen() == KeyGeneratorType::Complex && keys.len() == 1;
    if fields.is_empty() || !in_order || spelled {
        return None;
    }
    // What separates the parts of a key would be taken for that within a value too, and these words stand for no value.
    let odd =
        |text: &String| text.contains([',', ':']) || text == "__null__" || text == "__empty__";
    let mut combinations = vec![Vec::new()];
    for field in fields {
        let values = Skipping::texts_of(bound, field)?;
        if values.iter().any(odd) || combinations.len() * values.len() > MOST_COMBINATIONS {
            return None;
        }
        combinations = combinations
            .iter()
            .flat_map(|before: &Vec<String>| {
                values.iter().map(move |value| {
                    let mut more = before.clone();
                    more.push(value.clone());
                    more
                })
            })
            .collect();
    }
    let bucket = |values: &Vec<String>| bucket_of(values.iter().map(String::as_str), index.buckets);
    Some(combinations.iter().map(bucket).collect())
}

impl Skipping<'_> {
    /// By the filters of record keys, where reading those of all files costs less than opening the files.
    pub(super) async fn by_bloom_filters(&self, slices: &mut Slices) -> Result<()> {
        let Some(keys) = self.record_keys() else {
            return Ok(());
        };
        if !self.pays(BLOOM_FILTERS, slices).await? || !self.is_small(BLOOM_FILTERS, slices).await?
        {
            return Ok(());
        }
        self.by_filters_of(BLOOM_FILTERS, slices, &keys, BY_BLOOM_FILTER)
            .await
    }

    /// By indexes over `lower` and `upper`: of a column that equals a text, the expression equals that of the text.
    pub(super) async fn by_expression_indexes(&self, slices: &mut Slices) -> Result<()> {
        let mut names = self.metadata.partitions();
        if !names.any(|name| name.starts_with("expr_index_")) {
            return Ok(());
        }
        for index in self.metadata.index_definitions(self.storage()).await? {
            let Some((column, values)) = self.values_of_expression(&index) else {
                continue;
            };
            if !self.pays(&index.partition, slices).await? {
                continue;
            }
            match index.kind.as_str() {
                "column_stats" => self.by_stats_of(&index, column, &values, slices).await?,
                "bloom_filters" if self.is_small(&index.partition, slices).await? => {
                    let partition = &index.partition;
                    self.by_filters_of(partition, slices, &values, BY_EXPRESSION_INDEX)
                        .await?;
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// The values of an index's expression, one of which every row that passes has. Letters beyond ASCII change case by rules that
    /// differ between releases.
    fn values_of_expression<'a>(
        &self,
        index: &'a IndexDefinition,
    ) -> Option<(&'a str, Vec<String>)> {
        let [column] = index.columns.as_slice() else {
            return None;
        };
        let schema = self.bound.columns().read_schema();
        let is_text = *schema.field_with_name(column).ok()?.data_type() == DataType::Utf8;
        let change = match index.function.as_str() {
            "lower" => str::to_ascii_lowercase,
            "upper" => str::to_ascii_uppercase,
            _ => return None,
        };
        let values = Self::texts_of(self.bound, column)?;
        let plain = is_text && values.iter().all(|value| value.is_ascii());
        plain.then(|| {
            (
                column.as_str(),
                values.iter().map(|value| change(value)).collect(),
            )
        })
    }

    async fn by_stats_of(
        &self,
        index: &IndexDefinition,
        column: &str,
        values: &[String],
        slices: &mut Slices,
    ) -> Result<()> {
        let partitions: BTreeSet<&PartitionPath> =
            slices.kept.iter().map(|slice| &slice.partition).collect();
        let partitions: Vec<_> = partitions.into_iter().collect();
        let columns = [column];
        let stats = self
            .metadata
            .stats(self.storage(), &index.partition, &columns, &partitions);
        let Some(stats) = stats.await? else {
            return Ok(());
        };
        let schema = self.bound.columns().read_schema();
        slices.retain(BY_EXPRESSION_INDEX, |slice| {
            let bounds = lone_base(slice)
                .and_then(|base| stats.file(&slice.partition, &base.path, column, schema));
            bounds.is_none_or(|bounds| values.iter().any(|value| may_be(&bounds, value)))
        });
        Ok(())
    }

    /// Keeps slices with log files, base files without a filter, and those whose filter may hold one of the values.
    async fn by_filters_of(
        &self,
        partition: &str,
        slices: &mut Slices,
        values: &[String],
        by: &'static str,
    ) -> Result<()> {
        let bases = slices
            .kept
            .iter()
            .filter_map(|slice| Some((&slice.partition, lone_base(slice)?)));
        let bases: Vec<_> = bases.collect();
        let filters = self
            .metadata
            .bloom_filters(self.storage(), partition, &bases);
        let filters = filters.await?;
        slices.retain(by, |slice| {
            let filter = lone_base(slice).and_then(|base| filters.get(&base.path));
            filter.is_none_or(|filter| values.iter().any(|value| filter.may_hold(value.as_bytes())))
        });
        Ok(())
    }

    /// Whether the files of an index are no larger than the ends of the base files that it may spare.
    async fn is_small(&self, index: &str, slices: &Slices) -> Result<bool> {
        let groups = self.metadata.slices(self.storage(), index).await?;
        let bytes: u64 = groups.iter().map(FileSlice::size).sum();
        Ok(self.always || bytes <= BYTES_OF_AN_OPENING.saturating_mul(slices.kept.len() as u64))
    }
}

/// The base file of a slice that has nothing else.
fn lone_base(slice: &FileSlice) -> Option<&BaseFile> {
    let lone = slice.data_logs().next().is_none();
    slice.base.as_ref().filter(|_| lone)
}

fn may_be(bounds: &ColumnBounds, text: &str) -> bool {
    let value = Scalar::Bytes(text.as_bytes().to_vec());
    let less = bounds
        .min
        .as_ref()
        .is_some_and(|min| value.order(min) == Ordering::Less);
    let greater = bounds
        .max
        .as_ref()
        .is_some_and(|max| value.order(max) == Ordering::Greater);
    !less && !greater
}
