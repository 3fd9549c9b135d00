//! What indexes there are, as `.hoodie/.index_defs/index.json` says.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::metadata_table::MetadataTable;
use crate::error::{Error, Result, ResultExt};
use crate::storage::{Cause, Storage};

const PATH: &str = ".hoodie/.index_defs/index.json";

/// One index that a caller named and Hudi keeps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexDefinition {
    /// The partition of the metadata table.
    pub partition: String,
    /// `secondary_index`, `column_stats` or `bloom_filters`.
    pub kind: String,
    /// The function of an expression index; `identity` of a secondary one.
    pub function: String,
    /// The columns that it is over.
    pub columns: Vec<String>,
    /// Whether the shard of an entry goes by the value alone, as from version 2 on.
    pub hashes_value: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct File {
    index_definitions: BTreeMap<String, Definition>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Definition {
    index_type: String,
    index_function: Option<String>,
    #[serde(default)]
    source_fields: Vec<String>,
    version: Option<String>,
}

impl MetadataTable {
    /// The definitions of indexes that are complete. Asked anew each time, since the file changes.
    ///
    /// Errors: `Corrupt` with the `path`, and those of the storage.
    pub async fn index_definitions(&self, storage: &Storage) -> Result<Vec<IndexDefinition>> {
        let bytes = storage.get_if_present(PATH, Cause::MetadataTable).await?;
        let Some(bytes) = bytes else {
            return Ok(Vec::new());
        };
        let found = parse(&bytes).context("path", PATH)?;
        Ok(found
            .into_iter()
            .filter(|index| self.has(&index.partition))
            .collect())
    }
}

fn parse(bytes: &[u8]) -> Result<Vec<IndexDefinition>> {
    let file: File = serde_json::from_slice(bytes).map_err(|source| {
        Error::corrupt("the index definitions have not the expected shape").with_source(source)
    })?;
    let of = |(partition, definition): (String, Definition)| IndexDefinition {
        partition,
        kind: definition.index_type.to_ascii_lowercase(),
        function: definition.index_function.unwrap_or_default(),
        columns: definition.source_fields,
        hashes_value: definition.version.as_deref() == Some("V2"),
    };
    Ok(file.index_definitions.into_iter().map(of).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_definition_without_a_version_is_of_the_first() {
        let text = br#"{"indexDefinitions": {"secondary_index_a": {"indexName": "secondary_index_a", "indexType": "SECONDARY_INDEX",
            "indexFunction": "identity", "sourceFields": ["a"], "indexOptions": {}}}}"#;
        let [index] = parse(text).unwrap().try_into().unwrap();
        assert_eq!(
            (index.kind.as_str(), index.hashes_value),
            ("secondary_index", false)
        );
        assert_eq!(index.columns, ["a"]);
        assert_eq!(parse(b"{}").unwrap_err().kind().code(), "CORRUPT");
    }
}
