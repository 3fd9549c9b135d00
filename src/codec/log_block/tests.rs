//! The blocks of the log files that Spark wrote.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use apache_avro::types::Value;
use arrow::array::AsArray;
use arrow::datatypes::{Schema, SchemaRef};
use bytes::Bytes;

use super::*;
use crate::codec::avro::holds;
use crate::codec::bytes::Cursor;
use crate::codec::hfile::scan_all;
use crate::error::ErrorKind;
use crate::schema::{AvroSchema, parse_avro, to_arrow};
use crate::support;

/// One block: its type, its header and its content.
struct Block {
    kind: u32,
    header: HashMap<u32, String>,
    content: Bytes,
}

/// The blocks of a log file, cut without any care for damage.
fn cut(file: &[u8]) -> Vec<Block> {
    let mut cursor = Cursor::new(file);
    let mut blocks = Vec::new();
    while !cursor.is_empty() {
        assert_eq!(cursor.take(6).unwrap(), b"#HUDI#");
        let u64_be = |cursor: &mut Cursor<'_>| u64::from_be_bytes(cursor.array().unwrap()) as usize;
        let length = u64_be(&mut cursor);
        let end = cursor.position() + length;
        assert_eq!(cursor.u32_be().unwrap(), 1);
        let kind = cursor.u32_be().unwrap();
        let mut header = HashMap::new();
        for _ in 0..cursor.u32_be().unwrap() {
            let key = cursor.u32_be().unwrap();
            let length = cursor.u32_be().unwrap() as usize;
            let value = std::str::from_utf8(cursor.take(length).unwrap()).unwrap();
            header.insert(key, value.to_owned());
        }
        let length = u64_be(&mut cursor);
        let content = Bytes::copy_from_slice(cursor.take(length).unwrap());
        cursor.take(end - cursor.position()).unwrap();
        blocks.push(Block {
            kind,
            header,
            content,
        });
    }
    blocks
}

/// Every block of every log file of the data tables.
fn blocks() -> Vec<(String, Block)> {
    let mut all = Vec::new();
    for table in support::tables() {
        for (path, bytes) in support::files(&table) {
            let name = path.rsplit('/').next().unwrap();
            if name.starts_with('.') && name.contains(".log.") && !path.starts_with(".hoodie/") {
                all.extend(
                    cut(&bytes)
                        .into_iter()
                        .map(|block| (format!("{table} {path}"), block)),
                );
            }
        }
    }
    all
}

/// The writer's schema of a block in three forms.
fn schemas(block: &Block) -> (AvroSchema, apache_avro::Schema, SchemaRef) {
    let json = &block.header[&2];
    let ours = parse_avro(json).unwrap();
    let arrow = Arc::new(to_arrow(&ours).unwrap());
    (ours, apache_avro::Schema::parse_str(json).unwrap(), arrow)
}

fn same(
    place: &str,
    ours: &AvroSchema,
    batch: &arrow::array::RecordBatch,
    row: usize,
    theirs: &Value,
) {
    let Value::Record(fields) = theirs else {
        unreachable!()
    };
    let record = ours.as_record().unwrap();
    assert_eq!(record.fields.len(), fields.len());
    for (field, (name, value)) in record.fields.iter().zip(fields) {
        let column = batch.column_by_name(name).unwrap();
        assert!(
            holds(&field.schema, column, row, value),
            "{place}: {name} of row {row} is not {value:?}"
        );
    }
}

#[test]
fn every_block_that_spark_wrote_is_read_as_by_apache_avro() {
    let mut seen = BTreeMap::new();
    for (place, block) in blocks() {
        *seen.entry(block.kind).or_insert(0) += 1;
        match block.kind {
            0 => assert!(block.content.is_empty()),
            1 => assert!(
                !deletes(&block.content)
                    .unwrap()
                    .iter()
                    .any(|delete| delete.key.is_empty()),
                "{place}"
            ),
            3 | 6 => {
                let (ours, theirs, arrow) = schemas(&block);
                let reader = BlockReader::avro(block.content.clone(), &ours, &arrow).unwrap();
                let count = reader.count();
                let batches = reader.all(7).unwrap();
                assert!(
                    batches
                        .iter()
                        .rev()
                        .skip(1)
                        .all(|batch| batch.num_rows() == 7),
                    "{place}"
                );
                assert_eq!(
                    batches.iter().map(|batch| batch.num_rows()).sum::<usize>(),
                    count
                );
                let mut rows = AvroRows::new(&block.content).unwrap();
                for at in 0..count {
                    let range = rows.next_row(&block.content).unwrap().unwrap();
                    let theirs =
                        apache_avro::from_avro_datum(&theirs, &mut &block.content[range], None)
                            .unwrap();
                    same(&place, &ours, &batches[at / 7], at % 7, &theirs);
                }
                assert_eq!(rows.next_row(&block.content).unwrap(), None);
            }
            4 => {
                let (ours, theirs, arrow) = schemas(&block);
                let batches = BlockReader::hfile(&block.content, &ours, &arrow)
                    .unwrap()
                    .all(2)
                    .unwrap();
                for (at, entry) in scan_all(&block.content).unwrap().iter().enumerate() {
                    let batch = &batches[at / 2];
                    let theirs =
                        apache_avro::from_avro_datum(&theirs, &mut &entry.value[..], None).unwrap();
                    same(&place, &ours, batch, at % 2, &theirs);
                    let keys = batch.column_by_name("_hoodie_record_key").unwrap();
                    assert_eq!(keys.as_string::<i32>().value(at % 2).as_bytes(), entry.key);
                }
            }
            5 => {
                let (_, _, arrow) = schemas(&block);
                let reader = BlockReader::parquet(block.content.clone(), &arrow).unwrap();
                let count = reader.count();
                let batches = reader.all(usize::MAX).unwrap();
                assert_eq!(
                    batches.iter().map(|batch| batch.num_rows()).sum::<usize>(),
                    count
                );
                assert!(
                    batches
                        .iter()
                        .all(|batch| batch.schema() == arrow && batch.num_rows() > 0)
                );
                let bare = BlockReader::parquet(block.content.clone(), &Arc::new(Schema::empty()))
                    .unwrap();
                let rows = bare
                    .all(1)
                    .unwrap()
                    .iter()
                    .map(|batch| batch.num_rows())
                    .sum::<usize>();
                assert_eq!(rows, count);
            }
            other => panic!("{place}: {other}"),
        }
    }
    assert_eq!(
        seen.keys().copied().collect::<Vec<_>>(),
        [0, 1, 3, 4, 5, 6],
        "{seen:?}"
    );
}

#[test]
fn every_header_of_positions_is_one_a_record_in_the_base_file() {
    let mut checked = 0;
    for (place, block) in blocks() {
        let Some(text) = block.header.get(&5) else {
            continue;
        };
        let count = match block.kind {
            1 => deletes(&block.content).unwrap().len(),
            3 => AvroRows::new(&block.content).unwrap().count(),
            5 => BlockReader::parquet(block.content.clone(), &Arc::new(Schema::empty()))
                .unwrap()
                .count(),
            _ => continue,
        };
        let found = positions(text, count).unwrap();
        assert!(
            found.iter().all(|position| *position < 100_000),
            "{place} {found:?}"
        );
        checked += 1;
    }
    assert!(checked > 50, "{checked}");
}

#[test]
fn older_and_newer_avro_blocks_and_false_counts_are_refused() {
    let block = |version: u32, count: u32, rest: &[u8]| {
        [&version.to_be_bytes()[..], &count.to_be_bytes(), rest].concat()
    };
    let error = AvroRows::new(&block(0, 0, &[])).unwrap_err();
    assert_eq!(
        (error.kind(), error.get("version")),
        (ErrorKind::Unsupported, Some("0"))
    );
    assert_eq!(
        AvroRows::new(&block(4, 0, &[])).unwrap_err().kind(),
        ErrorKind::Unsupported
    );
    for version in 1..=3 {
        assert_eq!(
            AvroRows::new(&block(version, 2, &[0; 8])).unwrap().count(),
            2
        );
    }
    assert_eq!(
        AvroRows::new(&block(3, 3, &[0; 8])).unwrap_err().kind(),
        ErrorKind::Corrupt
    );
    let content = block(3, 1, &[0, 0, 0, 5, 1, 2, 3, 4]);
    let mut rows = AvroRows::new(&content).unwrap();
    let error = rows.next_row(&content).unwrap_err();
    assert_eq!(
        (error.kind(), error.get("offset")),
        (ErrorKind::Corrupt, Some("12"))
    );
}

#[test]
fn the_offset_of_a_bad_row_counts_in_the_content() {
    let writer =
        parse_avro(r#"{"type":"record","name":"r","fields":[{"name":"c","type":"boolean"}]}"#)
            .unwrap();
    let arrow = Arc::new(to_arrow(&writer).unwrap());
    let content = Bytes::from_static(&[0, 0, 0, 3, 0, 0, 0, 2, 0, 0, 0, 1, 1, 0, 0, 0, 1, 7]);
    let error = BlockReader::avro(content, &writer, &arrow)
        .unwrap()
        .all(10)
        .unwrap_err();
    assert_eq!(
        (error.get("offset"), error.get("field")),
        (Some("18"), Some("c"))
    );
}
