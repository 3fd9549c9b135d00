//! What a rollback deletes: the files that the markers of an instant name, or those of its commit metadata.

use crate::error::{Error, Result};
use crate::model::{InOrder, Instant, InstantTime, PartitionPath, State};
use crate::storage::Cause;
use crate::timeline::MetaClient;
use crate::timeline::payload::{InstantInfo, RollbackPlan, RollbackRequest};

/// A file to delete: its partition and its name.
type DataFile = (PartitionPath, String);

/// The plan of a rollback, as Java makes it from version 8 on: one request a file, log files too.
///
/// `base` is the table's absolute path as other engines know it. Of a completed instant the commit metadata names the files: it has
/// lost its markers, or some of them when their removal was cut off. A pending one is known by its markers, and without them has
/// begun no file.
///
/// Errors: `Corrupt` for markers that cannot be read, `Unsupported` for markers of another kind; those of the storage.
pub(super) async fn plan(meta: &MetaClient, instant: &Instant, base: &str) -> Result<RollbackPlan> {
    let files = match instant.is_completed() {
        true => committed(meta, instant).await?,
        false => marked(meta, &instant.time).await?,
    };
    let requests = files.into_iter().map(|(partition, name)| RollbackRequest {
        files_to_be_deleted: vec![absolute(base, &partition, &name)],
        partition_path: partition.as_str().to_owned(),
        file_id: Some(String::new()),
        latest_base_instant: Some(String::new()),
        ..RollbackRequest::default()
    });
    Ok(RollbackPlan {
        instant_to_rollback: Some(InstantInfo {
            commit_time: instant.time.to_string(),
            action: instant.action.to_string(),
        }),
        rollback_requests: requests.collect(),
        version: Some(1),
    })
}

fn absolute(base: &str, partition: &PartitionPath, name: &str) -> String {
    format!(
        "{}/{}",
        base.trim_end_matches('/'),
        partition.file_path(name)
    )
}

/// The files that markers name. Both kinds are read: lists of lines, and an empty file a marker.
async fn marked(meta: &MetaClient, instant: &InstantTime) -> Result<Vec<DataFile>> {
    let folder = format!(".hoodie/.temp/{instant}");
    let files = meta.storage.list_all(&folder, None, Cause::Write).await?;
    let mut lines = Vec::new();
    for file in files {
        let Some(name) = file.path.strip_prefix(&format!("{folder}/")) else {
            continue;
        };
        match name.strip_prefix("MARKERS") {
            Some(".type") => {}
            Some(number) if number.bytes().all(|byte| byte.is_ascii_digit()) => {
                let text = meta.storage.get(&file.path, Cause::Write).await?;
                let text = std::str::from_utf8(&text).map_err(|source| {
                    Error::corrupt("markers are not text")
                        .context("path", &file.path)
                        .with_source(source)
                })?;
                lines.extend(text.lines().map(str::to_owned));
            }
            _ => lines.push(name.to_owned()),
        }
    }
    lines.in_order();
    lines.dedup();
    let files = lines.iter().filter(|line| !line.is_empty()).map(|line| {
        data_file(line).map_err(|error| error.context("path", &folder).context("marker", line))
    });
    files.collect()
}

/// `PARTITION/NAME.marker.CREATE` to its parts.
fn data_file(line: &str) -> Result<DataFile> {
    let Some((path, kind)) = line.rsplit_once(".marker.") else {
        return Err(Error::corrupt("a marker does not name a file"));
    };
    if !matches!(kind, "CREATE" | "MERGE") {
        // The log file of an appending writer holds blocks of other instants too: only version 6 has them.
        return Err(Error::unsupported(
            "rolling back writes that append to log files",
        ));
    }
    let (partition, name) = path.rsplit_once('/').unwrap_or(("", path));
    Ok((PartitionPath::new(partition), name.to_owned()))
}

/// The files that a completed write names.
async fn committed(meta: &MetaClient, instant: &Instant) -> Result<Vec<DataFile>> {
    let metadata = meta.commit_metadata(instant).await?;
    let unknown = || {
        Error::unsupported("rolling back an instant whose completed file is empty")
            .context("instant", &instant.time)
    };
    let metadata = metadata.ok_or_else(unknown)?;
    let stats = metadata.partition_to_write_stats.values().flatten();
    let mut files = Vec::new();
    for stat in stats {
        let paths = stat.path.iter().chain(stat.cdc_stats.keys());
        files.extend(paths.map(|path| {
            let (partition, name) = path.rsplit_once('/').unwrap_or(("", path));
            (PartitionPath::new(partition), name.to_owned())
        }));
    }
    Ok(files)
}

/// The plan of a pending rollback; `None` when its requested file is empty, which a crash of another engine leaves.
pub(super) async fn pending_plan(
    meta: &MetaClient,
    rollback: &Instant,
) -> Result<Option<RollbackPlan>> {
    let plan: Option<RollbackPlan> = meta.body(rollback, State::Requested).await?;
    Ok(plan.filter(|plan| plan.instant_to_rollback.is_some()))
}

#[cfg(all(test, not(target_arch = "wasm32")))]
mod tests;
