//! Versions filled from those they win over. Case M7.

use std::collections::HashMap;

use super::*;
use crate::error::ErrorKind;
use crate::schema::DEFAULT_KEY;

fn with(fill: Fill, rules: MergeRules) -> MergeRules {
    MergeRules {
        fill: Some(fill),
        ..rules
    }
}

/// A row with one more column, `n`.
type Wide = (&'static str, Option<i64>, Option<&'static str>, Option<i64>);

/// The table of such rows.
fn wide() -> Schema {
    let mut fields = schema().fields().to_vec();
    fields.push(Arc::new(Field::new("n", DataType::Int64, true)));
    Schema::new(fields)
}

fn wide_batch(rows: &[Wide]) -> RecordBatch {
    let narrow: Vec<Row> = rows.iter().map(|row| (row.0, row.1, row.2)).collect();
    let mut columns = batch(&narrow).columns().to_vec();
    columns.push(Arc::new(Int64Array::from_iter(
        rows.iter().map(|row| row.3),
    )));
    RecordBatch::try_new(Arc::new(wide()), columns).unwrap()
}

fn numbers(batch: &RecordBatch) -> Vec<Option<i64>> {
    let numbers = batch
        .column_by_name("n")
        .unwrap()
        .as_primitive::<Int64Type>();
    numbers.iter().collect()
}

#[test]
fn nulls_keep_the_older_value_by_commit_time() {
    let base = [wide_batch(&[
        ("a", Some(9), Some("base"), Some(1)),
        ("b", Some(9), Some("base"), None),
    ])];
    let logs = [
        Block::Rows(wide_batch(&[("a", Some(2), None, Some(5))])),
        Block::Rows(wide_batch(&[
            ("a", Some(1), Some("log2"), None),
            ("b", Some(1), None, Some(7)),
        ])),
    ];
    let rules = with(Fill::Defaults, by_commit_time());
    let merged = merged(rules, &wide(), &base, &logs).unwrap();
    assert_eq!(
        show(&merged),
        shown(&[row("a", 1, "log2"), row("b", 1, "base")])
    );
    assert_eq!(numbers(&merged), [Some(5), Some(7)]);
}

/// Log rows fill each other before the base row comes, so a value older than the base row's may stay.
#[test]
fn by_event_time_log_rows_are_filled_first_and_the_base_row_last() {
    let base = [wide_batch(&[
        ("a", Some(5), Some("base"), Some(50)),
        ("b", Some(9), None, Some(90)),
    ])];
    let logs = [
        Block::Rows(wide_batch(&[
            ("a", Some(3), Some("three"), Some(30)),
            ("b", Some(3), Some("three"), Some(30)),
        ])),
        Block::Rows(wide_batch(&[
            ("a", Some(6), Some("six"), None),
            ("b", Some(2), Some("two"), None),
        ])),
    ];
    let rules = with(Fill::Defaults, by_event_time());
    let merged = merged(rules, &wide(), &base, &logs).unwrap();
    // a: 6 wins and is filled with 30 of the log row older than the base row. b: the base row wins and is filled.
    assert_eq!(
        show(&merged),
        shown(&[row("a", 6, "six"), row("b", 9, "three")])
    );
    assert_eq!(numbers(&merged), [Some(30), Some(90)]);
}

#[test]
fn a_delete_fills_nothing_and_is_filled_by_nothing() {
    let base = [wide_batch(&[
        ("a", Some(1), Some("base"), Some(1)),
        ("b", Some(1), Some("base"), Some(1)),
    ])];
    let logs = [
        deletes(&[("a", None), ("b", None)]),
        Block::Rows(wide_batch(&[("a", Some(2), None, Some(2))])),
    ];
    let rules = with(Fill::Defaults, by_event_time());
    let merged = merged(rules, &wide(), &base, &logs).unwrap();
    // The delete is gone from the logs, so the base row fills: Hudi keeps one version a key.
    assert_eq!(show(&merged), shown(&[row("a", 2, "base")]));
}

#[test]
fn a_declared_default_counts_as_not_given_and_null_then_as_given() {
    let field = Field::new("n", DataType::Int64, true);
    let metadata = HashMap::from([(DEFAULT_KEY.to_owned(), "7".to_owned())]);
    let mut fields = schema().fields().to_vec();
    fields.push(Arc::new(field.with_metadata(metadata)));
    let table = Schema::new(fields);
    let of = |rows: &[Wide]| {
        let batch = wide_batch(rows);
        RecordBatch::try_new(Arc::new(table.clone()), batch.columns().to_vec()).unwrap()
    };
    let base = of(&[
        ("a", Some(1), Some("a"), Some(1)),
        ("b", Some(1), Some("b"), Some(1)),
    ]);
    let log = of(&[
        ("a", Some(2), Some("a"), Some(7)),
        ("b", Some(2), Some("b"), None),
    ]);
    let rules = with(Fill::Defaults, by_commit_time());
    let merged = merged(rules, &table, &[base], &[Block::Rows(log)]).unwrap();
    assert_eq!(numbers(&merged), [Some(1), None]);
}

#[test]
fn unavailable_text_keeps_the_older_value_and_null_does_not() {
    let rules = with(Fill::Unavailable("__gone__".to_owned()), by_event_time());
    let base = [
        row("a", 1, "base"),
        row("b", 1, "base"),
        row("c", 9, "__gone__"),
    ];
    let logs = [rows(&[
        row("a", 2, "__gone__"),
        ("b", Some(2), None),
        row("c", 2, "log"),
    ])];
    check(
        rules,
        &base,
        &logs,
        &[
            row("a", 2, "base"),
            ("b", Some(2), None),
            row("c", 9, "log"),
        ],
    );
}

#[test]
fn filling_over_the_base_alone_leaves_log_rows_whole() {
    let rules = MergeRules {
        fill_in_logs: false,
        ..with(Fill::Defaults, by_commit_time())
    };
    let logs = [rows(&[row("a", 1, "one")]), rows(&[("a", Some(2), None)])];
    check(rules, &[row("a", 0, "base")], &logs, &[row("a", 2, "base")]);
}

#[test]
fn meta_fields_are_of_the_later_version_where_the_class_says_so() {
    let mut fields = schema().fields().to_vec();
    fields.push(Arc::new(Field::new(
        "_hoodie_commit_time",
        DataType::Utf8,
        true,
    )));
    let table = Schema::new(fields);
    let of = |rows: &[Row], time: &str| {
        let mut columns = batch(rows).columns().to_vec();
        columns.push(Arc::new(StringArray::from(vec![time; rows.len()])));
        RecordBatch::try_new(Arc::new(table.clone()), columns).unwrap()
    };
    let rules = MergeRules {
        meta_of_later: true,
        ..with(Fill::Defaults, by_event_time())
    };
    let base = of(&[row("a", 9, "base"), row("b", 1, "base")], "t1");
    let first = of(&[row("a", 5, "log"), row("b", 5, "log")], "t2");
    let second = of(&[row("b", 4, "late")], "t3");
    let merged = merged(
        rules,
        &table,
        &[base],
        &[Block::Rows(first), Block::Rows(second)],
    )
    .unwrap();
    assert_eq!(
        show(&merged),
        shown(&[row("a", 9, "base"), row("b", 5, "log")])
    );
    let times: Vec<_> = merged
        .column(3)
        .as_string::<i32>()
        .iter()
        .flatten()
        .collect();
    assert_eq!(times, ["t2", "t3"]);
}

fn partial(names: &[&str], rows: &[Wide]) -> Block {
    let whole = wide_batch(rows);
    let places: Vec<usize> = names
        .iter()
        .map(|name| whole.schema().index_of(name).unwrap())
        .collect();
    Block::Partial(whole.project(&places).unwrap())
}

#[test]
fn partial_updates_change_only_the_columns_they_have() {
    let base = [wide_batch(&[
        ("a", Some(1), Some("base"), Some(1)),
        ("b", Some(1), Some("base"), Some(1)),
    ])];
    let logs = [
        partial(
            &[RECORD_KEY, "ts", "n"],
            &[("a", Some(2), None, None), ("b", Some(2), None, Some(22))],
        ),
        partial(
            &[RECORD_KEY, "ts", "text"],
            &[("b", Some(3), Some("three"), None)],
        ),
    ];
    let merged = merged(by_event_time(), &wide(), &base, &logs).unwrap();
    assert_eq!(
        show(&merged),
        shown(&[row("a", 2, "base"), row("b", 3, "three")])
    );
    assert_eq!(numbers(&merged), [None, Some(22)]);
}

/// As Spark: see the table `v9_mor_partial_update`.
#[test]
fn a_partial_update_with_a_lower_ordering_fills_under_the_newer_one() {
    let base = [wide_batch(&[("a", Some(1), Some("base"), Some(1))])];
    let logs = [
        partial(
            &[RECORD_KEY, "ts", "text"],
            &[("a", Some(5), Some("five"), None)],
        ),
        partial(
            &[RECORD_KEY, "ts", "text", "n"],
            &[("a", Some(3), Some("three"), Some(33))],
        ),
    ];
    let merged = merged(by_event_time(), &wide(), &base, &logs).unwrap();
    assert_eq!(show(&merged), shown(&[row("a", 5, "five")]));
    assert_eq!(numbers(&merged), [Some(33)]);
}

#[test]
fn whole_rows_beside_partial_updates_replace_all_columns() {
    let base = [wide_batch(&[("a", Some(1), Some("base"), Some(1))])];
    let logs = [
        partial(&[RECORD_KEY, "ts", "n"], &[("a", Some(2), None, Some(2))]),
        Block::Rows(wide_batch(&[("a", Some(3), None, Some(3))])),
        partial(&[RECORD_KEY, "ts", "n"], &[("a", Some(4), None, Some(4))]),
    ];
    let merged = merged(by_event_time(), &wide(), &base, &logs).unwrap();
    assert_eq!(show(&merged), shown(&[("a", Some(4), None)]));
    assert_eq!(numbers(&merged), [Some(4)]);
}

#[test]
fn a_partial_update_that_does_not_set_the_ordering_keeps_it() {
    let base = [wide_batch(&[("a", Some(1), Some("base"), Some(1))])];
    let logs = [
        partial(&[RECORD_KEY, "ts", "n"], &[("a", Some(7), None, Some(7))]),
        partial(&[RECORD_KEY, "text"], &[("a", None, Some("later"), None)]),
        partial(
            &[RECORD_KEY, "ts", "text"],
            &[("a", Some(6), Some("late"), None)],
        ),
    ];
    let merged = merged(by_event_time(), &wide(), &base, &logs).unwrap();
    assert_eq!(show(&merged), shown(&[row("a", 7, "later")]));
}

#[test]
fn a_partial_update_of_nothing_has_nulls_where_it_sets_nothing() {
    let logs = [partial(
        &[RECORD_KEY, "ts", "n"],
        &[("a", Some(2), None, Some(2))],
    )];
    let merged = merged(by_event_time(), &wide(), &[], &logs).unwrap();
    assert_eq!(show(&merged), shown(&[("a", Some(2), None)]));
}

#[test]
fn partial_blocks_in_a_table_that_fills_are_refused() {
    let rules = with(Fill::Defaults, by_event_time());
    let logs = [partial(
        &[RECORD_KEY, "ts", "n"],
        &[("a", Some(2), None, Some(2))],
    )];
    let error = merged(rules, &wide(), &[], &logs).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
}
