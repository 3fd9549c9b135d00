use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use arrow::datatypes::Schema;
use js_sys::{Array, Function, Promise};
use serde::{Deserialize, Serialize};
use serde_json::json;
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

use super::call::{Cancel, promise};
use super::events::Events;
use super::ipc;
use super::locks::lock_of;
use super::stream::Stream;
use super::write::with_lock;
use crate::commit::TableLock;
use crate::config::ReadOptions;
use crate::error::{Error, Result};
use crate::host;
use crate::http_store::{self, JsCache, OpenedStore};
use crate::storage::{CallScope, MemoryCache, Storage, StorageOptions};
use crate::table::{self, InstantFacts, OpenOptions, ReadStream};

/// An open table. Options come in and facts go out as JSON text; `event` hears the events of its call.
#[wasm_bindgen]
pub struct Table {
    inner: table::Table,
    opened: Rc<Opened>,
}

/// What is found out once, at open.
struct Opened {
    base_url: String,
    clusterings: Vec<InstantFacts>,
}

#[wasm_bindgen]
impl Table {
    /// Opens the table below `uri` in `storage`, a `StorageInit` or an `ObjectStore`; `cache` outlives this instance, or is
    /// undefined.
    pub fn open(
        uri: String,
        storage: JsValue,
        cache: JsValue,
        options: String,
        cancel: &Cancel,
        event: Option<Function>,
    ) -> Promise {
        let store = http_store::open(&uri, &storage);
        let cache = JsCache::new(cache);
        run(cancel, event, |scope, events| async move {
            let words: StorageWords = parse(&options)?;
            let options: OpenOptions = parse(&options)?;
            let lock = words.lock();
            let (storage, base_url) = words.storage(store?, cache);
            events.phase("timeline");
            let inner = table::Table::open(storage.for_call(scope), options).await?;
            let inner = with_lock(inner, lock);
            Ok(Self::opened(inner, base_url).await.into())
        })
    }

    /// `TableFacts`, with `baseUrl`.
    pub fn facts(&self) -> String {
        text(&json!({"table": self.inner.facts(), "baseUrl": self.opened.base_url}))
    }

    /// `{instants, clusterings}`, both lists of `HudiInstant`, oldest first.
    pub fn timeline(&self) -> String {
        text(&json!({"instants": self.inner.instants(), "clusterings": self.opened.clusterings}))
    }

    /// A list of `TimelineEntry`, oldest first.
    #[wasm_bindgen(js_name = timelineEntries)]
    pub fn timeline_entries(&self, cancel: &Cancel, event: Option<Function>) -> Promise {
        self.run(cancel, event, |table, _| async move {
            let entries = table.timeline_entries().await?;
            Ok(text(&entries).into())
        })
    }

    /// What an instant says of itself, as JSON text.
    #[wasm_bindgen(js_name = instantMetadata)]
    pub fn instant_metadata(
        &self,
        time: String,
        action: String,
        cancel: &Cancel,
        event: Option<Function>,
    ) -> Promise {
        self.run(cancel, event, |table, _| async move {
            Ok(table.instant_json(&time, &action).await?.into())
        })
    }

    /// A table pinned to what is completed now.
    pub fn refresh(&self, cancel: &Cancel, event: Option<Function>) -> Promise {
        let base_url = self.opened.base_url.clone();
        self.run(cancel, event, |table, events| async move {
            events.phase("timeline");
            Ok(Self::opened(table.refresh().await?, base_url).await.into())
        })
    }

    /// `[ipc, fields]` of a schema: `table`, `meta` with the meta fields, or `partition`.
    pub fn schema(&self, kind: String, cancel: &Cancel, event: Option<Function>) -> Promise {
        self.run(cancel, event, |table, _| async move {
            let schema = match kind.as_str() {
                "partition" => table.partition_schema().await?,
                kind => table.schema(kind == "meta").await?,
            };
            let ipc = ipc::schema_stream(&schema)?;
            Ok(Array::of2(&ipc.into(), &fields(&schema).into()).into())
        })
    }

    /// The schema as Avro JSON text.
    #[wasm_bindgen(js_name = avroSchema)]
    pub fn avro_schema(
        &self,
        meta_fields: bool,
        cancel: &Cancel,
        event: Option<Function>,
    ) -> Promise {
        self.run(cancel, event, move |table, _| async move {
            Ok(table.avro_schema(meta_fields).await?.into())
        })
    }

    /// A list of `HudiFileSlice`.
    #[wasm_bindgen(js_name = fileSlices)]
    pub fn file_slices(
        &self,
        options: String,
        cancel: &Cancel,
        event: Option<Function>,
    ) -> Promise {
        self.tell(options, cancel, event, async |table, options| {
            table.file_slices(&options).await
        })
    }

    /// `ReadPlan`.
    pub fn explain(&self, options: String, cancel: &Cancel, event: Option<Function>) -> Promise {
        self.tell(options, cancel, event, async |table, options| {
            table.explain(&options).await
        })
    }

    /// A list of `ColumnStatsRow` of some columns, a list of names as JSON text.
    #[wasm_bindgen(js_name = columnStats)]
    pub fn column_stats(
        &self,
        columns: String,
        options: String,
        cancel: &Cancel,
        event: Option<Function>,
    ) -> Promise {
        self.tell(options, cancel, event, async move |table, options| {
            let columns: Vec<String> = parse(&columns)?;
            table.column_stats(&columns, &options).await
        })
    }

    /// `{numRows, totalByteSize}`, or `null` where nothing is known without reading.
    #[wasm_bindgen(js_name = tableStats)]
    pub fn table_stats(
        &self,
        options: String,
        cancel: &Cancel,
        event: Option<Function>,
    ) -> Promise {
        self.tell(options, cancel, event, async |table, options| {
            table.compute_table_stats(&options).await
        })
    }

    /// A [`Stream`] of the rows that the options ask for.
    pub fn read(&self, options: String, cancel: &Cancel, event: Option<Function>) -> Promise {
        let began = host::now_millis();
        self.run(cancel, event, move |table, events| async move {
            events.phase("plan");
            let read = table.read(&ReadOptions::from_json(&options)?).await?;
            Ok(streamed(read, events, began).into())
        })
    }

    /// A [`Stream`] of the rows that differ between the options' start and end: those added, removed, and the changed ones
    /// before and after; its metrics say in `parts` how many batches each has.
    pub fn diff(&self, options: String, cancel: &Cancel, event: Option<Function>) -> Promise {
        let began = host::now_millis();
        self.run(cancel, event, move |table, events| async move {
            events.phase("plan");
            let (read, parts) = table
                .diff_stream(&ReadOptions::from_json(&options)?)
                .await?;
            Ok(with_parts(read, parts.into(), events, began).into())
        })
    }

    /// A [`Stream`] of the rows of record keys, in the order of the keys: a list of [`table::LookupKey`] as JSON text.
    pub fn lookup(
        &self,
        keys: String,
        options: String,
        cancel: &Cancel,
        event: Option<Function>,
    ) -> Promise {
        let began = host::now_millis();
        self.run(cancel, event, move |table, events| async move {
            events.phase("plan");
            let keys: Vec<table::LookupKey> = parse(&keys)?;
            let read = table
                .lookup(&keys, &ReadOptions::from_json(&options)?)
                .await?;
            Ok(streamed(read, events, began).into())
        })
    }

    /// A [`Stream`] of the rows of one file slice, by paths relative to the table; `logs` is a list as JSON text.
    #[wasm_bindgen(js_name = readPaths)]
    pub fn read_paths(
        &self,
        base: Option<String>,
        logs: String,
        options: String,
        cancel: &Cancel,
        event: Option<Function>,
    ) -> Promise {
        let began = host::now_millis();
        self.run(cancel, event, move |table, events| async move {
            let logs: Vec<String> = parse(&logs)?;
            let options = ReadOptions::from_json(&options)?;
            let read = table.read_paths(base.as_deref(), &logs, &options).await?;
            Ok(streamed(read, events, began).into())
        })
    }
}

impl Table {
    pub(super) fn base_url(&self) -> String {
        self.opened.base_url.clone()
    }

    pub(super) async fn opened(inner: table::Table, base_url: String) -> Self {
        // The timeline tells clusterings by their bodies, which a read needs as well; a damaged one is its affair.
        let clusterings = match inner.clustering_commits().await {
            Ok(found) => found,
            Err(error) => {
                inner.storage().warn(&error.to_string(), error.get("path"));
                Vec::new()
            }
        };
        let opened = Rc::new(Opened {
            base_url,
            clusterings,
        });
        Self { inner, opened }
    }

    /// Answers with facts that some read options are about.
    fn tell<W, T>(
        &self,
        options: String,
        cancel: &Cancel,
        event: Option<Function>,
        work: W,
    ) -> Promise
    where
        W: AsyncFnOnce(table::Table, ReadOptions) -> Result<T> + 'static,
        T: Serialize,
    {
        self.run(cancel, event, |table, _| async move {
            let facts = work(table, ReadOptions::from_json(&options)?).await?;
            Ok(text(&facts).into())
        })
    }

    pub(super) fn run<W, F>(&self, cancel: &Cancel, event: Option<Function>, work: W) -> Promise
    where
        W: FnOnce(table::Table, Events) -> F,
        F: Future<Output = Result<JsValue>> + 'static,
    {
        let inner = self.inner.clone();
        run(cancel, event, |scope, events| {
            work(inner.for_call(scope), events)
        })
    }
}

/// Runs one call in a scope of its own.
pub(super) fn run<W, F>(cancel: &Cancel, event: Option<Function>, work: W) -> Promise
where
    W: FnOnce(CallScope, Events) -> F,
    F: Future<Output = Result<JsValue>> + 'static,
{
    let (scope, events) = Events::scope(event);
    let future = work(scope, events.clone());
    promise(cancel, future, move || events.flush())
}

fn streamed(read: ReadStream, events: Events, began: i64) -> Stream {
    with_parts(read, Vec::new(), events, began)
}

fn with_parts(read: ReadStream, parts: Vec<usize>, events: Events, began: i64) -> Stream {
    events.phase("read");
    let schema = Arc::clone(read.schema());
    let storage = read.storage().clone();
    let (files, pruned) = read.files();
    let metrics = move || {
        let counters = storage.metrics().counters();
        let listing = storage.listing_facts();
        text(&json!({
            "parts": parts,
            "requests": counters.requests,
            "bytes": counters.bytes,
            "cacheHits": counters.cache_hits,
            "filesTotal": files,
            "filesPruned": pruned,
            "rowGroupsPruned": counters.row_groups_pruned,
            "rowsScanned": counters.rows_scanned,
            "corruptLogBlocks": counters.corrupt_log_blocks,
            "ms": host::now_millis() - began,
            "warnings": counters.warnings,
            "pinned": counters.pinned,
            "listing": Listing {
                source: listing.source.as_str(),
                made_at: listing.made_at,
                newest_instant: listing.newest_instant,
            },
        }))
    };
    Stream::new(schema, Box::pin(read), Box::new(metrics), events)
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Listing {
    source: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    made_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    newest_instant: Option<String>,
}

/// The open options that are the storage's.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct StorageWords {
    concurrency: Option<usize>,
    memory_limit: Option<u64>,
    cache: CacheWords,
    /// The name of the table's place among locks.
    lock: Option<String>,
    /// Whether nothing but the tabs of this origin reaches it.
    within_origin: bool,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct CacheWords {
    memory: Option<u64>,
    largest: Option<u64>,
    coalesce_gap: Option<u64>,
    max_request: Option<u64>,
}

impl StorageWords {
    pub(super) fn lock(&self) -> Option<TableLock> {
        let key = self.lock.as_deref()?;
        Some(lock_of(key, self.within_origin))
    }

    /// The storage of a store that was found, and the table's URI.
    pub(super) fn storage(self, opened: OpenedStore, cache: Option<JsCache>) -> (Storage, String) {
        let mut options = self.over(opened.options);
        options.persistent = cache.map(|cache| Arc::new(cache) as _);
        (Storage::new(opened.store, options), opened.base_url)
    }

    fn over(self, mut options: StorageOptions) -> StorageOptions {
        options.concurrency = self.concurrency.unwrap_or(options.concurrency);
        options.memory_limit = self.memory_limit;
        options.coalesce_gap = self.cache.coalesce_gap.unwrap_or(options.coalesce_gap);
        let most = self.cache.max_request.unwrap_or(options.max_request);
        // A read in pieces of a byte would plan millions of requests.
        options.max_request = most.max(64 << 10);
        match self.cache.memory {
            Some(0) => options.cache = None,
            Some(bytes) => {
                let cache =
                    MemoryCache::new(bytes).with_largest(self.cache.largest.unwrap_or(bytes));
                options.cache = Some(Arc::new(cache));
            }
            None => {}
        }
        options
    }
}

/// `HudiSchema.fields`.
fn fields(schema: &Schema) -> String {
    let fields = schema.fields().iter().map(|field| {
        json!({
            "name": field.name(),
            "type": field.data_type().to_string(),
            "nullable": field.is_nullable(),
            "metadata": field.metadata().iter().collect::<BTreeMap<_, _>>(),
        })
    });
    text(&fields.collect::<Vec<_>>())
}

pub(super) fn parse<'a, T: Deserialize<'a>>(json: &'a str) -> Result<T> {
    serde_json::from_str(json).map_err(|source| {
        Error::invalid_argument("the options do not have the expected shape").with_source(source)
    })
}

/// Plain facts always have a text: their keys are strings and their numbers finite.
pub(super) fn text(facts: &impl Serialize) -> String {
    serde_json::to_string(facts).unwrap_or_default()
}
