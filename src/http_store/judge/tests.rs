use super::*;
use crate::error::ErrorKind;

fn asked(range: Option<Range<u64>>, known: Option<u64>) -> Asked {
    Asked {
        method: Method::GET,
        range,
        known,
    }
}

/// The object's bytes are their own offsets.
fn body(range: Range<u64>) -> Bytes {
    range.map(|o| o as u8).collect::<Vec<u8>>().into()
}

/// Reads a body as far as the limit says, then judges, as the connector does.
fn ask(
    asked: &Asked,
    status: u16,
    headers: &[(&'static str, &str)],
    full: Bytes,
) -> Result<Verdict, Failure> {
    let mut map = HeaderMap::new();
    for (name, value) in headers {
        map.insert(*name, HeaderValue::try_from(*value).unwrap());
    }
    let most = usize::try_from(limit(asked, status, &map)).unwrap();
    let received = Received {
        status,
        headers: map,
        ended: full.len() <= most,
        body: full.slice(..full.len().min(most)),
    };
    judge(asked, received, 0)
}

/// The answer is good: its body, and the Content-Range that `object_store` will see.
fn check(
    asked: Asked,
    status: u16,
    headers: &[(&'static str, &str)],
    full: Bytes,
    expected: (Range<u64>, Option<&str>),
) -> Answer {
    match ask(&asked, status, headers, full) {
        Ok(Verdict::Good(received, answer)) => {
            assert_eq!(received.body, body(expected.0));
            let range = received.headers.get(CONTENT_RANGE);
            assert_eq!(range.map(|v| v.to_str().unwrap()), expected.1);
            let length = received.headers.get(CONTENT_LENGTH).unwrap();
            assert_eq!(*length, received.body.len().to_string());
            answer
        }
        other => panic!("{other:?}"),
    }
}

fn refused(
    asked: Asked,
    status: u16,
    headers: &[(&'static str, &str)],
    full: Bytes,
    kind: ErrorKind,
    retry: bool,
) -> Failure {
    match ask(&asked, status, headers, full) {
        Err(failure) => {
            assert_eq!(failure.error.kind(), kind, "{}", failure.error);
            assert_eq!(failure.retry, retry, "{}", failure.error);
            assert_eq!(failure.status(), status);
            failure
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_206_with_its_range_is_taken() {
    let headers = [
        ("content-range", "bytes 10-19/100"),
        ("content-length", "10"),
    ];
    let range = (10..20, Some("bytes 10-19/100"));
    check(
        asked(Some(10..20), Some(100)),
        206,
        &headers,
        body(10..20),
        range.clone(),
    );
    check(
        asked(Some(10..20), None),
        206,
        &headers,
        body(10..20),
        range,
    );
    let headers = [("content-range", "bytes 90-99/100")];
    check(
        asked(Some(90..200), None),
        206,
        &headers,
        body(90..100),
        (90..100, Some("bytes 90-99/100")),
    );
    let headers = [("content-range", "bytes 10-19/*")];
    check(
        asked(Some(10..20), Some(100)),
        206,
        &headers,
        body(10..20),
        (10..20, Some("bytes 10-19/100")),
    );
}

#[test]
fn a_hidden_content_range_is_supplied_from_the_known_size() {
    let range = (10..20, Some("bytes 10-19/100"));
    check(
        asked(Some(10..20), Some(100)),
        206,
        &[],
        body(10..20),
        range,
    );
    // The guess went past the end, so where the body ends the object ends.
    check(
        asked(Some(0..64), None),
        206,
        &[],
        body(0..40),
        (0..40, Some("bytes 0-39/40")),
    );
}

#[test]
fn a_hidden_size_that_nobody_knows_names_the_header_to_expose() {
    let failure = refused(
        asked(Some(0..10), None),
        206,
        &[],
        body(0..10),
        ErrorKind::RangeNotSupported,
        false,
    );
    assert!(
        failure
            .error
            .get("hint")
            .unwrap()
            .contains("Access-Control-Expose-Headers")
    );
}

#[test]
fn another_range_than_asked_for_is_an_error() {
    for value in [
        "bytes 0-9/100",
        "bytes 10-18/100",
        "bytes 10-20/100",
        "bytes 9-19/100",
        "bytes 10-19",
        "bytes */100",
        "items 10-19/100",
        "bytes 19-10/100",
        "bytes 10-18446744073709551615/100",
    ] {
        let headers = [("content-range", value)];
        refused(
            asked(Some(10..20), Some(100)),
            206,
            &headers,
            body(10..20),
            ErrorKind::RangeNotSupported,
            false,
        );
    }
    let headers = [("content-type", "multipart/byteranges; boundary=x")];
    refused(
        asked(Some(10..20), Some(100)),
        206,
        &headers,
        body(10..20),
        ErrorKind::RangeNotSupported,
        false,
    );
}

#[test]
fn a_body_shorter_than_its_range_is_broken_and_a_longer_one_wrong() {
    let headers = [("content-range", "bytes 10-19/100")];
    refused(
        asked(Some(10..20), Some(100)),
        206,
        &headers,
        body(10..15),
        ErrorKind::Network,
        true,
    );
    refused(
        asked(Some(10..20), Some(100)),
        206,
        &headers,
        body(10..21),
        ErrorKind::RangeNotSupported,
        false,
    );
    // Announced by the server itself, with the range hidden: the object is shorter than it was.
    let headers = [("content-length", "5")];
    refused(
        asked(Some(90..100), Some(100)),
        206,
        &headers,
        body(90..95),
        ErrorKind::PreconditionFailed,
        false,
    );
}

#[test]
fn a_200_for_a_range_is_cut_when_it_is_small() {
    let headers = [("content-length", "100")];
    let range = (10..20, Some("bytes 10-19/100"));
    let answer = check(
        asked(Some(10..20), Some(100)),
        200,
        &headers,
        body(0..100),
        range.clone(),
    );
    assert_eq!((answer.status, answer.bytes), (200, 100));
    assert_eq!(answer.whole, Some(body(0..100)));
    check(asked(Some(10..20), None), 200, &[], body(0..100), range);
    // Half of a larger file is worth reading the whole of it.
    let (size, half) = (3 << 20, 2 << 20);
    check(
        asked(Some(0..half), Some(size)),
        200,
        &[],
        body(0..size),
        (0..half, Some("bytes 0-2097151/3145728")),
    );
}

#[test]
fn a_200_for_a_range_of_a_large_object_is_not_read() {
    let size = (1 << 20) + 1;
    let told = size.to_string();
    let headers = [("content-length", told.as_str())];
    let mut map = HeaderMap::new();
    map.insert(CONTENT_LENGTH, HeaderValue::try_from(&told).unwrap());
    assert_eq!(limit(&asked(Some(0..10), None), 200, &map), 0);
    assert_eq!(
        limit(&asked(Some(0..10), Some(size)), 200, &HeaderMap::new()),
        0
    );
    for (known, headers) in [
        (Some(size), &headers[..]),
        (None, &headers[..]),
        (None, &[]),
    ] {
        refused(
            asked(Some(0..10), known),
            200,
            headers,
            body(0..size),
            ErrorKind::RangeNotSupported,
            false,
        );
    }
}

#[test]
fn a_200_that_ends_before_the_range_names_its_size() {
    let failure = refused(
        asked(Some(10..20), None),
        200,
        &[],
        body(0..5),
        ErrorKind::PreconditionFailed,
        false,
    );
    assert_eq!(failure.size, Some(5));
    let failure = refused(
        asked(Some(0..20), None),
        200,
        &[],
        Bytes::new(),
        ErrorKind::PreconditionFailed,
        false,
    );
    assert_eq!(failure.size, Some(0));
}

#[test]
fn a_416_names_the_size() {
    let headers = [("content-range", "bytes */0")];
    let failure = refused(
        asked(Some(0..20), None),
        416,
        &headers,
        Bytes::new(),
        ErrorKind::PreconditionFailed,
        false,
    );
    assert_eq!(failure.size, Some(0));
}

#[test]
fn a_compressed_piece_is_never_taken() {
    let headers = [
        ("content-encoding", "gzip"),
        ("content-range", "bytes 10-19/100"),
    ];
    let small = ask(&asked(Some(10..20), Some(100)), 206, &headers, body(10..20));
    assert!(matches!(small, Ok(Verdict::AskWhole)), "{small:?}");
    let failure = refused(
        asked(Some(10..20), Some(2 << 20)),
        206,
        &headers,
        body(10..20),
        ErrorKind::RangeNotSupported,
        false,
    );
    assert_eq!(failure.error.get("contentEncoding"), Some("gzip"));
    let headers = [
        ("content-encoding", "aws-chunked"),
        ("content-range", "bytes 10-19/100"),
    ];
    check(
        asked(Some(10..20), Some(100)),
        206,
        &headers,
        body(10..20),
        (10..20, Some("bytes 10-19/100")),
    );
}

#[test]
fn a_decoded_whole_is_cut_only_when_its_size_is_the_known_one() {
    // A server that compresses on the way: the listing counts the bytes that come out.
    let headers = [("content-encoding", "br"), ("content-length", "37")];
    check(
        asked(Some(10..20), Some(100)),
        200,
        &headers,
        body(0..100),
        (10..20, Some("bytes 10-19/100")),
    );
    // An object stored compressed: the listing counts what is stored.
    refused(
        asked(Some(10..20), Some(60)),
        200,
        &headers,
        body(0..100),
        ErrorKind::RangeNotSupported,
        false,
    );
    // A whole that was asked for needs no offsets.
    let answer = check(
        asked(None, Some(60)),
        200,
        &headers,
        body(0..100),
        (0..100, None),
    );
    assert!(answer.decoded);
}

#[test]
fn bytes_that_are_still_gzip_are_never_taken() {
    let gzip = Bytes::from_static(&[0x1f, 0x8b, 8, 0, 0]);
    let headers = [("content-encoding", "gzip")];
    refused(
        asked(None, None),
        200,
        &headers,
        gzip.clone(),
        ErrorKind::RangeNotSupported,
        false,
    );
    refused(
        asked(Some(0..2), None),
        200,
        &headers,
        gzip,
        ErrorKind::RangeNotSupported,
        false,
    );
}

#[test]
fn a_whole_body_must_have_its_announced_length() {
    let headers = [("content-length", "10")];
    refused(
        asked(None, None),
        200,
        &headers,
        body(0..9),
        ErrorKind::Network,
        true,
    );
    let answer = check(asked(None, None), 200, &headers, body(0..10), (0..10, None));
    assert!(!answer.decoded);
    check(asked(None, None), 200, &[], body(0..10), (0..10, None));
    refused(
        asked(None, None),
        206,
        &[],
        body(0..10),
        ErrorKind::RangeNotSupported,
        false,
    );
}

#[test]
fn a_body_longer_than_announced_was_decoded_where_script_may_not_see_it() {
    let headers = [("content-length", "4")];
    let answer = check(asked(None, None), 200, &headers, body(0..10), (0..10, None));
    assert!(answer.decoded, "its length is not the object's size");
    let range = (2..6, Some("bytes 2-5/10"));
    let known = asked(Some(2..6), Some(10));
    check(known, 200, &headers, body(0..10), range);
    refused(
        asked(Some(2..6), Some(8)),
        200,
        &headers,
        body(0..10),
        ErrorKind::RangeNotSupported,
        false,
    );
    // Coding makes tiny bodies longer; the size that the listing told decides.
    let headers = [("content-length", "30")];
    check(
        asked(None, Some(10)),
        200,
        &headers,
        body(0..10),
        (0..10, None),
    );
}

#[test]
fn each_refusal_has_its_kind() {
    let cases = [
        (401, ErrorKind::Unauthorized, false),
        (403, ErrorKind::Unauthorized, false),
        (404, ErrorKind::NotFound, false),
        (408, ErrorKind::Network, true),
        (410, ErrorKind::NotFound, false),
        (412, ErrorKind::PreconditionFailed, false),
        (418, ErrorKind::InvalidArgument, false),
        (429, ErrorKind::Throttled, true),
        (500, ErrorKind::Unavailable, true),
        (501, ErrorKind::Unavailable, false),
        (502, ErrorKind::Unavailable, true),
        (503, ErrorKind::Throttled, true),
    ];
    for (status, kind, retry) in cases {
        refused(
            asked(Some(0..10), Some(10)),
            status,
            &[],
            Bytes::new(),
            kind,
            retry,
        );
        refused(asked(None, None), status, &[], Bytes::new(), kind, retry);
    }
}

#[test]
fn retry_after_is_passed_on() {
    let headers = [("retry-after", "7")];
    let failure = refused(
        asked(None, None),
        429,
        &headers,
        Bytes::new(),
        ErrorKind::Throttled,
        true,
    );
    assert_eq!(failure.retry_after, Some(7000));
}

#[test]
fn of_an_s3_error_the_code_is_told_and_nothing_else() {
    let text = "<?xml version=\"1.0\"?><Error><Code>SignatureDoesNotMatch</Code><Message>m</Message>\
        <AWSAccessKeyId>AKIASECRET</AWSAccessKeyId><StringToSign>s3cret</StringToSign></Error>";
    let failure = refused(
        asked(None, None),
        403,
        &[],
        text.into(),
        ErrorKind::Unauthorized,
        false,
    );
    assert_eq!(failure.error.get("code"), Some("SignatureDoesNotMatch"));
    let all = format!("{} {:?}", failure.error, failure.error);
    assert!(!all.contains("AKIASECRET") && !all.contains("s3cret"));
    let text = "<Error><Code>ExpiredToken</Code></Error>";
    refused(
        asked(None, None),
        400,
        &[],
        text.into(),
        ErrorKind::Unauthorized,
        false,
    );
    let text = "<Error><Code>SlowDown</Code></Error>";
    refused(
        asked(None, None),
        503,
        &[],
        text.into(),
        ErrorKind::Throttled,
        true,
    );
}

#[test]
fn headers_that_the_store_would_refuse_for_their_form_are_left_out() {
    let headers = [("last-modified", "yesterday"), ("x-amz-meta-a", "b")];
    match ask(&asked(None, None), 200, &headers, body(0..3)) {
        Ok(Verdict::Good(received, _)) => assert_eq!(received.headers.len(), 1),
        other => panic!("{other:?}"),
    }
    let headers = [
        ("last-modified", "Sat, 29 Nov 2025 12:00:05 GMT"),
        ("etag", "\"x\""),
    ];
    match ask(&asked(None, None), 200, &headers, body(0..3)) {
        Ok(Verdict::Good(received, _)) => assert_eq!(received.headers.len(), 3),
        other => panic!("{other:?}"),
    }
}

#[test]
fn offsets_above_four_gibibytes_are_kept() {
    let far = 5_u64 << 30;
    let headers = [("content-range", "bytes 5368709120-5368709129/6000000000")];
    check(
        asked(Some(far..far + 10), Some(6_000_000_000)),
        206,
        &headers,
        body(far..far + 10),
        (
            far..far + 10,
            Some("bytes 5368709120-5368709129/6000000000"),
        ),
    );
}
