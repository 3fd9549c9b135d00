//! Encodes one million rows by both writers, in one thread: `encode FILE [runs] [batch rows]`, FILE being the base file of `cow1`.
//!
//! The rows are in memory as Arrow before the clock starts, and what is written goes nowhere. Ours has more to do: five meta columns,
//! keys checked and kept, a Bloom filter and the checks of the input. `ours, all` is that; `ours` leaves keys and filter out.

use std::fs::File;
use std::sync::Arc;
use std::time::Instant;

use arrow::array::RecordBatch;
use async_trait::async_trait;
use bytes::Bytes;
use futures::executor::block_on;
use hudi_wasm::codec::parquet::{Codec, Compressor, FileSchema, FileWriter, Rows, Source, TextRows};
use hudi_wasm::config::TableConfig;
use hudi_wasm::config::properties::{checksum, parse};
use hudi_wasm::model::{InstantTime, PartitionPath};
use hudi_wasm::schema::parse_avro;
use hudi_wasm::write::{AppendOptions, AppendWriter, FileSink, FileTarget, OpenedFile};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::basic::Compression;
use parquet::file::properties::WriterProperties;

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

/// Swallows files.
struct Nowhere;

struct Count(u64);

#[async_trait]
impl FileTarget for Nowhere {
    async fn open(&self, _: &PartitionPath, _: &str) -> hudi_wasm::Result<OpenedFile> {
        Ok(OpenedFile {
            sink: Box::new(Count(0)),
            new_partition: false,
        })
    }
}

#[async_trait]
impl FileSink for Count {
    async fn write(&mut self, bytes: Bytes) -> hudi_wasm::Result<()> {
        self.0 += bytes.len() as u64;
        Ok(())
    }

    async fn complete(self: Box<Self>) -> hudi_wasm::Result<u64> {
        Ok(self.0)
    }

    async fn abort(self: Box<Self>) {}
}

fn rows(file: &str, batch_rows: usize) -> Result<Vec<RecordBatch>> {
    let reader = ParquetRecordBatchReaderBuilder::try_new(File::open(file)?)?;
    let reader = reader.with_batch_size(batch_rows).build()?;
    let mut batches = Vec::new();
    for batch in reader {
        let batch = batch?;
        let columns: Vec<usize> = (5..batch.num_columns()).collect();
        batches.push(batch.project(&columns)?);
    }
    Ok(batches)
}

/// The columns of `bench/make_table.py`.
const AVRO: &str = r#"{"type":"record","name":"cow1_record","namespace":"hoodie.cow1","fields":[
{"name":"id","type":["null","string"],"default":null},{"name":"city","type":["null","string"],"default":null},
{"name":"customer","type":["null","string"],"default":null},{"name":"note","type":["null","string"],"default":null},
{"name":"quantity","type":["null","int"],"default":null},{"name":"product","type":["null","long"],"default":null},
{"name":"session","type":["null","long"],"default":null},{"name":"price","type":["null","double"],"default":null},
{"name":"latitude","type":["null","double"],"default":null},{"name":"weight","type":["null","double"],"default":null},
{"name":"at","type":["null",{"type":"long","logicalType":"timestamp-micros"}],"default":null},
{"name":"total","type":["null",{"type":"fixed","name":"fixed","size":8,"logicalType":"decimal","precision":18,"scale":4}],"default":null},
{"name":"express","type":["null","boolean"],"default":null}]}"#;

fn ours_all(config: &TableConfig, batches: &[RecordBatch], codec: Codec) -> Result<u64> {
    let options = AppendOptions {
        codec,
        max_file_size: 1 << 30,
        ..AppendOptions::default()
    };
    let instant = InstantTime::parse("20261130010203004")?;
    let mut writer = AppendWriter::new(config, AVRO, &instant, options, Arc::new(Nowhere))?;
    let written = block_on(async {
        for batch in batches {
            writer.push(batch).await?;
        }
        writer.finish().await
    })?;
    Ok(written.iter().map(|file| file.stat.file_size_in_bytes as u64).sum())
}

struct NoTexts;

impl TextRows for NoTexts {
    fn texts(&self, _: usize, _: usize) -> impl ExactSizeIterator<Item = &[u8]> + Clone {
        std::iter::empty()
    }
}

fn ours(batches: &[RecordBatch], codec: Codec) -> Result<u64> {
    let schema = FileSchema::of_avro(&parse_avro(AVRO)?)?;
    let mut packer = Compressor::new(codec);
    let mut writer = FileWriter::new(&schema, &vec![Source::Array; 13])?;
    let mut size = 0;
    for batch in batches {
        writer.push::<NoTexts>(
            &Rows {
                arrays: batch.columns(),
                texts: &[],
                count: batch.num_rows(),
            },
            &mut packer,
        )?;
    }
    writer.finish_group(&mut packer)?;
    size += writer.take().iter().map(|bytes| bytes.len() as u64).sum::<u64>();
    let (last, _) = writer.finish(&[], &mut packer)?;
    Ok(size + last.iter().map(|bytes| bytes.len() as u64).sum::<u64>())
}

fn theirs(batches: &[RecordBatch], codec: Compression) -> Result<u64> {
    let properties = WriterProperties::builder().set_compression(codec).build();
    let mut bytes = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut bytes, batches[0].schema(), Some(properties))?;
    for batch in batches {
        writer.write(batch)?;
    }
    writer.close()?;
    Ok(bytes.len() as u64)
}

fn config() -> Result<TableConfig> {
    let table =
        "hoodie.table.name=t\nhoodie.table.type=COPY_ON_WRITE\nhoodie.table.version=9\nhoodie.timeline.layout.version=2\nhoodie.table.recordkey.fields=id\n";
    let sum = checksum(&parse(table.as_bytes())?);
    let config = TableConfig::parse(format!("{table}hoodie.table.checksum={sum}\n").as_bytes())?;
    Ok(config)
}

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().collect();
    let number = |at: usize, default| arguments.get(at).and_then(|text| text.parse().ok()).unwrap_or(default);
    let batches = rows(&arguments[1], number(3, 8192))?;
    let config = config()?;
    let mut times: Vec<(String, Vec<f64>, u64)> = Vec::new();
    for _ in 0..number(2, 5) {
        let mut at = 0;
        let mut measure = |name: String, run: &dyn Fn() -> Result<u64>| -> Result<()> {
            let start = Instant::now();
            let size = run()?;
            let ms = start.elapsed().as_secs_f64() * 1000.0;
            if times.len() == at {
                times.push((name, Vec::new(), size));
            }
            times[at].1.push(ms);
            at += 1;
            Ok(())
        };
        for (name, codec, other) in [
            ("uncompressed", Codec::Uncompressed, Compression::UNCOMPRESSED),
            ("snappy", Codec::Snappy, Compression::SNAPPY),
            ("gzip", Codec::Gzip, Compression::GZIP(Default::default())),
        ] {
            measure(format!("{name}: ours, all"), &|| ours_all(&config, &batches, codec))?;
            measure(format!("{name}: ours"), &|| ours(&batches, codec))?;
            measure(format!("{name}: parquet"), &|| theirs(&batches, other))?;
        }
    }
    for (name, mut ms, size) in times {
        ms.sort_by(f64::total_cmp);
        println!(
            "{name:28} median {:7.0} ms  least {:7.0} ms  {:6.1} MB",
            ms[ms.len() / 2],
            ms[0],
            size as f64 / 1e6
        );
    }
    Ok(())
}
