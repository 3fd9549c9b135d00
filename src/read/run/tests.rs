use std::sync::{Arc, Mutex};

use arrow::array::AsArray;
use arrow::datatypes::{DataType, Field, Schema};
use futures::TryStreamExt;

use super::*;
use crate::ErrorKind;
use crate::model::{BaseFile, BaseFileName, PartitionPath};
use crate::slice::BaseRequest;
use crate::storage::{CallScope, Observer, RequestEvent, StorageOptions};
use crate::support;

const FILES: usize = 12;

/// A file of Spark's, twelve times under other names, and a task for each that gives its record keys.
fn copies() -> (Storage, Vec<SliceTask>, Vec<String>) {
    let files = support::files("v9_cow_zstd").into_iter();
    let mut files =
        files.filter(|(path, _)| path.ends_with(".parquet") && !path.contains(".hoodie/"));
    let (path, content) = files.next().unwrap();
    let (_, rest) = path.split_once('_').unwrap();
    let names: Vec<String> = (0..FILES)
        .map(|copy| format!("{copy:08}-92a6-4efb-94f5-250c5c657074-0_{rest}"))
        .collect();
    let store = support::store_of(names.iter().map(|name| (name.clone(), content.clone())));
    let storage = Storage::new(store, StorageOptions::default()).for_call(CallScope::default());
    let key = Field::new("_hoodie_record_key", DataType::Utf8, true);
    let request = BaseRequest::all(Arc::new(Schema::new(vec![key])));
    let task = |path: String| SliceTask {
        slice: slice_of(path, content.len() as u64),
        request: SliceRequest::base_only(request.clone()),
        opened: None,
    };
    let tasks: Vec<SliceTask> = names.into_iter().map(task).collect();
    let first = vec![tasks[0].clone()];
    let expected = keys(&storage, first, None).unwrap();
    let storage = storage.for_call(CallScope::default());
    (storage, tasks, expected)
}

/// A slice of one base file.
fn slice_of(path: String, size: u64) -> FileSlice {
    let name = BaseFileName::parse(&path).unwrap();
    FileSlice {
        partition: PartitionPath::new(""),
        file_id: name.file_id.clone(),
        instant: name.instant.clone(),
        base: Some(BaseFile { name, path, size }),
        logs: Vec::new(),
    }
}

fn keys(storage: &Storage, tasks: Vec<SliceTask>, limit: Option<u64>) -> Result<Vec<String>> {
    let stream = run(storage, tasks, limit);
    let batches: Vec<RecordBatch> = support::block_on(stream.try_collect())?;
    let keys = batches
        .iter()
        .flat_map(|batch| batch.column(0).as_string::<i32>().iter());
    Ok(keys.map(|key| key.unwrap().to_owned()).collect())
}

/// Hears how many files are read.
#[derive(Default)]
struct Ear(Mutex<Vec<(usize, usize)>>);

impl Observer for Ear {
    fn request(&self, _: &RequestEvent) {}
    fn bytes(&self, _: u64) {}
    fn files(&self, done: usize, total: usize) {
        self.0.lock().unwrap().push((done, total));
    }
    fn warning(&self, _: &str, _: Option<&str>) {}
}

#[test]
fn each_file_that_is_read_is_told_of() {
    let (storage, tasks, _) = copies();
    let ear = Arc::new(Ear::default());
    let storage = storage.for_call(CallScope {
        observer: Some(Arc::clone(&ear) as _),
        ..CallScope::default()
    });
    keys(&storage, tasks, None).unwrap();
    let expected: Vec<_> = (1..=FILES).map(|done| (done, FILES)).collect();
    assert_eq!(*ear.0.lock().unwrap(), expected);
}

#[test]
fn files_come_one_after_the_other() {
    let (storage, tasks, one) = copies();
    assert_eq!(one.len(), 300);
    assert_eq!(
        keys(&storage, tasks, None).unwrap(),
        vec![one; FILES].concat()
    );
}

#[test]
fn a_limit_holds_over_all_files_and_asks_for_no_file_it_does_not_need() {
    let (storage, tasks, one) = copies();
    for (limit, files) in [(0, 0), (1, 1), (300, 1), (301, 2)] {
        let storage = storage.for_call(CallScope::default());
        let found = keys(&storage, tasks.clone(), Some(limit)).unwrap();
        assert_eq!(
            found,
            one.iter()
                .cycle()
                .take(found.len())
                .cloned()
                .collect::<Vec<_>>()
        );
        assert_eq!(found.len() as u64, limit);
        let counted = storage.metrics().counters();
        let asked = counted.requests + counted.cache_hits;
        // One more file may be opened while the last one is read.
        assert!((files..=files * 2).contains(&asked), "{limit}: {asked}");
    }
}

#[test]
fn an_error_ends_the_stream_behind_the_rows_before_it() {
    let (storage, mut tasks, one) = copies();
    tasks[1].slice.base.as_mut().unwrap().path = "gone.parquet".to_owned();
    let mut stream = Box::pin(run(&storage, tasks, None));
    let mut rows = 0;
    let error = support::block_on(async {
        loop {
            match stream.next().await.unwrap() {
                Ok(batch) => rows += batch.num_rows(),
                Err(error) => break error,
            }
        }
    });
    assert_eq!((error.kind(), rows), (ErrorKind::NotFound, one.len()));
    assert!(support::block_on(stream.next()).is_none());
}
