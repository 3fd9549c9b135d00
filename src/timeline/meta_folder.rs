//! What `.hoodie` holds: the timeline, the metadata table and its timeline, by one listing where one page shows them all.

use crate::error::{ErrorKind, Result};
use crate::storage::{Cause, Folder, ObjectMeta, Storage};

/// The folder.
const FOLDER: &str = ".hoodie";

/// Sorts behind the names in the folder that begin with a dot: markers of writes, heartbeats and scratch are not listed.
const BEHIND_DOTS: &str = ".hoodie/.zzz";

/// Files below `.hoodie` whose names do not begin with a dot there, as they were when the table was opened.
///
/// 1. Where the store lists flat, the first page is asked for at open, and nothing else when that holds everything.
/// 2. Of a longer listing the first page still counts: a folder that ends within it is not asked for again, one that goes on
///    behind it is listed from there.
/// 3. Of a store that shows folder by folder nothing is known at first, and each folder is asked for when it is needed.
#[derive(Debug, Default)]
pub struct MetaFolder {
    /// By path.
    files: Vec<ObjectMeta>,
    known: Known,
}

/// What of the folder is known.
#[derive(Debug, Default, PartialEq, Eq)]
enum Known {
    #[default]
    Nothing,
    /// Paths up to this one.
    UpTo(String),
    All,
}

/// What is known of one folder.
enum Part<'a> {
    All(&'a [ObjectMeta]),
    /// These; the rest sorts behind the last known path.
    Begin(&'a [ObjectMeta], &'a str),
    Nothing,
}

impl MetaFolder {
    /// Lists what one request shows.
    pub(super) async fn load(storage: &Storage) -> Result<Self> {
        if !storage.lists_flat() {
            return Ok(Self::default());
        }
        let first = storage.list_first(FOLDER, BEHIND_DOTS, Cause::Timeline);
        match first.await {
            Ok((files, last)) => Ok(Self {
                files,
                known: last.map_or(Known::All, Known::UpTo),
            }),
            // Some stores begin no listing in the middle.
            Err(error)
                if matches!(
                    error.kind(),
                    ErrorKind::InvalidArgument | ErrorKind::Unsupported
                ) =>
            {
                Ok(Self::default())
            }
            Err(error) => Err(error),
        }
    }

    /// Whether it was listed at all, so that another listing may show more.
    pub fn is_known(&self) -> bool {
        self.known != Known::Nothing
    }

    /// Every file below a folder of it, however deep.
    ///
    /// Errors: those of the storage.
    pub async fn below(
        &self,
        storage: &Storage,
        folder: &str,
        cause: Cause,
    ) -> Result<Vec<ObjectMeta>> {
        match self.part(folder) {
            Part::All(files) => Ok(files.to_vec()),
            Part::Begin(files, last) => {
                let mut files = files.to_vec();
                files.extend(storage.list_all(folder, Some(last), cause).await?);
                Ok(files)
            }
            Part::Nothing => storage.list_all(folder, None, cause).await,
        }
    }

    /// What stands directly in a folder of it.
    ///
    /// Errors: those of the storage.
    pub async fn directly_in(
        &self,
        storage: &Storage,
        folder: &str,
        cause: Cause,
    ) -> Result<Folder> {
        match self.part(folder) {
            Part::All(files) => Ok(one_level(folder, files)),
            // Below it may lie more than in it: the archive below a timeline.
            Part::Begin(..) | Part::Nothing => storage.list_folder(folder, cause).await,
        }
    }

    fn part(&self, folder: &str) -> Part<'_> {
        let (first, end) = (format!("{folder}/"), format!("{folder}0"));
        let covers = folder == FOLDER || first.as_str() > BEHIND_DOTS;
        let from = self.files.partition_point(|file| file.path < first);
        let to = self.files.partition_point(|file| file.path < end);
        let files = self.files.get(from..to).unwrap_or_default();
        match &self.known {
            Known::All if covers => Part::All(files),
            Known::UpTo(last) if covers && *last >= end => Part::All(files),
            Known::UpTo(last) if covers && *last >= first => Part::Begin(files, last),
            _ => Part::Nothing,
        }
    }
}

/// The files of one level, and the folders that the others lie in.
fn one_level(folder: &str, files: &[ObjectMeta]) -> Folder {
    let mut level = Folder::default();
    for file in files {
        let rest = file.path.get(folder.len() + 1..).unwrap_or_default();
        match rest.split_once('/') {
            None => level.files.push(file.clone()),
            Some((name, _)) => {
                let path = format!("{folder}/{name}");
                if level.folders.last() != Some(&path) {
                    level.folders.push(path);
                }
            }
        }
    }
    level
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use futures::FutureExt;
    use object_store::ObjectStoreExt;
    use object_store::memory::InMemory;
    use object_store::path::Path;

    use super::*;
    use crate::storage::StorageOptions;

    const PATHS: [&str; 6] = [
        ".hoodie/.temp/1/marker",
        ".hoodie/hoodie.properties",
        ".hoodie/metadata/.hoodie/timeline/1.deltacommit",
        ".hoodie/metadata/files/a",
        ".hoodie/timeline/1.commit",
        ".hoodie/timeline/history/_version_",
    ];

    fn storage() -> Storage {
        let store = InMemory::new();
        for path in PATHS {
            let path = Path::from(path);
            let put = store.put(&path, "x".into()).now_or_never();
            put.unwrap().unwrap();
        }
        Storage::new(Arc::new(store), StorageOptions::default())
    }

    fn now<T>(future: impl Future<Output = Result<T>>) -> T {
        future.now_or_never().unwrap().unwrap()
    }

    fn paths(files: &[ObjectMeta]) -> Vec<&str> {
        files.iter().map(|file| file.path.as_str()).collect()
    }

    /// The same answers whatever is known, and the requests that each took beyond the first.
    fn check(known: Known, requests: u64) {
        let storage = storage();
        let mut folder = now(MetaFolder::load(&storage));
        match &known {
            Known::Nothing => folder.files.clear(),
            Known::UpTo(last) => folder.files.retain(|file| file.path <= *last),
            Known::All => {}
        }
        folder.known = known;
        let before = storage.metrics().counters().requests;
        let cause = Cause::Timeline;
        let timeline = now(folder.directly_in(&storage, ".hoodie/timeline", cause));
        assert_eq!(paths(&timeline.files), [PATHS[4]]);
        assert_eq!(timeline.folders, [".hoodie/timeline/history"]);
        let own = ".hoodie/metadata/.hoodie/timeline";
        let own = now(folder.directly_in(&storage, own, cause));
        assert_eq!(paths(&own.files), [PATHS[2]]);
        let metadata = now(folder.below(&storage, ".hoodie/metadata", cause));
        assert_eq!(paths(&metadata), [PATHS[2], PATHS[3]]);
        assert!(now(folder.below(&storage, ".hoodie/none", cause)).is_empty());
        let dots = now(folder.below(&storage, ".hoodie/.temp", cause));
        assert_eq!(paths(&dots), [PATHS[0]], "never known, always asked for");
        let after = storage.metrics().counters().requests;
        assert_eq!(after - before, requests);
    }

    #[test]
    fn what_is_known_is_not_asked_for_and_what_goes_on_is_listed_from_there() {
        check(Known::All, 1);
        check(Known::Nothing, 5);
        check(Known::UpTo(PATHS[1].to_owned()), 5);
        // The metadata table begins within the page, its timeline ends there.
        check(Known::UpTo(PATHS[3].to_owned()), 4);
        check(Known::UpTo(PATHS[4].to_owned()), 2);
    }
}
