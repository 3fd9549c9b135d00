//! Files that Spark wrote give the rows that Spark reads.

use super::support::rows::{rows, sort};
use super::*;

/// Every recorded snapshot query of a table without `asOf` and projection, through the file's own statistics.
fn check(table: &str, schema: &SchemaRef, queries: usize) {
    let storage = storage_of(&support::store(table));
    let files = newest_files(table);
    let recorded = support::queries(&support::expected(table), "snapshot");
    let plain = recorded
        .iter()
        .map(|query| (&query["query"], &query["rows"]));
    let plain = plain.filter(|(query, _)| query["asOf"].is_null() && query["projection"].is_null());
    let plain: Vec<_> = plain.collect();
    assert_eq!(plain.len(), queries, "{table}");
    for (query, expected) in plain {
        let filters = query["filters"].as_array().cloned().unwrap_or_default();
        let filters: Vec<_> = filters
            .iter()
            .map(|f| Filter::from_json(f).unwrap())
            .collect();
        let request = filtered(schema, &filters);
        let read_all = files.iter().map(|file| read(&storage, file, &request));
        let batches = read_all.collect::<Result<Vec<_>>>().unwrap().concat();
        let mut expected = expected.as_array().unwrap().clone();
        sort(&mut expected);
        assert_eq!(rows(&batches), expected, "{table} {query}");
    }
}

#[test]
fn every_type_of_the_avro_writer_reads_as_spark_reads_it() {
    for table in ["v9_cow_all_types", "v9_cow_all_types_old_lists"] {
        check(table, &schema_of(table), 8);
    }
}

#[test]
fn every_type_of_sparks_row_writer_reads_as_spark_reads_it() {
    check("v9_cow_all_types_bulk", &schema_of("v9_cow_all_types"), 8);
}

#[test]
fn every_codec_that_spark_writes_is_read() {
    for table in [
        "v9_cow_uncompressed",
        "v9_cow_snappy",
        "v9_cow_lz4",
        "v9_cow_zstd",
    ] {
        check(table, &schema_of(table), 2);
    }
    // Hudi's default is gzip.
    check("v9_cow_simple", &schema_of("v9_cow_simple"), 2);
}

#[test]
fn files_of_older_schemas_read_as_the_newest() {
    check("v9_cow_evolved", &schema_of("v9_cow_evolved"), 3);
}

#[test]
fn files_without_rows_give_none() {
    check("v9_cow_all_deleted", &schema_of("v9_cow_all_deleted"), 1);
}

#[test]
fn a_file_with_the_default_bloom_filter_takes_one_request() {
    let storage = storage_of(&support::store("v9_cow_simple"));
    let file = newest_files("v9_cow_simple").remove(0);
    let request = BaseRequest::all(schema_of("v9_cow_simple"));
    read(&storage, &file, &request).unwrap();
    let counted = storage.metrics().counters();
    assert_eq!((counted.requests, counted.bytes), (1, file.size));
    assert!(file.size > 431_380);
}

#[test]
fn the_text_of_the_bloom_filter_is_not_kept() {
    let storage = storage_of(&support::store("v9_cow_simple"));
    let file = newest_files("v9_cow_simple").remove(0);
    let footer = support::block_on(open_footer(&storage, &file.path, file.size)).unwrap();
    assert!(footer.metadata().memory_size() < 100_000);
    let keys = footer.keys();
    assert!(keys.min_record_key.is_some() && keys.min_record_key <= keys.max_record_key);
}
