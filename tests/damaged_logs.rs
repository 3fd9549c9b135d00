//! Log files that Spark wrote, damaged 10,000 ways: the scanner and the decoders of contents end, in blocks, damaged spans
//! or an error, and take no more memory than the bytes can mean. `HUDI_DAMAGE_SEED` chooses other ways.
#![cfg(not(target_arch = "wasm32"))]

mod support;

use std::alloc::{GlobalAlloc, Layout, System};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use arrow::datatypes::SchemaRef;
use bytes::Bytes;
use hudi_wasm::codec::log_block::{BlockReader, deletes, positions};
use hudi_wasm::codec::log_format::{BlockKind, LogBlock, LogScanner, Step};
use hudi_wasm::error::Result;
use hudi_wasm::model::LogFileName;
use hudi_wasm::schema::{AvroSchema, parse_avro, to_arrow};

/// Counts the bytes that are taken, and the most that were taken at one time.
struct Counting;

static TAKEN: AtomicUsize = AtomicUsize::new(0);
static MOST: AtomicUsize = AtomicUsize::new(0);

unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let taken = TAKEN.fetch_add(layout.size(), Ordering::Relaxed) + layout.size();
        MOST.fetch_max(taken, Ordering::Relaxed);
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        TAKEN.fetch_sub(layout.size(), Ordering::Relaxed);
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// The most bytes taken at one time while `work` runs, above those taken before.
fn most_taken<T>(work: impl FnOnce() -> T) -> (T, usize) {
    let before = TAKEN.load(Ordering::Relaxed);
    MOST.store(before, Ordering::Relaxed);
    let result = work();
    (result, MOST.load(Ordering::Relaxed).saturating_sub(before))
}

struct Seeded(u64);

impl Seeded {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % bound.max(1)
    }
}

/// Small logs of data tables, at most two a table and a kind of first block.
fn logs() -> Vec<Vec<u8>> {
    let mut kept = Vec::new();
    for table in support::tables() {
        let mut seen: BTreeMap<u8, usize> = BTreeMap::new();
        for (path, content) in support::files(&table) {
            let name = path.rsplit('/').next().unwrap_or_default();
            let is_log = LogFileName::parse(name).is_some() && !path.starts_with(".hoodie/");
            if is_log && content.len() < 16 << 10 {
                // The type of the first block.
                let seen = seen.entry(content[21]).or_default();
                *seen += 1;
                if *seen <= 2 {
                    kept.push(content);
                }
            }
        }
    }
    kept
}

/// Numbers that lengths and counts are likely not to expect.
const NUMBERS: [u64; 8] = [
    0,
    1,
    0x7fff_ffff,
    0x8000_0000,
    0xffff_ffff,
    1 << 62,
    u64::MAX,
    0x10_0000,
];

fn damaged(log: &[u8], other: &[u8], seeded: &mut Seeded) -> Vec<u8> {
    let mut log = log.to_vec();
    for _ in 0..1 + seeded.below(3) {
        let at = seeded.below(log.len());
        match seeded.below(10) {
            0..=4 => log[at] ^= 1 << seeded.below(8),
            5 => log.truncate(at.max(1)),
            6 | 7 => {
                let number = NUMBERS[seeded.below(NUMBERS.len())].to_be_bytes();
                let width = if seeded.below(2) == 0 { 4 } else { 8 };
                let end = log.len().min(at + width);
                let length = end - at;
                log[at..end].copy_from_slice(&number[8 - width..][..length]);
            }
            8 => {
                let end = (at + seeded.below(64)).min(log.len());
                log.drain(at..end);
            }
            _ => {
                let from = seeded.below(other.len());
                let part = &other[from..(from + seeded.below(2048)).min(other.len())];
                log.splice(at..at, part.iter().copied());
            }
        }
        if log.is_empty() {
            log.push(0);
        }
    }
    log
}

/// Scans a file, and says the blocks and the spans between them.
fn scan(file: &Bytes, whole: bool) -> Result<(Vec<LogBlock>, u64)> {
    let size = file.len() as u64;
    let mut scanner = LogScanner::new(0, size);
    if whole {
        scanner.feed(0, file.clone());
    }
    let (mut blocks, mut damaged, mut end) = (Vec::new(), 0, 0);
    for _ in 0..4 * file.len() + 64 {
        match scanner.step()? {
            Step::Done => {
                assert_eq!(end, size, "bytes are left out");
                return Ok((blocks, damaged));
            }
            Step::Need(range) => {
                assert!(!whole && range.start < range.end && range.end <= size);
                let bytes = file.slice(range.start as usize..range.end as usize);
                scanner.feed(range.start, bytes);
            }
            Step::Damaged(span) => {
                assert_eq!(span.start, end);
                (damaged, end) = (damaged + 1, span.end);
            }
            Step::Block(block) => {
                assert_eq!(block.offset, end);
                end = scanner.offset();
                assert!(
                    end >= block.content.end + 12,
                    "no footer or no reverse pointer"
                );
                blocks.push(*block);
            }
        }
    }
    panic!("a scan without end");
}

#[derive(Default)]
struct Schemas(BTreeMap<String, Option<(AvroSchema, SchemaRef)>>);

impl Schemas {
    fn get(&mut self, text: &str) -> Option<(AvroSchema, SchemaRef)> {
        let parse = || {
            let avro = parse_avro(text).ok()?;
            let arrow = Arc::new(to_arrow(&avro).ok()?);
            Some((avro, arrow))
        };
        let known = self.0.entry(text.to_owned());
        known.or_insert_with(parse).clone()
    }
}

/// Decodes a block's content, whatever comes of it; says how many rows and deletes there were.
fn decode(block: &LogBlock, schema: Option<&(AvroSchema, SchemaRef)>) -> Result<usize> {
    let content = block.fetched.clone().unwrap_or_default();
    if let Some(text) = block.header.record_positions() {
        positions(text, content.len()).ok();
    }
    if block.kind == BlockKind::Delete {
        return Ok(deletes(&content)?.len());
    }
    let Some((avro, arrow)) = schema else {
        return Ok(0);
    };
    let reader = match block.kind {
        BlockKind::AvroData | BlockKind::Cdc => BlockReader::avro(content, avro, arrow)?,
        BlockKind::ParquetData => BlockReader::parquet(content, arrow)?,
        BlockKind::HFileData => BlockReader::hfile(&content, avro, arrow)?,
        BlockKind::Command | BlockKind::Delete | BlockKind::Corrupt => return Ok(0),
    };
    let batches = reader.all(1024)?;
    Ok(batches.iter().map(|batch| batch.num_rows()).sum())
}

#[test]
fn ten_thousand_damaged_logs_end_within_the_memory_that_their_bytes_can_mean() {
    let seed = std::env::var("HUDI_DAMAGE_SEED").map_or(1, |seed| seed.parse().unwrap());
    let mut seeded = Seeded(0x9e37_79b9_7f4a_7c15u64.wrapping_mul(seed));
    let logs = logs();
    let kinds: std::collections::BTreeSet<u8> = logs.iter().map(|log| log[21]).collect();
    assert_eq!(
        Vec::from_iter(kinds),
        [0, 1, 3, 4, 5, 6],
        "a kind of block is missing"
    );
    let mut schemas = Schemas::default();
    let (mut blocks, mut spans, mut refused, mut rows) = (0, 0, 0, 0);
    for round in 0..10_000 {
        let log = &logs[seeded.below(logs.len())];
        let other = &logs[seeded.below(logs.len())];
        // Log files may be joined: each is a run of blocks.
        let joined = [log.as_slice(), other, log].concat();
        let file = match seeded.below(3) {
            0 => damaged(log, other, &mut seeded),
            _ => damaged(&joined, other, &mut seeded),
        };
        let file = Bytes::from(file);
        let (scanned, taken) = most_taken(|| scan(&file, true));
        assert!(
            taken <= 4 * file.len() + (16 << 10),
            "{round}: {taken} bytes for {}",
            file.len()
        );
        if round % 8 == 0 {
            let asked = scan(&file, false).map(|(blocks, damaged)| (blocks.len(), damaged));
            let whole = scanned
                .as_ref()
                .map(|(blocks, damaged)| (blocks.len(), *damaged));
            assert_eq!(asked.ok(), whole.ok(), "{round}: by pieces and as a whole");
        }
        let Ok((found, damage)) = scanned else {
            refused += 1;
            continue;
        };
        blocks += found.len();
        spans += damage;
        for block in &found {
            let schema = block.header.schema().and_then(|text| schemas.get(text));
            let (decoded, taken) = most_taken(|| decode(block, schema.as_ref()));
            let bound = 64 * file.len() + (4 << 20);
            assert!(
                taken <= bound,
                "{round}: {taken} bytes for {:?} of {}",
                block.kind,
                file.len()
            );
            rows += decoded.unwrap_or(0);
        }
    }
    assert!(
        blocks > 5_000 && spans > 2_000 && refused > 50 && rows > 5_000,
        "{blocks} {spans} {refused} {rows}"
    );
}
