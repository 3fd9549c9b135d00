//! Just enough of Thrift's compact protocol to check what a Parquet file declares before it is believed.
//!
//! ```text
//! field: delta of the id (4 bits) | type (4 bits); delta 0: the id follows as zigzag i16; byte 0 ends a struct
//! list:  size (4 bits) | type (4 bits); size 15: the size follows as varint
//! ```

use crate::codec::bytes::Cursor;
use crate::error::{Error, Result};

const TRUE: u8 = 1;
pub(super) const FALSE: u8 = 2;
const BYTE: u8 = 3;
const I16: u8 = 4;
const I32: u8 = 5;
const I64: u8 = 6;
const DOUBLE: u8 = 7;
const BINARY: u8 = 8;
const LIST: u8 = 9;
const SET: u8 = 10;
const MAP: u8 = 11;
pub(super) const STRUCT: u8 = 12;

/// Nested values are skipped this deep; the Parquet format nests about six deep.
const MAX_DEPTH: u8 = 32;

/// A field's id and type.
#[derive(Debug, Clone, Copy)]
pub(super) struct Field {
    pub(super) id: i16,
    pub(super) kind: u8,
}

/// A reader of one struct and what lies below it.
#[derive(Debug)]
pub(super) struct Compact<'a> {
    cursor: Cursor<'a>,
}

impl<'a> Compact<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        let cursor = Cursor::new(bytes);
        Self { cursor }
    }

    /// Bytes read so far.
    pub(super) fn position(&self) -> usize {
        self.cursor.position()
    }

    /// The next field of a struct, `None` at its end; `last` is the id of the field before it.
    pub(super) fn field(&mut self, last: &mut i16) -> Result<Option<Field>> {
        let byte = self.cursor.u8()?;
        if byte == 0 {
            return Ok(None);
        }
        let id = match byte >> 4 {
            0 => i16::try_from(self.cursor.zigzag()?).ok(),
            delta => last.checked_add(i16::from(delta)),
        };
        let id = id.ok_or_else(|| self.broken("a field id is out of range"))?;
        *last = id;
        let kind = byte & 0x0f;
        Ok(Some(Field { id, kind }))
    }

    /// An `i32`, whose field must be of that type.
    pub(super) fn i32(&mut self, field: Field) -> Result<i32> {
        if field.kind != I32 {
            return Err(self.broken("a field is not the i32 it should be"));
        }
        let value = self.cursor.zigzag()?;
        i32::try_from(value).map_err(|_| self.broken("an i32 is out of range"))
    }

    /// Text or bytes, whose field must be of that type.
    pub(super) fn binary(&mut self, field: Field) -> Result<&'a [u8]> {
        if field.kind != BINARY {
            return Err(self.broken("a field is not the text it should be"));
        }
        let length = usize::try_from(self.cursor.varint()?).unwrap_or(usize::MAX);
        self.cursor.take(length)
    }

    /// Checks that a field holds a struct, which the caller then reads.
    pub(super) fn expect_struct(&self, field: Field) -> Result<()> {
        if field.kind == STRUCT {
            return Ok(());
        }
        Err(self.broken("a field is not the struct it should be"))
    }

    /// The element type and the size of a list; a size that the bytes cannot hold is refused.
    pub(super) fn list(&mut self, field: Field) -> Result<(u8, usize)> {
        if field.kind != LIST {
            return Err(self.broken("a field is not the list it should be"));
        }
        self.list_header()
    }

    fn list_header(&mut self) -> Result<(u8, usize)> {
        let byte = self.cursor.u8()?;
        let size = match byte >> 4 {
            15 => self.cursor.varint()?,
            small => u64::from(small),
        };
        let size = usize::try_from(size).ok();
        let size = size.filter(|size| *size <= self.cursor.remaining());
        let size = size.ok_or_else(|| self.broken("a list is longer than its bytes"))?;
        Ok((byte & 0x0f, size))
    }

    /// Passes over the value of a field.
    pub(super) fn skip(&mut self, field: Field) -> Result<()> {
        match field.kind {
            TRUE | FALSE => Ok(()),
            kind => self.skip_value(kind, MAX_DEPTH),
        }
    }

    fn skip_value(&mut self, kind: u8, depth: u8) -> Result<()> {
        let below = depth.checked_sub(1);
        let below = below.ok_or_else(|| self.broken("values nest too deep"))?;
        match kind {
            TRUE | FALSE | BYTE => self.cursor.take(1).map(drop),
            I16 | I32 | I64 => self.cursor.varint().map(drop),
            DOUBLE => self.cursor.take(8).map(drop),
            BINARY => {
                let length = usize::try_from(self.cursor.varint()?).unwrap_or(usize::MAX);
                self.cursor.take(length).map(drop)
            }
            LIST | SET => {
                let (element, size) = self.list_header()?;
                (0..size).try_for_each(|_| self.skip_value(element, below))
            }
            MAP => self.skip_map(below),
            STRUCT => {
                let mut last = 0;
                while let Some(field) = self.field(&mut last)? {
                    if !matches!(field.kind, TRUE | FALSE) {
                        self.skip_value(field.kind, below)?;
                    }
                }
                Ok(())
            }
            _ => Err(self.broken("a field has an unknown type")),
        }
    }

    fn skip_map(&mut self, below: u8) -> Result<()> {
        let size = usize::try_from(self.cursor.varint()?).unwrap_or(usize::MAX);
        if size == 0 {
            return Ok(());
        }
        if size > self.cursor.remaining() {
            return Err(self.broken("a map is longer than its bytes"));
        }
        let kinds = self.cursor.u8()?;
        for _ in 0..size {
            self.skip_value(kinds >> 4, below)?;
            self.skip_value(kinds & 0x0f, below)?;
        }
        Ok(())
    }

    /// An error at the place reached.
    pub(super) fn broken(&self, message: &str) -> Error {
        Error::corrupt(message).context("offset", self.position())
    }
}
