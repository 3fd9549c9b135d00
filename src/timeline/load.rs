//! Opening a table: its properties and its timeline.

use futures::future::join3;

use super::active::Timeline;
use super::meta_folder::MetaFolder;
use crate::config::TableConfig;
use crate::error::{Error, ErrorKind, Result};
use crate::storage::{Cause, Storage};

const PROPERTIES: &str = ".hoodie/hoodie.properties";
const BACKUP: &str = ".hoodie/hoodie.properties.backup";
/// Where nearly every table of version 8 and later has its timeline.
const USUAL_TIMELINE: &str = ".hoodie/timeline";

/// Reads the properties and lists the timeline in one round, where the store lists flat and one page holds `.hoodie`; a folder
/// that was not seen whole is listed once its name is known. The usual one is asked for along with the properties where
/// folders are listed one by one.
pub(super) async fn load(storage: &Storage) -> Result<(TableConfig, Timeline, MetaFolder)> {
    let usual = async {
        match storage.lists_flat() {
            true => Ok(None),
            false => {
                let listed = storage.list_folder(USUAL_TIMELINE, Cause::Timeline);
                listed.await.map(Some)
            }
        }
    };
    let (config, meta_folder, usual) =
        join3(config(storage), MetaFolder::load(storage), usual).await;
    let (config, meta_folder) = (config?, meta_folder?);
    let folder = config.timeline_folder();
    let listed = match usual {
        Ok(Some(usual)) if folder == USUAL_TIMELINE => usual,
        Err(error) if folder == USUAL_TIMELINE => return Err(error),
        _ => {
            let listed = meta_folder.directly_in(storage, &folder, Cause::Timeline);
            listed.await?
        }
    };
    let timeline = Timeline::of_folder(&listed, config.version().layout());
    Ok((config, timeline, meta_folder))
}

/// `hoodie.properties`, or its backup while a writer replaces the file: then the file is missing or half written.
async fn config(storage: &Storage) -> Result<TableConfig> {
    let main = read(storage, PROPERTIES).await;
    let fault = match main {
        Ok(Some(config)) => return Ok(config),
        Ok(None) => None,
        Err(error) if error.kind() == ErrorKind::Corrupt => Some(error),
        Err(error) => return Err(error),
    };
    match read(storage, BACKUP).await {
        Ok(Some(config)) => {
            storage.warn(
                "hoodie.properties is being replaced: read its backup",
                Some(BACKUP),
            );
            return Ok(config);
        }
        Err(error) if fault.is_none() => return Err(error),
        _ => {}
    }
    // The writer may have finished between the two reads.
    if let Ok(Some(config)) = read(storage, PROPERTIES).await {
        return Ok(config);
    }
    Err(fault.unwrap_or_else(|| {
        Error::table_not_found("no Hudi table at this place")
            .context("path", PROPERTIES)
            .context("hint", "the URI must be the folder that holds .hoodie")
    }))
}

async fn read(storage: &Storage, path: &str) -> Result<Option<TableConfig>> {
    let bytes = storage.get_if_present(path, Cause::Properties).await?;
    let config = bytes.map(|bytes| TableConfig::parse(&bytes)).transpose();
    config.map_err(|e| e.context("path", path))
}
