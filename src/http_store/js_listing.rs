//! Listing by a function that JavaScript wrote: a store's `list`, or one that stands in for a host that cannot list.

use std::collections::{BTreeMap, BTreeSet};

use async_trait::async_trait;
use js_sys::{Array, Date, Function, Object, Symbol};
use object_store::ObjectMeta;
use object_store::path::Path;
use wasm_bindgen::{JsCast, JsValue};

use super::js_value::{function, get, options, promise, set, text, thrown, whole};
use super::listing::{Level, Lister};
use crate::error::{Error, ErrorKind, Result};
use crate::host::{self, Kept};
use crate::storage::UNKNOWN_SIZE;
use crate::storage::wire::Failure;

/// A listing longer than this is refused.
const MAX_LISTED: usize = 5_000_000;

/// What a listing gave: files and folders.
#[derive(Default)]
pub(super) struct Listed {
    pub(super) files: BTreeMap<String, ObjectMeta>,
    pub(super) folders: BTreeSet<String>,
}

/// Calls a function that lists and walks what it gives: an async iterable, a plain one, or a promise of either.
#[allow(
    clippy::future_not_send,
    reason = "it runs inside host::run_local, which is Send"
)]
pub(super) async fn list(
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
    let mut listed = Listed::default();
    if let Some(entries) = given.dyn_ref::<Array>() {
        entries.iter().try_for_each(|entry| listed.add(&entry))?;
        return Ok(listed);
    }
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
