//! One row group as the decoder sees it: which bytes its columns need, and page readers over those that are there.

use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use arrow::array::RecordBatch;
use arrow::datatypes::{Fields, SchemaRef};
use bytes::Bytes;
use parquet::arrow::arrow_reader::{ParquetRecordBatchReader, RowGroups};
use parquet::arrow::parquet_to_arrow_field_levels;
use parquet::column::page::{PageIterator, PageReader};
use parquet::errors::ParquetError;
use parquet::file::metadata::{ParquetMetaData, RowGroupMetaData};

use super::chunk_bytes::ChunkBytes;
use super::columns::Columns;
use super::error::from_parquet;
use super::flat::FlatColumn;
use super::footer::Footer;
use super::maps::{any_map, fields_of_lists, schema_of_lists, with_maps};
use super::page_reader::{ChunkPages, Fault};
use super::page_walk::Place;
use super::pages::Chunk;
use super::rows::Rows;
use crate::error::{Error, Result};

/// One row group of a file.
pub(super) struct Group {
    footer: Footer,
    group: usize,
    rows: usize,
    leaves: Vec<Leaf>,
    /// What a page reader failed with; the decoder would turn it into text.
    fault: Fault,
}

/// One column chunk.
struct Leaf {
    chunk: Arc<Chunk>,
    bytes: ChunkBytes,
    /// Its pages, when the page index is known.
    places: Option<Vec<Place>>,
}

impl Group {
    pub(super) fn new(footer: &Footer, group: usize) -> Result<Self> {
        let metadata = footer.metadata();
        let facts = metadata.row_groups().get(group);
        let facts = facts.ok_or_else(|| Error::internal("no such row group"))?;
        let created_by = metadata.file_metadata().created_by();
        let rows = footer.group_rows(group);
        let leaves = facts.columns().iter().enumerate().map(|(at, chunk)| Leaf {
            chunk: Arc::new(Chunk::new(chunk.clone(), created_by)),
            bytes: ChunkBytes::default(),
            places: places(metadata, group, at, rows),
        });
        Ok(Self {
            leaves: leaves.collect(),
            footer: footer.clone(),
            group,
            rows: usize::try_from(rows).unwrap_or(usize::MAX),
            fault: Arc::new(Mutex::new(None)),
        })
    }

    /// The rows of the row group.
    pub(super) fn rows(&self) -> usize {
        self.rows
    }

    /// The ranges that some columns need for the wanted rows and that are not there.
    pub(super) fn missing(&self, columns: &Columns, wanted: &Rows) -> Vec<Range<u64>> {
        let decoded = wanted.with_short_gaps(self.rows);
        let leaves = self.leaves.iter().enumerate();
        let leaves = leaves.filter(|(at, _)| columns.has_leaf(*at));
        let needed = leaves.flat_map(|(_, leaf)| {
            let needed = leaf.needed(&decoded).into_iter();
            needed.filter(|range| leaf.bytes.get(range).is_none())
        });
        needed.collect()
    }

    /// Takes bytes of the file, for every column chunk that they lie in: those of a damaged file may overlap.
    pub(super) fn push(&mut self, range: &Range<u64>, bytes: &Bytes) -> Result<()> {
        let mut wanted = false;
        for leaf in &mut self.leaves {
            let (start, length) = leaf.chunk.facts.byte_range();
            if start <= range.start && range.end <= start + length {
                leaf.bytes.add(range.start, bytes.clone());
                wanted = true;
            }
        }
        if !wanted || bytes.len() as u64 != range.end - range.start {
            return Err(Error::internal("bytes that no column chunk asked for"));
        }
        Ok(())
    }

    /// Readers of those columns that are decoded here, each in its place among `columns`, and the other columns.
    pub(super) fn flat(&self, columns: &Columns) -> Result<(Vec<Option<FlatColumn>>, Columns)> {
        let schema = columns.schema(&self.footer)?;
        let mut flat: Vec<Option<FlatColumn>> = schema.fields().iter().map(|_| None).collect();
        let mut here = Vec::new();
        let descriptor = self.footer.arrow().parquet_schema();
        for (at, leaf) in self.leaves.iter().enumerate() {
            let root = descriptor.get_column_root_idx(at);
            let Some(place) = columns.place(root) else {
                continue;
            };
            let Some(field) = schema.fields().get(place) else {
                continue;
            };
            if FlatColumn::reads(&leaf.chunk, field)
                && let Some(reader) = flat.get_mut(place)
            {
                *reader = FlatColumn::new(&leaf.chunk, field, self.pages(leaf));
                here.push(root);
            }
        }
        Ok((flat, columns.without_roots(&self.footer, &here)))
    }

    /// The schema of batches of some columns.
    pub(super) fn schema(&self, columns: &Columns) -> Result<SchemaRef> {
        columns.schema(&self.footer).map(Arc::new)
    }

    fn pages(&self, leaf: &Leaf) -> ChunkPages {
        ChunkPages::new(
            Arc::clone(&leaf.chunk),
            leaf.bytes.clone(),
            leaf.places.clone(),
            self.rows as u64,
            Arc::clone(&self.fault),
        )
    }

    /// Decodes rows of some columns, whose bytes are there. No gap between the rows is a short one.
    pub(super) fn decode(
        &self,
        columns: &Columns,
        rows: &Rows,
        batch_rows: usize,
    ) -> Result<ParquetRecordBatchReader> {
        let schema = self.footer.arrow().parquet_schema();
        let fields = self.footer.arrow().schema().fields();
        let listed = match any_map(fields) {
            true => Some(schema_of_lists(schema)?),
            false => None,
        };
        let hint = fields_of_lists(fields);
        let schema = listed.as_ref().unwrap_or(schema);
        let levels = parquet_to_arrow_field_levels(schema, columns.mask().clone(), Some(&hint));
        let levels = levels.map_err(from_parquet)?;
        let selection = rows.selection(self.rows);
        let batch_rows = batch_rows.min(self.rows);
        ParquetRecordBatchReader::try_new_with_row_groups(&levels, self, batch_rows, selection)
            .map_err(|error| self.failed(error))
    }

    /// A decoded batch with the maps that were decoded as lists.
    pub(super) fn finish(&self, batch: RecordBatch, columns: &Columns) -> Result<RecordBatch> {
        let fields: Fields = columns.schema(&self.footer)?.fields;
        match any_map(&fields) {
            true => with_maps(&batch, &fields),
            false => Ok(batch),
        }
    }

    /// What the decoder failed with, typed where a page reader failed.
    pub(super) fn failed(&self, error: ParquetError) -> Error {
        let mut fault = self.fault.lock().unwrap_or_else(PoisonError::into_inner);
        fault.take().unwrap_or_else(|| {
            let starts = self
                .leaves
                .iter()
                .map(|leaf| leaf.chunk.facts.byte_range().0);
            from_parquet(error).context("offset", starts.min().unwrap_or(0))
        })
    }
}

impl Leaf {
    /// The ranges that hold some rows.
    fn needed(&self, rows: &Rows) -> Vec<Range<u64>> {
        let (start, length) = self.chunk.facts.byte_range();
        let Some(places) = &self.places else {
            return Vec::from([start..start + length]);
        };
        let mut needed = Vec::new();
        let first = places.first().map_or(start, |place| place.range.start);
        if first > start {
            needed.push(start..first);
        }
        let mut row = 0;
        for place in places {
            let end = row + usize::try_from(place.rows).unwrap_or(usize::MAX);
            if rows.touch(&(row..end)) {
                needed.push(place.range.clone());
            }
            row = end;
        }
        needed
    }
}

/// The pages of a leaf by the page index, if it is known; it was held against the footer when it was read.
fn places(metadata: &ParquetMetaData, group: usize, leaf: usize, rows: u64) -> Option<Vec<Place>> {
    let locations = metadata.page_index()?.page_locations(group, leaf)?;
    let starts = locations.iter().map(|at| u64::try_from(at.first_row_index));
    let starts = starts.collect::<Result<Vec<u64>, _>>().ok()?;
    let ends = starts.iter().skip(1).copied().chain([rows]);
    let places = locations.iter().zip(starts.iter().zip(ends));
    let places = places.map(|(location, (start, end))| {
        let offset = u64::try_from(location.offset).ok()?;
        let size = u64::try_from(location.compressed_page_size).ok()?;
        let rows = end.checked_sub(*start)?;
        let range = offset..offset + size;
        Some(Place { range, rows })
    });
    let places = places.collect::<Option<Vec<Place>>>()?;
    (!places.is_empty()).then_some(places)
}

impl RowGroups for Group {
    fn num_rows(&self) -> usize {
        self.rows
    }

    fn column_chunks(&self, leaf: usize) -> Result<Box<dyn PageIterator>, ParquetError> {
        let leaf = self.leaves.get(leaf);
        let leaf = leaf.ok_or_else(|| ParquetError::General("no such column".to_owned()))?;
        Ok(Box::new(OneChunk(Some(Box::new(self.pages(leaf))))))
    }

    fn row_groups(&self) -> Box<dyn Iterator<Item = &RowGroupMetaData> + '_> {
        Box::new(self.metadata().row_groups().get(self.group).into_iter())
    }

    fn metadata(&self) -> &ParquetMetaData {
        self.footer.metadata()
    }
}

/// The pages of the one chunk that a column has in a row group.
struct OneChunk(Option<Box<dyn PageReader>>);

impl Iterator for OneChunk {
    type Item = Result<Box<dyn PageReader>, ParquetError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.0.take().map(Ok)
    }
}

impl PageIterator for OneChunk {}
