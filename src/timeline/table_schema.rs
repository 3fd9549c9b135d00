//! The schema of a table as of an instant.

use futures::future::try_join_all;

use super::meta_client::MetaClient;
use crate::error::Result;
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
            return Ok(Some(schema.to_owned()));
        }
        rest = later;
        size = (size * 2).min(MAX_BATCH);
    }
    Ok(meta.config.create_schema().map(str::to_owned))
}
