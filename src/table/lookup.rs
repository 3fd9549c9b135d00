//! Rows by their record keys.

use std::collections::HashMap;
use std::sync::Arc;

use arrow::array::{Array, AsArray, MutableArrayData, RecordBatch, RecordBatchOptions, make_array};
use futures::{StreamExt, TryStreamExt, stream};
use serde::Deserialize;

use super::open::Table;
use super::read::ReadStream;
use crate::config::{QueryType, RawFilter, ReadOptions};
use crate::error::{Error, Result};
use crate::model::PartitionPath;
use crate::model::meta_field::{PARTITION_PATH, RECORD_KEY};

/// One key that is looked up.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LookupKey {
    /// The record key.
    pub record_key: String,
    /// Its partition's path; without it, in any partition.
    #[serde(default)]
    pub partition_path: Option<String>,
}

impl Table {
    /// The rows of record keys, in the order of the keys; keys without a row are left out.
    ///
    /// The record index, where it pays, and the statistics of files decide which are opened. The filters of the options hold
    /// as well; their limit counts rows that come out. Errors: those of [`Table::read`]; `InvalidArgument` for other queries
    /// than snapshots; `Unsupported` for tables without meta fields.
    pub async fn lookup(&self, keys: &[LookupKey], options: &ReadOptions) -> Result<ReadStream> {
        if options.query_type()? != QueryType::Snapshot {
            return Err(Error::invalid_argument("rows are looked up in a snapshot"));
        }
        if !self.meta.config.populate_meta_fields() {
            let message = "a table without meta fields does not say which row a record key is of";
            return Err(Error::unsupported(message));
        }
        let mut asked = options.clone();
        asked.limit = keys.is_empty().then_some(0);
        if !keys.is_empty() {
            asked.filters.push(RawFilter {
                field: RECORD_KEY.to_owned(),
                operator: "IN".to_owned(),
                values: keys.iter().map(|key| key.record_key.clone()).collect(),
            });
        }
        // The columns that tell rows apart are read along, behind those wanted.
        let wanted = asked.projection.as_ref().map(Vec::len);
        if let Some(projection) = &mut asked.projection {
            for column in [RECORD_KEY, PARTITION_PATH] {
                if !projection.iter().any(|name| name == column) {
                    projection.push(column.to_owned());
                }
            }
        }
        let mut read = self.read(&asked).await?;
        let batches: Vec<RecordBatch> = (&mut read).try_collect().await?;
        let rows = in_order(keys, &batches)?;
        let limit = options.limit.and_then(|limit| usize::try_from(limit).ok());
        let rows = rows.get(..limit.unwrap_or(rows.len())).unwrap_or(&rows);
        let batch = gathered(&read, &batches, rows, wanted)?;
        let batches = match batch.num_rows() {
            0 => stream::empty().boxed(),
            _ => stream::iter([Ok(batch.clone())]).boxed(),
        };
        Ok(read.with_batches(batch.schema(), batches))
    }
}

/// Batch and row of each key's rows, key by key.
fn in_order(keys: &[LookupKey], batches: &[RecordBatch]) -> Result<Vec<(usize, usize)>> {
    let mut found: HashMap<&str, Vec<(usize, usize, &str)>> = HashMap::new();
    for (at, batch) in batches.iter().enumerate() {
        let column = |name: &str| {
            let column = batch
                .column_by_name(name)
                .and_then(|c| c.as_string_opt::<i32>());
            column
                .ok_or_else(|| Error::internal("a meta field was not read").context("field", name))
        };
        let (record_keys, partitions) = (column(RECORD_KEY)?, column(PARTITION_PATH)?);
        for row in 0..batch.num_rows() {
            let place = (at, row, partitions.value(row));
            found.entry(record_keys.value(row)).or_default().push(place);
        }
    }
    let mut rows = Vec::new();
    for key in keys {
        let places = found.get(key.record_key.as_str()).into_iter().flatten();
        let wanted = key.partition_path.as_ref().map(PartitionPath::new);
        let in_partition = places.filter(|(_, _, partition)| {
            let wanted = wanted.as_ref();
            wanted.is_none_or(|wanted| *wanted == PartitionPath::new(partition))
        });
        rows.extend(in_partition.map(|(batch, row, _)| (*batch, *row)));
    }
    Ok(rows)
}

/// Rows of several batches as one, of the first `wanted` columns.
fn gathered(
    read: &ReadStream,
    batches: &[RecordBatch],
    rows: &[(usize, usize)],
    wanted: Option<usize>,
) -> Result<RecordBatch> {
    let schema = read.schema();
    let count = wanted.unwrap_or(schema.fields().len());
    let mut columns = Vec::with_capacity(count);
    for at in 0..count {
        let data: Vec<_> = batches
            .iter()
            .map(|batch| batch.column(at).to_data())
            .collect();
        let Some(field) = schema.fields().get(at) else {
            return Err(Error::internal("a column was not read"));
        };
        if data.is_empty() {
            columns.push(arrow::array::new_empty_array(field.data_type()));
            continue;
        }
        let mut target = MutableArrayData::new(data.iter().collect(), false, rows.len());
        for (batch, row) in rows {
            let extended = target.try_extend(*batch, *row, row + 1);
            extended.map_err(|e| {
                Error::limit_exceeded("the rows do not fit one batch").with_source(e)
            })?;
        }
        columns.push(make_array(target.freeze()));
    }
    let fields: Vec<_> = schema.fields().iter().take(count).cloned().collect();
    let schema = arrow::datatypes::Schema::new_with_metadata(fields, schema.metadata().clone());
    let options = RecordBatchOptions::new().with_row_count(Some(rows.len()));
    RecordBatch::try_new_with_options(Arc::new(schema), columns, &options)
        .map_err(|e| Error::internal("looked up rows do not fit their schema").with_source(e))
}
