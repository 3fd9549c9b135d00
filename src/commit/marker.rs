use bytes::Bytes;
use futures::lock::Mutex;

use crate::error::Result;
use crate::model::{InstantTime, PartitionPath};
use crate::storage::{Cause, Storage};

/// Markers of one file at most: the file is written anew for each.
const LINES_PER_FILE: usize = 256;

/// What a write does to a data file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MarkerKind {
    /// Writes a new file; from version 8 on also a new log file.
    Create,
    /// Rewrites a base file.
    Merge,
    /// Appends to a log file: version 6.
    Append,
}

impl MarkerKind {
    /// The word at the end of a marker.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Create => "CREATE",
            Self::Merge => "MERGE",
            Self::Append => "APPEND",
        }
    }
}

/// The markers of one instant: which data files it means to write, said before each is begun, so that a rollback finds
/// whatever is there.
///
/// ```text
/// .hoodie/.temp/T/MARKERS.type     the text TIMELINE_SERVER_BASED
/// .hoodie/.temp/T/MARKERS0         a line a file: PARTITION/NAME.marker.CREATE
/// ```
#[derive(Debug)]
pub struct Markers {
    storage: Storage,
    folder: String,
    written: Mutex<Written>,
}

#[derive(Debug, Default)]
struct Written {
    begun: bool,
    file: usize,
    lines: usize,
    text: String,
    all: Vec<(PartitionPath, String)>,
}

impl Markers {
    /// The markers of an instant; nothing is written yet.
    pub fn open(storage: &Storage, instant: &InstantTime) -> Self {
        Self {
            storage: storage.clone(),
            folder: folder(instant),
            written: Mutex::default(),
        }
    }

    /// Marks a file. When this returns the file may be begun.
    ///
    /// Errors: those of the storage; the file must not be begun then.
    pub async fn create(
        &self,
        partition: &PartitionPath,
        file_name: &str,
        kind: MarkerKind,
    ) -> Result<()> {
        let mut written = self.written.lock().await;
        if !written.begun {
            let path = format!("{}/MARKERS.type", self.folder);
            let kind = Bytes::from_static(b"TIMELINE_SERVER_BASED");
            self.storage.put(&path, kind).await?;
            written.begun = true;
        }
        if written.lines == LINES_PER_FILE {
            written.file += 1;
            written.lines = 0;
            written.text.clear();
        }
        let name = format!("{file_name}.marker.{}", kind.as_str());
        let line = format!("{}\n", partition.file_path(&name));
        let text = format!("{}{line}", written.text);
        let path = format!("{}/MARKERS{}", self.folder, written.file);
        self.storage.put(&path, Bytes::from(text.clone())).await?;
        written.text = text;
        written.lines += 1;
        written.all.push((partition.clone(), file_name.to_owned()));
        Ok(())
    }

    /// The files that were marked, in the order of their markers.
    pub async fn marked(&self) -> Vec<(PartitionPath, String)> {
        self.written.lock().await.all.clone()
    }

    /// Removes the markers, once the instant is completed. Nothing depends on them then, so a failure leaves a warning.
    pub async fn remove(&self) {
        if let Err(error) = remove(&self.storage, &self.folder).await {
            let warning = format!("markers of a completed write are left: {error}");
            self.storage.warn(&warning, Some(&self.folder));
        }
    }
}

/// The folder of an instant's markers.
fn folder(instant: &InstantTime) -> String {
    format!(".hoodie/.temp/{instant}")
}

async fn remove(storage: &Storage, folder: &str) -> Result<()> {
    let files = storage.list_all(folder, None, Cause::Write).await?;
    // The type goes last: markers without it would be read as ones of another kind.
    let (kind, lists): (Vec<_>, Vec<_>) = files
        .into_iter()
        .partition(|file| file.path.ends_with("/MARKERS.type"));
    for file in lists.into_iter().chain(kind) {
        storage.delete(&file.path).await?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
