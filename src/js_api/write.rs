//! The calls of a table that write.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use js_sys::{Array, Function, Promise, Uint8Array};
use serde_json::json;
use wasm_bindgen::prelude::wasm_bindgen;
use wasm_bindgen::{JsCast, JsValue};

use super::call::Cancel;
use super::input;
use super::table::{StorageWords, Table, parse, run, text};
use crate::codec::ipc::{IpcFile, schema_of as schema_of_ipc};
use crate::commit::Outcome;
use crate::error::{Error, Result};
use crate::http_store::{self, JsCache};
use crate::table::{self, CreateOptions, TableSchema, WriteOptions, WriteOutcome};

#[wasm_bindgen]
impl Table {
    /// Makes a table below `uri` with the columns of `schema`, an IPC stream or file, or Avro JSON text; the options are those of
    /// [`open`](Self::open) and `CreateOptions`.
    #[allow(
        clippy::too_many_arguments,
        reason = "each is another kind of value on the border"
    )]
    pub fn create(
        uri: String,
        storage: JsValue,
        cache: JsValue,
        schema: JsValue,
        options: String,
        cancel: &Cancel,
        event: Option<Function>,
    ) -> Promise {
        let store = http_store::open(&uri, &storage);
        let cache = JsCache::new(cache);
        let schema = schema_of(&schema);
        run(cancel, event, |scope, events| async move {
            let words: StorageWords = parse(&options)?;
            let options: CreateOptions = parse(&options)?;
            let lock = words.lock();
            // The first indexes are built under the lock that every write takes.
            let options = CreateOptions {
                lock: lock.clone(),
                ..options
            };
            let (storage, base_url) = words.storage(store?, cache);
            events.phase("write");
            let made = table::Table::create(storage.for_call(scope), &schema?, options).await?;
            Ok(Self::opened(with_lock(made, lock), base_url).await.into())
        })
    }

    /// `[result, table]` of adding rows: `WriteResult` as JSON text without its table, and the table as of the commit. `source`
    /// gives the rows, as `js/input.js` cuts them.
    pub fn append(
        &self,
        source: JsValue,
        options: String,
        cancel: &Cancel,
        event: Option<Function>,
    ) -> Promise {
        let base_url = self.base_url();
        let committing = cancel.sealed();
        self.run(cancel, event, |table, events| async move {
            let options = write_options(&options, committing)?;
            events.phase("plan");
            table.storage().require_write()?;
            let rows = input::rows(source, table.schema(false).await?).await?;
            let rows = input::told(rows, table.storage().clone());
            events.phase("write");
            let outcome = table.append(rows, options).await?;
            let told = written(&outcome);
            let table = Self::opened(outcome.table, base_url).await;
            Ok(Array::of2(&told.into(), &table.into()).into())
        })
    }

    /// `ServiceResult` as JSON text of taking back the newest completed write.
    pub fn rollback(
        &self,
        instant: String,
        options: String,
        cancel: &Cancel,
        event: Option<Function>,
    ) -> Promise {
        let committing = cancel.sealed();
        self.run(cancel, event, |table, events| async move {
            let options = write_options(&options, committing)?;
            events.phase("plan");
            let (done, _) = table.rollback(&instant, options).await?;
            let told = json!({
                "service": "rollback",
                "instant": done.instant.time.to_string(),
                "state": "COMPLETED",
                "fileGroups": done.file_groups,
                "filesWritten": 0,
                "filesDeleted": done.files_deleted,
                "bytesWritten": 0,
            });
            Ok(text(&told).into())
        })
    }

    /// `COMMITTED`, `NOT_COMMITTED` or `UNKNOWN`.
    pub fn resolve(&self, instant: String, cancel: &Cancel, event: Option<Function>) -> Promise {
        self.run(cancel, event, |table, _| async move {
            Ok(match table.resolve(&instant).await? {
                Outcome::Committed => "COMMITTED",
                Outcome::NotCommitted => "NOT_COMMITTED",
                Outcome::Unknown => "UNKNOWN",
            }
            .into())
        })
    }
}

/// The options of a write, which says by `committing` from when on it can no longer be taken back.
fn write_options(given: &str, committing: Arc<AtomicBool>) -> Result<WriteOptions> {
    Ok(WriteOptions {
        committing,
        ..parse(given)?
    })
}

/// The table under the lock that its place has.
pub(super) fn with_lock(
    table: table::Table,
    lock: Option<crate::commit::TableLock>,
) -> table::Table {
    match lock {
        Some(lock) => table.with_lock(lock),
        None => table,
    }
}

fn schema_of(given: &JsValue) -> Result<TableSchema> {
    if let Some(text) = given.as_string() {
        return Ok(TableSchema::Avro(text));
    }
    let wrong = || {
        Error::invalid_argument("not a schema")
            .context("field", "schema")
            .context(
                "hint",
                "give an Arrow IPC stream or file, which may have no batches, or Avro JSON text",
            )
    };
    let bytes = given.dyn_ref::<Uint8Array>().ok_or_else(wrong)?;
    // Rows may stand behind the schema of a stream, and would fill memory for nothing. A file tells its schema at its end.
    let head = bytes.subarray(0, SCHEMA_GUESS).to_vec();
    if bytes.length() > SCHEMA_GUESS
        && !IpcFile::is_one(&head)
        && let Ok(schema) = schema_of_ipc(head)
    {
        return Ok(TableSchema::Arrow(schema));
    }
    Ok(TableSchema::Arrow(schema_of_ipc(bytes.to_vec())?))
}

/// Bytes that nearly every schema fits into.
const SCHEMA_GUESS: u32 = 64 << 10;

fn written(outcome: &WriteOutcome) -> String {
    let instant = outcome.instant.as_ref();
    let partitions = outcome.partitions.iter().map(|p| p.as_str());
    let mut plain = json!({
        "inserted": outcome.inserted,
        "updated": 0,
        "deleted": 0,
        "filesWritten": outcome.files_written,
        "bytesWritten": outcome.bytes_written,
        "bytesCopied": 0,
        "partitions": partitions.collect::<Vec<_>>(),
        "attempts": outcome.attempts,
    });
    if let (Some(instant), Some(plain)) = (instant, plain.as_object_mut()) {
        plain.insert("instant".into(), instant.time.to_string().into());
        plain.insert("action".into(), instant.action.as_str().into());
        if let Some(completion) = &instant.completion {
            plain.insert("completionTime".into(), completion.to_string().into());
        }
    }
    text(&plain)
}
