//! Any bytes as a log file: the scan ends, leaves no byte out, and finds the same by pieces as in a whole.
#![no_main]

use bytes::Bytes;
use hudi_wasm::codec::log_block::{deletes, positions};
use hudi_wasm::codec::log_format::{BlockKind, LogBlock, LogScanner, Step};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let file = Bytes::copy_from_slice(data);
    let whole = scan(&file, true);
    let pieces = scan(&file, false);
    let offsets = |found: &Option<Vec<LogBlock>>| {
        let blocks = found.as_ref()?.iter();
        Some(blocks.map(|block| block.offset).collect::<Vec<_>>())
    };
    assert_eq!(offsets(&whole), offsets(&pieces));
    for block in whole.into_iter().flatten() {
        let content = block.fetched.clone().unwrap_or_default();
        if block.kind == BlockKind::Delete {
            let _ = deletes(&content);
        }
        if let Some(text) = block.header.record_positions() {
            let _ = positions(text, content.len());
        }
    }
});

fn scan(file: &Bytes, whole: bool) -> Option<Vec<LogBlock>> {
    let mut scanner = LogScanner::new(0, file.len() as u64);
    if whole {
        scanner.feed(0, file.clone());
    }
    let (mut blocks, mut end) = (Vec::new(), 0);
    for _ in 0..4 * file.len() + 64 {
        match scanner.step().ok()? {
            Step::Done => {
                assert_eq!(end, file.len() as u64);
                return Some(blocks);
            }
            Step::Need(range) => {
                assert!(!whole && range.start < range.end);
                let bytes = file.slice(range.start as usize..range.end as usize);
                scanner.feed(range.start, bytes);
            }
            Step::Damaged(span) => {
                assert_eq!(span.start, end);
                end = span.end;
            }
            Step::Block(block) => {
                assert_eq!(block.offset, end);
                end = scanner.offset();
                blocks.push(*block);
            }
        }
    }
    panic!("a scan without end");
}
