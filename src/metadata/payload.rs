//! What a record of the metadata table says, and how a newer record merges with an older one of its key.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::error::{Error, Result};

/// A record of the metadata table, by its `type`.
#[derive(Debug, Clone, PartialEq)]
pub enum Payload {
    /// Types 1 and 2: the partitions of the table, or the files of one partition, by name.
    Files(BTreeMap<String, FileEntry>),
    /// Types 3 and 6: statistics of a column of a file or of a partition.
    Stats(Box<ColumnStats>),
    /// Type 5: where a record key lies; several places when one key was written twice.
    Record(Vec<RecordLocation>),
    /// Type 7: a pair of secondary value and record key, which its own key spells.
    Secondary,
    /// Type 4: the type of a base file's Bloom filter, and its base64 text.
    Bloom(String, Vec<u8>),
}

/// One name of a [`Payload::Files`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileEntry {
    /// Bytes; 0 for partitions and removed files.
    pub size: u64,
    /// Whether it was removed.
    pub deleted: bool,
}

/// Statistics of one column of one file or partition.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ColumnStats {
    /// The file's name without folders; of partition statistics the partition's path.
    pub file_name: String,
    /// The column.
    pub column: String,
    /// The least value as Avro's JSON, unwrapped.
    pub min: Value,
    /// The greatest value as Avro's JSON, unwrapped.
    pub max: Value,
    /// Rows, nulls among them.
    pub value_count: Option<u64>,
    /// Rows without a value.
    pub null_count: Option<u64>,
    /// Bytes of the column's chunks.
    pub total_size: u64,
    /// The same before compression.
    pub total_uncompressed_size: u64,
    /// Whether the bounds are those of the live rows, not of all that were written.
    pub tight: bool,
    /// Ordinal of Hudi's `ValueType` and what more it says; absent in version 1 of the index.
    pub value_type: Option<(u32, Option<String>)>,
}

/// Where a record lies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordLocation {
    /// The partition's path.
    pub partition: String,
    /// The file group.
    pub file_id: String,
    /// When it was put there, in milliseconds since 1970; of no use to find a file.
    pub instant_millis: i64,
}

impl Payload {
    /// Reads a record; `None` for one that says its key is gone.
    ///
    /// Errors: `Corrupt` with `field` for a record that lacks what its type needs; `Unsupported` for an unknown type.
    pub fn of_record(record: &Value) -> Result<Option<Self>> {
        let part = |name: &'static str| {
            let part = record.get(name).and_then(Value::as_object);
            part.ok_or_else(|| lacks(name))
        };
        let kind = record.get("type").and_then(Value::as_i64);
        Ok(match kind.ok_or_else(|| lacks("type"))? {
            1 | 2 => match record.get("filesystemMetadata") {
                // A partition list that names none, and a partition that has none.
                None | Some(Value::Null) => Some(Self::Files(BTreeMap::new())),
                Some(_) => Some(Self::Files(files(part("filesystemMetadata")?)?)),
            },
            3 | 6 => {
                let stats = part("ColumnStatsMetadata")?;
                (!deleted(stats)).then(|| Self::Stats(Box::new(column_stats(stats))))
            }
            4 => {
                let bloom = part("BloomFilterMetadata")?;
                let bytes = bloom.get("bloomFilter").and_then(Value::as_str);
                let bytes = bytes.ok_or_else(|| lacks("bloomFilter"))?;
                let kind = bloom.get("type").and_then(Value::as_str);
                let kind = kind.ok_or_else(|| lacks("type"))?.to_owned();
                (!deleted(bloom)).then(|| Self::Bloom(kind, latin1(bytes)))
            }
            5 => Some(Self::Record(vec![location(part("recordIndexMetadata")?)?])),
            7 => (!deleted(part("SecondaryIndexMetadata")?)).then_some(Self::Secondary),
            other => {
                return Err(
                    Error::unsupported("a record of the metadata table of this type")
                        .context("type", other),
                );
            }
        })
    }

    /// This record over an older one of the same key.
    ///
    /// Files merge by name: a removed one goes, of a known one the greater size counts. Everything else is replaced.
    #[must_use]
    pub fn over(self, older: Self) -> Self {
        match (self, older) {
            (Self::Files(newer), Self::Files(mut all)) => {
                for (name, entry) in newer {
                    merge_file(&mut all, name, entry);
                }
                Self::Files(all)
            }
            (Self::Stats(newer), Self::Stats(older)) if !newer.tight => {
                Self::Stats(Box::new(newer.over(*older)))
            }
            (newer, _) => newer,
        }
    }
}

fn merge_file(all: &mut BTreeMap<String, FileEntry>, name: String, newer: FileEntry) {
    match all.get_mut(&name) {
        None => {
            all.insert(name, newer);
        }
        Some(older) if newer.deleted && !older.deleted => {
            all.remove(&name);
        }
        Some(older) if newer.deleted => *older = newer,
        Some(older) => {
            *older = FileEntry {
                size: older.size.max(newer.size),
                deleted: false,
            };
        }
    }
}

impl ColumnStats {
    /// Of bounds that are not tight, those that hold for both: what is known of one alone is known of neither.
    fn over(self, older: Self) -> Self {
        let same_type = self.value_type == older.value_type;
        let sum = |a: Option<u64>, b: Option<u64>| Some(a?.saturating_add(b?));
        // A merge of values of every type would need their order; equal ones, which is what Hudi writes again, suffice.
        let both = |a: &Value, b: &Value| match a == b && same_type {
            true => a.clone(),
            false => Value::Null,
        };
        Self {
            min: both(&self.min, &older.min),
            max: both(&self.max, &older.max),
            value_count: sum(self.value_count, older.value_count),
            null_count: sum(self.null_count, older.null_count),
            ..self
        }
    }
}

fn lacks(field: &'static str) -> Error {
    Error::corrupt("a record of the metadata table lacks a field").context("field", field)
}

fn deleted(part: &Map<String, Value>) -> bool {
    part.get("isDeleted").and_then(Value::as_bool) == Some(true)
}

fn files(names: &Map<String, Value>) -> Result<BTreeMap<String, FileEntry>> {
    let entries = names.iter().map(|(name, info)| {
        let size = info.get("size").and_then(Value::as_i64);
        let size = size.and_then(|size| u64::try_from(size).ok());
        let deleted = info.get("isDeleted").and_then(Value::as_bool);
        let entry = FileEntry {
            size: size.ok_or_else(|| lacks("size"))?,
            deleted: deleted.ok_or_else(|| lacks("isDeleted"))?,
        };
        Ok((name.clone(), entry))
    });
    entries.collect()
}

fn column_stats(stats: &Map<String, Value>) -> ColumnStats {
    let text = |name: &str| stats.get(name).and_then(Value::as_str).unwrap_or_default();
    let count = |name: &str| stats.get(name).and_then(Value::as_u64);
    // Each wrapper is a record of one field.
    let unwrap = |name: &str| match stats.get(name).and_then(|value| value.get("value")) {
        Some(value) => value.clone(),
        None => Value::Null,
    };
    let value_type = stats.get("valueType").filter(|value| value.is_object());
    let value_type = value_type.and_then(|value| {
        let ordinal = u32::try_from(value.get("typeOrdinal")?.as_u64()?).ok()?;
        let more = value.get("additionalInfo").and_then(Value::as_str);
        // Ordinal 0 says that the value is of version 1.
        (ordinal != 0).then(|| (ordinal, more.map(str::to_owned)))
    });
    ColumnStats {
        file_name: text("fileName").to_owned(),
        column: text("columnName").to_owned(),
        min: unwrap("minValue"),
        max: unwrap("maxValue"),
        value_count: count("valueCount"),
        null_count: count("nullCount"),
        total_size: count("totalSize").unwrap_or(0),
        total_uncompressed_size: count("totalUncompressedSize").unwrap_or(0),
        tight: stats.get("isTightBound").and_then(Value::as_bool) == Some(true),
        value_type,
    }
}

fn location(place: &Map<String, Value>) -> Result<RecordLocation> {
    let text = |name: &'static str| place.get(name).and_then(Value::as_str);
    let number = |name: &'static str| place.get(name).and_then(Value::as_i64);
    let file_id = match number("fileIdEncoding").unwrap_or(0) {
        0 => {
            let (high, low) = (number("fileIdHighBits"), number("fileIdLowBits"));
            let high = high.ok_or_else(|| lacks("fileIdHighBits"))?;
            let low = low.ok_or_else(|| lacks("fileIdLowBits"))?;
            let uuid = uuid(high.cast_unsigned(), low.cast_unsigned());
            match number("fileIndex").unwrap_or(-1) {
                -1 => uuid,
                index => format!("{uuid}-{index}"),
            }
        }
        1 => text("fileId").ok_or_else(|| lacks("fileId"))?.to_owned(),
        other => {
            return Err(Error::unsupported("a record index entry of this encoding")
                .context("encoding", other));
        }
    };
    Ok(RecordLocation {
        partition: text("partitionName").unwrap_or_default().to_owned(),
        file_id,
        instant_millis: number("instantTime").unwrap_or(0),
    })
}

fn uuid(high: u64, low: u64) -> String {
    let hex = format!("{high:016x}{low:016x}");
    let part = |from, to| hex.get(from..to).unwrap_or_default();
    let (a, b, c, d, e) = (
        part(0, 8),
        part(8, 12),
        part(12, 16),
        part(16, 20),
        part(20, 32),
    );
    format!("{a}-{b}-{c}-{d}-{e}")
}

/// Bytes from Avro's JSON text of them, one character a byte.
pub(super) fn latin1(text: &str) -> Vec<u8> {
    text.chars()
        .filter_map(|c| u8::try_from(u32::from(c)).ok())
        .collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_file_id_is_read_from_its_two_numbers() {
        let place = json!({"type": 5, "recordIndexMetadata": {"partitionName": "p", "fileIdHighBits": 6891194845742907684_i64,
            "fileIdLowBits": -7319604397853378321_i64, "fileIndex": 0, "fileId": "", "instantTime": 1772922372542_i64, "fileIdEncoding": 0}});
        let expected = RecordLocation {
            partition: "p".into(),
            file_id: "5fa27133-7a82-4124-9a6b-8a94c18ff8ef-0".into(),
            instant_millis: 1_772_922_372_542,
        };
        assert_eq!(
            Payload::of_record(&place).unwrap(),
            Some(Payload::Record(vec![expected]))
        );
    }

    #[test]
    fn names_merge_as_java_merges_them() {
        let live = |size| FileEntry {
            size,
            deleted: false,
        };
        let gone = FileEntry {
            size: 0,
            deleted: true,
        };
        let check = |older: Option<FileEntry>, newer: FileEntry, expected: Option<FileEntry>| {
            let of = |entry: FileEntry| Payload::Files([("f".to_owned(), entry)].into());
            let older = older.map_or(Payload::Files(BTreeMap::new()), of);
            let merged = of(newer).over(older);
            assert_eq!(merged, expected.map_or(Payload::Files(BTreeMap::new()), of));
        };
        check(None, live(5), Some(live(5)));
        check(Some(live(5)), live(7), Some(live(7)));
        check(Some(live(7)), live(5), Some(live(7)));
        check(Some(live(5)), gone, None);
        check(Some(gone), gone, Some(gone));
        check(None, gone, Some(gone));
        check(Some(gone), live(3), Some(live(3)));
    }

    #[test]
    fn a_record_without_its_part_is_corrupt_and_an_unknown_type_unsupported() {
        let code = |record: Value| Payload::of_record(&record).unwrap_err().kind().code();
        assert_eq!(code(json!({"type": 5})), "CORRUPT");
        assert_eq!(code(json!({"type": 99})), "UNSUPPORTED");
        assert_eq!(code(json!({})), "CORRUPT");
    }
}
