//! What a file declares is not believed.

use parquet::file::metadata::ColumnChunkMetaData;

use super::super::pages::ChunkCheck;
use super::super::schema_check::check_schema;
use super::*;

/// The first bytes of a page header: kind, uncompressed and compressed size, each a zigzag varint.
fn header(kind: i64, uncompressed: i64, compressed: i64, rest: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for value in [kind, uncompressed, compressed] {
        bytes.push(0x15);
        let mut zigzag = ((value << 1) ^ (value >> 63)).cast_unsigned();
        while zigzag >= 0x80 {
            bytes.push(u8::try_from(zigzag & 0x7f).unwrap() | 0x80);
            zigzag >>= 7;
        }
        bytes.push(u8::try_from(zigzag).unwrap());
    }
    bytes.extend_from_slice(rest);
    bytes
}

/// `data_page_header { 10000 values, encoding, RLE, RLE }` and the header's end.
fn data(encoding: u8) -> Vec<u8> {
    vec![
        0x2c,
        0x15,
        0xa0,
        0x9c,
        0x01,
        0x15,
        encoding << 1,
        0x15,
        6,
        0x15,
        6,
        0,
        0,
    ]
}

fn chunk(column: usize, compression: Compression) -> ColumnChunkMetaData {
    let file = written(
        &batch(),
        WriterProperties::builder().set_compression(compression),
    );
    let footer = footer_of(&file).unwrap();
    footer.metadata().row_group(0).column(column).clone()
}

fn check(chunk: ColumnChunkMetaData, page: &[u8], body: usize, message: &str) {
    let bytes = [page, &vec![0; body]].concat();
    let error = ChunkCheck::new(chunk, None)
        .check(&bytes, 40, true)
        .unwrap_err();
    assert_eq!(
        (error.kind(), error.message()),
        (ErrorKind::Corrupt, message)
    );
    assert_eq!(error.get("offset"), Some("40"));
}

#[test]
fn a_page_of_two_gibibytes_is_refused_before_it_is_reserved() {
    let message = "a page declares more than its bytes can expand to";
    for codec in [
        Compression::UNCOMPRESSED,
        Compression::SNAPPY,
        Compression::LZ4_RAW,
    ] {
        let page = header(0, i64::from(i32::MAX), 1000, &data(0));
        check(chunk(0, codec), &page, 1000, message);
    }
    // Gzip could stand for a gigabyte with a million bytes; half of that is the limit.
    let gzip = Compression::GZIP(GzipLevel::default());
    let page = header(0, 600 << 20, 1_000_000, &data(0));
    check(chunk(0, gzip), &page, 1_000_000, message);
    check(chunk(0, gzip), &header(0, -1, 10, &data(0)), 10, message);
}

#[test]
fn a_page_that_contradicts_its_chunk_is_refused() {
    let plain = || chunk(0, Compression::UNCOMPRESSED);
    let page = header(0, 10, 1000, &data(0));
    check(plain(), &page, 999, "a page runs past its column chunk");
    let page = header(0, 10, -1, &data(0));
    check(plain(), &page, 10, "a page runs past its column chunk");
    let page = header(0, 10, 10, &data(2));
    check(
        plain(),
        &page,
        10,
        "a page needs a dictionary, and its column has none before it",
    );
    let page = header(0, 10, 10, &data(99));
    check(plain(), &page, 10, "a page has no known encoding");
    // A kind whose own header is absent.
    check(
        plain(),
        &header(3, 10, 10, &data(0)),
        10,
        "a page header cannot be read",
    );
    // A dictionary of 10,000 values of eight bytes each.
    let dictionary = [0x4c, 0x15, 0xa0, 0x9c, 0x01, 0x15, 4, 0, 0];
    let message = "a dictionary declares other values than it holds";
    check(plain(), &header(2, 1000, 1000, &dictionary), 1000, message);
}

#[test]
fn a_page_that_is_not_as_it_was_written_is_refused() {
    // The checksum of ten zeros is e38a6876.
    let sum = [0x15, 0x93, 0xde, 0xac, 0xc7, 0x03];
    let rest = [&sum[..], &[0x1c], &data(0)[1..]].concat();
    let page = header(0, 10, 10, &rest);
    let bytes = [page, vec![0; 10]].concat();
    let mut check = ChunkCheck::new(chunk(0, Compression::UNCOMPRESSED), None);
    check.check(&bytes, 0, true).unwrap();
    let mut broken = bytes;
    *broken.last_mut().unwrap() = 1;
    let error = check.check(&broken, 0, true).unwrap_err();
    assert!(error.message().contains("checksum"), "{error}");
}

/// `FileMetaData { 1 version, 2 schema: list of structs }` with elements that only count their children (field 5).
fn schema(children: &[u8]) -> Vec<u8> {
    let mut bytes = vec![0x15, 2, 0x19, 0xfc];
    let count = children.len();
    bytes.extend_from_slice(&[
        u8::try_from(count & 0x7f).unwrap() | 0x80,
        u8::try_from(count >> 7).unwrap(),
    ]);
    for children in children {
        bytes.extend_from_slice(&[0x55, children << 1, 0]);
    }
    bytes
}

#[test]
fn a_schema_that_declares_what_it_lacks_is_refused() {
    let check = |children: &[u8], expected: Option<&str>| {
        let found = check_schema(&schema(children)).err();
        assert_eq!(
            found.as_ref().map(|error| error.message()),
            expected,
            "{children:?}"
        );
    };
    check(&[2, 0, 0], None);
    check(&[2, 1, 0, 0], None);
    check(
        &[3, 0, 0],
        Some("a group of the schema declares too many children"),
    );
    check(
        &[1, 0, 0],
        Some("the footer's schema has more than one root"),
    );
    check(&[2, 1, 0], Some("the footer's schema is not complete"));
    let deep = [vec![1; 100], vec![0]].concat();
    check(&deep, Some("the schema nests too deep"));
    // A list that is longer than the footer.
    let mut cut = schema(&[1, 0]);
    cut[4] = 0xff;
    assert!(check_schema(&cut).is_err());
}
