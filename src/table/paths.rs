//! Reading files that the caller chose: `HudiFileGroupReader`.

use futures::future::try_join_all;
use futures::try_join;

use super::open::Table;
use super::read::ReadStream;
use crate::config::ReadOptions;
use crate::error::{Error, Result};
use crate::model::{
    BaseFile, BaseFileName, FileSlice, InOrder, LogFile, LogFileName, PartitionPath,
};
use crate::read::Selection;
use crate::storage::Cause;

/// Bytes asked for to learn a file's size.
const PROBE: u64 = 4;

impl Table {
    /// Reads one file slice by the paths of its files relative to the table, in the schema as of the options' time: the base
    /// file, the log files over it, or both. Log files are merged in the order of their names, whatever order they are given in.
    ///
    /// Errors: `InvalidArgument` for a path that is no data file's, for files of several groups or folders, and when no file is
    /// named; those of reading.
    pub async fn read_paths(
        &self,
        base_path: Option<&str>,
        log_paths: &[String],
        options: &ReadOptions,
    ) -> Result<ReadStream> {
        let batch_rows = options.batch_rows()?;
        let as_of = self.as_of(options)?;
        let base = base_path.map(base_name).transpose()?;
        let logs = log_paths.iter().map(|path| log_name(path));
        let logs = logs.collect::<Result<Vec<_>>>()?;
        let mut filters = options.filters.clone();
        filters.extend(self.range_filters(options).await?);
        let selection = Selection {
            filters,
            projection: options.projection.clone(),
            batch_rows,
            limit: options.limit,
        };
        let bound = self.bind(options, &selection, as_of.as_ref()).await?;
        let slice = self.named_slice(base, logs).await?;
        let merging = self.merging(as_of.as_ref(), options.strict_logs);
        let tasks = bound.tasks(&[slice], &merging)?;
        ReadStream::new(&self.meta.storage, &bound, tasks, 0)
    }

    /// The slice of files that lie in one folder and are of one group.
    async fn named_slice(
        &self,
        base: Option<(&str, BaseFileName)>,
        logs: Vec<(&str, LogFileName)>,
    ) -> Result<FileSlice> {
        let paths = base.iter().map(|(path, name)| (*path, &name.file_id));
        let paths = paths.chain(logs.iter().map(|(path, name)| (*path, &name.file_id)));
        let mut places = paths.map(|(path, file_id)| (folder(path), file_id.clone(), path));
        let Some((partition, file_id, first)) = places.next() else {
            return Err(Error::invalid_argument(
                "neither a base file nor a log file is named",
            ));
        };
        if let Some((_, _, other)) = places.find(|(at, id, _)| *at != partition || *id != file_id) {
            let message = "files of one slice lie in one folder and have one file id";
            return Err(Error::invalid_argument(message)
                .context("path", other)
                .context("other", first));
        }
        let partition = PartitionPath::new(partition);
        drop(places);
        let base_file = async {
            let Some((path, name)) = base else {
                return Ok(None);
            };
            let size = self.size_of(path).await?;
            let path = path.to_owned();
            Ok(Some(BaseFile { name, path, size }))
        };
        let log_files = logs.into_iter().map(|(path, name)| async move {
            let size = self.size_of(path).await?;
            let path = path.to_owned();
            Ok(LogFile { name, path, size })
        });
        let (base, mut logs) = try_join!(base_file, try_join_all(log_files))?;
        logs.in_order_by(|a, b| a.name.cmp(&b.name));
        let first_log = || logs.first().map(|log| log.name.instant.clone());
        let instant = base.as_ref().map(|base| base.name.instant.clone());
        let instant = instant.or_else(first_log);
        Ok(FileSlice {
            partition,
            file_id,
            instant: instant.ok_or_else(|| Error::internal("a slice without files"))?,
            base,
            logs,
        })
    }

    async fn size_of(&self, path: &str) -> Result<u64> {
        let storage = &self.meta.storage;
        let (size, _) = storage.get_first(path, 0..PROBE, Cause::Footer).await?;
        Ok(size)
    }
}

fn folder(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

fn file_name(path: &str) -> &str {
    path.rsplit_once('/').map_or(path, |(_, name)| name)
}

fn base_name(path: &str) -> Result<(&str, BaseFileName)> {
    let name = BaseFileName::parse(file_name(path));
    let no_name = || Error::invalid_argument("not the name of a base file").context("path", path);
    Ok((path, name.ok_or_else(no_name)?))
}

fn log_name(path: &str) -> Result<(&str, LogFileName)> {
    let name = LogFileName::parse(file_name(path));
    let no_name = || Error::invalid_argument("not the name of a log file").context("path", path);
    Ok((path, name.ok_or_else(no_name)?))
}
