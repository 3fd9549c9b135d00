use bytes::Bytes;
use parquet::basic::Encoding;

use super::super::page_header::DataPage;
use super::super::page_reader::Opened;
use super::super::pages::Chunk;
use super::out::missing;
use super::plain;
use super::run_values::{Part, RunValues};
use super::texts;
use crate::error::{Error, Result};

/// A page that is being read.
#[derive(Debug)]
pub(in super::super) struct Page {
    /// Levels that are still to come: of a column without lists, rows.
    pub(in super::super) left: usize,
    /// How deep in lists the values begin; `None` in a column without lists.
    pub(in super::super) repetition: Option<RunValues>,
    /// Which values are there; `None` when all are.
    pub(in super::super) definition: Option<RunValues>,
    pub(in super::super) values: Values,
}

/// The values that are not null.
#[derive(Debug)]
pub(in super::super) enum Values {
    /// One behind the other; the first that is still to come begins at `at`. Those of one width take `stride` bytes each.
    Plain {
        bytes: Bytes,
        at: usize,
        stride: usize,
    },
    /// Truth values, from a bit on.
    Bits { bytes: Bytes, at: usize },
    /// Truth values in runs.
    BitRuns(RunValues),
    /// Places in the dictionary.
    Places(RunValues),
}

/// What a column's reader is given of its pages.
pub(in super::super) enum Next {
    Dictionary { bytes: Bytes, values: usize },
    Page(Box<Page>),
}

impl Next {
    /// A page of a column of truth values, or of others.
    pub(in super::super) fn of(opened: Opened, chunk: &Chunk, truth: bool) -> Result<Self> {
        let (bytes, encoding, levels, declared) = match opened {
            Opened::Dictionary { bytes, values } => {
                let values = values as usize;
                let bytes = plain::fixed(bytes, values, &chunk.kind)?;
                return Ok(Self::Dictionary { bytes, values });
            }
            Opened::Data {
                bytes,
                encoding,
                levels,
                declared,
            } => (bytes, encoding, levels, declared),
        };
        let count = usize::try_from(declared.values).unwrap_or(0);
        let values = usize::try_from(levels.values).unwrap_or(usize::MAX);
        let section = bytes.slice(levels.end.min(bytes.len())..);
        let column = chunk.facts.column_descr();
        let [repetition, definition] = maxima(chunk);
        let sections = sections(&bytes, &declared, [repetition, definition]);
        let [in_lists, there] = sections;
        let runs = |bytes, max: u8| RunValues::new(bytes, (8 - max.leading_zeros()) as u8);
        Ok(Self::Page(Box::new(Page {
            left: count,
            repetition: (column.max_rep_level() > 0).then(|| runs(in_lists, repetition)),
            definition: (values < count).then(|| runs(there, definition)),
            values: Values::of(section, encoding, values, chunk, truth)?,
        })))
    }
}

/// The greatest repetition and definition level of a column: the schema's depth was checked.
pub(in super::super) fn maxima(chunk: &Chunk) -> [u8; 2] {
    let column = chunk.facts.column_descr();
    [column.max_rep_level(), column.max_def_level()].map(|max| u8::try_from(max).unwrap_or(u8::MAX))
}

/// The bytes of repetition and of definition levels, which were walked through before.
fn sections(bytes: &Bytes, declared: &DataPage, maxima: [u8; 2]) -> [Bytes; 2] {
    let mut at = 0;
    let mut next = |length: usize| {
        let begin = at;
        at = (begin + length).min(bytes.len());
        bytes.slice(begin..at)
    };
    match &declared.version_2 {
        Some(more) => {
            let [definition, repetition] = more
                .level_bytes
                .map(|length| usize::try_from(length).unwrap_or(0));
            [next(repetition), next(definition)]
        }
        // Before them stands their length.
        None => maxima.map(|max| match max {
            0 => Bytes::new(),
            _ => {
                let length = next(4);
                let length = length
                    .first_chunk()
                    .map_or(0, |length| u32::from_le_bytes(*length));
                next(length as usize)
            }
        }),
    }
}

impl Values {
    fn of(
        section: Bytes,
        encoding: Encoding,
        count: usize,
        chunk: &Chunk,
        truth: bool,
    ) -> Result<Self> {
        Ok(match encoding {
            Encoding::PLAIN if truth => Self::Bits {
                bytes: section,
                at: 0,
            },
            // Before the runs stands their length.
            Encoding::RLE if truth => {
                Self::BitRuns(RunValues::new(section.slice(section.len().min(4)..), 1))
            }
            Encoding::PLAIN_DICTIONARY | Encoding::RLE_DICTIONARY => {
                let width = section.first().copied().unwrap_or(0);
                Self::Places(RunValues::new(section.slice(section.len().min(1)..), width))
            }
            _ => {
                let kind = &chunk.kind;
                let bytes = plain::fixed(plain::of(section, encoding, count, kind)?, count, kind)?;
                Self::Plain {
                    stride: bytes.len().checked_div(count).unwrap_or(0),
                    bytes,
                    at: 0,
                }
            }
        })
    }

    /// Passes over so many values, of lengths of their own or not.
    pub(in super::super) fn pass(&mut self, count: usize, texts: bool) -> Result<()> {
        match self {
            Self::Plain { bytes, at, .. } if texts => {
                texts::pass(bytes, at, count).ok_or_else(missing)?;
            }
            Self::Plain { at, stride, .. } => {
                *at = at.saturating_add(count.saturating_mul(*stride))
            }
            Self::Bits { at, .. } => *at += count,
            Self::BitRuns(runs) | Self::Places(runs) => {
                let mut left = count;
                while left > 0 {
                    left -= match runs.next(left)? {
                        Part::Same(_, rows) => rows,
                        Part::Packed(packed) => packed.count,
                    };
                }
            }
        }
        Ok(())
    }

    /// Ends a page, whose values have to fill it: a byte more means that a length is wrong.
    pub(in super::super) fn end(&self) -> Result<()> {
        match self {
            Self::Plain { bytes, at, .. } if *at != bytes.len() => Err(missing()),
            _ => Ok(()),
        }
    }
}

/// Values in an encoding that its type cannot have.
pub(super) fn odd_encoding() -> Error {
    Error::corrupt("a page has an encoding that its column's type cannot have")
}
