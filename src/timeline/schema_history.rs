//! The numbered columns of a table with schema on read.

use super::meta_client::MetaClient;
use crate::error::{Error, Result, ResultExt};
use crate::model::InstantTime;
use crate::schema::SchemaHistory;
use crate::storage::Cause;

/// Where the versions lie, relative to the table.
const FOLDER: &str = ".hoodie/.schema";
const SUFFIX: &str = ".schemacommit";

/// What columns that a commit numbers were called when.
///
/// Errors: `Corrupt` for a history that cannot be read, and those of the storage.
pub async fn load(meta: &MetaClient, numbered: &str) -> Result<SchemaHistory> {
    let Some((path, size)) = newest_file(meta).await? else {
        return SchemaHistory::new(numbered, None);
    };
    let bytes = meta
        .storage
        .get_immutable(&path, Some(size), Cause::Timeline)
        .await?;
    let text = std::str::from_utf8(&bytes)
        .map_err(|e| Error::corrupt("a schema history is not UTF-8").with_source(e));
    let history = text.and_then(|text| SchemaHistory::new(numbered, Some(text)));
    history.context("path", path)
}

/// The newest completed file of versions: each holds all before it.
async fn newest_file(meta: &MetaClient) -> Result<Option<(String, u64)>> {
    let folder = meta.storage.list_folder(FOLDER, Cause::Timeline).await?;
    let known = folder.files.into_iter().filter_map(|file| {
        let name = file.path.rsplit('/').next()?;
        let times = name.strip_suffix(SUFFIX)?;
        // From layout 2 on the completion time follows.
        let requested = times.split('_').next()?;
        let instant = InstantTime::parse(requested).ok()?;
        let counts = meta.timeline.is_committed(&instant);
        (counts && file.size > 0).then_some((instant, file.path, file.size))
    });
    let newest = known.max_by(|a, b| a.0.cmp(&b.0));
    Ok(newest.map(|(_, path, size)| (path, size)))
}
