//! The versions of one key to what a compacted base file holds of it, as Avro's bytes.
//!
//! Bytes are kept as they are wherever one version stands for all; only lists of files and statistics whose bounds are not tight
//! are put together anew.

use std::collections::BTreeMap;

use bytes::Bytes;

use super::compaction_stats::merge_stats;
use super::record::{Names, put_file_list, put_partition_list};
use crate::codec::avro::{WireSchema, read_datum};
use crate::codec::bytes::Cursor;
use crate::error::{Error, Result};
use crate::metadata::{FileEntry, Payload, Versions};

/// Meta columns before a record's own fields.
const META_FIELDS: usize = 5;
/// The types of a record that lists partitions, and of one that says where a record key lies.
const PARTITION_LIST: i64 = 1;
const RECORD_INDEX: i64 = 5;

/// What is left of a key: nothing when it is gone, several of a record key that was written twice and not again since.
///
/// Errors: `Corrupt` for bytes that are no record.
pub(super) fn merge(schema: &WireSchema, versions: &Versions) -> Result<Vec<Bytes>> {
    if versions.changes.is_empty() {
        return Ok(versions.base.clone());
    }
    let mut merged = versions.base.last().cloned();
    for change in &versions.changes {
        merged = match (change, merged) {
            (None, _) => None,
            (Some(newer), older) => over(schema, newer, older)?,
        };
    }
    Ok(merged.into_iter().collect())
}

/// A version over an older one.
fn over(schema: &WireSchema, newer: &Bytes, older: Option<Bytes>) -> Result<Option<Bytes>> {
    let kind = kind_of(newer)?;
    if kind == RECORD_INDEX {
        return Ok(Some(newer.clone()));
    }
    let payload = |bytes: &[u8]| Payload::of_record(&read_datum(schema, bytes)?);
    let Some(new) = payload(newer)? else {
        return Ok(None);
    };
    let Some(old_bytes) = older else {
        return Ok(Some(newer.clone()));
    };
    match (new, payload(&old_bytes)?) {
        (new @ Payload::Files(_), Some(old @ Payload::Files(_))) => match new.over(old) {
            Payload::Files(files) => Ok(Some(list_of(kind, &files))),
            _ => Err(Error::internal("lists of files merged to something else")),
        },
        (Payload::Stats(new), Some(Payload::Stats(_))) if !new.tight => {
            merge_stats(newer, &old_bytes)
        }
        _ => Ok(Some(newer.clone())),
    }
}

fn list_of(kind: i64, files: &BTreeMap<String, FileEntry>) -> Bytes {
    let names: Names<'_> = files
        .iter()
        .map(|(name, entry)| (name.as_str(), *entry))
        .collect();
    let mut out = Vec::new();
    match kind {
        PARTITION_LIST => put_partition_list(&names, &mut out),
        _ => put_file_list(&names, &mut out),
    }
    out.into()
}

/// The type of a record.
fn kind_of(record: &[u8]) -> Result<i64> {
    let mut cursor = Cursor::new(record);
    skip_key(&mut cursor)?;
    cursor.zigzag()
}

/// Passes over the meta columns and the key.
pub(super) fn skip_key(cursor: &mut Cursor<'_>) -> Result<()> {
    for _ in 0..META_FIELDS {
        skip_text(cursor)?;
    }
    let length = cursor.length()?;
    cursor.take(length).map(drop)
}

/// Passes over a union of null and text.
pub(super) fn skip_text(cursor: &mut Cursor<'_>) -> Result<()> {
    if cursor.zigzag()? != 0 {
        let length = cursor.length()?;
        cursor.take(length)?;
    }
    Ok(())
}

#[cfg(all(test, not(target_arch = "wasm32")))]
mod tests;
