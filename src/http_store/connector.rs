//! `object_store`'s connection over any [`Transport`]: asks, judges, and hands up what happened.

use std::fmt;
use std::future::poll_fn;
use std::ops::Range;
use std::pin::Pin;
use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use http::header::{
    AUTHORIZATION, CONTENT_LENGTH, HOST, HeaderName, HeaderValue, RANGE, USER_AGENT,
};
use http::{HeaderMap, Method};
use http_body::Body;
use object_store::ClientOptions;
use object_store::client::{
    HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpRequestBody,
    HttpResponse, HttpService,
};

use super::judge::{Asked, Received, Verdict, judge, limit};
use super::signer::{Unsigned, UrlSigner};
use crate::error::{Error, ErrorKind};
use crate::host;
use crate::storage::wire::{Carried, Failure, KnownSize};

/// One request as it goes out. Bodies are small or already in memory; nothing streams.
pub(crate) struct Outgoing {
    pub(crate) method: Method,
    pub(crate) url: String,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Option<Bytes>,
    /// Decides how much of the body is read.
    pub(crate) limit: Limit,
}

/// From status and headers to how many bytes of the body are read.
pub(crate) type Limit = Box<dyn FnOnce(u16, &HeaderMap) -> u64 + Send>;

/// Sends one request and reads its body up to the limit. Dropping the future ends both.
#[async_trait]
pub(crate) trait Transport: fmt::Debug + Send + Sync + 'static {
    /// Errors: `Network` when there is no answer or its body breaks off.
    async fn send(&self, request: Outgoing) -> Result<Received, Failure>;
}

/// Headers that the caller adds to each request, such as a token.
#[async_trait]
pub(crate) trait HeaderSource: fmt::Debug + Send + Sync + 'static {
    /// The headers now.
    async fn headers(&self) -> Result<HeaderMap, Failure>;
}

/// Connects `object_store` to a [`Transport`].
#[derive(Debug, Clone)]
pub(crate) struct Connector {
    pub(crate) transport: Arc<dyn Transport>,
    pub(crate) headers: Option<Arc<dyn HeaderSource>>,
    /// Signs the address of each request, of a store that itself asks without a signature.
    pub(crate) signer: Option<Arc<dyn UrlSigner>>,
}

impl HttpConnector for Connector {
    fn connect(&self, _: &ClientOptions) -> object_store::Result<HttpClient> {
        Ok(HttpClient::new(self.clone()))
    }
}

#[async_trait]
impl HttpService for Connector {
    async fn call(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let answer = self.answer(request).await;
        answer.map_err(|failure| HttpError::new(HttpErrorKind::Interrupted, Carried::new(failure)))
    }
}

impl Connector {
    async fn answer(&self, request: HttpRequest) -> Result<HttpResponse, Failure> {
        let (parts, body) = request.into_parts();
        if parts.method == Method::HEAD {
            return Err(Failure::lasting(Error::internal("HEAD is never sent")));
        }
        let asked = Asked {
            range: range_of(&parts.headers)?,
            known: parts.extensions.get::<KnownSize>().map(|known| known.0),
            method: parts.method,
        };
        let mut headers = parts.headers;
        let signed = headers.contains_key(AUTHORIZATION);
        for name in [HOST, CONTENT_LENGTH, USER_AGENT] {
            headers.remove(name);
        }
        if let Some(source) = &self.headers {
            let more = source.headers().await?;
            headers.extend(more);
        }
        let body = body_of(body).await?;
        let unsigned = match &self.signer {
            Some(_) => Some(Unsigned::new(&asked.method, &parts.uri, &headers)?),
            None => None,
        };
        let mut request = Sent {
            url: plus_encoded(&parts.uri.to_string()),
            unsigned,
            headers,
            body,
        };
        let (received, answer) = match self.ask(&asked, &request).await? {
            Verdict::Good(received, answer) => (received, answer),
            // A header's signature covers the range, so without it the request would be refused.
            Verdict::AskWhole if signed => return Err(piece_of_compressed()),
            Verdict::AskWhole => {
                request.headers.remove(RANGE);
                match self.ask(&asked, &request).await? {
                    Verdict::Good(received, answer) => (received, answer),
                    Verdict::AskWhole => return Err(piece_of_compressed()),
                }
            }
        };
        let mut response = http::Response::builder().status(received.status);
        if let Some(headers) = response.headers_mut() {
            *headers = received.headers;
        }
        if let Some(extensions) = response.extensions_mut() {
            extensions.insert(answer);
        }
        let response = response.body(received.body.into());
        response.map_err(|_| Failure::lasting(Error::internal("a response could not be made")))
    }

    /// Asks, and once more where a signature that was made earlier is refused: it may have been revoked since.
    async fn ask(&self, asked: &Asked, request: &Sent) -> Result<Verdict, Failure> {
        let (Some(signer), Some(unsigned)) = (&self.signer, &request.unsigned) else {
            return self
                .ask_at(asked, request, &request.url, HeaderMap::new())
                .await;
        };
        let first = signer.sign(unsigned, false).await?;
        let answer = self.ask_at(asked, request, &first.url, first.headers).await;
        match answer {
            Err(failure) if first.reused && failure.error.kind() == ErrorKind::Unauthorized => {
                let fresh = signer.sign(unsigned, true).await?;
                self.ask_at(asked, request, &fresh.url, fresh.headers).await
            }
            answer => answer,
        }
    }

    async fn ask_at(
        &self,
        asked: &Asked,
        request: &Sent,
        url: &str,
        more: HeaderMap,
    ) -> Result<Verdict, Failure> {
        let about = asked.clone();
        let mut headers = request.headers.clone();
        headers.extend(more);
        let request = Outgoing {
            method: asked.method.clone(),
            url: url.to_owned(),
            headers,
            body: request.body.clone(),
            limit: Box::new(move |status, headers| limit(&about, status, headers)),
        };
        let received = self.transport.send(request).await?;
        judge(asked, received, host::now_millis())
    }
}

/// All of a body, copied only when it is in pieces; `None` where there is no byte. Its own `is_empty` is not asked:
/// for a payload it says the opposite (object_store 0.14.2).
async fn body_of(mut body: HttpRequestBody) -> Result<Option<Bytes>, Failure> {
    if body.content_length() == 0 {
        return Ok(None);
    }
    let broken = |_| Failure::lasting(Error::internal("a request's body cannot be read"));
    let mut pieces = Vec::new();
    while let Some(frame) = poll_fn(|context| Pin::new(&mut body).poll_frame(context)).await {
        if let Ok(piece) = frame.map_err(broken)?.into_data() {
            pieces.push(piece);
        }
    }
    Ok(Some(match pieces.len() {
        1 => pieces.remove(0),
        _ => pieces.concat().into(),
    }))
}

/// A request before its address is signed, where it is.
struct Sent {
    url: String,
    unsigned: Option<Unsigned>,
    headers: HeaderMap,
    body: Option<Bytes>,
}

/// A plus in the path as `%2B`: S3, and hosts in front of it, read a bare one as a space. S3's own paths have none.
fn plus_encoded(url: &str) -> String {
    let (path, query) = match url.find('?') {
        Some(at) => url.split_at(at),
        None => (url, ""),
    };
    format!("{}{query}", path.replace('+', "%2B"))
}

fn piece_of_compressed() -> Failure {
    Failure::lasting(
        Error::range_not_supported(
            "the object is served compressed, so parts of it cannot be read",
        )
        .context(
            "hint",
            "store and serve the table's files without Content-Encoding",
        ),
    )
}

/// `bytes=a-b` as `a..b+1`. Suffixes and open ends are not ours: they cost a preflight, or bytes.
fn range_of(headers: &HeaderMap) -> Result<Option<Range<u64>>, Failure> {
    let Some(value) = headers.get(RANGE) else {
        return Ok(None);
    };
    let parse = || {
        let (start, end) = value
            .to_str()
            .ok()?
            .strip_prefix("bytes=")?
            .split_once('-')?;
        let (start, end) = (start.parse::<u64>().ok()?, end.parse::<u64>().ok()?);
        Some(start..end.checked_add(1)?)
    };
    match parse() {
        Some(range) => Ok(Some(range)),
        None => Err(Failure::lasting(Error::internal("a range is not absolute"))),
    }
}

/// A header as the caller gave it. Errors: `InvalidArgument` naming the header, never its value.
pub(crate) fn header(name: &str, value: &str) -> Result<(HeaderName, HeaderValue), Error> {
    let wrong = |what: &'static str| Error::invalid_argument(what).context("header", name);
    let parsed = HeaderName::from_bytes(name.as_bytes()).map_err(|_| wrong("not a header name"))?;
    let mut value = HeaderValue::from_str(value)
        .or_else(|_| HeaderValue::from_bytes(value.as_bytes()))
        .map_err(|_| wrong("the header's value holds characters that no header may have"))?;
    value.set_sensitive(true);
    Ok((parsed, value))
}
