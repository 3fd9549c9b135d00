//! What a file declares is not believed.

use std::io::Write;

use parquet::file::metadata::ColumnChunkMetaData;

use super::super::chunk_bytes::ChunkBytes;
use super::super::page_reader::{ChunkPages, Opened};
use super::super::pages::Chunk;
use super::super::schema_check::check_schema;
use super::*;

/// The checksum of 80,000 zeros, by zlib.
const ZEROS: u32 = 0x91290366;

/// The first bytes of a page header: kind, uncompressed and compressed size, each a zigzag varint.
fn header(kind: i64, uncompressed: i64, compressed: i64, rest: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for value in [kind, uncompressed, compressed] {
        bytes.push(0x15);
        bytes.extend(zigzag(value));
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

/// The first page of a chunk of `bytes` that begins at 40.
fn open(chunk: ColumnChunkMetaData, bytes: Vec<u8>) -> Result<Option<Opened>> {
    let chunk = chunk.into_builder().set_dictionary_page_offset(None);
    let chunk = chunk.set_data_page_offset(40);
    let chunk = chunk.set_total_compressed_size(bytes.len() as i64);
    let chunk = Chunk::new(chunk.build().unwrap(), None);
    let mut there = ChunkBytes::default();
    there.add(40, bytes.into());
    ChunkPages::new(Arc::new(chunk), there, None, 10_000).next_page()
}

fn check(chunk: ColumnChunkMetaData, page: &[u8], body: usize, message: &str) {
    let bytes = [page, &vec![0; body]].concat();
    let error = open(chunk, bytes).err().unwrap();
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
    let message = "a page needs a dictionary, and its column has none before it";
    check(plain(), &page, 10, message);
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
    let message = "a page does not hold the values that it declares";
    check(plain(), &header(2, 1000, 1000, &dictionary), 1000, message);
}

#[test]
fn a_page_that_is_not_as_it_was_written_is_refused() {
    let body = vec![0; 80_000];
    let sum = zigzag(i64::from(ZEROS.cast_signed()));
    let rest = [&[0x15], &sum[..], &[0x1c], &data(0)[1..]].concat();
    let page = header(0, 80_000, 80_000, &rest);
    let whole = [page.clone(), body].concat();
    assert!(open(chunk(0, Compression::UNCOMPRESSED), whole.clone()).is_ok());
    let mut broken = whole;
    *broken.last_mut().unwrap() = 1;
    let error = open(chunk(0, Compression::UNCOMPRESSED), broken)
        .err()
        .unwrap();
    assert!(error.message().contains("checksum"), "{error}");
}

#[test]
fn a_gzip_page_that_expands_further_than_it_declares_stops_there() {
    // Ten million zeros take ten thousand bytes; the page declares 80,000 of them.
    let mut packed = flate2::GzBuilder::new().write(Vec::new(), flate2::Compression::best());
    packed.write_all(&vec![0; 10_000_000]).unwrap();
    let packed = packed.finish().unwrap();
    let page = header(0, 80_000, packed.len() as i64, &data(0));
    let gzip = chunk(0, Compression::GZIP(GzipLevel::default()));
    let error = open(gzip, [page, packed].concat()).err().unwrap();
    let message = "a page does not unpack to the size that it declares";
    assert_eq!(
        (error.kind(), error.message()),
        (ErrorKind::Corrupt, message)
    );
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
