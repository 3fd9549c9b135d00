//! The pages of one column chunk, one after the other: found, checked, unpacked, checked again, handed to the decoder.
//!
//! A checksum is no proof of what stands in a page, since many writers leave none and a hostile one leaves a right one. So the
//! decoders are given nothing that was not walked through here:
//!
//! 1. A page unpacks to exactly the bytes that its header declares.
//! 2. It has as many levels as it declares values, none of them greater than the column's, and as many rows as header,
//!    page index and row group say.
//! 3. Behind the levels stand exactly the values that are not null, each within the page, or within the dictionary.

use std::sync::Arc;

use bytes::Bytes;
use parquet::basic::{Compression, Encoding};

use super::chunk_bytes::ChunkBytes;
use super::levels::Levels;
use super::page_header::{DataPage, Kind};
use super::page_walk::{Ahead, Place, Walk, too_few};
use super::pages::{Chunk, check_sum, encoding};
use super::unpack::Unpacker;
use crate::error::{Error, Result};

/// What is known of a page before it is unpacked.
#[derive(Debug, Clone, Copy)]
pub(super) struct Known {
    /// Rows that begin in it, where it begins one.
    pub(super) num_rows: Option<usize>,
    pub(super) is_dict: bool,
}

/// The pages of one chunk.
pub(super) struct ChunkPages {
    chunk: Arc<Chunk>,
    walk: Walk,
    unpacker: Unpacker,
    /// Values of the dictionary, once it has come.
    dictionary: Option<u64>,
    /// Of the pages given and passed over.
    values: u64,
    rows: u64,
    group_rows: u64,
}

impl ChunkPages {
    /// Over bytes that are there; `places` when the page index is known.
    pub(super) fn new(
        chunk: Arc<Chunk>,
        bytes: ChunkBytes,
        places: Option<Vec<Place>>,
        group_rows: u64,
    ) -> Self {
        let (start, length) = chunk.facts.byte_range();
        Self {
            unpacker: Unpacker::new(chunk.facts.compression()),
            walk: Walk::new(bytes, start..start + length, places),
            chunk,
            dictionary: None,
            values: 0,
            rows: 0,
            group_rows,
        }
    }

    /// Whether values of the chunk are still to come.
    fn goes_on(&self) -> bool {
        self.values < self.chunk.values()
    }

    /// The next page. The lengths of texts are left to the decoder, which looks at them while it copies.
    pub(super) fn next_page(&mut self) -> Result<Option<Opened>> {
        let goes_on = self.goes_on();
        let Some(found) = self.walk.take_next(goes_on)? else {
            return Ok(None);
        };
        let at = found.at;
        let opened = self.open(found);
        opened
            .map(Some)
            .map_err(|error| error.context("offset", at))
    }

    /// Whether the next page begins a row, or there is none.
    pub(super) fn at_row(&mut self) -> Result<bool> {
        if self.walk.is_placed() {
            return Ok(true);
        }
        Ok(self.peek()?.is_none_or(|next| next.num_rows.is_some()))
    }

    /// Unpacks and checks a page.
    fn open(&mut self, found: Ahead) -> Result<Opened> {
        let Ahead { header, body, .. } = &found;
        let size = self.chunk.check(header, body)?;
        let checked = check_sum(header, body)?;
        let (front, plain) = match &header.kind {
            Kind::Data(DataPage {
                version_2: Some(more),
                ..
            }) => {
                let front = more.level_bytes.into_iter().map(length).sum();
                (front, more.plain)
            }
            _ => (0, false),
        };
        let plain = plain || self.chunk.facts.compression() == Compression::UNCOMPRESSED;
        let page = match plain {
            true if body.len() == size => body.clone(),
            true => {
                return Err(Error::corrupt(
                    "a page does not have the size that it declares",
                ));
            }
            false => self.unpacker.unpack(body, front, size, checked)?,
        };
        match found.header.kind {
            Kind::Dictionary(declared) => self.dictionary_page(&declared, page),
            Kind::Data(declared) => self.data_page(declared, page, found.rows),
            Kind::Index => Err(Error::corrupt(
                "a page is not of the kind that it should be",
            )),
        }
    }

    fn dictionary_page(&mut self, declared: &DataPage, page: Bytes) -> Result<Opened> {
        if self.dictionary.is_some() || self.values > 0 {
            return Err(Error::corrupt(
                "a column has a dictionary in the wrong place",
            ));
        }
        let count = u64::try_from(declared.values).unwrap_or(0);
        self.chunk.kind.check_dictionary(&page, count)?;
        self.dictionary = Some(count);
        Ok(Opened::Dictionary {
            bytes: page,
            values: declared.values.cast_unsigned(),
        })
    }

    fn data_page(&mut self, declared: DataPage, page: Bytes, rows: Option<u64>) -> Result<Opened> {
        let count = u64::try_from(declared.values).unwrap_or(0);
        let column = self.chunk.facts.column_descr();
        let levels = match &declared.version_2 {
            None => Levels::version_1(&page, column, count)?,
            Some(more) => Levels::version_2(&page, column, count, more.level_bytes.map(length))?,
        };
        self.count(&declared, &levels, rows)?;
        let encoding = encoding(declared.encoding)
            .ok_or_else(|| Error::corrupt("a page has no known encoding"))?;
        let by_dictionary = matches!(
            encoding,
            Encoding::PLAIN_DICTIONARY | Encoding::RLE_DICTIONARY
        );
        if by_dictionary && self.dictionary.is_none() {
            return Err(Error::corrupt(
                "a page needs a dictionary, and its column has none before it",
            ));
        }
        let section = page.get(levels.end..).unwrap_or_default();
        let kind = &self.chunk.kind;
        let used = match kind.is_bytes() && encoding == Encoding::PLAIN {
            true => section.len(),
            false => kind.check(encoding, section, levels.values, self.dictionary)?,
        };
        // The decoder reads ahead, so what follows the values is cut off.
        let bytes = page.slice(..levels.end + used);
        Ok(Opened::Data {
            bytes,
            encoding,
            levels,
            declared,
        })
    }

    /// Holds a page's levels against what the header, the page index and the row group say.
    fn count(&mut self, declared: &DataPage, levels: &Levels, rows: Option<u64>) -> Result<()> {
        let count = u64::try_from(declared.values).unwrap_or(0);
        let second = declared.version_2.as_ref();
        let nulls = second.map_or(count - levels.values, |more| length(more.nulls) as u64);
        let declared_rows = second.map_or(levels.rows, |more| length(more.rows) as u64);
        let fits = nulls == count - levels.values
            && declared_rows == levels.rows
            && rows.is_none_or(|rows| rows == levels.rows);
        // Only pages of version 1 may go on with a row of the page before.
        let must_start = second.is_some() || rows.is_some() || self.values == 0;
        if !fits || (must_start && !levels.starts_row) {
            return Err(Error::corrupt(
                "the levels of a page contradict its declared counts",
            ));
        }
        self.pass(count, levels.rows)
    }

    /// Counts a page's values and rows; at the end of the chunk they are those of the row group.
    fn pass(&mut self, values: u64, rows: u64) -> Result<()> {
        self.values += values;
        self.rows += rows;
        let chained = !self.walk.is_placed();
        let rest = self.chunk.values().checked_sub(self.values);
        if rest.is_none() || (chained && rest == Some(0) && self.rows != self.group_rows) {
            return Err(too_few());
        }
        Ok(())
    }

    /// What the decoder may know of the next page before it takes it.
    pub(super) fn peek(&mut self) -> Result<Option<Known>> {
        if self.walk.is_placed() {
            return Ok(self.walk.next_place().map(|rows| match rows {
                Some(rows) => Known {
                    num_rows: usize::try_from(rows).ok(),
                    is_dict: false,
                },
                None => DICTIONARY,
            }));
        }
        let goes_on = self.goes_on();
        let flat = self.chunk.facts.column_descr().max_rep_level() == 0;
        let ahead = self.walk.look_ahead(goes_on)?;
        Ok(ahead.map(|ahead| match &ahead.header.kind {
            Kind::Data(page) => Known {
                num_rows: match &page.version_2 {
                    Some(more) => Some(length(more.rows)),
                    None => flat.then(|| length(page.values)),
                },
                is_dict: false,
            },
            _ => DICTIONARY,
        }))
    }

    /// Passes over the next page without unpacking it.
    pub(super) fn skip_page(&mut self) -> Result<()> {
        if self.walk.is_placed() {
            self.walk.skip_place();
            return Ok(());
        }
        let goes_on = self.goes_on();
        let Some(Ahead {
            header, body, at, ..
        }) = self.walk.take_next(goes_on)?
        else {
            return Ok(());
        };
        self.chunk.check(&header, &body)?;
        let Kind::Data(page) = &header.kind else {
            return Ok(());
        };
        let flat = self.chunk.facts.column_descr().max_rep_level() == 0;
        let rows = match &page.version_2 {
            _ if flat => length(page.values),
            Some(more) => length(more.rows),
            None => return Err(Error::internal("a page of unknown rows was passed over")),
        };
        self.pass(length(page.values) as u64, rows as u64)
            .map_err(|error| error.context("offset", at))
    }
}

const DICTIONARY: Known = Known {
    num_rows: None,
    is_dict: true,
};

/// A page, unpacked and checked.
pub(super) enum Opened {
    Dictionary {
        bytes: Bytes,
        values: u32,
    },
    Data {
        /// Levels, then values.
        bytes: Bytes,
        encoding: Encoding,
        levels: Levels,
        declared: DataPage,
    },
}

/// A count that is checked not to be negative.
fn length(count: i32) -> usize {
    usize::try_from(count).unwrap_or(0)
}
