//! Some rows of a row group: by selection, by filter, by limit, with and without a page index.

use arrow::array::{AsArray, BooleanArray};
use arrow::compute::filter_record_batch;
use arrow::datatypes::Int64Type;

use super::files::{ROWS, Shape, rows};
use super::*;

/// The file's footer with its page index.
pub(super) fn with_index(footer: &Footer, file: &Bytes) -> Footer {
    let columns = all_columns(footer);
    let pending = PendingIndex::new(footer, &[0], &[], &[&columns])
        .unwrap()
        .unwrap();
    let bytes = slice(file, &pending.range(), 0);
    pending.read(footer, bytes).unwrap()
}

/// Which rows a test wants.
type Wanted = fn(usize) -> bool;

const WANTED: [(&str, Wanted); 7] = [
    ("all", |_| true),
    ("none", |_| false),
    ("the first", |i| i == 0),
    ("the last page", |i| i > ROWS - 40),
    ("every second", |i| i % 2 == 0),
    ("some far apart", |i| i % 301 == 7),
    ("blocks", |i| i / 170 % 2 == 1),
];

fn mask(wanted: Wanted) -> BooleanArray {
    (0..ROWS).map(|i| Some(wanted(i))).collect()
}

fn expected(batch: &RecordBatch, mask: &BooleanArray, limit: usize) -> RecordBatch {
    let rows = filter_record_batch(batch, mask).unwrap();
    rows.slice(0, rows.num_rows().min(limit))
}

fn columns_of(batch: &RecordBatch, names: &[&str]) -> RecordBatch {
    let schema = batch.schema();
    let places = names.iter().map(|name| schema.index_of(name).unwrap());
    let mut places: Vec<usize> = places.collect();
    places.sort_unstable();
    batch.project(&places).unwrap()
}

fn check(batches: &[RecordBatch], expected: &RecordBatch, what: &str) {
    let rows: usize = batches.iter().map(RecordBatch::num_rows).sum();
    assert_eq!(rows, expected.num_rows(), "{what}");
    if rows > 0 {
        assert_eq!(concat(batches).columns(), expected.columns(), "{what}");
    }
}

fn files() -> Vec<(String, Bytes, Footer)> {
    let shapes = Shape::all().into_iter();
    let shapes = shapes.filter(|shape| matches!(shape.codec, Compression::SNAPPY));
    let mut files = Vec::new();
    for shape in shapes {
        let file = written(&rows(), shape.properties());
        let footer = footer_of(&file).unwrap();
        let indexed = with_index(&footer, &file);
        files.push((format!("{shape:?}"), file.clone(), footer));
        files.push((format!("indexed, {shape:?}"), file, indexed));
    }
    files
}

#[test]
fn selected_rows_are_given_up_to_the_limit() {
    let batch = rows();
    for (name, file, footer) in files() {
        for (what, wanted) in WANTED {
            let mask = mask(wanted);
            let ranges = mask.values().set_slices().map(|(start, end)| start..end);
            let selection = RowSelection::from_consecutive_ranges(ranges, ROWS);
            for limit in [None, Some(33)] {
                let request = GroupRequest {
                    group: 0,
                    columns: all_columns(&footer),
                    filter: None,
                    selection: Some(selection.clone()),
                    limit,
                };
                let read = read_group(&footer, request, &file, 0).unwrap();
                let expected = expected(&batch, &mask, limit.unwrap_or(ROWS));
                check(&read, &expected, &format!("{name}: {what}, {limit:?}"));
            }
        }
    }
}

#[test]
fn filtered_rows_are_given_whichever_columns_decide() {
    let batch = rows();
    let deciding: [&[&str]; 2] = [&["id"], &["id", "text", "pairs"]];
    let outputs: [&[&str]; 4] = [
        &["id"],
        &["note", "numbers"],
        &["id", "text", "pairs", "inner", "money"],
        &[],
    ];
    let halves = RowSelection::from_consecutive_ranges([200..500, 600..ROWS].into_iter(), ROWS);
    for (name, file, footer) in files() {
        for (what, wanted) in WANTED {
            let filter: RowFilterFn = Arc::new(move |batch| {
                let ids = batch.column(0).as_primitive::<Int64Type>();
                // A null keeps no row.
                Ok(ids
                    .values()
                    .iter()
                    .map(|id| wanted(*id as usize).then_some(true))
                    .collect())
            });
            for (by, output) in deciding
                .iter()
                .flat_map(|by| outputs.map(|output| (by, output)))
            {
                for (limit, selection) in
                    [(None, None), (Some(33), None), (None, Some(halves.clone()))]
                {
                    let within = |i: usize| {
                        selection.is_none()
                            || ((200..ROWS).contains(&i) && !(500..600).contains(&i))
                    };
                    let mask: BooleanArray =
                        (0..ROWS).map(|i| Some(wanted(i) && within(i))).collect();
                    let what = format!("{name}: {what} by {by:?} for {output:?}, {limit:?}");
                    let by = Columns::by_name(&footer, by.iter().copied());
                    let request = GroupRequest {
                        group: 0,
                        columns: Columns::by_name(&footer, output.iter().copied()),
                        filter: Some((by, Arc::clone(&filter))),
                        selection: selection.clone(),
                        limit,
                    };
                    let read = read_group(&footer, request, &file, 0).unwrap();
                    let expected =
                        expected(&columns_of(&batch, output), &mask, limit.unwrap_or(ROWS));
                    check(&read, &expected, &what);
                }
            }
        }
    }
}

#[test]
fn only_pages_with_wanted_rows_are_asked_for() {
    let (_, file, footer) = files().remove(1);
    let request = |rows: Range<usize>| GroupRequest {
        group: 0,
        columns: Columns::by_name(&footer, ["double"]),
        filter: None,
        selection: Some(RowSelection::from_consecutive_ranges(
            [rows].into_iter(),
            ROWS,
        )),
        limit: None,
    };
    // Pages begin every 300 rows or a little later; the dictionary stands before them.
    let planned = |rows| {
        GroupReader::new(&footer, request(rows))
            .unwrap()
            .planned()
            .len()
    };
    assert_eq!(planned(0..ROWS), 1 + 5);
    assert_eq!(planned(700..701), 1 + 1);
    let batches = read_group(&footer, request(700..701), &file, 0).unwrap();
    check(
        &batches,
        &columns_of(&rows(), &["double"]).slice(700, 1),
        "one row",
    );
}
