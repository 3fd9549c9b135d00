//! Signatures in the address of a request: no header is signed, so a browser asks without a preflight, and an address
//! serves every range of its object.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use http::header::RANGE;
use http::{HeaderMap, Method, Uri};
use object_store::aws::{AmazonS3, AwsCredentialProvider};
use object_store::path::Path;
use object_store::signer::{SignedUrlOptions, Signer};

use super::connector::Connector;
use super::s3::{S3Place, s3, s3_of};
use crate::error::{Error, Result};
use crate::storage::Redacted;
use crate::storage::wire::{Carried, Failure};

/// The server that an unsigned request names: nobody ever asks it.
const NOWHERE: &str = "http://unsigned.invalid";

/// How long an address of ours is good: it is made for one request, which may have to wait for its turn at the host.
const VALID: Duration = Duration::from_secs(900);

/// A request to a bucket, as far as a signature is about it.
#[derive(Debug, Clone)]
pub(crate) struct Unsigned {
    pub(crate) method: Method,
    /// The object's key, unescaped; empty for the bucket itself.
    pub(crate) key: String,
    /// The query's pairs, unescaped.
    pub(crate) query: Vec<(String, String)>,
    /// The headers that have to be signed: all but the range.
    pub(crate) headers: HeaderMap,
}

/// An address that carries its signature.
#[derive(Clone)]
pub(crate) struct Signed {
    pub(crate) url: String,
    /// Headers that the signature covers, beside those of the request.
    pub(crate) headers: HeaderMap,
    /// Whether it was made for an earlier request.
    pub(crate) reused: bool,
}

impl fmt::Debug for Signed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Signed")
    }
}

/// Signs addresses.
#[async_trait]
pub(crate) trait UrlSigner: fmt::Debug + Send + Sync + 'static {
    /// Where to send a request; `again` when the last answer did not serve.
    async fn sign(&self, request: &Unsigned, again: bool) -> Result<Signed, Failure>;
}

impl Unsigned {
    /// Takes apart a request of a store that [`unsigned`] made.
    pub(crate) fn new(method: &Method, uri: &Uri, headers: &HeaderMap) -> Result<Self, Failure> {
        let odd = || Failure::lasting(Error::internal("a request names no bucket"));
        let path = uri.path().strip_prefix('/').ok_or_else(odd)?;
        let key = path.split_once('/').map_or("", |(_, key)| key);
        let key = Path::from_url_path(key).map_err(|_| odd())?.to_string();
        let query = uri.query().unwrap_or_default();
        let query = url::form_urlencoded::parse(query.as_bytes()).into_owned();
        let mut headers = headers.clone();
        headers.remove(RANGE);
        Ok(Self {
            method: method.clone(),
            key,
            query: query.collect(),
            headers,
        })
    }
}

/// The store of a bucket whose requests `connector`'s signer signs.
pub(crate) fn unsigned(bucket: &str, connector: Connector) -> Result<Arc<AmazonS3>> {
    let place = S3Place {
        bucket: bucket.to_owned(),
        region: "unsigned".to_owned(),
        endpoint: Some(NOWHERE.to_owned()),
        path_style: Some(true),
        request_payer: false,
    };
    s3(&place, None, connector)
}

/// Signs with credentials, as AWS Signature Version 4 has it for queries.
#[derive(Debug)]
pub(crate) struct QuerySigner(AmazonS3);

impl QuerySigner {
    /// For a bucket; `connector` is only there because a store has one.
    pub(crate) fn new(
        place: &S3Place,
        credentials: AwsCredentialProvider,
        connector: Connector,
    ) -> Result<Self> {
        Ok(Self(s3_of(place, Some(credentials), connector)?))
    }
}

#[async_trait]
impl UrlSigner for QuerySigner {
    async fn sign(&self, request: &Unsigned, _: bool) -> Result<Signed, Failure> {
        let failed = |error| match carried(error) {
            Ok(failure) => failure,
            Err(source) => Failure::lasting(
                Error::internal("the address could not be signed")
                    .with_source(Redacted::new(source, &[])),
            ),
        };
        let path = Path::parse(&request.key).map_err(|error| failed(error.into()))?;
        let mut options = SignedUrlOptions::default().with_query(request.query.clone());
        options.signed_headers = request.headers.clone();
        let method = request.method.clone();
        let url = self.0.signed_url_opts(method, &path, VALID, &options);
        Ok(Signed {
            url: url.await.map_err(failed)?.into(),
            headers: HeaderMap::new(),
            reused: false,
        })
    }
}

/// The failure of a function that gives credentials, as it came through `object_store`.
fn carried(error: object_store::Error) -> Result<Failure, object_store::Error> {
    if let object_store::Error::Generic { source, .. } = &error
        && let Some(carried) = source.downcast_ref::<Carried>()
        && let Some(failure) = carried.take()
    {
        return Ok(failure);
    }
    Err(error)
}
