//! What goes out when a bucket is written, and what its answers are taken for.

use super::*;
use crate::storage::PutOutcome;

fn sent(script: &Script) -> Vec<String> {
    let sent = script.sent.lock().unwrap();
    sent.iter().map(|(method, _)| method.clone()).collect()
}

fn query(url: &str) -> Vec<(String, String)> {
    let url = url::Url::parse(url).unwrap();
    url.query_pairs().into_owned().collect()
}

fn here() -> S3Place {
    place(Some("http://s.test"))
}

async fn if_absent(replies: Vec<Reply>) -> (Result<PutOutcome, Error>, Vec<String>) {
    let script = Script::new(replies);
    let storage = bucket(&script, here(), "t");
    let outcome = storage.put_if_absent("a", "ours".into()).await;
    (outcome, sent(&script))
}

#[tokio::test]
async fn a_put_carries_its_bytes_and_a_conditional_one_its_condition() {
    let script = Script::new(vec![(200, vec![("etag", "\"1\"")], b""); 2]);
    let storage = bucket(&script, here(), "t");
    storage.put("a b", "bytes".into()).await.unwrap();
    storage.put_if_absent("c", "".into()).await.unwrap();
    assert_eq!(sent(&script), ["PUT", "PUT"]);
    assert_eq!(script.sent.lock().unwrap()[0].1, "bytes");
    assert_eq!(script.urls()[0], "http://s.test/b/t/a%20b");
    assert!(script.header(0, "if-none-match").is_none());
    assert_eq!(script.header(1, "if-none-match").as_deref(), Some("*"));
    assert!(script.header(0, "authorization").is_some());
}

/// W3: stores refuse in different words.
#[tokio::test]
async fn each_way_to_refuse_is_one_outcome() {
    for status in [412, 304] {
        let (outcome, asked) =
            if_absent(vec![(status, vec![], b""), (200, vec![], b"other")]).await;
        assert_eq!(outcome.unwrap(), PutOutcome::Exists, "{status}");
        assert_eq!(asked, ["PUT", "GET"]);
    }
}

#[tokio::test]
async fn a_conflict_is_asked_again() {
    let conflict = || {
        (
            409,
            vec![],
            b"<Error><Code>ConditionalRequestConflict</Code></Error>" as _,
        )
    };
    let tag = || vec![("etag", "\"1\"")];
    let (outcome, asked) = if_absent(vec![conflict(), (404, vec![], b""), (200, tag(), b"")]).await;
    assert_eq!(outcome.unwrap(), PutOutcome::Created);
    assert_eq!(asked, ["PUT", "GET", "PUT"]);
    let (outcome, asked) = if_absent(vec![conflict(), (200, vec![], b"theirs")]).await;
    assert_eq!(outcome.unwrap(), PutOutcome::Exists);
    assert_eq!(asked, ["PUT", "GET"]);
}

/// W1.
#[tokio::test]
async fn a_put_that_landed_behind_a_500_is_ours() {
    let (outcome, asked) = if_absent(vec![(500, vec![], b""), (200, vec![], b"ours")]).await;
    assert_eq!(outcome.unwrap(), PutOutcome::Created);
    assert_eq!(asked, ["PUT", "GET"]);
    let unknown: Vec<Reply> = vec![
        (500, vec![], b"" as _),
        (403, vec![], b""),
        (412, vec![], b""),
    ];
    let (outcome, _) = if_absent(unknown).await;
    assert_eq!(outcome.unwrap_err().kind(), ErrorKind::CommitStateUnknown);
}

#[tokio::test]
async fn a_deletion_is_a_request_for_the_object() {
    let script = Script::new(vec![(204, vec![], b""), (404, vec![], b"")]);
    let storage = bucket(&script, here(), "t");
    storage.delete("a").await.unwrap();
    storage.delete("gone").await.unwrap();
    assert_eq!(sent(&script), ["DELETE", "DELETE"]);
    assert_eq!(script.urls()[0], "http://s.test/b/t/a");
}

const BEGUN: &[u8] = b"<InitiateMultipartUploadResult><Bucket>b</Bucket><Key>t/f</Key><UploadId>up+1/=</UploadId></InitiateMultipartUploadResult>";
const ENDED: &[u8] =
    b"<CompleteMultipartUploadResult><ETag>\"all\"</ETag></CompleteMultipartUploadResult>";

fn long() -> Bytes {
    Bytes::from(vec![7; 20 << 20])
}

/// Begins, sends three parts of which one has to go twice, and ends.
fn upload_replies(last: Vec<Reply>) -> Vec<Reply> {
    let part = || (200, vec![("etag", "\"p\"")], b"" as _);
    let mut replies = vec![
        (200, vec![], BEGUN),
        part(),
        (503, vec![], b""),
        part(),
        part(),
    ];
    replies.extend(last);
    replies
}

async fn upload(storage: &Storage) -> Result<u64, Error> {
    let mut upload = storage.upload("f").await?;
    upload.write(long()).await?;
    upload.complete().await
}

#[tokio::test]
async fn a_large_object_goes_by_parts_of_one_size() {
    let script = Script::new(upload_replies(vec![(200, vec![], ENDED)]));
    let storage = bucket(&script, here(), "t");
    assert_eq!(upload(&storage).await.unwrap(), 20 << 20);
    assert_eq!(sent(&script), ["POST", "PUT", "PUT", "PUT", "PUT", "POST"]);
    let urls = script.urls();
    assert_eq!(urls[0], "http://s.test/b/t/f?uploads=");
    let sizes: Vec<usize> = script.sent.lock().unwrap()[1..5]
        .iter()
        .map(|(_, body)| body.len() >> 20)
        .collect();
    let numbers: Vec<String> = urls[1..5].iter().map(|u| query(u)[0].1.clone()).collect();
    let mut sent: Vec<_> = numbers.iter().map(String::as_str).zip(sizes).collect();
    sent.sort_unstable();
    sent.dedup();
    assert_eq!(sent, [("1", 8), ("2", 8), ("3", 4)]);
    assert_eq!(query(&urls[1])[1].1, "up+1/=");
    let end = script.sent.lock().unwrap()[5].1.clone();
    let end = String::from_utf8(end.to_vec()).unwrap();
    assert_eq!(end.matches("<PartNumber>").count(), 3);
}

/// W5: S3 says 200 and then that it failed.
#[tokio::test]
async fn an_end_that_fails_inside_of_a_200_is_asked_again_and_else_aborted() {
    const FAILED: Reply = (
        200,
        Vec::new(),
        b"<Error><Code>InternalError</Code></Error>",
    );
    let script = Script::new(upload_replies(vec![FAILED, (200, vec![], ENDED)]));
    upload(&bucket(&script, here(), "t")).await.unwrap();
    let mut replies = vec![FAILED; 3];
    replies.push((404, vec![], b""));
    replies.push((204, vec![], b""));
    let script = Script::new(upload_replies(replies));
    upload(&bucket(&script, here(), "t")).await.unwrap_err();
    let asked = sent(&script);
    assert_eq!(asked[5..], ["POST", "POST", "POST", "GET", "DELETE"]);
    assert_eq!(query(&script.urls()[9])[0].1, "up+1/=");
}

#[tokio::test]
async fn a_page_signs_writes_in_the_address_with_their_condition() {
    let mut replies = vec![(200, vec![("etag", "\"1\"")], b"" as _)];
    replies.extend(upload_replies(vec![(200, vec![], ENDED)]));
    let script = Script::new(replies);
    let secret = credential("AKID".into(), "s3cr3t".into(), None).unwrap();
    let credentials = Arc::new(StaticCredentialProvider::new(secret));
    let signer = QuerySigner::new(&here(), credentials, script.connector()).unwrap();
    let storage = signed_bucket(&script, Arc::new(signer));
    storage.put_if_absent("a", "x".into()).await.unwrap();
    upload(&storage).await.unwrap();
    let urls = script.urls();
    let named = |url: &str, name: &str| {
        let found = query(url).into_iter().find(|(n, _)| n == name);
        found.map(|(_, value)| value)
    };
    let headers = named(&urls[0], "X-Amz-SignedHeaders").unwrap();
    assert!(
        headers.split(';').any(|h| h == "if-none-match"),
        "{headers}"
    );
    assert_eq!(script.header(0, "if-none-match").as_deref(), Some("*"));
    assert_eq!(named(&urls[1], "uploads").as_deref(), Some(""));
    for url in &urls[2..6] {
        assert_eq!(named(url, "uploadId").as_deref(), Some("up+1/="));
        assert_eq!(named(url, "X-Amz-SignedHeaders").as_deref(), Some("host"));
    }
    assert!(script.header(2, "authorization").is_none());
}
