//! Rows as JavaScript gives them: pieces of Arrow IPC, or JSON text of rows, one at a time.

use std::collections::VecDeque;

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use futures::StreamExt;
use futures::stream::{self, BoxStream, try_unfold};
use js_sys::{Function, Promise, Reflect, Uint8Array};
use serde_json::{Map, Value};
use wasm_bindgen::{JsCast, JsValue};

use super::error::from_js;
use crate::codec::ipc::{IpcFile, IpcStream};
use crate::error::{Error, Result};
use crate::host::{self, Kept};
use crate::storage::Storage;
use crate::table::{Rows, rows_to_batch};

const PARQUET: &[u8] = b"PAR1";

enum Piece {
    Bytes(Vec<u8>),
    Rows(String),
}

/// Asks `source.next()` for the next piece: a Uint8Array, a text, or undefined at the end.
fn next(source: &Kept) -> impl Future<Output = Result<Option<Piece>>> + Send + use<> {
    let source = source.get();
    let work = async move {
        let next = Reflect::get(&source, &"next".into())?.dyn_into::<Function>()?;
        let given = host::settled(Promise::resolve(&next.call0(&source)?)).await?;
        if let Some(text) = given.as_string() {
            return Ok(Some(Piece::Rows(text)));
        }
        let bytes = given.dyn_ref::<Uint8Array>().map(Uint8Array::to_vec);
        Ok::<_, JsValue>(bytes.map(Piece::Bytes))
    };
    let local = host::run_local(
        async move { work.await.map_err(|thrown| from_js(&thrown)) },
        || {},
    );
    async move { local.await? }
}

/// The rows of an input, in the columns of `table` where they come as objects.
///
/// Errors: `InvalidArgument` for bytes that are no Arrow IPC; whatever the input itself fails with.
pub(super) async fn rows(source: JsValue, table: SchemaRef) -> Result<Rows> {
    rows_of(Kept::new(source), table).await
}

async fn rows_of(source: Kept, table: SchemaRef) -> Result<Rows> {
    let mut head = Vec::new();
    loop {
        match next(&source).await? {
            Some(Piece::Rows(text)) => return Ok(objects(source, table, text)),
            Some(Piece::Bytes(bytes)) => head.extend(bytes),
            None => break,
        }
        if head.len() >= 8 {
            break;
        }
    }
    if head.starts_with(PARQUET) {
        return Err(Error::unsupported("Parquet is not taken as input")
            .context("hint", "give Arrow IPC: a stream or a file"));
    }
    if IpcFile::is_one(&head) {
        return file(source, head).await;
    }
    let mut ipc = Ipc {
        source,
        decoder: IpcStream::new(),
        ready: VecDeque::new(),
        over: false,
    };
    ipc.take(head)?;
    while ipc.decoder.schema().is_none() && !ipc.over {
        ipc.pull().await?;
    }
    let schema = ipc.decoder.schema().ok_or_else(|| {
        Error::invalid_argument("the input holds no Arrow schema").context(
            "hint",
            "an input without rows is an IPC stream that holds a schema, or { rows: [] }",
        )
    })?;
    Ok(Rows {
        schema,
        batches: ipc.stream(),
    })
}

/// The rows of an Arrow file, which is held as a whole: its schema may stand behind its batches alone, as `apache-arrow` writes it.
async fn file(source: Kept, mut bytes: Vec<u8>) -> Result<Rows> {
    while let Some(Piece::Bytes(more)) = next(&source).await? {
        bytes.extend(more);
    }
    let file = IpcFile::parse(bytes)?;
    Ok(Rows {
        schema: file.schema(),
        batches: stream::iter(file).boxed(),
    })
}

/// The same rows, whose number is told as they go by.
pub(super) fn told(rows: Rows, storage: Storage) -> Rows {
    let mut done = 0;
    let batches = rows.batches.inspect(move |batch| {
        if let Ok(batch) = batch {
            done += batch.num_rows();
            storage.tell_rows(done);
        }
    });
    Rows {
        batches: batches.boxed(),
        ..rows
    }
}

/// An IPC stream.
struct Ipc {
    source: Kept,
    decoder: IpcStream,
    ready: VecDeque<RecordBatch>,
    over: bool,
}

impl Ipc {
    fn take(&mut self, bytes: Vec<u8>) -> Result<()> {
        self.ready.extend(self.decoder.push(bytes)?);
        Ok(())
    }

    async fn pull(&mut self) -> Result<()> {
        match next(&self.source).await? {
            Some(Piece::Bytes(bytes)) => self.take(bytes),
            Some(Piece::Rows(_)) => Err(Error::internal("rows among bytes")),
            None => {
                self.over = true;
                self.decoder.finish()
            }
        }
    }

    fn stream(self) -> BoxStream<'static, Result<RecordBatch>> {
        try_unfold(self, |mut ipc| async move {
            loop {
                if let Some(batch) = ipc.ready.pop_front() {
                    return Ok(Some((batch, ipc)));
                }
                if ipc.over {
                    return Ok(None);
                }
                ipc.pull().await?;
            }
        })
        .boxed()
    }
}

fn objects(source: Kept, schema: SchemaRef, first: String) -> Rows {
    let state = (source, SchemaRef::clone(&schema), Some(first), 0_u64);
    let batches = try_unfold(state, |(source, schema, text, done)| async move {
        let text = match text {
            Some(text) => text,
            None => match next(&source).await? {
                Some(Piece::Rows(text)) => text,
                Some(Piece::Bytes(_)) => return Err(Error::internal("bytes among rows")),
                None => return Ok(None),
            },
        };
        let rows: Vec<Map<String, Value>> = serde_json::from_str(&text)
            .map_err(|source| Error::internal("rows are not JSON").with_source(source))?;
        let batch = rows_to_batch(&schema, &rows, done)?;
        let done = done + rows.len() as u64;
        Ok(Some((batch, (source, schema, None, done))))
    });
    Rows {
        schema,
        batches: batches.boxed(),
    }
}
