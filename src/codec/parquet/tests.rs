use std::ops::Range;
use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use bytes::Bytes;
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, Encoding, GzipLevel};
use parquet::file::metadata::{
    ColumnChunkMetaData, ColumnChunkMetaDataBuilder, ParquetMetaData, ParquetMetaDataWriter,
    RowGroupMetaDataBuilder,
};
use parquet::file::properties::{WriterProperties, WriterPropertiesBuilder, WriterVersion};

use super::*;
use crate::ErrorKind;
use crate::error::Result;

mod contents;
mod damaged;
mod encodings;
mod files;
mod hostile;
mod oracle;
mod picked;
mod random_nested;

/// A signed varint as Thrift has it.
fn zigzag(value: i64) -> Vec<u8> {
    let mut left = ((value << 1) ^ (value >> 63)).cast_unsigned();
    let mut bytes = Vec::new();
    while left >= 0x80 {
        bytes.push(u8::try_from(left & 0x7f).unwrap() | 0x80);
        left >>= 7;
    }
    bytes.push(u8::try_from(left).unwrap());
    bytes
}

/// Ten thousand rows of a counting `id` and a `text` of it.
fn batch() -> RecordBatch {
    let id: ArrayRef = Arc::new(Int64Array::from_iter_values(0..10_000));
    let text: ArrayRef = Arc::new(StringArray::from_iter_values(
        (0..10_000).map(|id| format!("row {id}")),
    ));
    RecordBatch::try_from_iter([("id", id), ("text", text)]).unwrap()
}

fn written(batch: &RecordBatch, properties: WriterPropertiesBuilder) -> Bytes {
    let mut bytes = Vec::new();
    let properties = Some(properties.build());
    let mut writer = ArrowWriter::try_new(&mut bytes, batch.schema(), properties).unwrap();
    writer.write(batch).unwrap();
    writer.close().unwrap();
    bytes.into()
}

fn footer_of(file: &Bytes) -> Result<Footer> {
    let size = file.len() as u64;
    let range = metadata_range(size, file)?;
    Footer::parse(size, range.start, slice(file, &range, 0))
}

/// The range of a file whose first byte stands at `start`.
fn slice(file: &Bytes, range: &Range<u64>, start: u64) -> Bytes {
    let place = |at: u64| usize::try_from(at - start).unwrap();
    file.slice(place(range.start)..place(range.end))
}

/// All rows of a file whose bytes begin at `start`.
fn read(footer: &Footer, file: &Bytes, start: u64) -> Result<Vec<RecordBatch>> {
    let columns = all_columns(footer);
    let mut batches = Vec::new();
    for group in 0..footer.metadata().num_row_groups() {
        let request = GroupRequest {
            group,
            columns: columns.clone(),
            filter: None,
            selection: None,
            limit: None,
        };
        batches.extend(read_group(footer, request, file, start)?);
    }
    Ok(batches)
}

fn all_columns(footer: &Footer) -> Columns {
    let schema = footer.arrow().schema();
    Columns::by_name(footer, schema.fields().iter().map(|f| f.name().as_str()))
}

/// What is asked for of a row group, by ranges as they are wanted.
fn read_group(
    footer: &Footer,
    request: GroupRequest,
    file: &Bytes,
    start: u64,
) -> Result<Vec<RecordBatch>> {
    let mut reader = GroupReader::new(footer, request)?;
    let mut batches = Vec::new();
    loop {
        match reader.step()? {
            Step::Batch(batch) => batches.push(batch),
            Step::Done => return Ok(batches),
            Step::Need(ranges) => {
                let bytes = ranges.iter().map(|range| slice(file, range, start));
                let bytes = bytes.collect();
                reader.push(ranges, bytes)?;
            }
        }
    }
}

fn concat(batches: &[RecordBatch]) -> RecordBatch {
    arrow::compute::concat_batches(batches[0].schema_ref(), batches).unwrap()
}

/// A footer in which every offset is greater by `by`, as of a file with something large before its row groups.
fn moved_on(metadata: &ParquetMetaData, by: i64) -> Bytes {
    let group = |group: RowGroupMetaDataBuilder| group;
    changed(metadata, group, |chunk, builder| {
        let dictionary = chunk.dictionary_page_offset().map(|at| at + by);
        let builder = builder.set_dictionary_page_offset(dictionary);
        builder.set_data_page_offset(chunk.data_page_offset() + by)
    })
}

/// The footer whose row groups and chunks the given functions have changed, without the trailer.
fn changed(
    metadata: &ParquetMetaData,
    of_group: impl Fn(RowGroupMetaDataBuilder) -> RowGroupMetaDataBuilder,
    of_chunk: impl Fn(&ColumnChunkMetaData, ColumnChunkMetaDataBuilder) -> ColumnChunkMetaDataBuilder,
) -> Bytes {
    let groups = metadata.row_groups().iter().map(|group| {
        let chunks = group.columns().iter();
        let chunks = chunks.map(|chunk| of_chunk(chunk, chunk.clone().into_builder()).build());
        let chunks = chunks.map(|chunk| chunk.unwrap()).collect();
        let group = group.clone().into_builder().set_column_metadata(chunks);
        of_group(group).build().unwrap()
    });
    let file = metadata.file_metadata().clone();
    let metadata = ParquetMetaData::new(file, groups.collect());
    let mut bytes = Vec::new();
    ParquetMetaDataWriter::new(&mut bytes, &metadata)
        .finish()
        .unwrap();
    // Without the trailer, and without what stands before the metadata.
    let end = bytes.len() - 8;
    let length = u32::from_le_bytes(bytes[end..end + 4].try_into().unwrap());
    Bytes::from(bytes).slice(end - length as usize..end)
}

#[test]
fn row_groups_behind_four_gibibytes_are_read() {
    let file = written(&batch(), WriterProperties::builder());
    let here = footer_of(&file).unwrap();
    // The row group begins at 4, so that the second distance puts the boundary of 32 bits into it.
    for by in [5_u64 << 30, (1 << 32) - 1000, (1 << 31) - 1000] {
        let metadata = moved_on(here.metadata(), i64::try_from(by).unwrap());
        let footer = Footer::parse(by + file.len() as u64, by, metadata).unwrap();
        let batches = read(&footer, &file, by).unwrap();
        assert_eq!(concat(&batches).columns(), batch().columns());
    }
}

/// A row group's; that of a column chunk is not kept by the parser. Writers are known that leave them zero or wrong, after which readers that place a row group by them lose live rows.
#[test]
fn file_offsets_that_are_wrong_lose_no_rows() {
    let properties = WriterProperties::builder().set_max_row_group_row_count(Some(3000));
    let file = written(&batch(), properties);
    let size = file.len() as i64;
    let start = metadata_range(size as u64, &file).unwrap().start;
    let right = footer_of(&file).unwrap();
    assert_eq!(right.metadata().num_row_groups(), 4);
    for wrong in [0, -1, 4, size / 2, size + 1, i64::MAX] {
        let metadata = changed(
            right.metadata(),
            |group| group.set_file_offset(wrong),
            |_, chunk| chunk,
        );
        let footer = Footer::parse(start + metadata.len() as u64 + 8, start, metadata).unwrap();
        assert_eq!(footer.metadata().row_group(3).file_offset(), Some(wrong));
        let batches = read(&footer, &file, 0).unwrap();
        assert_eq!(concat(&batches).columns(), batch().columns(), "{wrong}");
    }
}

#[test]
fn the_first_request_holds_hudis_footer() {
    // A bloom filter of 60,000 records is 431,380 characters; from 60,001 on it is 862,724.
    let check = |size: u64, ranges: &[Range<u64>]| assert_eq!(first_ranges(size), ranges);
    check(0, &[0..0]);
    check(435_115, &[0..435_115]);
    check(1 << 20, &[(1 << 20) - (512 << 10)..1 << 20]);
    let front = |size: u64| size - 862_724 - (56 << 10)..size - 862_724;
    let medium = 5 << 20;
    check(medium, &[front(medium), medium - (512 << 10)..medium]);
    let large = 100 << 20;
    check(large, &[front(large), large - (16 << 10)..large]);
}

#[test]
fn a_statistic_is_of_the_column_at_its_path() {
    let footer = footer_of(&written(&batch(), WriterProperties::builder())).unwrap();
    let leaf = Leaf::find(&footer, &["text".to_owned()]).unwrap();
    let known = leaf.of_group(&footer, 0).unwrap();
    let expected: ArrayRef = Arc::new(StringArray::from(vec!["row 0", "row 9999"]));
    assert_eq!(known.bounds.unwrap().as_ref(), expected.as_ref());
    assert_eq!((known.nulls, known.rows), (Some(0), 10_000));
    assert!(Leaf::find(&footer, &["text".to_owned(), "id".to_owned()]).is_none());
    assert!(Leaf::find(&footer, &["row".to_owned()]).is_none());
}
