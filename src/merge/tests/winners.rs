//! Which version of a key wins.

use super::*;
use arrow::array::BooleanArray;

#[test]
fn rows_come_in_base_order_and_new_keys_after_them_in_log_order() {
    let base = [row("a", 1, "a"), row("b", 1, "b"), row("c", 1, "c")];
    let logs = [
        rows(&[row("z", 1, "z"), row("b", 1, "b2")]),
        rows(&[row("d", 1, "d"), row("z", 2, "z2")]),
    ];
    let expected = [
        row("a", 1, "a"),
        row("b", 1, "b2"),
        row("c", 1, "c"),
        row("z", 2, "z2"),
        row("d", 1, "d"),
    ];
    check(by_commit_time(), &base, &logs, &expected);
    check(by_event_time(), &base, &logs, &expected);
}

#[test]
fn base_batches_share_the_log_rows() {
    let base = [
        batch(&[row("a", 1, "a"), row("b", 1, "b")]),
        batch(&[row("c", 1, "c")]),
    ];
    let logs = [rows(&[
        row("c", 2, "c2"),
        row("a", 2, "a2"),
        row("n", 1, "n"),
    ])];
    let merged = merged(by_event_time(), &schema(), &base, &logs).unwrap();
    let expected = [
        row("a", 2, "a2"),
        row("b", 1, "b"),
        row("c", 2, "c2"),
        row("n", 1, "n"),
    ];
    assert_eq!(show(&merged), shown(&expected));
}

/// The winners stay in their blocks where most rows won, and are gathered where few did: with a block without rows between.
#[test]
fn rows_win_from_any_block_whether_few_of_its_rows_win_or_most() {
    let first = rows(&[row("e", 1, "e1"), row("b", 1, "b1"), row("a", 1, "a1")]);
    let deleted = deletes(&[("d", None)]);
    let last = rows(&[row("f", 1, "f1"), row("c", 1, "c1")]);
    let base = ["a", "b", "c", "d", "e"].map(|key| row(key, 0, "base"));
    let expected = [
        row("a", 1, "a1"),
        row("b", 1, "b1"),
        row("c", 1, "c1"),
        row("e", 1, "e1"),
        row("f", 1, "f1"),
    ];
    let most = [first.clone(), deleted.clone(), last.clone()];
    check(by_commit_time(), &base, &most, &expected);
    let few = [
        first.clone(),
        first.clone(),
        first,
        deleted,
        last.clone(),
        last,
    ];
    check(by_commit_time(), &base, &few, &expected);
}

#[test]
fn winners_stay_in_blocks_that_are_few_and_small_and_hold_little_else() {
    let in_blocks = |blocks: &[Vec<Row>]| {
        let rules = Arc::new(by_commit_time());
        let columns = MergeColumns::new(&rules, &schema(), &schema(), false).unwrap();
        let mut changes = Changes::new(&rules, columns);
        for rows in blocks {
            changes.push(&batch(rows), false, None).unwrap();
        }
        changes.finish().unwrap().winners().are_in_blocks()
    };
    let keys: Vec<&'static str> = (0..65)
        .map(|number| &*Box::leak(format!("key-{number}").into_boxed_str()))
        .collect();
    let single: Vec<Vec<Row>> = keys.iter().map(|key| vec![row(key, 1, "a")]).collect();
    assert!(in_blocks(&single[..64]));
    assert!(!in_blocks(&single));
    let four = [
        row("a", 1, "a"),
        row("b", 1, "b"),
        row("c", 1, "c"),
        row("d", 1, "d"),
    ];
    assert!(in_blocks(&[
        four.to_vec(),
        vec![row("e", 1, "e")],
        vec![row("a", 2, "a")]
    ]));
    assert!(!in_blocks(&[four.to_vec(), four[..2].to_vec()]));
    let large: &'static str = Box::leak("long ".repeat(4 << 20).into_boxed_str());
    assert!(!in_blocks(&[four.to_vec(), vec![row("e", 1, large)]]));
}

#[test]
fn a_mask_keeps_rows_of_the_base_and_of_the_logs() {
    let rules = Arc::new(by_commit_time());
    let log = batch(&[row("g", 2, "g2"), row("c", 2, "c2"), row("d", 2, "d2")]);
    let base = ["a", "b", "c", "d", "e", "f"].map(|key| row(key, 1, "base"));
    let schema = Arc::new(schema());
    for (mask, expected) in [
        (0b111111, "a b c2 d2 e f"),
        (0b101101, "a c2 d2 f"),
        (0b010010, "b e"),
        (0b001000, "d2"),
        (0, ""),
    ] {
        let columns = MergeColumns::new(&rules, &schema, &schema, false).unwrap();
        let mut changes = Changes::new(&rules, columns);
        changes.push(&log, false, None).unwrap();
        let mut merged = changes.finish().unwrap().merge(&batch(&base)).unwrap();
        let kept: BooleanArray = (0..6).map(|at| Some(mask >> at & 1 == 1)).collect();
        merged.retain(&kept).unwrap();
        let shown = show(&merged.into_batch(&[0, 1, 2], &schema).unwrap());
        let shown = shown.into_iter().map(|(key, _, text)| match text.unwrap() {
            text if text == "base" => key,
            text => text,
        });
        assert_eq!(shown.collect::<Vec<_>>().join(" "), expected);
    }
}

#[test]
fn by_commit_time_the_later_row_wins_whatever_its_ordering() {
    let logs = [
        rows(&[row("a", 9, "second")]),
        rows(&[row("a", 1, "third")]),
    ];
    check(
        by_commit_time(),
        &[row("a", 5, "first")],
        &logs,
        &[row("a", 1, "third")],
    );
}

#[test]
fn by_event_time_the_greater_ordering_wins_and_a_tie_goes_to_the_later() {
    let base = [
        row("older", 5, "base"),
        row("newer", 5, "base"),
        row("tie", 5, "base"),
        row("tie2", 1, "base"),
    ];
    let logs = [
        rows(&[
            row("older", 4, "log"),
            row("newer", 6, "log"),
            row("tie", 5, "log"),
            row("tie2", 3, "log"),
        ]),
        rows(&[row("newer", 5, "log2"), row("tie2", 3, "log2")]),
    ];
    let expected = [
        row("older", 5, "base"),
        row("newer", 6, "log"),
        row("tie", 5, "log"),
        row("tie2", 3, "log2"),
    ];
    check(by_event_time(), &base, &logs, &expected);
}

/// Case M1.
#[test]
fn a_delete_by_arrival_removes_what_is_older_and_nothing_newer() {
    let base = [row("a", 100, "a"), row("b", 2, "b")];
    let logs = [
        deletes(&[("a", None), ("b", None), ("c", None)]),
        rows(&[row("b", 3, "born again"), row("c", 1, "c")]),
    ];
    let expected = [row("b", 3, "born again"), row("c", 1, "c")];
    check(by_event_time(), &base, &logs, &expected);
    check(by_commit_time(), &base, &logs, &expected);
}

#[test]
fn a_delete_with_an_ordering_value_obeys_it() {
    let base = [
        row("older", 5, "stays"),
        row("tie", 5, "x"),
        row("newer", 5, "x"),
    ];
    let logs = [
        deletes(&[("older", Some(4)), ("tie", Some(5)), ("newer", Some(6))]),
        rows(&[
            row("newer", 5, "does not come back"),
            row("tie", 5, "comes back"),
        ]),
    ];
    let expected = [row("older", 5, "stays"), row("tie", 5, "comes back")];
    check(by_event_time(), &base, &logs, &expected);
    // Arrival alone decides in the other mode.
    let expected = [
        row("tie", 5, "comes back"),
        row("newer", 5, "does not come back"),
    ];
    check(by_commit_time(), &base, &logs, &expected);
}

#[test]
fn a_delete_by_arrival_is_not_replaced_by_one_with_a_value() {
    let logs = [
        deletes(&[("a", None)]),
        deletes(&[("a", Some(9))]),
        rows(&[row("a", 3, "new")]),
    ];
    check(
        by_event_time(),
        &[row("a", 2, "old")],
        &logs,
        &[row("a", 3, "new")],
    );
}

#[test]
fn version_6_forgets_the_value_of_a_delete_once_it_is_taken() {
    let rules = MergeRules {
        deletes: DeleteOrder::Forgotten,
        ..by_event_time()
    };
    let base = [
        row("gone", 5, "x"),
        row("again", 1, "x"),
        row("kept", 1, "x"),
    ];
    let logs = [
        rows(&[row("kept", 8, "held against it")]),
        deletes(&[("gone", Some(4)), ("again", Some(7)), ("kept", Some(7))]),
        rows(&[row("again", 3, "comes back")]),
    ];
    let expected = [
        row("again", 3, "comes back"),
        row("kept", 8, "held against it"),
    ];
    check(rules, &base, &logs, &expected);
}

#[test]
fn version_8_holds_deletes_to_their_value_where_arrival_decides_among_rows() {
    let rules = MergeRules {
        deletes: DeleteOrder::Always,
        ..MergeRules::later(vec!["ts".to_owned()])
    };
    let base = [
        row("kept", 5, "x"),
        row("gone", 5, "x"),
        row("row", 5, "x"),
        row("log", 1, "x"),
    ];
    let logs = [
        super::rows(&[row("row", 4, "later"), row("log", 8, "held against it")]),
        deletes(&[("kept", Some(4)), ("gone", Some(5)), ("log", Some(7))]),
    ];
    let expected = [
        row("kept", 5, "x"),
        row("row", 4, "later"),
        row("log", 8, "held against it"),
    ];
    check(rules, &base, &logs, &expected);
}

#[test]
fn version_6_picks_among_log_rows_and_overwrites_the_base() {
    let rules = MergeRules {
        over_base: Winner::Later,
        ..by_event_time()
    };
    let logs = [rows(&[row("a", 7, "log")]), rows(&[row("a", 6, "late")])];
    check(
        rules,
        &[row("a", 100, "base")],
        &logs,
        &[row("a", 7, "log")],
    );
}

/// Case V06.
#[test]
fn without_an_ordering_value_on_either_side_arrival_decides() {
    let base = [
        ("a", None, Some("base")),
        ("b", Some(5), Some("base")),
        ("c", None, Some("base")),
    ];
    let logs = [rows(&[
        ("a", Some(-3), Some("log")),
        ("b", None, Some("log")),
        ("c", None, Some("log")),
    ])];
    let expected = [
        ("a", Some(-3), Some("log")),
        ("b", None, Some("log")),
        ("c", None, Some("log")),
    ];
    check(by_event_time(), &base, &logs, &expected);
}

/// Case M9.
#[test]
fn a_row_is_a_delete_when_any_mark_says_so() {
    let mut fields = schema().fields().to_vec();
    fields.push(Arc::new(Field::new(
        "_hoodie_is_deleted",
        DataType::Boolean,
        true,
    )));
    fields.push(Arc::new(Field::new("Op", DataType::Utf8, true)));
    fields.push(Arc::new(Field::new(
        "_hoodie_operation",
        DataType::Utf8,
        true,
    )));
    let table = Schema::new(fields);
    let with = |rows: &[Row],
                flags: Vec<Option<bool>>,
                ops: Vec<Option<&str>>,
                changes: Vec<Option<&str>>| {
        let mut columns = batch(rows).columns().to_vec();
        columns.push(Arc::new(BooleanArray::from(flags)));
        columns.push(Arc::new(StringArray::from(ops)));
        columns.push(Arc::new(StringArray::from(changes)));
        RecordBatch::try_new(Arc::new(table.clone()), columns).unwrap()
    };
    let keys = [
        "flag",
        "no flag",
        "null flag",
        "op",
        "other op",
        "change",
        "before",
    ];
    let of = |ts: i64| keys.map(|key| row(key, ts, "x")).to_vec();
    let base = with(&of(1), vec![None; 7], vec![None; 7], vec![None; 7]);
    let log = with(
        &of(2),
        vec![Some(true), Some(false), None, None, None, None, None],
        vec![None, None, None, Some("D"), Some("d"), None, None],
        vec![None, None, None, None, None, Some("D"), Some("-U")],
    );
    let rules = MergeRules {
        delete_mark: Some(("Op".to_owned(), "D".to_owned())),
        ..by_event_time()
    };
    let blocks = [Block::Rows(log.clone())];
    let merged = merged(rules, &table, &[base], &blocks).unwrap();
    let left: Vec<_> = show(&merged).into_iter().map(|row| row.0).collect();
    assert_eq!(left, ["no flag", "null flag", "other op"]);
    // Without a base row a delete is nothing at all.
    let rules = MergeRules {
        delete_mark: Some(("Op".to_owned(), "D".to_owned())),
        ..by_commit_time()
    };
    let alone = super::merged(rules, &table, &[], &[Block::Rows(log)]).unwrap();
    assert_eq!(alone.num_rows(), 3);
}

#[test]
fn a_mark_of_delete_obeys_the_ordering_of_its_row() {
    let mut fields = schema().fields().to_vec();
    fields.push(Arc::new(Field::new(
        "_hoodie_is_deleted",
        DataType::Boolean,
        true,
    )));
    let table = Schema::new(fields);
    let with = |rows: &[Row], flag: bool| {
        let mut columns = batch(rows).columns().to_vec();
        columns.push(Arc::new(BooleanArray::from(vec![flag; rows.len()])));
        RecordBatch::try_new(Arc::new(table.clone()), columns).unwrap()
    };
    let base = with(
        &[row("a", 5, "a"), row("b", 5, "b"), row("c", 0, "c")],
        false,
    );
    let log = with(
        &[row("a", 4, "late"), row("b", 5, "tie"), row("c", 0, "zero")],
        true,
    );
    let merged = merged(by_event_time(), &table, &[base], &[Block::Rows(log)]).unwrap();
    assert_eq!(show(&merged), shown(&[row("a", 5, "a")]));
}

#[test]
fn only_the_first_of_base_rows_with_one_key_meets_the_log() {
    let base = [row("a", 1, "first"), row("a", 1, "second")];
    let logs = [rows(&[row("a", 2, "log")])];
    check(
        by_event_time(),
        &base,
        &logs,
        &[row("a", 2, "log"), row("a", 1, "second")],
    );
    check(
        by_event_time(),
        &base,
        &[deletes(&[("a", None)])],
        &[row("a", 1, "second")],
    );
}

#[test]
fn a_row_without_a_key_is_corrupt() {
    let keys: ArrayRef = Arc::new(StringArray::from(vec![None::<&str>]));
    let mut columns = batch(&[row("a", 1, "a")]).columns().to_vec();
    columns[0] = keys;
    let keyless = RecordBatch::try_new(Arc::new(schema()), columns).unwrap();
    let kind = |base: &[RecordBatch], blocks: &[Block]| {
        merged(by_event_time(), &schema(), base, blocks)
            .unwrap_err()
            .kind()
    };
    use crate::error::ErrorKind::Corrupt;
    assert_eq!(kind(&[], &[Block::Rows(keyless.clone())]), Corrupt);
    assert_eq!(kind(&[keyless], &[rows(&[row("a", 1, "a")])]), Corrupt);
}

#[test]
fn an_ordering_column_that_the_table_lacks_is_an_error_and_not_another_order() {
    let rules = MergeRules::later(vec!["ts,seq".to_owned()]).with_winner(Winner::Greater);
    let error = merged(rules.clone(), &schema(), &[], &[]).unwrap_err();
    assert_eq!(error.kind(), crate::error::ErrorKind::Schema);
    assert_eq!(error.get("field"), Some("ts,seq"));
    let old = MergeRules {
        may_lack_ordering: true,
        ..rules
    };
    let logs = [rows(&[row("a", 1, "later")])];
    check(old, &[row("a", 9, "base")], &logs, &[row("a", 1, "later")]);
}
