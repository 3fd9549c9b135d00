//! File names for hosts that cannot list.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use object_store::ObjectMeta;
use object_store::path::Path;

use super::manifest::Manifest;
use crate::error::Error;
use crate::storage::wire::Failure;

/// Lists in the server's place.
#[async_trait]
pub(crate) trait Lister: fmt::Debug + Send + Sync + 'static {
    /// Every file below `prefix`, which is empty or ends in `/`, by path relative to the table.
    async fn list(&self, prefix: &str) -> Result<Vec<(String, u64, Option<String>)>, Failure>;
}

/// Where file names come from.
#[derive(Debug, Clone)]
pub(crate) enum Listing {
    /// Nowhere: a listing is refused.
    None,
    /// From a file that somebody wrote.
    Manifest(Arc<Manifest>),
    /// From a function of the caller.
    Custom(Arc<dyn Lister>),
}

impl Listing {
    /// Files below `prefix`, which is empty or ends in `/`.
    pub(crate) async fn below(
        &self,
        prefix: &str,
    ) -> Result<BTreeMap<String, ObjectMeta>, Failure> {
        let mut found = BTreeMap::new();
        let mut add = |path: &str, size: u64, etag: Option<String>| {
            let location = Path::parse(path).map_err(|_| {
                let error =
                    Error::invalid_argument("the listing names a file outside of the table");
                Failure::lasting(error.context("path", path))
            })?;
            let meta = ObjectMeta {
                location,
                last_modified: Default::default(),
                size,
                e_tag: etag,
                version: None,
            };
            found.insert(path.to_owned(), meta);
            Ok(())
        };
        match self {
            Self::None => return Err(Failure::lasting(no_listing())),
            Self::Manifest(manifest) => {
                let from = manifest.files.range(prefix.to_owned()..);
                for (path, size) in from.take_while(|(path, _)| path.starts_with(prefix)) {
                    add(path, *size, None)?;
                }
            }
            Self::Custom(lister) => {
                for (path, size, etag) in lister.list(prefix).await? {
                    if path.starts_with(prefix) {
                        add(&path, size, etag)?;
                    }
                }
            }
        }
        Ok(found)
    }
}

fn no_listing() -> Error {
    Error::list_not_supported("this store cannot list its files").context(
        "hint",
        "give `listing`: a manifest (npm run manifest -- <folder> writes one), or a function that lists",
    )
}
