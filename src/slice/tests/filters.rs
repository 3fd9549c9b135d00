//! What Bloom filters in a file spare, and that they lose nothing.

use arrow::array::{ArrayRef, AsArray, Int64Array, StringArray};
use arrow::datatypes::{DataType, Field, Int64Type, Schema};
use parquet::arrow::ArrowWriter;
use parquet::file::properties::{EnabledStatistics, WriterProperties};

use super::*;
use crate::expr::Operator;

const NAME: &str = "0f7fdb4a-0ad5-4457-b84f-0cf8f217d663-0_0-16-19_20261129204449675.parquet";
const ROWS: i64 = 150_000;

fn schema() -> SchemaRef {
    Arc::new(Schema::new(vec![
        Field::new("id", DataType::Int64, true),
        Field::new("text", DataType::Utf8, true),
    ]))
}

/// One row group of even ids in no order, each with its text; filters of both columns.
fn file() -> (Storage, BaseFile) {
    let ids: Int64Array = (0..ROWS).map(|id| (id * 7919 % ROWS) * 2).collect();
    let text =
        StringArray::from_iter_values(ids.values().iter().map(|id| format!("text {id:030}")));
    let columns: Vec<ArrayRef> = vec![Arc::new(ids), Arc::new(text)];
    let properties = WriterProperties::builder()
        .set_dictionary_enabled(false)
        .set_statistics_enabled(EnabledStatistics::Page)
        .set_bloom_filter_enabled(true)
        .set_bloom_filter_fpp(0.01)
        .set_bloom_filter_max_ndv(u64::try_from(ROWS).unwrap())
        .build();
    let mut bytes = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut bytes, schema(), Some(properties)).unwrap();
    writer
        .write(&RecordBatch::try_new(schema(), columns).unwrap())
        .unwrap();
    writer.close().unwrap();
    let size = bytes.len() as u64;
    let storage = storage_of(&support::store_of([(NAME.to_owned(), bytes)]));
    let (name, path) = (BaseFileName::parse(NAME).unwrap(), NAME.to_owned());
    (storage, BaseFile { name, path, size })
}

/// The ids of the rows that have one of these values, and how many rows were looked at.
fn found(storage: &Storage, file: &BaseFile, field: &str, values: Vec<String>) -> (Vec<i64>, u64) {
    let storage = storage.for_call(CallScope::default());
    let filter = Filter {
        field: field.to_owned(),
        operator: Operator::In,
        values,
    };
    let batches = read(&storage, file, &filtered(&schema(), &[filter])).unwrap();
    let ids = batches
        .iter()
        .map(|batch| batch.column(0).as_primitive::<Int64Type>());
    let mut ids: Vec<i64> = ids.flat_map(|ids| ids.values().to_vec()).collect();
    ids.sort_unstable();
    (ids, storage.metrics().counters().rows_scanned)
}

#[test]
fn parquets_own_filters_spare_row_groups_without_a_value_and_lose_none() {
    let (storage, file) = file();
    let text = |id: &i64| format!("text {id:030}");
    let present: Vec<i64> = (0..ROWS).step_by(997).map(|id| id * 2).collect();
    let as_ids = present.iter().map(i64::to_string).collect();
    assert_eq!(found(&storage, &file, "id", as_ids).0, present);
    let as_texts = present.iter().map(text).collect();
    assert_eq!(found(&storage, &file, "text", as_texts).0, present);
    for id in &present[..20] {
        assert_eq!(found(&storage, &file, "id", vec![id.to_string()]).0, [*id]);
    }
    // Odd ids are within the bounds. One in a hundred is taken for one that is there.
    let absent: Vec<i64> = (0..40).map(|at| at * 2_000 + 1).collect();
    let spared = |field: &str, value: &dyn Fn(&i64) -> String| {
        let looks = absent
            .iter()
            .map(|id| found(&storage, &file, field, vec![value(id)]));
        let looks: Vec<_> = looks.collect();
        assert!(looks.iter().all(|(ids, _)| ids.is_empty()));
        looks.iter().filter(|(_, scanned)| *scanned == 0).count()
    };
    assert!(spared("id", &i64::to_string) > 30);
    assert!(spared("text", &text) > 30);
}
