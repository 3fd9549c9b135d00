//! One key's versions, as bytes that are put together by hand.

use super::*;
use crate::index::record::{Counts, StatsOf, put_location, put_long, put_stats, writer_schema};
use crate::metadata::ColumnStats;

fn schema() -> WireSchema {
    WireSchema::parse(writer_schema().as_bytes()).unwrap()
}

fn versions(base: &[&Bytes], changes: &[Option<&Bytes>]) -> Versions {
    Versions {
        key: Bytes::from_static(b"key"),
        base: base.iter().map(|version| (*version).clone()).collect(),
        changes: changes.iter().map(|change| change.cloned()).collect(),
    }
}

fn files(names: &[(&str, u64, bool)]) -> Bytes {
    let entry = |(name, size, deleted): &(&'static str, u64, bool)| {
        let (size, deleted) = (*size, *deleted);
        (*name, FileEntry { size, deleted })
    };
    // The names live as long as the test's text.
    let names: Vec<(&'static str, u64, bool)> = names
        .iter()
        .map(|(name, size, deleted)| {
            (
                &*Box::leak((*name).to_owned().into_boxed_str()),
                *size,
                *deleted,
            )
        })
        .collect();
    let names: Names<'_> = names.iter().map(entry).collect();
    let mut out = Vec::new();
    put_file_list(&names, &mut out);
    out.into()
}

/// A record of a file's statistics whose bounds are of one wrapper.
fn stats(branch: i64, min: Option<&[u8]>, max: Option<&[u8]>, nulls: u64) -> Bytes {
    let mut out = Vec::new();
    let counts = Counts {
        values: 10,
        nulls,
        size: 3,
        uncompressed: 4,
    };
    let put = |bound: Option<&[u8]>, out: &mut Vec<u8>| match bound {
        None => out.push(0),
        Some(bytes) => {
            put_long(branch, out);
            out.extend_from_slice(bytes);
        }
    };
    let bounds = |out: &mut Vec<u8>| {
        put(min, out);
        put(max, out);
    };
    put_stats(
        StatsOf::File,
        "f.parquet",
        "c",
        counts,
        bounds,
        |out| out.push(0),
        &mut out,
    );
    out.into()
}

fn decoded(bytes: &Bytes) -> ColumnStats {
    match Payload::of_record(&read_datum(&schema(), bytes).unwrap()) {
        Ok(Some(Payload::Stats(stats))) => *stats,
        other => panic!("{other:?}"),
    }
}

fn long(value: i64) -> Vec<u8> {
    let mut out = Vec::new();
    put_long(value, &mut out);
    out
}

fn prefixed(bytes: &[u8]) -> Vec<u8> {
    [long(bytes.len() as i64), bytes.to_vec()].concat()
}

#[test]
fn a_key_is_gone_after_its_delete_and_there_again_after_the_next_record() {
    let schema = schema();
    let of = |partition: &str| {
        let mut out = Vec::new();
        put_location(
            partition,
            "5fa27133-7a82-4124-9a6b-8a94c18ff8ef-0",
            1,
            &mut out,
        );
        Bytes::from(out)
    };
    let check = |base: &[&Bytes], changes: &[Option<&Bytes>], expected: &[&Bytes]| {
        let merged = merge(&schema, &versions(base, changes)).unwrap();
        assert_eq!(merged.iter().collect::<Vec<_>>(), expected);
    };
    let (a, b, c) = (&of("a"), &of("b"), &of("c"));
    check(&[], &[Some(a)], &[a]);
    check(&[a], &[None], &[]);
    check(&[a], &[None, Some(b)], &[b]);
    check(&[a], &[Some(b), None], &[]);
    // A key that was written twice keeps both places until it is written again.
    check(&[a, b], &[], &[a, b]);
    check(&[a, b], &[Some(c)], &[c]);
}

#[test]
fn lists_of_files_are_put_together_name_by_name() {
    let base = files(&[("a", 1, false), ("b", 2, false), ("c", 3, false)]);
    let changes = [
        files(&[("b", 0, true), ("c", 5, false)]),
        files(&[("d", 4, false), ("gone", 0, true)]),
    ];
    let merged = merge(
        &schema(),
        &versions(&[&base], &changes.each_ref().map(Some)),
    )
    .unwrap();
    let expected = files(&[
        ("a", 1, false),
        ("c", 5, false),
        ("d", 4, false),
        ("gone", 0, true),
    ]);
    assert_eq!(merged, [expected]);
}

#[test]
fn bounds_that_are_not_tight_are_widened_in_the_order_of_their_type_and_counts_added() {
    let schema = schema();
    let check = |branch: i64, low: &[u8], high: &[u8]| {
        let (low, high) = (Some(low), Some(high));
        let narrow = [stats(branch, low, low, 1), stats(branch, high, high, 2)];
        for [older, newer] in [[0, 1], [1, 0]] {
            let versions = versions(&[&narrow[older]], &[Some(&narrow[newer])]);
            let merged = merge(&schema, &versions).unwrap();
            let expected = decoded(&stats(branch, low, high, 3));
            let found = decoded(&merged[0]);
            assert_eq!(
                (found.min, found.max),
                (expected.min, expected.max),
                "{branch}"
            );
            let counts = (found.value_count, found.null_count, found.total_size);
            assert_eq!(counts, (Some(20), Some(3), 6));
        }
    };
    check(1, &[0], &[1]);
    check(2, &long(-3), &long(2));
    check(3, &long(i64::MIN), &long(5));
    check(4, &(-1.5_f32).to_le_bytes(), &0.25_f32.to_le_bytes());
    check(5, &(-0.0_f64).to_le_bytes(), &0.0_f64.to_le_bytes());
    // Java's bytes have signs: 0x80 is the least.
    check(6, &prefixed(&[0x80]), &prefixed(&[0x7f, 1]));
    // U+1F600 is a pair of surrogates, and those come before U+FFFD.
    check(
        7,
        &prefixed("\u{1f600}".as_bytes()),
        &prefixed("\u{fffd}".as_bytes()),
    );
    check(9, &prefixed(&[0xfe, 0]), &prefixed(&[0xff]));
    check(9, &prefixed(&[0x7f]), &prefixed(&[0, 0x80]));
    check(11, &long(1), &long(2));
}

#[test]
fn a_bound_that_is_null_gives_way_and_bounds_of_two_types_leave_no_statistics() {
    let schema = schema();
    let (one, two) = (long(1), long(2));
    let known = stats(2, Some(&one), Some(&two), 0);
    let none = stats(2, None, None, 10);
    let merged = merge(&schema, &versions(&[&none], &[Some(&known)])).unwrap();
    assert_eq!(decoded(&merged[0]).min, 1);
    let merged = merge(&schema, &versions(&[&known], &[Some(&none)])).unwrap();
    assert_eq!(decoded(&merged[0]).max, 2);
    let other = stats(3, Some(&one), Some(&two), 0);
    assert!(
        merge(&schema, &versions(&[&known], &[Some(&other)]))
            .unwrap()
            .is_empty()
    );
}

#[test]
fn bytes_that_are_no_record_are_corrupt() {
    let known = stats(2, Some(&long(1)), Some(&long(2)), 0);
    for cut in 0..known.len() {
        let versions = versions(&[&known], &[Some(&known.slice(..cut))]);
        let error = merge(&schema(), &versions).unwrap_err();
        assert_eq!(error.kind().code(), "CORRUPT", "{cut}");
    }
}
