use bytes::Bytes;

use crate::config::{Properties, TableConfig, key, properties};
use crate::error::{Error, ErrorKind, Result, ResultExt};
use crate::host;
use crate::storage::{Cause, PutOutcome, Storage};

const MAIN: &str = ".hoodie/hoodie.properties";
const BACKUP: &str = ".hoodie/hoodie.properties.backup";

/// Creates `hoodie.properties`, with its checksum: from then on there is a table.
///
/// Errors: `TableExists` when there is one, and then nothing is changed; those of the storage.
pub async fn create_properties(storage: &Storage, table: &Properties) -> Result<TableConfig> {
    // Who creates is part of the text: two that create the same table at one moment must not both have made it.
    let by = format!(" by {}", host::random_uuid()?);
    let text = text(with_checksum(table.clone()), "Properties saved on", &by);
    let config = TableConfig::parse(&text)?;
    match storage.put_if_absent(MAIN, text).await? {
        PutOutcome::Created => Ok(config),
        PutOutcome::Exists | PutOutcome::Unclear => {
            Err(Error::table_exists("there is a table at this place")
                .context("path", MAIN)
                .context("hint", "open it, or give `ifExists: 'open'`"))
        }
    }
}

/// Changes `hoodie.properties` as Java does, so that a reader finds the file or its backup whole at every moment:
/// backup, delete, create, read back, drop the backup. The caller holds the table's lock.
///
/// Nothing is written when `change` changes nothing. Errors: `TableNotFound`, `Corrupt`, those of the storage.
pub async fn update_properties(
    storage: &Storage,
    change: impl FnOnce(&mut Properties) + Send,
) -> Result<TableConfig> {
    let old = recover(storage).await?;
    let before = properties::parse(&old).context("path", MAIN)?;
    let mut after = before.clone();
    change(&mut after);
    let after = with_checksum(after);
    if after == before {
        return TableConfig::parse(&old).context("path", MAIN);
    }
    let new = text(after, "Updated at", "");
    let config = TableConfig::parse(&new)?;
    storage.put(BACKUP, old).await?;
    storage.delete(MAIN).await?;
    storage.put(MAIN, new.clone()).await?;
    let found = storage.get(MAIN, Cause::Properties).await?;
    if found != new {
        return Err(
            Error::write_conflict("another writer changed hoodie.properties meanwhile")
                .context("path", MAIN),
        );
    }
    storage.delete(BACKUP).await?;
    Ok(config)
}

/// The text of the properties; of the backup, put back in its place, when an update was cut off.
async fn recover(storage: &Storage) -> Result<Bytes> {
    let whole = |bytes: &Bytes| TableConfig::parse(bytes).map(|_| ());
    let main = storage.get_if_present(MAIN, Cause::Properties).await?;
    let fault = match &main {
        Some(bytes) => match whole(bytes) {
            Ok(()) => return Ok(bytes.clone()),
            Err(error) if error.kind() == ErrorKind::Corrupt => Some(error),
            Err(error) => return Err(error),
        },
        None => None,
    };
    match storage.get_if_present(BACKUP, Cause::Properties).await? {
        Some(backup) if whole(&backup).is_ok() => {
            storage.put(MAIN, backup.clone()).await?;
            Ok(backup)
        }
        _ => Err(fault.unwrap_or_else(|| {
            Error::table_not_found("no Hudi table at this place").context("path", MAIN)
        })),
    }
}

fn with_checksum(mut table: Properties) -> Properties {
    let sum = properties::checksum(&table).to_string();
    table.insert(key::TABLE_CHECKSUM.name.to_owned(), sum);
    table
}

/// The text with Java's two comments.
fn text(table: Properties, did: &str, by: &str) -> Bytes {
    let now = host::now_millis();
    let moment = chrono::DateTime::from_timestamp_millis(now).unwrap_or_default();
    let first = format!("{did} {}{by}", moment.format("%Y-%m-%dT%H:%M:%S%.3fZ"));
    let second = properties::java_date(now);
    properties::store(&table, &[&first, &second]).into()
}

#[cfg(test)]
mod tests;
