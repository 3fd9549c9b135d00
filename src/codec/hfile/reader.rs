use std::ops::Range;

use bytes::Bytes;

use super::block::{self, Block, Kind};
use super::index::{self, BlockRef};
use super::info::FileInfo;
use super::key_value::{self, KeyValue};
use super::query::Query;
use super::trailer::{Compression, Trailer};
use crate::error::{Error, Result, ResultExt};

/// A file this small is fetched whole: a second request costs more than its bytes.
const WHOLE: u64 = 256 << 10;

/// Trailer, file info with its schema, and root indexes of a few hundred blocks fit in here.
const TAIL: u64 = 64 << 10;

/// Where the first request for a file of `size` bytes goes: all of a small one, else its end.
pub fn first_range(size: u64) -> Range<u64> {
    match size {
        ..=WHOLE => 0..size,
        _ => size - TAIL..size,
    }
}

/// A file opened: its trailer, root index and file info.
#[derive(Debug, Clone)]
pub struct HFile {
    trailer: Trailer,
    root: Vec<BlockRef>,
    info: FileInfo,
}

/// What opening a file came to.
#[derive(Debug)]
pub enum Opening {
    /// The file is open.
    Open(HFile),
    /// These bytes of the file, up to its end, are needed to open it.
    Need(Range<u64>),
}

impl HFile {
    /// Opens a file of `size` bytes by its last bytes, `tail`.
    ///
    /// Errors: `Corrupt` with the `offset`; `Unsupported` for a version, codec or layout that Hudi does not write.
    pub fn open(size: u64, tail: &Bytes) -> Result<Opening> {
        let wanted = Trailer::range(size)?;
        let Some(trailer) = at(tail, size, &wanted) else {
            return Ok(Opening::Need(wanted));
        };
        let trailer = Trailer::parse(size, &trailer)?;
        let wanted = trailer.load_on_open();
        match at(tail, size, &wanted) {
            Some(section) => Self::of_section(trailer, &section).map(Opening::Open),
            None => Ok(Opening::Need(wanted.start..size)),
        }
    }

    fn of_section(trailer: Trailer, section: &Bytes) -> Result<Self> {
        let start = trailer.load_on_open;
        let root = block::read(section, start, trailer.compression)?;
        expect(&root, Kind::RootIndex).context("offset", start)?;
        let blocks = index::root(&root.data, trailer.data_index_count, trailer.load_on_open);
        let root = blocks.map_err(|e| placed(e, start))?;
        let start = trailer.file_info;
        let offset = usize::try_from(start - trailer.load_on_open).unwrap_or(usize::MAX);
        // The trailer is checked: the file info begins in the section.
        let info = section.slice(offset.min(section.len())..);
        let info = block::read(&info, start, trailer.compression)?;
        expect(&info, Kind::FileInfo).context("offset", start)?;
        let info = FileInfo::parse(&info.data).map_err(|e| placed(e, start))?;
        Ok(Self {
            trailer,
            root,
            info,
        })
    }

    /// What the writer said about the whole file.
    pub fn info(&self) -> &FileInfo {
        &self.info
    }

    /// Keys of the file.
    pub fn entries(&self) -> u64 {
        self.trailer.entries
    }

    /// Begins to look for the keys of a query.
    pub fn search(&self, query: Query) -> Search {
        let depth = self.trailer.data_index_levels - 1;
        let mut search = Search {
            compression: self.trailer.compression,
            end: self.trailer.load_on_open,
            depth,
            query,
            blocks: Vec::new(),
            found: Vec::new(),
        };
        search.blocks = search.touched(&self.root, None);
        search
    }
}

/// The bytes of `wanted` in the last bytes of a file of `size` bytes.
fn at(tail: &Bytes, size: u64, wanted: &Range<u64>) -> Option<Bytes> {
    let start = size.checked_sub(tail.len() as u64)?;
    let from = usize::try_from(wanted.start.checked_sub(start)?).ok()?;
    let to = usize::try_from(wanted.end.checked_sub(start)?).ok()?;
    (from <= to && to <= tail.len()).then(|| tail.slice(from..to))
}

/// A search from the root index down to data blocks, one level of blocks at a time.
///
/// As long as [`Search::needs`] names blocks, their bytes go into [`Search::give`]; then [`Search::finish`] has what was
/// found. Blocks that no wanted key can be in are not asked for.
#[derive(Debug)]
pub struct Search {
    compression: Compression,
    /// Where the file's blocks end.
    end: u64,
    /// Index levels still between the blocks and the data.
    depth: u32,
    query: Query,
    /// The blocks to be read, in order, each with the greatest key that it may hold.
    blocks: Vec<(BlockRef, Option<Bytes>)>,
    found: Vec<KeyValue>,
}

impl Search {
    /// Whether only data blocks are left to be read, which may then be given one after the other.
    pub fn is_at_data(&self) -> bool {
        self.depth == 0
    }

    /// Takes the bytes of the first range that is needed, of a search that is at its data, and hands out what is in it.
    ///
    /// Errors: as [`Search::give`].
    pub fn give_one(&mut self, bytes: &Bytes) -> Result<Vec<KeyValue>> {
        if self.depth > 0 || self.blocks.is_empty() {
            return Err(Error::internal("an HFile search was given other blocks"));
        }
        let rest = self.blocks.split_off(1);
        self.give(std::slice::from_ref(bytes))?;
        self.blocks = rest;
        Ok(std::mem::take(&mut self.found))
    }

    /// The bytes needed next, in the file's order; none when the search has ended.
    pub fn needs(&self) -> Vec<Range<u64>> {
        self.blocks.iter().map(|(block, _)| block.range()).collect()
    }

    /// Takes the bytes of the ranges that were needed, in their order.
    ///
    /// Errors: `Corrupt` with the `offset`.
    pub fn give(&mut self, bytes: &[Bytes]) -> Result<()> {
        let blocks = std::mem::take(&mut self.blocks);
        if blocks.len() != bytes.len() {
            return Err(Error::internal("an HFile search was given other blocks"));
        }
        for ((at, last), bytes) in blocks.into_iter().zip(bytes) {
            let block = block::read(bytes, at.offset, self.compression)?;
            if block.on_disk != bytes.len() {
                return Err(
                    Error::corrupt("an HFile block has another size than its index says")
                        .context("offset", at.offset),
                );
            }
            self.take(&block, last).map_err(|e| placed(e, at.offset))?;
        }
        self.depth = self.depth.saturating_sub(1);
        Ok(())
    }

    fn take(&mut self, block: &Block, last: Option<Bytes>) -> Result<()> {
        match self.depth {
            0 => {
                expect(block, Kind::Data)?;
                let (query, found) = (&self.query, &mut self.found);
                key_value::each(&block.data, |entry| {
                    if query.wants(&entry.key) {
                        found.push(entry);
                    }
                })?;
            }
            depth => {
                let kind = match depth {
                    1 => Kind::LeafIndex,
                    _ => Kind::IntermediateIndex,
                };
                expect(block, kind)?;
                let entries = index::inner(&block.data, self.end)?;
                let touched = self.touched(&entries, last);
                self.blocks.extend(touched);
            }
        }
        Ok(())
    }

    /// The blocks of an index that may hold wanted keys; `last` bounds the keys of its last block.
    fn touched(&self, entries: &[BlockRef], last: Option<Bytes>) -> Vec<(BlockRef, Option<Bytes>)> {
        let nexts = entries
            .iter()
            .skip(1)
            .map(|next| Some(next.first_key.clone()));
        let lasts = nexts.chain([last]);
        entries
            .iter()
            .zip(lasts)
            .filter(|(block, last)| self.query.touches(&block.first_key, last.as_deref()))
            .map(|(block, last)| (block.clone(), last))
            .collect()
    }

    /// What was found, by key. Empty before the search has ended.
    pub fn finish(self) -> Vec<KeyValue> {
        self.found
    }
}

/// Every key and value of a file that is there whole, such as a log block's content.
///
/// Errors: as [`HFile::open`], and `Corrupt` when other than the declared number of keys come out.
pub fn scan_all(file: &Bytes) -> Result<Vec<KeyValue>> {
    let Opening::Open(opened) = HFile::open(file.len() as u64, file)? else {
        return Err(Error::internal("a whole HFile wants more than itself"));
    };
    let mut search = opened.search(Query::All);
    loop {
        let needs = search.needs();
        if needs.is_empty() {
            break;
        }
        let size = file.len() as u64;
        // Each range is checked against the end of the file's blocks.
        let blocks = needs.iter().filter_map(|range| at(file, size, range));
        search.give(&blocks.collect::<Vec<_>>())?;
    }
    let found = search.finish();
    if found.len() as u64 != opened.entries() {
        return Err(Error::corrupt("an HFile has other keys than it declares")
            .context("offset", opened.trailer.start));
    }
    if !found.is_sorted_by(|a, b| a.key <= b.key) {
        return Err(Error::corrupt("the keys of an HFile do not rise").context("offset", 0));
    }
    Ok(found)
}

fn expect(block: &Block, kind: Kind) -> Result<()> {
    match block.kind == kind {
        true => Ok(()),
        false => Err(Error::corrupt(
            "an HFile block is of another kind than expected",
        )),
    }
}

/// An error inside a block's data, whose own offset counts in the decompressed bytes: the block's stands for it.
fn placed(error: Error, block: u64) -> Error {
    let inside = error.get("offset").map(str::to_owned);
    let placed = Error::new(error.kind(), error.message()).context("offset", block);
    match inside {
        Some(inside) => placed.context("inside", inside),
        None => placed,
    }
}
