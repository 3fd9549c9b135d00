//! Damaged page bodies end in a typed error or in rows, never in a panic: every encoding, codec and nesting, without
//! checksums and with right ones.
//!
//! `HUDI_DAMAGE_ROUNDS=2000` searches longer than every run does, and `HUDI_DAMAGE_SEED` elsewhere.

use std::panic::{AssertUnwindSafe, catch_unwind};

use arrow::array::BooleanArray;

use super::super::page_header::Header;
use super::files::{ROWS, Shape, old_types, rows};
use super::*;
use crate::support;

/// Numbers that look random and are the same in every run: SplitMix64.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((z ^ (z >> 31)) % end.max(1) as u64).unwrap()
    }
}

fn setting(name: &str, usual: u64) -> u64 {
    std::env::var(name).map_or(usual, |value| value.parse().unwrap())
}

/// One page: its column, the bytes of its header and those of its body.
struct Page {
    root: String,
    header: Range<usize>,
    body: Range<usize>,
    sum: Option<i32>,
}

fn pages(footer: &Footer, file: &[u8]) -> Vec<Page> {
    let mut pages = Vec::new();
    for chunk in footer
        .metadata()
        .row_groups()
        .iter()
        .flat_map(|group| group.columns())
    {
        let (start, length) = chunk.byte_range();
        let (mut at, end) = (start as usize, (start + length) as usize);
        while at < end {
            let header = Header::read(&file[at..]).unwrap();
            let body = at + header.length..at + header.length + header.compressed as usize;
            pages.push(Page {
                root: chunk.column_path().parts()[0].clone(),
                header: at..body.start,
                body: body.clone(),
                sum: header.checksum,
            });
            at = body.end;
        }
    }
    pages
}

/// Puts the right checksum for the page's body into its header; false when it has not the length of the old one.
fn seal(file: &mut [u8], page: &Page) -> bool {
    let Some(old) = page.sum.map(|sum| zigzag(sum.into())) else {
        return true;
    };
    let new = zigzag(
        crc32fast::hash(&file[page.body.clone()])
            .cast_signed()
            .into(),
    );
    let header = &mut file[page.header.clone()];
    let at = header
        .windows(old.len())
        .position(|bytes| bytes == old)
        .unwrap();
    let fits = new.len() == old.len();
    if fits {
        header[at..at + new.len()].copy_from_slice(&new);
    }
    fits
}

/// Reads one column in each way: whole, some rows of it, and filtered by itself.
fn read_damaged(file: &Bytes, root: &str, rows: usize, what: &str) {
    let outcome = catch_unwind(AssertUnwindSafe(|| -> Result<()> {
        let footer = footer_of(file)?;
        let columns = Columns::by_name(&footer, [root]);
        let whole = GroupRequest {
            group: 0,
            columns: columns.clone(),
            filter: None,
            selection: None,
            limit: None,
        };
        let read: usize = match read_group(&footer, whole.clone(), file, 0) {
            Ok(batches) => batches.iter().map(RecordBatch::num_rows).sum(),
            Err(error) => {
                typed(&error, what);
                rows
            }
        };
        assert_eq!(read, rows, "{what}: rows were lost");
        let some = [10..11, 350..400, 700..1400]
            .map(|range: Range<usize>| range.start.min(rows)..range.end.min(rows));
        let selected = GroupRequest {
            selection: Some(RowSelection::from_consecutive_ranges(
                some.into_iter(),
                rows,
            )),
            ..whole.clone()
        };
        let keep: RowFilterFn = Arc::new(|batch| {
            Ok((0..batch.num_rows())
                .map(|i| Some(i % 300 < 2))
                .collect::<BooleanArray>())
        });
        let filtered = GroupRequest {
            filter: Some((columns, keep)),
            ..whole
        };
        for request in [selected, filtered] {
            if let Err(error) = read_group(&footer, request, file, 0) {
                typed(&error, what);
            }
        }
        Ok(())
    }));
    match outcome {
        Ok(outcome) => outcome.unwrap(),
        Err(panic) => panic!("{what}: {:?}", panic.downcast_ref::<String>()),
    }
}

fn typed(error: &crate::Error, what: &str) {
    let typed = matches!(error.kind(), ErrorKind::Corrupt | ErrorKind::Unsupported);
    assert!(typed, "{what}: {error:?}");
    assert!(error.get("offset").is_some(), "{what}: {error:?}");
}

fn damage(name: &str, file: &Bytes, rounds: u64, numbers: &mut Numbers) {
    let footer = footer_of(file).unwrap();
    let rows = usize::try_from(footer.group_rows(0)).unwrap();
    let pages = pages(&footer, file);
    for _ in 0..rounds {
        let page = &pages[numbers.below(pages.len())];
        if page.body.is_empty() {
            continue;
        }
        let mut bytes = file.to_vec();
        // Levels and counts stand in front, so every second flip goes there.
        let near = page.body.len().min(24);
        let mut places = Vec::new();
        for _ in 0..=numbers.below(3) {
            let length = [page.body.len(), near][numbers.below(2)];
            let at = page.body.start + numbers.below(length);
            match numbers.below(4) {
                0 => bytes[at] = [0, 0xff, 0x7f, 0x80][numbers.below(4)],
                _ => bytes[at] ^= 1 << numbers.below(8),
            }
            places.push(at);
        }
        if seal(&mut bytes, page) {
            let what = format!("{name}, {} flipped at {places:?}", page.root);
            read_damaged(&bytes.into(), &page.root, rows, &what);
        }
    }
}

#[test]
fn flipped_bytes_of_pages_without_checksums_are_survived() {
    let rounds = setting("HUDI_DAMAGE_ROUNDS", 60);
    let mut numbers = Numbers(setting("HUDI_DAMAGE_SEED", 1));
    let batch = rows();
    for shape in Shape::all() {
        let file = written(&batch, shape.properties());
        damage(&format!("{shape:?}"), &file, rounds, &mut numbers);
        damage(
            &format!("old types, {shape:?}"),
            &old_types(shape),
            rounds / 4,
            &mut numbers,
        );
    }
}

#[test]
fn flipped_bytes_under_right_checksums_are_survived() {
    let rounds = setting("HUDI_DAMAGE_ROUNDS", 60);
    let mut numbers = Numbers(setting("HUDI_DAMAGE_SEED", 1) + 1);
    for table in [
        "v9_cow_all_types",
        "v9_cow_all_types_bulk",
        "v9_cow_all_types_old_lists",
        "v9_cow_zstd",
        "v9_cow_snappy",
        "v9_cow_uncompressed",
    ] {
        let mut files = support::files(table).into_iter();
        let base = |path: &str| path.ends_with(".parquet") && !path.contains(".hoodie/");
        let (path, bytes) = files.find(|(path, _)| base(path)).unwrap();
        damage(&path, &bytes.into(), rounds, &mut numbers);
    }
}

#[test]
fn files_of_every_shape_are_read_as_they_were_written() {
    let batch = rows();
    for shape in Shape::all() {
        let file = written(&batch, shape.properties());
        let read = read(&footer_of(&file).unwrap(), &file, 0).unwrap();
        assert_eq!(concat(&read).columns(), batch.columns(), "{shape:?}");
        let old = old_types(shape);
        let footer = footer_of(&old).unwrap();
        let read: usize = super::read(&footer, &old, 0)
            .unwrap()
            .iter()
            .map(RecordBatch::num_rows)
            .sum();
        assert_eq!(read, ROWS);
    }
}

#[test]
fn keys_and_values_of_a_map_that_disagree_are_an_error() {
    let shape = Shape::all().remove(5);
    assert!(!shape.dictionary && matches!(shape.codec, Compression::UNCOMPRESSED));
    let file = written(&rows(), shape.properties());
    let footer = footer_of(&file).unwrap();
    let found = pages(&footer, &file);
    // The first page of the values: the second column chunk of the map.
    let page = found
        .iter()
        .filter(|page| page.root == "pairs")
        .nth(5)
        .unwrap();
    let request = GroupRequest {
        group: 0,
        columns: Columns::by_name(&footer, ["pairs"]),
        filter: None,
        selection: None,
        limit: None,
    };
    let mut disagreed = 0;
    // Of two bits a definition level is here: what turns 1 into 2 makes an empty map one with an entry, which is null.
    for (at, swap) in page
        .body
        .clone()
        .take(200)
        .flat_map(|at| [(at, 3), (at, 12)])
    {
        let mut bytes = file.to_vec();
        bytes[at] ^= swap;
        if let Err(error) = read_group(&footer, request.clone(), &bytes.into(), 0) {
            typed(&error, "a map");
            disagreed += usize::from(error.message().contains("disagree"));
        }
    }
    assert!(disagreed > 0, "no flip made keys and values disagree");
}
