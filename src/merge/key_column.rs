//! The record keys of a batch: of their meta field, or made of key fields where that is not filled.

use std::fmt::Write as _;

use arrow::array::{Array, ArrayRef, AsArray, RecordBatch, StringArray};
use arrow::datatypes::{DataType, Int32Type, Int64Type};

use super::columns::MergeColumns;
use crate::error::{Error, Result};

/// The keys of one batch's rows.
pub(super) enum KeyColumn {
    /// As written.
    Meta(StringArray),
    /// Names and values of key fields.
    Fields(Vec<(String, Part)>),
}

/// One key field's values.
pub(super) enum Part {
    Text(StringArray),
    Boolean(ArrayRef),
    Int(ArrayRef),
    Long(ArrayRef),
}

impl KeyColumn {
    /// The keys of `batch`, which has the columns of the merge.
    ///
    /// Errors: `Unsupported` for key fields of a type whose text in a key is not known.
    pub(super) fn new(columns: &MergeColumns, arrays: &[Option<ArrayRef>]) -> Result<Self> {
        let array = |at: &usize| {
            let array = arrays.get(*at).and_then(Option::as_ref);
            array.ok_or_else(|| Error::corrupt("a log block lacks the record key"))
        };
        if columns.key_is_meta {
            let at = columns.key.first().ok_or_else(no_key)?;
            let text = array(at)?.as_string_opt::<i32>().ok_or_else(no_key)?;
            return Ok(Self::Meta(text.clone()));
        }
        let parts = columns.key.iter().map(|at| {
            let name = columns
                .schema()
                .fields()
                .get(*at)
                .ok_or_else(no_key)?
                .name();
            Ok((name.clone(), Part::new(array(at)?)?))
        });
        Ok(Self::Fields(parts.collect::<Result<_>>()?))
    }

    pub(super) fn of_batch(columns: &MergeColumns, batch: &RecordBatch) -> Result<Self> {
        let arrays: Vec<_> = batch.columns().iter().cloned().map(Some).collect();
        Self::new(columns, &arrays)
    }

    /// The keys as they are written, where they are.
    ///
    /// Errors: `Corrupt` when a row has none.
    pub(super) fn texts(&self) -> Result<Option<&StringArray>> {
        match self {
            Self::Meta(keys) if keys.null_count() > 0 => Err(keyless()),
            Self::Meta(keys) => Ok(Some(keys)),
            Self::Fields(_) => Ok(None),
        }
    }

    /// The key of a row; `buffer` may be used to hold it.
    ///
    /// Errors: `Corrupt` for a row without a key.
    pub(super) fn key<'a>(&'a self, row: usize, buffer: &'a mut String) -> Result<&'a [u8]> {
        match self {
            Self::Meta(keys) if keys.is_valid(row) => Ok(keys.value(row).as_bytes()),
            Self::Meta(_) => Err(keyless()),
            Self::Fields(parts) => {
                buffer.clear();
                match parts.as_slice() {
                    [(_, part)] => part.write(row, buffer),
                    parts => {
                        for (at, (name, part)) in parts.iter().enumerate() {
                            let comma = if at > 0 { "," } else { "" };
                            let _ = write!(buffer, "{comma}{name}:");
                            part.write(row, buffer);
                        }
                    }
                }
                Ok(buffer.as_bytes())
            }
        }
    }
}

fn keyless() -> Error {
    Error::corrupt("a row has no record key")
}

fn no_key() -> Error {
    Error::internal("the key column of a merge is no text")
}

impl Part {
    fn new(array: &ArrayRef) -> Result<Self> {
        Ok(match array.data_type() {
            DataType::Utf8 => Self::Text(array.as_string::<i32>().clone()),
            DataType::Boolean => Self::Boolean(array.clone()),
            DataType::Int32 => Self::Int(array.clone()),
            DataType::Int64 => Self::Long(array.clone()),
            other => {
                let message =
                    "merging by key fields of a type other than text, boolean and integers";
                return Err(Error::unsupported(message).context("type", other));
            }
        })
    }

    /// Appends the value as writers put it into a key.
    fn write(&self, row: usize, buffer: &mut String) {
        let valid = match self {
            Self::Text(array) => array.is_valid(row),
            Self::Boolean(array) | Self::Int(array) | Self::Long(array) => array.is_valid(row),
        };
        if !valid {
            buffer.push_str("__null__");
            return;
        }
        let _ = match self {
            Self::Text(array) => match array.value(row) {
                "" => buffer.write_str("__empty__"),
                text => buffer.write_str(text),
            },
            Self::Boolean(array) => write!(buffer, "{}", array.as_boolean().value(row)),
            Self::Int(array) => write!(buffer, "{}", array.as_primitive::<Int32Type>().value(row)),
            Self::Long(array) => write!(buffer, "{}", array.as_primitive::<Int64Type>().value(row)),
        };
    }
}
