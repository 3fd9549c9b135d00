//! Writing through a store that JavaScript wrote: whole objects, and uploads piece by piece.

use async_trait::async_trait;
use futures::FutureExt;
use js_sys::{Array, Object, Uint8Array};
use object_store::{
    MultipartUpload, PutMode, PutPayload, PutResult, Result as StoreResult, UploadPart,
};
use std::sync::Arc;
use wasm_bindgen::JsValue;

use super::js_store::carried;
use super::js_value::{function, get, options, promise, set, text, thrown};
use crate::error::{Error, ErrorKind};
use crate::host::{self, Kept};
use crate::storage::wire::Failure;
use crate::storage::{PutIfAbsent, StorageOptions, Uploads};

/// The property by which this package's own stores say that their put-if-absent needs no proof.
const PROVEN: &str = "hudi-wasm.proven";

/// What a store says of itself, as far as writing goes.
pub(super) fn writing(object: &JsValue, options: StorageOptions) -> StorageOptions {
    let can = get(object, "capabilities");
    let says = |name: &str| get(&can, name).as_bool() == Some(true);
    let has = |name: &str| function(object, name).is_some();
    let read_only = match (says("write"), has("put") && has("delete")) {
        (true, true) => None,
        (true, false) => Some("the ObjectStore has no put() or no delete()"),
        (false, _) => Some("this store cannot write"),
    };
    let proven = js_sys::Reflect::get(object, &js_sys::Symbol::for_(PROVEN));
    let put_if_absent = match (says("putIfAbsent"), proven.is_ok_and(|p| p.is_truthy())) {
        (false, _) => PutIfAbsent::ByLooking,
        (true, true) => PutIfAbsent::Kept,
        (true, false) => PutIfAbsent::ToBeShown(Arc::default()),
    };
    StorageOptions {
        read_only,
        put_if_absent,
        uploads: match has("upload") {
            true => Uploads::Streamed,
            false => Uploads::AtOnce,
        },
        ..options
    }
}

/// Calls a method of the object with arguments and reads what its promise gives. Dropping the future fires `abort`.
fn call<T, A, K>(
    object: &Kept,
    method: &'static str,
    arguments: Array,
    abort: A,
    take: K,
) -> impl Future<Output = StoreResult<T>> + Send + use<T, A, K>
where
    T: Send + 'static,
    A: FnOnce() + 'static,
    K: FnOnce(JsValue) -> T + 'static,
{
    let object = object.get();
    let work = async move {
        let failed = |value: JsValue| thrown(&value, ErrorKind::Unavailable, &[]);
        let call = function(&object, method).ok_or_else(|| {
            Failure::lasting(
                Error::invalid_argument("the store lacks a method")
                    .context("field", "storage")
                    .context("method", method),
            )
        })?;
        let answer = js_sys::Reflect::apply(&call, &object, &arguments).map_err(failed)?;
        host::settled(promise(&answer))
            .await
            .map(take)
            .map_err(failed)
    };
    let local = host::run_local(work, abort);
    async move {
        local
            .await
            .map_err(Failure::lasting)
            .and_then(|r| r)
            .map_err(carried)
    }
}

/// A copy outside of wasm memory, which may grow meanwhile.
fn array_of(payload: &PutPayload) -> Uint8Array {
    let length = u32::try_from(payload.content_length()).unwrap_or(u32::MAX);
    let array = Uint8Array::new_with_length(length);
    let mut at = 0;
    for piece in payload {
        let end = at + piece.len() as u32;
        array.subarray(at, end).copy_from(piece);
        at = end;
    }
    array
}

/// `put(path, data, { ifNoneMatch?, signal })`.
pub(super) fn put(
    object: &Kept,
    path: &str,
    payload: &PutPayload,
    mode: &PutMode,
) -> impl Future<Output = StoreResult<PutResult>> + Send + use<> {
    let (options, abort) = options();
    match mode {
        PutMode::Overwrite => {}
        PutMode::Create => set(&options, "ifNoneMatch", &"*".into()),
        PutMode::Update(version) => {
            let etag = version.e_tag.clone().unwrap_or_default();
            set(&options, "ifMatch", &etag.into());
        }
    }
    let arguments = Array::of3(&path.into(), &array_of(payload), &options);
    call(object, "put", arguments, abort, |answer| PutResult {
        e_tag: text(&answer, "etag"),
        version: None,
        extensions: Default::default(),
    })
}

/// `delete([path], { signal })`.
pub(super) fn delete(
    object: &Kept,
    path: &str,
) -> impl Future<Output = StoreResult<()>> + Send + use<> {
    let (options, abort) = options();
    let paths = Array::of1(&path.into());
    call(
        object,
        "delete",
        Array::of2(&paths, &options),
        abort,
        |_| (),
    )
}

/// `upload(path, {})`.
pub(super) fn upload(
    object: &Kept,
    path: &str,
) -> impl Future<Output = StoreResult<Box<dyn MultipartUpload>>> + Send + use<> {
    // Its end is the upload's own abort(): a signal would have to live as long as the upload.
    let arguments = Array::of2(&path.into(), &Object::new());
    let begun = call(object, "upload", arguments, || {}, Kept::new);
    async move {
        let upload: Box<dyn MultipartUpload> = Box::new(JsUpload(begun.await?));
        Ok(upload)
    }
}

/// `{ write, complete, abort }` of JavaScript.
#[derive(Debug)]
struct JsUpload(Kept);

#[async_trait]
impl MultipartUpload for JsUpload {
    fn put_part(&mut self, data: PutPayload) -> UploadPart {
        let arguments = Array::of1(&array_of(&data));
        call(&self.0, "write", arguments, || {}, |_| ()).boxed()
    }

    async fn complete(&mut self) -> StoreResult<PutResult> {
        let completed = call(
            &self.0,
            "complete",
            Array::new(),
            || {},
            |answer| PutResult {
                e_tag: text(&answer, "etag"),
                version: None,
                extensions: Default::default(),
            },
        );
        completed.await
    }

    async fn abort(&mut self) -> StoreResult<()> {
        let aborted = call(&self.0, "abort", Array::new(), || {}, |_| ());
        aborted.await
    }
}
