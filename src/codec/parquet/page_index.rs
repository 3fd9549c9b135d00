//! The page index: where pages lie and which rows and values they hold. It stands between the data and the footer.
//!
//! It is a help and never needed, so one that contradicts itself or the footer is not used.

use std::ops::Range;

use bytes::Bytes;
use parquet::DecodeResult;
use parquet::arrow::arrow_reader::RowSelection;
use parquet::file::metadata::{
    ColumnChunkMask, ColumnChunkMetaData, PageIndexPolicy, ParquetMetaData,
    ParquetMetaDataPushDecoder,
};
use parquet::file::page_index::offset_index::PageLocation;

use super::columns::Columns;
use super::error::from_parquet;
use super::footer::{Footer, group_rows};
use super::statistics::{Known, Leaf};
use super::thrift::Compact;
use crate::error::{Error, Result};

/// A page index that is wanted and not there yet.
pub struct PendingIndex {
    decoder: ParquetMetaDataPushDecoder,
    range: Range<u64>,
}

impl PendingIndex {
    /// What is wanted of a file's page index: of these row groups, bounds of these leaves and places of these columns.
    /// `None` when the file has none of it.
    pub fn new(
        footer: &Footer,
        groups: &[usize],
        bounds: &[Leaf],
        places: &[&Columns],
    ) -> Result<Option<Self>> {
        let groups = || groups.iter().copied();
        let leaves = (0..footer.arrow().parquet_schema().num_columns())
            .filter(|leaf| places.iter().any(|columns| columns.has_leaf(*leaf)));
        let bounds = bounds.iter().map(|leaf| leaf.index);
        let places = ColumnChunkMask::row_groups_and_columns(groups(), leaves);
        let bounds = ColumnChunkMask::row_groups_and_columns(groups(), bounds);
        let metadata = footer.metadata().clone();
        let decoder = ParquetMetaDataPushDecoder::try_new_with_metadata(footer.size(), metadata);
        let mut decoder = decoder
            .map_err(from_parquet)?
            .with_page_index_policy(PageIndexPolicy::Optional)
            .with_column_index_mask(bounds)
            .with_offset_index_mask(places);
        match decoder.try_decode().map_err(from_parquet)? {
            DecodeResult::NeedsData(ranges) => {
                let range = ranges.into_iter().next();
                Ok(range.map(|range| Self { decoder, range }))
            }
            _ => Ok(None),
        }
    }

    /// Where it stands in the file.
    pub fn range(&self) -> Range<u64> {
        self.range.clone()
    }

    /// The footer with the page index in it, from the bytes of [`PendingIndex::range`].
    ///
    /// Errors: `Corrupt` when it contradicts itself or the footer; the file can be read without it.
    pub fn read(mut self, footer: &Footer, bytes: Bytes) -> Result<Footer> {
        check_lists(footer.metadata(), self.range.start, &bytes)?;
        let push = self.decoder.push_range(self.range, bytes);
        push.map_err(from_parquet)?;
        let metadata = match self.decoder.try_decode().map_err(from_parquet)? {
            DecodeResult::Data(metadata) => metadata,
            _ => return Err(Error::corrupt("the page index is not where it should be")),
        };
        check_places(&metadata)?;
        footer.with_metadata(metadata)
    }
}

/// The `parquet` crate reserves as many page locations as are declared: no more than their bytes can hold are let in.
fn check_lists(metadata: &ParquetMetaData, start: u64, bytes: &[u8]) -> Result<()> {
    let groups = metadata.row_groups().iter();
    for chunk in groups.flat_map(|group| group.columns()) {
        let place = |at: u64| usize::try_from(at.checked_sub(start)?).ok();
        let found = chunk.offset_index_range().and_then(|range| {
            let (from, to) = (place(range.start)?, place(range.end)?);
            bytes.get(from..to)
        });
        let Some(index) = found else { continue };
        let mut compact = Compact::new(index);
        let first = compact.field(&mut 0)?;
        let first = first.ok_or_else(|| Error::corrupt("a page index without pages"))?;
        compact.list(first)?;
    }
    Ok(())
}

fn check_places(metadata: &ParquetMetaData) -> Result<()> {
    let Some(index) = metadata.page_index() else {
        return Ok(());
    };
    for (group, facts) in metadata.row_groups().iter().enumerate() {
        for (leaf, chunk) in facts.columns().iter().enumerate() {
            let Some(places) = index.page_locations(group, leaf) else {
                continue;
            };
            if !are_places_of(places, chunk, group_rows(facts)) {
                return Err(Error::corrupt("the page index does not fit its column")
                    .context("field", chunk.column_path().string()));
            }
            let bounds = index.column_index(group, leaf);
            if bounds.is_some_and(|bounds| bounds.num_pages() != places.len() as u64) {
                return Err(Error::corrupt("the page index has bounds of other pages")
                    .context("field", chunk.column_path().string()));
            }
        }
    }
    Ok(())
}

/// Whether pages lie one behind the other in their chunk, and their rows do so in the row group.
fn are_places_of(places: &[PageLocation], chunk: &ColumnChunkMetaData, rows: u64) -> bool {
    let (start, length) = chunk.byte_range();
    let mut offset = start;
    let mut next_row = 0;
    for (page, place) in places.iter().enumerate() {
        let (Ok(at), Ok(size), Ok(first)) = (
            u64::try_from(place.offset),
            u64::try_from(place.compressed_page_size),
            u64::try_from(place.first_row_index),
        ) else {
            return false;
        };
        let right_row = if page == 0 {
            first == 0
        } else {
            first >= next_row
        };
        // A dictionary may stand before the first page, and `parquet` keeps its size in 31 bits.
        let near = at >= offset && at - offset <= 0x7fff_ffff;
        if !right_row || first >= rows.max(1) || size == 0 || !near || at + size > start + length {
            return false;
        }
        offset = at + size;
        next_row = first + 1;
    }
    true
}

/// The rows of a row group in pages that `keep` does not rule out by what is known of `leaf`; `None` without an index.
pub fn page_selection(
    footer: &Footer,
    group: usize,
    leaf: &Leaf,
    keep: &mut dyn FnMut(&Known) -> bool,
) -> Option<RowSelection> {
    let index = footer.metadata().page_index()?;
    let bounds = index.column_index(group, leaf.index)?;
    let places = index.page_locations(group, leaf.index)?;
    let rows = footer.group_rows(group);
    let starts = places
        .iter()
        .map(|place| u64::try_from(place.first_row_index).unwrap_or(0));
    let ends = starts.clone().skip(1).chain([rows]);
    let mut kept: Vec<Range<usize>> = Vec::new();
    for (page, (start, end)) in starts.zip(ends).enumerate() {
        if keep(&leaf.of_page(footer, bounds, page, end - start)) {
            kept.push(usize::try_from(start).ok()?..usize::try_from(end).ok()?);
        }
    }
    let rows = usize::try_from(rows).ok()?;
    Some(RowSelection::from_consecutive_ranges(
        kept.into_iter(),
        rows,
    ))
}
