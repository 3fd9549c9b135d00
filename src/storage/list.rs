//! Listing: by pages where the store gives them, so that each page is a request with attempts of its own.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;

use futures::TryStreamExt;
use object_store::ListResult;
use object_store::list::{PaginatedListOptions, PaginatedListStore};

use super::classify::classify;
use super::request::{Ask, Reply};
use super::wire::{Answer, Failure};
use super::{Cause, Folder, ObjectMeta, Storage};
use crate::error::{Error, ErrorKind, Result};
use crate::model::InOrder;

/// A listing longer than this is refused: it would not fit a browser's memory, nor end in useful time.
const MAX_LISTED: usize = 5_000_000;
/// Pages of one listing; a store whose pages are empty and never end is not followed further.
const MAX_PAGES: usize = 100_000;

impl Storage {
    /// What stands directly in the folder `prefix` (empty: the table's own); an absent folder is empty.
    pub async fn list_folder(&self, prefix: &str, cause: Cause) -> Result<Folder> {
        let found = match &self.shared.options.pages {
            Some(pages) => self.all_pages(pages, prefix, true, None, cause).await?,
            None => self.list_at_once(prefix, true, None, cause).await?,
        };
        let folders: BTreeSet<String> = found
            .common_prefixes
            .iter()
            .filter_map(|path| self.relative(path))
            .filter(|path| path != prefix)
            .collect();
        Ok(Folder {
            files: self.metas(found, prefix),
            folders: folders.into_iter().collect(),
        })
    }

    /// Every object below the folder `prefix`, after the path `start_after` when one is given, in order of path.
    pub async fn list_all(
        &self,
        prefix: &str,
        start_after: Option<&str>,
        cause: Cause,
    ) -> Result<Vec<ObjectMeta>> {
        let found = match &self.shared.options.pages {
            Some(pages) => {
                self.all_pages(pages, prefix, false, start_after, cause)
                    .await?
            }
            None => self.list_at_once(prefix, false, start_after, cause).await?,
        };
        Ok(self.metas(found, prefix))
    }

    /// The first objects below the folder `prefix` behind the path `start_after`, by path, by one request; and the last of their
    /// paths when there may be more.
    pub async fn list_first(
        &self,
        prefix: &str,
        start_after: &str,
        cause: Cause,
    ) -> Result<(Vec<ObjectMeta>, Option<String>)> {
        let Some(pages) = &self.shared.options.pages else {
            let all = self.list_all(prefix, Some(start_after), cause).await?;
            return Ok((all, None));
        };
        let walk = Walk::new(self, prefix, false, Some(start_after))?;
        let (page, next) = self.page(pages, &walk, None, cause).await?;
        let metas = self.metas(page, prefix);
        let last = metas.last().map_or(start_after, |meta| &meta.path);
        let last = next.map(|_| last.to_owned());
        Ok((metas, last))
    }

    fn metas(&self, found: ListResult, prefix: &str) -> Vec<ObjectMeta> {
        let of = |meta: object_store::ObjectMeta| {
            Some(ObjectMeta {
                path: self.relative(&meta.location)?,
                size: meta.size,
                etag: meta.e_tag,
                modified_millis: Some(meta.last_modified.timestamp_millis()),
            })
        };
        // Consoles leave an empty object named like the folder itself.
        let mut metas: Vec<ObjectMeta> = found.objects.into_iter().filter_map(of).collect();
        metas.retain(|meta| meta.path != prefix && !meta.path.is_empty());
        metas.in_order_by(|a, b| a.path.cmp(&b.path));
        metas
    }

    async fn list_at_once(
        &self,
        prefix: &str,
        one_level: bool,
        start_after: Option<&str>,
        cause: Cause,
    ) -> Result<ListResult> {
        let location = self.location(prefix)?;
        let after = start_after.map(|path| self.location(path)).transpose()?;
        let ask = Ask {
            method: "LIST",
            path: prefix,
            range: None,
            cause,
        };
        let once = || async {
            let store = &self.shared.store;
            let result = match (&after, one_level) {
                (_, true) => store.list_with_delimiter(Some(&location)).await,
                (Some(after), false) => {
                    gather(store.list_with_offset(Some(&location), after)).await
                }
                (None, false) => gather(store.list(Some(&location))).await,
            };
            reply(result, prefix)
        };
        let found = match self.lists_from_memory() {
            true => once().await.map(|reply| reply.value),
            false => self.attempts(&ask, once).await,
        };
        let found = found.map_err(|f| f.error)?;
        bounded(found.objects.len(), prefix)?;
        Ok(found)
    }

    async fn all_pages(
        &self,
        pages: &Arc<dyn PaginatedListStore>,
        prefix: &str,
        one_level: bool,
        start_after: Option<&str>,
        cause: Cause,
    ) -> Result<ListResult> {
        let walk = Walk::new(self, prefix, one_level, start_after)?;
        let mut all = ListResult {
            common_prefixes: Vec::new(),
            objects: Vec::new(),
            extensions: Default::default(),
        };
        let mut token: Option<String> = None;
        for _ in 0..MAX_PAGES {
            let (page, next) = self.page(pages, &walk, token.clone(), cause).await?;
            all.objects.extend(page.objects);
            all.common_prefixes.extend(page.common_prefixes);
            bounded(all.objects.len() + all.common_prefixes.len(), prefix)?;
            match next {
                None => return Ok(all),
                Some(next) if Some(&next) == token.as_ref() => {
                    return Err(Error::unavailable("the store lists the same page again")
                        .context("path", prefix));
                }
                next => token = next,
            }
        }
        Err(Error::limit_exceeded("the listing has too many pages").context("path", prefix))
    }

    /// One page of a listing, and the token of the next.
    async fn page(
        &self,
        pages: &Arc<dyn PaginatedListStore>,
        walk: &Walk<'_>,
        token: Option<String>,
        cause: Cause,
    ) -> Result<(ListResult, Option<String>)> {
        let ask = Ask {
            method: "LIST",
            path: walk.prefix,
            range: None,
            cause,
        };
        let once = || async {
            let options = PaginatedListOptions {
                offset: walk.after.clone(),
                delimiter: walk.one_level.then_some(Cow::Borrowed("/")),
                page_token: token.clone(),
                ..PaginatedListOptions::default()
            };
            let page = pages.list_paginated(walk.folder.as_deref(), options).await;
            let (result, next) = match page {
                Ok(page) => (Ok(page.result), page.page_token),
                Err(error) => (Err(error), None),
            };
            reply(result, walk.prefix).map(|reply| Reply {
                value: (reply.value, next),
                status: reply.status,
                bytes: reply.bytes,
            })
        };
        self.attempts(&ask, once).await.map_err(|f| f.error)
    }
}

/// What a listing by pages asks for.
struct Walk<'a> {
    prefix: &'a str,
    folder: Option<String>,
    after: Option<String>,
    one_level: bool,
}

impl<'a> Walk<'a> {
    fn new(
        storage: &Storage,
        prefix: &'a str,
        one_level: bool,
        start_after: Option<&str>,
    ) -> Result<Self> {
        let location = storage.location(prefix)?;
        let after = start_after.map(|path| storage.location(path)).transpose()?;
        Ok(Self {
            prefix,
            folder: (!location.is_root()).then(|| format!("{location}/")),
            after: after.as_ref().map(ToString::to_string),
            one_level,
        })
    }
}

async fn gather(
    stream: futures::stream::BoxStream<'static, object_store::Result<object_store::ObjectMeta>>,
) -> object_store::Result<ListResult> {
    Ok(ListResult {
        common_prefixes: Vec::new(),
        objects: stream.try_collect().await?,
        extensions: Default::default(),
    })
}

fn reply(
    result: object_store::Result<ListResult>,
    prefix: &str,
) -> Result<Reply<ListResult>, Failure> {
    let found = match result.map_err(|e| classify(e, prefix)) {
        Ok(found) => found,
        Err(failure) if failure.error.kind() == ErrorKind::NotFound => ListResult {
            common_prefixes: Vec::new(),
            objects: Vec::new(),
            extensions: Default::default(),
        },
        Err(failure) => return Err(failure),
    };
    let answer = found.extensions.get::<Answer>();
    Ok(Reply {
        status: answer.map_or(200, |a| a.status),
        bytes: answer.map_or(0, |a| a.bytes),
        value: found,
    })
}

fn bounded(count: usize, prefix: &str) -> Result<()> {
    match count <= MAX_LISTED {
        true => Ok(()),
        false => Err(Error::limit_exceeded("the folder holds too many objects")
            .context("path", prefix)
            .context("limit", MAX_LISTED)),
    }
}
