//! Tables in memory, opened to be written to, for tests of this room and of those above it.

use std::sync::Arc;

use object_store::memory::InMemory;

use super::{TableLock, WriteClock, Writer};
use crate::host::Zone;
use crate::storage::{Storage, StorageOptions};
use crate::timeline::MetaClient;

/// The table of a store, and a writer of its own with UTC and these options.
pub(crate) async fn open(store: &Arc<InMemory>, options: &[(&str, &str)]) -> (MetaClient, Writer) {
    let storage = Storage::new(Arc::clone(store) as _, StorageOptions::default());
    let meta = MetaClient::load(storage.clone()).await.unwrap();
    let options = options
        .iter()
        .map(|(key, value)| (key.to_string(), value.to_string()));
    let writer = Writer {
        clock: WriteClock::new(&meta.config, Some(Zone::Utc), &storage),
        lock: TableLock::in_process(&storage),
        options: options.collect(),
    };
    (meta, writer)
}
