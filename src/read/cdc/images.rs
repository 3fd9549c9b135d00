//! The rows of a split, before and after.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use arrow::array::{Array, AsArray, RecordBatch};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use futures::stream::{BoxStream, StreamExt, TryStreamExt};

use super::output::{Chunk, Image, Op, Source};
use super::run::CdcImages;
use super::splits::base_file;
use crate::codec::log_block::{BlockReader, deletes};
use crate::codec::log_format::BlockKind;
use crate::config::RawFilter;
use crate::error::{Error, Result, ResultExt};
use crate::model::meta_field::RECORD_KEY;
use crate::model::{BaseFile, FileSlice, InstantTime, LogFile, PartitionPath};
use crate::read::{Merging, run};
use crate::schema::{AvroRecord, parse_avro};
use crate::slice::{ScanOptions, block_content, scan_logs};
use crate::timeline::MetaClient;

/// Rows of a change block that are decoded at once.
const BLOCK_ROWS: usize = 8192;

/// What a change log says, before images that it leaves out are looked for.
#[derive(Default)]
struct Logged {
    chunk: Chunk,
    /// The key of each change, where the log has keys instead of images.
    keys: Vec<Option<String>>,
    has_before: bool,
    has_after: bool,
}

impl CdcImages {
    /// The rows of a slice, or those of some keys, with all columns.
    pub(super) fn rows(
        &self,
        meta: &MetaClient,
        slice: &FileSlice,
        keys: Option<&BTreeSet<&str>>,
    ) -> Result<BoxStream<'static, Result<RecordBatch>>> {
        let bound = match keys {
            Some(keys) => {
                let filter = RawFilter {
                    field: RECORD_KEY.to_owned(),
                    operator: "IN".to_owned(),
                    values: keys.iter().map(|key| (*key).to_owned()).collect(),
                };
                self.bound.filtered(&[filter])?
            }
            None => self.bound.clone(),
        };
        let merging = Merging {
            meta,
            as_of: None,
            members: None,
            strict: self.strict,
        };
        let tasks = bound.tasks(std::slice::from_ref(slice), &merging)?;
        Ok(run(&meta.storage, tasks, None).boxed())
    }

    /// The changes that a writer logged.
    pub(super) async fn logged(
        &self,
        meta: &MetaClient,
        partition: &PartitionPath,
        logs: &[LogFile],
        before: Option<&str>,
        after: &BaseFile,
    ) -> Result<Chunk> {
        let mut logged = self.read_logs(meta, logs).await?;
        if !logged.has_after && self.wants_after {
            let changed = |op: Op| op != "d";
            let keys = logged.keys_of(changed);
            if !keys.is_empty() {
                let rows = self.rows(meta, &slice_of(partition, after), Some(&keys))?;
                let rows: Vec<RecordBatch> = rows.try_collect().await?;
                logged.take(&rows, changed, &after.path, |change, image| {
                    change.2 = image
                })?;
            }
        }
        if !logged.has_before && self.wants_before {
            let changed = |op: Op| op != "i";
            let keys = logged.keys_of(changed);
            if !keys.is_empty() {
                let path = before.ok_or_else(|| {
                    Error::corrupt("a commit does not name the file that it rewrote")
                        .context("path", &after.path)
                })?;
                let file = base_file(meta, path.to_owned()).await?;
                let rows = self.rows(meta, &slice_of(partition, &file), Some(&keys))?;
                let rows: Vec<RecordBatch> = rows.try_collect().await?;
                logged.take(&rows, changed, path, |change, image| change.1 = image)?;
            }
        }
        Ok(logged.chunk)
    }

    /// The changes that a log file makes to the slice before it. What leaves a row as it was is no change.
    pub(super) async fn appended(
        &self,
        meta: &MetaClient,
        before: &FileSlice,
        log: &LogFile,
    ) -> Result<Chunk> {
        let keys = self.log_keys(meta, log).await?;
        let keys: BTreeSet<&str> = keys.iter().map(String::as_str).collect();
        let mut after = before.clone();
        after.logs.push(log.clone());
        let mut chunk = Chunk::default();
        let has_files = before.base.is_some() || !before.logs.is_empty();
        let old = match has_files && !keys.is_empty() {
            true => self.keyed(meta, before, &keys, &mut chunk).await?,
            false => HashMap::new(),
        };
        let new = self.keyed(meta, &after, &keys, &mut chunk).await?;
        for key in keys {
            let change = match (old.get(key), new.get(key)) {
                (None, Some(new)) => ("i", Image::None, *new),
                (Some(old), None) => ("d", *old, Image::None),
                (Some(old), Some(new)) if chunk.differ(*old, *new)? => ("u", *old, *new),
                (Some(_), Some(_)) | (None, None) => continue,
            };
            chunk.rows.push(change);
        }
        Ok(chunk)
    }

    /// The rows of some keys as images of a chunk.
    async fn keyed(
        &self,
        meta: &MetaClient,
        slice: &FileSlice,
        keys: &BTreeSet<&str>,
        chunk: &mut Chunk,
    ) -> Result<HashMap<String, Image>> {
        let rows = self.rows(meta, slice, Some(keys))?;
        let rows: Vec<RecordBatch> = rows.try_collect().await?;
        let mut found = HashMap::new();
        for batch in &rows {
            add_keyed(batch, chunk, &mut found)?;
        }
        Ok(found)
    }

    /// The keys of the rows and deletes in a log file.
    async fn log_keys(&self, meta: &MetaClient, log: &LogFile) -> Result<BTreeSet<String>> {
        let logs = std::slice::from_ref(log);
        let options = ScanOptions {
            strict: self.strict,
            ..ScanOptions::default()
        };
        let committed = |instant: &str| {
            let instant = InstantTime::parse(instant);
            instant.is_ok_and(|instant| meta.timeline.is_committed(&instant))
        };
        let scan = scan_logs(&meta.storage, logs, &committed, options).await?;
        let key = Field::new(RECORD_KEY, DataType::Utf8, true);
        let schema: SchemaRef = Arc::new(Schema::new(vec![key]));
        let mut keys = BTreeSet::new();
        for block in &scan.blocks {
            let content = block_content(&meta.storage, logs, block).await?;
            if block.kind == BlockKind::Delete {
                let deleted = deletes(&content).context("path", &log.path)?;
                keys.extend(deleted.into_iter().map(|delete| delete.key));
                continue;
            }
            let text = block.header.schema();
            let text = text.ok_or_else(|| Error::corrupt("a data block without a schema"));
            let writer = parse_avro(text.context("path", &log.path)?)?;
            let reader = match block.kind {
                BlockKind::AvroData => BlockReader::avro(content, &writer, &schema),
                BlockKind::ParquetData => BlockReader::parquet(content, &schema),
                BlockKind::HFileData => BlockReader::hfile(&content, &writer, &schema),
                other => Err(Error::unsupported(format!(
                    "log blocks of the kind {other:?}"
                ))),
            };
            let batches = reader.and_then(|reader| reader.all(BLOCK_ROWS));
            for batch in batches.context("path", &log.path)? {
                let column = batch.column_by_name(RECORD_KEY);
                let column = column.and_then(|column| column.as_string_opt::<i32>());
                let column = column.ok_or_else(|| Error::internal("rows without their keys"))?;
                keys.extend(column.iter().flatten().map(str::to_owned));
            }
        }
        Ok(keys)
    }

    async fn read_logs(&self, meta: &MetaClient, logs: &[LogFile]) -> Result<Logged> {
        let options = ScanOptions {
            strict: self.strict,
            changes: true,
            ..ScanOptions::default()
        };
        let scan = scan_logs(&meta.storage, logs, &|_| true, options).await?;
        let mut logged = Logged {
            has_before: true,
            has_after: true,
            ..Logged::default()
        };
        for block in &scan.blocks {
            let path = logs.get(block.file).map_or("", |log| log.path.as_str());
            let content = block_content(&meta.storage, logs, block).await?;
            let schema = block.header.schema();
            let schema = schema.ok_or_else(|| Error::corrupt("a change block has no schema"));
            let writer = parse_avro(schema.context("path", path)?).context("path", path)?;
            let record = writer.as_record();
            let has = |name: &str| has_field(record, name);
            logged.has_before &= has("before");
            logged.has_after &= has("after");
            let reader = BlockReader::avro(content, &writer, &self.log);
            let batches = reader.and_then(|reader| reader.all(BLOCK_ROWS));
            for batch in batches.context("path", path)? {
                let (before, after) = (has("before"), has("after"));
                logged.add(&batch, before, after).context("path", path)?;
            }
        }
        Ok(logged)
    }
}

/// A slice of a base file alone.
pub(super) fn slice_of(partition: &PartitionPath, file: &BaseFile) -> FileSlice {
    FileSlice {
        partition: partition.clone(),
        file_id: file.name.file_id.clone(),
        instant: file.name.instant.clone(),
        base: Some(file.clone()),
        logs: Vec::new(),
    }
}

/// Adds rows to a chunk, and where they are by their keys.
fn add_keyed(
    batch: &RecordBatch,
    chunk: &mut Chunk,
    found: &mut HashMap<String, Image>,
) -> Result<()> {
    let source = chunk.sources.len();
    let keys = batch.column_by_name(RECORD_KEY);
    let keys = keys.and_then(|keys| keys.as_string_opt::<i32>());
    let keys = keys.ok_or_else(|| Error::internal("rows without their keys"))?;
    for row in 0..batch.num_rows() {
        found.insert(keys.value(row).to_owned(), Image::At { source, row });
    }
    chunk.sources.push(Source::rows(batch));
    Ok(())
}

fn has_field(record: Option<&AvroRecord>, name: &str) -> bool {
    record.is_some_and(|record| record.fields.iter().any(|field| field.name == name))
}

/// The columns that any change log may have, with images of these fields.
pub(super) fn log_schema(images: &Schema) -> SchemaRef {
    let text = |name: &str| Field::new(name, DataType::Utf8, true);
    let image = |name: &str| Field::new(name, DataType::Struct(images.fields().clone()), true);
    Arc::new(Schema::new(vec![
        text("op"),
        text("record_key"),
        image("before"),
        image("after"),
    ]))
}

impl Logged {
    /// Takes the rows of a change block; what the block does not hold stays absent.
    fn add(&mut self, batch: &RecordBatch, has_before: bool, has_after: bool) -> Result<()> {
        let [ops, keys, before, after] = batch.columns() else {
            return Err(Error::internal("a change block lost a column"));
        };
        let (ops, keys) = (ops.as_string::<i32>(), keys.as_string::<i32>());
        let first = self.chunk.sources.len();
        for image in [before, after] {
            let image = image.as_struct();
            self.chunk.sources.push(Source {
                fields: image.fields().clone(),
                columns: image.columns().to_vec(),
                is_log: true,
            });
        }
        for row in 0..batch.num_rows() {
            let op = match ops.is_valid(row).then(|| ops.value(row)) {
                Some("i") => "i",
                Some("u") => "u",
                Some("d") => "d",
                other => {
                    return Err(Error::corrupt("a change is no insert, update or delete")
                        .context("op", other.unwrap_or("null")));
                }
            };
            let image =
                |has: bool, array: &dyn Array, source: usize| match (has, array.is_valid(row)) {
                    (false, _) => Image::None,
                    (true, false) => Image::SaidNone,
                    (true, true) => Image::At { source, row },
                };
            let before = image(has_before, before.as_ref(), first);
            let after = image(has_after, after.as_ref(), first + 1);
            self.chunk.rows.push((op, before, after));
            let key = keys.is_valid(row).then(|| keys.value(row).to_owned());
            self.keys.push(key);
        }
        Ok(())
    }

    /// The keys of the changes whose operation passes.
    fn keys_of(&self, passes: impl Fn(Op) -> bool) -> BTreeSet<&str> {
        let changes = self.chunk.rows.iter().zip(&self.keys);
        let changes = changes.filter(|((op, ..), _)| passes(op));
        changes.filter_map(|(_, key)| key.as_deref()).collect()
    }

    /// Gives the changes whose operation passes the rows of their keys.
    ///
    /// Errors: `Corrupt` when a row is not in the file that should have it.
    fn take(
        &mut self,
        rows: &[RecordBatch],
        passes: impl Fn(Op) -> bool,
        path: &str,
        put: impl Fn(&mut (Op, Image, Image), Image),
    ) -> Result<()> {
        let mut found: HashMap<String, Image> = HashMap::new();
        for batch in rows {
            add_keyed(batch, &mut self.chunk, &mut found)?;
        }
        for (change, key) in self.chunk.rows.iter_mut().zip(&self.keys) {
            if !passes(change.0) {
                continue;
            }
            let image = key.as_ref().and_then(|key| found.get(key));
            let image = image.ok_or_else(|| {
                Error::corrupt("a row that a change log names is not in its file")
                    .context("path", path)
                    .context("key", key.as_deref().unwrap_or("null"))
            });
            put(change, *image?);
        }
        Ok(())
    }
}
