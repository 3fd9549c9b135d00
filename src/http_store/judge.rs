//! What an HTTP answer is worth: pure, so that every case is tested without a network.
//!
//! `object_store` refuses a range that comes as 200 and a 206 whose Content-Range a browser hides. Both are mended
//! here, before it sees them: a whole body is cut when it is small, and the header is supplied from the known size.

use std::ops::Range;

use bytes::Bytes;
use http::header::{
    CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_RANGE, CONTENT_TYPE, ETAG, LAST_MODIFIED, RETRY_AFTER,
};
use http::{HeaderMap, HeaderName, HeaderValue, Method};

use super::refusal::refuse;
use crate::error::Error;
use crate::storage::retry_after_millis;
use crate::storage::wire::{Answer, Failure};

/// A body that is the whole object is cut when it is no larger than this, or than twice what was wanted.
const SMALL: u64 = 1 << 20;
/// A body that was not asked for in part is not read further than this.
const MAX_WHOLE: u64 = 512 << 20;
/// Of an error's body, what is read to find its code.
const MAX_REFUSAL: u64 = 8 << 10;

/// What was asked.
#[derive(Debug, Clone)]
pub(crate) struct Asked {
    pub(crate) method: Method,
    /// The absolute range, if one was asked for.
    pub(crate) range: Option<Range<u64>>,
    /// The size of the object, if it is known.
    pub(crate) known: Option<u64>,
}

/// What came: a body of at most [`limit`] bytes, and whether that was all of it.
#[derive(Debug, Clone)]
pub(crate) struct Received {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
    pub(crate) ended: bool,
}

/// What an answer is worth.
#[derive(Debug)]
pub(crate) enum Verdict {
    /// To be handed on, with headers that `object_store` accepts.
    Good(Received, Answer),
    /// A piece of a compressed object: only the whole can be decoded, and it may be small enough to ask for.
    AskWhole,
}

/// How many bytes of the body to read, known from its headers; 0 to read none.
pub(crate) fn limit(asked: &Asked, status: u16, headers: &HeaderMap) -> u64 {
    match (status, asked.wanted()) {
        (200..=299, None) => MAX_WHOLE,
        (206, Some(_)) if encoding(headers).is_some() => 0,
        (206, Some(wanted)) => wanted,
        (200..=299, Some(wanted)) => {
            let bound = small(wanted);
            let told = match encoding(headers) {
                None => number(headers, &CONTENT_LENGTH),
                Some(_) => None,
            };
            match told.or(asked.known).unwrap_or(0) > bound {
                true => 0,
                false => bound,
            }
        }
        _ => MAX_REFUSAL,
    }
}

/// Judges an answer whose body was read up to [`limit`]; `now` is in milliseconds since 1970.
pub(crate) fn judge(asked: &Asked, received: Received, now: i64) -> Result<Verdict, Failure> {
    let status = received.status;
    let result = match (status, &asked.range) {
        (200..=299, None) => whole(asked, received),
        (206, Some(range)) => part(asked, range.clone(), received),
        (200..=299, Some(range)) => cut(asked, range.clone(), received),
        (304 | 404 | 412, _) if asked.method != Method::GET => {
            // The store's own write verbs tell these apart by their status.
            Ok(Verdict::Good(received, Answer::default()))
        }
        _ => {
            let after = received.headers.get(RETRY_AFTER);
            let after = after.and_then(|v| retry_after_millis(v.to_str().ok()?, now));
            Err(refuse(asked, &received, after))
        }
    };
    result.map_err(|mut failure| {
        // Two requests for one object at the same time: which of them won shows when it is asked again.
        failure.retry |= status == 409 && asked.method != Method::GET;
        failure.error = failure.error.context("status", status);
        failure
    })
}

impl Asked {
    /// Length of the range, clipped to the known size.
    fn wanted(&self) -> Option<u64> {
        let range = self.range.as_ref()?;
        let end = self.known.map_or(range.end, |size| range.end.min(size));
        Some(end.saturating_sub(range.start))
    }
}

fn small(wanted: u64) -> u64 {
    SMALL.max(wanted.saturating_mul(2))
}

fn whole(asked: &Asked, received: Received) -> Result<Verdict, Failure> {
    let came = received.body.len() as u64;
    let encoded = encoding(&received.headers).is_some();
    if received.status == 206 && asked.method == Method::GET {
        return Err(Failure::lasting(Error::range_not_supported(
            "a part of the object came where all of it was asked for",
        )));
    }
    if !received.ended {
        return Err(Failure::lasting(
            Error::limit_exceeded("the object is too large to be read at once")
                .context("limit", MAX_WHOLE),
        ));
    }
    check_decoded(&received)?;
    let decoded = encoded || grew(&received);
    if !decoded && asked.known != Some(came) && is_short(&received) {
        return Err(broken(came));
    }
    let answer = Answer {
        status: received.status,
        bytes: came,
        whole: None,
        decoded,
    };
    Ok(good(asked, received, None, answer))
}

fn part(asked: &Asked, range: Range<u64>, received: Received) -> Result<Verdict, Failure> {
    if encoding(&received.headers).is_some() {
        return match asked.known.unwrap_or(0) <= SMALL {
            true => Ok(Verdict::AskWhole),
            false => Err(compressed(&received.headers)),
        };
    }
    let came = received.body.len() as u64;
    let total = match content_range(&received.headers) {
        Some(None) => {
            return Err(Failure::lasting(Error::range_not_supported(
                "the answer's Content-Range is not understood",
            )));
        }
        Some(Some((got, total))) => {
            let total = total.or(asked.known);
            let total = total.or((got.end < range.end).then_some(got.end));
            let end = total.map_or(range.end, |total| total.min(range.end));
            if got != (range.start..end) {
                return Err(Failure::lasting(
                    Error::range_not_supported("another range came than was asked for")
                        .context("asked", format!("{}-{}", range.start, end))
                        .context("came", format!("{}-{}", got.start, got.end)),
                ));
            }
            total
        }
        None => asked.known.or_else(|| {
            let short = received.ended && came > 0 && came < range.end - range.start;
            short.then_some(range.start + came)
        }),
    };
    let Some(total) = total else {
        return Err(Failure::lasting(
            Error::range_not_supported("the size of the object cannot be seen").context(
                "hint",
                "the server must send Access-Control-Expose-Headers: Content-Range, ETag",
            ),
        ));
    };
    let expected = range.end.min(total).saturating_sub(range.start);
    if !received.ended || came > expected {
        return Err(Failure::lasting(Error::range_not_supported(
            "more bytes came than were asked for",
        )));
    }
    if came < expected {
        // A length that the server announced itself is not an accident of the wire.
        return Err(
            match number(&received.headers, &CONTENT_LENGTH) == Some(came) {
                true => Failure::lasting(
                    Error::precondition_failed("the object ends before its known size")
                        .context("offset", range.start + came),
                ),
                false => broken(range.start + came),
            },
        );
    }
    let answer = Answer {
        status: 206,
        bytes: came,
        ..Answer::default()
    };
    Ok(good(asked, received, Some((range.start, total)), answer))
}

fn cut(asked: &Asked, range: Range<u64>, received: Received) -> Result<Verdict, Failure> {
    let wanted = asked.wanted().unwrap_or(0);
    let encoded = encoding(&received.headers).is_some();
    if !received.ended {
        return Err(Failure::lasting(
            Error::range_not_supported("the server ignores ranges and the object is not small")
                .context("limit", small(wanted))
                .context(
                    "hint",
                    "serve the table from a host that answers Range requests with 206",
                ),
        ));
    }
    check_decoded(&received)?;
    let total = received.body.len() as u64;
    let decoded = encoded || grew(&received);
    if !decoded && asked.known != Some(total) && is_short(&received) {
        return Err(broken(total));
    }
    if decoded && asked.known.is_some_and(|known| known != total) {
        // The known size counts compressed bytes, so offsets made from it mean nothing in what came.
        return Err(compressed(&received.headers));
    }
    let end = range.end.min(total);
    if range.start >= end {
        let error = Error::precondition_failed("the object ends before the bytes asked for");
        let mut failure = Failure::lasting(error.context("size", total));
        failure.size = Some(total);
        return Err(failure);
    }
    let (from, to) = (range.start as usize, end as usize);
    let answer = Answer {
        status: received.status,
        bytes: total,
        whole: Some(received.body.clone()),
        decoded: false,
    };
    let piece = Received {
        body: received.body.slice(from..to),
        ..received
    };
    Ok(good(asked, piece, Some((range.start, total)), answer))
}

/// The answer with headers that `object_store` accepts: what it would refuse for its form is left out.
fn good(asked: &Asked, received: Received, part: Option<(u64, u64)>, answer: Answer) -> Verdict {
    let mut headers = HeaderMap::new();
    if asked.method != Method::GET {
        headers = received.headers.clone();
    }
    if let Some(etag) = received.headers.get(ETAG).filter(|v| v.to_str().is_ok()) {
        headers.insert(ETAG, etag.clone());
    }
    if let Some(date) = received.headers.get(LAST_MODIFIED).filter(|v| is_date(v)) {
        headers.insert(LAST_MODIFIED, date.clone());
    } else {
        headers.remove(LAST_MODIFIED);
    }
    headers.insert(CONTENT_LENGTH, HeaderValue::from(received.body.len()));
    let mut status = received.status;
    if let Some((start, total)) = part {
        status = 206;
        let end = start + received.body.len() as u64;
        let text = format!("bytes {start}-{}/{total}", end.saturating_sub(1));
        if let Ok(value) = HeaderValue::try_from(text) {
            headers.insert(CONTENT_RANGE, value);
        }
    }
    let received = Received {
        status,
        headers,
        ..received
    };
    Verdict::Good(received, answer)
}

fn is_date(value: &HeaderValue) -> bool {
    let text = value.to_str().unwrap_or_default();
    chrono::DateTime::parse_from_rfc2822(text).is_ok()
}

/// The body's coding, where script may see it and it is one.
fn encoding(headers: &HeaderMap) -> Option<&str> {
    let value = headers.get(CONTENT_ENCODING)?.to_str().ok()?.trim();
    // `aws-chunked` stays on objects that some clients uploaded, and says nothing about their bytes.
    let plain = value.is_empty()
        || value.eq_ignore_ascii_case("identity")
        || value.eq_ignore_ascii_case("aws-chunked");
    (!plain).then_some(value)
}

/// Whether more came than was announced, which only decoding does: a page of another origin is not shown that a body was
/// coded, and is told the length of the coded bytes.
fn grew(received: &Received) -> bool {
    let told = number(&received.headers, &CONTENT_LENGTH);
    told.is_some_and(|told| told < received.body.len() as u64)
}

/// Whether less came than was announced.
fn is_short(received: &Received) -> bool {
    let told = number(&received.headers, &CONTENT_LENGTH);
    told.is_some_and(|told| told > received.body.len() as u64)
}

/// `fetch` decodes what it is told is coded; a replaced one may not, and coded bytes must never be parsed.
fn check_decoded(received: &Received) -> Result<(), Failure> {
    let gzip = received.body.starts_with(&[0x1f, 0x8b, 8]);
    match encoding(&received.headers) {
        Some(coding) if gzip && coding.contains("gzip") => Err(compressed(&received.headers)),
        _ => Ok(()),
    }
}

fn compressed(headers: &HeaderMap) -> Failure {
    Failure::lasting(
        Error::range_not_supported(
            "the object is served compressed, so parts of it cannot be read",
        )
        .context("contentEncoding", encoding(headers).unwrap_or("unknown"))
        .context(
            "hint",
            "store and serve the table's files without Content-Encoding",
        ),
    )
}

fn broken(offset: u64) -> Failure {
    Failure::passing(Error::network("the body ended early").context("offset", offset))
}

fn number(headers: &HeaderMap, name: &HeaderName) -> Option<u64> {
    headers.get(name)?.to_str().ok()?.trim().parse().ok()
}

/// `bytes a-b/size` as `a..b+1` and the size, unless that is `*`. Outer `None`: no header; inner: not understood.
#[allow(clippy::type_complexity)]
fn content_range(headers: &HeaderMap) -> Option<Option<(Range<u64>, Option<u64>)>> {
    let content_type = headers.get(CONTENT_TYPE).and_then(|v| v.to_str().ok());
    if content_type.is_some_and(|t| t.starts_with("multipart/")) {
        return Some(None);
    }
    let value = headers.get(CONTENT_RANGE)?;
    let parse = || {
        let rest = value
            .to_str()
            .ok()?
            .trim()
            .strip_prefix("bytes")?
            .trim_start();
        let (range, total) = rest.split_once('/')?;
        let (start, end) = range.split_once('-')?;
        let start: u64 = start.trim().parse().ok()?;
        let end: u64 = end.trim().parse::<u64>().ok()?.checked_add(1)?;
        let total = match total.trim() {
            "*" => None,
            total => Some(total.parse().ok()?),
        };
        (start < end).then_some((start..end, total))
    };
    Some(parse())
}

/// The size in `Content-Range: bytes */size` of a 416.
pub(super) fn refused_size(headers: &HeaderMap) -> Option<u64> {
    let value = headers.get(CONTENT_RANGE)?.to_str().ok()?;
    value.trim().strip_prefix("bytes */")?.trim().parse().ok()
}

#[cfg(test)]
mod tests;
