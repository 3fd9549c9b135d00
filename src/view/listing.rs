use std::collections::BTreeMap;

use async_trait::async_trait;
use futures::{StreamExt, TryStreamExt, stream};

use super::PartitionPruner;
use crate::error::Result;
use crate::model::{BaseFileName, InOrder, PartitionPath, is_partition_metafile};
use crate::storage::{Cause, ObjectMeta, Storage};

/// The table's own folder, which holds no data.
const META_FOLDER: &str = ".hoodie";

/// Sorts directly behind every path in [`META_FOLDER`], since `0` follows the slash.
const BEHIND_META_FOLDER: &str = ".hoodie0";

/// With more folders than this, a few pages of everything cost less than a request for each.
const FOLDERS_LISTED_ALONE: usize = 32;

/// Listings under way at once; the storage holds its own bound on requests.
const PARALLEL: usize = 16;

/// The files of one partition, whatever they are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PartitionFiles {
    /// The partition.
    pub partition: PartitionPath,
    /// The files directly in its folder, by path.
    pub files: Vec<ObjectMeta>,
}

/// Whoever knows the files of the table.
#[async_trait]
pub trait FileListing: Send + Sync {
    /// The partitions that `pruner` keeps, by path, with their files; of others those whose files are known at no cost. The rest of
    /// the others is counted in the storage's metrics.
    async fn load(&self, pruner: &PartitionPruner) -> Result<Vec<PartitionFiles>>;
}

/// Finds partitions and files by listing folders.
///
/// 1. A folder is a partition when it holds a partition metafile, at any depth; `.hoodie` is never one, and files and
///    folders that no partition holds are passed over. A table without partition fields is its own one partition. Where
///    the host hides names that begin with a dot, a folder that holds a base file is a partition.
/// 2. One request lists the top level, then one each top-level folder that the pruner keeps, all below it at once. Of
///    very many folders everything behind `.hoodie/` is listed by pages instead.
#[derive(Clone)]
pub struct DirectoryListing {
    storage: Storage,
    partitioned: bool,
}

impl DirectoryListing {
    /// Over the table's storage; `partitioned` when the table has partition fields.
    pub fn new(storage: Storage, partitioned: bool) -> Self {
        Self {
            storage,
            partitioned,
        }
    }

    async fn load_folders(&self, folders: Vec<String>) -> Result<Vec<ObjectMeta>> {
        let listings = folders.into_iter().map(|folder| {
            let storage = self.storage.clone();
            async move { storage.list_all(&folder, None, Cause::Listing).await }
        });
        let found: Vec<Vec<ObjectMeta>> = stream::iter(listings)
            .buffered(PARALLEL)
            .try_collect()
            .await?;
        Ok(found.into_iter().flatten().collect())
    }

    /// Everything that sorts behind `.hoodie/`, and the folders that sort before that.
    async fn load_flat(&self, folders: &[String]) -> Result<Vec<ObjectMeta>> {
        let before = folders.iter().cloned();
        let before = before.filter(|folder| format!("{folder}/").as_str() < BEHIND_META_FOLDER);
        let mut files = self.load_folders(before.collect()).await?;
        let behind = self
            .storage
            .list_all("", Some(BEHIND_META_FOLDER), Cause::Listing);
        files.extend(behind.await?);
        Ok(files)
    }
}

#[async_trait]
impl FileListing for DirectoryListing {
    async fn load(&self, pruner: &PartitionPruner) -> Result<Vec<PartitionFiles>> {
        let top = self.storage.list_folder("", Cause::Listing).await?;
        if !self.partitioned {
            return Ok(vec![PartitionFiles {
                partition: PartitionPath::default(),
                files: top.files,
            }]);
        }
        let all: Vec<String> = top
            .folders
            .into_iter()
            .filter(|f| f != META_FOLDER)
            .collect();
        let kept = all.iter().filter(|folder| pruner.keeps_below(folder));
        let kept: Vec<String> = kept.cloned().collect();
        let unlisted = all.len() - kept.len();
        let flat = kept.len() > FOLDERS_LISTED_ALONE && kept.len() > all.len() / 4;
        let below = match flat {
            true => self.load_flat(&all).await?,
            false => {
                self.storage.metrics().add_partitions_unlisted(unlisted);
                self.load_folders(kept).await?
            }
        };
        let files = top.files.into_iter().chain(below);
        let files = files.filter(|file| !is_meta(&file.path));
        let by_metafile = !self.storage.hides_dot_names();
        Ok(partitions(files, by_metafile))
    }
}

fn is_meta(path: &str) -> bool {
    path.strip_prefix(META_FOLDER)
        .is_some_and(|rest| rest.starts_with('/'))
}

/// Files by folder, of folders that are partitions.
fn partitions(files: impl Iterator<Item = ObjectMeta>, by_metafile: bool) -> Vec<PartitionFiles> {
    let mut folders: BTreeMap<PartitionPath, (bool, Vec<ObjectMeta>)> = BTreeMap::new();
    for file in files {
        let (folder, name) = file.path.rsplit_once('/').unwrap_or(("", &file.path));
        let is_metafile = is_partition_metafile(name);
        let (is_partition, files) = folders.entry(PartitionPath::new(folder)).or_default();
        *is_partition |= match by_metafile {
            true => is_metafile,
            false => BaseFileName::parse(name).is_some(),
        };
        // Both ways of listing may give a file that lies directly in the table.
        if !is_metafile
            && !files
                .iter()
                .any(|known| folder.is_empty() && known.path == file.path)
        {
            files.push(file);
        }
    }
    let mut found = Vec::with_capacity(folders.len());
    for (partition, (is_partition, mut files)) in folders {
        if is_partition {
            files.in_order_by(|a, b| a.path.cmp(&b.path));
            found.push(PartitionFiles { partition, files });
        }
    }
    found
}

#[cfg(test)]
mod tests;
