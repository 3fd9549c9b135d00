use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;

use crate::codec::parquet::{Footer, first_range, metadata_range};
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

/// Of a footer longer than the first request so much of its front is fetched. Behind it is the bloom filter's text.
const FRONT: u64 = 64 << 10;

/// And so much before it, where the page index stands.
const BEFORE: u64 = 64 << 10;

impl OpenFile {
    /// Fetches and checks the footer: one request, or two when it is longer than [`first_range`], or three when it is so
    /// without a bloom filter.
    pub(super) async fn open(storage: &Storage, path: &str, size: u64) -> Result<Self> {
        storage.checked(path, Self::load(storage, path, size).await)
    }

    async fn load(storage: &Storage, path: &str, size: u64) -> Result<Self> {
        let size = match size {
            // One round more, for the size that comes with any bytes.
            UNKNOWN_SIZE => storage.get_first(path, 0..1, Cause::Footer).await?.0,
            size => size,
        };
        let first = first_range(size);
        let tail = fetch_one(storage, path, size, first.clone()).await?;
        let range = metadata_range(size, &tail).context("path", path)?;
        let tail = (first.start, tail);
        let (footer, pieces) = match range.start < first.start {
            true => long_footer(storage, path, size, range, tail).await?,
            false => {
                let metadata = slice_of(&tail, &range).unwrap_or_default();
                let footer = Footer::parse(size, range.start, metadata).context("path", path)?;
                (footer, Vec::from([tail]))
            }
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

    fn here(&self, range: &Range<u64>) -> Option<Bytes> {
        let mut pieces = self.pieces.iter();
        pieces.find_map(|piece| slice_of(piece, range))
    }
}

/// A footer at `range` that begins before the tail: its front is fetched, and what lies between only when it is not the bloom
/// filter's text.
async fn long_footer(
    storage: &Storage,
    path: &str,
    size: u64,
    range: Range<u64>,
    tail: Piece,
) -> Result<(Footer, Vec<Piece>)> {
    let from = range.start.saturating_sub(BEFORE);
    let to = (range.start + FRONT).min(tail.0);
    let mut front = fetch_one(storage, path, size, from..to).await?;
    if to < tail.0 {
        let fetched = slice_of(&(from, front.clone()), &(range.start..to)).unwrap_or_default();
        let begin = fetched.len();
        let end = usize::try_from(tail.0 - range.start).unwrap_or(usize::MAX);
        let mut metadata = vec![0; end];
        if let Some(front) = metadata.get_mut(..begin) {
            front.copy_from_slice(&fetched);
        }
        let rest = slice_of(&tail, &(tail.0..range.end)).unwrap_or_default();
        metadata.extend_from_slice(&rest);
        let footer = Footer::parse_holed(size, range.start, &metadata, &(begin..end));
        if let Some(footer) = footer.context("path", path)? {
            return Ok((footer, Vec::from([(from, front), tail])));
        }
        let between = fetch_one(storage, path, size, to..tail.0).await?;
        front = [front, between].concat().into();
    }
    let whole = (from, Bytes::from([front, tail.1].concat()));
    let metadata = slice_of(&whole, &range).unwrap_or_default();
    let footer = Footer::parse(size, range.start, metadata).context("path", path)?;
    Ok((footer, Vec::from([whole])))
}

/// A base file whose footer is there, before it is known what to read of it.
#[derive(Debug, Clone)]
pub struct OpenedFile(pub(super) OpenFile);

/// Fetches the footer of a base file: one request, or two when it is longer than usual.
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

/// The footer of a base file of `size` bytes: one request, or two when it is longer than usual; one more for a size that
/// is not known.
///
/// Errors: `Corrupt` with path and offset when the file is no Parquet file or its footer contradicts itself.
pub async fn open_footer(storage: &Storage, path: &str, size: u64) -> Result<Arc<Footer>> {
    Ok(OpenFile::open(storage, path, size).await?.footer)
}

async fn fetch_one(storage: &Storage, path: &str, size: u64, range: Range<u64>) -> Result<Bytes> {
    let mut got = storage
        .get_ranges(path, size, &[range], Cause::Footer)
        .await?;
    Ok(got.pop().unwrap_or_default())
}

/// The range out of bytes that begin at an offset, without a copy.
fn slice_of((start, bytes): &Piece, range: &Range<u64>) -> Option<Bytes> {
    let from = usize::try_from(range.start.checked_sub(*start)?).ok()?;
    let to = usize::try_from(range.end.checked_sub(*start)?).ok()?;
    (from <= to && to <= bytes.len()).then(|| bytes.slice(from..to))
}
