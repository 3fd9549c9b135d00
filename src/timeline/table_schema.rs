//! The schema of a table as of an instant.

use futures::future::try_join_all;

use serde_json::{Value, json};

use super::meta_client::MetaClient;
use crate::config::TableConfig;
use crate::error::{Error, Result};
use crate::model::{Instant, InstantTime};

/// Instants asked for at once at most; the first is asked for alone, since it nearly always holds a schema.
const MAX_BATCH: usize = 8;

/// Avro JSON text of the columns, without meta fields: of the newest completed write (at or before `as_of`) that
/// holds one, else the one that the table was created with. `None` leaves the footer of a data file.
///
/// Writes without a schema, such as clusterings and empty files, are passed over.
pub async fn avro(meta: &MetaClient, as_of: Option<&InstantTime>) -> Result<Option<String>> {
    let writes = meta.timeline.completed_writes().rev();
    let newest_first: Vec<&Instant> = writes
        .filter(|i| as_of.is_none_or(|t| i.time <= *t))
        .collect();
    let mut rest = newest_first.as_slice();
    let mut size = 1;
    while !rest.is_empty() {
        let (batch, later) = rest.split_at(size.min(rest.len()));
        let bodies = try_join_all(batch.iter().map(|i| meta.commit_metadata(i))).await?;
        let found = bodies.iter().flatten().find_map(|body| body.schema());
        if let Some(schema) = found {
            return with_dropped_columns(schema, &meta.config).map(Some);
        }
        rest = later;
        size = (size * 2).min(MAX_BATCH);
    }
    let created = meta.config.create_schema();
    created
        .map(|schema| with_dropped_columns(schema, &meta.config))
        .transpose()
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
