//! Rows of Spark's base files written again: what a reader sees in the footers must be the same.

use bytes::Bytes;
use parquet::file::metadata::{ParquetMetaData, RowGroupMetaData};
use parquet::file::statistics::Statistics;

use super::*;
use crate::codec::bloom::BloomSettings;
use crate::model::BaseFileName;
use crate::schema::{conform, parse_avro, strip_meta_fields, to_arrow};

/// The tables whose base files Hudi's Avro writer wrote with three-level lists, or without lists.
const TABLES: [&str; 13] = [
    "v9_cow_all_types",
    "v9_cow_simple",
    "v9_cow_hive_parts",
    "v9_cow_keyless",
    "v9_cow_partition_types",
    "v9_cow_complex_single",
    "v9_cow_nonpartitioned_keygen",
    "v9_cow_date_partition",
    "v9_cow_partition_plain",
    "v9_cow_nonhive_multi",
    "v9_cow_timestamp_keygen",
    "v9_cow_local_zone_partitions",
    "v9_cow_timestamp_keygen_string",
];

struct SparkFile {
    name: BaseFileName,
    partition: String,
    metadata: ParquetMetaData,
    batch: RecordBatch,
}

/// The base files of a table that one insert wrote: their rows have one commit time, which is that of the file.
fn spark_files(table: &str) -> Vec<SparkFile> {
    let files = support::files(table)
        .into_iter()
        .filter_map(|(path, content)| {
            let (partition, name) = path.rsplit_once('/').unwrap_or(("", &path));
            if path.starts_with(".hoodie/") {
                return None;
            }
            let name = BaseFileName::parse(name)?;
            let bytes = Bytes::from(content);
            let reader = ParquetRecordBatchReaderBuilder::try_new_with_options(
                bytes.clone(),
                parquet::arrow::arrow_reader::ArrowReaderOptions::new()
                    .with_page_index_policy(parquet::file::metadata::PageIndexPolicy::Optional),
            );
            let metadata = reader.unwrap().metadata().as_ref().clone();
            let batch = whole(&bytes);
            let times = batch.column(0).as_string::<i32>();
            let own = times.iter().all(|time| time == Some(name.instant.as_str()));
            let by_avro = key(&metadata, "parquet.avro.schema").is_some();
            (own && by_avro && batch.num_rows() > 0).then(|| SparkFile {
                partition: partition.to_owned(),
                name,
                metadata,
                batch,
            })
        });
    files.collect()
}

fn key<'a>(metadata: &'a ParquetMetaData, name: &str) -> Option<&'a str> {
    let keys = metadata.file_metadata().key_value_metadata()?;
    keys.iter()
        .find(|entry| entry.key == name)?
        .value
        .as_deref()
}

/// The same rows written by us, for the same instant.
fn again(table: &str, file: &SparkFile) -> (ParquetMetaData, RecordBatch, WrittenFile) {
    let (_, text) = support::files(table)
        .into_iter()
        .find(|(path, _)| path == ".hoodie/hoodie.properties")
        .unwrap();
    let config = TableConfig::parse(&text).unwrap();
    let avro = key(&file.metadata, "parquet.avro.schema").unwrap();
    let schema = Arc::new(strip_meta_fields(
        &to_arrow(&parse_avro(avro).unwrap()).unwrap(),
    ));
    let rows = conform(&file.batch, &schema).unwrap();
    let bits = key(&file.metadata, "org.apache.hudi.bloomfilter")
        .unwrap()
        .len();
    let options = AppendOptions {
        bloom: BloomSettings {
            entries: if bits > 400_000 { 60_000 } else { 1000 },
            ..BloomSettings::default()
        },
        ..AppendOptions::default()
    };
    let target = Arc::new(Memory::default());
    let mut writer =
        AppendWriter::new(&config, avro, &file.name.instant, options, target.clone()).unwrap();
    let written = support::block_on(async {
        writer.push(&rows).await.unwrap();
        writer.finish().await.unwrap()
    });
    let [written] = <[WrittenFile; 1]>::try_from(written).unwrap();
    let files = target.files.lock().unwrap();
    let bytes = Bytes::from(files[&written.partition.file_path(&written.name)].clone());
    let reader = ParquetRecordBatchReaderBuilder::try_new_with_options(
        bytes.clone(),
        parquet::arrow::arrow_reader::ArrowReaderOptions::new()
            .with_page_index_policy(parquet::file::metadata::PageIndexPolicy::Required),
    );
    let metadata = reader.unwrap().metadata().as_ref().clone();
    (metadata, whole(&bytes), written)
}

fn for_each_file(
    mut check: impl FnMut(&str, &SparkFile, ParquetMetaData, RecordBatch, WrittenFile),
) {
    let mut files = 0;
    for table in TABLES {
        let of_spark = spark_files(table);
        assert!(!of_spark.is_empty(), "{table} has no file of one insert");
        for file in &of_spark {
            let (metadata, batch, written) = again(table, file);
            check(table, file, metadata, batch, written);
            files += 1;
        }
    }
    assert!(files >= TABLES.len());
}

#[test]
fn keys_paths_and_rows_are_those_of_spark() {
    for_each_file(|table, file, _, batch, written| {
        assert_eq!(written.partition.as_str(), file.partition, "{table}");
        for (at, field) in file.batch.schema().fields().iter().enumerate() {
            // Names of files and the task's part of sequence numbers are each writer's own.
            if ["_hoodie_commit_seqno", "_hoodie_file_name"].contains(&field.name().as_str()) {
                continue;
            }
            // So are generated keys.
            if table == "v9_cow_keyless" && field.name() == "_hoodie_record_key" {
                continue;
            }
            assert_eq!(
                batch.column(at),
                file.batch.column(at),
                "{table} {}",
                field.name()
            );
        }
    });
}

#[test]
fn hudi_finds_its_entries_in_the_footer_as_spark_left_them() {
    for_each_file(|table, file, metadata, _, _| {
        let avro = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap();
        let names = file.metadata.file_metadata().key_value_metadata().unwrap();
        for entry in names {
            let (ours, theirs) = (key(&metadata, &entry.key), entry.value.as_deref());
            match entry.key.as_str() {
                "parquet.avro.schema" => {
                    assert_eq!(avro(ours.unwrap()), avro(theirs.unwrap()), "{table}");
                }
                _ if table == "v9_cow_keyless" && entry.key != "writer.model.name" => {
                    assert!(ours.is_some(), "{table} {}", entry.key);
                }
                name => assert!(ours == theirs, "{table} {name}"),
            }
        }
        let count = metadata.file_metadata().key_value_metadata().unwrap().len();
        assert_eq!(count, names.len(), "{table}");
    });
}

#[test]
fn columns_are_declared_as_spark_declares_them() {
    for_each_file(|table, file, metadata, _, _| {
        let print = |metadata: &ParquetMetaData| {
            let mut text = Vec::new();
            let schema = metadata.file_metadata().schema();
            parquet::schema::printer::print_schema(&mut text, schema);
            String::from_utf8(text).unwrap()
        };
        assert_eq!(print(&metadata), print(&file.metadata), "{table}");
    });
}

/// Null count, minimum and maximum of each column.
type Facts = Vec<(String, Option<u64>, Option<Vec<u8>>, Option<Vec<u8>>)>;

fn statistics(group: &RowGroupMetaData) -> Facts {
    let facts = group.columns().iter().map(|column| {
        let statistics = column.statistics().unwrap();
        let bytes = |bytes: Option<&[u8]>| bytes.map(<[u8]>::to_vec);
        (
            column.column_path().string(),
            Statistics::null_count_opt(statistics),
            bytes(statistics.min_bytes_opt()),
            bytes(statistics.max_bytes_opt()),
        )
    });
    let own = ["_hoodie_commit_seqno", "_hoodie_file_name"];
    facts
        .filter(|(path, ..)| !own.contains(&path.as_str()))
        .collect()
}

#[test]
fn statistics_are_those_of_spark() {
    for_each_file(|table, file, metadata, _, _| {
        let (ours, theirs) = (
            statistics(metadata.row_group(0)),
            statistics(file.metadata.row_group(0)),
        );
        for (ours, theirs) in ours.iter().zip(&theirs) {
            if table == "v9_cow_keyless" && ours.0 == "_hoodie_record_key" {
                continue;
            }
            // Spark gives a NaN as the greatest value, which readers then pass over.
            if ours.0 == "f32" || ours.0 == "f64" {
                assert_eq!((ours.1, &ours.2), (theirs.1, &None), "{table}");
                continue;
            }
            assert_eq!(ours, theirs, "{table}");
        }
        assert_eq!(ours.len(), theirs.len());
    });
}

#[test]
fn page_indexes_say_what_those_of_spark_say() {
    for_each_file(|table, file, metadata, _, _| {
        for (at, column) in metadata.row_group(0).columns().iter().enumerate() {
            let path = column.column_path().string();
            let own = ["_hoodie_commit_seqno", "_hoodie_file_name"].contains(&path.as_str());
            if own || (table == "v9_cow_keyless" && path == "_hoodie_record_key") {
                continue;
            }
            let facts = |metadata: &ParquetMetaData| {
                let index = metadata.page_index().unwrap();
                format!("{:?}", index.column_index(0, at))
            };
            assert_eq!(facts(&metadata), facts(&file.metadata), "{table} {path}");
        }
    });
}
