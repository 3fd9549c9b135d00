use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;

use crate::codec::parquet::{Footer, first_ranges, metadata_range};
use crate::error::{Error, Result, ResultExt};
use crate::model::{BaseFile, BaseFormat};
use crate::storage::{Cause, Storage, UNKNOWN_SIZE};

/// An open base file: its footer, and the bytes that came with it.
#[derive(Debug, Clone)]
pub(super) struct OpenFile {
    pub(super) storage: Storage,
    pub(super) path: Arc<str>,
    pub(super) footer: Arc<Footer>,
    /// What of the file came with the footer.
    pieces: Vec<Piece>,
}

/// Bytes of a file, and where they begin.
type Piece = (u64, Bytes);

/// Of a footer that the first requests do not hold so much of its front is fetched. Behind it is the bloom filter's text.
const FRONT: u64 = 64 << 10;

/// And so much before it, where the page index stands.
const BEFORE: u64 = 64 << 10;

impl OpenFile {
    /// Fetches and checks the footer: those of [`first_ranges`] at once; one request more when its front is not in them, and one
    /// more when what they spare is no bloom filter.
    pub(super) async fn open(storage: &Storage, path: &str, size: u64) -> Result<Self> {
        storage.checked(path, Self::load(storage, path, size).await)
    }

    async fn load(storage: &Storage, path: &str, size: u64) -> Result<Self> {
        let size = match size {
            // One round more, for the size that comes with any bytes.
            UNKNOWN_SIZE => storage.get_first(path, 0..1, Cause::Footer).await?.0,
            size => size,
        };
        let ranges = first_ranges(size);
        let bytes = fetch(storage, path, size, &ranges).await?;
        let starts = ranges.iter().map(|range| range.start);
        let mut pieces: Vec<Piece> = starts.zip(bytes).collect();
        let tail = pieces.pop().unwrap_or_default();
        let range = metadata_range(size, &tail.1).context("path", path)?;
        let (footer, pieces) = if range.start < tail.0 {
            let front = pieces.pop();
            long_footer(storage, path, size, range, front, tail).await?
        } else {
            let metadata = slice_of(&tail, &range).unwrap_or_default();
            let footer = Footer::parse(size, range.start, metadata).context("path", path)?;
            pieces.push(tail);
            (footer, pieces)
        };
        Ok(Self {
            storage: storage.clone(),
            path: path.into(),
            footer: Arc::new(footer),
            pieces,
        })
    }

    /// The bytes of ranges: what came with the footer is not fetched again.
    pub(super) async fn bytes(&self, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        let absent = ranges.iter().filter(|range| self.here(range).is_none());
        let absent: Vec<Range<u64>> = absent.cloned().collect();
        let mut fetched = Vec::new();
        if !absent.is_empty() {
            let size = self.footer.size();
            let get = self
                .storage
                .get_ranges(&self.path, size, &absent, Cause::Data);
            fetched = get.await?;
        }
        let mut fetched = fetched.into_iter();
        let all = ranges.iter().map(|range| match self.here(range) {
            Some(bytes) => bytes,
            None => fetched.next().unwrap_or_default(),
        });
        Ok(all.collect())
    }

    /// Whether the bytes of a range came with the footer.
    pub(super) fn has(&self, range: &Range<u64>) -> bool {
        self.here(range).is_some()
    }

    /// The bytes of a range, when they came with the footer.
    pub(super) fn here(&self, range: &Range<u64>) -> Option<Bytes> {
        let mut pieces = self.pieces.iter();
        pieces.find_map(|piece| slice_of(piece, range))
    }
}

/// A footer at `range` that begins before the tail: its front is fetched unless `guessed` holds it, and what lies between only
/// when it is not the bloom filter's text.
async fn long_footer(
    storage: &Storage,
    path: &str,
    size: u64,
    range: Range<u64>,
    guessed: Option<Piece>,
    tail: Piece,
) -> Result<(Footer, Vec<Piece>)> {
    let holds = |piece: &Piece| piece.0 <= range.start && range.start < end_of(piece);
    let front = match guessed.filter(holds) {
        Some(front) => front,
        None => {
            let from = range.start.saturating_sub(BEFORE);
            let to = (range.start + FRONT).min(tail.0);
            (from, fetch_one(storage, path, size, from..to).await?)
        }
    };
    let between = end_of(&front)..tail.0;
    if between.is_empty() {
        return whole_footer(size, range, &[front, tail]).context("path", path);
    }
    let metadata = holed(&range, &front, &tail);
    let place = |at: u64| usize::try_from(at - range.start).unwrap_or(usize::MAX);
    let hole = place(between.start)..place(between.end);
    let footer = Footer::parse_holed(size, range.start, &metadata, &hole);
    if let Some(footer) = footer.context("path", path)? {
        return Ok((footer, Vec::from([front, tail])));
    }
    let fetched = fetch_one(storage, path, size, between.clone()).await?;
    whole_footer(size, range, &[front, (between.start, fetched), tail]).context("path", path)
}

/// The footer of pieces that lie one behind the other.
fn whole_footer(size: u64, range: Range<u64>, pieces: &[Piece]) -> Result<(Footer, Vec<Piece>)> {
    let from = pieces.first().map_or(0, |piece| piece.0);
    let bytes: Vec<&[u8]> = pieces.iter().map(|piece| piece.1.as_ref()).collect();
    let whole = (from, Bytes::from(bytes.concat()));
    let metadata = slice_of(&whole, &range).unwrap_or_default();
    let footer = Footer::parse(size, range.start, metadata)?;
    Ok((footer, Vec::from([whole])))
}

/// The metadata at `range` with zeros between what is there of it.
fn holed(range: &Range<u64>, front: &Piece, tail: &Piece) -> Vec<u8> {
    let mut metadata = Vec::new();
    let begin = slice_of(front, &(range.start..end_of(front))).unwrap_or_default();
    metadata.extend_from_slice(&begin);
    let hole = usize::try_from(tail.0 - range.start).unwrap_or(usize::MAX);
    metadata.resize(hole, 0);
    let rest = slice_of(tail, &(tail.0..range.end)).unwrap_or_default();
    metadata.extend_from_slice(&rest);
    metadata
}

fn end_of((start, bytes): &Piece) -> u64 {
    start + bytes.len() as u64
}

/// A base file whose footer is there, before it is known what to read of it.
#[derive(Debug, Clone)]
pub struct OpenedFile(pub(super) OpenFile);

/// Fetches the footer of a base file: one step, or two when it is longer than usual.
///
/// Errors: `Unsupported` with `format` for a file that is no Parquet file by its name, else as [`open_footer`].
pub async fn open_file(storage: &Storage, file: &BaseFile) -> Result<OpenedFile> {
    let format = file.name.format;
    if format != BaseFormat::Parquet {
        return Err(
            Error::unsupported("a base file of a format that is not read")
                .context("format", format.extension())
                .context("path", &file.path),
        );
    }
    let open = OpenFile::open(storage, &file.path, file.size).await?;
    Ok(OpenedFile(open))
}

/// The footer of a base file of `size` bytes: one step, or two when it is longer than usual; one more for a size that is
/// not known.
///
/// Errors: `Corrupt` with path and offset when the file is no Parquet file or its footer contradicts itself.
pub async fn open_footer(storage: &Storage, path: &str, size: u64) -> Result<Arc<Footer>> {
    Ok(OpenFile::open(storage, path, size).await?.footer)
}

async fn fetch(
    storage: &Storage,
    path: &str,
    size: u64,
    ranges: &[Range<u64>],
) -> Result<Vec<Bytes>> {
    storage.get_ranges(path, size, ranges, Cause::Footer).await
}

async fn fetch_one(storage: &Storage, path: &str, size: u64, range: Range<u64>) -> Result<Bytes> {
    let mut got = fetch(storage, path, size, &[range]).await?;
    Ok(got.pop().unwrap_or_default())
}

/// The range out of bytes that begin at an offset, without a copy.
fn slice_of((start, bytes): &Piece, range: &Range<u64>) -> Option<Bytes> {
    let from = usize::try_from(range.start.checked_sub(*start)?).ok()?;
    let to = usize::try_from(range.end.checked_sub(*start)?).ok()?;
    (from <= to && to <= bytes.len()).then(|| bytes.slice(from..to))
}
