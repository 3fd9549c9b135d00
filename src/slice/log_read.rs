//! The contents of log blocks, gathered to one version a key.

use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch, RecordBatchOptions};
use arrow::datatypes::{Schema, SchemaRef};
use bytes::Bytes;
use futures::StreamExt;

use super::base_request::Constant;
use super::log_scan::{LogScan, block_contents};
use super::slice_request::LogRequest;
use crate::codec::log_block::{BlockReader, DeleteKey, Reader, deletes, positions};
use crate::codec::log_format::{BlockKind, LogBlock};
use crate::error::{Error, Result};
use crate::host;
use crate::merge::{Changes, Deletion, MergeColumns};
use crate::model::{BaseFile, LogFile};
use crate::schema::{AvroField, AvroSchema, FileNames, parse_avro};
use crate::storage::Storage;

/// Rows of one batch of a block.
const BATCH_ROWS: usize = 32 << 10;

/// The host gets its turn when so much time has gone by.
const TURN_MILLIS: i64 = 80;

/// Whether every block says where in `base` its rows lie.
pub(super) fn has_positions(scan: &LogScan, base: Option<&BaseFile>) -> bool {
    let Some(base) = base else {
        return false;
    };
    let instant = base.name.instant.to_string();
    scan.blocks.iter().all(|block| {
        block.header.base_file_instant_time_of_positions() == Some(instant.as_str())
            && block.header.record_positions().is_some()
    })
}

/// The logs of one slice being read.
pub(super) struct LogReading<'a> {
    pub(super) storage: &'a Storage,
    pub(super) files: &'a [LogFile],
    pub(super) scan: &'a LogScan,
    pub(super) request: &'a LogRequest,
    pub(super) columns: &'a MergeColumns,
    pub(super) constants: &'a [Constant],
}

impl LogReading<'_> {
    /// Reads all blocks that count, fetching ahead.
    ///
    /// Errors: those of the blocks' contents, with `path` and `offset`, and of [`Changes`].
    pub(super) async fn changes(&self) -> Result<Changes> {
        let mut changes = Changes::new(&self.request.rules, self.columns.clone());
        let mut contents = block_contents(self.storage, self.files, &self.scan.blocks);
        let mut writers = Writers::default();
        let mut turn_began = host::now_millis();
        for block in &self.scan.blocks {
            let content = contents.next().await;
            let content = content.unwrap_or_else(|| Err(Error::internal("a block was lost")))?;
            let taken = self.take(block, content, &mut changes, &mut writers);
            taken
                .and_then(|()| {
                    self.storage
                        .check_memory(changes.bytes(), "the log rows of a slice")
                })
                .map_err(|error| self.located(error, block))?;
            if host::now_millis() - turn_began >= TURN_MILLIS {
                host::turn().await;
                turn_began = host::now_millis();
            }
        }
        Ok(changes)
    }

    fn located(&self, error: Error, block: &LogBlock) -> Error {
        let file = self.files.get(block.file);
        let path = file.map_or("", |file| file.path.as_str());
        error.context("path", path).context("block", block.offset)
    }

    fn take(
        &self,
        block: &LogBlock,
        content: Bytes,
        changes: &mut Changes,
        writers: &mut Writers,
    ) -> Result<()> {
        if block.kind == BlockKind::Delete {
            let deletes: Vec<Deletion> = deletes(&content)?.into_iter().map(deletion).collect();
            let positions = self.positions(block, deletes.len())?;
            return changes.push_deletes(&deletes, positions.as_deref());
        }
        let partial = block.header.is_partial();
        let writer = writers.schema(block)?;
        let names = match &self.request.history {
            Some(history) => history.names_at(block.instant_time()?)?,
            None => FileNames::SAME,
        };
        let schema = self.reader(writer, partial, &names);
        let reader = Reader {
            schema: &schema,
            names: &names,
        };
        let mut rows = match block.kind {
            BlockKind::AvroData => BlockReader::avro(content, writer, reader)?,
            BlockKind::ParquetData => BlockReader::parquet(content, reader)?,
            BlockKind::HFileData => BlockReader::hfile(&content, writer, reader)?,
            other => {
                let message = format!("log blocks of the kind {other:?}");
                return Err(Error::unsupported(message));
            }
        };
        let positions = self.positions(block, rows.count())?;
        let mut from = 0;
        while let Some(batch) = rows.next_batch(BATCH_ROWS)? {
            let to = from + batch.num_rows();
            let positions = positions.as_ref().and_then(|all| all.get(from..to));
            changes.push(&self.with_constants(&batch)?, partial, positions)?;
            from = to;
        }
        Ok(())
    }

    fn positions(&self, block: &LogBlock, rows: usize) -> Result<Option<Vec<u64>>> {
        match block.header.record_positions() {
            Some(text) if self.columns.by_position() => positions(text, rows).map(Some),
            _ => Ok(None),
        }
    }

    /// The columns to read of a block: those of the merge that are in files, and of a partial update those it sets.
    fn reader(&self, writer: &AvroSchema, partial: bool, names: &FileNames) -> SchemaRef {
        let record = writer.as_record();
        let sets = |name: &str| {
            let name = names.of(name);
            let has = |field: &AvroField| Some(field.name.as_str()) == name;
            record.is_none_or(|record| record.fields.iter().any(has))
        };
        let constant = |name: &str| self.constants.iter().any(|c| c.name == name);
        let fields = self.columns.schema().fields().iter();
        let fields =
            fields.filter(|field| !constant(field.name()) && (!partial || sets(field.name())));
        Arc::new(Schema::new(fields.cloned().collect::<Vec<_>>()))
    }

    fn with_constants(&self, batch: &RecordBatch) -> Result<RecordBatch> {
        let schema = self.columns.schema();
        let constant = |name: &str| self.constants.iter().find(|c| c.name == name);
        let mut fields = Vec::with_capacity(schema.fields().len());
        let mut columns: Vec<ArrayRef> = Vec::with_capacity(schema.fields().len());
        for field in schema.fields() {
            let column = match constant(field.name()) {
                Some(constant) => Some(constant.repeated(batch.num_rows())?),
                None => batch.column_by_name(field.name()).cloned(),
            };
            if let Some(column) = column {
                fields.push(Arc::clone(field));
                columns.push(column);
            }
        }
        let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
        RecordBatch::try_new_with_options(Arc::new(Schema::new(fields)), columns, &options).map_err(
            |error| Error::schema("log rows do not fit the table's schema").with_source(error),
        )
    }
}

fn deletion(delete: DeleteKey) -> Deletion {
    Deletion {
        key: delete.key,
        ordering: delete.ordering,
    }
}

/// The last writer's schema: blocks of one commit share it.
#[derive(Default)]
struct Writers(Option<(String, AvroSchema)>);

impl Writers {
    fn schema(&mut self, block: &LogBlock) -> Result<&AvroSchema> {
        let text = block.header.schema();
        let text = text.ok_or_else(|| Error::corrupt("a data block without a schema"))?;
        let known = self.0.take().filter(|(known, _)| known == text);
        let parsed = match known {
            Some(known) => known,
            None => (text.to_owned(), parse_avro(text)?),
        };
        Ok(&self.0.insert(parsed).1)
    }
}
