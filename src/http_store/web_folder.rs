//! A table's folder on a plain web server: read-only, and listed by other means than the server.

use std::fmt;

use async_trait::async_trait;
use futures::StreamExt;
use futures::stream::BoxStream;
use object_store::http::{HttpBuilder, HttpStore};
use object_store::path::Path;
use object_store::{
    CopyOptions, GetOptions, GetResult, ListResult, MultipartUpload, ObjectMeta, ObjectStore,
    PutMultipartOptions, PutOptions, PutPayload, PutResult, Result as StoreResult,
};
use url::Url;

use super::connector::Connector;
use super::listing::{Listing, with_slash};
use super::s3::no_retries;
use crate::error::{Error, Result};
use crate::storage::Redacted;
use crate::storage::wire::{Carried, Failure};

/// The store of one folder.
#[derive(Debug)]
pub(crate) struct WebFolder {
    files: HttpStore,
    listing: Listing,
}

/// The URL of a table's folder, as it is asked for. Errors: `InvalidArgument` without its secrets.
pub(crate) fn folder_url(text: &str) -> Result<Url> {
    let wrong = |message: &'static str| Error::invalid_argument(message).context("field", "uri");
    let mut url = Url::parse(text).map_err(|_| wrong("not a URL"))?;
    if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none() {
        return Err(wrong("not an http or https URL"));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(wrong(
            "fetch takes no user name in a URL: give an Authorization header",
        ));
    }
    url.set_fragment(None);
    let path = url.path().trim_end_matches('/').to_owned();
    url.set_path(&path);
    Ok(url)
}

impl WebFolder {
    pub(crate) fn new(url: &Url, connector: Connector, listing: Listing) -> Result<Self> {
        let files = HttpBuilder::new()
            .with_url(url.as_str())
            .with_retry(no_retries())
            .with_http_connector(connector)
            .build();
        let files = files.map_err(|source| {
            Error::invalid_argument("the options of the web folder do not fit together")
                .with_source(Redacted::new(source, &[]))
        })?;
        Ok(Self { files, listing })
    }
}

fn carried(failure: Failure) -> object_store::Error {
    object_store::Error::Generic {
        store: "web folder",
        source: Box::new(Carried::new(failure)),
    }
}

fn read_only() -> object_store::Error {
    carried(Failure::lasting(
        Error::read_only_storage("a web folder cannot be written")
            .context("hint", "write through a store such as s3"),
    ))
}

impl fmt::Display for WebFolder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("WebFolder")
    }
}

#[async_trait]
impl ObjectStore for WebFolder {
    async fn get_opts(&self, location: &Path, options: GetOptions) -> StoreResult<GetResult> {
        self.files.get_opts(location, options).await
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, StoreResult<ObjectMeta>> {
        let prefix = with_slash(prefix);
        let listing = self.listing.clone();
        futures::stream::once(async move { listing.below(&prefix).await })
            .flat_map(|found| match found {
                Ok(found) => futures::stream::iter(found.into_values().map(Ok)).boxed(),
                Err(failure) => futures::stream::iter([Err(carried(failure))]).boxed(),
            })
            .boxed()
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> StoreResult<ListResult> {
        let prefix = with_slash(prefix);
        let (objects, folders) = self.listing.directly_in(&prefix).await.map_err(carried)?;
        let folders: Result<Vec<Path>, _> = folders.iter().map(Path::parse).collect();
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
