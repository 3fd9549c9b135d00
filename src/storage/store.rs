use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use futures::future::try_join_all;
use object_store::ObjectStore;
use object_store::path::Path;

use super::gate::Gate;
use super::pins::{Pins, changed};
use super::ranges::Plan;
use super::request::Object;
use super::{
    CallScope, Cause, ListingFacts, ListingSource, Metrics, RangeCache, RequestEvent, Source,
    StorageOptions, UNKNOWN_SIZE,
};
use crate::error::{Error, ErrorKind, Result};

/// One base path on any object store; cheap to clone. See the [module page](super).
#[derive(Clone)]
pub struct Storage {
    pub(super) shared: Arc<Shared>,
    pub(super) scope: CallScope,
}

pub(super) struct Shared {
    pub(super) store: Arc<dyn ObjectStore>,
    pub(super) options: StorageOptions,
    pub(super) gate: Arc<Gate>,
    pins: Pins,
}

impl std::fmt::Debug for Storage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Not the store: its own text may hold a URL with a signature.
        let base = &self.shared.options.base;
        f.debug_struct("Storage").field("base", base).finish()
    }
}

impl Storage {
    /// A storage over `store`.
    pub fn new(store: Arc<dyn ObjectStore>, options: StorageOptions) -> Self {
        Self {
            shared: Arc::new(Shared {
                store,
                gate: Gate::new(options.concurrency),
                options,
                pins: Pins::default(),
            }),
            scope: CallScope::default(),
        }
    }

    /// The same storage, reporting to one API call; queue, cache and pins stay shared.
    #[must_use]
    pub fn for_call(&self, scope: CallScope) -> Self {
        Self {
            shared: Arc::clone(&self.shared),
            scope,
        }
    }

    /// The same store for a newer handle: the cache stays, what was seen of sizes and ETags is forgotten.
    #[must_use]
    pub fn refreshed(&self) -> Self {
        Self {
            shared: Arc::new(Shared {
                store: Arc::clone(&self.shared.store),
                options: self.shared.options.clone(),
                gate: Arc::clone(&self.shared.gate),
                pins: Pins::default(),
            }),
            scope: CallScope::default(),
        }
    }

    /// A folder of this storage as the place of a table of its own: for the same call, and keeping nothing, since paths are others
    /// there.
    #[must_use]
    pub fn below(&self, folder: &str) -> Self {
        let base = match self.base() {
            "" => folder.to_owned(),
            base => format!("{base}/{folder}"),
        };
        Self {
            shared: Arc::new(Shared {
                store: Arc::clone(&self.shared.store),
                options: StorageOptions {
                    base,
                    cache: None,
                    persistent: None,
                    ..self.shared.options.clone()
                },
                gate: Arc::clone(&self.shared.gate),
                pins: Pins::default(),
            }),
            scope: self.scope.clone(),
        }
    }

    /// Whom this call reports to.
    pub fn scope(&self) -> &CallScope {
        &self.scope
    }

    /// What this call has cost so far.
    pub fn metrics(&self) -> &Metrics {
        &self.scope.metrics
    }

    /// Says that something was worked around: in `metrics.warnings`, and to the observer.
    pub fn warn(&self, message: &str, path: Option<&str>) {
        let text = match path {
            Some(path) => format!("{message} [path: {path}]"),
            None => message.to_owned(),
        };
        if self.scope.metrics.keep_warning(text)
            && let Some(observer) = &self.scope.observer
        {
            observer.warning(message, path);
        }
    }

    /// Tells the observer that so many of a read's files are read.
    pub fn tell_files(&self, done: usize, total: usize) {
        if let Some(observer) = &self.scope.observer {
            observer.files(done, total);
        }
    }

    /// Tells the observer that a part of a write begins.
    pub fn tell_phase(&self, phase: &'static str) {
        if let Some(observer) = &self.scope.observer {
            observer.phase(phase);
        }
    }

    /// Tells the observer that so many rows of a write were taken in.
    pub fn tell_rows(&self, rows: usize) {
        if let Some(observer) = &self.scope.observer {
            observer.rows(rows);
        }
    }

    /// The bytes of memory that a call may hold; `None` when only the host sets a bound.
    pub fn memory_limit(&self) -> Option<u64> {
        self.shared.options.memory_limit
    }

    /// Whether a call may hold `bytes` of `what`.
    ///
    /// Errors: `LimitExceeded` with `bytes` and `limit`.
    pub fn check_memory(&self, bytes: u64, what: &str) -> Result<()> {
        match self.memory_limit() {
            Some(limit) if bytes > limit => Err(Error::limit_exceeded(format!(
                "{what} would take more memory than the call may use"
            ))
            .context("bytes", bytes)
            .context("limit", limit)
            .context("hint", "raise memoryLimit, or ask for fewer columns")),
            _ => Ok(()),
        }
    }

    /// The table's own path inside the store, without slashes at its ends.
    pub fn base(&self) -> &str {
        &self.shared.options.base
    }

    /// A name for the place that this storage stands on, good for as long as the store lives: what locks inside a process
    /// go by.
    pub fn identity(&self) -> String {
        let store = Arc::as_ptr(&self.shared.store).cast::<()>();
        format!("{store:p}/{}", self.shared.options.base)
    }

    /// The most bytes that one request asks for.
    pub fn max_request(&self) -> u64 {
        self.shared.options.max_request
    }

    /// Where this call's file names come from.
    pub fn listing_facts(&self) -> ListingFacts {
        let options = &self.shared.options;
        let told = options.listing_told.as_ref().and_then(|told| told.get());
        let listing = told.unwrap_or(&options.listing).clone();
        match self.scope.metrics.lists_by_metadata() {
            true => ListingFacts {
                source: ListingSource::MetadataTable,
                ..listing
            },
            false => listing,
        }
    }

    /// Whether a manifest is here by now, so that no listing is a request.
    pub(super) fn lists_from_memory(&self) -> bool {
        let told = self.shared.options.listing_told.as_ref();
        told.is_some_and(|told| told.get().is_some())
    }

    /// Whether one request lists all below a folder.
    pub fn lists_flat(&self) -> bool {
        self.shared.options.lists_flat
    }

    /// Whether the host lists no name that begins with a dot, so that log files are not to be seen.
    pub fn hides_dot_names(&self) -> bool {
        self.shared.options.listing.dot_names_hidden
    }

    /// The whole object, asked anew each time: for what may change.
    ///
    /// Errors: `NotFound` when there is none.
    pub async fn get(&self, path: &str, cause: Cause) -> Result<Bytes> {
        let object = self.object(path, None, None, cause).await;
        Ok(object.map_err(|failure| failure.error)?.bytes)
    }

    /// The whole object, asked anew each time, or `None` when there is none.
    pub async fn get_if_present(&self, path: &str, cause: Cause) -> Result<Option<Bytes>> {
        match self.get(path, cause).await {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The whole of an object that never changes; cached by path and size.
    ///
    /// Errors: `NotFound`; `PreconditionFailed` when it has another size than `size`, or changed since it was seen.
    pub async fn get_immutable(
        &self,
        path: &str,
        size: Option<u64>,
        cause: Cause,
    ) -> Result<Bytes> {
        let told = size.filter(|size| *size != UNKNOWN_SIZE);
        let known = told.or_else(|| self.shared.pins.size(path));
        if let Some(size) = known {
            if size == 0 {
                return Ok(Bytes::new());
            }
            if let Some(bytes) = self.cached(path, size, 0..size, cause) {
                return Ok(bytes);
            }
            if let Some(bytes) = self.kept(path, size, 0..size, cause).await {
                self.keep(path, size, 0, &bytes);
                return Ok(bytes);
            }
        }
        let object = self.object(path, None, known, cause).await;
        let object = object.map_err(|failure| failure.error)?;
        self.take(path, known, &object, false)?;
        // Decoded bytes fit no size that a listing tells, so a later read could take them for others.
        if !object.decoded {
            self.keep_object(path, object.size, 0, &object);
        }
        Ok(object.bytes)
    }

    /// Ranges of an object that never changes and is `size` bytes long; result `i` is exactly `ranges[i]`.
    ///
    /// Near ranges are joined, large ones split, all of them asked for at once within the bound on requests in
    /// flight. Errors: `Corrupt` for a range outside of the file; `PreconditionFailed` when the object changed.
    pub async fn get_ranges(
        &self,
        path: &str,
        size: u64,
        ranges: &[Range<u64>],
        cause: Cause,
    ) -> Result<Vec<Bytes>> {
        let outside = |range: &&Range<u64>| range.start > range.end || range.end > size;
        if let Some(range) = ranges.iter().find(outside) {
            return Err(Error::corrupt("a range lies outside of its file")
                .context("path", path)
                .context("offset", range.start)
                .context("size", size));
        }
        let mut found: Vec<Option<Bytes>> = ranges
            .iter()
            .map(|range| match range.is_empty() {
                true => Some(Bytes::new()),
                false => self.cached(path, size, range.clone(), cause),
            })
            .collect();
        let missing = found
            .iter()
            .zip(ranges)
            .filter(|(bytes, _)| bytes.is_none());
        let missing: Vec<Range<u64>> = missing.map(|(_, range)| range.clone()).collect();
        let mut fetched = self
            .fetch_all(path, size, &missing, cause)
            .await?
            .into_iter();
        for slot in found.iter_mut().filter(|slot| slot.is_none()) {
            *slot = fetched.next();
        }
        let all: Option<Vec<Bytes>> = found.into_iter().collect();
        all.ok_or_else(|| Error::internal("a range was not fetched").context("path", path))
    }

    /// A range of an object that never changes, whose size is not known: the size, and what of `guess` exists.
    pub async fn get_first(
        &self,
        path: &str,
        guess: Range<u64>,
        cause: Cause,
    ) -> Result<(u64, Bytes)> {
        let known = self.shared.pins.size(path);
        if let Some(size) = known
            && let Some(bytes) = self.cached(path, size, guess.start..guess.end.min(size), cause)
        {
            return Ok((size, bytes));
        }
        match self.object(path, Some(guess.clone()), known, cause).await {
            Ok(object) => {
                self.take(path, known, &object, cause == Cause::Log)?;
                self.keep_object(path, object.size, guess.start, &object);
                Ok((object.size, object.bytes))
            }
            Err(failure) if failure.size == Some(0) && guess.start == 0 => Ok((0, Bytes::new())),
            Err(failure) => Err(failure.error),
        }
    }

    /// Drops what is cached and known of an object: for whoever finds its bytes broken, so that the next read asks
    /// for them again.
    pub fn forget(&self, path: &str) {
        self.forget_persistent(path);
        self.shared.pins.forget(path);
        if let Some(cache) = self.cache() {
            cache.forget(path);
        }
    }

    /// Hands on what was made of an object's bytes; when that is `Corrupt`, [forgets](Self::forget) the object, so that
    /// a cache that holds half of another file does not fail for ever.
    pub fn checked<T>(&self, path: &str, made: Result<T>) -> Result<T> {
        if let Err(error) = &made
            && error.kind() == ErrorKind::Corrupt
        {
            self.forget(path);
        }
        made
    }

    async fn fetch_all(
        &self,
        path: &str,
        size: u64,
        ranges: &[Range<u64>],
        cause: Cause,
    ) -> Result<Vec<Bytes>> {
        let options = &self.shared.options;
        let plan = Plan::new(ranges, options.coalesce_gap, options.max_request);
        let bodies = plan.requests.iter().map(|range| async move {
            if let Some(bytes) = self.kept(path, size, range.clone(), cause).await {
                self.keep(path, size, range.start, &bytes);
                return Ok(bytes);
            }
            let object = self.object(path, Some(range.clone()), Some(size), cause);
            let object = object
                .await
                .map_err(|failure| self.lost(path, failure.error))?;
            self.take(path, Some(size), &object, cause == Cause::Log)?;
            self.keep_object(path, size, range.start, &object);
            Ok::<_, Error>(object.bytes)
        });
        let bodies = try_join_all(bodies).await?;
        plan.cut(&bodies)
    }

    /// Compares an answer with what is known of the object, and pins it.
    fn take(&self, path: &str, known: Option<u64>, object: &Object, may_grow: bool) -> Result<()> {
        if object.etag.is_none() {
            self.scope.metrics.note_unpinned();
        }
        let size = known.unwrap_or(object.size);
        let grown = may_grow && object.size > size;
        let fits = object.size == size || grown || object.decoded;
        let pinned = match fits {
            true => {
                let etag = object.etag.as_deref();
                self.shared.pins.check(path, object.size, etag, may_grow)
            }
            false => Err(changed(path)
                .context("size", object.size)
                .context("expected", size)),
        };
        pinned.map_err(|error| self.lost(path, error))
    }

    /// Drops what is known of an object when an error says that it changed.
    fn lost(&self, path: &str, error: Error) -> Error {
        if matches!(
            error.kind(),
            ErrorKind::PreconditionFailed | ErrorKind::NotFound
        ) {
            self.forget(path);
        }
        error
    }

    fn cache(&self) -> Option<&Arc<dyn RangeCache>> {
        self.shared.options.cache.as_ref()
    }

    fn cached(&self, path: &str, size: u64, range: Range<u64>, cause: Cause) -> Option<Bytes> {
        let bytes = self.cache()?.get(path, size, range.clone())?;
        self.tell_hit(path, range, Source::Memory, 0, cause);
        Some(bytes)
    }

    /// Counts and tells a range that a cache answered.
    pub(super) fn tell_hit(
        &self,
        path: &str,
        range: Range<u64>,
        source: Source,
        millis: u64,
        cause: Cause,
    ) {
        self.scope.metrics.count_hit();
        if let Some(observer) = &self.scope.observer {
            observer.request(&RequestEvent {
                method: "GET",
                path: path.to_owned(),
                start: Some(range.start),
                end: Some(range.end),
                status: 200,
                bytes: range.end.saturating_sub(range.start),
                millis,
                source,
                attempt: 0,
                cause,
            });
        }
    }

    fn keep(&self, path: &str, size: u64, start: u64, bytes: &Bytes) {
        if let Some(cache) = self.cache() {
            cache.put(path, size, start, bytes);
        }
    }

    fn keep_object(&self, path: &str, size: u64, start: u64, object: &Object) {
        match &object.whole {
            Some(whole) => self.keep(path, size, 0, whole),
            None => self.keep(path, size, start, &object.bytes),
        }
        self.keep_persistent(path, start, object);
    }

    pub(super) fn known_size(&self, path: &str) -> Option<u64> {
        self.shared.pins.size(path)
    }

    /// Holds a size and an ETag against what was seen of the object, and remembers them.
    pub(super) fn check_pin(&self, path: &str, size: u64, etag: Option<&str>) -> Result<()> {
        self.shared.pins.check(path, size, etag, false)
    }

    pub(super) fn location(&self, path: &str) -> Result<Path> {
        let base = &self.shared.options.base;
        let full = match (base.is_empty(), path.is_empty()) {
            (true, _) => path.to_owned(),
            (false, true) => base.clone(),
            (false, false) => format!("{base}/{path}"),
        };
        Path::parse(full).map_err(|source| {
            Error::invalid_argument("not a path inside a table")
                .context("path", path)
                .with_source(source)
        })
    }

    pub(super) fn relative(&self, location: &Path) -> Option<String> {
        let base = &self.shared.options.base;
        let rest = match base.is_empty() {
            true => location.as_ref(),
            false => {
                let below = location.as_ref().strip_prefix(base.as_str())?;
                below.strip_prefix('/')?
            }
        };
        Some(rest.to_owned())
    }
}
