use futures::TryStreamExt;
use object_store::memory::InMemory;

use super::*;
use crate::codec::log_format::building::{data, rollback};
use crate::codec::log_format::{BlockKind, LogBlock};
use crate::error::ErrorKind;
use crate::model::LogFileName;
use crate::storage::{CallScope, StorageOptions};
use crate::support::{self, block_on};

const BASE: &str = "20260101000000000";

struct Logs {
    storage: Storage,
    logs: Vec<LogFile>,
}

impl Logs {
    /// Log files of one slice by `version_token`, in any order.
    fn new(files: &[(&str, Vec<u8>)]) -> Self {
        let files = files.iter().map(|(name, content)| {
            let path = format!("p/.f-0_{BASE}.log.{name}");
            (path, content.clone())
        });
        Self::of(files.collect())
    }

    fn of(files: Vec<(String, Vec<u8>)>) -> Self {
        let logs = files.iter().map(|(path, content)| LogFile {
            name: LogFileName::parse(path.rsplit('/').next().unwrap()).unwrap(),
            path: path.clone(),
            size: content.len() as u64,
        });
        let logs = logs.collect();
        let store: std::sync::Arc<InMemory> = support::store_of(files);
        let options = StorageOptions {
            cache: None,
            ..StorageOptions::default()
        };
        Self {
            storage: Storage::new(store, options).for_call(CallScope::default()),
            logs,
        }
    }

    fn scan(&self, options: ScanOptions) -> Result<LogScan> {
        block_on(scan_logs(
            &self.storage,
            &self.logs,
            &|_: &str| true,
            options,
        ))
    }

    fn contents(&self, blocks: &[LogBlock]) -> Vec<String> {
        let all = block_contents(&self.storage, &self.logs, blocks).try_collect::<Vec<_>>();
        let text = |bytes: Bytes| String::from_utf8(bytes.to_vec()).unwrap();
        block_on(all).unwrap().into_iter().map(text).collect()
    }

    fn read(&self) -> Vec<String> {
        let scan = self.scan(ScanOptions::default()).unwrap();
        self.contents(&scan.blocks)
    }

    fn requests(&self) -> u64 {
        self.storage.metrics().counters().requests
    }
}

// L7
#[test]
fn files_are_read_in_the_order_of_their_versions_as_numbers_then_of_their_tokens() {
    let files: Vec<_> = [
        "11_0-1-1", "2_0-1-1", "3_0-2-1", "9_0-1-1", "3_0-1-1", "10_0-1-1", "1_0-1-1",
    ]
    .into_iter()
    .map(|name| (name, data(name, name.as_bytes())))
    .collect();
    let logs = Logs::new(&files);
    let expected = [
        "1_0-1-1", "2_0-1-1", "3_0-1-1", "3_0-2-1", "9_0-1-1", "10_0-1-1", "11_0-1-1",
    ];
    assert_eq!(logs.read(), expected);
}

#[test]
fn small_files_cost_one_request_each_and_empty_ones_none() {
    let logs = Logs::new(&[
        ("1_0-1-1", [data("t1", b"1"), data("t2", b"2")].concat()),
        ("2_0-1-1", Vec::new()),
        ("3_0-1-1", data("t3", b"3")),
    ]);
    assert_eq!(logs.read(), ["1", "2", "3"]);
    assert_eq!(logs.requests(), 2);
}

#[test]
fn of_a_large_file_only_edges_and_the_contents_wanted_are_fetched() {
    let megabyte = |letter: &[u8]| letter.repeat(3 << 20);
    let file = [
        data("t1", &megabyte(b"1")),
        data("t2", &megabyte(b"2")),
        data("t3", &megabyte(b"3")),
        rollback("t4", "t2"),
    ];
    let logs = Logs::new(&[("1_0-1-1", file.concat())]);
    let visible = |instant: &str| instant != "t1";
    let scan = block_on(scan_logs(
        &logs.storage,
        &logs.logs,
        &visible,
        ScanOptions::default(),
    ));
    let scan = scan.unwrap();
    let frames = logs.storage.metrics().counters();
    assert!(frames.bytes < 512 << 10, "{frames:?}");
    assert!(frames.requests <= 4, "{frames:?}");
    let contents = logs.contents(&scan.blocks);
    assert_eq!(contents.len(), 1);
    assert_eq!(contents[0].as_bytes(), megabyte(b"3"));
    let all = logs.storage.metrics().counters();
    assert_eq!(all.bytes - frames.bytes, 3 << 20);
}

// L1
#[test]
fn a_damaged_span_is_passed_over_counted_and_named() {
    let mut second = data("t2", b"2");
    second[6..14].copy_from_slice(&(1u64 << 62).to_be_bytes());
    let third = data("t3", b"3");
    let file = [
        data("t1", b"1"),
        second,
        third.clone(),
        third[..20].to_vec(),
    ]
    .concat();
    let logs = Logs::new(&[("1_0-1-1", file), ("2_0-1-1", data("t4", b"4"))]);
    let scan = logs.scan(ScanOptions::default()).unwrap();
    assert_eq!(logs.contents(&scan.blocks), ["1", "3", "4"]);
    let counters = logs.storage.metrics().counters();
    assert_eq!((scan.damaged, counters.corrupt_log_blocks), (2, 2));
    assert_eq!(counters.warnings.len(), 2);
    assert!(
        counters.warnings[0].contains(&logs.logs[0].path),
        "{counters:?}"
    );
}

#[test]
fn a_damaged_span_is_corrupt_when_logs_are_read_strictly() {
    let first = data("t1", b"1");
    let file = [&first[..], b"#HUDI#"].concat();
    let logs = Logs::new(&[("1_0-1-1", file)]);
    let strict = ScanOptions {
        strict: true,
        ..ScanOptions::default()
    };
    let error = logs.scan(strict).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt);
    assert_eq!(error.get("path"), Some(logs.logs[0].path.as_str()));
    assert_eq!(error.get("offset"), Some(first.len().to_string().as_str()));
}

#[test]
fn a_large_file_full_of_markers_is_given_up() {
    // Each marker's length leads to another place far behind it.
    let mut file = Vec::new();
    for marker in 0..1u64 << 20 {
        file.extend(b"#HUDI#");
        file.extend(((1 << 20) + marker * 7_919_777 % (12 << 20)).to_be_bytes());
    }
    let logs = Logs::new(&[("1_0-1-1", file)]);
    let error = logs.scan(ScanOptions::default()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
    assert!(logs.requests() < 1000, "{} requests", logs.requests());
}

#[test]
fn a_file_that_is_gone_is_an_error() {
    let mut logs = Logs::new(&[("1_0-1-1", data("t1", b"1"))]);
    logs.logs[0].path.push('x');
    let error = logs.scan(ScanOptions::default()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound);
}

/// The log files of a table's partition whose file id begins with `id`, with Spark's bytes.
fn of_table(table: &str, keep: impl Fn(&LogFileName) -> bool) -> Logs {
    let mut files = support::files(table);
    files.retain(|(path, _)| {
        let name = path.rsplit('/').next().unwrap_or_default();
        let data = !path.starts_with(".hoodie/");
        data && LogFileName::parse(name).is_some_and(|name| keep(&name))
    });
    Logs::of(files)
}

// V08
#[test]
fn change_logs_are_passed_over_unless_they_are_asked_for() {
    let logs = of_table("v9_mor_cdc", |_| true);
    let kinds = |changes: bool| {
        let options = ScanOptions {
            strict: true,
            changes,
            alone: false,
        };
        let blocks = logs.scan(options).unwrap().blocks;
        assert!(!blocks.is_empty());
        for block in &blocks {
            assert_eq!(logs.logs[block.file].name.cdc, changes);
        }
        blocks
            .iter()
            .all(|block| (block.kind == BlockKind::Cdc) == changes)
    };
    assert!(kinds(false) && kinds(true));
}

/// Every log file that Spark wrote: frames are whole, and each block's instant and kind are such as its table can have.
#[test]
fn every_log_that_spark_wrote_is_whole() {
    let mut blocks = 0;
    for table in support::tables() {
        let mut files = support::files(&table);
        files.retain(|(path, _)| {
            let name = path.rsplit('/').next().unwrap_or_default();
            LogFileName::parse(name).is_some()
        });
        let logs = Logs::of(files);
        for changes in [false, true] {
            let options = ScanOptions {
                strict: true,
                changes,
                alone: false,
            };
            let found = block_on(find_blocks(&logs.storage, &logs.logs, options)).unwrap();
            for block in &found.blocks {
                assert!(
                    block.instant_time().unwrap().parse::<u128>().is_ok(),
                    "{block:?}"
                );
                let records = block.kind.has_records() || block.kind == BlockKind::Cdc;
                assert!(records || block.kind == BlockKind::Command);
            }
            blocks += found.blocks.len();
        }
    }
    assert!(blocks > 1000, "{blocks} blocks");
}
