//! What a request may ask for, on files made for it.

use std::ops::Range;

use arrow::array::{ArrayRef, AsArray, Float64Array, Int64Array, StringArray};
use arrow::datatypes::{DataType, Field, Int64Type, Schema};
use parquet::arrow::ArrowWriter;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterPropertiesBuilder};

use super::*;
use crate::ErrorKind;
use crate::expr::Operator;
use crate::model::BaseFormat;
use crate::storage::{Cause, UNKNOWN_SIZE};

const NAME: &str = "0f7fdb4a-0ad5-4457-b84f-0cf8f217d663-0_0-16-19_20261129204449675.parquet";

fn table_schema() -> SchemaRef {
    Arc::new(Schema::new(vec![
        Field::new("id", DataType::Int64, true),
        Field::new("text", DataType::Utf8, true),
        Field::new("price", DataType::Float64, true),
    ]))
}

/// Rows `from..to`: id counts, text is `t` and the id, price is half of it.
fn batch(rows: Range<i64>) -> RecordBatch {
    let columns: Vec<ArrayRef> = vec![
        Arc::new(Int64Array::from_iter_values(rows.clone())),
        Arc::new(StringArray::from_iter_values(
            rows.clone().map(|id| format!("t{id:08}")),
        )),
        Arc::new(Float64Array::from_iter_values(
            rows.map(|id| id as f64 / 2.0),
        )),
    ];
    RecordBatch::try_new(table_schema(), columns).unwrap()
}

/// A file of row groups of 10,000 rows and pages of 1,000.
fn file(rows: i64, properties: WriterPropertiesBuilder) -> (Storage, BaseFile) {
    let properties = properties.set_max_row_group_row_count(Some(10_000));
    let (store, file) = stored(rows, properties);
    (storage_of(&store), file)
}

/// A file of pages of 1,000 rows.
fn stored(rows: i64, properties: WriterPropertiesBuilder) -> (Arc<InMemory>, BaseFile) {
    let properties = properties
        .set_data_page_row_count_limit(1_000)
        .set_write_batch_size(1_000)
        .build();
    let mut bytes = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut bytes, table_schema(), Some(properties)).unwrap();
    for from in (0..rows).step_by(10_000) {
        writer
            .write(&batch(from..(from + 10_000).min(rows)))
            .unwrap();
    }
    writer.close().unwrap();
    let size = bytes.len() as u64;
    let store = support::store_of([(NAME.to_owned(), bytes)]);
    let name = BaseFileName::parse(NAME).unwrap();
    let path = NAME.to_owned();
    (store, BaseFile { name, path, size })
}

/// A storage whose calls may hold so many bytes; it caches nothing, so that it counts what is fetched twice.
fn bounded(store: &Arc<InMemory>, memory_limit: u64) -> Storage {
    let options = StorageOptions {
        memory_limit: Some(memory_limit),
        cache: None,
        ..StorageOptions::default()
    };
    let store = Arc::clone(store);
    Storage::new(store, options).for_call(CallScope::default())
}

fn plain() -> WriterPropertiesBuilder {
    WriterProperties::builder().set_dictionary_enabled(false)
}

fn compare(field: &str, operator: Operator, value: &str) -> Filter {
    Filter {
        field: field.to_owned(),
        operator,
        values: vec![value.to_owned()],
    }
}

fn ids(batches: &[RecordBatch]) -> Vec<i64> {
    let ids = batches.iter().map(|batch| {
        batch
            .column_by_name("id")
            .unwrap()
            .as_primitive::<Int64Type>()
    });
    ids.flat_map(|ids| ids.values().to_vec()).collect()
}

#[test]
fn all_rows_come_in_order_whatever_the_batch_size() {
    let (storage, file) = file(25_000, plain());
    for batch_rows in [None, Some(1), Some(1024), Some(7_000), Some(1_000_000)] {
        let request = BaseRequest {
            batch_rows,
            ..BaseRequest::all(table_schema())
        };
        let batches = read(&storage, &file, &request).unwrap();
        assert_eq!(ids(&batches), (0..25_000).collect::<Vec<_>>());
        let most = batches.iter().map(RecordBatch::num_rows).max().unwrap();
        assert!(most <= batch_rows.unwrap_or(usize::MAX));
    }
}

#[test]
fn a_filter_reads_the_pages_that_can_match_and_no_others() {
    let bloom = "org.apache.hudi.bloomfilter";
    let (storage, file) = file(400_000, with_pair(bloom, 862_724));
    let filters = [
        compare("id", Operator::Gte, "123456"),
        compare("id", Operator::Lt, "123461"),
    ];
    let request = filtered(&table_schema(), &filters);
    assert_eq!(
        ids(&read(&storage, &file, &request).unwrap()),
        (123_456..123_461).collect::<Vec<_>>()
    );
    let counted = storage.metrics().counters();
    assert_eq!(counted.row_groups_pruned, 39);
    assert_eq!(counted.rows_scanned, 1_000);
    assert!(file.size > 8 << 20, "{}", file.size);
    // The two ends of the footer, with the page index, and one page of each of three columns, fetched as one range.
    assert!(counted.bytes < 384 << 10, "{}", counted.bytes);
    assert_eq!(counted.requests, 3);
}

#[test]
fn a_limit_reads_the_first_pages_and_no_others() {
    let (storage, file) = file(1_000_000, plain());
    let request = BaseRequest {
        limit: Some(10),
        ..BaseRequest::all(table_schema())
    };
    assert_eq!(
        ids(&read(&storage, &file, &request).unwrap()),
        (0..10).collect::<Vec<_>>()
    );
    let counted = storage.metrics().counters();
    assert!(counted.bytes < 512 << 10, "{}", counted.bytes);
}

#[test]
fn a_row_group_beyond_the_memory_of_a_call_is_read_in_ranges_of_its_pages() {
    let (store, file) = stored(200_000, plain());
    let storage = bounded(&store, 1 << 20);
    let all = read(&storage, &file, &BaseRequest::all(table_schema())).unwrap();
    assert_eq!(ids(&all), (0..200_000).collect::<Vec<_>>());
    let request = filtered(&table_schema(), &[compare("id", Operator::Lt, "150000")]);
    assert_eq!(
        ids(&read(&storage, &file, &request).unwrap()),
        (0..150_000).collect::<Vec<_>>()
    );
    // 20 bytes of text with its length, and two columns of 8: 28 bytes a row and more, so at least five parts of half a megabyte each.
    let counted = storage.metrics().counters();
    assert!(counted.requests > 2 * 5, "{}", counted.requests);
}

#[test]
fn a_row_group_beyond_the_memory_of_a_call_is_refused_where_no_index_tells_its_pages() {
    let none = plain()
        .set_offset_index_disabled(true)
        .set_statistics_enabled(EnabledStatistics::None);
    let (store, file) = stored(200_000, none);
    let error = read(
        &bounded(&store, 1 << 20),
        &file,
        &BaseRequest::all(table_schema()),
    )
    .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::LimitExceeded);
    assert_eq!(error.get("path"), Some(NAME));
    assert_eq!(error.get("limit"), Some("1048576"));
    let id = BaseRequest {
        output: Some(vec![0]),
        ..BaseRequest::all(table_schema().project(&[0]).unwrap().into())
    };
    let roomy = bounded(&store, 2 << 20);
    assert_eq!(ids(&read(&roomy, &file, &id).unwrap()).len(), 200_000);
}

#[test]
fn without_statistics_filters_still_hold() {
    let none = plain().set_statistics_enabled(EnabledStatistics::None);
    let (storage, file) = file(30_000, none);
    let request = filtered(
        &table_schema(),
        &[compare("text", Operator::Eq, "t00012345")],
    );
    assert_eq!(ids(&read(&storage, &file, &request).unwrap()), [12_345]);
    assert_eq!(storage.metrics().counters().row_groups_pruned, 0);
}

#[test]
fn filters_on_columns_that_are_not_given_hold() {
    let (storage, file) = file(30_000, plain());
    let request = BaseRequest {
        output: Some(vec![0]),
        ..filtered(
            &table_schema(),
            &[compare("price", Operator::Gt, "14998.5")],
        )
    };
    let batches = read(&storage, &file, &request).unwrap();
    assert_eq!(ids(&batches), [29_998, 29_999]);
    assert_eq!(batches[0].num_columns(), 1);
}

#[test]
fn a_selective_filter_spares_the_other_columns() {
    // Text of 300 bytes a row, of which none is asked for in the end.
    let schema = Arc::new(Schema::new(vec![
        Field::new("id", DataType::Int64, true),
        Field::new("text", DataType::Utf8, true),
    ]));
    let ids: Int64Array = (0..20_000).map(|id| (id * 7919) % 20_000).collect();
    let text = StringArray::from_iter_values((0..20_000).map(|id| format!("{id:0300}")));
    let batch =
        RecordBatch::try_new(Arc::clone(&schema), vec![Arc::new(ids), Arc::new(text)]).unwrap();
    let none = plain().set_statistics_enabled(EnabledStatistics::None);
    let mut bytes = Vec::new();
    let mut writer =
        ArrowWriter::try_new(&mut bytes, Arc::clone(&schema), Some(none.build())).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    let size = bytes.len() as u64;
    let storage = storage_of(&support::store_of([(NAME.to_owned(), bytes)]));
    let file = BaseFile {
        name: BaseFileName::parse(NAME).unwrap(),
        path: NAME.to_owned(),
        size,
    };
    let request = filtered(&schema, &[compare("id", Operator::Gt, "1000000")]);
    assert_eq!(read(&storage, &file, &request).unwrap().len(), 0);
    let bytes = storage.metrics().counters().bytes;
    assert!(size > 5 << 20 && bytes < 1 << 20, "{bytes} of {size}");
}

#[test]
fn columns_come_from_the_path_from_nowhere_and_in_the_order_asked() {
    let (storage, file) = file(100, plain());
    let schema = Arc::new(Schema::new(vec![
        Field::new("later", DataType::Int32, true),
        Field::new("day", DataType::Utf8, true),
        Field::new("id", DataType::Int64, true),
    ]));
    let day = Constant {
        name: "day".to_owned(),
        value: Arc::new(StringArray::from(vec!["monday"])),
    };
    let request = |filters: &[Filter]| BaseRequest {
        constants: vec![day.clone()],
        ..filtered(&schema, filters)
    };
    let batches = read(&storage, &file, &request(&[])).unwrap();
    assert_eq!(batches[0].schema(), schema);
    assert_eq!(batches[0].column(0).null_count(), 100);
    assert_eq!(batches[0].column(1).as_string::<i32>().value(99), "monday");

    let on = |day| compare("day", Operator::Eq, day);
    assert_eq!(
        read(&storage, &file, &request(&[on("tuesday")]))
            .unwrap()
            .len(),
        0
    );
    let both = [on("monday"), compare("id", Operator::Lt, "3")];
    assert_eq!(
        ids(&read(&storage, &file, &request(&both)).unwrap()),
        [0, 1, 2]
    );
    let absent = Filter {
        values: vec![],
        ..compare("later", Operator::IsNull, "")
    };
    assert_eq!(
        ids(&read(&storage, &file, &request(&[absent])).unwrap()).len(),
        100
    );
}

#[test]
fn columns_that_need_no_file_have_its_rows() {
    let (storage, file) = file(25_000, plain());
    for (fields, limit, expected) in [
        (vec![], None, 25_000),
        (vec![], Some(3), 3),
        (
            vec![Field::new("later", DataType::Int32, true)],
            None,
            25_000,
        ),
    ] {
        let request = BaseRequest {
            limit,
            ..BaseRequest::all(Arc::new(Schema::new(fields)))
        };
        let batches = read(&storage, &file, &request).unwrap();
        assert_eq!(
            batches.iter().map(RecordBatch::num_rows).sum::<usize>(),
            expected
        );
    }
    // The footer, once.
    assert_eq!(storage.metrics().counters().requests, 1);
}

#[test]
fn a_column_of_another_type_is_an_error_with_its_path() {
    let (storage, file) = file(10, plain());
    let schema = Arc::new(Schema::new(vec![Field::new("text", DataType::Int32, true)]));
    let error = read(&storage, &file, &BaseRequest::all(schema)).unwrap_err();
    assert_eq!(
        (error.kind(), error.get("field")),
        (ErrorKind::Schema, Some("text"))
    );
    assert_eq!(error.get("path"), Some(NAME));
}

#[test]
fn what_is_no_parquet_file_is_corrupt_with_its_path() {
    for bytes in [
        &b""[..],
        b"PAR1",
        b"PAR1PAR1",
        b"PAR1\xff\xff\xff\xffPAR1",
        b"PAR1\0\0\0\0PAR2",
    ] {
        let size = bytes.len() as u64;
        let storage = storage_of(&support::store_of([(NAME.to_owned(), bytes.to_vec())]));
        let file = BaseFile {
            name: BaseFileName::parse(NAME).unwrap(),
            path: NAME.to_owned(),
            size,
        };
        let error = read(&storage, &file, &BaseRequest::all(table_schema())).unwrap_err();
        assert_eq!(
            (error.kind(), error.get("path")),
            (ErrorKind::Corrupt, Some(NAME)),
            "{error}"
        );
    }
}

#[test]
fn a_file_of_unknown_size_costs_one_request_more() {
    let request = BaseRequest::all(table_schema());
    let (storage, file) = file(2_500, plain());
    let known = read(&storage, &file, &request).unwrap();
    let before = storage.metrics().counters().requests;
    let cold = storage_of(&support::store_of([(
        NAME.to_owned(),
        support::block_on(storage.get(NAME, Cause::Data))
            .unwrap()
            .to_vec(),
    )]));
    let size = UNKNOWN_SIZE;
    let unknown = read(&cold, &BaseFile { size, ..file }, &request).unwrap();
    assert_eq!(ids(&unknown), ids(&known));
    assert_eq!(cold.metrics().counters().requests, before + 1);
}

/// Pairs of a footer: one of a key with a text so long, between short ones.
fn with_pair(key: &str, length: usize) -> WriterPropertiesBuilder {
    let pair = |key: &str, value: String| KeyValue::new(key.to_owned(), value);
    let pairs = vec![
        pair("before", "b".repeat(3_000)),
        pair(key, "A/x9".repeat(length / 4)),
        pair("hoodie_max_record_key", "99".to_owned()),
    ];
    plain().set_key_value_metadata(Some(pairs))
}

/// Reads 100 rows of a file whose footer has such a pair: requests, and bytes fetched.
fn cost_of_a_pair(key: &str, length: usize) -> (u64, u64) {
    let (storage, file) = file(100, with_pair(key, length));
    let rows = read(&storage, &file, &BaseRequest::all(table_schema())).unwrap();
    assert_eq!(ids(&rows), (0..100).collect::<Vec<_>>());
    let footer = support::block_on(open_footer(&storage, &file.path, file.size)).unwrap();
    assert_eq!(footer.keys().max_record_key.as_deref(), Some("99"));
    let counters = storage.metrics().counters();
    (counters.requests, counters.bytes)
}

#[test]
fn of_a_long_bloom_filter_in_the_footer_only_the_ends_are_fetched() {
    const KIB: u64 = 1 << 10;
    let bloom = "org.apache.hudi.bloomfilter";
    let (requests, bytes) = cost_of_a_pair(bloom, 900_000);
    assert_eq!(requests, 2);
    assert!(bytes < (512 + 64 + 20) * KIB, "{bytes}");
    // As long a text of another key is fetched.
    let (requests, bytes) = cost_of_a_pair("other", 900_000);
    assert_eq!(requests, 3);
    assert!(bytes > 900_000, "{bytes}");
    // Just longer than the first request, so that nothing lies between.
    assert_eq!(cost_of_a_pair(bloom, 540_000).0, 2);
    assert_eq!(cost_of_a_pair(bloom, 431_380).0, 1);
}

/// Reads five rows of many by a filter, from a file with such a pair: requests, rounds of the footer, and bytes fetched.
fn cost_of_five_rows(rows: i64, key: &str, length: usize) -> (usize, usize, u64) {
    let (store, file) = stored(rows, with_pair(key, length));
    let store = Watched::new(store);
    let storage = Storage::new(Arc::clone(&store) as _, StorageOptions::default());
    let path = file.path.as_str();
    let footer = support::block_on(open_footer(&storage, path, file.size)).unwrap();
    assert_eq!(footer.keys().max_record_key.as_deref(), Some("99"));
    let of_footer = store.requests();
    let filters = [
        compare("id", Operator::Gte, "77700"),
        compare("id", Operator::Lt, "77705"),
    ];
    let request = filtered(&table_schema(), &filters);
    let found = read(&storage, &file, &request).unwrap();
    assert_eq!(ids(&found), (77_700..77_705).collect::<Vec<_>>());
    let asked = [of_footer.clone(), store.requests()].concat();
    let bytes = asked.iter().map(|asked| asked.bytes).sum();
    let rounds = of_footer.iter().map(|asked| asked.round).max().unwrap();
    (asked.len(), rounds, bytes)
}

#[test]
fn few_rows_of_a_large_file_cost_a_few_pages_and_one_round_for_the_footer() {
    const KIB: u64 = 1 << 10;
    let bloom = "org.apache.hudi.bloomfilter";
    // More than 8 MiB, and the filter of more than 60,000 records: the ends of the footer, the page of the filter, those of the others.
    let (requests, rounds, bytes) = cost_of_five_rows(400_000, bloom, 862_724);
    assert_eq!((requests, rounds), (5, 1));
    assert!(bytes < 128 * KIB, "{bytes}");
    // The shorter filter in as large a file: its front is asked for once its place is known.
    let (requests, rounds, bytes) = cost_of_five_rows(400_000, bloom, 431_380);
    assert_eq!((requests, rounds), (6, 2));
    assert!(bytes < 256 * KIB, "{bytes}");
    // A text that is no filter has to come.
    let (_, _, bytes) = cost_of_five_rows(400_000, "other", 862_724);
    assert!(bytes > 862_724, "{bytes}");
    // Between 4 and 8 MiB either filter comes in one round.
    for length in [431_380, 862_724] {
        let (_, rounds, bytes) = cost_of_five_rows(160_000, bloom, length);
        assert_eq!(rounds, 1);
        assert!(bytes < 768 * KIB, "{bytes}");
    }
}

#[test]
fn base_files_of_other_formats_are_refused_by_name() {
    let table = "v9_cow_simple";
    let storage = storage_of(&support::store(table));
    let mut file = newest_files(table).remove(0);
    for (extension, format) in [("orc", BaseFormat::Orc), ("lance", BaseFormat::Lance)] {
        file.name.format = format;
        let error = read(&storage, &file, &BaseRequest::all(schema_of(table))).unwrap_err();
        assert_eq!(
            (error.kind(), error.get("format"), error.get("path")),
            (
                ErrorKind::Unsupported,
                Some(extension),
                Some(file.path.as_str())
            )
        );
    }
}
