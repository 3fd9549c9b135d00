//! The header of one page, as far as it is checked.
//!
//! ```text
//! PageHeader { 1 kind, 2 uncompressed size, 3 compressed size, 4 crc, 5 data page, 6 index page, 7 dictionary, 8 data page 2 }
//! ```

use super::thrift::{Compact, FALSE, Field};
use crate::error::Result;

const DATA_PAGE: i32 = 0;
const INDEX_PAGE: i32 = 1;
const DICTIONARY_PAGE: i32 = 2;
const DATA_PAGE_V2: i32 = 3;

/// What one page header declares.
#[derive(Debug)]
pub(super) struct Header {
    pub(super) kind: Kind,
    pub(super) uncompressed: i32,
    pub(super) compressed: i32,
    /// CRC-32 of the page's bytes as they are stored.
    pub(super) checksum: Option<i32>,
    /// The header's own bytes.
    pub(super) length: usize,
}

/// What a page is.
#[derive(Debug)]
pub(super) enum Kind {
    Index,
    /// Its values and their encoding.
    Dictionary(DataPage),
    Data(DataPage),
}

/// A page of values.
#[derive(Debug, Default)]
pub(super) struct DataPage {
    pub(super) values: i32,
    pub(super) encoding: i32,
    /// Of definition and of repetition levels.
    pub(super) level_encodings: [i32; 2],
    pub(super) version_2: Option<Version2>,
}

/// What only pages of version 2 declare.
#[derive(Debug, Default)]
pub(super) struct Version2 {
    pub(super) nulls: i32,
    pub(super) rows: i32,
    /// Bytes of definition and of repetition levels.
    pub(super) level_bytes: [i32; 2],
    /// Whether the values are stored as they are, whatever the column's codec.
    pub(super) plain: bool,
}

impl Header {
    /// The header at the front of `bytes`.
    pub(super) fn read(bytes: &[u8]) -> Result<Self> {
        let mut compact = Compact::new(bytes);
        let (mut kind, mut uncompressed, mut compressed, mut checksum) = (None, None, None, None);
        let (mut data, mut dictionary, mut data_2) = (None, None, None);
        let mut last = 0;
        while let Some(field) = compact.field(&mut last)? {
            match field.id {
                1 => kind = Some(compact.i32(field)?),
                2 => uncompressed = Some(compact.i32(field)?),
                3 => compressed = Some(compact.i32(field)?),
                4 => checksum = Some(compact.i32(field)?),
                5 => data = Some(read_data(&mut compact, field)?),
                7 => dictionary = Some(read_data(&mut compact, field)?),
                8 => data_2 = Some(read_data_2(&mut compact, field)?),
                _ => compact.skip(field)?,
            }
        }
        let kind = match kind {
            Some(DATA_PAGE) => data.map(Kind::Data),
            Some(DATA_PAGE_V2) => data_2.map(Kind::Data),
            Some(DICTIONARY_PAGE) => dictionary.map(Kind::Dictionary),
            Some(INDEX_PAGE) => Some(Kind::Index),
            _ => None,
        };
        let (Some(kind), Some(uncompressed), Some(compressed)) = (kind, uncompressed, compressed)
        else {
            return Err(compact.broken("a page header lacks its kind or its sizes"));
        };
        let length = compact.position();
        Ok(Self {
            kind,
            uncompressed,
            compressed,
            checksum,
            length,
        })
    }
}

/// `{ 1 values, 2 encoding, 3 encoding of definition levels, 4 of repetition levels, 5 statistics }`; a dictionary's header
/// begins alike.
fn read_data(compact: &mut Compact<'_>, outer: Field) -> Result<DataPage> {
    compact.expect_struct(outer)?;
    let mut page = DataPage::default();
    let [definition, repetition] = &mut page.level_encodings;
    let mut last = 0;
    while let Some(field) = compact.field(&mut last)? {
        match field.id {
            1 => page.values = compact.i32(field)?,
            2 => page.encoding = compact.i32(field)?,
            3 if outer.id == 5 => *definition = compact.i32(field)?,
            4 if outer.id == 5 => *repetition = compact.i32(field)?,
            _ => compact.skip(field)?,
        }
    }
    Ok(page)
}

/// `{ 1 values, 2 nulls, 3 rows, 4 encoding, 5 bytes of definition levels, 6 of repetition levels, 7 is compressed, … }`;
/// levels are always RLE.
fn read_data_2(compact: &mut Compact<'_>, outer: Field) -> Result<DataPage> {
    const RLE: i32 = 3;
    compact.expect_struct(outer)?;
    let mut page = DataPage {
        level_encodings: [RLE; 2],
        ..DataPage::default()
    };
    let mut more = Version2::default();
    let [definition, repetition] = &mut more.level_bytes;
    let mut last = 0;
    while let Some(field) = compact.field(&mut last)? {
        match field.id {
            1 => page.values = compact.i32(field)?,
            2 => more.nulls = compact.i32(field)?,
            3 => more.rows = compact.i32(field)?,
            4 => page.encoding = compact.i32(field)?,
            5 => *definition = compact.i32(field)?,
            6 => *repetition = compact.i32(field)?,
            7 => more.plain = field.kind == FALSE,
            _ => compact.skip(field)?,
        }
    }
    page.version_2 = Some(more);
    Ok(page)
}
