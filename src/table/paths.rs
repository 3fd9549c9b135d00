//! Reading files that the caller chose: `HudiFileGroupReader`.

use super::open::Table;
use super::read::ReadStream;
use crate::config::ReadOptions;
use crate::error::{Error, Result};
use crate::model::{BaseFile, BaseFileName, FileSlice, PartitionPath};
use crate::read::Selection;
use crate::storage::Cause;

/// Bytes asked for to learn a file's size.
const PROBE: u64 = 4;

impl Table {
    /// Reads one base file by its path relative to the table, in the schema as of the options' time.
    ///
    /// Errors: `InvalidArgument` for a path that is no base file's, `Unsupported` for log files, and those of reading.
    pub async fn read_paths(
        &self,
        base_path: Option<&str>,
        log_paths: &[String],
        options: &ReadOptions,
    ) -> Result<ReadStream> {
        if let Some(log) = log_paths.first() {
            return Err(
                Error::unsupported("merging log files is not there yet").context("path", log)
            );
        }
        let path = base_path.ok_or_else(|| {
            Error::invalid_argument("neither a base file nor a log file is named")
        })?;
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
        let name = BaseFileName::parse(name).ok_or_else(|| {
            Error::invalid_argument("not the name of a base file").context("path", path)
        })?;
        let as_of = self.as_of(options)?;
        let selection = Selection {
            filters: options.filters.clone(),
            projection: options.projection.clone(),
            batch_rows: options.batch_rows()?,
            limit: options.limit,
        };
        let bound = self.bind(options, &selection, as_of.as_ref()).await?;
        let (size, _) = self
            .meta
            .storage
            .get_first(path, 0..PROBE, Cause::Footer)
            .await?;
        let slice = FileSlice {
            partition: PartitionPath::new(folder),
            file_id: name.file_id.clone(),
            instant: name.instant.clone(),
            base: Some(BaseFile {
                name,
                path: path.to_owned(),
                size,
            }),
            logs: Vec::new(),
        };
        let tasks = bound.task(&slice)?.into_iter().collect();
        ReadStream::new(&self.meta.storage, &bound, tasks, 0)
    }
}
