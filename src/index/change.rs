use std::collections::{BTreeMap, BTreeSet};

use arrow::datatypes::Schema;

use crate::expr::Scalar;
use crate::model::PartitionPath;

/// What one instant of the data table did to its files.
#[derive(Debug, Clone, Copy)]
pub struct MetadataChange<'a> {
    /// The table's columns by name, meta columns among them where files have them: their types are those that statistics
    /// are kept in.
    pub schema: &'a Schema,
    /// Files that came, base and log files alike.
    pub added: &'a [AddedFile<'a>],
    /// Names of files that went, by partition.
    pub removed: &'a BTreeMap<PartitionPath, BTreeSet<String>>,
}

/// One file that was written.
#[derive(Debug, Clone, Copy)]
pub struct AddedFile<'a> {
    /// The partition that it lies in.
    pub partition: &'a PartitionPath,
    /// Its name, without folders.
    pub name: &'a str,
    /// The file group.
    pub file_id: &'a str,
    /// Bytes.
    pub size: u64,
    /// What is known of its columns; those without a type that statistics can hold are passed over.
    pub columns: &'a [ColumnRange],
    /// The keys that came with it and were nowhere before; `None` where nobody indexes them.
    pub keys: Option<&'a RecordKeys>,
}

/// The range of one column in one file.
///
/// Bounds are those of all values but NaN. A column that has values and no bounds is one whose range is not known.
#[derive(Debug, Clone, PartialEq)]
pub struct ColumnRange {
    /// The column, on the top level.
    pub name: Box<str>,
    /// The least value, in the column's unit and scale.
    pub min: Option<Scalar>,
    /// The greatest value.
    pub max: Option<Scalar>,
    /// Whether a float column holds a NaN, which is in no bound.
    pub has_nan: bool,
    /// Rows without a value.
    pub null_count: u64,
    /// Rows, nulls among them.
    pub value_count: u64,
    /// Bytes of the column's chunks in the file.
    pub total_size: u64,
    /// The same before compression.
    pub total_uncompressed_size: u64,
}

/// Record keys in one piece of memory, four bytes a key beside their text.
#[derive(Debug, Clone, Default)]
pub struct RecordKeys {
    text: String,
    ends: Vec<u32>,
}

impl RecordKeys {
    /// Adds a key; `false` when their text would not fit into four gigabytes.
    #[must_use]
    pub fn push(&mut self, key: &str) -> bool {
        let Ok(end) = u32::try_from(self.text.len() + key.len()) else {
            return false;
        };
        self.text.push_str(key);
        self.ends.push(end);
        true
    }

    /// How many.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The key at a place; empty outside.
    pub fn get(&self, at: usize) -> &str {
        let end = self.ends.get(at).copied().unwrap_or(0);
        let start = match at {
            0 => 0,
            _ => self.ends.get(at - 1).copied().unwrap_or(0),
        };
        self.text
            .get(start as usize..end as usize)
            .unwrap_or_default()
    }

    /// All of them, in the order in which they came.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        (0..self.len()).map(|at| self.get(at))
    }

    /// Bytes of memory held.
    pub fn bytes(&self) -> usize {
        self.text.capacity() + self.ends.capacity() * size_of::<u32>()
    }
}

impl<'a> FromIterator<&'a str> for RecordKeys {
    /// Keys beyond four gigabytes of text are left out; made for a few.
    fn from_iter<I: IntoIterator<Item = &'a str>>(keys: I) -> Self {
        let mut all = Self::default();
        for key in keys {
            if !all.push(key) {
                break;
            }
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_come_back_in_their_order_empty_ones_among_them() {
        let keys: RecordKeys = ["a", "", "ключ", "b"].into_iter().collect();
        assert_eq!(keys.len(), 4);
        assert_eq!(keys.iter().collect::<Vec<_>>(), ["a", "", "ключ", "b"]);
        assert_eq!((keys.get(4), keys.is_empty()), ("", false));
    }
}
