//! Where the pages of a column chunk are: one behind the other, or where the page index says.

use std::collections::VecDeque;
use std::ops::Range;

use bytes::Bytes;

use super::chunk_bytes::ChunkBytes;
use super::page_header::{Header, Kind};
use crate::error::{Error, Result};

/// A page that the page index knows.
#[derive(Debug, Clone)]
pub(super) struct Place {
    pub(super) range: Range<u64>,
    /// Rows that begin in it.
    pub(super) rows: u64,
}

/// A page whose header is read.
pub(super) struct Ahead {
    pub(super) at: u64,
    pub(super) header: Header,
    /// As it is stored.
    pub(super) body: Bytes,
    /// Rows by the page index.
    pub(super) rows: Option<u64>,
}

/// The way through a chunk's pages.
pub(super) struct Walk {
    bytes: ChunkBytes,
    way: Way,
}

enum Way {
    /// Behind the one before, up to the end of the chunk.
    Chained {
        rest: Range<u64>,
        ahead: Option<Ahead>,
    },
    /// Where the page index says; what stands before the first of them is the dictionary.
    Placed {
        dictionary: Option<Range<u64>>,
        places: VecDeque<Place>,
    },
}

impl Walk {
    /// Through the chunk at `range`, over bytes that are there; `places` when the page index is known.
    pub(super) fn new(bytes: ChunkBytes, range: Range<u64>, places: Option<Vec<Place>>) -> Self {
        let way = match places {
            None => Way::Chained {
                rest: range,
                ahead: None,
            },
            Some(places) => {
                let first = places
                    .first()
                    .map_or(range.start, |place| place.range.start);
                Way::Placed {
                    dictionary: (first > range.start).then_some(range.start..first),
                    places: places.into(),
                }
            }
        };
        Self { bytes, way }
    }

    /// Whether the page index tells the way.
    pub(super) fn is_placed(&self) -> bool {
        matches!(self.way, Way::Placed { .. })
    }

    /// The next page's header, where pages are chained; `None` unless the chunk `goes_on`. Pages without values are passed
    /// over: the decoder takes one for the end of the column.
    pub(super) fn look_ahead(&mut self, goes_on: bool) -> Result<Option<&Ahead>> {
        let Way::Chained { rest, ahead } = &mut self.way else {
            return Ok(None);
        };
        while ahead.is_none() && goes_on {
            if rest.is_empty() {
                return Err(too_few().context("offset", rest.start));
            }
            let found = read(&self.bytes, rest.clone(), false)?;
            rest.start += (found.header.length + found.body.len()) as u64;
            *ahead = Some(found).filter(|found| !is_void(&found.header));
        }
        Ok(ahead.as_ref())
    }

    /// The next page.
    pub(super) fn take_next(&mut self, goes_on: bool) -> Result<Option<Ahead>> {
        self.look_ahead(goes_on)?;
        match &mut self.way {
            Way::Chained { ahead, .. } => Ok(ahead.take()),
            Way::Placed { dictionary, places } => {
                if let Some(range) = dictionary.take() {
                    return read(&self.bytes, range, false).map(Some);
                }
                let Some(place) = places.pop_front() else {
                    return Ok(None);
                };
                let mut found = read(&self.bytes, place.range, true)?;
                found.rows = Some(place.rows);
                Ok(Some(found))
            }
        }
    }

    /// The rows of the next page by the page index, none for the dictionary; `None` at the end.
    pub(super) fn next_place(&self) -> Option<Option<u64>> {
        match &self.way {
            Way::Placed {
                dictionary: Some(_),
                ..
            } => Some(None),
            Way::Placed { places, .. } => places.front().map(|place| Some(place.rows)),
            Way::Chained { .. } => None,
        }
    }

    /// Passes over the next page that the page index knows.
    pub(super) fn skip_place(&mut self) {
        if let Way::Placed { dictionary, places } = &mut self.way
            && dictionary.take().is_none()
        {
            places.pop_front();
        }
    }
}

/// The page at the front of `range`; it has to fill it when `whole`.
fn read(bytes: &ChunkBytes, range: Range<u64>, whole: bool) -> Result<Ahead> {
    let at = range.start;
    let stored = bytes.get(&range);
    let stored = stored.ok_or_else(|| Error::internal("a page was not fetched"))?;
    let header = Header::read(&stored).map_err(|error| {
        Error::corrupt("a page header cannot be read")
            .context("offset", at)
            .with_source(error)
    })?;
    let size = usize::try_from(header.compressed).ok();
    let end = size.and_then(|size| size.checked_add(header.length));
    let end = end.filter(|end| *end <= stored.len());
    let end = end.filter(|end| !whole || *end == stored.len());
    let end = end
        .ok_or_else(|| Error::corrupt("a page runs past its column chunk").context("offset", at))?;
    Ok(Ahead {
        at,
        body: stored.slice(header.length..end),
        header,
        rows: None,
    })
}

fn is_void(header: &Header) -> bool {
    match &header.kind {
        Kind::Index => true,
        Kind::Data(page) => page.values == 0,
        Kind::Dictionary(_) => false,
    }
}

pub(super) fn too_few() -> Error {
    Error::corrupt("the pages of a column chunk do not hold as many values as it declares")
}
