//! Functions of the caller that give secrets: headers, credentials, and signed addresses.

use std::sync::Arc;

use async_trait::async_trait;
use http::HeaderMap;
use js_sys::{Array, Date, Function, Object};
use object_store::CredentialProvider;
use object_store::aws::AwsCredential;
use wasm_bindgen::{JsCast, JsValue};

use super::connector::{HeaderSource, header};
use super::js_value::{get, promise, set, text, thrown};
use super::s3::credential;
use super::signer::{Signed, Unsigned, UrlSigner};
use crate::error::{Error, ErrorKind, Result};
use crate::host::{self, Kept};
use crate::storage::wire::{Carried, Failure};

/// Credentials are asked for anew this long before they expire.
const EARLY_MILLIS: f64 = 60_000.0;

/// Headers given once.
#[derive(Debug)]
pub(super) struct Fixed(HeaderMap);

/// A function that gives headers for each request.
#[derive(Debug)]
struct Asked(Kept);

/// The headers of a `HeadersInit`, or of a function that gives one. Errors: `InvalidArgument`.
pub(super) fn header_source(init: &JsValue) -> Result<Option<Arc<dyn HeaderSource>>> {
    if init.is_undefined() || init.is_null() {
        return Ok(None);
    }
    Ok(Some(match init.dyn_ref::<Function>() {
        Some(function) => Arc::new(Asked(Kept::new(function.into()))),
        None => Arc::new(Fixed(header_map(init)?)),
    }))
}

#[async_trait]
impl HeaderSource for Fixed {
    async fn headers(&self) -> Result<HeaderMap, Failure> {
        Ok(self.0.clone())
    }
}

#[async_trait]
impl HeaderSource for Asked {
    async fn headers(&self) -> Result<HeaderMap, Failure> {
        let take = |init: JsValue| header_map(&init).map_err(Failure::lasting);
        call(&self.0, None, take).await
    }
}

fn header_map(init: &JsValue) -> Result<HeaderMap> {
    let wrong = || Error::invalid_argument("not headers").context("field", "headers");
    // Host's words about a bad header quote its value, so they are not passed on.
    let headers = web_sys::Headers::new_with_str_sequence_sequence(init).map_err(|_| wrong())?;
    let mut map = HeaderMap::new();
    for pair in Array::from(&headers).iter() {
        let pair: Array = pair.dyn_into().map_err(|_| wrong())?;
        let (name, value) = (pair.get(0).as_string(), pair.get(1).as_string());
        let (Some(name), Some(value)) = (name, value) else {
            return Err(wrong());
        };
        let (name, value) = header(&name, &value)?;
        map.append(name, value);
    }
    Ok(map)
}

/// Calls a function and reads what its promise gives.
fn call<T: Send + 'static>(
    function: &Kept,
    argument: Option<Object>,
    take: impl FnOnce(JsValue) -> Result<T, Failure> + 'static,
) -> impl Future<Output = Result<T, Failure>> + Send {
    let function = function.get();
    let work = async move {
        // What a failing function says may hold what it was about to give; only its code and status count.
        let failed = |value: JsValue| {
            let mut failure = thrown(&value, ErrorKind::Unauthorized, &[]);
            let status = failure.error.get("status").map(str::to_owned);
            let message = "the function that gives headers, credentials or signatures failed";
            failure.error = Error::new(failure.error.kind(), message);
            if let Some(status) = status {
                failure.error = failure.error.context("status", status);
            }
            failure
        };
        let function: Function = function.dyn_into().map_err(failed)?;
        let argument = argument.map_or(JsValue::UNDEFINED, JsValue::from);
        let given = function
            .call1(&JsValue::UNDEFINED, &argument)
            .map_err(failed)?;
        let given = host::settled(promise(&given)).await.map_err(failed)?;
        take(given)
    };
    let local = host::run_local(work, || {});
    async move { local.await.map_err(Failure::lasting)? }
}

/// Credentials by a function of the caller, kept until shortly before they expire.
#[derive(Debug)]
pub(super) struct Provider {
    function: Kept,
    known: std::sync::Mutex<Option<(Arc<AwsCredential>, f64)>>,
}

impl Provider {
    pub(super) fn new(function: &Function) -> Self {
        Self {
            function: Kept::new(function.into()),
            known: std::sync::Mutex::default(),
        }
    }

    fn fresh(&self) -> Option<Arc<AwsCredential>> {
        let known = self
            .known
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        let (credential, expires) = known.as_ref()?;
        let now = host::now_millis() as f64;
        (now + EARLY_MILLIS < *expires).then(|| Arc::clone(credential))
    }
}

#[async_trait]
impl CredentialProvider for Provider {
    type Credential = AwsCredential;

    async fn get_credential(&self) -> object_store::Result<Arc<AwsCredential>> {
        if let Some(credential) = self.fresh() {
            return Ok(credential);
        }
        let take = |given: JsValue| {
            let credential = credential_of(&given).map_err(Failure::lasting)?;
            let expires = get(&given, "expiration").dyn_into::<Date>().ok();
            let expires = expires
                .map(|date| date.get_time())
                .filter(|time| time.is_finite());
            Ok((credential, expires))
        };
        let given = call(&self.function, None, take).await;
        let (credential, expires) = given.map_err(|failure| object_store::Error::Generic {
            store: "credentials",
            source: Box::new(Carried::new(failure)),
        })?;
        let credential = Arc::new(credential);
        // Without an expiry the function is asked each time: it may keep them itself, and knows for how long.
        let kept = expires.map(|expires| (Arc::clone(&credential), expires));
        *self
            .known
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner) = kept;
        Ok(credential)
    }
}

/// `S3Credentials` of `index.d.ts`.
pub(super) fn credential_of(given: &JsValue) -> Result<AwsCredential> {
    credential(
        text(given, "accessKeyId").unwrap_or_default(),
        text(given, "secretAccessKey").unwrap_or_default(),
        text(given, "sessionToken"),
    )
}

/// Addresses that a function of the caller signs: it is given `{ method, key, query, headers, again }`, and gives
/// `{ url, headers?, reused? }`.
#[derive(Debug)]
pub(super) struct Presigner(Kept);

impl Presigner {
    pub(super) fn new(function: &Function) -> Self {
        Self(Kept::new(function.into()))
    }
}

#[async_trait]
impl UrlSigner for Presigner {
    async fn sign(&self, request: &Unsigned, again: bool) -> Result<Signed, Failure> {
        call(&self.0, Some(sign_request(request, again)), signed).await
    }
}

fn sign_request(request: &Unsigned, again: bool) -> Object {
    let list = request.key.is_empty() && request.query.iter().any(|(name, _)| name == "list-type");
    let method = if list {
        "LIST"
    } else {
        request.method.as_str()
    };
    let (query, headers) = (Object::new(), Object::new());
    for (name, value) in &request.query {
        set(&query, name, &value.into());
    }
    for (name, value) in &request.headers {
        let value = String::from_utf8_lossy(value.as_bytes()).into_owned();
        set(&headers, name.as_str(), &value.into());
    }
    let argument = Object::new();
    set(&argument, "method", &method.into());
    set(&argument, "key", &request.key.as_str().into());
    set(&argument, "query", &query);
    set(&argument, "headers", &headers);
    set(&argument, "again", &again.into());
    argument
}

fn signed(given: JsValue) -> Result<Signed, Failure> {
    let wrong = || {
        let error = Error::invalid_argument("the signer gave no http or https URL");
        Failure::lasting(error.context("field", "sign"))
    };
    let url = text(&given, "url").ok_or_else(wrong)?;
    let parsed = url::Url::parse(&url).map_err(|_| wrong())?;
    if !matches!(parsed.scheme(), "http" | "https") || !parsed.username().is_empty() {
        return Err(wrong());
    }
    let headers = get(&given, "headers");
    let headers = match headers.is_undefined() || headers.is_null() {
        true => HeaderMap::new(),
        false => header_map(&headers).map_err(Failure::lasting)?,
    };
    Ok(Signed {
        url,
        headers,
        reused: get(&given, "reused").is_truthy(),
    })
}
