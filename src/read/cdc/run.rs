//! Splits to one stream of batches.

use std::collections::VecDeque;

use arrow::array::RecordBatch;
use arrow::datatypes::{Schema, SchemaRef};
use futures::stream::{self, BoxStream, Stream, StreamExt, TryStreamExt};

use super::images::{log_schema, slice_of};
use super::output::{CdcOutput, Chunk, Image, Source};
use super::splits::{Case, Split};
use crate::error::Result;
use crate::host;
use crate::read::Bound;
use crate::schema::strip_meta_fields;
use crate::timeline::MetaClient;

/// The host gets its turn when so much time has gone by.
const TURN_MILLIS: i64 = 80;

/// How images are read.
#[derive(Debug, Clone)]
pub struct CdcImages {
    /// All columns of the table, meta fields first.
    pub(super) bound: Bound,
    /// The columns of change logs.
    pub(super) log: SchemaRef,
    pub(super) wants_before: bool,
    pub(super) wants_after: bool,
    /// Damaged spans of logs are an error.
    pub(super) strict: bool,
}

impl CdcImages {
    /// Images of all columns of a table, which `bound` selects without filters, as far as the output needs them.
    pub fn new(bound: Bound, output: &CdcOutput, strict: bool) -> Self {
        let images: Schema = strip_meta_fields(bound.columns().read_schema());
        Self {
            log: log_schema(&images),
            wants_before: output.makes("before"),
            wants_after: output.makes("after"),
            bound,
            strict,
        }
    }
}

/// The changes of splits, in their order, at most `limit` of them.
///
/// Of a split the changes are held, not the rows that did not change; a new or removed file is streamed.
pub fn run_cdc(
    meta: &MetaClient,
    splits: Vec<Split>,
    images: CdcImages,
    output: CdcOutput,
    limit: Option<u64>,
) -> impl Stream<Item = Result<RecordBatch>> + Send + use<> {
    let run = Run {
        meta: meta.clone(),
        splits: splits.into(),
        images,
        output,
        current: None,
        ready: VecDeque::new(),
        left: limit.unwrap_or(u64::MAX),
        turn_began: host::now_millis(),
    };
    stream::try_unfold(run, async |mut run| {
        let next = run.next().await?;
        Ok(next.map(|batch| (batch, run)))
    })
}

struct Run {
    meta: MetaClient,
    splits: VecDeque<Split>,
    images: CdcImages,
    output: CdcOutput,
    /// The split whose chunks come now.
    current: Option<(Split, BoxStream<'static, Result<Chunk>>)>,
    ready: VecDeque<RecordBatch>,
    left: u64,
    turn_began: i64,
}

impl Run {
    async fn next(&mut self) -> Result<Option<RecordBatch>> {
        while self.left > 0 {
            if let Some(batch) = self.ready.pop_front() {
                let left = usize::try_from(self.left).unwrap_or(usize::MAX);
                let rows = batch.num_rows().min(left);
                self.left -= rows as u64;
                return Ok(Some(batch.slice(0, rows)));
            }
            if host::now_millis() - self.turn_began >= TURN_MILLIS {
                host::turn().await;
                self.turn_began = host::now_millis();
            }
            if let Some((split, chunks)) = &mut self.current {
                match chunks.try_next().await? {
                    Some(chunk) => {
                        let batches = self.output.batches(split.instant.as_str(), &chunk)?;
                        self.ready = batches.into();
                    }
                    None => self.current = None,
                }
                continue;
            }
            let Some(split) = self.splits.pop_front() else {
                break;
            };
            let chunks = chunks(&self.meta, &self.images, &split)
                .await
                .map_err(|error| {
                    error
                        .context("instant", &split.instant)
                        .context("fileId", &split.file_id)
                })?;
            self.current = Some((split, chunks));
        }
        Ok(None)
    }
}

/// The chunks of one split.
async fn chunks(
    meta: &MetaClient,
    images: &CdcImages,
    split: &Split,
) -> Result<BoxStream<'static, Result<Chunk>>> {
    let partition = &split.partition;
    Ok(match &split.case {
        Case::Inserted(file) => {
            let slice = slice_of(partition, file);
            let rows = images.rows(meta, &slice, None)?;
            rows.map_ok(|batch| whole(&batch, "i")).boxed()
        }
        Case::Removed(slice) => {
            let rows = images.rows(meta, slice, None)?;
            rows.map_ok(|batch| whole(&batch, "d")).boxed()
        }
        Case::Logged {
            logs,
            before,
            after,
        } => {
            let before = before.as_deref();
            let chunk = images.logged(meta, partition, logs, before, after).await?;
            stream::iter([Ok(chunk)]).boxed()
        }
        Case::Appended { before, log } => {
            let chunk = images.appended(meta, before, log).await?;
            stream::iter([Ok(chunk)]).boxed()
        }
    })
}

/// Every row of a batch inserted or deleted.
fn whole(batch: &RecordBatch, op: &'static str) -> Chunk {
    let rows = (0..batch.num_rows()).map(|row| {
        let image = Image::At { source: 0, row };
        match op {
            "i" => (op, Image::None, image),
            _ => (op, image, Image::None),
        }
    });
    Chunk {
        rows: rows.collect(),
        sources: vec![Source::rows(batch)],
    }
}
