use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use futures::TryStreamExt;
use object_store::path::Path;
use object_store::{GetOptions, GetRange, ObjectStore};

use super::{
    CallScope, Cause, Folder, ListingFacts, Metrics, ObjectMeta, RequestEvent, Source,
    StorageOptions,
};
use crate::error::{Error, Result};
use crate::host;

/// One base path on any object store; cheap to clone. See the [module page](super).
#[derive(Clone)]
pub struct Storage {
    shared: Arc<Shared>,
    scope: CallScope,
}

struct Shared {
    store: Arc<dyn ObjectStore>,
    options: StorageOptions,
}

impl Storage {
    /// A storage over `store`.
    pub fn new(store: Arc<dyn ObjectStore>, options: StorageOptions) -> Self {
        Self {
            shared: Arc::new(Shared { store, options }),
            scope: CallScope::default(),
        }
    }

    /// The same storage, reporting to one API call.
    #[must_use]
    pub fn for_call(&self, scope: CallScope) -> Self {
        Self {
            shared: Arc::clone(&self.shared),
            scope,
        }
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

    /// Where file names come from.
    pub fn listing_facts(&self) -> ListingFacts {
        self.shared.options.listing.clone()
    }

    /// The whole object, asked anew each time: for what may change.
    ///
    /// Errors: `NotFound` when there is none.
    pub async fn get(&self, path: &str, cause: Cause) -> Result<Bytes> {
        Ok(self.fetch(path, None, cause).await?.1)
    }

    /// The whole object, or `None` when there is none.
    pub async fn get_if_present(&self, path: &str, cause: Cause) -> Result<Option<Bytes>> {
        match self.get(path, cause).await {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if error.kind() == crate::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The whole of an object that never changes; cached by path and size.
    pub async fn get_immutable(
        &self,
        path: &str,
        size: Option<u64>,
        cause: Cause,
    ) -> Result<Bytes> {
        let _ = size;
        Ok(self.fetch(path, None, cause).await?.1)
    }

    /// Ranges of an object that never changes and is `size` bytes long; result `i` is exactly `ranges[i]`.
    pub async fn get_ranges(
        &self,
        path: &str,
        size: u64,
        ranges: &[Range<u64>],
        cause: Cause,
    ) -> Result<Vec<Bytes>> {
        let mut all = Vec::with_capacity(ranges.len());
        for range in ranges {
            if range.start > range.end || range.end > size {
                return Err(Error::corrupt("a range lies outside of its file")
                    .context("path", path)
                    .context("offset", range.start));
            }
            all.push(match range.is_empty() {
                true => Bytes::new(),
                false => self.fetch(path, Some(range.clone()), cause).await?.1,
            });
        }
        Ok(all)
    }

    /// A range of an object whose size is not known: the size, and what of `guess` exists.
    pub async fn get_first(
        &self,
        path: &str,
        guess: Range<u64>,
        cause: Cause,
    ) -> Result<(u64, Bytes)> {
        self.fetch(path, Some(guess), cause).await
    }

    /// What stands directly in the folder `prefix` (empty: the table's own).
    pub async fn list_folder(&self, prefix: &str, cause: Cause) -> Result<Folder> {
        let _ = cause;
        let location = self.location(prefix)?;
        let list = self.shared.store.list_with_delimiter(Some(&location)).await;
        let list = list.map_err(|e| classify(e, prefix))?;
        Ok(Folder {
            files: list
                .objects
                .into_iter()
                .filter_map(|meta| self.meta(meta))
                .collect(),
            folders: list
                .common_prefixes
                .iter()
                .filter_map(|path| self.relative(path))
                .collect(),
        })
    }

    /// Every object below the folder `prefix`, after the path `start_after` when one is given.
    pub async fn list_all(
        &self,
        prefix: &str,
        start_after: Option<&str>,
        cause: Cause,
    ) -> Result<Vec<ObjectMeta>> {
        let _ = cause;
        let location = self.location(prefix)?;
        let stream = match start_after {
            Some(after) => self
                .shared
                .store
                .list_with_offset(Some(&location), &self.location(after)?),
            None => self.shared.store.list(Some(&location)),
        };
        let found: Vec<_> = stream
            .try_collect()
            .await
            .map_err(|e| classify(e, prefix))?;
        Ok(found
            .into_iter()
            .filter_map(|meta| self.meta(meta))
            .collect())
    }

    fn location(&self, path: &str) -> Result<Path> {
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

    fn relative(&self, location: &Path) -> Option<String> {
        let base = &self.shared.options.base;
        let rest = match base.is_empty() {
            true => location.as_ref(),
            false => location
                .as_ref()
                .strip_prefix(base.as_str())?
                .strip_prefix('/')?,
        };
        Some(rest.to_owned())
    }

    fn meta(&self, meta: object_store::ObjectMeta) -> Option<ObjectMeta> {
        Some(ObjectMeta {
            path: self.relative(&meta.location)?,
            size: meta.size,
            etag: meta.e_tag,
            modified_millis: Some(meta.last_modified.timestamp_millis()),
        })
    }

    async fn fetch(
        &self,
        path: &str,
        range: Option<Range<u64>>,
        cause: Cause,
    ) -> Result<(u64, Bytes)> {
        let began = host::now_millis();
        let options = GetOptions {
            range: range.clone().map(GetRange::Bounded),
            ..GetOptions::default()
        };
        let answer = async {
            let result = self
                .shared
                .store
                .get_opts(&self.location(path)?, options)
                .await;
            let result = result.map_err(|e| classify(e, path))?;
            let size = result.meta.size;
            let bytes = result.bytes().await.map_err(|e| classify(e, path))?;
            Ok((size, bytes))
        }
        .await;
        let bytes = answer
            .as_ref()
            .map_or(0, |(_, b): &(u64, Bytes)| b.len() as u64);
        let loaded = self.scope.metrics.count_request(bytes);
        if let Some(observer) = &self.scope.observer {
            observer.request(&RequestEvent {
                method: "GET",
                path: path.to_owned(),
                start: range.as_ref().map(|r| r.start),
                end: range.as_ref().map(|r| r.end),
                status: match (&answer, &range) {
                    (Err(_), _) => 0,
                    (Ok(_), Some(_)) => 206,
                    (Ok(_), None) => 200,
                },
                bytes,
                millis: u64::try_from(host::now_millis() - began).unwrap_or(0),
                source: Source::Network,
                attempt: 1,
                cause,
            });
            observer.bytes(loaded);
        }
        answer
    }
}

fn classify(error: object_store::Error, path: &str) -> Error {
    let kind = match &error {
        object_store::Error::NotFound { .. } => crate::ErrorKind::NotFound,
        _ => crate::ErrorKind::Network,
    };
    Error::new(kind, "the store did not answer as asked")
        .context("path", path)
        .with_source(error)
}
