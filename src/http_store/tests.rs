use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use bytes::Bytes;
use futures::FutureExt;
use http::HeaderMap;
use object_store::StaticCredentialProvider;

use super::connector::{Connector, HeaderSource, Outgoing, Transport, header};
use super::judge::Received;
use super::listing::{Level, Lister, Listing};
use super::manifest::{LateManifest, Manifest};
use super::s3::{S3Place, credential, s3};
use super::signer::{QuerySigner, Signed, Unsigned, UrlSigner, unsigned};
use super::web_folder::{WebFolder, folder_url};
use crate::error::{Error, ErrorKind};
use crate::storage::wire::Failure;
use crate::storage::{Cause, RetryPolicy, Storage, StorageOptions, Uploads};

mod writes;

/// One answer: status, headers, body.
type Reply = (u16, Vec<(&'static str, &'static str)>, &'static [u8]);

/// A server that answers by a script and keeps what it was asked.
#[derive(Debug, Default)]
struct Script {
    replies: Mutex<VecDeque<Reply>>,
    asked: Mutex<Vec<(String, HeaderMap)>>,
    /// Method and body of what was asked.
    sent: Mutex<Vec<(String, Bytes)>>,
}

impl Script {
    fn new(replies: Vec<Reply>) -> Arc<Self> {
        Arc::new(Self {
            replies: Mutex::new(replies.into()),
            asked: Mutex::default(),
            sent: Mutex::default(),
        })
    }

    fn connector(self: &Arc<Self>) -> Connector {
        Connector {
            transport: Arc::clone(self) as _,
            headers: None,
            signer: None,
        }
    }

    fn urls(&self) -> Vec<String> {
        let asked = self.asked.lock().unwrap();
        asked.iter().map(|(url, _)| url.clone()).collect()
    }

    fn header(&self, request: usize, name: &str) -> Option<String> {
        let asked = self.asked.lock().unwrap();
        let value = asked[request].1.get(name)?;
        Some(value.to_str().unwrap().to_owned())
    }
}

#[async_trait]
impl Transport for Script {
    async fn send(&self, request: Outgoing) -> Result<Received, Failure> {
        self.sent.lock().unwrap().push((
            request.method.to_string(),
            request.body.clone().unwrap_or_default(),
        ));
        self.asked
            .lock()
            .unwrap()
            .push((request.url.clone(), request.headers));
        let reply = self.replies.lock().unwrap().pop_front();
        let Some((status, list, body)) = reply else {
            return Err(Failure::passing(Error::network("no answer")));
        };
        let mut headers = HeaderMap::new();
        for (name, value) in list {
            headers.insert(name, value.parse().unwrap());
        }
        let most = usize::try_from((request.limit)(status, &headers)).unwrap();
        Ok(Received {
            status,
            headers,
            ended: body.len() <= most,
            body: Bytes::from_static(&body[..body.len().min(most)]),
        })
    }
}

fn options() -> StorageOptions {
    StorageOptions {
        retry: RetryPolicy {
            attempts: 3,
            base_millis: 1,
            max_wait_millis: 1,
            total_millis: 5_000,
        },
        ..StorageOptions::default()
    }
}

fn web(script: &Arc<Script>, url: &str, listing: Listing) -> Storage {
    let url = folder_url(url).unwrap();
    let store = WebFolder::new(&url, script.connector(), listing).unwrap();
    Storage::new(Arc::new(store), options())
}

fn bucket(script: &Arc<Script>, place: S3Place, base: &str) -> Storage {
    let secret = credential(
        "AKID".into(),
        "s3cr3t-key".into(),
        Some("t0ken-value".into()),
    );
    let credentials = Arc::new(StaticCredentialProvider::new(secret.unwrap()));
    let store = s3(&place, Some(credentials), script.connector()).unwrap();
    let options = StorageOptions {
        base: base.to_owned(),
        pages: Some(store.clone()),
        uploads: Uploads::Parts(store.clone()),
        ..options()
    };
    Storage::new(store, options)
}

fn place(endpoint: Option<&str>) -> S3Place {
    S3Place {
        bucket: "b".into(),
        region: "eu-x-1".into(),
        endpoint: endpoint.map(str::to_owned),
        path_style: None,
        request_payer: false,
    }
}

#[tokio::test]
async fn a_stored_percent_sign_and_a_plus_are_encoded_in_the_url() {
    let script = Script::new(vec![(200, vec![], b"x"); 2]);
    let storage = web(&script, "https://h.test/t%20t/?sig=abc#f", Listing::None);
    let path = "d=2024%2F01/k=a b/ü&#/f+1.parquet";
    storage.get(path, Cause::Data).await.unwrap();
    assert_eq!(
        script.urls(),
        ["https://h.test/t%20t/d=2024%252F01/k=a%20b/%C3%BC&%23/f%2B1.parquet?sig=abc"]
    );
}

#[tokio::test]
async fn a_table_may_be_the_root_of_a_host() {
    for url in ["https://h.test", "https://h.test/", "https://h.test//"] {
        let script = Script::new(vec![(200, vec![], b"x")]);
        let storage = web(&script, url, Listing::None);
        storage.get("a/b", Cause::Data).await.unwrap();
        assert_eq!(script.urls(), ["https://h.test/a/b"]);
    }
}

#[tokio::test]
async fn a_range_is_absolute_and_a_hidden_content_range_is_no_error() {
    let script = Script::new(vec![(206, vec![("etag", "\"a\"")], b"2345")]);
    let storage = web(&script, "https://h.test/t", Listing::None);
    let got = storage
        .get_ranges("f", 10, &[2..6], Cause::Data)
        .await
        .unwrap();
    assert_eq!(got, ["2345"]);
    assert_eq!(script.header(0, "range").as_deref(), Some("bytes=2-5"));
    assert!(script.header(0, "host").is_none());
}

#[tokio::test]
async fn a_200_for_a_range_is_cut_and_a_large_one_says_what_to_do() {
    let script = Script::new(vec![(200, vec![], b"0123456789")]);
    let storage = web(&script, "https://h.test/t", Listing::None);
    let got = storage
        .get_ranges("f", 10, &[2..6], Cause::Data)
        .await
        .unwrap();
    assert_eq!(got, ["2345"]);
    let script = Script::new(vec![(
        200,
        vec![("content-length", "9000000")],
        b"0123456789",
    )]);
    let storage = web(&script, "https://h.test/t", Listing::None);
    let error = storage
        .get_ranges("f", 9_000_000, &[2..6], Cause::Data)
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::RangeNotSupported);
    assert_eq!(error.get("path"), Some("f"));
    assert_eq!(error.get("status"), Some("200"));
    assert_eq!(script.urls().len(), 1, "asking again would not help");
}

#[tokio::test]
async fn throttling_and_broken_bodies_are_asked_again() {
    let script = Script::new(vec![
        (429, vec![("retry-after", "0")], b""),
        (206, vec![("content-range", "bytes 0-3/10")], b"012"),
        (206, vec![("content-range", "bytes 0-3/10")], b"0123"),
    ]);
    let storage = web(&script, "https://h.test/t", Listing::None);
    let got = storage
        .get_ranges("f", 10, &[0..4], Cause::Data)
        .await
        .unwrap();
    assert_eq!(got, ["0123"]);
    assert_eq!(storage.metrics().counters().requests, 3);
}

#[tokio::test]
async fn no_answer_is_network_after_the_last_attempt() {
    let script = Script::new(vec![]);
    let storage = web(&script, "https://h.test/t?sig=abcdef", Listing::None);
    let error = storage.get("f", Cause::Properties).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Network);
    assert_eq!(error.get("attempts"), Some("3"));
    assert!(!format!("{error} {error:?}").contains("abcdef"));
}

#[tokio::test]
async fn an_object_stored_compressed_is_read_whole_when_small_and_refused_for_ranges() {
    let gzip = ("content-encoding", "gzip");
    // The piece is not decodable, so the whole is asked for; its size fits the known one.
    let script = Script::new(vec![
        (206, vec![gzip], b"xx"),
        (200, vec![gzip], b"0123456789"),
    ]);
    let storage = web(&script, "https://h.test/t", Listing::None);
    let got = storage
        .get_ranges("f", 10, &[2..6], Cause::Data)
        .await
        .unwrap();
    assert_eq!(got, ["2345"]);
    assert!(script.header(1, "range").is_none());
    // Its size does not fit: offsets mean nothing.
    let script = Script::new(vec![
        (206, vec![gzip], b"xx"),
        (200, vec![gzip], b"0123456789"),
    ]);
    let storage = web(&script, "https://h.test/t", Listing::None);
    let error = storage
        .get_ranges("f", 7, &[2..6], Cause::Data)
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::RangeNotSupported);
    // A commit file stored compressed is read whole, and its listed size is that of the stored bytes.
    let script = Script::new(vec![(200, vec![gzip], b"{\"a\": 1234567890}"); 2]);
    let storage = web(&script, "https://h.test/t", Listing::None);
    for _ in 0..2 {
        let got = storage
            .get_immutable("i", Some(7), Cause::Timeline)
            .await
            .unwrap();
        assert_eq!(got, "{\"a\": 1234567890}");
    }
}

#[tokio::test]
async fn a_host_that_cannot_list_says_what_to_do_and_is_not_asked() {
    let script = Script::new(vec![]);
    let storage = web(&script, "https://h.test/t", Listing::None);
    for error in [
        storage.list_folder("", Cause::Listing).await.unwrap_err(),
        storage
            .list_all(".hoodie", None, Cause::Listing)
            .await
            .unwrap_err(),
    ] {
        assert_eq!(error.kind(), ErrorKind::ListNotSupported);
        assert!(error.get("hint").unwrap().contains("manifest"));
    }
    assert!(script.urls().is_empty());
}

fn manifest() -> Listing {
    let text = r#"{"format":"hudi-manifest","version":1,"madeAt":"2026-11-29T22:15:00Z","files":[
        {"path":".hoodie/hoodie.properties","size":3},{"path":"k=1/a","size":1},
        {"path":"k=1/x%2Fy/b","size":2},{"path":"k=10/c","size":4},{"path":"top","size":5}]}"#;
    let manifest = Manifest::parse(text.as_bytes()).unwrap();
    let late = LateManifest::new(move || std::future::ready(Ok(manifest.clone())).boxed());
    Listing::Manifest(Arc::new(late))
}

#[tokio::test]
async fn a_manifest_lists_folders_without_a_request() {
    let script = Script::new(vec![]);
    let storage = web(&script, "https://h.test/t", manifest());
    let top = storage.list_folder("", Cause::Listing).await.unwrap();
    assert_eq!(top.folders, [".hoodie", "k=1", "k=10"]);
    assert_eq!((top.files[0].path.as_str(), top.files[0].size), ("top", 5));
    let below = storage.list_folder("k=1", Cause::Listing).await.unwrap();
    assert_eq!(below.folders, ["k=1/x%2Fy"]);
    assert_eq!(below.files[0].path, "k=1/a");
    let all = storage.list_all("k=1", None, Cause::Listing).await.unwrap();
    let all: Vec<_> = all.iter().map(|m| m.path.as_str()).collect();
    assert_eq!(all, ["k=1/a", "k=1/x%2Fy/b"]);
    assert!(script.urls().is_empty());
}

#[tokio::test]
async fn a_listing_counts_as_a_request_when_it_fetches_the_manifest_and_not_after() {
    let script = Script::new(vec![]);
    let Listing::Manifest(late) = manifest() else {
        unreachable!()
    };
    let options = StorageOptions {
        listing_told: Some(Arc::clone(late.facts())),
        ..options()
    };
    let url = folder_url("https://h.test/t").unwrap();
    let store = WebFolder::new(&url, script.connector(), Listing::Manifest(late)).unwrap();
    let storage = Storage::new(Arc::new(store), options);
    for _ in 0..3 {
        storage.list_folder("k=1", Cause::Listing).await.unwrap();
        storage.list_all("", None, Cause::Listing).await.unwrap();
        assert_eq!(storage.metrics().counters().requests, 1);
    }
}

#[tokio::test]
async fn a_file_of_the_manifest_that_is_gone_is_not_found() {
    let script = Script::new(vec![(404, vec![], b"<html>gone</html>")]);
    let storage = web(&script, "https://h.test/t", manifest());
    let error = storage
        .get_ranges("k=1/a", 1, &[0..1], Cause::Data)
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound);
    assert_eq!(
        (error.get("path"), error.get("status")),
        (Some("k=1/a"), Some("404"))
    );
}

#[derive(Debug)]
struct Names(Vec<&'static str>);

#[async_trait]
impl Lister for Names {
    async fn list(&self, prefix: &str) -> Result<Vec<(String, u64, Option<String>)>, Failure> {
        assert!(prefix.is_empty() || prefix.ends_with('/'));
        Ok(self
            .0
            .iter()
            .map(|name| ((*name).to_owned(), 1, None))
            .collect())
    }

    async fn level(&self, _: &str) -> Result<Option<Level>, Failure> {
        Ok(None)
    }
}

#[tokio::test]
async fn a_listing_function_may_give_more_than_was_asked_but_nothing_outside() {
    let script = Script::new(vec![]);
    let names = Listing::Custom(Arc::new(Names(vec!["k=1/b", "k=1/a", "k=10/c"])));
    let storage = web(&script, "https://h.test/t", names);
    let all = storage.list_all("k=1", None, Cause::Listing).await.unwrap();
    let all: Vec<_> = all.iter().map(|m| m.path.as_str()).collect();
    assert_eq!(all, ["k=1/a", "k=1/b"]);
    let names = Listing::Custom(Arc::new(Names(vec!["../a"])));
    let storage = web(&script, "https://h.test/t", names);
    let error = storage
        .list_all("", None, Cause::Listing)
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidArgument);
}

#[derive(Debug)]
struct Token;

#[async_trait]
impl HeaderSource for Token {
    async fn headers(&self) -> Result<HeaderMap, Failure> {
        Ok(
            [header("authorization", "Bearer t0ken-value").map_err(Failure::lasting)?]
                .into_iter()
                .collect(),
        )
    }
}

#[tokio::test]
async fn headers_of_the_caller_go_out_and_never_into_an_error() {
    let script = Script::new(vec![(403, vec![], b"Bearer t0ken-value is not valid")]);
    let connector = Connector {
        headers: Some(Arc::new(Token)),
        ..script.connector()
    };
    let url = folder_url("https://h.test/t").unwrap();
    let store = WebFolder::new(&url, connector, Listing::None).unwrap();
    let storage = Storage::new(Arc::new(store), options());
    let error = storage.get("f", Cause::Properties).await.unwrap_err();
    assert_eq!(
        script.header(0, "authorization").as_deref(),
        Some("Bearer t0ken-value")
    );
    assert_eq!(error.kind(), ErrorKind::Unauthorized);
    assert!(!format!("{error} {error:?}").contains("t0ken-value"));
    let error = header("x-token", "t0ken\nvalue").unwrap_err();
    assert!(!format!("{error} {error:?}").contains("t0ken"));
}

#[test]
fn urls_that_are_no_folder_are_refused_without_their_secrets() {
    for text in ["ftp://h/p", "https://user:s3cr3t@h/p", "h/p", "https://"] {
        let error = folder_url(text).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidArgument);
        assert!(!format!("{error} {error:?}").contains("s3cr3t"));
    }
}

mod of_s3 {
    use super::*;

    const XML: (&str, &str) = ("content-type", "application/xml");

    #[tokio::test]
    async fn addresses_follow_the_style() {
        let dotted = S3Place {
            bucket: "b.c".into(),
            ..place(None)
        };
        let virtual_host = S3Place {
            path_style: Some(false),
            ..place(Some("http://s.test:9000/"))
        };
        let forced = S3Place {
            path_style: Some(true),
            ..place(None)
        };
        let cases = [
            (place(None), "https://b.s3.eu-x-1.amazonaws.com/t/f"),
            (forced, "https://s3.eu-x-1.amazonaws.com/b/t/f"),
            (dotted, "https://s3.eu-x-1.amazonaws.com/b.c/t/f"),
            (
                place(Some("http://s.test:9000/")),
                "http://s.test:9000/b/t/f",
            ),
            (virtual_host, "http://b.s.test:9000/t/f"),
        ];
        for (place, url) in cases {
            let script = Script::new(vec![(200, vec![], b"x")]);
            bucket(&script, place, "t")
                .get("f", Cause::Properties)
                .await
                .unwrap();
            assert_eq!(script.urls(), [url]);
        }
    }

    #[tokio::test]
    async fn keys_are_encoded_as_s3_signs_them() {
        let script = Script::new(vec![(200, vec![], b"x")]);
        let storage = bucket(&script, place(Some("http://s.test")), "t");
        storage
            .get("k=a+b/c d&e/f%2Fg/ü", Cause::Data)
            .await
            .unwrap();
        assert_eq!(
            script.urls(),
            ["http://s.test/b/t/k%3Da%2Bb/c%20d%26e/f%252Fg/%C3%BC"]
        );
        let authorization = script.header(0, "authorization").unwrap();
        assert!(authorization.starts_with("AWS4-HMAC-SHA256 Credential=AKID/"));
        assert!(authorization.contains("/eu-x-1/s3/aws4_request, SignedHeaders=host;"));
        assert_eq!(
            script.header(0, "x-amz-security-token").as_deref(),
            Some("t0ken-value")
        );
    }

    #[tokio::test]
    async fn without_credentials_nothing_is_signed_and_a_payer_is_named() {
        let script = Script::new(vec![(200, vec![], b"x")]);
        let payer = S3Place {
            request_payer: true,
            ..place(None)
        };
        let store = s3(&payer, None, script.connector()).unwrap();
        let storage = Storage::new(store, options());
        storage.get("f", Cause::Data).await.unwrap();
        assert!(script.header(0, "authorization").is_none());

        let script = Script::new(vec![(200, vec![], b"x")]);
        bucket(&script, payer, "")
            .get("f", Cause::Data)
            .await
            .unwrap();
        assert_eq!(
            script.header(0, "x-amz-request-payer").as_deref(),
            Some("requester")
        );
    }

    #[tokio::test]
    async fn a_listing_goes_through_its_pages_and_each_is_a_request_with_attempts() {
        let first = b"<ListBucketResult><IsTruncated>true</IsTruncated>\
            <NextContinuationToken>to/k+e=n</NextContinuationToken>\
            <Contents><Key>t/a&amp;b</Key><Size>3</Size><ETag>\"e\"</ETag>\
            <LastModified>2026-01-02T03:04:05.000Z</LastModified></Contents>\
            <Contents><Key>t/</Key><Size>0</Size><LastModified>2026-01-02T03:04:05.000Z</LastModified></Contents>\
            <CommonPrefixes><Prefix>t/k=1/</Prefix></CommonPrefixes></ListBucketResult>";
        let second = b"<ListBucketResult><IsTruncated>false</IsTruncated>\
            <CommonPrefixes><Prefix>t/k=1/</Prefix></CommonPrefixes>\
            <CommonPrefixes><Prefix>t/k=x%2Fy z/</Prefix></CommonPrefixes></ListBucketResult>";
        let script = Script::new(vec![
            (200, vec![XML], first),
            (503, vec![XML], b"<Error><Code>SlowDown</Code></Error>"),
            (200, vec![XML], second),
        ]);
        let storage = bucket(&script, place(Some("http://s.test")), "t");
        let folder = storage.list_folder("", Cause::Listing).await.unwrap();
        assert_eq!(folder.folders, ["k=1", "k=x%2Fy z"]);
        assert_eq!(folder.files.len(), 1);
        assert_eq!(
            (folder.files[0].path.as_str(), folder.files[0].size),
            ("a&b", 3)
        );
        assert_eq!(folder.files[0].modified_millis, Some(1_767_323_045_000));
        let base = "http://s.test/b?";
        let token = "continuation-token=to%2Fk%2Be%3Dn&";
        assert_eq!(
            script.urls(),
            [
                format!("{base}delimiter=%2F&list-type=2&prefix=t%2F"),
                format!("{base}{token}delimiter=%2F&list-type=2&prefix=t%2F"),
                format!("{base}{token}delimiter=%2F&list-type=2&prefix=t%2F"),
            ]
        );
        let counters = storage.metrics().counters();
        assert_eq!(counters.requests, 3);
        assert_eq!(counters.bytes, (first.len() + second.len()) as u64);
    }

    #[tokio::test]
    async fn a_first_page_says_how_far_it_goes_and_is_one_request() {
        let more = b"<ListBucketResult><IsTruncated>true</IsTruncated>\
            <NextContinuationToken>more</NextContinuationToken>\
            <Contents><Key>t/d/a</Key><Size>3</Size><ETag>\"e\"</ETag>\
            <LastModified>2026-01-02T03:04:05.000Z</LastModified></Contents></ListBucketResult>";
        let empty = b"<ListBucketResult><IsTruncated>true</IsTruncated>\
            <NextContinuationToken>more</NextContinuationToken></ListBucketResult>";
        let last = b"<ListBucketResult></ListBucketResult>";
        for (body, expected) in [
            (&more[..], Some("d/a")),
            (empty, Some("d/.zzz")),
            (last, None),
        ] {
            let script = Script::new(vec![(200, vec![XML], body)]);
            let storage = bucket(&script, place(Some("http://s.test")), "t");
            let first = storage.list_first("d", "d/.zzz", Cause::Timeline);
            let (_, until) = first.await.unwrap();
            assert_eq!(until.as_deref(), expected);
            let url = "http://s.test/b?list-type=2&prefix=t%2Fd%2F&start-after=t%2Fd%2F.zzz";
            assert_eq!(script.urls(), [url]);
        }
    }

    #[tokio::test]
    async fn a_listing_may_start_after_a_path() {
        let script = Script::new(vec![(
            200,
            vec![XML],
            b"<ListBucketResult></ListBucketResult>",
        )]);
        let storage = bucket(&script, place(Some("http://s.test")), "t");
        storage
            .list_all("d e", Some("d e/f+g"), Cause::Timeline)
            .await
            .unwrap();
        assert_eq!(
            script.urls(),
            ["http://s.test/b?list-type=2&prefix=t%2Fd+e%2F&start-after=t%2Fd+e%2Ff%2Bg"]
        );
    }

    #[tokio::test]
    async fn a_refused_signature_says_so_and_shows_nothing_of_it() {
        let body =
            b"<Error><Code>SignatureDoesNotMatch</Code><AWSAccessKeyId>AKID</AWSAccessKeyId>\
            <StringToSign>AWS4-HMAC-SHA256 t0ken-value</StringToSign></Error>";
        for list in [false, true] {
            let script = Script::new(vec![(403, vec![XML], body)]);
            let storage = bucket(&script, place(None), "t");
            let error = match list {
                true => storage.list_folder("", Cause::Listing).await.map(|_| ()),
                false => storage.get("f", Cause::Data).await.map(|_| ()),
            };
            let error = error.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Unauthorized);
            assert_eq!(error.get("code"), Some("SignatureDoesNotMatch"));
            let text = format!("{error} {error:?} {storage:?}");
            for secret in ["AKID", "s3cr3t-key", "t0ken-value", "Signature="] {
                assert!(!text.contains(secret), "{text}");
            }
        }
    }

    #[tokio::test]
    async fn a_page_that_is_no_listing_is_asked_again_and_then_an_error() {
        let script = Script::new(vec![(200, vec![], b"<html>welcome"); 3]);
        let storage = bucket(&script, place(None), "t");
        let error = storage.list_folder("", Cause::Listing).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unavailable);
    }

    #[test]
    fn options_that_would_break_a_request_are_refused() {
        let script = Script::new(vec![]);
        for bad in [
            S3Place {
                bucket: "a/b".into(),
                ..place(None)
            },
            S3Place {
                bucket: String::new(),
                ..place(None)
            },
            S3Place {
                region: "eu x".into(),
                ..place(None)
            },
            place(Some("s.test")),
            place(Some("ftp://s.test")),
            place(Some("https://u:p4ssw0rd@s.test")),
        ] {
            let error = s3(&bad, None, script.connector()).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidArgument);
            assert!(!format!("{error} {error:?}").contains("p4ssw0rd"));
        }
        for (key, secret, token) in [
            ("a\nb", "s", None),
            ("", "s", None),
            ("a", "", None),
            ("a", "s", Some("ü")),
        ] {
            let error =
                credential(key.into(), secret.into(), token.map(str::to_owned)).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidArgument);
        }
    }
}

/// A bucket whose requests are signed in the address, by credentials or by `signer`.
fn signed_bucket(script: &Arc<Script>, signer: Arc<dyn UrlSigner>) -> Storage {
    let connector = Connector {
        signer: Some(signer),
        ..script.connector()
    };
    let store = unsigned("b", connector).unwrap();
    let options = StorageOptions {
        base: "t".into(),
        pages: Some(store.clone()),
        uploads: Uploads::Parts(store.clone()),
        ..options()
    };
    Storage::new(store, options)
}

const EMPTY_PAGE: &[u8] = b"<ListBucketResult xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\"><Name>b</Name>\
    <KeyCount>0</KeyCount><MaxKeys>1000</MaxKeys><IsTruncated>false</IsTruncated></ListBucketResult>";

#[tokio::test]
async fn credentials_sign_in_the_address_and_no_header_is_left() {
    let script = Script::new(vec![(206, vec![], b"2345"), (200, vec![], EMPTY_PAGE)]);
    let secret = credential("AKID".into(), "s3cr3t".into(), Some("t0ken".into())).unwrap();
    let credentials = Arc::new(StaticCredentialProvider::new(secret));
    let place = place(Some("http://h.test:9000"));
    let signer = QuerySigner::new(&place, credentials, script.connector()).unwrap();
    let storage = signed_bucket(&script, Arc::new(signer));
    let path = "k=a b/f+1%2F.parquet";
    let got = storage.get_ranges(path, 10, &[2..6], Cause::Data).await;
    assert_eq!(got.unwrap(), ["2345"]);
    let listed = storage.list_folder("k=a b", Cause::Listing).await.unwrap();
    assert!(listed.files.is_empty());
    let urls = script.urls();
    assert!(
        urls[0].starts_with("http://h.test:9000/b/t/k%3Da%20b/f%2B1%252F.parquet?X-Amz-Algorithm="),
        "{}",
        urls[0]
    );
    assert!(urls[1].starts_with("http://h.test:9000/b/?"), "{}", urls[1]);
    let query: Vec<_> = url::Url::parse(&urls[1])
        .unwrap()
        .query_pairs()
        .into_owned()
        .collect();
    for (name, value) in [
        ("list-type", "2"),
        ("prefix", "t/k=a b/"),
        ("delimiter", "/"),
        ("X-Amz-SignedHeaders", "host"),
        ("X-Amz-Security-Token", "t0ken"),
    ] {
        assert!(
            query.contains(&(name.into(), value.into())),
            "{name}: {query:?}"
        );
    }
    assert_eq!(script.header(0, "range").as_deref(), Some("bytes=2-5"));
    assert!(script.header(0, "authorization").is_none());
    assert!(script.header(1, "range").is_none());
}

/// Numbers its addresses, all but the first being used again unless asked not to be.
#[derive(Debug, Default)]
struct Numbered(Mutex<Vec<(String, bool)>>);

#[async_trait]
impl UrlSigner for Numbered {
    async fn sign(&self, request: &Unsigned, again: bool) -> Result<Signed, Failure> {
        let mut asked = self.0.lock().unwrap();
        asked.push((request.key.clone(), again));
        Ok(Signed {
            url: format!("https://signed.test/{}", asked.len()),
            headers: [header("x-sealed", "yes").map_err(Failure::lasting)?]
                .into_iter()
                .collect(),
            reused: !again && asked.len() > 1,
        })
    }
}

#[tokio::test]
async fn an_address_used_again_and_refused_is_signed_once_more_and_a_new_one_is_not() {
    let script = Script::new(vec![
        (200, vec![], b"a"),
        (403, vec![], b""),
        (200, vec![], b"b"),
        (403, vec![], b""),
        (403, vec![], b""),
    ]);
    let signer = Arc::new(Numbered::default());
    let storage = signed_bucket(&script, Arc::clone(&signer) as _);
    assert_eq!(storage.get("f", Cause::Data).await.unwrap(), "a");
    assert_eq!(storage.get("f", Cause::Data).await.unwrap(), "b");
    let error = storage.get("f", Cause::Data).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unauthorized);
    let asked = signer.0.lock().unwrap().clone();
    let again: Vec<bool> = asked.iter().map(|(_, again)| *again).collect();
    assert_eq!(again, [false, false, true, false, true]);
    assert!(asked.iter().all(|(key, _)| key == "t/f"));
    assert_eq!(script.header(4, "x-sealed").as_deref(), Some("yes"));
    assert_eq!(script.urls()[4], "https://signed.test/5");
}
