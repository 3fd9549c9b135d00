//! Requests by `fetch`: the host's own, or one that the caller gave. The same in browsers, Node and workerd.

use async_trait::async_trait;
use http::header::RANGE;
use http::{HeaderMap, HeaderName, HeaderValue};
use js_sys::{Function, Object, Uint8Array};
use wasm_bindgen::{JsCast, JsValue};
use web_sys::{AbortController, AbortSignal, Headers, Response};

use super::body::body_of;
use super::connector::{Outgoing, Transport};
use super::js_value::{function, get, promise, set, text, thrown};
use super::judge::Received;
use crate::error::{Error, ErrorKind};
use crate::host::{self, Kept};
use crate::storage::wire::Failure;

/// Headers of an answer that anything here looks at.
const SEEN: [&str; 9] = [
    "content-length",
    "content-range",
    "content-encoding",
    "content-type",
    "etag",
    "last-modified",
    "retry-after",
    "x-amz-bucket-region",
    "x-amz-version-id",
];

/// A transport over `fetch`.
#[derive(Debug)]
pub(crate) struct Fetch {
    /// The caller's function in place of the host's.
    own: Option<Kept>,
    place: Place,
}

/// What answers, and so where a rule for other origins is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// A web server: in its headers.
    Server,
    /// A bucket whose requests carry their signature in the address: in the bucket's CORS rules.
    Bucket,
    /// A bucket whose requests carry it in headers.
    BucketByHeaders,
}

impl Fetch {
    pub(crate) fn new(own: Option<Function>, place: Place) -> Self {
        let own = own.map(|function| Kept::new(function.into()));
        Self { own, place }
    }

    /// Starts a request. What it holds of JavaScript stays in a local task, and dropping the future aborts it.
    fn start(
        &self,
        request: Outgoing,
    ) -> impl Future<Output = crate::Result<Result<Received, Failure>>> + Send + use<> {
        let own = self.own.as_ref().map(Kept::get);
        let controller = AbortController::new().ok();
        let signal = controller.as_ref().map(AbortController::signal);
        let abort = move || {
            if let Some(controller) = controller {
                controller.abort();
            }
        };
        host::run_local(exchange(own, self.place, request, signal), abort)
    }
}

#[async_trait]
impl Transport for Fetch {
    async fn send(&self, request: Outgoing) -> Result<Received, Failure> {
        self.start(request).await.map_err(Failure::lasting)?
    }
}

#[allow(
    clippy::future_not_send,
    reason = "it runs inside host::run_local, which is Send"
)]
async fn exchange(
    own: Option<JsValue>,
    place: Place,
    request: Outgoing,
    signal: Option<AbortSignal>,
) -> Result<Received, Failure> {
    let secrets = secrets_of(&request.headers);
    let secrets: Vec<&str> = secrets.iter().map(String::as_str).collect();
    let init = init_of(&request, signal.as_ref())?;
    let failed = |value: JsValue| no_answer(&value, &request, place, &secrets);
    let global: JsValue = js_sys::global().into();
    let (fetch, this) = match own {
        Some(own) => (own.dyn_into::<Function>().ok(), JsValue::UNDEFINED),
        None => (function(&global, "fetch"), global),
    };
    let Some(fetch) = fetch else {
        let error = Error::invalid_argument("this host has no fetch").context("field", "fetch");
        return Err(Failure::lasting(error));
    };
    let url = JsValue::from_str(&request.url);
    let answer = fetch.call2(&this, &url, &init).map_err(failed)?;
    let answer = host::settled(promise(&answer)).await.map_err(failed)?;
    if !answer.is_object() || function(&answer, "arrayBuffer").is_none() {
        let error = Error::invalid_argument("the fetch function gave no Response");
        return Err(Failure::lasting(error.context("field", "fetch")));
    }
    let response: Response = answer.unchecked_into();
    let status = response.status();
    let headers = headers_of(&response);
    let limit = (request.limit)(status, &headers);
    let (body, ended) = body_of(&response, &headers, limit).await.map_err(|value| {
        let mut failure = thrown(&value, ErrorKind::Network, &secrets);
        failure.error = Error::network("the body broke off")
            .context("status", status)
            .with_source(failure.error);
        if status == 206 {
            // A browser that hides the header from script fails so when it is given a piece of a gzip stream.
            failure.error = failure.error.context("hint", CODED);
        }
        failure
    })?;
    Ok(Received {
        status,
        headers,
        body,
        ended,
    })
}

fn init_of(request: &Outgoing, signal: Option<&AbortSignal>) -> Result<Object, Failure> {
    let init = Object::new();
    set(&init, "method", &request.method.as_str().into());
    let headers = Object::new();
    for (name, value) in &request.headers {
        // Headers are bytes in Rust and Latin-1 text in JavaScript.
        let value: String = value
            .as_bytes()
            .iter()
            .map(|byte| char::from(*byte))
            .collect();
        set(&headers, name.as_str(), &value.into());
    }
    set(&init, "headers", &headers);
    if let Some(body) = &request.body {
        set(&init, "body", &Uint8Array::from(body.as_ref()));
    }
    if let Some(signal) = signal {
        set(&init, "signal", signal);
    }
    // A browser's cache splits a range that overlaps one it has into two requests, and may show a properties file
    // that is hours old. Older workerd throws at the sight of the option, and has no such cache.
    let workerd = !get(&js_sys::global(), "WebSocketPair").is_undefined();
    if !workerd {
        let cache = match request.headers.contains_key(RANGE) {
            true => "no-store",
            false => "no-cache",
        };
        set(&init, "cache", &cache.into());
    }
    Ok(init)
}

fn headers_of(response: &Response) -> HeaderMap {
    let mut map = HeaderMap::new();
    let headers = get(response, "headers");
    if function(&headers, "get").is_none() {
        return map;
    }
    let headers: Headers = headers.unchecked_into();
    for name in SEEN {
        if let Ok(Some(value)) = headers.get(name)
            && let Ok(value) = HeaderValue::from_str(&value)
        {
            map.insert(HeaderName::from_static(name), value);
        }
    }
    map
}

/// Values that must not come back in a message: hosts quote a header that they refuse.
fn secrets_of(headers: &HeaderMap) -> Vec<String> {
    let secret = |(name, value): (&HeaderName, &HeaderValue)| {
        let hidden = value.is_sensitive()
            || *name == http::header::AUTHORIZATION
            || *name == "x-amz-security-token";
        let text = String::from_utf8_lossy(value.as_bytes()).into_owned();
        hidden.then_some(text)
    };
    headers.iter().filter_map(secret).collect()
}

fn no_answer(value: &JsValue, request: &Outgoing, place: Place, secrets: &[&str]) -> Failure {
    let mut failure = thrown(value, ErrorKind::Network, secrets);
    let Some(origin) = page_origin() else {
        return failure;
    };
    if failure.error.kind() != ErrorKind::Network {
        return failure;
    }
    let url = url::Url::parse(&request.url);
    let elsewhere = url.is_ok_and(|url| url.origin().ascii_serialization() != origin);
    let writes = request.method != http::Method::GET;
    let rule = elsewhere.then(|| cors_rule(place, &origin, writes));
    // Chromium fails without a word when a piece of a file comes with Content-Encoding.
    let coded = request.headers.contains_key(RANGE).then_some(CODED);
    let hints: Vec<&str> = rule.as_deref().into_iter().chain(coded).collect();
    if !hints.is_empty() {
        failure.error = failure.error.context("hint", hints.join("; "));
    }
    failure
}

/// What a piece of a coded file looks like to a page.
const CODED: &str = "a file that is served with Content-Encoding fails so as well";

/// The origin of the page or of the page's worker that this runs in; elsewhere there are no rules for other origins.
pub(super) fn page_origin() -> Option<String> {
    text(&get(&js_sys::global(), "location"), "origin")
}

/// What to write where, so that a page of `origin` may read, or write.
fn cors_rule(place: Place, origin: &str, writes: bool) -> String {
    let methods = match writes {
        true => r#""GET","PUT","POST","DELETE""#,
        false => r#""GET""#,
    };
    match place {
        Place::Server => format!(
            "if the server is up, it must allow this page by the headers Access-Control-Allow-Origin: {origin} and \
             Access-Control-Expose-Headers: Content-Range, ETag; and where `headers` are given, answer OPTIONS with \
             Access-Control-Allow-Headers naming them and range"
        ),
        // Chromium and Firefox ask for a range without a preflight; others may not.
        Place::Bucket if writes => bucket_rule(origin, methods, "\"range\",\"if-none-match\""),
        Place::Bucket => bucket_rule(origin, methods, "\"range\""),
        Place::BucketByHeaders => bucket_rule(origin, methods, "\"*\""),
    }
}

fn bucket_rule(origin: &str, methods: &str, headers: &str) -> String {
    format!(
        "if the endpoint is right, the bucket must allow this page by the CORS rule \
         [{{\"AllowedOrigins\":[\"{origin}\"],\"AllowedMethods\":[{methods}],\"AllowedHeaders\":[{headers}],\
         \"ExposeHeaders\":[\"Content-Range\",\"ETag\"]}}]"
    )
}
