//! The schema of a table as of an instant.

use futures::future::try_join_all;

use serde_json::{Value, json};

use super::meta_client::MetaClient;
use super::payload::CommitMetadata;
use crate::config::TableConfig;
use crate::error::{Error, Result};
use crate::model::{Instant, InstantTime};

/// Instants asked for at once at most; the first is asked for alone, since it nearly always holds a schema.
const MAX_BATCH: usize = 8;

/// The schema of a table as of an instant.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TableSchema {
    /// Avro JSON text of the columns; the meta fields are among them in tables with schema on read alone. `None` leaves the footer of a data file.
    pub avro: Option<String>,
    /// The same columns by number, in tables with schema on read: see [`SchemaHistory`](crate::schema::SchemaHistory).
    pub numbered: Option<String>,
}

/// The schema of the newest completed write (at or before `as_of`) that holds one, else the one that the table was created
/// with.
///
/// Writes without a schema, such as clusterings and empty files, are passed over.
pub async fn load(meta: &MetaClient, as_of: Option<&InstantTime>) -> Result<TableSchema> {
    let newest = newest_with_schema(meta, as_of).await?;
    let avro = newest.as_ref().and_then(CommitMetadata::schema);
    let avro = avro.or(meta.config.create_schema());
    let avro = avro.map(|avro| with_dropped_columns(avro, &meta.config));
    let numbered = newest.as_ref().and_then(CommitMetadata::latest_schema);
    Ok(TableSchema {
        avro: avro.transpose()?,
        numbered: numbered.map(str::to_owned),
    })
}

/// What the newest completed write at or before `as_of` did that holds a schema.
async fn newest_with_schema(
    meta: &MetaClient,
    as_of: Option<&InstantTime>,
) -> Result<Option<CommitMetadata>> {
    let writes = meta.timeline.completed_writes().rev();
    let newest_first: Vec<&Instant> = writes
        .filter(|i| as_of.is_none_or(|t| i.time <= *t))
        .collect();
    let mut rest = newest_first.as_slice();
    let mut size = 1;
    while !rest.is_empty() {
        let (batch, later) = rest.split_at(size.min(rest.len()));
        let bodies = try_join_all(batch.iter().map(|i| meta.commit_metadata(i))).await?;
        let mut bodies = bodies.into_iter().flatten();
        if let Some(found) = bodies.find(|body| body.schema().is_some()) {
            return Ok(Some(found));
        }
        rest = later;
        size = (size * 2).min(MAX_BATCH);
    }
    Ok(None)
}

/// A table that drops its partition columns from the files drops them from its commit schemas too. As in Hudi they
/// come back last, as nullable strings.
fn with_dropped_columns(schema: &str, config: &TableConfig) -> Result<String> {
    if !config.drop_partition_columns() {
        return Ok(schema.to_owned());
    }
    let fault = || Error::corrupt("the schema of a commit is no Avro record");
    let mut json: Value = serde_json::from_str(schema).map_err(|e| fault().with_source(e))?;
    let fields = json
        .get_mut("fields")
        .and_then(Value::as_array_mut)
        .ok_or_else(fault)?;
    for field in config.partition_fields() {
        let name = Value::from(field.name.as_str());
        if !fields.iter().any(|f| f.get("name") == Some(&name)) {
            fields.push(json!({"name": name, "type": ["null", "string"], "default": null}));
        }
    }
    Ok(json.to_string())
}
