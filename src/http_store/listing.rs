//! File names for hosts that cannot list.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use object_store::ObjectMeta;
use object_store::path::Path;

use super::manifest::LateManifest;
use crate::error::Error;
use crate::storage::wire::Failure;

/// Lists in the server's place.
#[async_trait]
pub(crate) trait Lister: fmt::Debug + Send + Sync + 'static {
    /// Every file below `prefix`, which is empty or ends in `/`, by path relative to the table.
    async fn list(&self, prefix: &str) -> Result<Vec<(String, u64, Option<String>)>, Failure>;

    /// What stands directly in `prefix`, for listers that know levels: files as above, and folders without a slash at
    /// their end. `None` where only [`Self::list`] can tell.
    async fn level(&self, prefix: &str) -> Result<Option<Level>, Failure>;
}

/// Files and folders of one level.
pub(crate) type Level = (Vec<(String, u64, Option<String>)>, Vec<String>);

/// Where file names come from.
#[derive(Debug, Clone)]
pub(crate) enum Listing {
    /// Nowhere: a listing is refused.
    None,
    /// From a file that somebody wrote.
    Manifest(Arc<LateManifest>),
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
            found.insert(path.to_owned(), meta_of(path, size, etag)?);
            Ok(())
        };
        match self {
            Self::None => return Err(Failure::lasting(no_listing())),
            Self::Manifest(late) => {
                let manifest = late.get().await.map_err(Failure::lasting)?;
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

    /// Files and folders directly in `prefix`, which is empty or ends in `/`.
    pub(crate) async fn directly_in(
        &self,
        prefix: &str,
    ) -> Result<(Vec<ObjectMeta>, BTreeSet<String>), Failure> {
        if let Self::Custom(lister) = self
            && let Some((files, folders)) = lister.level(prefix).await?
        {
            let metas = files
                .into_iter()
                .map(|(path, size, etag)| meta_of(&path, size, etag));
            return Ok((
                metas.collect::<Result<_, _>>()?,
                folders.into_iter().collect(),
            ));
        }
        let (mut files, mut folders) = (Vec::new(), BTreeSet::new());
        for (path, meta) in self.below(prefix).await? {
            let rest = path.strip_prefix(prefix).unwrap_or(&path);
            match rest.split_once('/') {
                Some((folder, _)) => {
                    folders.insert(format!("{prefix}{folder}"));
                }
                None => files.push(meta),
            }
        }
        Ok((files, folders))
    }
}

fn meta_of(path: &str, size: u64, etag: Option<String>) -> Result<ObjectMeta, Failure> {
    let location = Path::parse(path).map_err(|_| {
        let error = Error::invalid_argument("the listing names a file outside of the table");
        Failure::lasting(error.context("path", path))
    })?;
    Ok(ObjectMeta {
        location,
        last_modified: Default::default(),
        size,
        e_tag: etag,
        version: None,
    })
}

fn no_listing() -> Error {
    Error::list_not_supported("this store cannot list its files").context(
        "hint",
        "give `listing`: a manifest (npm run manifest -- <folder> writes one), or a function that lists",
    )
}

/// A prefix as listings take it: empty, or ending in `/`.
pub(super) fn with_slash(prefix: Option<&Path>) -> String {
    match prefix {
        Some(prefix) if !prefix.is_root() => format!("{prefix}/"),
        _ => String::new(),
    }
}
