//! Results of reads as Parquet files, read back by the `parquet` crate: the rows that Spark reads of the tables.

use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch, Time32MillisecondArray, TimestampNanosecondArray};
use arrow::datatypes::{DataType, Field, Schema, TimeUnit};
use bytes::Bytes;
use futures::TryStreamExt;
use hudi_wasm::codec::parquet::Codec;
use hudi_wasm::config::ReadOptions;
use hudi_wasm::error::ErrorKind;
use hudi_wasm::storage::{Storage, StorageOptions};
use hudi_wasm::table::{OpenOptions, Table};
use hudi_wasm::write::ResultFile;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use serde_json::Value;

use super::support::{self, block_on, rows::rows, rows::sort};

fn written(schema: &Schema, codec: Codec, batches: &[RecordBatch]) -> Vec<u8> {
    let mut file = ResultFile::new(schema, codec).unwrap();
    let mut bytes = Vec::new();
    for batch in batches {
        bytes.extend(file.push(batch).unwrap());
    }
    bytes.extend(file.finish().unwrap());
    bytes.concat()
}

fn read_back(file: Vec<u8>) -> (Vec<DataType>, Vec<RecordBatch>) {
    let reader = ParquetRecordBatchReaderBuilder::try_new(Bytes::from(file)).unwrap();
    let types = types(reader.schema());
    (types, reader.build().unwrap().map(Result::unwrap).collect())
}

fn types(schema: &Schema) -> Vec<DataType> {
    let fields = schema.fields().iter();
    fields.map(|field| field.data_type().clone()).collect()
}

#[test]
fn rows_of_every_type_are_those_of_spark_in_every_codec() {
    for name in [
        "v9_cow_all_types",
        "v9_mor_all_types",
        "v9_cow_partition_types",
    ] {
        block_on(async {
            let storage = Storage::new(support::store(name), StorageOptions::default());
            let table = Table::open(storage, OpenOptions::default()).await.unwrap();
            let read = table.read(&ReadOptions::default()).await.unwrap();
            let schema = Arc::clone(read.schema());
            let batches: Vec<RecordBatch> = read.try_collect().await.unwrap();
            let mut expected = support::expected(name)["queries"][0]["rows"].clone();
            let expected: &mut Vec<Value> = expected.as_array_mut().unwrap();
            sort(expected);
            for codec in [
                Codec::Uncompressed,
                Codec::Snappy,
                Codec::Gzip,
                Codec::Lz4Raw,
            ] {
                let (_, again) = read_back(written(&schema, codec, &batches));
                assert_eq!(rows(&again), *expected, "{name} {codec:?}");
            }
        });
    }
}

#[test]
fn times_and_types_come_back_and_a_result_without_rows_is_a_file() {
    let millis = DataType::Time32(TimeUnit::Millisecond);
    let zone = DataType::Timestamp(TimeUnit::Millisecond, Some("UTC".into()));
    let schema = Schema::new(vec![
        Field::new("a b", millis, true),
        Field::new("at", zone, false),
    ]);
    let (kept, none) = read_back(written(&schema, Codec::Snappy, &[]));
    assert_eq!(kept, types(&schema));
    assert!(none.is_empty());
    let one = Schema::new(vec![schema.field(0).clone()]);
    let times: ArrayRef = Arc::new(Time32MillisecondArray::from(vec![Some(86_399_999), None]));
    let batch = RecordBatch::try_new(Arc::new(one.clone()), vec![times]).unwrap();
    let (_, again) = read_back(written(&one, Codec::Gzip, std::slice::from_ref(&batch)));
    assert_eq!(again[0].columns(), batch.columns());
    assert_eq!(again[0].schema().field(0).name(), "a b");
}

#[test]
fn long_results_end_row_groups_and_what_does_not_fit_is_refused() {
    let batch = super::batch(&[(1, "oslo"); 50_000]);
    let noise = (0..50_000_u64).map(|i| {
        let mixed = i.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        format!("{mixed:x}{:x}", mixed.rotate_left(31).wrapping_mul(31)).repeat(30)
    });
    let mut columns = batch.columns().to_vec();
    columns[1] = Arc::new(noise.map(Some).collect::<arrow::array::StringArray>());
    let batch = RecordBatch::try_new(batch.schema(), columns).unwrap();
    let file = written(
        &batch.schema(),
        Codec::Uncompressed,
        &[batch.clone(), batch.clone()],
    );
    let reader = ParquetRecordBatchReaderBuilder::try_new(Bytes::from(file)).unwrap();
    assert_eq!(reader.metadata().num_row_groups(), 2);
    assert_eq!(reader.metadata().file_metadata().num_rows(), 100_000);

    let refused = |schema: &Schema| ResultFile::new(schema, Codec::Gzip).err().unwrap();
    assert_eq!(refused(&Schema::empty()).kind(), ErrorKind::InvalidArgument);
    let nanos = DataType::Timestamp(TimeUnit::Nanosecond, None);
    let nanos = Schema::new(vec![Field::new("t", nanos, true)]);
    assert_eq!(refused(&nanos).kind(), ErrorKind::Unsupported);
    assert_eq!(refused(&nanos).get("field"), Some("t"));
    let column: ArrayRef = Arc::new(TimestampNanosecondArray::from(vec![1]));
    let other = RecordBatch::try_from_iter([("id", column)]).unwrap();
    let mut file = ResultFile::new(&batch.schema(), Codec::Gzip).unwrap();
    let error = file.push(&other).err().unwrap();
    assert_eq!(error.kind(), ErrorKind::InvalidArgument);
}
