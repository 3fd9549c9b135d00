//! Rows to new file groups.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, RecordBatch, StringArray};
use arrow::datatypes::{Fields, Schema, SchemaRef};

use super::base_file::{BaseFile, Format};
use super::columns::FieldPath;
use super::input::Input;
use super::key_state::KeyState;
use super::latest::{Held, Latest, staying};
use super::partition::Partitioner;
use super::record_key::RecordKeyGenerator;
use super::target::FileTarget;
use super::written::WrittenFile;
use crate::codec::bloom::BloomSettings;
use crate::codec::gather::{Runs, gather};
use crate::codec::parquet::{Codec, Compressor, FileSchema};
use crate::config::TableConfig;
use crate::error::{Error, Result};
use crate::host::turn;
use crate::index::RecordKeys;
use crate::model::InstantTime;
use crate::schema::{add_meta_fields_avro, parse_avro, strip_meta_fields_avro, to_arrow};

/// What a key that comes twice in one call means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DuplicateKeys {
    /// The call fails.
    #[default]
    Error,
    /// The latest of its rows is written: by the table's ordering fields, and of equal ones the last. All rows of the call are
    /// held in memory until then.
    KeepLatest,
    /// Nobody asks: the caller has seen to it.
    Unchecked,
}

/// How rows become files.
#[derive(Debug, Clone)]
pub struct AppendOptions {
    /// How pages are packed.
    pub codec: Codec,
    /// Bytes after which a file ends: `hoodie.parquet.max.file.size`. `u64::MAX` makes one file of each partition.
    pub max_file_size: u64,
    /// Bytes that open files may hold in memory, uploads among them.
    pub buffer: usize,
    /// Bytes that open files and keys may hold; none is no limit.
    pub memory_limit: Option<usize>,
    /// Bytes of one part of an upload.
    pub part: u64,
    /// Whether promotions that lose nothing are made.
    pub widen: bool,
    /// What a key that comes twice means.
    pub duplicate_keys: DuplicateKeys,
    /// Whether a key is one row of the table whatever its partition, as under a record index.
    pub global_keys: bool,
    /// Whether [`WrittenFile::keys`] are wanted.
    pub keep_keys: bool,
    /// Sizes of the Bloom filters.
    pub bloom: BloomSettings,
    /// The call's `hoodie.*` settings, which key generators look into.
    pub hudi_options: BTreeMap<String, String>,
}

impl Default for AppendOptions {
    fn default() -> Self {
        Self {
            codec: Codec::default(),
            max_file_size: 120 << 20,
            buffer: 56 << 20,
            memory_limit: None,
            part: 8 << 20,
            widen: false,
            duplicate_keys: DuplicateKeys::default(),
            global_keys: false,
            keep_keys: true,
            bloom: BloomSettings::default(),
            hudi_options: BTreeMap::new(),
        }
    }
}

/// Rows that were checked, with their keys and the numbers of their partitions.
pub struct Prepared {
    columns: Vec<ArrayRef>,
    keys: Option<StringArray>,
    partitions: Option<Vec<u32>>,
    rows: usize,
}

/// Rows that go to a file between two looks at its size.
const STEP: usize = 16 << 10;

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
    format: Arc<Format>,
    options: AppendOptions,
    target: Arc<dyn FileTarget>,
    packer: Compressor,
    open: BTreeMap<u32, BaseFile>,
    keys: KeyState,
    /// Rows that wait for later ones of their keys.
    latest: Option<Latest>,
    done: Vec<(u32, WrittenFile)>,
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
        Ok(Self {
            partitions: Partitioner::of(config, fields)?,
            format: Arc::new(Format {
                schema: FileSchema::of_avro(&parse_avro(&with_meta)?)?,
                avro: with_meta,
                columns: fields.len(),
                meta_fields: config.populate_meta_fields(),
                auto_keys,
                instant: instant.clone(),
                bloom: options.bloom,
            }),
            input: Input::new(Arc::new(schema), options.widen),
            generator,
            packer: Compressor::new(options.codec),
            open: BTreeMap::new(),
            keys: KeyState::new(options.global_keys, check),
            latest,
            done: Vec::new(),
            rows: 0,
            options,
            target,
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
        let format = Format {
            instant: instant.clone(),
            ..self.format.as_ref().clone()
        };
        (self.format, self.target) = (Arc::new(format), target);
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

    async fn push_to(
        &mut self,
        partition: u32,
        columns: &[ArrayRef],
        keys: Option<&StringArray>,
        rows: usize,
    ) -> Result<()> {
        let mut start = 0;
        while start < rows {
            let count = STEP.min(rows - start);
            let columns: Vec<ArrayRef> = columns.iter().map(|c| c.slice(start, count)).collect();
            let keys = keys.map(|keys| keys.slice(start, count));
            self.step(partition, &columns, keys.as_ref(), count).await?;
            start += count;
            turn().await;
        }
        Ok(())
    }

    async fn step(
        &mut self,
        partition: u32,
        columns: &[ArrayRef],
        keys: Option<&StringArray>,
        rows: usize,
    ) -> Result<()> {
        if !self.open.contains_key(&partition) {
            let file = self.begin(partition).await?;
            self.open.insert(partition, file);
        }
        let Some(file) = self.open.get(&partition) else {
            return Err(Error::internal("a file that was opened is gone"));
        };
        let number = file.number;
        if let Some(keys) = keys {
            self.add_keys(number, keys).await?;
        }
        let Some(file) = self.open.get_mut(&partition) else {
            return Err(Error::internal("a file that was opened is gone"));
        };
        let texts = keys.filter(|_| self.format.meta_fields);
        file.push(columns, texts, rows, &mut self.packer)?;
        if file.size() >= self.options.max_file_size {
            self.finish_file(partition).await?;
        }
        self.keep_within_budget().await
    }

    /// Keeps the keys of rows, none of which came before.
    async fn add_keys(&mut self, file: u32, keys: &StringArray) -> Result<()> {
        if self.keys.add_rising(file, keys.iter().flatten())? {
            return Ok(());
        }
        while self.keys.catch_up() {
            turn().await;
        }
        for key in keys.iter().flatten() {
            if !self.keys.add(file, key)? {
                return Err(
                    Error::invalid_argument("a record key comes twice in one call")
                        .context("key", key)
                        .context("hint", "give each key once, or keep the latest row of each"),
                );
            }
        }
        Ok(())
    }

    async fn begin(&mut self, partition: u32) -> Result<BaseFile> {
        let number = self.keys.begin_file(partition);
        let path = self
            .partitions
            .paths
            .get(partition as usize)
            .cloned()
            .unwrap_or_default();
        let name = BaseFile::name(&self.format, number)?;
        let opened = self.target.open(&path, &name.to_string()).await?;
        BaseFile::begin(&self.format, number, path, name, opened)
    }

    /// Sends or ends the largest files until what is left fits.
    async fn keep_within_budget(&mut self) -> Result<()> {
        let part = self.options.part;
        // Nothing but memory would end the only file then.
        let one_file = self.options.max_file_size == u64::MAX;
        loop {
            let open: usize = self.open.values().map(|file| file.memory(part)).sum();
            let budget = self.budget()?;
            let largest = self.open.iter().max_by_key(|(_, file)| file.memory(part));
            let Some((partition, _)) = largest.filter(|_| open > budget) else {
                return Ok(());
            };
            let partition = *partition;
            match self.open.get_mut(&partition) {
                Some(file) if file.buffered() as u64 >= part || one_file => {
                    file.flush(&mut self.packer).await?;
                    if one_file {
                        return Ok(());
                    }
                }
                _ => self.finish_file(partition).await?,
            }
        }
    }

    /// Bytes that open files may hold now.
    fn budget(&self) -> Result<usize> {
        let Some(limit) = self.options.memory_limit else {
            return Ok(self.options.buffer);
        };
        let keys = self.keys.memory();
        let left = limit.saturating_sub(keys);
        // Below this a file is sent in pieces that no longer compress.
        if left < LEAST_BUFFER {
            return Err(Error::limit_exceeded(
                "the keys of one call take more memory than allowed",
            )
            .context("limit", limit)
            .context("hint", "write in several calls, or raise memoryLimit"));
        }
        Ok(left.min(self.options.buffer))
    }

    async fn finish_file(&mut self, partition: u32) -> Result<()> {
        let Some(file) = self.open.remove(&partition) else {
            return Ok(());
        };
        let (number, rows) = (file.number, file.rows);
        let counted = self
            .format
            .auto_keys
            .then(|| self.format.counted_keys(number, rows));
        let keys = counted.as_ref().or(self.keys.keys(number));
        let written = file.finish(&self.format, keys, &mut self.packer).await?;
        self.done.push((number, written));
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
        let open: Vec<u32> = self.open.keys().copied().collect();
        for partition in open {
            if let Err(error) = self.finish_file(partition).await {
                self.abort().await;
                return Err(error);
            }
        }
        self.done.sort_by_key(|(number, _)| *number);
        let (keys, format) = (&mut self.keys, &self.format);
        let wanted = self.options.keep_keys;
        let done = self.done.into_iter().map(|(number, mut written)| {
            let rows = usize::try_from(written.stat.num_writes).unwrap_or(0);
            written.keys = match (wanted, format.auto_keys) {
                (false, _) => RecordKeys::default(),
                (true, true) => format.counted_keys(number, rows),
                (true, false) => keys.take(number),
            };
            written
        });
        Ok(done.collect())
    }

    /// Gives up the files that are open.
    pub async fn abort(self) {
        for file in self.open.into_values() {
            file.abort().await;
        }
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

const LEAST_BUFFER: usize = 4 << 20;

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
