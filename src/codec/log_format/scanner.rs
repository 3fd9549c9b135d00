use std::ops::Range;

use bytes::Bytes;

use super::block::{BlockHeader, BlockKind, LogBlock};
use super::header::{self, Parsed};
use super::pieces::Pieces;
use crate::codec::bytes::Cursor;
use crate::error::{Error, Result};

pub(super) const MAGIC: &[u8; 6] = b"#HUDI#";

/// Magic and length.
const LEAD: u64 = 14;

/// Version and type.
const WORDS: u64 = 8;

/// The reverse pointer at the end of a block.
const POINTER: u64 = 8;

/// The least that a length counts: version, type, two empty maps, content length, reverse pointer.
const LEAST: u64 = 4 + 4 + 4 + 8 + 4 + POINTER;

/// Bytes asked for where a block begins, so that most headers come at once.
const HEAD: u64 = 64 << 10;

/// Bytes asked for before the reverse pointer: more than an empty footer takes.
const FOOTER: u64 = 56;

/// Bytes asked for at a time while the next marker is sought.
const SEEK: u64 = 1 << 20;

/// What a scanner found, or what it needs.
#[derive(Debug, PartialEq, Eq)]
pub enum Step {
    /// Bytes it cannot go on without; to be [fed](LogScanner::feed).
    Need(Range<u64>),
    /// The next block.
    Block(Box<LogBlock>),
    /// Bytes that are no block: from a marker to the next one, to the end of a frame whose inside is broken, or to the end
    /// of the file.
    Damaged(Range<u64>),
    /// The end of the file.
    Done,
}

/// Walks through a log file of known size and says which bytes it needs.
///
/// 1. A block is whole when its length stays within the file, its reverse pointer agrees with its length, a marker or the
///    end of the file follows, and its inside adds up. Anything else is a damaged span, behind which the scan goes on
///    at the very next marker.
/// 2. No more memory is taken than for the bytes that were fed.
/// 3. Contents are never asked for.
///
/// Errors: `Corrupt` for a file that does not begin with a marker, which is no log file; `Unsupported` for a whole block of
/// an unknown log format version, type or header key. Both with `offset`.
#[derive(Debug)]
pub struct LogScanner {
    file: usize,
    size: u64,
    at: u64,
    /// While the next marker is sought: how far there is none.
    seeking: Option<u64>,
    pieces: Pieces,
}

/// What became of one attempt; it lets `?` hand on what is needed.
enum Halt {
    Need(Range<u64>),
    /// The frame is not to be trusted.
    Lost,
    /// The frame is whole and its inside is not.
    Broken {
        end: u64,
    },
    Error(Error),
}

impl From<Error> for Halt {
    fn from(error: Error) -> Self {
        Self::Error(error)
    }
}

impl LogScanner {
    /// At the begin of a file of `size` bytes, the one of index `file` in a list.
    pub fn new(file: usize, size: u64) -> Self {
        Self {
            file,
            size,
            at: 0,
            seeking: None,
            pieces: Pieces::default(),
        }
    }

    /// Hands over bytes of the file.
    pub fn feed(&mut self, offset: u64, bytes: Bytes) {
        self.pieces.add(offset, bytes);
    }

    /// Where the scan stands: behind the last block or span.
    pub fn offset(&self) -> u64 {
        self.at
    }

    /// The next step. After `Need` the same step is tried again.
    pub fn step(&mut self) -> Result<Step> {
        if let Some(from) = self.seeking {
            return Ok(self.seek(from));
        }
        if self.at >= self.size {
            return Ok(Step::Done);
        }
        match self.block() {
            Ok((block, end)) => {
                self.move_to(end);
                Ok(Step::Block(Box::new(block)))
            }
            Err(Halt::Need(range)) => Ok(Step::Need(range)),
            Err(Halt::Lost) => {
                let from = self.at.saturating_add(MAGIC.len() as u64).min(self.size);
                self.seeking = Some(from);
                Ok(self.seek(from))
            }
            Err(Halt::Broken { end }) => {
                let span = self.at..end;
                self.move_to(end);
                Ok(Step::Damaged(span))
            }
            Err(Halt::Error(error)) => Err(error.context("offset", self.at)),
        }
    }

    fn move_to(&mut self, at: u64) {
        self.at = at;
        self.pieces.forget_before(at);
    }

    /// Goes on to the next marker at or behind `from`.
    fn seek(&mut self, from: u64) -> Step {
        let bytes = self.pieces.from(from, self.size);
        let found = bytes.windows(MAGIC.len()).position(|six| six == MAGIC);
        let end = match found {
            Some(place) => from + place as u64,
            None if from + bytes.len() as u64 >= self.size => self.size,
            None => {
                // A marker may lie across the border.
                let searched = bytes.len().saturating_sub(MAGIC.len() - 1);
                let from = from + searched as u64;
                self.seeking = Some(from);
                self.pieces.forget_before(from);
                return Step::Need(from..self.size.min(from + SEEK));
            }
        };
        let span = self.at..end;
        self.seeking = None;
        self.move_to(end);
        Step::Damaged(span)
    }

    /// A range, or the wish for it and for what lies behind it.
    fn get(&self, range: Range<u64>, with: u64) -> Result<Bytes, Halt> {
        let wanted = || {
            let end = range.end.max(range.start.saturating_add(with));
            Halt::Need(range.start..end.min(self.size))
        };
        self.pieces.get(&range).ok_or_else(wanted)
    }

    /// The block here and where it ends.
    fn block(&self) -> Result<(LogBlock, u64), Halt> {
        let end = self.frame()?;
        let at = self.at + LEAD;
        let words = self.get(at..at + WORDS, HEAD)?;
        let mut words = Cursor::new(&words);
        let (version, code) = (words.u32_be()?, words.u32_be()?);
        if version != 1 {
            let error = Error::unsupported("an unknown log format version");
            return Err(error.context("version", version).into());
        }
        let kind = BlockKind::from_code(code).ok_or_else(|| {
            Error::unsupported("an unknown type of log block").context("type", code)
        })?;
        if kind == BlockKind::Corrupt {
            return Err(Halt::Broken { end });
        }
        let (header, content) = self.inside(at + WORDS, end)?;
        let block = LogBlock {
            file: self.file,
            offset: self.at,
            kind,
            version,
            header,
            fetched: self.pieces.get(&content),
            content,
        };
        Ok((block, end))
    }

    /// Where the frame here ends.
    fn frame(&self) -> Result<u64, Halt> {
        let magic = self.at + MAGIC.len() as u64;
        if magic > self.size {
            return Err(Halt::Lost);
        }
        if self.get(self.at..magic, HEAD)?.as_ref() != MAGIC {
            return Err(Error::corrupt("not a log file: it does not begin with a marker").into());
        }
        if self.at + LEAD > self.size {
            return Err(Halt::Lost);
        }
        let length = self.get(magic..self.at + LEAD, HEAD)?;
        let length = Cursor::new(&length).u64_be()?;
        let end = length.checked_add(self.at + LEAD);
        let Some(end) = end.filter(|end| length >= LEAST && *end <= self.size) else {
            return Err(Halt::Lost);
        };
        let next = self.size.min(end + MAGIC.len() as u64);
        let tail = end - POINTER..next;
        let Some(tail) = self.pieces.get(&tail) else {
            // The footer comes along, and the head of the next block.
            let from = tail.start.saturating_sub(FOOTER).max(self.at);
            return Err(Halt::Need(from..self.size.min(from + HEAD)));
        };
        let mut tail = Cursor::new(&tail);
        let pointer_fits = tail.u64_be()? == length + MAGIC.len() as u64;
        // Fewer bytes than a marker has are the rest of a write that was cut short.
        let marker = tail.take(tail.remaining())?;
        let marker_follows = marker.len() < MAGIC.len() || marker == MAGIC;
        match pointer_fits && marker_follows {
            true => Ok(end),
            false => Err(Halt::Lost),
        }
    }

    /// Header and content of a block whose header begins at `at` and whose frame ends at `end`.
    fn inside(&self, at: u64, end: u64) -> Result<(BlockHeader, Range<u64>), Halt> {
        const COUNTS: u64 = 8 + 4 + POINTER;
        let room = end.saturating_sub(at + COUNTS);
        let bytes = self.pieces.from(at, end);
        let (header, taken) = match header::parse(&bytes, room)? {
            Parsed::Whole(header, taken) => (header, taken as u64),
            Parsed::Short(needed) => {
                // Twice what is there, so that a long map takes few requests.
                let wanted = (needed as u64 + 8).max(2 * bytes.len() as u64).max(HEAD);
                return Err(Halt::Need(at..end.min(at + wanted)));
            }
            Parsed::Broken => return Err(Halt::Broken { end }),
        };
        let at = at + taken;
        let length = self.get(at..at + 8, HEAD)?;
        let length = Cursor::new(&length).u64_be()?;
        let last = end - POINTER;
        let start = at + 8;
        let stop = start.checked_add(length).filter(|stop| *stop + 4 <= last);
        let Some(stop) = stop else {
            return Err(Halt::Broken { end });
        };
        match header::is_map(&self.get(stop..last, 0)?) {
            true => Ok((header, start..stop)),
            false => Err(Halt::Broken { end }),
        }
    }
}

#[cfg(test)]
mod tests;
