use super::proto::{self, Value};
use crate::codec::bytes::Cursor;
use crate::error::{Error, Result};

const MAGIC: &[u8; 4] = b"PBUF";

/// What a writer said about the whole file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FileInfo {
    /// Avro JSON of the values; absent in log blocks, whose own header has it.
    pub schema: Option<String>,
}

impl FileInfo {
    /// Reads the data of a file info block: `"PBUF" | varint length | repeated { 1: { 1: name, 2: value } }`.
    ///
    /// Errors: `Corrupt`; `Unsupported` for key-values with tags.
    pub(super) fn parse(data: &[u8]) -> Result<Self> {
        let mut cursor = Cursor::new(data);
        if cursor.take(MAGIC.len())? != MAGIC {
            return Err(cursor.fault("the HFile's file info does not begin with PBUF"));
        }
        let mut info = Self::default();
        proto::delimited(&mut cursor, |field, value| match value {
            Value::Bytes(entry) if field == 1 => info.add(entry),
            _ => Ok(()),
        })?;
        Ok(info)
    }

    fn add(&mut self, entry: &[u8]) -> Result<()> {
        let mut cursor = Cursor::new(entry);
        let (mut name, mut value) = (&[][..], &[][..]);
        while !cursor.is_empty() {
            match proto::next(&mut cursor)? {
                (1, Value::Bytes(bytes)) => name = bytes,
                (2, Value::Bytes(bytes)) => value = bytes,
                _ => {}
            }
        }
        match name {
            b"schema" => {
                let text = std::str::from_utf8(value).map_err(|source| {
                    Error::corrupt("the HFile's schema is no text").with_source(source)
                })?;
                self.schema = Some(text.to_owned());
            }
            b"hfile.MAX_TAGS_LEN" => {
                return Err(Error::unsupported("an HFile whose values have tags"));
            }
            _ => {}
        }
        Ok(())
    }
}
