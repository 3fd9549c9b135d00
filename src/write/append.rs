//! Rows to new file groups.

use std::collections::HashMap;
use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, RecordBatch, StringArray};
use arrow::datatypes::{Fields, Schema, SchemaRef};

use super::append_options::{AppendOptions, DuplicateKeys};
use super::base_file::Format;
use super::columns::FieldPath;
use super::input::Input;
use super::latest::{Held, Latest, staying};
use super::open_files::OpenFiles;
use super::partition::Partitioner;
use super::record_key::RecordKeyGenerator;
use super::target::FileTarget;
use super::written::WrittenFile;
use crate::codec::gather::{Runs, gather};
use crate::codec::parquet::FileSchema;
use crate::config::TableConfig;
use crate::error::{Error, Result};
use crate::model::InstantTime;
use crate::schema::{add_meta_fields_avro, parse_avro, strip_meta_fields_avro, to_arrow};

/// Rows that were checked, with their keys and the numbers of their partitions.
pub struct Prepared {
    columns: Vec<ArrayRef>,
    keys: Option<StringArray>,
    partitions: Option<Vec<u32>>,
    rows: usize,
}

/// Writes rows to new file groups of one table, one open file a partition.
///
/// What is promised:
/// 1. a batch is checked whole, in types, keys and partition values, before any of its rows is written;
/// 2. no file is visible but through [`FileTarget`], which sees its name first;
/// 3. after an error no file stays open: those that are complete are the caller's to roll back.
pub struct AppendWriter {
    input: Input,
    generator: RecordKeyGenerator,
    partitions: Partitioner,
    files: OpenFiles,
    /// Rows that wait for later ones of their keys.
    latest: Option<Latest>,
    rows: u64,
}

impl AppendWriter {
    /// A writer of rows of the table's schema, given as Avro JSON with or without meta fields, for one instant.
    ///
    /// Errors: `Schema` and `Unsupported` for what the schema, the key generator or the partition fields hold that is not
    /// written.
    pub fn new(
        config: &TableConfig,
        avro: &str,
        instant: &InstantTime,
        options: AppendOptions,
        target: Arc<dyn FileTarget>,
    ) -> Result<Self> {
        if config.drop_partition_columns() {
            return Err(
                Error::unsupported("a table whose files lack the partition columns")
                    .context("property", "hoodie.datasource.write.drop.partition.columns"),
            );
        }
        if config.metafile_uses_base_format() {
            return Err(
                Error::unsupported("partition metafiles in the format of base files")
                    .context("property", "hoodie.partition.metafile.use.base.format"),
            );
        }
        let plain = strip_meta_fields_avro(avro)?;
        let schema = to_arrow(&parse_avro(&plain)?)?;
        let with_meta = add_meta_fields_avro(&plain)?;
        let fields = schema.fields();
        let option = |name: &str| {
            let given = options.hudi_options.get(name).cloned();
            given.or_else(|| config.properties().get(name).cloned())
        };
        let generator = RecordKeyGenerator::of(config, fields, option)?;
        let auto_keys = matches!(generator, RecordKeyGenerator::Auto);
        let check = options.duplicate_keys == DuplicateKeys::Error && !auto_keys;
        let keeps = options.duplicate_keys == DuplicateKeys::KeepLatest && !auto_keys;
        let latest = keeps
            .then(|| latest(config, fields, &options))
            .transpose()?;
        let format = Format {
            schema: FileSchema::of_avro(&parse_avro(&with_meta)?)?,
            avro: with_meta,
            columns: fields.len(),
            meta_fields: config.populate_meta_fields(),
            auto_keys,
            instant: instant.clone(),
            bloom: options.bloom,
        };
        Ok(Self {
            partitions: Partitioner::of(config, fields)?,
            input: Input::new(Arc::new(schema), options.widen),
            generator,
            latest,
            files: OpenFiles::new(format, options, target, check),
            rows: 0,
        })
    }

    /// The columns that rows must have.
    pub fn schema(&self) -> &SchemaRef {
        self.input.schema()
    }

    /// Whether rows of a schema would be taken: see [`Self::push`].
    pub fn check(&self, schema: &Schema) -> Result<()> {
        self.input.check(schema)
    }

    /// Rows taken so far.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// The same writer for another instant and target; nothing has been written yet, though rows may be prepared.
    #[must_use]
    pub fn bound(mut self, instant: &InstantTime, target: Arc<dyn FileTarget>) -> Self {
        self.files.bind(instant, target);
        self
    }

    /// Adds rows: [`prepare`](Self::prepare) and [`write`](Self::write).
    pub async fn push(&mut self, batch: &RecordBatch) -> Result<()> {
        let prepared = self.prepare(batch)?;
        self.write(prepared).await
    }

    /// Checks rows without writing any.
    ///
    /// Errors: `Schema` for columns that are not the table's and values beyond their types, `InvalidArgument` for keys and
    /// partition values that cannot be, all with `field` and `rows`, counted from 0 over the call.
    pub fn prepare(&mut self, batch: &RecordBatch) -> Result<Prepared> {
        self.input.check(batch.schema_ref())?;
        let columns = self.input.columns(batch, self.rows)?;
        let keys = self.generator.keys(&columns, self.rows)?;
        let partitions = self.partitions.assign(&columns, self.rows)?;
        self.rows += batch.num_rows() as u64;
        Ok(Prepared {
            columns,
            keys,
            partitions,
            rows: batch.num_rows(),
        })
    }

    /// Writes rows that were prepared.
    ///
    /// Errors: `InvalidArgument` for a key that came before; `LimitExceeded`; those of the target.
    pub async fn write(&mut self, prepared: Prepared) -> Result<()> {
        let Prepared {
            columns,
            keys,
            partitions,
            rows,
        } = prepared;
        match (&mut self.latest, keys) {
            (Some(latest), Some(keys)) => latest.hold(Held {
                columns,
                keys,
                partitions,
            }),
            (_, keys) => {
                self.route(&columns, keys.as_ref(), partitions.as_deref(), rows)
                    .await
            }
        }
    }

    /// Puts rows into the files of their partitions.
    async fn route(
        &mut self,
        columns: &[ArrayRef],
        keys: Option<&StringArray>,
        partitions: Option<&[u32]>,
        rows: usize,
    ) -> Result<()> {
        match partitions {
            None => self.push_to(0, columns, keys, rows).await?,
            Some(partitions) => {
                for (partition, runs) in by_partition(partitions) {
                    let columns = columns.iter().map(|column| gather(&[column], &runs));
                    let columns: Vec<ArrayRef> = columns.collect::<Result<_>>()?;
                    let keys = keys.map(|keys| keys_of(keys, &runs)).transpose()?;
                    self.push_to(partition, &columns, keys.as_ref(), runs.rows())
                        .await?;
                }
            }
        }
        Ok(())
    }

    async fn push_to(
        &mut self,
        partition: u32,
        columns: &[ArrayRef],
        keys: Option<&StringArray>,
        rows: usize,
    ) -> Result<()> {
        let path = self.partitions.paths.get(partition as usize);
        let path = path.cloned().unwrap_or_default();
        self.files.push(partition, &path, columns, keys, rows).await
    }

    /// Writes the rows that were held.
    async fn write_latest(&mut self, latest: Latest) -> Result<()> {
        for (held, stays) in latest.finish()? {
            let runs = staying(&stays);
            let columns = held.columns.iter().map(|column| gather(&[column], &runs));
            let columns: Vec<ArrayRef> = columns.collect::<Result<_>>()?;
            let keys = keys_of(&held.keys, &runs)?;
            let partitions = held.partitions.map(|partitions| {
                let kept = partitions
                    .into_iter()
                    .zip(&stays)
                    .filter(|(_, stays)| **stays);
                kept.map(|(partition, _)| partition).collect::<Vec<u32>>()
            });
            self.route(&columns, Some(&keys), partitions.as_deref(), runs.rows())
                .await?;
        }
        Ok(())
    }

    /// Ends all files and reports them in the order in which they were begun.
    ///
    /// Errors: those of the target; `LimitExceeded`. Files that are complete are the caller's to roll back.
    pub async fn finish(mut self) -> Result<Vec<WrittenFile>> {
        if let Some(latest) = self.latest.take()
            && let Err(error) = self.write_latest(latest).await
        {
            self.abort().await;
            return Err(error);
        }
        self.files.finish().await
    }

    /// Gives up the files that are open.
    pub async fn abort(self) {
        self.files.abort().await;
    }
}

/// Rows of later keys win by the table's ordering fields, unless it merges by commit time.
fn latest(config: &TableConfig, fields: &Fields, options: &AppendOptions) -> Result<Latest> {
    let mode = config.properties().get("hoodie.record.merge.mode");
    let by_time = mode.is_some_and(|mode| mode.eq_ignore_ascii_case("COMMIT_TIME_ORDERING"));
    let names = if by_time {
        Vec::new()
    } else {
        config.ordering_fields()
    };
    let ordering = names.into_iter().map(|name| FieldPath::find(fields, name));
    let limit = options.memory_limit.unwrap_or(HELD_BYTES);
    Ok(Latest::new(
        ordering.collect::<Result<_>>()?,
        options.global_keys,
        limit,
    ))
}

/// Bytes of rows that are held at most, unless the call has a limit of its own.
const HELD_BYTES: usize = 256 << 20;

/// The rows of each partition, in the order in which the partitions come.
fn by_partition(partitions: &[u32]) -> Vec<(u32, Runs)> {
    let mut places: HashMap<u32, usize> = HashMap::new();
    let mut found: Vec<(u32, Runs)> = Vec::new();
    let mut last = None;
    for (row, partition) in partitions.iter().enumerate() {
        let place = match last {
            Some((same, place)) if same == *partition => place,
            _ => *places.entry(*partition).or_insert_with(|| {
                found.push((*partition, Runs::default()));
                found.len() - 1
            }),
        };
        last = Some((*partition, place));
        if let Some((_, runs)) = found.get_mut(place) {
            runs.push(0, row as u32);
        }
    }
    found
}

fn keys_of(keys: &StringArray, runs: &Runs) -> Result<StringArray> {
    let keys: ArrayRef = Arc::new(keys.clone());
    let gathered = gather(&[&keys], runs)?;
    let texts = gathered.as_string_opt::<i32>().cloned();
    texts.ok_or_else(|| Error::internal("keys are no texts"))
}
