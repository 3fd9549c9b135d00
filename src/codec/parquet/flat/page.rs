use bytes::Bytes;
use parquet::basic::Encoding;

use super::super::page_header::DataPage;
use super::super::page_reader::Opened;
use super::run_values::RunValues;
use crate::error::{Error, Result};

/// A page of values that is being read.
#[derive(Debug)]
pub(super) struct FlatPage {
    /// Rows that are still to come.
    pub(super) left: usize,
    /// Which of them are there; `None` when all are.
    pub(super) levels: Option<RunValues>,
    pub(super) values: Values,
}

/// The values that are not null.
#[derive(Debug)]
pub(super) enum Values {
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
pub(super) enum Next {
    Dictionary { bytes: Bytes, values: usize },
    Page(FlatPage),
}

impl Next {
    /// A page of a column of truth values, or of others.
    pub(super) fn of(opened: Opened, truth: bool) -> Result<Self> {
        let (bytes, encoding, levels, declared) = match opened {
            Opened::Dictionary { bytes, values } => {
                let values = values as usize;
                return Ok(Self::Dictionary { bytes, values });
            }
            Opened::Data {
                bytes,
                encoding,
                levels,
                declared,
            } => (bytes, encoding, levels, declared),
        };
        let rows = usize::try_from(declared.values).unwrap_or(0);
        let values = usize::try_from(levels.values).unwrap_or(usize::MAX);
        let section = bytes.slice(levels.end.min(bytes.len())..);
        Ok(Self::Page(FlatPage {
            left: rows,
            levels: (values < rows)
                .then(|| RunValues::new(definition(&bytes, &declared, levels.end), 1)),
            values: Values::of(section, encoding, values, truth)?,
        }))
    }
}

/// The definition levels' bytes; a column without lists has no others.
fn definition(bytes: &Bytes, declared: &DataPage, end: usize) -> Bytes {
    let begin = match &declared.version_2 {
        // Before them stands their length.
        None => 4,
        Some(more) => usize::try_from(more.level_bytes[1]).unwrap_or(0),
    };
    let end = end.min(bytes.len());
    bytes.slice(begin.min(end)..end)
}

impl Values {
    fn of(section: Bytes, encoding: Encoding, count: usize, truth: bool) -> Result<Self> {
        Ok(match encoding {
            Encoding::PLAIN if truth => Self::Bits {
                bytes: section,
                at: 0,
            },
            Encoding::PLAIN => Self::Plain {
                stride: section.len().checked_div(count).unwrap_or(0),
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
                return Err(Error::corrupt(
                    "a page has an encoding that its column does not list",
                ));
            }
        })
    }
}
