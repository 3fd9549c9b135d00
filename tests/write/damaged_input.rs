//! Arrow IPC that was damaged on its way: refused in words, and the table as it was; or rows like any others.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow::array::{
    ArrayRef, BinaryViewArray, BooleanArray, Decimal128Array, DictionaryArray,
    FixedSizeBinaryArray, FixedSizeListArray, Float64Array, Int64Array, LargeStringArray,
    ListArray, MapBuilder, RecordBatch, RunArray, StringArray, StringBuilder, StringViewArray,
    StructArray, TimestampMillisecondArray,
};
use arrow::buffer::OffsetBuffer;
use arrow::datatypes::{DataType, Field, Int8Type, Int32Type};
use arrow::ipc::writer::{FileWriter, StreamWriter};
use futures::StreamExt;
use hudi_wasm::Result;
use hudi_wasm::codec::ipc::{IpcFile, IpcStream};
use hudi_wasm::table::{OpenOptions, Rows, Table, TableSchema, WriteOptions};
use serde_json::json;

use crate::stops::copy;
use crate::support::{block_on, store_of};
use crate::{options, paths, storage};

/// Columns of every form that is taken, with an id each.
fn columns(from: i64) -> RecordBatch {
    let words = ["one", "two", "three"];
    let item = Arc::new(Field::new("item", DataType::Int64, true));
    let numbers = || {
        Arc::new(Int64Array::from(vec![
            Some(1),
            None,
            Some(3),
            Some(4),
            Some(5),
            Some(6),
        ]))
    };
    let mut map = MapBuilder::new(None, StringBuilder::new(), StringBuilder::new());
    for word in words {
        map.keys().append_value(word);
        map.values().append_null();
        map.append(true).unwrap();
    }
    let dictionary: DictionaryArray<Int8Type> = words.into_iter().map(Some).collect();
    let ends = arrow::array::Int32Array::from(vec![1, 3]);
    let runs = RunArray::<Int32Type>::try_new(&ends, &StringArray::from(vec!["x", "y"]));
    let inner: (Arc<Field>, ArrayRef) = (
        Arc::new(Field::new("a", DataType::Float64, true)),
        Arc::new(Float64Array::from(vec![Some(0.5), None, Some(f64::NAN)])),
    );
    let fixed = FixedSizeBinaryArray::try_from_iter(["abcd", "efgh", "ijkl"].into_iter());
    let decimal = Decimal128Array::from(vec![Some(1), None, Some(-99_999)]);
    let all: Vec<(&str, ArrayRef)> = vec![
        ("id", Arc::new(Int64Array::from_iter_values(from..from + 3))),
        (
            "text",
            Arc::new(StringArray::from(vec![Some("ä"), None, Some("")])),
        ),
        ("large", Arc::new(LargeStringArray::from(words.to_vec()))),
        (
            "view",
            Arc::new(StringViewArray::from(vec![
                "short",
                "a text that is longer than twelve",
                "",
            ])),
        ),
        (
            "bytes",
            Arc::new(BinaryViewArray::from(vec![
                Some(b"b".as_slice()),
                None,
                Some(b""),
            ])),
        ),
        ("word", Arc::new(dictionary)),
        ("run", Arc::new(runs.unwrap())),
        (
            "list",
            Arc::new(ListArray::new(
                item.clone(),
                OffsetBuffer::from_lengths([2, 0, 4]),
                numbers(),
                None,
            )),
        ),
        (
            "pair",
            Arc::new(FixedSizeListArray::new(item, 2, numbers(), None)),
        ),
        ("map", Arc::new(map.finish())),
        ("record", Arc::new(StructArray::from(vec![inner]))),
        (
            "price",
            Arc::new(decimal.with_precision_and_scale(5, 2).unwrap()),
        ),
        ("fixed", Arc::new(fixed.unwrap())),
        (
            "at",
            Arc::new(TimestampMillisecondArray::from(vec![
                Some(0),
                None,
                Some(-1),
            ])),
        ),
        (
            "flag",
            Arc::new(BooleanArray::from(vec![Some(true), None, Some(false)])),
        ),
    ];
    let all = all.into_iter().map(|(name, array)| (name, array, true));
    RecordBatch::try_from_iter_with_nullable(all).unwrap()
}

fn stream() -> Vec<u8> {
    let mut writer = StreamWriter::try_new(Vec::new(), &columns(0).schema()).unwrap();
    [0, 3]
        .into_iter()
        .for_each(|from| writer.write(&columns(from)).unwrap());
    writer.into_inner().unwrap()
}

fn file() -> Vec<u8> {
    let mut writer = FileWriter::try_new(Vec::new(), &columns(0).schema()).unwrap();
    [0, 3]
        .into_iter()
        .for_each(|from| writer.write(&columns(from)).unwrap());
    writer.into_inner().unwrap()
}

/// As `js_api` hands bytes over.
fn rows(bytes: Vec<u8>) -> Result<Rows> {
    if IpcFile::is_one(&bytes) {
        let file = IpcFile::parse(bytes)?;
        return Ok(Rows {
            schema: file.schema(),
            batches: futures::stream::iter(file).boxed(),
        });
    }
    let mut stream = IpcStream::new();
    let batches = stream.push(bytes)?;
    stream.finish()?;
    let none = || hudi_wasm::Error::invalid_argument("no schema");
    Ok(Rows {
        schema: stream.schema().ok_or_else(none)?,
        batches: futures::stream::iter(batches.into_iter().map(Ok)).boxed(),
    })
}

/// Numbers that follow from a seed.
struct Seed(u64);

impl Seed {
    fn next(&mut self, below: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % below
    }
}

/// One of the ways in which bytes are damaged.
fn damage(bytes: &[u8], seed: &mut Seed) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    let at = seed.next(bytes.len());
    match seed.next(6) {
        0 => bytes.truncate(at),
        1 => {
            // A whole number that is far too large, or negative.
            let number = [i64::MAX, i64::MIN, -1, 1 << 31, 1 << 40, 0][seed.next(6)].to_le_bytes();
            let end = bytes.len().min(at / 8 * 8 + 8);
            let start = end - 8;
            bytes[start..end].copy_from_slice(&number);
        }
        2 => {
            let end = bytes.len().min(at + 1 + seed.next(32));
            bytes[at..end].fill(0);
        }
        3 => {
            let end = bytes.len().min(at + 1 + seed.next(16));
            bytes.drain(at..end);
        }
        _ => {
            for _ in 0..=seed.next(3) {
                let at = seed.next(bytes.len());
                bytes[at] ^= 1 << seed.next(8);
            }
        }
    }
    bytes
}

#[test]
fn damaged_arrow_is_refused_in_words_and_leaves_the_table_as_it_was() {
    const ROUNDS: usize = 3_000;
    let (stream, file) = (stream(), file());
    let start = store_of([]);
    let json = json!({"tableName": "t", "recordKeyFields": ["id"], "metadata": false});
    let schema = TableSchema::Arrow(columns(0).schema().as_ref().clone());
    block_on(Table::create(storage(&start), &schema, options(json))).unwrap();
    let empty = paths(&start);
    let mut outcomes: BTreeMap<&str, usize> = BTreeMap::new();
    let mut store = copy(&start);
    for round in 0..ROUNDS {
        let mut seed = Seed(round as u64);
        let bytes = damage(if round % 2 == 0 { &stream } else { &file }, &mut seed);
        let outcome = block_on(async {
            let table = Table::open(storage(&store), OpenOptions::default()).await?;
            table.append(rows(bytes)?, WriteOptions::default()).await
        });
        let outcome = match outcome {
            Ok(_) => "written",
            Err(error) => error.kind().code(),
        };
        *outcomes.entry(outcome).or_default() += 1;
        let taken = ["written", "INVALID_ARGUMENT", "SCHEMA", "LIMIT_EXCEEDED"];
        assert!(taken.contains(&outcome), "round {round}: {outcome}");
        // What fails behind the first batch has been rolled back, and the timeline says so.
        let data = |path: &&String| path.ends_with(".parquet") || path.ends_with("commit");
        if outcome == "written" {
            store = copy(&start);
        } else {
            let left = paths(&store);
            assert_eq!(
                left.iter().filter(data).count(),
                0,
                "round {round}: {outcome}"
            );
            if left != empty {
                store = copy(&start);
            }
        }
    }
    println!("{ROUNDS} damaged inputs: {outcomes:?}");
    assert!(
        outcomes["written"] > 100
            && outcomes["INVALID_ARGUMENT"] > 1_000
            && outcomes["SCHEMA"] > 10
    );
}
