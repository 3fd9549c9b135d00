//! One row group: which bytes its columns need, and readers over those that are there.

use std::ops::Range;
use std::sync::Arc;

use arrow::array::ArrayRef;
use arrow::datatypes::{Field, SchemaRef};
use bytes::Bytes;
use parquet::file::metadata::ParquetMetaData;

use super::chunk_bytes::ChunkBytes;
use super::columns::Columns;
use super::flat::FlatColumn;
use super::footer::Footer;
use super::nested::NestedColumn;
use super::page_reader::ChunkPages;
use super::page_walk::Place;
use super::pages::Chunk;
use super::rows::Rows;
use crate::error::{Error, Result};

/// One row group of a file.
pub(super) struct Group {
    footer: Footer,
    rows: usize,
    leaves: Vec<Leaf>,
}

/// A root column being decoded.
pub(super) enum Column {
    Flat(Box<FlatColumn>),
    Nested(NestedColumn),
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
            rows: usize::try_from(rows).unwrap_or(usize::MAX),
        })
    }

    /// The rows of the row group.
    pub(super) fn rows(&self) -> usize {
        self.rows
    }

    /// The ranges that some columns need for the wanted rows and that are not there.
    pub(super) fn missing(&self, columns: &Columns, wanted: &Rows) -> Vec<Range<u64>> {
        let leaves = self.leaves.iter().enumerate();
        let leaves = leaves.filter(|(at, _)| columns.has_leaf(*at));
        let needed = leaves.flat_map(|(_, leaf)| {
            let needed = leaf.needed(wanted).into_iter();
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

    /// Readers of columns, whose bytes are there.
    pub(super) fn columns(&self, columns: &Columns) -> Result<Vec<Column>> {
        let schema = columns.schema(&self.footer)?;
        let roots = columns.roots().iter().zip(schema.fields());
        roots
            .map(|(root, field)| self.column(*root, field))
            .collect()
    }

    fn column(&self, root: usize, field: &Field) -> Result<Column> {
        let lost = || Error::internal("a column without leaves");
        let schema = self.footer.arrow().parquet_schema();
        let leaves = self.leaves.iter().enumerate();
        let leaves = leaves.filter(|(at, _)| schema.get_column_root_idx(*at) == root);
        let mut chunks = leaves.map(|(_, leaf)| (Arc::clone(&leaf.chunk), self.pages(leaf)));
        let of = schema.root_schema().get_fields().get(root);
        let of = of.filter(|of| of.name() == field.name()).ok_or_else(lost)?;
        // A repeated field without a group of its own is a list too.
        Ok(match field.data_type().is_nested() {
            true => {
                let chunks = chunks.collect();
                Column::Nested(NestedColumn::new(of, field.data_type(), chunks)?)
            }
            false => {
                let (chunk, pages) = chunks.next().ok_or_else(lost)?;
                Column::Flat(Box::new(FlatColumn::new(&chunk, field.data_type(), pages)?))
            }
        })
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
        )
    }
}

impl Column {
    /// An array of these rows, which lie behind those that were read before.
    pub(super) fn read(&mut self, rows: &Rows) -> Result<ArrayRef> {
        match self {
            Self::Flat(column) => column.read(rows),
            Self::Nested(column) => column.read(rows),
        }
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
