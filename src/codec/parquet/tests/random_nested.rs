//! Schemas, values and cuts of pages at random, held against the `parquet` crate's own reader.
//!
//! Pages are written here, since the crate's writer never parts a row: in version 1 a page may end anywhere, a dictionary may
//! be given up in the middle of a chunk, and levels stand in runs of both kinds.

use std::sync::Arc;

use arrow::array::Array;
use parquet::basic::{Repetition, Type as Physical};
use parquet::column::writer::ColumnCloseResult;
use parquet::file::metadata::OffsetIndexBuilder;
use parquet::file::properties::EnabledStatistics;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use parquet::schema::types::{ColumnDescPtr, SchemaDescriptor, Type};

use super::oracle::{Numbers, by_the_crate};
use super::picked::with_index;
use super::*;

/// A field of a message, and what is in it.
fn field(numbers: &mut Numbers, name: &str, repetition: &str, depth: u64, text: &mut String) {
    let kind = match depth {
        0 => 0,
        _ => numbers.below(9),
    };
    let either = |numbers: &mut Numbers| ["optional", "required"][numbers.below(2) as usize];
    let group = |text: &mut String, of: &str| {
        text.push_str(&format!("{repetition} group {name} {of} {{\n"));
    };
    match kind {
        0..3 => {
            let (leaf, of) = [
                ("int32", ""),
                ("int64", ""),
                ("boolean", ""),
                ("double", ""),
                ("binary", "(UTF8)"),
                ("int96", ""),
                ("fixed_len_byte_array(5)", "(DECIMAL(11, 2))"),
                ("int64", "(TIMESTAMP(MICROS, true))"),
            ][numbers.below(8) as usize];
            text.push_str(&format!("{repetition} {leaf} {name} {of};\n"));
            return;
        }
        3..5 => {
            group(text, "");
            for at in 0..=numbers.below(3) {
                let repetition = match numbers.below(7) {
                    0 => "repeated",
                    _ => either(numbers),
                };
                field(numbers, &format!("f{at}"), repetition, depth - 1, text);
            }
        }
        // A map cannot be repeated, nor can a list of three levels.
        _ if repetition == "repeated" => {
            group(text, "");
            let repetition = either(numbers);
            field(numbers, "x", repetition, depth - 1, text);
        }
        5 => {
            group(text, "(MAP)");
            let entries = ["key_value", "map"][numbers.below(2) as usize];
            let of = ["", "(MAP_KEY_VALUE)"][numbers.below(2) as usize];
            text.push_str(&format!("repeated group {entries} {of} {{\n"));
            field(numbers, "key", "required", 0, text);
            let repetition = either(numbers);
            field(numbers, "value", repetition, depth - 1, text);
            text.push_str("}\n");
        }
        6 => {
            // Two levels: the repeated field is the element.
            group(text, "(LIST)");
            let element = ["array", &format!("{name}_tuple")][numbers.below(2) as usize].to_owned();
            field(numbers, &element, "repeated", depth - 1, text);
        }
        _ => {
            group(text, "(LIST)");
            let names = [("list", "element"), ("bag", "array_element")];
            let (list, element) = names[numbers.below(2) as usize];
            text.push_str(&format!("repeated group {list} {{\n"));
            let repetition = either(numbers);
            field(numbers, element, repetition, depth - 1, text);
            text.push_str("}\n");
        }
    }
    text.push_str("}\n");
}

/// A struct with everything required in it is a trap: where it is missing, so is all that is in it.
fn message(numbers: &mut Numbers) -> String {
    let mut text = "message m {\nrequired int64 id;\n".to_owned();
    for at in 0..3 {
        let repetition = ["optional", "required", "optional", "repeated"];
        let repetition = repetition[numbers.below(4) as usize];
        field(numbers, &format!("c{at}"), repetition, 4, &mut text);
    }
    text + "}"
}

/// The levels of one row, alike for leaves that share nodes: `(repetition, definition)`.
fn levels(
    node: &Type,
    leaf: &[String],
    [repetition, definition, lists]: [u8; 3],
    seed: u64,
    out: &mut Vec<(u8, u8)>,
) {
    let Some((name, deeper)) = leaf.split_first() else {
        out.push((repetition, definition));
        return;
    };
    let fields = node.get_fields();
    let node = fields.iter().find(|field| field.name() == name).unwrap();
    let seed = name.bytes().fold(seed, |sum, byte| {
        sum.wrapping_mul(1_099_511_628_211) ^ u64::from(byte)
    });
    let mut numbers = Numbers(seed);
    numbers.below(2);
    match node.get_basic_info().repetition() {
        Repetition::OPTIONAL if numbers.below(4) == 0 => out.push((repetition, definition)),
        Repetition::OPTIONAL => {
            levels(node, deeper, [repetition, definition + 1, lists], seed, out)
        }
        Repetition::REQUIRED => levels(node, deeper, [repetition, definition, lists], seed, out),
        Repetition::REPEATED => {
            let most = if numbers.below(40) == 0 { 30 } else { 4 };
            let count = numbers.below(most);
            if count == 0 {
                out.push((repetition, definition));
            }
            for element in 0..count {
                let again = if element == 0 { repetition } else { lists + 1 };
                let seed = seed.wrapping_mul(31) + element + 1;
                let at = [again, definition + 1, lists + 1];
                levels(node, deeper, at, seed, out);
            }
        }
    }
}

/// Numbers of `width` bits in runs of both kinds.
fn hybrid(values: &[u32], width: u32, numbers: &mut Numbers) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut left = values;
    while let Some(first) = left.first() {
        let same = left.iter().take_while(|value| *value == first).count();
        if same >= 8 || (same == left.len() && numbers.below(2) == 0) {
            let taken = 1 + numbers.below(same as u64) as usize;
            varint((taken as u64) << 1, &mut bytes);
            bytes.extend_from_slice(&first.to_le_bytes()[..width.div_ceil(8) as usize]);
            left = &left[taken..];
            continue;
        }
        let groups = 1 + numbers.below(3) as usize;
        let groups = groups.min(left.len().div_ceil(8));
        let whole = groups * 8 <= left.len();
        // Zeros are put only behind the last value.
        let groups = if whole {
            groups
        } else {
            left.len().div_ceil(8)
        };
        varint((groups as u64) << 1 | 1, &mut bytes);
        let (taken, rest) = left.split_at(left.len().min(groups * 8));
        for eight in taken.chunks(8) {
            let bits = eight
                .iter()
                .rev()
                .fold(0_u128, |bits, value| bits << width | u128::from(*value));
            bytes.extend_from_slice(&bits.to_le_bytes()[..width as usize]);
        }
        left = rest;
    }
    bytes
}

fn varint(value: u64, bytes: &mut Vec<u8>) {
    let mut left = value;
    while left >= 0x80 {
        bytes.push((left & 0x7f) as u8 | 0x80);
        left >>= 7;
    }
    bytes.push(left as u8);
}

/// Values as PLAIN has them, one by one; truth values are a byte each.
fn values(column: &ColumnDescPtr, count: usize, numbers: &mut Numbers) -> Vec<Vec<u8>> {
    // In some chunks a value mostly comes again, so that places stand in runs too.
    let change = if numbers.below(2) == 0 { 1 } else { 15 };
    let mut n = 0;
    let mut one = || {
        if numbers.below(change) == 0 {
            n = numbers.below(40);
        }
        let wide = n.wrapping_mul(0x9e37_79b9_7f4a_7c15).to_le_bytes();
        match column.physical_type() {
            Physical::BOOLEAN => vec![u8::from(n.is_multiple_of(2))],
            Physical::INT32 => wide[..4].to_vec(),
            Physical::INT64 => wide.to_vec(),
            Physical::DOUBLE => (n as f64 / 3.0).to_le_bytes().to_vec(),
            Physical::INT96 => [
                &(n << 30).to_le_bytes()[..],
                &(2_440_000 + n as u32).to_le_bytes(),
            ]
            .concat(),
            Physical::FIXED_LEN_BYTE_ARRAY => [&[(n % 2) as u8 * 0xff], &wide[..4]].concat(),
            _ => {
                let text = "é".repeat(n as usize);
                [&(text.len() as u32).to_le_bytes()[..], text.as_bytes()].concat()
            }
        }
    };
    (0..count).map(|_| one()).collect()
}

fn plain(column: &ColumnDescPtr, values: &[Vec<u8>]) -> Vec<u8> {
    if column.physical_type() != Physical::BOOLEAN {
        return values.concat();
    }
    let packed = values.chunks(8).map(|eight| {
        let bits = eight.iter().rev();
        bits.fold(0, |bits, value| bits << 1 | value[0])
    });
    packed.collect()
}

/// A field's head in a Thrift struct, and its number.
fn number(bytes: &mut Vec<u8>, value: usize) {
    bytes.push(0x15);
    bytes.extend(zigzag(value as i64));
}

fn page(kind: usize, head: u8, numbers: &[usize], body: &[u8]) -> Vec<u8> {
    let mut page = Vec::new();
    for value in [kind, body.len(), body.len()] {
        number(&mut page, value);
    }
    page.push(head);
    numbers.iter().for_each(|value| number(&mut page, *value));
    page.extend([0, 0]);
    page.extend_from_slice(body);
    page
}

/// How the pages of a file are cut.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Cut {
    /// Version 1, anywhere.
    Anywhere,
    /// Version 1, with a page index.
    Rows,
    /// Version 2.
    Second,
}

/// A chunk of a leaf's levels, which is written behind the others.
fn chunk(
    column: &ColumnDescPtr,
    levels: &[(u8, u8)],
    cut: Cut,
    numbers: &mut Numbers,
) -> (Bytes, ColumnCloseResult) {
    let maxima = [column.max_rep_level() as u8, column.max_def_level() as u8];
    let width = |max: u8| 8 - max.leading_zeros();
    let there = levels.iter().filter(|level| level.1 == maxima[1]).count();
    let values = values(column, there, numbers);
    let mut distinct = values.clone();
    distinct.sort();
    distinct.dedup();
    let by_dictionary = column.physical_type() != Physical::BOOLEAN && numbers.below(3) > 0;
    let mut bytes = Vec::new();
    if by_dictionary {
        bytes = page(2, 0x4c, &[distinct.len(), 0], &distinct.concat());
    }
    let dictionary = by_dictionary.then_some(0);
    let data = bytes.len() as i64;
    let given_up = numbers.below(2 * levels.len() as u64) as usize;
    let mut index = OffsetIndexBuilder::new();
    let (mut at, mut value) = (0, 0);
    while at < levels.len() {
        let mut end = (at + 1 + numbers.below(30) as usize).min(levels.len());
        while cut != Cut::Anywhere && end < levels.len() && levels[end].0 > 0 {
            end += 1;
        }
        let these = &levels[at..end];
        let there = these.iter().filter(|level| level.1 == maxima[1]).count();
        let rows = these.iter().filter(|level| level.0 == 0).count();
        let section = &values[value..value + there];
        let dictionary = by_dictionary && at < given_up;
        let body = match dictionary {
            false => plain(column, section),
            true => {
                let places = section.iter().map(|value| distinct.binary_search(value));
                let places: Vec<u32> = places.map(|place| place.unwrap() as u32).collect();
                [vec![6], hybrid(&places, 6, numbers)].concat()
            }
        };
        let repetition: Vec<u32> = these.iter().map(|level| level.0.into()).collect();
        let definition: Vec<u32> = these.iter().map(|level| level.1.into()).collect();
        let mut sections =
            [(&repetition, maxima[0]), (&definition, maxima[1])].map(|(all, max)| match max {
                0 => Vec::new(),
                _ => hybrid(all, width(max), numbers),
            });
        let encoding = if dictionary { 8 } else { 0 };
        let begun = bytes.len();
        bytes.extend(if cut == Cut::Second {
            let [repetition, definition] = [sections[0].len(), sections[1].len()];
            let nulls = these.len() - there;
            let counts = [these.len(), nulls, rows, encoding, definition, repetition];
            page(3, 0x5c, &counts, &[sections.concat(), body].concat())
        } else {
            for (section, max) in sections.iter_mut().zip(maxima).filter(|(_, max)| *max > 0) {
                debug_assert!(max > 0);
                let length = (section.len() as u32).to_le_bytes();
                section.splice(..0, length);
            }
            let body = [sections.concat(), body].concat();
            page(0, 0x2c, &[these.len(), encoding, 3, 3], &body)
        });
        index.append_offset_and_size(begun as i64, (bytes.len() - begun) as i32);
        index.append_row_count(rows as i64);
        (at, value) = (end, value + there);
    }
    let metadata = ColumnChunkMetaData::builder(Arc::clone(column))
        .set_num_values(levels.len() as i64)
        .set_dictionary_page_offset(dictionary)
        .set_data_page_offset(data)
        .set_total_compressed_size(bytes.len() as i64)
        .set_total_uncompressed_size(bytes.len() as i64)
        .set_encodings(vec![
            Encoding::PLAIN,
            Encoding::RLE,
            Encoding::RLE_DICTIONARY,
        ])
        .build()
        .unwrap();
    let close = ColumnCloseResult {
        bytes_written: bytes.len() as u64,
        rows_written: levels.iter().filter(|level| level.0 == 0).count() as u64,
        metadata,
        bloom_filter: None,
        column_index: None,
        offset_index: (cut == Cut::Rows).then(|| index.build()),
    };
    (bytes.into(), close)
}

fn file(schema: &str, groups: &[usize], cut: Cut, numbers: &mut Numbers) -> Bytes {
    let schema = Arc::new(parse_message_type(schema).unwrap());
    let descriptor = SchemaDescriptor::new(Arc::clone(&schema));
    let properties = WriterProperties::builder().set_statistics_enabled(EnabledStatistics::None);
    let mut bytes = Vec::new();
    let properties = Arc::new(properties.build());
    let mut file = SerializedFileWriter::new(&mut bytes, Arc::clone(&schema), properties).unwrap();
    let seed = numbers.below(1 << 30);
    for (group, rows) in groups.iter().enumerate() {
        let mut out = file.next_row_group().unwrap();
        for column in descriptor.columns() {
            let mut all = Vec::new();
            for row in 0..*rows {
                let seed = seed + (group * 10_000 + row) as u64;
                levels(&schema, column.path().parts(), [0; 3], seed, &mut all);
            }
            let (bytes, close) = chunk(column, &all, cut, numbers);
            out.append_column(&bytes, close).unwrap();
        }
        out.close().unwrap();
    }
    file.close().unwrap();
    bytes.into()
}

/// Ranges of rows at random, rising.
fn ranges(rows: usize, numbers: &mut Numbers) -> Vec<Range<usize>> {
    let mut ranges = Vec::new();
    let step = 1 + numbers.below(rows as u64 / 2 + 1);
    let mut at = numbers.below(step.min(rows as u64)) as usize;
    while at < rows {
        let end = rows.min(at + 1 + numbers.below(step) as usize);
        ranges.push(at..end);
        at = end + 1 + numbers.below(step) as usize;
    }
    ranges
}

fn check(seed: u64) {
    let mut numbers = Numbers(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    numbers.below(2);
    let schema = message(&mut numbers);
    let groups = [
        1 + numbers.below(400) as usize,
        1 + numbers.below(40) as usize,
    ];
    for cut in [Cut::Anywhere, Cut::Rows, Cut::Second] {
        let file = file(&schema, &groups, cut, &mut numbers);
        let mut footer = footer_of(&file).unwrap();
        let expected = by_the_crate(&file, footer.arrow().schema());
        let what = format!("seed {seed}, {cut:?}, {schema}");
        let whole = read(&footer, &file, 0).unwrap_or_else(|error| panic!("{error:?} {what}"));
        let whole = concat(&whole);
        for (ours, theirs) in whole.columns().iter().zip(expected.columns()) {
            assert_eq!(ours, theirs, "{what}");
            ours.to_data().validate_full().unwrap();
        }
        if cut == Cut::Rows {
            footer = with_index(&footer, &file);
        }
        let ranges = ranges(groups[0], &mut numbers);
        let rows = ranges.iter();
        let rows = rows.map(|range| whole.slice(range.start, range.len()));
        let wanted = concat(&rows.collect::<Vec<_>>());
        let limit = 1 + numbers.below(wanted.num_rows() as u64) as usize;
        let ranges = ranges.into_iter();
        let request = GroupRequest {
            group: 0,
            columns: all_columns(&footer),
            filter: None,
            selection: Some(RowSelection::from_consecutive_ranges(ranges, groups[0])),
            limit: Some(limit),
        };
        let some = read_group(&footer, request, &file, 0);
        let some = concat(&some.unwrap_or_else(|error| panic!("{error:?} {what}")));
        assert_eq!(some.columns(), wanted.slice(0, limit).columns(), "{what}");
    }
}

#[test]
fn nested_columns_at_random_are_read_as_the_crate_reads_them() {
    let seeds = std::env::var("SEEDS").ok();
    let seeds = seeds.and_then(|seeds| seeds.parse().ok());
    (0..seeds.unwrap_or(60)).for_each(check);
}

#[test]
fn leaves_that_tell_of_other_lists_or_nulls_are_corrupt() {
    let whole = |schema: &str, leaves: [&[(u8, u8)]; 2]| {
        let schema = Arc::new(parse_message_type(schema).unwrap());
        let descriptor = SchemaDescriptor::new(Arc::clone(&schema));
        let mut bytes = Vec::new();
        let properties = Arc::new(WriterProperties::builder().build());
        let mut file = SerializedFileWriter::new(&mut bytes, schema, properties).unwrap();
        let mut group = file.next_row_group().unwrap();
        for (column, levels) in descriptor.columns().iter().zip(leaves) {
            let (bytes, close) = chunk(column, levels, Cut::Second, &mut Numbers(1));
            group.append_column(&bytes, close).unwrap();
        }
        group.close().unwrap();
        file.close().unwrap();
        let file = Bytes::from(bytes);
        read(&footer_of(&file).unwrap(), &file, 0)
    };
    let of_lists = "message m { repeated group p { required int32 a; required int32 b; } }";
    let of_nulls = "message m { optional group s { required int32 a; optional int32 b; } }";
    let two_and_one: &[(u8, u8)] = &[(0, 1), (1, 1), (0, 1)];
    let one_and_two: &[(u8, u8)] = &[(0, 1), (0, 1), (1, 1)];
    whole(of_lists, [two_and_one; 2]).unwrap();
    whole(of_nulls, [&[(0, 0), (0, 1)], &[(0, 0), (0, 1)]]).unwrap();
    for damaged in [
        whole(of_lists, [two_and_one, one_and_two]),
        whole(of_nulls, [&[(0, 0), (0, 1)], &[(0, 1), (0, 0)]]),
    ] {
        assert_eq!(damaged.unwrap_err().kind(), ErrorKind::Corrupt);
    }
}

/// Ten thousand times one value take eight bytes in a row: by its bytes the whole file were one batch.
#[test]
fn lists_of_one_value_again_and_again_come_in_batches_of_bounded_size() {
    const ROWS: usize = 600;
    const ELEMENTS: usize = 10_000;
    let schema = "message m { repeated int32 c; }";
    let schema = Arc::new(parse_message_type(schema).unwrap());
    let column = SchemaDescriptor::new(Arc::clone(&schema)).column(0);
    let runs = |runs: &[(usize, u8)]| {
        let mut bytes = Vec::new();
        for (count, value) in runs {
            varint((*count as u64) << 1, &mut bytes);
            bytes.push(*value);
        }
        bytes
    };
    let sized = |bytes: Vec<u8>| [&(bytes.len() as u32).to_le_bytes()[..], &bytes].concat();
    let repetition = [(1, 0), (ELEMENTS - 1, 1)].repeat(ROWS);
    let values = ROWS * ELEMENTS;
    let places = [vec![1], runs(&[(values, 0)])].concat();
    let body = [
        sized(runs(&repetition)),
        sized(runs(&[(values, 1)])),
        places,
    ];
    let dictionary = page(2, 0x4c, &[1, 0], &7_i32.to_le_bytes());
    let data = page(0, 0x2c, &[values, 8, 3, 3], &body.concat());
    let bytes = Bytes::from([&dictionary[..], &data].concat());
    let metadata = ColumnChunkMetaData::builder(column)
        .set_num_values(values as i64)
        .set_dictionary_page_offset(Some(0))
        .set_data_page_offset(dictionary.len() as i64)
        .set_total_compressed_size(bytes.len() as i64)
        .set_total_uncompressed_size(bytes.len() as i64)
        .set_encodings(vec![
            Encoding::PLAIN,
            Encoding::RLE,
            Encoding::RLE_DICTIONARY,
        ]);
    let close = ColumnCloseResult {
        bytes_written: bytes.len() as u64,
        rows_written: ROWS as u64,
        metadata: metadata.build().unwrap(),
        bloom_filter: None,
        column_index: None,
        offset_index: None,
    };
    let mut file = Vec::new();
    let properties = Arc::new(WriterProperties::builder().build());
    let mut writer = SerializedFileWriter::new(&mut file, schema, properties).unwrap();
    let mut group = writer.next_row_group().unwrap();
    group.append_column(&bytes, close).unwrap();
    group.close().unwrap();
    writer.close().unwrap();
    let file = Bytes::from(file);
    let batches = read(&footer_of(&file).unwrap(), &file, 0).unwrap();
    let counts: Vec<usize> = batches.iter().map(RecordBatch::num_rows).collect();
    // 4 Mi values, and what is left.
    assert_eq!(counts, [419, ROWS - 419]);
}
