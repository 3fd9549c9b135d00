//! What is known of columns without reading rows.

use std::collections::BTreeSet;
use std::sync::Arc;

use arrow::datatypes::{DataType, Field};
use futures::stream::{self, StreamExt, TryStreamExt};
use serde::Serialize;
use serde_json::{Value, json};

use super::listing::worked_around;
use super::open::Table;
use super::read::{Purpose, Snapshot};
use crate::codec::parquet::Footer;
use crate::config::{QueryType, ReadOptions};
use crate::error::{Error, Result};
use crate::expr::{ColumnBounds, Scalar};
use crate::metadata::StoredStats;
use crate::metadata::partition::COLUMN_STATS;
use crate::model::{BaseFormat, FileSlice};
use crate::read::SliceTask;
use crate::slice::{file_bounds, open_footer};

/// Footers asked for at once; the storage holds its own bound.
const PARALLEL: usize = 16;

/// Writers cut longer text to about this many bytes, rounded outwards.
const LEAST_CUT: usize = 64;

/// A row of `columnStats`: one column of one file, or of all of them. `HudiColumnStats`.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ColumnStatsFacts {
    /// The column.
    pub column: String,
    /// The file, relative to the table; absent for all of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file_path: Option<String>,
    /// No value is less: a number, true or false, text as filters take it, or `{"bigint": text}`. Absent when it is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min: Option<Value>,
    /// No value is greater.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max: Option<Value>,
    /// Rows without a value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub null_count: Option<u64>,
    /// Rows, those without a value among them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value_count: Option<u64>,
    /// Whether rows have these very values: no log file may have replaced them, and no text is cut.
    pub tight: bool,
    /// `metadata-table` or `footer`.
    pub source: &'static str,
}

/// What one file says of one column.
struct Known {
    bounds: ColumnBounds,
    stored: bool,
    tight: bool,
}

impl Table {
    /// Minimum, maximum and counts of columns: of each column first those of all files, then those of each base and log file that
    /// a snapshot with these options opens.
    ///
    /// From the metadata table's statistics where it has them, else from footers; no rows are read. Errors: those of
    /// [`Table::read`] before its first batch; `InvalidArgument` for other queries than snapshots, `Schema` for an unknown column.
    pub async fn column_stats(
        &self,
        columns: &[String],
        options: &ReadOptions,
    ) -> Result<Vec<ColumnStatsFacts>> {
        if options.query_type()? != QueryType::Snapshot {
            let message = "statistics of columns are those of a snapshot";
            return Err(Error::invalid_argument(message));
        }
        let mut asked = options.clone();
        asked.projection = Some(columns.to_vec());
        asked.limit = None;
        let snapshot = self.prepare(&asked, None, Purpose::Slices).await?;
        let tasks = snapshot.tasks(self, options.strict_logs)?;
        let stored = self.stored_stats(&asked, columns, &snapshot).await?;
        let read = snapshot.bound.columns().read_schema();
        let fields = columns.iter().map(|column| {
            let field = read.fields().iter().find(|field| field.name() == column);
            let field = field.ok_or_else(|| crate::schema::unknown_column(read, column))?;
            Ok(Arc::clone(field))
        });
        let fields: Vec<Arc<Field>> = fields.collect::<Result<_>>()?;
        let files = tasks.iter().map(|task| {
            let (stored, fields) = (stored.as_ref(), &fields);
            async move { self.of_slice(task, stored, fields).await }
        });
        let files: Vec<_> = stream::iter(files).buffered(PARALLEL).try_collect().await?;
        let files: Vec<_> = files.into_iter().flatten().collect();
        let facts = fields.iter().enumerate();
        Ok(facts
            .flat_map(|(at, field)| facts_of(field, at, &files))
            .collect())
    }

    /// The metadata table's statistics of the columns, where it has some that go by the columns' names.
    async fn stored_stats(
        &self,
        options: &ReadOptions,
        columns: &[String],
        snapshot: &Snapshot,
    ) -> Result<Option<StoredStats>> {
        if snapshot.bound.is_numbered() || snapshot.slices.kept.is_empty() {
            return Ok(None);
        }
        let Some(metadata) = self.metadata(options).await? else {
            return Ok(None);
        };
        let storage = &self.meta.storage;
        let names: Vec<&str> = columns.iter().map(String::as_str).collect();
        let kept = snapshot.slices.kept.iter();
        let partitions: BTreeSet<_> = kept.map(|slice| &slice.partition).collect();
        let partitions: Vec<_> = partitions.into_iter().collect();
        match metadata
            .stats(storage, COLUMN_STATS, &names, &partitions)
            .await
        {
            Ok(stats) => Ok(stats),
            Err(error) => {
                let what = "the footers tell of columns instead of the metadata table";
                worked_around(storage, what, &error)
                    .then_some(None)
                    .ok_or(error)
            }
        }
    }

    /// What each file of a slice says of each column.
    async fn of_slice(
        &self,
        task: &SliceTask,
        stored: Option<&StoredStats>,
        fields: &[Arc<Field>],
    ) -> Result<Vec<(String, Vec<Known>)>> {
        let FileSlice {
            partition, base, ..
        } = &task.slice;
        let schema = &task.request.rows.schema;
        let lone = task.slice.data_logs().next().is_none();
        let of_stored = |path: &str, field: &Field| {
            let found = stored?.file(partition, path, field.name(), schema)?;
            // Of text that is too long Hudi keeps no bounds, and the footer may.
            let whole = found.min.is_some() && found.max.is_some();
            (whole || found.null_count == found.value_count).then_some(found)
        };
        let mut files = Vec::new();
        if let Some(base) = base {
            let known: Vec<_> = fields
                .iter()
                .map(|field| of_stored(&base.path, field))
                .collect();
            let parquet = base.name.format == BaseFormat::Parquet;
            let footer = match known.iter().any(Option::is_none) && parquet {
                true => Some(open_footer(&self.meta.storage, &base.path, base.size).await?),
                false => None,
            };
            let known = known.into_iter().zip(fields).map(|(known, field)| {
                let of_footer = |footer: &Arc<Footer>| {
                    file_bounds(footer, &task.request.rows, &[field.name().clone()])
                };
                let stored = known.is_some();
                let bounds = known.or_else(|| footer.as_ref().and_then(of_footer));
                Known::new(bounds, stored, lone)
            });
            files.push((base.path.clone(), known.collect()));
        }
        for log in task.slice.data_logs() {
            let known = fields.iter().map(|field| {
                let found = stored
                    .and_then(|stored| stored.file(partition, &log.path, field.name(), schema));
                Known::new(found, true, false)
            });
            files.push((log.path.clone(), known.collect()));
        }
        Ok(files)
    }
}

impl Known {
    fn new(bounds: Option<ColumnBounds>, stored: bool, tight: bool) -> Self {
        let bounds = bounds.unwrap_or_default();
        let cut = |bound: &Option<Scalar>| matches!(bound, Some(Scalar::Bytes(bytes)) if bytes.len() >= LEAST_CUT);
        Self {
            tight: tight && !cut(&bounds.min) && !cut(&bounds.max),
            bounds,
            stored,
        }
    }
}

/// The rows of one column, the `at`th asked for: of all files, then of each.
fn facts_of(field: &Field, at: usize, files: &[(String, Vec<Known>)]) -> Vec<ColumnStatsFacts> {
    let of_column = files
        .iter()
        .filter_map(|(path, known)| Some((path, known.get(at)?)));
    let all = of_column.clone().fold(
        Known::new(Some(ColumnBounds::of_no_rows()), true, true),
        |all, (_, known)| Known {
            bounds: all.bounds.union(known.bounds.clone()),
            stored: all.stored && known.stored,
            tight: all.tight && known.tight,
        },
    );
    let row = |path: Option<&String>, known: &Known| ColumnStatsFacts {
        column: field.name().clone(),
        file_path: path.cloned(),
        min: known
            .bounds
            .min
            .as_ref()
            .and_then(|v| value(v, field.data_type())),
        max: known
            .bounds
            .max
            .as_ref()
            .and_then(|v| value(v, field.data_type())),
        null_count: known.bounds.null_count,
        value_count: known.bounds.value_count,
        tight: known.tight,
        source: if known.stored {
            "metadata-table"
        } else {
            "footer"
        },
    };
    let rows = of_column.map(|(path, known)| row(Some(path), known));
    std::iter::once(row(None, &all)).chain(rows).collect()
}

/// A value as JSON says it; 64 bits do not fit JavaScript's numbers.
fn value(scalar: &Scalar, data_type: &DataType) -> Option<Value> {
    Some(match (scalar, data_type) {
        (Scalar::Boolean(value), _) => json!(value),
        (Scalar::Int(value), DataType::Int8 | DataType::Int16 | DataType::Int32) => json!(value),
        (Scalar::Int(value), DataType::Int64) => json!({"bigint": value.to_string()}),
        (Scalar::Float(value), _) if value.is_finite() => json!(value),
        _ => json!(scalar.text(data_type)?),
    })
}
