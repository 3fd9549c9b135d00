//! A store that JavaScript wrote: the `ObjectStore` interface of `index.d.ts`. Memory, Node's files and whatever a
//! caller brings come in by it.
//!
//! Paths are relative to the table. A prefix is empty or ends in `/`.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::ops::Range;

use async_trait::async_trait;
use bytes::Bytes;
use futures::StreamExt;
use futures::stream::BoxStream;
use js_sys::{Date, Function, Object, Symbol, Uint8Array};
use object_store::path::Path;
use object_store::{
    Attributes, CopyOptions, GetOptions, GetRange, GetResult, GetResultPayload, ListResult,
    MultipartUpload, ObjectMeta, ObjectStore, PutMultipartOptions, PutOptions, PutPayload,
    PutResult, Result as StoreResult,
};
use wasm_bindgen::{JsCast, JsValue};
use web_sys::AbortController;

use super::body::{Pieces, read_up_to};
use super::js_value::{function, get, promise, set, text, thrown, whole};
use super::listing::{Level, Lister};
use crate::error::{Error, ErrorKind, Result};
use crate::host::{self, Kept};
use crate::storage::UNKNOWN_SIZE;
use crate::storage::wire::{Answer, Carried, Failure};

/// A whole object larger than this is not read at once.
const MAX_WHOLE: u64 = 512 << 20;
/// A listing longer than this is refused.
const MAX_LISTED: usize = 5_000_000;

/// The store.
#[derive(Debug)]
pub(crate) struct JsStore {
    object: Kept,
    lists: bool,
}

/// One object or a piece of it, as the store gave it.
struct Got {
    data: Bytes,
    ended: bool,
    size: u64,
    etag: Option<String>,
}

/// What a listing gave: files and folders.
#[derive(Default)]
struct Listed {
    files: BTreeMap<String, ObjectMeta>,
    folders: BTreeSet<String>,
}

impl JsStore {
    /// Takes a store. Errors: `InvalidArgument` when it has no `get`.
    pub(crate) fn new(object: JsValue) -> Result<Self> {
        if function(&object, "get").is_none() {
            return Err(Error::invalid_argument(
                "storage is neither a StorageInit with a type nor an ObjectStore with get()",
            )
            .context("field", "storage"));
        }
        let can = get(&get(&object, "capabilities"), "list");
        let lists = function(&object, "list").is_some() && can.as_bool() != Some(false);
        let object = Kept::new(object);
        Ok(Self { object, lists })
    }

    fn start_get(
        &self,
        path: &str,
        range: Option<Range<u64>>,
    ) -> impl Future<Output = Result<Result<Got, Failure>>> + Send + use<> {
        let object = self.object.get();
        let (options, abort) = options();
        let limit = match &range {
            Some(range) => {
                let js = Object::new();
                set(&js, "start", &JsValue::from_f64(range.start as f64));
                set(&js, "end", &JsValue::from_f64(range.end as f64));
                set(&options, "range", &js);
                // One that ignores ranges is cut when small, as a server is.
                (1 << 20).max((range.end - range.start).saturating_mul(2))
            }
            None => MAX_WHOLE,
        };
        let path = path.to_owned();
        let work = async move {
            let failed = |value: JsValue| thrown(&value, ErrorKind::Unavailable, &[]);
            let call = function(&object, "get")
                .ok_or(JsValue::UNDEFINED)
                .map_err(failed)?;
            let answer = call
                .call2(&object, &path.into(), &options)
                .map_err(failed)?;
            let answer = host::settled(promise(&answer)).await.map_err(failed)?;
            let size = whole(&get(&answer, "size"));
            let (data, ended) = bytes_of(&get(&answer, "data"), limit)
                .await
                .map_err(failed)?;
            let Some(size) = size else {
                return Err(Failure::lasting(
                    Error::invalid_argument("the store's get() gave no size")
                        .context("field", "storage"),
                ));
            };
            Ok(Got {
                data,
                ended,
                size,
                etag: text(&answer, "etag"),
            })
        };
        host::run_local(work, abort)
    }

    fn start_list(
        &self,
        prefix: &str,
        one_level: bool,
        start_after: Option<&str>,
    ) -> impl Future<Output = Result<Result<Listed, Failure>>> + Send + use<> {
        let object = self.object.get();
        let (options, abort) = options();
        if one_level {
            set(&options, "delimiter", &"/".into());
        }
        if let Some(after) = start_after {
            set(&options, "startAfter", &after.into());
        }
        let call = function(&object, "list");
        host::run_local(list(call, object, prefix.to_owned(), options), abort)
    }

    async fn listed(
        &self,
        prefix: &str,
        one_level: bool,
        start_after: Option<&str>,
    ) -> StoreResult<Listed> {
        if !self.lists {
            return Err(carried(Failure::lasting(
                Error::list_not_supported("this store cannot list its files").context(
                    "hint",
                    "give the ObjectStore a list() and capabilities.list = true",
                ),
            )));
        }
        let listed = self.start_list(prefix, one_level, start_after).await;
        listed
            .map_err(Failure::lasting)
            .and_then(|r| r)
            .map_err(carried)
    }

    fn copy(&self) -> Self {
        Self {
            object: Kept::new(self.object.get()),
            lists: self.lists,
        }
    }

    fn list_stream(
        &self,
        prefix: Option<&Path>,
        after: Option<String>,
    ) -> BoxStream<'static, StoreResult<ObjectMeta>> {
        let (copy, prefix) = (self.copy(), with_slash(prefix));
        futures::stream::once(async move {
            copy.listed(&prefix, false, after.as_deref())
                .await
                .map(|l| (l, after))
        })
        .flat_map(|listed| match listed {
            Ok((listed, after)) => {
                let later = move |meta: &ObjectMeta| {
                    after
                        .as_deref()
                        .is_none_or(|after| meta.location.as_ref() > after)
                };
                futures::stream::iter(listed.files.into_values().filter(later).map(Ok)).boxed()
            }
            Err(error) => futures::stream::iter([Err(error)]).boxed(),
        })
        .boxed()
    }
}

/// An options object with a signal, and what fires it.
fn options() -> (Object, impl FnOnce() + 'static) {
    let options = Object::new();
    let controller = AbortController::new().ok();
    if let Some(controller) = &controller {
        set(&options, "signal", &controller.signal());
    }
    let abort = move || {
        if let Some(controller) = controller {
            controller.abort();
        }
    };
    (options, abort)
}

#[allow(
    clippy::future_not_send,
    reason = "it runs inside host::run_local, which is Send"
)]
async fn bytes_of(data: &JsValue, limit: u64) -> Result<(Bytes, bool), JsValue> {
    let array = match data.dyn_ref::<Uint8Array>() {
        Some(array) => array.clone(),
        None if data.is_instance_of::<js_sys::ArrayBuffer>() => Uint8Array::new(data),
        None => {
            let Some(reader) = function(data, "getReader") else {
                let text = "the store's get() gave neither a Uint8Array nor a ReadableStream";
                return Err(js_sys::TypeError::new(text).into());
            };
            let reader = Pieces::Chunks(reader.call0(data)?.unchecked_into());
            return read_up_to(reader, 0, limit).await;
        }
    };
    let ended = u64::from(array.length()) <= limit;
    let most = u32::try_from(limit).unwrap_or(u32::MAX);
    let array = if ended {
        array
    } else {
        array.subarray(0, most)
    };
    Ok((array.to_vec().into(), ended))
}

/// Calls a function that lists and walks what it gives: an async iterable, a plain one, or a promise of either.
#[allow(
    clippy::future_not_send,
    reason = "it runs inside host::run_local, which is Send"
)]
async fn list(
    call: Option<Function>,
    this: JsValue,
    prefix: String,
    options: Object,
) -> Result<Listed, Failure> {
    let failed = |value: JsValue| thrown(&value, ErrorKind::Unavailable, &[]);
    let call = call.ok_or(JsValue::UNDEFINED).map_err(failed)?;
    let given = call
        .call2(&this, &prefix.into(), &options)
        .map_err(failed)?;
    let given = host::settled(promise(&given)).await.map_err(failed)?;
    let by = |symbol: &JsValue| {
        let method = js_sys::Reflect::get(&given, symbol).ok()?;
        method.dyn_into::<Function>().ok()
    };
    let start = match given.is_object() {
        true => by(&Symbol::async_iterator()).or_else(|| by(&Symbol::iterator())),
        false => None,
    };
    let start = start.ok_or_else(|| {
        Failure::lasting(
            Error::invalid_argument("list() gave nothing that can be iterated")
                .context("field", "storage"),
        )
    })?;
    let iterator = start.call0(&given).map_err(failed)?;
    let next = function(&iterator, "next")
        .ok_or(JsValue::UNDEFINED)
        .map_err(failed)?;
    let mut listed = Listed::default();
    loop {
        let step = next.call0(&iterator).map_err(failed)?;
        let step = host::settled(promise(&step)).await.map_err(failed)?;
        if get(&step, "done").is_truthy() || !step.is_object() {
            return Ok(listed);
        }
        listed.add(&get(&step, "value"))?;
    }
}

impl Listed {
    fn add(&mut self, entry: &JsValue) -> Result<(), Failure> {
        let wrong = |message: &'static str| {
            Failure::lasting(Error::invalid_argument(message).context("field", "storage"))
        };
        if self.files.len() + self.folders.len() >= MAX_LISTED {
            let error = Error::limit_exceeded("the folder holds too many objects");
            return Err(Failure::lasting(error.context("limit", MAX_LISTED)));
        }
        if let Some(prefix) = text(entry, "prefix") {
            self.folders.insert(prefix.trim_end_matches('/').to_owned());
            return Ok(());
        }
        let path =
            text(entry, "path").ok_or_else(|| wrong("list() gave an entry without a path"))?;
        let size = whole(&get(entry, "size"));
        let size = size.ok_or_else(|| wrong("list() gave an entry without a size"))?;
        let location = Path::parse(&path).map_err(|_| {
            let error = Error::invalid_argument("the listing names a file outside of the table");
            Failure::lasting(error.context("path", &path))
        })?;
        let modified = get(entry, "lastModified").dyn_into::<Date>().ok();
        let modified = modified
            .map(|date| date.get_time())
            .filter(|time| time.is_finite());
        let meta = ObjectMeta {
            last_modified: modified
                .and_then(|time| chrono::DateTime::from_timestamp_millis(time as i64))
                .unwrap_or_default(),
            location,
            size,
            e_tag: text(entry, "etag"),
            version: None,
        };
        self.files.insert(path, meta);
        Ok(())
    }
}

fn carried(failure: Failure) -> object_store::Error {
    object_store::Error::Generic {
        store: "custom store",
        source: Box::new(Carried::new(failure)),
    }
}

fn with_slash(prefix: Option<&Path>) -> String {
    match prefix {
        Some(prefix) if !prefix.is_root() => format!("{prefix}/"),
        _ => String::new(),
    }
}

impl fmt::Display for JsStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("custom store")
    }
}

#[async_trait]
impl ObjectStore for JsStore {
    async fn get_opts(&self, location: &Path, options: GetOptions) -> StoreResult<GetResult> {
        let range = match options.range {
            None => None,
            Some(GetRange::Bounded(range)) => Some(range),
            Some(_) => {
                let error = Error::internal("a range is not absolute");
                return Err(carried(Failure::lasting(error)));
            }
        };
        let got = self.start_get(location.as_ref(), range.clone()).await;
        let got = got
            .map_err(Failure::lasting)
            .and_then(|r| r)
            .map_err(carried)?;
        let (bytes, range, whole) = fit(&got, range).map_err(carried)?;
        let mut extensions = object_store::Extensions::new();
        extensions.insert(Answer {
            status: if range == (0..got.size) { 200 } else { 206 },
            bytes: got.data.len() as u64,
            whole,
            decoded: false,
        });
        Ok(GetResult {
            payload: GetResultPayload::Stream(futures::stream::iter([Ok(bytes)]).boxed()),
            meta: ObjectMeta {
                location: location.clone(),
                last_modified: Default::default(),
                size: got.size,
                e_tag: got.etag,
                version: None,
            },
            range,
            attributes: Attributes::default(),
            extensions,
        })
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, StoreResult<ObjectMeta>> {
        self.list_stream(prefix, None)
    }

    fn list_with_offset(
        &self,
        prefix: Option<&Path>,
        offset: &Path,
    ) -> BoxStream<'static, StoreResult<ObjectMeta>> {
        self.list_stream(prefix, Some(offset.to_string()))
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> StoreResult<ListResult> {
        let prefix = with_slash(prefix);
        let mut listed = self.listed(&prefix, true, None).await?;
        let mut objects = Vec::new();
        for (path, meta) in listed.files {
            // A store may pass over the delimiter.
            match path
                .strip_prefix(prefix.as_str())
                .map(|rest| rest.split_once('/'))
            {
                Some(Some((folder, _))) => {
                    listed.folders.insert(format!("{prefix}{folder}"));
                }
                Some(None) => objects.push(meta),
                None => {}
            }
        }
        let folders: Result<Vec<Path>, _> = listed.folders.iter().map(Path::parse).collect();
        Ok(ListResult {
            common_prefixes: folders?,
            objects,
            extensions: Default::default(),
        })
    }

    async fn put_opts(&self, _: &Path, _: PutPayload, _: PutOptions) -> StoreResult<PutResult> {
        Err(read_only())
    }

    async fn put_multipart_opts(
        &self,
        _: &Path,
        _: PutMultipartOptions,
    ) -> StoreResult<Box<dyn MultipartUpload>> {
        Err(read_only())
    }

    fn delete_stream(
        &self,
        _: BoxStream<'static, StoreResult<Path>>,
    ) -> BoxStream<'static, StoreResult<Path>> {
        futures::stream::iter([Err(read_only())]).boxed()
    }

    async fn copy_opts(&self, _: &Path, _: &Path, _: CopyOptions) -> StoreResult<()> {
        Err(read_only())
    }
}

fn read_only() -> object_store::Error {
    let error = Error::unsupported("writing through a custom store is not handled yet");
    carried(Failure::lasting(error))
}

/// The bytes of the range, that range clipped to the object, and all of it when the store gave that.
fn fit(
    got: &Got,
    range: Option<Range<u64>>,
) -> Result<(Bytes, Range<u64>, Option<Bytes>), Failure> {
    let came = got.data.len() as u64;
    let wanted = range.unwrap_or(0..got.size);
    let wanted = wanted.start..wanted.end.min(got.size);
    if wanted.start > wanted.end || (wanted.is_empty() && got.size > 0) {
        let error = Error::precondition_failed("the object ends before the bytes asked for");
        let mut failure = Failure::lasting(error.context("size", got.size));
        failure.size = Some(got.size);
        return Err(failure);
    }
    let length = wanted.end - wanted.start;
    if got.ended && came == length {
        return Ok((got.data.clone(), wanted, None));
    }
    if got.ended && came == got.size {
        let whole = got.data.clone();
        let piece = whole.slice(wanted.start as usize..wanted.end as usize);
        return Ok((piece, wanted, Some(whole)));
    }
    Err(match came < length {
        true => Failure::passing(
            Error::network("the body ended early").context("offset", wanted.start + came),
        ),
        false => Failure::lasting(Error::range_not_supported(
            "more bytes came than were asked for",
        )),
    })
}

/// A function that lists for a host that cannot: of the caller, or one of ours that reads a server's pages.
#[derive(Debug)]
pub(crate) struct JsLister {
    function: Kept,
    kind: ListerKind,
}

/// What a function that lists can tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ListerKind {
    /// Everything below a prefix, with sizes.
    Custom,
    /// One level too, with sizes.
    Levels,
    /// One level too, of files whose sizes are not known.
    Names,
}

impl JsLister {
    pub(crate) fn new(function: Function, kind: ListerKind) -> Self {
        Self {
            function: Kept::new(function.into()),
            kind,
        }
    }

    fn start(
        &self,
        prefix: &str,
        one_level: bool,
    ) -> impl Future<Output = Result<Result<Listed, Failure>>> + Send + use<> {
        let call = self.function.get().dyn_into::<Function>().ok();
        let (options, abort) = options();
        if one_level {
            set(&options, "delimiter", &"/".into());
        }
        host::run_local(
            list(call, JsValue::UNDEFINED, prefix.to_owned(), options),
            abort,
        )
    }

    fn files(&self, listed: Listed) -> Level {
        let size = |size| match self.kind {
            ListerKind::Names => UNKNOWN_SIZE,
            _ => size,
        };
        let files = listed.files.into_iter();
        let files = files.map(|(path, meta)| (path, size(meta.size), meta.e_tag));
        (files.collect(), listed.folders.into_iter().collect())
    }
}

#[async_trait]
impl Lister for JsLister {
    async fn list(&self, prefix: &str) -> Result<Vec<(String, u64, Option<String>)>, Failure> {
        let listed = self
            .start(prefix, false)
            .await
            .map_err(Failure::lasting)??;
        Ok(self.files(listed).0)
    }

    async fn level(&self, prefix: &str) -> Result<Option<Level>, Failure> {
        if self.kind == ListerKind::Custom {
            return Ok(None);
        }
        let listed = self.start(prefix, true).await.map_err(Failure::lasting)??;
        Ok(Some(self.files(listed)))
    }
}
