//! Tables of `tests/data` in memory, with the answers that Spark gave. Knows nothing of the crate under test, so
//! that unit tests and every integration test can use it.
#![allow(dead_code, reason = "no test uses all of it")]

use std::io::{Cursor, Read};
use std::path::PathBuf;
use std::sync::Arc;

pub mod rows;
pub mod watched;

use futures::FutureExt;
use object_store::ObjectStoreExt;
use object_store::memory::InMemory;
use object_store::path::Path;
use serde_json::Value;

/// Where the zipped tables lie.
pub fn data_folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data")
}

/// The names of all tables, sorted.
pub fn tables() -> Vec<String> {
    let entries = std::fs::read_dir(data_folder()).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut tables: Vec<_> = names
        .filter_map(|n| Some(n.strip_suffix(".zip")?.to_owned()))
        .collect();
    tables.sort();
    tables
}

/// The names of the copy-on-write tables, sorted.
pub fn cow_tables() -> Vec<String> {
    let mut tables = tables();
    tables.retain(|name| name.contains("_cow_"));
    tables
}

/// The files of a table: path relative to the table, and content.
pub fn files(name: &str) -> Vec<(String, Vec<u8>)> {
    let zip = std::fs::read(data_folder().join(format!("{name}.zip"))).unwrap();
    let mut zip = zip::ZipArchive::new(Cursor::new(zip)).unwrap();
    let mut files = Vec::new();
    for index in 0..zip.len() {
        let mut entry = zip.by_index(index).unwrap();
        if entry.is_dir() {
            continue;
        }
        let path = entry
            .name()
            .strip_prefix(&format!("{name}/"))
            .unwrap()
            .to_owned();
        let mut content = Vec::new();
        entry.read_to_end(&mut content).unwrap();
        files.push((path, content));
    }
    files
}

/// A store that holds `files`.
pub fn store_of(files: impl IntoIterator<Item = (String, Vec<u8>)>) -> Arc<InMemory> {
    let store = Arc::new(InMemory::new());
    for (path, content) in files {
        put(&store, &path, content);
    }
    store
}

/// A store that begins at the table.
pub fn store(name: &str) -> Arc<InMemory> {
    store_of(files(name))
}

/// Puts one file.
pub fn put(store: &InMemory, path: &str, content: Vec<u8>) {
    let location = Path::parse(path).unwrap();
    store
        .put(&location, content.into())
        .now_or_never()
        .unwrap()
        .unwrap();
}

/// Takes one file away.
pub fn delete(store: &InMemory, path: &str) {
    store
        .delete(&Path::parse(path).unwrap())
        .now_or_never()
        .unwrap()
        .unwrap();
}

/// The content of one file.
pub fn get(store: &InMemory, path: &str) -> Vec<u8> {
    let result = store
        .get(&Path::parse(path).unwrap())
        .now_or_never()
        .unwrap()
        .unwrap();
    result.bytes().now_or_never().unwrap().unwrap().to_vec()
}

/// Unpacks a table to a folder that goes away with the returned guard; the table is `NAME` below it.
pub fn unpack(name: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (path, content) in files(name) {
        let path = folder.path().join(name).join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }
    folder
}

/// What Spark says of a table: see `tests/README.md`.
pub fn expected(name: &str) -> Value {
    let text = std::fs::read(data_folder().join(format!("{name}.expected.json"))).unwrap();
    serde_json::from_slice(&text).unwrap()
}

/// The recorded queries of a table whose `queryType` is this one.
pub fn queries(expected: &Value, query_type: &str) -> Vec<Value> {
    let all = expected["queries"].as_array().unwrap().iter();
    all.filter(|q| q["query"]["queryType"] == query_type)
        .cloned()
        .collect()
}

/// Runs a future on a new single-threaded runtime.
pub fn block_on<F: Future>(future: F) -> F::Output {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(future)
}
