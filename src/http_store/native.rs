use std::path::Path;
use std::sync::Arc;

use object_store::local::LocalFileSystem;
use object_store::memory::InMemory;

use crate::error::{Error, Result};
use crate::storage::{Storage, StorageOptions};

/// A table in a local folder; the native build's way to tables, for tests and tools.
pub fn open_folder(folder: impl AsRef<Path>) -> Result<Storage> {
    let folder = folder.as_ref();
    let store = LocalFileSystem::new_with_prefix(folder).map_err(|source| {
        Error::invalid_argument("not a folder that can be opened")
            .context("path", folder.display())
            .with_source(source)
    })?;
    Ok(Storage::new(Arc::new(store), StorageOptions::default()))
}

/// A storage over a store in memory, and the store itself to fill it.
pub fn open_memory() -> (Storage, Arc<InMemory>) {
    let store = Arc::new(InMemory::new());
    (
        Storage::new(store.clone(), StorageOptions::default()),
        store,
    )
}
