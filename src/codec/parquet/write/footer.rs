//! Page indexes and the footer.

use std::cmp::Ordering;

use super::bound::{self, Bound, Bounds};
use super::encoder::{DELTA_BYTE_ARRAY, PLAIN, PLAIN_DICTIONARY};
use super::file_schema::{FileSchema, Leaf};
use super::page::DonePage;
use super::thrift::{Element, Out};

/// One row group, as the footer tells of it.
#[derive(Debug)]
pub(super) struct GroupFacts {
    pub(super) rows: usize,
    pub(super) offset: u64,
    pub(super) chunks: Vec<ChunkFacts>,
}

#[derive(Debug)]
pub(super) struct ChunkFacts {
    pub(super) leaf: Leaf,
    pub(super) codec: i32,
    pub(super) encodings: Vec<i32>,
    pub(super) offset: u64,
    pub(super) first_data_page: u64,
    pub(super) dictionary: bool,
    pub(super) size: u64,
    pub(super) unpacked: u64,
    pub(super) values: u64,
    pub(super) nulls: u64,
    pub(super) bounds: Option<Bounds>,
    pub(super) nan: bool,
    pub(super) pages: Vec<PageFacts>,
    /// Where the indexes lie: offset and length.
    pub(super) offset_index: (u64, usize),
    pub(super) column_index: Option<(u64, usize)>,
}

#[derive(Debug)]
pub(super) struct PageFacts {
    size: usize,
    rows: usize,
    nulls: usize,
    slots: usize,
    encoding: i32,
    bounds: Option<Bounds>,
}

impl PageFacts {
    pub(super) fn of(page: &DonePage) -> Self {
        Self {
            size: page.bytes.len(),
            rows: page.rows,
            nulls: page.nulls,
            slots: page.slots,
            encoding: page.encoding,
            bounds: page.bounds.clone(),
        }
    }
}

/// The indexes of all chunks, which begin at `start`; the chunks learn where theirs lie.
pub(super) fn indexes(groups: &mut [GroupFacts], start: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    for chunk in groups.iter_mut().flat_map(|group| &mut group.chunks) {
        if let Some(index) = column_index(chunk) {
            chunk.column_index = Some((start + bytes.len() as u64, index.len()));
            bytes.extend(index);
        }
    }
    for chunk in groups.iter_mut().flat_map(|group| &mut group.chunks) {
        let index = offset_index(chunk);
        chunk.offset_index = (start + bytes.len() as u64, index.len());
        bytes.extend(index);
    }
    bytes
}

/// `ColumnIndex`: 1 null_pages, 2 min_values, 3 max_values, 4 boundary_order, 5 null_counts. None where a page's bounds are
/// not known: Java writes none of a column that holds a NaN.
fn column_index(chunk: &ChunkFacts) -> Option<Vec<u8>> {
    let empty = |page: &PageFacts| page.nulls == page.slots;
    let known = |page: &PageFacts| empty(page) || page.bounds.is_some();
    if chunk.nan || !chunk.pages.iter().all(known) {
        return None;
    }
    let bounds = chunk.pages.iter().map(|page| match &page.bounds {
        Some(bounds) if !empty(page) => bound::in_index(bounds, chunk.leaf.meaning),
        _ => Default::default(),
    });
    let bounds: Vec<(Vec<u8>, Vec<u8>)> = bounds.collect();
    let mut out = Out::default();
    out.list(1, Element::Bool, &chunk.pages, |out, page| {
        out.plain_bool(empty(page))
    });
    out.list(2, Element::Binary, &bounds, |out, (min, _)| {
        out.plain_binary(min)
    });
    out.list(3, Element::Binary, &bounds, |out, (_, max)| {
        out.plain_binary(max)
    });
    out.i32(4, boundary_order(chunk));
    out.list(5, Element::I64, &chunk.pages, |out, page| {
        out.zigzag(page.nulls as i64)
    });
    Some(out.finish())
}

/// 1 rising, 2 falling, 0 neither, over the pages that have values.
fn boundary_order(chunk: &ChunkFacts) -> i32 {
    let bounds: Vec<&Bounds> = chunk
        .pages
        .iter()
        .filter_map(|p| p.bounds.as_ref())
        .collect();
    let all = |unlike: Ordering| {
        let step = |a: &Bound, b: &Bound| a.order(b) != unlike;
        bounds.windows(2).all(|pair| match pair {
            [a, b] => step(&a.0, &b.0) && step(&a.1, &b.1),
            _ => true,
        })
    };
    if all(Ordering::Greater) {
        return 1;
    }
    if all(Ordering::Less) { 2 } else { 0 }
}

/// `OffsetIndex`: 1 page_locations, each 1 offset, 2 compressed size, 3 first row.
fn offset_index(chunk: &ChunkFacts) -> Vec<u8> {
    let (mut offset, mut row) = (chunk.first_data_page, 0_usize);
    let mut out = Out::default();
    out.list(1, Element::Struct, &chunk.pages, |out, page| {
        out.nested(|out| {
            out.i64(1, offset.cast_signed());
            out.i32(2, page.size as i32);
            out.i64(3, row as i64);
        });
        offset += page.size as u64;
        row += page.rows;
    });
    out.finish()
}

/// `FileMetaData`: 1 version, 2 schema, 3 num_rows, 4 row_groups, 5 key_value_metadata, 6 created_by, 7 column_orders.
pub(super) fn footer(schema: &FileSchema, groups: &[GroupFacts], keys: &[(&str, &str)]) -> Vec<u8> {
    let mut out = Out::default();
    out.i32(1, 1);
    schema.write(&mut out, 2);
    out.i64(3, groups.iter().map(|group| group.rows as i64).sum());
    let numbered: Vec<(usize, &GroupFacts)> = groups.iter().enumerate().collect();
    out.list(4, Element::Struct, &numbered, |out, (_, group)| {
        out.nested(|out| write_group(group, out));
    });
    out.list(5, Element::Struct, keys, |out, (key, value)| {
        out.nested(|out| {
            out.binary(1, key.as_bytes());
            out.binary(2, value.as_bytes());
        });
    });
    // Java's readers distrust the statistics of a writer whose name they cannot parse.
    out.binary(
        6,
        concat!("hudi-wasm version ", env!("CARGO_PKG_VERSION")).as_bytes(),
    );
    out.list(7, Element::Struct, &schema.leaves(), |out, _| {
        out.nested(|out| out.structure(1, |_| ()));
    });
    out.finish()
}

/// `RowGroup`: 1 columns, 2 total_byte_size, 3 num_rows, 5 file_offset, 6 total_compressed_size.
fn write_group(group: &GroupFacts, out: &mut Out) {
    out.list(1, Element::Struct, &group.chunks, |out, chunk| {
        out.nested(|out| write_chunk(chunk, out));
    });
    let sum = |size: fn(&ChunkFacts) -> u64| group.chunks.iter().map(size).sum::<u64>();
    out.i64(2, sum(|chunk| chunk.unpacked).cast_signed());
    out.i64(3, group.rows as i64);
    out.i64(5, group.offset.cast_signed());
    out.i64(6, sum(|chunk| chunk.size).cast_signed());
}

/// `ColumnChunk`: 2 file_offset, 3 meta_data, 4 and 5 the offset index, 6 and 7 the column index.
fn write_chunk(chunk: &ChunkFacts, out: &mut Out) {
    out.i64(2, chunk.offset.cast_signed());
    out.structure(3, |out| write_metadata(chunk, out));
    let (offset, length) = chunk.offset_index;
    out.i64(4, offset.cast_signed());
    out.i32(5, length as i32);
    if let Some((offset, length)) = chunk.column_index {
        out.i64(6, offset.cast_signed());
        out.i32(7, length as i32);
    }
}

/// `ColumnMetaData`: 1 type, 2 encodings, 3 path, 4 codec, 5 num_values, 6 uncompressed, 7 compressed size, 9 data page
/// offset, 11 dictionary page offset, 12 statistics, 13 encoding_stats.
fn write_metadata(chunk: &ChunkFacts, out: &mut Out) {
    out.i32(1, chunk.leaf.physical.number());
    out.list(2, Element::I32, &chunk.encodings, |out, encoding| {
        out.zigzag(i64::from(*encoding));
    });
    out.list(3, Element::Binary, &chunk.leaf.path, |out, name| {
        out.plain_binary(name.as_bytes());
    });
    out.i32(4, chunk.codec);
    out.i64(5, chunk.values.cast_signed());
    out.i64(6, chunk.unpacked.cast_signed());
    out.i64(7, chunk.size.cast_signed());
    out.i64(9, chunk.first_data_page.cast_signed());
    if chunk.dictionary {
        out.i64(11, chunk.offset.cast_signed());
    }
    out.structure(12, |out| {
        out.i64(3, chunk.nulls.cast_signed());
        if let Some((min, max)) = bound::in_footer(&chunk.bounds) {
            out.binary(5, &max);
            out.binary(6, &min);
        }
    });
    write_encoding_stats(chunk, out);
}

/// How many pages of each encoding there are: by it readers know whether all values are in the dictionary.
fn write_encoding_stats(chunk: &ChunkFacts, out: &mut Out) {
    let mut stats: Vec<(i32, i32, i32)> = Vec::new();
    if chunk.dictionary {
        stats.push((2, PLAIN_DICTIONARY, 1));
    }
    for encoding in [PLAIN, PLAIN_DICTIONARY, DELTA_BYTE_ARRAY] {
        let pages = chunk.pages.iter().filter(|page| page.encoding == encoding);
        let count = pages.count() as i32;
        if count > 0 {
            stats.push((0, encoding, count));
        }
    }
    out.list(
        13,
        Element::Struct,
        &stats,
        |out, (kind, encoding, count)| {
            out.nested(|out| {
                out.i32(1, *kind);
                out.i32(2, *encoding);
                out.i32(3, *count);
            });
        },
    );
}
