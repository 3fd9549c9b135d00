//! A whole file: row groups one after the other, then indexes and footer.
//!
//! ```text
//! PAR1 | row groups: column chunks: dictionary page, data pages | column indexes | offset indexes | footer | its length | PAR1
//! ```

use arrow::array::ArrayRef;
use bytes::Bytes;

use super::bound::{self, Bounds};
use super::column::{ColumnWriter, PAGE_BYTES};
use super::compress::{Codec, Compressor};
use super::encoder::RLE;
use super::file_schema::{FileSchema, Leaf, Node};
use super::footer::{ChunkFacts, GroupFacts, footer, indexes};
use super::levels;
use super::page::DonePage;
use crate::error::{Error, Result};
use crate::expr::Scalar;

/// Rows that the columns take at once, so that pages end near their limits.
const PIECE: usize = 4000;

/// What the file holds of one column, over all row groups.
#[derive(Debug, Clone)]
pub struct ColumnSummary {
    /// The names from the root.
    pub path: Vec<String>,
    /// Whether it lies in no list and no map.
    pub flat: bool,
    /// The least and the greatest value; none when all are null, when a NaN is among them, and where Java leaves them out.
    pub bounds: Option<(Scalar, Scalar)>,
    /// Whether a NaN is among the values.
    pub nan: bool,
    /// Rows without a value; in lists and maps, places without one.
    pub null_count: u64,
    /// Rows, or places.
    pub value_count: u64,
    /// Bytes in the file.
    pub total_size: u64,
    /// Bytes before compression.
    pub total_uncompressed_size: u64,
}

/// A column that is not taken from the rows' arrays.
#[derive(Debug, Clone)]
pub enum Source {
    /// From the next array of the rows.
    Array,
    /// One text in all rows.
    Constant(String),
    /// Texts handed over with the rows.
    Texts,
    /// This text and the number of the row in the file, from 0.
    Counter(String),
    /// Null in all rows.
    Absent,
}

/// The columns of one call of [`FileWriter::push`].
pub struct Rows<'a, T> {
    /// The arrays of the columns that have one, in order.
    pub arrays: &'a [ArrayRef],
    /// The texts of the columns that have none, in order.
    pub texts: &'a [T],
    /// How many rows.
    pub count: usize,
}

/// Texts of one column.
pub trait TextRows {
    /// The texts of rows `start..end`.
    fn texts(&self, start: usize, end: usize) -> impl ExactSizeIterator<Item = &[u8]> + Clone;
}

/// Writes a file into memory, bit by bit: what is finished is taken away by [`FileWriter::take`].
pub struct FileWriter {
    schema: FileSchema,
    /// For each field: its leaves in `columns`.
    fields: Vec<(Node, Source, usize)>,
    columns: Vec<ColumnWriter>,
    group_rows: usize,
    groups: Vec<GroupFacts>,
    written: u64,
    ready: Vec<Bytes>,
}

impl FileWriter {
    /// Begins a file; `sources` has one entry a field.
    pub fn new(schema: &FileSchema, sources: &[Source]) -> Result<Self> {
        if schema.fields.len() != sources.len() {
            return Err(Error::internal(
                "the columns of a file and their sources differ",
            ));
        }
        let mut leaves = schema.leaves().into_iter();
        let (mut fields, mut columns) = (Vec::new(), Vec::new());
        for (node, source) in schema.fields.iter().zip(sources) {
            let of_field = leaf_count(node);
            for leaf in leaves.by_ref().take(of_field) {
                columns.push(match source {
                    Source::Array => ColumnWriter::new(leaf),
                    Source::Constant(text) => ColumnWriter::constant(leaf, text.as_bytes()),
                    Source::Texts => ColumnWriter::derived(leaf),
                    Source::Counter(prefix) => ColumnWriter::counter(leaf, prefix.as_bytes()),
                    Source::Absent => ColumnWriter::absent(leaf),
                });
            }
            fields.push((node.clone(), source.clone(), of_field));
        }
        Ok(Self {
            schema: schema.clone(),
            fields,
            columns,
            group_rows: 0,
            groups: Vec::new(),
            written: 4,
            ready: vec![Bytes::from_static(b"PAR1")],
        })
    }

    /// Adds rows. Arrays must be of the types that [`to_arrow`](crate::schema::to_arrow) gives.
    ///
    /// Errors: `Schema` for a null in a column without nulls.
    pub fn push<T: TextRows>(&mut self, rows: &Rows<'_, T>, packer: &mut Compressor) -> Result<()> {
        let piece = piece_rows(rows.arrays, rows.count);
        let mut start = 0;
        while start < rows.count {
            let end = rows.count.min(start + piece);
            self.push_piece(rows, start, end, packer)?;
            start = end;
        }
        self.group_rows += rows.count;
        Ok(())
    }

    fn push_piece<T: TextRows>(
        &mut self,
        rows: &Rows<'_, T>,
        start: usize,
        end: usize,
        packer: &mut Compressor,
    ) -> Result<()> {
        let missing = || Error::internal("a column of a file was not handed over");
        let (mut arrays, mut texts) = (rows.arrays.iter(), rows.texts.iter());
        let mut columns = self.columns.iter_mut();
        for (node, source, leaves) in &self.fields {
            let mut writers = columns.by_ref().take(*leaves);
            match source {
                Source::Array => {
                    let array = arrays.next().ok_or_else(missing)?;
                    let array = array.slice(start, end - start);
                    for leaf in levels::leaves(node, &array)? {
                        let writer = writers.next().ok_or_else(missing)?;
                        writer.push(&leaf, packer)?;
                    }
                }
                Source::Constant(_) | Source::Counter(_) | Source::Absent => {
                    let writer = writers.next().ok_or_else(missing)?;
                    writer.push_rows(end - start, packer)?;
                }
                Source::Texts => {
                    let writer = writers.next().ok_or_else(missing)?;
                    let texts = texts.next().ok_or_else(missing)?;
                    writer.push_texts(texts.texts(start, end), packer)?;
                }
            }
        }
        Ok(())
    }

    /// Rows of the group that is open.
    pub fn group_rows(&self) -> usize {
        self.group_rows
    }

    /// Bytes of memory that the open group takes, about.
    pub fn memory(&self) -> usize {
        self.columns.iter().map(ColumnWriter::memory).sum()
    }

    /// Bytes that the file has by now, the pages of the open group among them.
    pub fn size(&self) -> u64 {
        let open: usize = self.columns.iter().map(|column| column.finished).sum();
        self.written + open as u64
    }

    /// Ends the open row group, when it has rows.
    pub fn finish_group(&mut self, packer: &mut Compressor) -> Result<()> {
        if self.group_rows == 0 {
            return Ok(());
        }
        let mut group = GroupFacts {
            rows: self.group_rows,
            offset: self.written,
            chunks: Vec::with_capacity(self.columns.len()),
        };
        for column in &mut self.columns {
            let (dictionary, pages) = column.finish_chunk(packer)?;
            let codec = packer.codec();
            let facts = chunk_facts(
                &column.leaf,
                self.written,
                dictionary.as_ref(),
                &pages,
                codec,
            );
            self.written += facts.size;
            group.chunks.push(facts);
            let pages = dictionary.into_iter().chain(pages);
            self.ready.extend(pages.map(|page| Bytes::from(page.bytes)));
        }
        self.groups.push(group);
        self.group_rows = 0;
        Ok(())
    }

    /// The finished bytes since the last call, in the order of the file.
    pub fn take(&mut self) -> Vec<Bytes> {
        std::mem::take(&mut self.ready)
    }

    /// Ends the file with `keys` in its footer. Returns its last bytes and what it holds of each column.
    pub fn finish(
        mut self,
        keys: &[(&str, &str)],
        packer: &mut Compressor,
    ) -> Result<(Vec<Bytes>, Vec<ColumnSummary>)> {
        self.finish_group(packer)?;
        let indexes = indexes(&mut self.groups, self.written);
        let footer = footer(&self.schema, &self.groups, keys);
        let length = u32::try_from(footer.len());
        let length = length.map_err(|_| Error::limit_exceeded("a footer is larger than 4 GiB"))?;
        let mut ready = self.ready;
        ready.extend([indexes, footer].map(Bytes::from));
        ready.push(Bytes::copy_from_slice(&length.to_le_bytes()));
        ready.push(Bytes::from_static(b"PAR1"));
        let summaries = self.columns.iter().enumerate();
        let summaries = summaries.map(|(at, column)| summary(&column.leaf, &self.groups, at));
        Ok((ready, summaries.collect()))
    }
}

fn leaf_count(node: &Node) -> usize {
    match &node.kind {
        super::file_schema::Kind::Leaf(..) => 1,
        super::file_schema::Kind::Group(_, children) => children.iter().map(leaf_count).sum(),
    }
}

/// So many rows that no column's share passes a page by much.
fn piece_rows(arrays: &[ArrayRef], rows: usize) -> usize {
    let sizes = arrays.iter().map(|array| {
        use arrow::array::Array;
        array.to_data().get_slice_memory_size().unwrap_or(0)
    });
    let largest = sizes.max().unwrap_or(0).max(1);
    let of_page = PAGE_BYTES.saturating_mul(rows) / largest;
    of_page.clamp(1, PIECE)
}

fn chunk_facts(
    leaf: &Leaf,
    offset: u64,
    dictionary: Option<&DonePage>,
    pages: &[DonePage],
    codec: Codec,
) -> ChunkFacts {
    let mut bounds: Option<Bounds> = None;
    let nan = pages.iter().any(|page| page.nan);
    for page in pages.iter().filter(|_| !nan) {
        if let Some(more) = &page.bounds {
            bound::widen(&mut bounds, more.clone());
        }
    }
    let all = || dictionary.into_iter().chain(pages);
    let size = all().map(|page| page.bytes.len() as u64).sum();
    let mut encodings: Vec<i32> = vec![RLE];
    for page in all().filter(|page| page.encoding != RLE) {
        if !encodings.contains(&page.encoding) {
            encodings.push(page.encoding);
        }
    }
    let first = offset + dictionary.map_or(0, |page| page.bytes.len() as u64);
    ChunkFacts {
        leaf: leaf.clone(),
        codec: codec.number(),
        encodings,
        offset,
        first_data_page: first,
        dictionary: dictionary.is_some(),
        size,
        unpacked: all().map(|page| page.unpacked as u64).sum(),
        values: pages.iter().map(|page| page.slots as u64).sum(),
        nulls: pages.iter().map(|page| page.nulls as u64).sum(),
        bounds,
        nan,
        pages: pages.iter().map(super::footer::PageFacts::of).collect(),
        offset_index: (0, 0),
        column_index: None,
    }
}

fn summary(leaf: &Leaf, groups: &[GroupFacts], at: usize) -> ColumnSummary {
    let chunks = || groups.iter().filter_map(|group| group.chunks.get(at));
    let known = chunks()
        .all(|chunk| chunk.nulls == chunk.values || bound::in_footer(&chunk.bounds).is_some());
    let mut bounds: Option<Bounds> = None;
    for more in chunks()
        .filter(|_| known)
        .filter_map(|chunk| chunk.bounds.clone())
    {
        bound::widen(&mut bounds, more);
    }
    ColumnSummary {
        path: leaf.path.clone(),
        flat: leaf.max_rep == 0,
        bounds: bound::as_scalars(&bounds),
        nan: chunks().any(|chunk| chunk.nan),
        null_count: chunks().map(|chunk| chunk.nulls).sum(),
        value_count: chunks().map(|chunk| chunk.values).sum(),
        total_size: chunks().map(|chunk| chunk.size).sum(),
        total_uncompressed_size: chunks().map(|chunk| chunk.unpacked).sum(),
    }
}
