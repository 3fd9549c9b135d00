use std::collections::{BTreeMap, BTreeSet};

use futures::stream::{self, StreamExt, TryStreamExt};

use super::PartitionFiles;
use crate::error::{Error, Result};
use crate::model::{
    BaseFile, FileName, FileSlice, InOrder, Instant, LogFile, PartitionPath, TableVersion,
};
use crate::storage::{Cause, ObjectMeta};
use crate::timeline::MetaClient;
use crate::timeline::payload::{CommitMetadata, WriteStat};

/// Bodies of commits asked for at once; the storage holds its own bound on requests.
const PARALLEL: usize = 16;

/// Bytes asked for to learn the size of a file that its commit does not tell.
const PROBE: u64 = 4;

/// The files that some completed instants wrote, as their bodies name them: nothing is listed, and whether the files
/// are still there shows when they are opened.
#[derive(Debug, Clone, Default)]
pub struct ChangedFiles {
    partitions: Vec<PartitionFiles>,
    /// The file groups that the instants replaced.
    replaced: BTreeSet<(PartitionPath, String)>,
}

impl ChangedFiles {
    /// Reads the bodies of the instants, many at once.
    ///
    /// Errors: those of reading, and `Corrupt` for an empty body, since nobody knows what its instant wrote.
    pub async fn load(meta: &MetaClient, instants: &[Instant]) -> Result<Self> {
        let bodies = instants.iter().map(|instant| async move {
            let body = meta.commit_metadata(instant).await?;
            body.ok_or_else(|| {
                Error::corrupt("a completed instant is empty, so what it wrote is not known")
                    .context("instant", &instant.time)
            })
        });
        let bodies: Vec<CommitMetadata> = stream::iter(bodies)
            .buffered(PARALLEL)
            .try_collect()
            .await?;
        let mut replaced = BTreeSet::new();
        let mut written = Written::default();
        for body in bodies {
            for (partition, file_ids) in body.partition_to_replace_file_ids {
                let partition = PartitionPath::new(partition);
                let groups = file_ids.into_iter().map(|id| (partition.clone(), id));
                replaced.extend(groups);
            }
            for (partition, stats) in body.partition_to_write_stats {
                let partition = PartitionPath::new(partition);
                for stat in stats {
                    written.add(&partition, stat);
                }
            }
        }
        let partitions = written.files(meta).await?;
        Ok(Self {
            partitions,
            replaced,
        })
    }

    /// The files by partition.
    pub fn partitions(&self) -> &[PartitionFiles] {
        &self.partitions
    }

    /// The newest slice of each file group, of these files alone, by partition and file id.
    ///
    /// 1. It has the newest base file, and the logs that came after it; without a base file all logs. A compaction that is
    ///    pending splits no slice.
    /// 2. A group that one of the instants replaced is left out. No other instant can have replaced it in the meantime: a
    ///    replacement of files that it did not see is a conflict.
    ///
    /// Errors: `Unsupported` for log files of a newer table version, `Corrupt` for a file that is no data file.
    pub fn slices(self, meta: &MetaClient) -> Result<Vec<FileSlice>> {
        let mut groups: BTreeMap<(PartitionPath, String), Group> = BTreeMap::new();
        for PartitionFiles { partition, files } in self.partitions {
            for ObjectMeta { path, size, .. } in files {
                match path.rsplit('/').next().and_then(FileName::parse) {
                    Some(FileName::Base(name)) => {
                        let key = (partition.clone(), name.file_id.clone());
                        let group = groups.entry(key).or_default();
                        group.add_base(BaseFile { name, path, size });
                    }
                    Some(FileName::Log(name)) => {
                        let key = (partition.clone(), name.file_id.clone());
                        let group = groups.entry(key).or_default();
                        group.logs.push(LogFile { name, path, size });
                    }
                    Some(FileName::NativeLog(_)) => {
                        let message = "a log file of a table version newer than 9";
                        return Err(Error::unsupported(message).context("path", path));
                    }
                    None => {
                        let message = "a commit names a file that is no data file";
                        return Err(Error::corrupt(message).context("path", path));
                    }
                }
            }
        }
        groups.retain(|key, _| !self.replaced.contains(key));
        let slices = groups.into_iter();
        Ok(slices
            .filter_map(|((partition, file_id), group)| group.slice(meta, partition, file_id))
            .collect())
    }
}

/// The files of one group.
#[derive(Default)]
struct Group {
    base: Option<BaseFile>,
    logs: Vec<LogFile>,
}

impl Group {
    /// Keeps the newest; of two of one instant the one whose name sorts last, as in a view of the whole table.
    fn add_base(&mut self, base: BaseFile) {
        let newer =
            |held: &BaseFile| (&held.name.instant, &held.path) < (&base.name.instant, &base.path);
        if self.base.as_ref().is_none_or(newer) {
            self.base = Some(base);
        }
    }

    fn slice(
        self,
        meta: &MetaClient,
        partition: PartitionPath,
        file_id: String,
    ) -> Option<FileSlice> {
        let Self { base, mut logs } = self;
        if let Some(base) = &base {
            let base = &base.name.instant;
            logs.retain(|log| {
                let written = &log.name.instant;
                match meta.config.version() {
                    TableVersion::Six => base <= written,
                    TableVersion::Eight | TableVersion::Nine => {
                        let completed = meta.timeline.completion(written);
                        base <= completed.as_ref().unwrap_or(written)
                    }
                }
            });
        }
        logs.in_order_by(|a, b| a.name.cmp(&b.name));
        let first = logs.first().map(|log| &log.name.instant);
        let instant = base.as_ref().map(|base| &base.name.instant).or(first)?;
        Some(FileSlice {
            partition,
            file_id,
            instant: instant.clone(),
            base,
            logs,
        })
    }
}

/// Files that commits wrote, with the greatest size that any of them gave: version 6 appends to logs.
#[derive(Default)]
struct Written(BTreeMap<PartitionPath, BTreeMap<String, u64>>);

impl Written {
    fn add(&mut self, partition: &PartitionPath, stat: WriteStat) {
        let size = u64::try_from(stat.file_size_in_bytes).unwrap_or(0);
        let Some(path) = stat.path.filter(|path| !path.is_empty()) else {
            return;
        };
        let files = self.0.entry(partition.clone()).or_default();
        let known = files.entry(path).or_default();
        *known = size.max(*known);
    }

    async fn files(self, meta: &MetaClient) -> Result<Vec<PartitionFiles>> {
        let mut partitions = Vec::with_capacity(self.0.len());
        for (partition, files) in self.0 {
            let files = files.into_iter().map(|(path, size)| async move {
                let size = match size {
                    0 => {
                        meta.storage
                            .get_first(&path, 0..PROBE, Cause::Footer)
                            .await?
                            .0
                    }
                    size => size,
                };
                Ok::<_, Error>(ObjectMeta {
                    path,
                    size,
                    etag: None,
                    modified_millis: None,
                })
            });
            let files = stream::iter(files).buffered(PARALLEL).try_collect().await?;
            partitions.push(PartitionFiles { partition, files });
        }
        Ok(partitions)
    }
}
