//! What a page may not hold, by hand: each of these made the decoder panic, or would have on 32 bits.

use parquet::basic::{Repetition, Type as PhysicalType};
use parquet::schema::types::{ColumnDescriptor, ColumnPath, Type};

use super::super::delta;
use super::super::levels::Levels;
use super::super::values::ValueKind;
use super::*;

fn column(physical: PhysicalType, length: i32, levels: [i16; 2]) -> ColumnDescriptor {
    let field = Type::primitive_type_builder("c", physical)
        .with_repetition(Repetition::REQUIRED)
        .with_length(length)
        .build()
        .unwrap();
    let [definition, repetition] = levels;
    ColumnDescriptor::new(
        Arc::new(field),
        definition,
        repetition,
        ColumnPath::from("c"),
    )
}

fn decimal() -> ValueKind {
    let field = Type::primitive_type_builder("c", PhysicalType::BYTE_ARRAY)
        .with_converted_type(parquet::basic::ConvertedType::DECIMAL)
        .with_precision(20)
        .with_scale(2)
        .build()
        .unwrap();
    ValueKind::of(&ColumnDescriptor::new(
        Arc::new(field),
        0,
        0,
        ColumnPath::from("c"),
    ))
}

fn kind(physical: PhysicalType, length: i32) -> ValueKind {
    ValueKind::of(&column(physical, length, [0, 0]))
}

fn refused<T: std::fmt::Debug>(outcome: Result<T>, what: &str) {
    assert_eq!(outcome.unwrap_err().kind(), ErrorKind::Corrupt, "{what}");
}

#[test]
fn indexes_outside_of_the_dictionary_are_refused() {
    // Two bits an index, one group of eight: 0 1 2 3 0 1 2 3, then a run of five times 2.
    let indexes = [2, 3, 0b1110_0100, 0b1110_0100, 10, 2];
    for fixed in [
        kind(PhysicalType::FIXED_LEN_BYTE_ARRAY, 5),
        kind(PhysicalType::INT32, 0),
    ] {
        let used = fixed
            .check(Encoding::RLE_DICTIONARY, &indexes, 13, Some(4))
            .unwrap();
        assert_eq!(used, indexes.len());
        refused(
            fixed.check(Encoding::RLE_DICTIONARY, &indexes, 13, Some(2)),
            "a run beyond the dictionary",
        );
        refused(
            fixed.check(Encoding::RLE_DICTIONARY, &indexes, 14, Some(4)),
            "fewer indexes than values",
        );
        refused(
            fixed.check(
                Encoding::RLE_DICTIONARY,
                &[33, 2, 0, 0, 0, 0, 0],
                1,
                Some(4),
            ),
            "indexes of 33 bits",
        );
    }
    let fixed = kind(PhysicalType::FIXED_LEN_BYTE_ARRAY, 5);
    refused(
        fixed.check(Encoding::RLE_DICTIONARY, &indexes[..4], 8, Some(3)),
        "a packed index beyond the dictionary",
    );
    // What stands behind the values is no index.
    let padded = [&indexes[..], &[0xff; 12]].concat();
    let used = fixed
        .check(Encoding::RLE_DICTIONARY, &padded, 13, Some(4))
        .unwrap();
    assert_eq!(used, indexes.len());
}

#[test]
fn indexes_of_32_bits_are_looked_at() {
    // The decoder takes the last one for -1, and adds 1 to it.
    let packed = [3_u32, 2, 1, 0, 0, 0, 0, u32::MAX]
        .map(u32::to_le_bytes)
        .concat();
    let text = kind(PhysicalType::BYTE_ARRAY, 0);
    let indexes = [&[32, 3][..], &packed].concat();
    let check = |count| text.check(Encoding::RLE_DICTIONARY, &indexes, count, Some(4));
    assert_eq!(check(7).unwrap(), indexes.len());
    refused(check(8), "an index of -1");
}

#[test]
fn lengths_beyond_the_page_are_refused() {
    let text = kind(PhysicalType::BYTE_ARRAY, 0);
    let value = |length: u32, bytes: &[u8]| [&length.to_le_bytes()[..], bytes].concat();
    let good = [value(2, b"ab"), value(0, b"")].concat();
    assert_eq!(text.check(Encoding::PLAIN, &good, 2, None).unwrap(), 10);
    refused(
        text.check(Encoding::PLAIN, &good, 1, None),
        "a value more than declared",
    );
    refused(text.check(Encoding::PLAIN, &good, 3, None), "a value less");
    // On 32 bits the end of such a value would lie before its beginning.
    for length in [3, 0x7fff_ffff, u32::MAX - 3, u32::MAX] {
        refused(
            text.check(Encoding::PLAIN, &value(length, b"ab"), 1, None),
            "a length",
        );
    }
}

#[test]
fn decimals_longer_than_their_number_are_refused() {
    let value = |length: u8| [&[length, 0, 0, 0], &vec![1; length.into()][..]].concat();
    assert_eq!(
        decimal()
            .check(Encoding::PLAIN, &value(16), 1, None)
            .unwrap(),
        20
    );
    refused(
        decimal().check(Encoding::PLAIN, &value(17), 1, None),
        "17 bytes",
    );
}

/// The header of a delta section: blocks of 128 in four miniblocks, so many values, the first one in zigzag.
fn delta_header(values: u8, first: u8) -> Vec<u8> {
    vec![0x80, 1, 4, values, first]
}

#[test]
fn deltas_that_do_not_fit_are_refused() {
    // Three values: 7, and twice a difference of -1 + 1 in one bit.
    let block = |width: u8| [&[1, width, 0, 0, 0][..], &[0b11; 4]].concat();
    let good = [delta_header(3, 14), block(1)].concat();
    assert_eq!(delta::check(&good, 32, 3).unwrap(), good.len());
    refused(delta::check(&good, 32, 4), "another count");
    refused(delta::check(&good[..8], 32, 3), "no widths");
    refused(
        delta::check(&[delta_header(3, 14), block(33)].concat(), 32, 3),
        "too wide",
    );
    let odd = |block: u8, minis: u8| vec![block, 1, minis, 3, 14, 1, 0, 0, 0, 0];
    for (block, minis) in [(0x81, 4), (0x80, 0), (0x80, 3), (0x80, 8)] {
        refused(delta::check(&odd(block, minis), 32, 3), "a block's size");
    }
    let long = [&[0xff; 10][..], &good].concat();
    refused(delta::check(&long, 32, 3), "a varint without end");
}

#[test]
fn delta_lengths_that_leave_the_page_are_refused() {
    let text = kind(PhysicalType::BYTE_ARRAY, 0);
    let lengths = Encoding::DELTA_LENGTH_BYTE_ARRAY;
    let one = |first: u8, rest: &[u8]| [&delta_header(1, first), rest].concat();
    assert_eq!(text.check(lengths, &one(4, b"ab"), 1, None).unwrap(), 7);
    refused(
        text.check(lengths, &one(6, b"ab"), 1, None),
        "three bytes of two",
    );
    refused(
        text.check(lengths, &one(1, b"ab"), 1, None),
        "a length of -1",
    );
    // Prefixes, then suffixes: of the first value there is nothing to share.
    let bytes = Encoding::DELTA_BYTE_ARRAY;
    let both = |prefix: u8, suffix: u8| [one(prefix, &one(suffix, b"ab"))].concat();
    assert_eq!(text.check(bytes, &both(0, 4), 1, None).unwrap(), 12);
    refused(
        text.check(bytes, &both(2, 4), 1, None),
        "a prefix of nothing",
    );
    let fixed = kind(PhysicalType::FIXED_LEN_BYTE_ARRAY, 5);
    refused(
        fixed.check(bytes, &both(0, 4), 1, None),
        "two bytes of five",
    );
    let five = one(10, b"abcde");
    assert_eq!(fixed.check(lengths, &five, 1, None).unwrap(), five.len());
    refused(
        fixed.check(lengths, &one(4, b"ab"), 1, None),
        "two bytes of five, by length",
    );
}

#[test]
fn levels_are_counted_and_held_to_their_column() {
    let flat = column(PhysicalType::INT32, 0, [1, 0]);
    // Ten levels: eight packed as 1 0 1 0 1 1 1 1, and two nulls.
    let levels = [3, 0b1111_0101, 4, 0];
    let section = |levels: &[u8]| [&(levels.len() as u32).to_le_bytes()[..], levels].concat();
    let found = Levels::version_1(&section(&levels), &flat, 10).unwrap();
    assert_eq!((found.values, found.rows, found.end), (6, 10, 8));
    refused(
        Levels::version_1(&section(&levels), &flat, 11),
        "fewer levels",
    );
    refused(
        Levels::version_1(&section(&levels)[..7], &flat, 10),
        "cut levels",
    );
    refused(
        Levels::version_1(&section(&[20, 2]), &flat, 10),
        "a level of two",
    );
    let tail = [&levels[..], &[0xff; 11]].concat();
    refused(
        Levels::version_1(&section(&tail), &flat, 10),
        "a varint without end behind them",
    );
    // Levels of two bits reach to 3, the column's only to 2.
    let nested = column(PhysicalType::INT32, 0, [2, 0]);
    refused(
        Levels::version_1(&section(&[3, 0b1110_0100, 0]), &nested, 8),
        "a level of three",
    );
    let found = Levels::version_1(&section(&[3, 0b1010_0100, 0]), &nested, 8).unwrap();
    assert_eq!(found.values, 2);
    // Rows begin where the repetition level is 0.
    let list = column(PhysicalType::INT32, 0, [1, 1]);
    let both = [section(&[3, 0b1101_1010]), section(&[16, 1])].concat();
    let found = Levels::version_1(&both, &list, 8).unwrap();
    assert_eq!((found.values, found.rows, found.starts_row), (8, 3, true));
    let both = [section(&[3, 0b1101_1011]), section(&[16, 1])].concat();
    assert!(!Levels::version_1(&both, &list, 8).unwrap().starts_row);
}
