//! Bounds of slices from statistics, made up so that each rule shows.

use arrow::datatypes::Field;
use serde_json::{Value, json};

use super::*;
use crate::model::{BaseFile, BaseFileName, InstantTime, LogFile, LogFileName};

const BASE: &str = "f-0_0-1-2_20260101000000000.parquet";
const LOG: &str = ".f-0_20260102000000000.log.1_0-3-4";

fn slice(logs: bool) -> FileSlice {
    let base = BaseFile {
        name: BaseFileName::parse(BASE).unwrap(),
        path: format!("p=1/{BASE}"),
        size: 1,
    };
    let log = LogFile {
        name: LogFileName::parse(LOG).unwrap(),
        path: format!("p=1/{LOG}"),
        size: 1,
    };
    FileSlice {
        partition: PartitionPath::new("p=1"),
        file_id: "f-0".into(),
        instant: InstantTime::parse("20260101000000000").unwrap(),
        base: Some(base),
        logs: if logs { vec![log] } else { Vec::new() },
    }
}

/// `[min, max, nulls, rows, ordinal]` of the column c.
fn entry(name: &str, stats: Value) -> ColumnStats {
    ColumnStats {
        file_name: name.into(),
        column: "c".into(),
        min: stats[0].clone(),
        max: stats[1].clone(),
        null_count: stats[2].as_u64(),
        value_count: stats[3].as_u64(),
        total_size: 0,
        total_uncompressed_size: 0,
        tight: false,
        value_type: stats[4]
            .as_u64()
            .map(|ordinal| (u32::try_from(ordinal).unwrap(), None)),
    }
}

fn check(
    data_type: DataType,
    base: Option<Value>,
    log: Option<Option<Value>>,
    expected: Option<Value>,
) {
    let slice = slice(log.is_some());
    let part = partition_part(&slice.partition);
    let mut stats = StoredStats::default();
    for (name, known) in [(BASE, base.clone()), (LOG, log.clone().flatten())] {
        if let Some(known) = known {
            let of_file = [("c".to_owned(), entry(name, known))].into();
            stats.0.insert((part.clone(), name.to_owned()), of_file);
        }
    }
    let schema = Schema::new(vec![Field::new("c", data_type, true)]);
    let found = stats.slice(&slice, &schema).column(&["c".to_owned()]);
    let show = |bound: Option<Scalar>| match bound {
        None => Value::Null,
        Some(Scalar::Int(value)) => json!(value),
        Some(Scalar::Bytes(text)) => json!(String::from_utf8(text).unwrap()),
        Some(other) => panic!("{other:?}"),
    };
    let found = found.map(|b| json!([show(b.min), show(b.max), b.null_count, b.value_count]));
    assert_eq!(found, expected, "{base:?} {log:?}");
}

#[test]
fn a_slice_is_as_wide_as_its_base_file_and_logs_together() {
    let int = || DataType::Int32;
    check(
        int(),
        Some(json!([1, 5, 0, 10, 3])),
        None,
        Some(json!([1, 5, 0, 10])),
    );
    check(
        int(),
        Some(json!([1, 5, 0, 10, 3])),
        Some(Some(json!([4, 9, 1, 2, 3]))),
        Some(json!([1, 9, 1, 12])),
    );
    // A log of deletes alone adds nothing.
    check(
        int(),
        Some(json!([1, 5, 0, 10, 3])),
        Some(Some(json!([null, null, 0, 0, 1]))),
        Some(json!([1, 5, 0, 10])),
    );
}

#[test]
fn a_file_without_statistics_leaves_nothing_known() {
    let int = || DataType::Int32;
    check(int(), None, None, None);
    check(int(), Some(json!([1, 5, 0, 10, 3])), Some(None), None);
    check(int(), None, Some(Some(json!([1, 5, 0, 10, 3]))), None);
    // Bounds of one file alone bound neither side.
    check(
        int(),
        Some(json!([1, 5, 0, 10, 3])),
        Some(Some(json!([null, null, 0, 2, 3]))),
        Some(json!([null, null, 0, 12])),
    );
}

#[test]
fn zeros_of_a_column_without_values_are_no_bounds() {
    let int = || DataType::Int32;
    check(
        int(),
        Some(json!([0, 0, 7, 7, 3])),
        None,
        Some(json!([null, null, 7, 7])),
    );
    check(
        int(),
        Some(json!([0, 0, 7, 7, 3])),
        Some(Some(json!([4, 9, 0, 2, 3]))),
        Some(json!([4, 9, 7, 9])),
    );
}

#[test]
fn floats_are_not_believed() {
    check(
        DataType::Float64,
        Some(json!([0.0, 0.0, 0, 10, 6])),
        None,
        None,
    );
    check(
        DataType::Float32,
        Some(json!([1.0, 2.0, 0, 10, 5])),
        None,
        None,
    );
}

#[test]
fn text_that_java_orders_otherwise_bounds_nothing() {
    let text = || DataType::Utf8;
    check(
        text(),
        Some(json!(["a", "é", 0, 2, 7])),
        None,
        Some(json!(["a", "é", 0, 2])),
    );
    // U+FFFD sorts behind U+1F600 by UTF-16, and before it by bytes.
    check(
        text(),
        Some(json!(["a", "\u{fffd}", 0, 2, 7])),
        None,
        Some(json!(["a", null, 0, 2])),
    );
    check(
        text(),
        Some(json!(["\u{1f600}", "\u{1f601}", 0, 2, 7])),
        None,
        Some(json!([null, "\u{1f601}", 0, 2])),
    );
}
