//! The stores as JavaScript gives them: fetch functions, custom stores, credentials; and the host's clock and zones.

use std::sync::Arc;

use futures::FutureExt;
use hudi_wasm::host::{self, zone};
use hudi_wasm::http_store::open;
use hudi_wasm::storage::{Cause, ListingSource, RetryPolicy, Storage};
use hudi_wasm::{Error, ErrorKind};
use js_sys::{Function, Reflect};
use wasm_bindgen::JsValue;
use wasm_bindgen_test::wasm_bindgen_test;

/// Runs JavaScript that returns an object.
fn js(code: &str) -> JsValue {
    Function::new_no_args(code)
        .call0(&JsValue::UNDEFINED)
        .expect("the test's own code")
}

fn get(object: &JsValue, key: &str) -> JsValue {
    Reflect::get(object, &key.into()).expect("an object")
}

fn json(value: &JsValue) -> String {
    js_sys::JSON::stringify(value).expect("json").into()
}

/// Opens a store with quick retries.
async fn storage(uri: &str, init: &JsValue) -> Result<Storage, Error> {
    let mut opened = open(uri, init)?;
    opened.options.retry = RetryPolicy {
        attempts: 3,
        base_millis: 5,
        max_wait_millis: 10,
        total_millis: 5_000,
    };
    Ok(opened.storage())
}

/// A fetch over ten digits that understands ranges and keeps what it was asked; `first` runs before it answers.
fn digits(first: &str, more: &str) -> JsValue {
    js(&format!(
        "const log = [];
         const fetch = async (url, init) => {{
           log.push([url, init.method, init.headers.range ?? null, init.cache ?? null]);
           const n = log.length;
           {first}
           const [, a, b] = /bytes=(\\d+)-(\\d+)/.exec(init.headers.range ?? '') ?? [];
           if (a === undefined) return new Response('0123456789', {{ headers: {{ etag: '\"e\"' }} }});
           const text = '0123456789'.slice(+a, +b + 1);
           return new Response(text, {{ status: 206, headers: {{ etag: '\"e\"', 'content-range': `bytes ${{a}}-${{+a + text.length - 1}}/10` }} }});
         }};
         return {{ type: 'http', fetch, log, {more} }};"
    ))
}

#[wasm_bindgen_test]
async fn ranges_come_by_fetch_and_the_second_read_asks_for_nothing() {
    let init = digits("", "");
    let storage = storage("https://h.test/t", &init).await.expect("open");
    for _ in 0..2 {
        let got = storage
            .get_ranges("a b/%2F", 10, &[2..4, 5..7], Cause::Data)
            .await
            .expect("read");
        assert_eq!(got, ["23", "56"]);
    }
    let log = json(&get(&init, "log"));
    assert_eq!(
        log,
        r#"[["https://h.test/t/a%20b/%252F","GET","bytes=2-6","no-store"]]"#
    );
    let counters = storage.metrics().counters();
    assert_eq!(
        (counters.requests, counters.bytes, counters.cache_hits),
        (1, 5, 2)
    );
    assert!(counters.pinned);
}

#[wasm_bindgen_test]
async fn a_server_that_asks_to_slow_down_is_asked_again() {
    let init = digits(
        "if (n < 3) return new Response('', { status: n === 1 ? 503 : 429, headers: { 'retry-after': '0' } });",
        "",
    );
    let storage = storage("https://h.test/t", &init).await.expect("open");
    let got = storage.get("f", Cause::Properties).await.expect("read");
    assert_eq!(got, "0123456789");
    assert_eq!(storage.metrics().counters().requests, 3);
}

#[wasm_bindgen_test]
async fn a_body_that_breaks_off_is_asked_again() {
    let init = digits(
        "if (n === 1) return new Response(new ReadableStream({ pull(c) { c.error(new TypeError('terminated')); } }));",
        "",
    );
    let storage = storage("https://h.test/t", &init).await.expect("open");
    assert_eq!(
        storage.get("f", Cause::Properties).await.expect("read"),
        "0123456789"
    );
}

#[wasm_bindgen_test]
async fn a_dropped_read_aborts_its_request() {
    let init = js("const state = {};
         const fetch = (url, init) => { state.signal = init.signal; return new Promise(() => {}); };
         return { type: 'http', fetch, state };");
    let storage = storage("https://h.test/t", &init).await.expect("open");
    let mut read = Box::pin(storage.get("f", Cause::Data));
    for _ in 0..5 {
        assert!((&mut read).now_or_never().is_none());
        host::sleep(1).await;
    }
    let aborted = || get(&get(&get(&init, "state"), "signal"), "aborted").as_bool();
    assert_eq!(aborted(), Some(false));
    drop(read);
    host::sleep(5).await;
    assert_eq!(aborted(), Some(true));
}

#[wasm_bindgen_test]
async fn a_body_without_end_in_place_of_a_range_is_stopped() {
    let init = js("const state = { cancelled: false, given: 0 };
         const body = () => new ReadableStream({
           pull(c) { state.given += 65536; c.enqueue(new Uint8Array(65536)); },
           cancel() { state.cancelled = true; } });
         return { type: 'http', fetch: async () => new Response(body()), state };");
    let storage = storage("https://h.test/t", &init).await.expect("open");
    let error = storage
        .get_first("f", 0..100, Cause::Footer)
        .await
        .expect_err("endless");
    assert_eq!(error.kind(), ErrorKind::RangeNotSupported);
    let state = get(&init, "state");
    assert_eq!(get(&state, "cancelled").as_bool(), Some(true));
    assert!(
        get(&state, "given")
            .as_f64()
            .is_some_and(|given| given < 2_000_000.0)
    );
}

#[wasm_bindgen_test]
async fn no_more_than_six_requests_fly_at_once() {
    let init = js("const state = { now: 0, most: 0 };
         const fetch = async (url, init) => {
           state.most = Math.max(state.most, ++state.now);
           await new Promise((done) => setTimeout(done, 2));
           state.now -= 1;
           return new Response('x', { status: 206 });
         };
         return { type: 'http', fetch, state };");
    let storage = storage("https://h.test/t", &init).await.expect("open");
    let ranges: Vec<_> = (0..20_u64).map(|i| i << 20..(i << 20) + 1).collect();
    storage
        .get_ranges("f", 5 << 30, &ranges, Cause::Data)
        .await
        .expect("read");
    assert_eq!(get(&get(&init, "state"), "most").as_f64(), Some(6.0));
    assert!(!storage.metrics().counters().pinned, "no ETag was shown");
}

#[wasm_bindgen_test]
async fn no_answer_is_network_and_quotes_no_secret() {
    let init = js(
        "const fetch = async (url, init) => { throw new TypeError(`bad header ${init.headers.authorization} for ${url}`); };
         return { type: 'http', fetch, headers: { authorization: 'Bearer t0ken-value' } };",
    );
    let storage = storage("https://h.test/t?sig=s3cr3t", &init)
        .await
        .expect("open");
    let error = storage
        .get("f", Cause::Properties)
        .await
        .expect_err("no answer");
    assert_eq!(error.kind(), ErrorKind::Network);
    let text = format!("{error} {error:?}");
    assert!(
        text.contains("bad header") && !text.contains("t0ken-value") && !text.contains("s3cr3t"),
        "{text}"
    );
}

#[wasm_bindgen_test]
async fn headers_may_come_from_a_function_each_time() {
    let init = digits(
        "if (init.headers.authorization !== 'Bearer ' + n) return new Response('', { status: 401 });",
        "count: 0, headers: async function () { count += 1; return [['authorization', `Bearer ${count}`]]; }",
    );
    // The function has no `this`, so its counter is made global for it.
    js("globalThis.count = 0; return {};");
    let storage = storage("https://h.test/t", &init).await.expect("open");
    for _ in 0..2 {
        storage.get("f", Cause::Properties).await.expect("read");
    }
    let failing = digits(
        "",
        "headers: async () => { throw new Error('t0ken-value'); }",
    );
    let storage = self::storage("https://h.test/t", &failing)
        .await
        .expect("open");
    let error = storage
        .get("f", Cause::Properties)
        .await
        .expect_err("no headers");
    assert_eq!(error.kind(), ErrorKind::Unauthorized);
    assert!(!format!("{error:?}").contains("t0ken-value"));
}

#[wasm_bindgen_test]
async fn a_manifest_is_read_once_and_headers_stay_at_the_tables_origin() {
    let init = js(
        "const log = [];
         const text = JSON.stringify({ format: 'hudi-manifest', version: 1, madeAt: '2026-11-29T22:15:00Z',
           newestInstant: '20261129221400123', files: [{ path: 'k=1/f', size: 10 }] });
         const fetch = async (url, init) => { log.push([url, init.headers.authorization ?? null]); return new Response(text); };
         return { type: 'http', fetch, log, headers: { authorization: 'Bearer t' }, listing: { manifest: 'hudi-manifest.json' },
           elsewhere: { type: 'http', fetch, headers: { authorization: 'Bearer t' }, listing: { manifest: new URL('https://cdn.test/m.json') } } };",
    );
    let here = storage("https://h.test/t?sig=1", &init)
        .await
        .expect("open");
    let folder = here.list_folder("k=1", Cause::Listing).await.expect("list");
    assert_eq!(folder.files[0].path, "k=1/f");
    let facts = here.listing_facts();
    assert_eq!(facts.source, ListingSource::Manifest);
    assert_eq!(facts.newest_instant.as_deref(), Some("20261129221400123"));
    let elsewhere = storage("https://h.test/t", &get(&init, "elsewhere"))
        .await
        .expect("open");
    elsewhere
        .list_folder("k=1", Cause::Listing)
        .await
        .expect("list");
    assert_eq!(
        json(&get(&init, "log")),
        r#"[["https://h.test/t/hudi-manifest.json?sig=1","Bearer t"],["https://cdn.test/m.json",null]]"#
    );
}

#[wasm_bindgen_test]
async fn a_listing_function_and_none_are_told_apart() {
    let init = js(
        "return { type: 'http', fetch: async () => new Response('x'), listing: async function* (prefix, { signal }) {
           if (!(signal instanceof AbortSignal)) throw new Error('no signal');
           yield { path: 'k=1/f', size: 3, etag: '\"e\"', lastModified: new Date(5) };
           yield { path: 'top', size: 1n };
         } };",
    );
    let storage = storage("https://h.test/t", &init).await.expect("open");
    let folder = storage.list_folder("", Cause::Listing).await.expect("list");
    assert_eq!(
        (folder.folders, folder.files.len()),
        (vec!["k=1".to_owned()], 1)
    );
    assert_eq!(storage.listing_facts().source, ListingSource::Custom);
    let none = js("return { type: 'http', fetch: async () => new Response('x') };");
    let storage = self::storage("https://h.test/t", &none)
        .await
        .expect("open");
    let error = storage
        .list_folder("", Cause::Listing)
        .await
        .expect_err("none");
    assert_eq!(error.kind(), ErrorKind::ListNotSupported);
}

#[wasm_bindgen_test]
async fn s3_signs_by_the_hosts_clock_with_credentials_of_a_provider_and_in_a_page_without_headers()
{
    let init = js(
        "const log = [];
         const fetch = async (address, { headers }) => {
           const { origin, pathname, searchParams } = new URL(address);
           const signed = headers.authorization === undefined ? 'address' : 'headers';
           const of = (header, parameter) => signed === 'headers' ? headers[header] : searchParams.get(parameter);
           const credential = /^(?:AWS4-HMAC-SHA256 Credential=)?([^/]+)/.exec(of('authorization', 'X-Amz-Credential'))[1];
           const year = of('x-amz-date', 'X-Amz-Date').slice(0, 4);
           log.push({ place: origin + pathname, signed, credential, token: of('x-amz-security-token', 'X-Amz-Security-Token'), year });
           return new Response('x');
         };
         const credentials = async () => ({ accessKeyId: 'AKID', secretAccessKey: 's', sessionToken: 'tok', expiration: new Date(Date.now() + 3600_000) });
         return { type: 's3', region: 'eu-x-1', endpoint: new URL('http://s.test:9000'), fetch, credentials, log };",
    );
    let storage = storage("s3a://bucket/w/t", &init).await.expect("open");
    storage.get("k=a+b/f", Cause::Data).await.expect("read");
    let host = js(
        "return { signed: typeof location === 'object' ? 'address' : 'headers', year: String(new Date().getUTCFullYear()) };",
    );
    let host = |name: &str| get(&host, name).as_string().expect("known");
    let request = get(&get(&init, "log"), "0");
    let expected = [
        ("place", "http://s.test:9000/bucket/w/t/k%3Da%2Bb/f"),
        ("signed", &host("signed")),
        ("credential", "AKID"),
        ("token", "tok"),
        ("year", &host("year")),
    ];
    for (name, value) in expected {
        assert_eq!(
            get(&request, name).as_string().as_deref(),
            Some(value),
            "{name}"
        );
    }
}

#[wasm_bindgen_test]
async fn a_custom_store_reads_lists_and_keeps_its_errors() {
    let init = js(
        "const files = { 'a/f': '0123456789', 'top': 'x' };
         const log = [];
         return { log, capabilities: { write: false, list: true, putIfAbsent: false, putIfMatch: false },
           async get(path, { range, signal }) {
             log.push([path, range ?? null]);
             if (!(signal instanceof AbortSignal)) throw new Error('no signal');
             if (path === 'busy') throw Object.assign(new Error('busy, token=abcdef'), { status: 429 });
             if (path === 'odd') throw Object.assign(new Error('no way'), { code: 'SCHEMA', hint: 'look' });
             if (!(path in files)) throw Object.assign(new Error('gone'), { status: 404 });
             const all = new TextEncoder().encode(files[path]);
             const data = range ? all.slice(range.start, range.end) : all;
             return { data: path === 'top' ? new Blob([data]).stream() : data, size: all.length, etag: 'e' };
           },
           async *list(prefix, { delimiter, startAfter }) {
             log.push([prefix, delimiter ?? null, startAfter ?? null]);
             if (prefix === '') { yield { prefix: 'a/' }; yield { path: 'top', size: 1 }; }
             else yield { path: 'a/f', size: 10 };
           } };",
    );
    let storage = storage("lake:one", &init).await.expect("open");
    let got = storage
        .get_ranges("a/f", 10, &[3..6], Cause::Data)
        .await
        .expect("read");
    assert_eq!(got, ["345"]);
    assert_eq!(
        storage.get("top", Cause::Properties).await.expect("stream"),
        "x"
    );
    let folder = storage.list_folder("", Cause::Listing).await.expect("list");
    assert_eq!(
        (folder.folders, folder.files[0].path.as_str()),
        (vec!["a".to_owned()], "top")
    );
    storage
        .list_all("a", Some("a/e"), Cause::Listing)
        .await
        .expect("list");
    assert_eq!(
        json(&get(&init, "log")),
        r#"[["a/f",{"start":3,"end":6}],["top",null],["","/",null],["a/",null,"a/e"]]"#
    );
    for (path, kind, attempts) in [
        ("gone", ErrorKind::NotFound, "1"),
        ("busy", ErrorKind::Throttled, "3"),
        ("odd", ErrorKind::Schema, "1"),
    ] {
        let error = storage.get(path, Cause::Data).await.expect_err(path);
        assert_eq!((error.kind(), error.get("path")), (kind, Some(path)));
        assert_eq!(error.get("attempts"), Some(attempts));
        assert!(!format!("{error:?}").contains("abcdef"));
    }
}

#[wasm_bindgen_test]
async fn a_custom_store_that_lies_is_an_error() {
    for (answer, kind) in [
        ("{ data: new Uint8Array(3) }", ErrorKind::InvalidArgument),
        ("{ data: 'text', size: 10 }", ErrorKind::Unavailable),
        ("{ data: new Uint8Array(3), size: 10 }", ErrorKind::Network),
        (
            "{ data: new Uint8Array(7), size: 10 }",
            ErrorKind::RangeNotSupported,
        ),
        (
            "{ data: new Uint8Array(5), size: 9 }",
            ErrorKind::PreconditionFailed,
        ),
        ("undefined", ErrorKind::Unavailable),
        ("null", ErrorKind::Unavailable),
    ] {
        let init = js(&format!("return {{ get: () => ({answer}) }};"));
        let storage = storage("x:y", &init).await.expect("open");
        let error = storage
            .get_ranges("f", 10, &[0..5], Cause::Data)
            .await
            .expect_err(answer);
        assert_eq!(error.kind(), kind, "{answer}: {error}");
        let error = storage
            .list_folder("", Cause::Listing)
            .await
            .expect_err("no list");
        assert_eq!(error.kind(), ErrorKind::ListNotSupported);
    }
}

#[wasm_bindgen_test]
async fn options_that_make_no_store_are_refused() {
    let cases = [
        ("https://h/t", "{ type: 'ftp' }", ErrorKind::InvalidArgument),
        ("https://h/t", "{ type: 'r2' }", ErrorKind::Unsupported),
        (
            "https://h/t",
            "{ type: 's3-presigned', sign: async () => new URL('https://h/t') }",
            ErrorKind::InvalidArgument,
        ),
        (
            "s3://b/t",
            "{ type: 's3-presigned' }",
            ErrorKind::InvalidArgument,
        ),
        (
            "https://h/t",
            "{ type: 'directory' }",
            ErrorKind::Unsupported,
        ),
        (
            "https://h/t",
            "{ type: 'http', fetch: 1 }",
            ErrorKind::InvalidArgument,
        ),
        (
            "https://h/t",
            "{ type: 'http', listing: 'all' }",
            ErrorKind::InvalidArgument,
        ),
        (
            "https://h/t",
            "{ type: 'http', headers: 7 }",
            ErrorKind::InvalidArgument,
        ),
        (
            "https://h/t",
            "{ type: 'http', headers: { 'a b': 'x' } }",
            ErrorKind::InvalidArgument,
        ),
        ("https://h/t", "{}", ErrorKind::InvalidArgument),
        ("https://h/t", "7", ErrorKind::InvalidArgument),
        ("s3://b/t", "undefined", ErrorKind::InvalidArgument),
        ("s3://b/t", "{ type: 's3' }", ErrorKind::InvalidArgument),
        (
            "s3://b/t",
            "{ type: 's3', region: 'r' }",
            ErrorKind::InvalidArgument,
        ),
        (
            "s3://b/t",
            "{ type: 's3', region: 'r', anonymous: 'yes' }",
            ErrorKind::InvalidArgument,
        ),
        (
            "s3://b/t",
            "{ type: 's3', region: 'r', credentials: { accessKeyId: 'a' } }",
            ErrorKind::InvalidArgument,
        ),
        (
            "https://b/t",
            "{ type: 's3', region: 'r', anonymous: true }",
            ErrorKind::InvalidArgument,
        ),
        (
            "s3://b/../t",
            "{ type: 's3', region: 'r', anonymous: true }",
            ErrorKind::InvalidArgument,
        ),
    ];
    for (uri, init, kind) in cases {
        let error = match open(uri, &js(&format!("return {init};"))) {
            Ok(_) => panic!("opened {uri} {init}"),
            Err(error) => error,
        };
        assert_eq!(error.kind(), kind, "{uri} {init}: {error}");
    }
    let anonymous = js("return { type: 's3', region: 'r', anonymous: true };");
    let opened = open("s3://b/w/t/", &anonymous).expect("opens");
    assert_eq!((opened.options.base.as_str(), opened.kind), ("w/t", "s3"));
    let opened = open("https://h/t?sig=1", &JsValue::UNDEFINED).expect("opens");
    assert_eq!(opened.base_url, "https://h/t");
}

#[wasm_bindgen_test]
fn named_zones_know_their_summers() {
    let check = |name: &str, millis: i64, expected: i32| {
        let offset = zone(name).expect(name).offset_seconds(millis).expect(name);
        assert_eq!(offset, expected, "{name} {millis}");
    };
    // 2026-01-15 and 2026-07-15, both at noon UTC.
    let (winter, summer) = (1_768_478_400_000, 1_784_116_800_000);
    check("Europe/Rome", winter, 3600);
    check("Europe/Rome", summer, 7200);
    check("Asia/Kolkata", winter, 19_800);
    check("America/St_Johns", summer, -9000);
    check("UTC", summer, 0);
    check("Europe/Rome", summer + 999, 7200);
    check("Europe/Rome", -1, 3600);
    assert!(zone("Mars/Base").is_err());
    let host = js("return { minutes: -new Date(1784116800000).getTimezoneOffset() };");
    let minutes = get(&host, "minutes").as_f64().expect("minutes") as i32;
    check("host", summer, minutes * 60);
}

#[wasm_bindgen_test]
fn the_storage_is_send_and_so_are_its_reads() {
    fn send<T: Send>(value: T) -> T {
        value
    }
    let init = js("return { get: () => 1 };");
    drop(send(open("x:y", &init)));
    let _ = send(Arc::new(()));
}

#[wasm_bindgen_test]
async fn the_host_gets_its_turn_before_work_goes_on() {
    let state = js(
        "const state = { done: false }; setTimeout(() => { state.done = true; }, 0); return state;",
    );
    for _ in 0..10_000 {
        if get(&state, "done").is_truthy() {
            return;
        }
        host::turn().await;
    }
    panic!("a timer of the host never had its turn");
}
