//! Records of the metadata table, `HoodieMetadataRecord` with the five meta columns before it, in Avro's binary form.
//!
//! They are put together here and not by way of JSON, since a write may bring a million of them.

use std::collections::BTreeMap;

use crate::error::{Error, Result};
use crate::metadata::FileEntry;

/// The schema as commits of the metadata table name it, without meta columns.
pub(super) const SCHEMA: &str = include_str!("HoodieMetadataRecord.avsc");

/// The meta columns as Hudi declares them, null in every record.
const META_FIELDS: &str = r#"{"name":"_hoodie_commit_time","type":["null","string"],"doc":"","default":null},{"name":"_hoodie_commit_seqno","type":["null","string"],"doc":"","default":null},{"name":"_hoodie_record_key","type":["null","string"],"doc":"","default":null},{"name":"_hoodie_partition_path","type":["null","string"],"doc":"","default":null},{"name":"_hoodie_file_name","type":["null","string"],"doc":"","default":null},"#;

/// What the fields of a record begin behind.
const FIELDS: &str = "\"fields\":[";

/// The schema that records are written by.
pub(super) fn writer_schema() -> String {
    let schema = SCHEMA.trim_end();
    match schema.split_once(FIELDS) {
        Some((before, behind)) => [before, FIELDS, META_FIELDS, behind].concat(),
        None => schema.to_owned(),
    }
}

/// Types of records.
const PARTITION_LIST: i64 = 1;
const FILE_LIST: i64 = 2;
const COLUMN_STATS: i64 = 3;
const RECORD_INDEX: i64 = 5;
const PARTITION_STATS: i64 = 6;

/// Parts of a record in their order; a record has one of them.
const PARTS: usize = 5;

/// Names that a record lists, each with its size and whether it is gone.
pub(super) type Names<'a> = BTreeMap<&'a str, FileEntry>;

/// Appends the record that lists partitions.
pub(super) fn put_partition_list(names: &Names<'_>, out: &mut Vec<u8>) {
    put_names(PARTITION_LIST, names, out);
}

/// Appends the record that lists the files of a partition.
pub(super) fn put_file_list(names: &Names<'_>, out: &mut Vec<u8>) {
    put_names(FILE_LIST, names, out);
}

fn put_names(kind: i64, names: &Names<'_>, out: &mut Vec<u8>) {
    put_part(kind, 0, out, |out| {
        if !names.is_empty() {
            put_count(names.len() as u64, out);
        }
        for (name, entry) in names {
            put_bytes(name.as_bytes(), out);
            put_count(entry.size, out);
            out.push(u8::from(entry.deleted));
        }
        put_long(0, out);
    });
}

/// A record with one part: five null meta columns, the key, which the HFile has, its type, and the parts.
fn put_part(kind: i64, part: usize, out: &mut Vec<u8>, body: impl FnOnce(&mut Vec<u8>)) {
    out.extend([0; 6]);
    put_long(kind, out);
    out.extend(std::iter::repeat_n(0, part));
    put_long(1, out);
    body(out);
    out.extend(std::iter::repeat_n(0, PARTS - 1 - part));
}

/// Whose statistics a record tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StatsOf {
    /// One file's; bounds may be wider than its live rows.
    File,
    /// One partition's, made of all its live files.
    Partition,
}

/// Counts of a column.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Counts {
    pub(super) values: u64,
    pub(super) nulls: u64,
    pub(super) size: u64,
    pub(super) uncompressed: u64,
}

/// Appends a record of statistics. `name` is the file's, or the partition's path; `bounds` appends both bounds, `value_type`
/// their type.
pub(super) fn put_stats(
    of: StatsOf,
    name: &str,
    column: &str,
    counts: Counts,
    bounds: impl FnOnce(&mut Vec<u8>),
    value_type: impl FnOnce(&mut Vec<u8>),
    out: &mut Vec<u8>,
) {
    let kind = match of {
        StatsOf::File => COLUMN_STATS,
        StatsOf::Partition => PARTITION_STATS,
    };
    put_part(kind, 2, out, |out| {
        put_some_text(name, out);
        put_some_text(column, out);
        bounds(out);
        for count in [
            counts.values,
            counts.nulls,
            counts.size,
            counts.uncompressed,
        ] {
            put_long(1, out);
            put_count(count, out);
        }
        out.push(0);
        out.push(u8::from(of == StatsOf::Partition));
        value_type(out);
    });
}

/// Appends the record that says where a record key lies. All keys of one file have the same one.
///
/// A file id that is a UUID, with a number behind it or not, is kept as numbers.
pub(super) fn put_location(partition: &str, file_id: &str, instant_millis: i64, out: &mut Vec<u8>) {
    put_part(RECORD_INDEX, 3, out, |out| {
        put_some_text(partition, out);
        let numbers = uuid_and_index(file_id);
        let (high, low, index) = numbers.unwrap_or((-1, -1, -1));
        for number in [high, low, index] {
            put_long(1, out);
            put_long(number, out);
        }
        put_some_text(if numbers.is_some() { "" } else { file_id }, out);
        put_long(1, out);
        put_long(instant_millis, out);
        put_long(i64::from(numbers.is_none()), out);
        put_long(0, out);
    });
}

/// The two halves of a UUID and the number behind it, -1 without one. `None` when the text cannot be made of them again.
fn uuid_and_index(file_id: &str) -> Option<(i64, i64, i64)> {
    let (uuid, behind) = file_id.split_at_checked(36)?;
    let index = match behind {
        "" => -1,
        _ => behind.strip_prefix('-')?.parse::<i32>().ok()?,
    };
    let mut hex = String::with_capacity(32);
    for (at, c) in uuid.char_indices() {
        match (at, c) {
            (8 | 13 | 18 | 23, '-') => {}
            (8 | 13 | 18 | 23, _) => return None,
            (_, '0'..='9' | 'a'..='f') => hex.push(c),
            _ => return None,
        }
    }
    let number = |from, to| u64::from_str_radix(hex.get(from..to)?, 16).ok();
    let whole = match index {
        -1 => behind.is_empty(),
        _ => behind == format!("-{index}"),
    };
    let (high, low) = (number(0, 16)?, number(16, 32)?);
    whole.then(|| (high.cast_signed(), low.cast_signed(), i64::from(index)))
}

/// A number in zigzag form.
pub(super) fn put_long(value: i64, out: &mut Vec<u8>) {
    let mut rest = ((value << 1) ^ (value >> 63)).cast_unsigned();
    while rest > 0x7f {
        out.push((rest & 0x7f) as u8 | 0x80);
        rest >>= 7;
    }
    out.push(rest as u8);
}

fn put_count(value: u64, out: &mut Vec<u8>) {
    put_long(i64::try_from(value).unwrap_or(i64::MAX), out);
}

/// Text or bytes behind their count.
pub(super) fn put_bytes(bytes: &[u8], out: &mut Vec<u8>) {
    put_count(bytes.len() as u64, out);
    out.extend_from_slice(bytes);
}

pub(super) fn put_float(value: f32, out: &mut Vec<u8>) {
    out.extend(value.to_le_bytes());
}

pub(super) fn put_double(value: f64, out: &mut Vec<u8>) {
    out.extend(value.to_le_bytes());
}

/// The second branch of a union of null and text.
fn put_some_text(text: &str, out: &mut Vec<u8>) {
    put_long(1, out);
    put_bytes(text.as_bytes(), out);
}

/// The content of a delete block over these keys of one partition of the metadata table.
///
/// Errors: `LimitExceeded` for more than a block can count.
pub(super) fn delete_block<'a>(
    keys: impl ExactSizeIterator<Item = &'a str>,
    partition: &str,
) -> Result<Vec<u8>> {
    let mut list = Vec::new();
    if keys.len() > 0 {
        put_count(keys.len() as u64, &mut list);
    }
    for key in keys {
        put_some_text(key, &mut list);
        put_some_text(partition, &mut list);
        // An int wrapper of 0: the delete goes by its commit.
        put_long(2, &mut list);
        put_long(0, &mut list);
    }
    put_long(0, &mut list);
    let length = u32::try_from(list.len())
        .map_err(|_| Error::limit_exceeded("a delete block of the metadata table is too large"))?;
    let mut content = 3_u32.to_be_bytes().to_vec();
    content.extend(length.to_be_bytes());
    content.extend(list);
    Ok(content)
}

#[cfg(all(test, not(target_arch = "wasm32")))]
mod tests;
