//! The listing of a table on a host that cannot list: one JSON file, by default `hudi-manifest.json` in the table's
//! folder.
//!
//! ```json
//! {
//!   "format": "hudi-manifest",
//!   "version": 1,
//!   "madeAt": "2026-11-29T22:15:00.000Z",
//!   "newestInstant": "20261129221400123",
//!   "files": [
//!     { "path": ".hoodie/hoodie.properties", "size": 1023 },
//!     { "path": "city=rome/f1-0_0-1-2_20261129221400123.parquet", "size": 435001 }
//!   ]
//! }
//! ```
//!
//! | key | what |
//! |---|---|
//! | `format` | always `hudi-manifest` |
//! | `version` | version of this format: 1; a reader refuses others |
//! | `madeAt` | when it was written, RFC 3339 |
//! | `newestInstant` | requested time of the newest completed instant; absent or null when there is none |
//! | `files` | every file below the table's folder: the timeline, `hoodie.properties`, metafiles and data files; not `.crc` files nor the manifest itself |
//! | `path` | relative to the table's folder, `/` between names, names as stored (not percent-encoded) |
//! | `size` | bytes |
//!
//! Other keys are for later versions of the writer and are passed over. A manifest shows the table as it was at
//! `madeAt`: files written later are not seen, and a file that was removed since is `NOT_FOUND` when it is read.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, OnceLock};

use futures::future::BoxFuture;
use futures::lock::Mutex;
use object_store::path::Path;
use serde::Deserialize;

use crate::error::{Error, Result};
use crate::storage::{ListingFacts, ListingSource};

const FORMAT: &str = "hudi-manifest";
const VERSION: u64 = 1;
/// Sizes go through JavaScript's numbers, which are exact up to here.
const MAX_SIZE: u64 = 1 << 53;

/// A manifest that was read: paths in order, with sizes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Manifest {
    /// Files by path relative to the table, and their sizes in bytes.
    pub files: BTreeMap<String, u64>,
    /// When it was written, in RFC 3339.
    pub made_at: String,
    /// The newest completed instant it knows.
    pub newest_instant: Option<String>,
}

/// A manifest that is fetched when a listing first asks for it, along with what else opens a table.
pub struct LateManifest {
    fetch: Fetch,
    found: Mutex<Option<Arc<Manifest>>>,
    facts: Arc<OnceLock<ListingFacts>>,
}

type Fetch = Box<dyn Fn() -> BoxFuture<'static, Result<Manifest>> + Send + Sync>;

impl LateManifest {
    /// One that `fetch` reads.
    pub fn new(
        fetch: impl Fn() -> BoxFuture<'static, Result<Manifest>> + Send + Sync + 'static,
    ) -> Self {
        Self {
            fetch: Box::new(fetch),
            found: Mutex::default(),
            facts: Arc::default(),
        }
    }

    /// What it says of itself, once it is there.
    pub fn facts(&self) -> &Arc<OnceLock<ListingFacts>> {
        &self.facts
    }

    /// The manifest; one that could not be fetched is asked for again the next time.
    pub async fn get(&self) -> Result<Arc<Manifest>> {
        let mut found = self.found.lock().await;
        if let Some(found) = &*found {
            return Ok(Arc::clone(found));
        }
        let manifest = Arc::new((self.fetch)().await?);
        self.facts.get_or_init(|| manifest.facts());
        Ok(Arc::clone(found.insert(manifest)))
    }
}

impl fmt::Debug for LateManifest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("LateManifest")
    }
}

#[derive(Deserialize)]
struct Head {
    format: Option<String>,
    version: Option<serde_json::Value>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Body {
    made_at: String,
    newest_instant: Option<String>,
    files: Vec<Entry>,
}

#[derive(Deserialize)]
struct Entry {
    path: String,
    size: u64,
}

impl Manifest {
    /// Reads a manifest.
    ///
    /// Errors: `Unsupported` for another version; `Corrupt` for what is not a manifest, or names a file outside of
    /// the table or one twice.
    pub fn parse(bytes: &[u8]) -> Result<Self> {
        let malformed = |source| Error::corrupt("the manifest is malformed").with_source(source);
        let head: Head = serde_json::from_slice(bytes).map_err(malformed)?;
        if head.format.as_deref() != Some(FORMAT) {
            return Err(Error::corrupt(
                "not a manifest: its format is not hudi-manifest",
            ));
        }
        match head.version {
            Some(version) if version.as_u64() == Some(VERSION) => {}
            Some(version) if version.is_number() => {
                return Err(Error::unsupported("a manifest of another format version")
                    .context("version", version)
                    .context(
                        "hint",
                        "write the manifest anew with this version's command",
                    ));
            }
            _ => return Err(Error::corrupt("the manifest names no format version")),
        }
        let body: Body = serde_json::from_slice(bytes).map_err(malformed)?;
        if chrono::DateTime::parse_from_rfc3339(&body.made_at).is_err() {
            return Err(
                Error::corrupt("the manifest's madeAt is not a time").context("field", "madeAt")
            );
        }
        let mut files = BTreeMap::new();
        for Entry { path, size } in body.files {
            check_path(&path)?;
            if size > MAX_SIZE {
                return Err(
                    Error::corrupt("the manifest names an impossible size").context("path", path)
                );
            }
            if let Some(_twice) = files.insert(path.clone(), size) {
                return Err(Error::corrupt("the manifest names a file twice").context("path", path));
            }
        }
        Ok(Self {
            files,
            made_at: body.made_at,
            newest_instant: body.newest_instant,
        })
    }

    /// What `metrics.listing` says of a read through this manifest.
    pub fn facts(&self) -> ListingFacts {
        ListingFacts {
            source: ListingSource::Manifest,
            made_at: Some(self.made_at.clone()),
            newest_instant: self.newest_instant.clone(),
            dot_names_hidden: false,
        }
    }
}

/// A path that stays inside the table.
fn check_path(path: &str) -> Result<()> {
    let inside = !path.is_empty()
        && !path.starts_with('/')
        && !path.ends_with('/')
        && Path::parse(path).is_ok();
    match inside {
        true => Ok(()),
        false => Err(
            Error::corrupt("the manifest names a file outside of the table").context("path", path),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;

    fn text(files: &str) -> String {
        format!(
            r#"{{"format":"hudi-manifest","version":1,"madeAt":"2026-11-29T22:15:00.000Z",
                "newestInstant":"20261129221400123","later":{{}},"files":[{files}]}}"#
        )
    }

    fn check_refused(text: &str, kind: ErrorKind) {
        let error = Manifest::parse(text.as_bytes()).expect_err(text);
        assert_eq!(error.kind(), kind, "{text}");
    }

    #[test]
    fn paths_come_in_order_with_their_sizes() {
        let text =
            text(r#"{"path":"b=%2F/f","size":9007199254740991},{"path":".hoodie/x","size":0}"#);
        let manifest = Manifest::parse(text.as_bytes()).expect("good");
        let files: Vec<_> = manifest
            .files
            .iter()
            .map(|(p, s)| (p.as_str(), *s))
            .collect();
        assert_eq!(
            files,
            [(".hoodie/x", 0), ("b=%2F/f", 9_007_199_254_740_991)]
        );
        let facts = manifest.facts();
        assert_eq!(facts.source, ListingSource::Manifest);
        assert_eq!(facts.newest_instant.as_deref(), Some("20261129221400123"));
    }

    #[test]
    fn another_version_is_unsupported() {
        check_refused(
            &text("").replace("\"version\":1", "\"version\":2"),
            ErrorKind::Unsupported,
        );
        check_refused(
            r#"{"format":"hudi-manifest","version":2}"#,
            ErrorKind::Unsupported,
        );
    }

    #[test]
    fn a_path_outside_of_the_table_is_refused() {
        for path in [
            "../a",
            "/a",
            "a/../b",
            "",
            "a//b",
            "a/",
            ".",
            "a/./b",
            "a\\u0000b",
        ] {
            let text = text(&format!(r#"{{"path":"{path}","size":1}}"#));
            check_refused(&text, ErrorKind::Corrupt);
        }
    }

    #[test]
    fn what_is_malformed_is_corrupt() {
        for text in [
            "",
            "[]",
            "{}",
            "{\"format\":\"hudi-manifest\"}",
            "<html>",
            "{\"format\":\"hudi-manifest\",\"version\":1}",
        ] {
            check_refused(text, ErrorKind::Corrupt);
        }
        for files in [
            r#"{"path":"a","size":-1}"#,
            r#"{"path":"a","size":1.5}"#,
            r#"{"path":"a"}"#,
            r#"{"path":"a","size":1},{"path":"a","size":1}"#,
            r#"{"path":"a","size":18446744073709551615}"#,
        ] {
            check_refused(&text(files), ErrorKind::Corrupt);
        }
        check_refused(
            &text("").replace("2026-11", "last year"),
            ErrorKind::Corrupt,
        );
        let good = text(r#"{"path":"a","size":1}"#);
        for end in 0..good.len() {
            check_refused(good.get(..end).expect("ascii"), ErrorKind::Corrupt);
        }
    }
}
