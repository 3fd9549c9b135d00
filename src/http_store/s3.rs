//! S3 and what speaks like it: `object_store`'s client over our connection.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use object_store::RetryConfig;
use object_store::aws::{
    AmazonS3, AmazonS3Builder, AmazonS3ConfigKey, AwsCredential, AwsCredentialProvider,
};
use url::Url;

use super::connector::Connector;
use super::crypto::Sha2;
use crate::error::{Error, Result};
use crate::storage::Redacted;

/// A bucket and how to ask for it.
#[derive(Debug, Clone)]
pub(crate) struct S3Place {
    pub(crate) bucket: String,
    pub(crate) region: String,
    /// Where it is, unless at AWS.
    pub(crate) endpoint: Option<String>,
    /// Bucket in the path; by default so where an endpoint is given or the bucket's name has dots.
    pub(crate) path_style: Option<bool>,
    pub(crate) request_payer: bool,
}

/// The store of a bucket; `None` for credentials asks without a signature.
pub(crate) fn s3(
    place: &S3Place,
    credentials: Option<AwsCredentialProvider>,
    connector: Connector,
) -> Result<Arc<AmazonS3>> {
    Ok(Arc::new(s3_of(place, credentials, connector)?))
}

pub(super) fn s3_of(
    place: &S3Place,
    credentials: Option<AwsCredentialProvider>,
    connector: Connector,
) -> Result<AmazonS3> {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
    if place.bucket.is_empty() || !place.bucket.chars().all(plain) {
        return Err(Error::invalid_argument("not a bucket's name").context("bucket", &place.bucket));
    }
    if place.region.is_empty() || !place.region.chars().all(plain) {
        return Err(Error::invalid_argument("not a region").context("region", &place.region));
    }
    let path_style = place
        .path_style
        .unwrap_or(place.endpoint.is_some() || place.bucket.contains('.'));
    let mut builder = AmazonS3Builder::new()
        .with_bucket_name(&place.bucket)
        .with_region(&place.region)
        .with_virtual_hosted_style_request(!path_style)
        .with_request_payer(place.request_payer)
        .with_crypto_provider(Arc::new(Sha2))
        .with_retry(no_retries())
        // Deleting many at once is a request to the bucket, which not every server knows and no signature is made for.
        .with_config(AmazonS3ConfigKey::DisableBulkDelete, "true")
        .with_http_connector(connector);
    if let Some(endpoint) = &place.endpoint {
        builder = builder.with_endpoint(endpoint_of(endpoint, &place.bucket, path_style)?);
    }
    builder = match credentials {
        Some(credentials) => builder.with_credentials(credentials),
        // Never asked for, but without any the builder would look for those of a virtual machine.
        None => builder
            .with_skip_signature(true)
            .with_access_key_id("anonymous")
            .with_secret_access_key("anonymous"),
    };
    builder.build().map_err(|source| {
        Error::invalid_argument("the options of the S3 store do not fit together")
            .with_source(Redacted::new(source, &[]))
    })
}

/// Where it is remembered that a bucket heeds If-None-Match: once for all tables and handles of this process.
pub(super) fn shown(place: &S3Place) -> Arc<OnceLock<()>> {
    static SHOWN: Mutex<BTreeMap<String, Arc<OnceLock<()>>>> = Mutex::new(BTreeMap::new());
    let endpoint = place.endpoint.as_deref().unwrap_or(&place.region);
    let mut shown = SHOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let shown = shown.entry(format!("{endpoint} {}", place.bucket));
    Arc::clone(shown.or_default())
}

/// Retrying is ours.
pub(super) fn no_retries() -> RetryConfig {
    RetryConfig {
        max_retries: 0,
        ..RetryConfig::default()
    }
}

fn endpoint_of(endpoint: &str, bucket: &str, path_style: bool) -> Result<String> {
    let wrong = || {
        Error::invalid_argument("not an endpoint: an http or https URL of a server is needed")
            .context("field", "endpoint")
    };
    let mut url = Url::parse(endpoint).map_err(|_| wrong())?;
    let web = matches!(url.scheme(), "http" | "https");
    let bare = url.username().is_empty() && url.password().is_none() && url.query().is_none();
    if !web || !bare || url.host_str().is_none() {
        return Err(wrong());
    }
    if !path_style {
        let host = format!("{bucket}.{}", url.host_str().unwrap_or_default());
        url.set_host(Some(&host)).map_err(|_| wrong())?;
    }
    Ok(url.as_str().trim_end_matches('/').to_owned())
}

/// Credentials that a header can carry. Errors: `InvalidArgument` without the values.
pub(crate) fn credential(
    key_id: String,
    secret_key: String,
    token: Option<String>,
) -> Result<AwsCredential> {
    let visible = |text: &str| !text.is_empty() && text.chars().all(|c| c.is_ascii_graphic());
    let good = visible(&key_id) && !secret_key.is_empty() && token.as_deref().is_none_or(visible);
    match good {
        true => Ok(AwsCredential {
            key_id,
            secret_key,
            token,
        }),
        false => Err(Error::invalid_argument(
            "credentials need accessKeyId and secretAccessKey of visible characters",
        )
        .context("field", "credentials")),
    }
}
