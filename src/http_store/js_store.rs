//! A store that JavaScript wrote: the `ObjectStore` interface of `index.d.ts`. Memory, Node's files and whatever a
//! caller brings come in by it.
//!
//! Paths are relative to the table. A prefix is empty or ends in `/`.

use std::fmt;
use std::ops::Range;

use async_trait::async_trait;
use bytes::Bytes;
use futures::StreamExt;
use futures::stream::BoxStream;
use js_sys::{Function, Object, Reflect, Symbol, Uint8Array};
use object_store::path::Path;
use object_store::{
    Attributes, CopyOptions, GetOptions, GetRange, GetResult, GetResultPayload, ListResult,
    MultipartUpload, ObjectMeta, ObjectStore, PutMultipartOptions, PutOptions, PutPayload,
    PutResult, Result as StoreResult,
};
use wasm_bindgen::{JsCast, JsValue};

use super::body::{Pieces, read_up_to};
use super::js_listing::{Listed, list};
use super::js_value::{function, get, options, promise, set, text, thrown, whole};
use super::js_write;
use super::listing::with_slash;
use crate::error::{Error, ErrorKind, Result};
use crate::host::{self, Kept};
use crate::storage::wire::{Answer, Carried, Failure};

/// A whole object larger than this is not read at once.
const MAX_WHOLE: u64 = 512 << 20;

/// What stores of this package keep with their `list`: a function that lists all at once.
const LISTED: &str = "hudi-wasm.listed";

/// What they keep with their `get`: one that answers by bytes that are to be given back.
const LENT: &str = "hudi-wasm.lent";

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
            let get_it = function(&object, "get");
            let lent = own(get_it.as_ref(), LENT);
            let call = lent.clone().or(get_it);
            let answer = call
                .ok_or(JsValue::UNDEFINED)
                .map_err(failed)?
                .call2(&object, &path.into(), &options)
                .map_err(failed)?;
            let answer = host::settled(promise(&answer)).await.map_err(failed)?;
            let size = whole(&get(&answer, "size"));
            let (data, ended) = bytes_of(&get(&answer, "data"), limit)
                .await
                .map_err(failed)?;
            if lent.is_some()
                && let Some(release) = function(&answer, "release")
            {
                // It only puts the memory back, and does not throw.
                let _ = release.call0(&answer);
            }
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
        let list_it = function(&object, "list");
        let call = own(list_it.as_ref(), LISTED).or(list_it);
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

/// What is kept with a function of a store of this package: not with one that somebody put in its place.
fn own(function: Option<&Function>, name: &str) -> Option<Function> {
    let call = Reflect::get(function?, &Symbol::for_(name)).ok()?;
    call.dyn_into().ok()
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

pub(super) fn carried(failure: Failure) -> object_store::Error {
    object_store::Error::Generic {
        store: "custom store",
        source: Box::new(Carried::new(failure)),
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

    async fn put_opts(
        &self,
        location: &Path,
        payload: PutPayload,
        options: PutOptions,
    ) -> StoreResult<PutResult> {
        let put = js_write::put(&self.object, location.as_ref(), &payload, &options.mode);
        put.await
    }

    async fn put_multipart_opts(
        &self,
        location: &Path,
        _: PutMultipartOptions,
    ) -> StoreResult<Box<dyn MultipartUpload>> {
        let upload = js_write::upload(&self.object, location.as_ref());
        upload.await
    }

    fn delete_stream(
        &self,
        locations: BoxStream<'static, StoreResult<Path>>,
    ) -> BoxStream<'static, StoreResult<Path>> {
        let copy = self.copy();
        locations
            .then(move |location| {
                let deleted = location.map(|location| {
                    let deleted = js_write::delete(&copy.object, location.as_ref());
                    async move { deleted.await.map(|()| location) }
                });
                async move { deleted?.await }
            })
            .boxed()
    }

    async fn copy_opts(&self, _: &Path, _: &Path, _: CopyOptions) -> StoreResult<()> {
        let error = Error::unsupported("nothing is copied inside of a store");
        Err(carried(Failure::lasting(error)))
    }
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
