//! Files as they are written, read back by the `parquet` crate, and beside the files that Spark wrote.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use arrow::array::{Array, ArrayRef, AsArray, Float64Array, Int32Array, RecordBatch, StringArray};

use async_trait::async_trait;
use bytes::Bytes;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

use super::*;
use crate::codec::parquet::Codec;
use crate::config::TableConfig;
use crate::error::Result;
use crate::model::{InstantTime, PartitionPath};
use crate::support;

mod input;
mod spark;

const INSTANT: &str = "20261130010203004";

/// Files in memory; they are there once they are complete.
#[derive(Default)]
struct Memory {
    files: Arc<Mutex<BTreeMap<String, Vec<u8>>>>,
    opened: Mutex<Vec<String>>,
}

struct Sink {
    files: Arc<Mutex<BTreeMap<String, Vec<u8>>>>,
    path: String,
    bytes: Vec<u8>,
}

#[async_trait]
impl FileTarget for Memory {
    async fn open(&self, partition: &PartitionPath, name: &str) -> Result<OpenedFile> {
        let path = partition.file_path(name);
        self.opened.lock().unwrap().push(path.clone());
        Ok(OpenedFile {
            sink: Box::new(Sink {
                files: Arc::clone(&self.files),
                path,
                bytes: Vec::new(),
            }),
            new_partition: true,
        })
    }
}

#[async_trait]
impl FileSink for Sink {
    async fn write(&mut self, bytes: Bytes) -> Result<()> {
        self.bytes.extend_from_slice(&bytes);
        Ok(())
    }

    async fn complete(self: Box<Self>) -> Result<u64> {
        let size = self.bytes.len() as u64;
        self.files.lock().unwrap().insert(self.path, self.bytes);
        Ok(size)
    }

    async fn abort(self: Box<Self>) {}
}

/// The configuration of a table with these properties beside those that every table has.
fn config(properties: &[(&str, &str)]) -> TableConfig {
    let table = support::files("v9_cow_empty");
    let (_, text) = table
        .iter()
        .find(|(path, _)| path == ".hoodie/hoodie.properties")
        .unwrap();
    let config = TableConfig::parse(text).unwrap();
    let mut options: BTreeMap<String, String> = [
        ("hoodie.table.partition.fields", ""),
        ("hoodie.table.recordkey.fields", ""),
        ("hoodie.table.keygenerator.class", ""),
        ("hoodie.table.keygenerator.type", ""),
        ("hoodie.datasource.write.hive_style_partitioning", "false"),
    ]
    .map(|(key, value)| (key.to_owned(), value.to_owned()))
    .into();
    options.extend(
        properties
            .iter()
            .map(|(k, v)| (k.to_string(), v.to_string())),
    );
    config.with(&options).unwrap()
}

const AVRO: &str = r#"{"type":"record","name":"t_record","namespace":"hoodie.t","fields":[
    {"name":"id","type":["null","string"],"default":null},
    {"name":"city","type":["null","string"],"default":null},
    {"name":"n","type":["null","int"],"default":null},
    {"name":"price","type":["null","double"],"default":null}]}"#;

fn batch(rows: std::ops::Range<i32>) -> RecordBatch {
    let id = StringArray::from_iter_values(rows.clone().map(|n| format!("key-{n:06}")));
    let city = StringArray::from_iter(rows.clone().map(|n| match n % 7 {
        0 => None,
        n => Some(format!("city {}", n % 3)),
    }));
    let n = Int32Array::from_iter_values(rows.clone());
    let price = Float64Array::from_iter(rows.map(|n| (n % 5 != 0).then(|| f64::from(n) / 4.0)));
    let columns: [(&str, ArrayRef, bool); 4] = [
        ("id", Arc::new(id), true),
        ("city", Arc::new(city), true),
        ("n", Arc::new(n), true),
        ("price", Arc::new(price), true),
    ];
    RecordBatch::try_from_iter_with_nullable(columns).unwrap()
}

struct Outcome {
    written: Vec<WrittenFile>,
    files: BTreeMap<String, Vec<u8>>,
}

fn append(
    config: &TableConfig,
    avro: &str,
    options: AppendOptions,
    batches: &[RecordBatch],
) -> Result<Outcome> {
    let target = Arc::new(Memory::default());
    let instant = InstantTime::parse(INSTANT).unwrap();
    let mut writer = AppendWriter::new(config, avro, &instant, options, target.clone())?;
    support::block_on(async {
        for batch in batches {
            writer.push(batch).await?;
        }
        let written = writer.finish().await?;
        let files = target.files.lock().unwrap().clone();
        Ok(Outcome { written, files })
    })
}

fn read(file: &[u8]) -> Vec<RecordBatch> {
    let reader = ParquetRecordBatchReaderBuilder::try_new(Bytes::copy_from_slice(file)).unwrap();
    reader
        .build()
        .unwrap()
        .map(|batch| batch.unwrap())
        .collect()
}

fn whole(file: &[u8]) -> RecordBatch {
    let batches = read(file);
    arrow::compute::concat_batches(&batches[0].schema(), &batches).unwrap()
}

const PLAIN: [(&str, &str); 1] = [("hoodie.table.recordkey.fields", "id")];
const BY_CITY: [(&str, &str); 3] = [
    ("hoodie.table.recordkey.fields", "id"),
    ("hoodie.table.partition.fields", "city"),
    ("hoodie.datasource.write.hive_style_partitioning", "true"),
];

#[test]
fn rows_come_back_in_every_codec_whatever_the_batches() {
    let expected = batch(0..50_000);
    for codec in [
        Codec::Uncompressed,
        Codec::Snappy,
        Codec::Gzip,
        Codec::Lz4Raw,
    ] {
        for step in [50_000, 1024, 7777] {
            let batches: Vec<_> = (0..50_000)
                .step_by(step)
                .map(|at| batch(at..(at + step as i32).min(50_000)))
                .collect();
            let options = AppendOptions {
                codec,
                ..AppendOptions::default()
            };
            let outcome = append(&config(&PLAIN), AVRO, options, &batches).unwrap();
            let [written] = outcome.written.as_slice() else {
                panic!("{codec:?} {step}");
            };
            let found = whole(&outcome.files[&written.name]);
            assert_eq!(found.num_columns(), 9);
            for (at, column) in expected.columns().iter().enumerate() {
                assert_eq!(found.column(at + 5), column, "{codec:?} {step} {at}");
            }
        }
    }
}

#[test]
fn meta_columns_are_those_of_java() {
    let options = AppendOptions::default();
    let outcome = append(&config(&BY_CITY), AVRO, options, &[batch(0..30_000)]).unwrap();
    let partitions: Vec<&str> = outcome
        .written
        .iter()
        .map(|file| file.partition.as_str())
        .collect();
    assert_eq!(
        partitions,
        [
            "city=__HIVE_DEFAULT_PARTITION__",
            "city=city 1",
            "city=city 2",
            "city=city 0"
        ]
    );
    let mut rows = 0;
    for (number, written) in outcome.written.iter().enumerate() {
        let path = written.partition.file_path(&written.name);
        let found = whole(&outcome.files[&path]);
        rows += found.num_rows();
        let text = |at: usize, row: usize| found.column(at).as_string::<i32>().value(row);
        for row in 0..found.num_rows() {
            assert_eq!(text(0, row), INSTANT);
            assert_eq!(text(1, row), format!("{INSTANT}_{number}_{row}"));
            assert_eq!(text(2, row), text(5, row));
            assert_eq!(text(3, row), written.partition.as_str());
            assert_eq!(text(4, row), written.name);
            assert_eq!(written.keys.get(row), text(5, row));
        }
        let stat = &written.stat;
        assert_eq!(stat.num_writes, found.num_rows() as i64);
        assert_eq!(stat.path.as_deref(), Some(path.as_str()));
        assert_eq!(stat.file_size_in_bytes, outcome.files[&path].len() as i64);
    }
    assert_eq!(rows, 30_000);
}

#[test]
fn keys_are_generated_where_the_table_has_none() {
    let options = AppendOptions::default();
    let outcome = append(&config(&[]), AVRO, options, &[batch(0..10), batch(0..10)]).unwrap();
    let found = whole(&outcome.files[&outcome.written[0].name]);
    for row in 0..20 {
        let key = format!("{INSTANT}_0_{row}");
        assert_eq!(found.column(2).as_string::<i32>().value(row), key);
        assert_eq!(outcome.written[0].keys.get(row), key);
    }
}

#[test]
fn a_key_that_comes_twice_fails_the_call() {
    let twice = [batch(0..10), batch(9..11)];
    let error = append(&config(&PLAIN), AVRO, AppendOptions::default(), &twice);
    let error = error.err().unwrap();
    assert_eq!(error.get("key"), Some("key-000009"));
    // In two partitions it is two rows, unless a record index finds rows by key alone.
    let mut other = batch(1..2).columns().to_vec();
    other[1] = Arc::new(StringArray::from(vec!["elsewhere"]));
    let other = RecordBatch::try_new(batch(0..1).schema(), other).unwrap();
    let both = [batch(0..10), other];
    append(&config(&BY_CITY), AVRO, AppendOptions::default(), &both).unwrap();
    let global = AppendOptions {
        global_keys: true,
        ..AppendOptions::default()
    };
    assert!(append(&config(&BY_CITY), AVRO, global, &both).is_err());
}

#[test]
fn files_end_at_their_size_and_row_groups_at_the_budget() {
    let batches: Vec<_> = (0..20)
        .map(|at| batch(at * 10_000..(at + 1) * 10_000))
        .collect();
    let options = AppendOptions {
        codec: Codec::Uncompressed,
        max_file_size: 1 << 20,
        ..AppendOptions::default()
    };
    let outcome = append(&config(&PLAIN), AVRO, options, &batches).unwrap();
    assert!(outcome.written.len() > 3, "{}", outcome.written.len());
    let sizes: Vec<usize> = outcome.files.values().map(Vec::len).collect();
    // The Bloom filter lies beside the rows.
    assert!(sizes.iter().all(|size| *size < 3 << 20), "{sizes:?}");
    let options = AppendOptions {
        codec: Codec::Uncompressed,
        buffer: 4 << 20,
        part: 512 << 10,
        ..AppendOptions::default()
    };
    let outcome = append(&config(&PLAIN), AVRO, options, &batches).unwrap();
    let [written] = outcome.written.as_slice() else {
        panic!("one file");
    };
    let file = Bytes::from(outcome.files[&written.name].clone());
    let reader = ParquetRecordBatchReaderBuilder::try_new(file).unwrap();
    assert!(reader.metadata().num_row_groups() > 1);
    let found = whole(&outcome.files[&written.name]);
    assert_eq!(
        found.column(7).as_ref(),
        &Int32Array::from_iter_values(0..200_000) as &dyn Array
    );
    // Sequence numbers go on from group to group.
    let last = found.column(1).as_string::<i32>().value(199_999);
    assert_eq!(last, format!("{INSTANT}_0_199999"));
}
