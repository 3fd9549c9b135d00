//! Damaged files end in a typed error with their path, or in rows; never in a panic.
//!
//! `HUDI_DAMAGE_ROUNDS=4000` searches longer than the few rounds of every run, and `HUDI_DAMAGE_SEED` elsewhere.

use std::panic::AssertUnwindSafe;

use futures::FutureExt;

use super::*;
use crate::ErrorKind;
use crate::expr::Operator;

/// Numbers that look random and are the same in every run: SplitMix64.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.next() % end.max(1) as u64).unwrap()
    }
}

/// What there is to read of a damaged file.
struct Subject {
    name: String,
    file: BaseFile,
    bytes: Vec<u8>,
    requests: Vec<BaseRequest>,
    footer: usize,
}

impl Subject {
    fn new(table: &str, schema: &SchemaRef, column: &str, value: &str) -> Self {
        let file = newest_files(table).remove(0);
        let mut files = support::files(table).into_iter();
        let bytes = files.find(|(path, _)| *path == file.path).unwrap().1;
        let trailer = &bytes[bytes.len() - 8..];
        let length = u32::from_le_bytes(trailer[..4].try_into().unwrap()) as usize;
        let filter = Filter {
            field: column.to_owned(),
            operator: Operator::Gt,
            values: vec![value.to_owned()],
        };
        let requests = vec![
            BaseRequest::all(Arc::clone(schema)),
            filtered(schema, &[filter]),
            BaseRequest {
                limit: Some(2),
                ..BaseRequest::all(Arc::clone(schema))
            },
        ];
        let footer = bytes.len() - 8 - length;
        let name = table.to_owned();
        Self {
            name,
            file,
            bytes,
            requests,
            footer,
        }
    }

    /// Reads damaged bytes in each way; a panic or an untyped error is the test's failure.
    async fn check(&self, bytes: Vec<u8>, what: &str) {
        let name = &self.name;
        let file = BaseFile {
            size: bytes.len() as u64,
            ..self.file.clone()
        };
        let storage = storage_of(&support::store_of([(file.path.clone(), bytes)]));
        for request in &self.requests {
            let reading = async {
                let reader = read_base(&storage, &file, request).await?;
                reader.try_collect::<Vec<_>>().await
            };
            let outcome = AssertUnwindSafe(reading).catch_unwind().await;
            let outcome = outcome.unwrap_or_else(|_| panic!("{name} {what}: panic"));
            if let Err(error) = outcome {
                let kind = error.kind();
                let typed = matches!(
                    kind,
                    ErrorKind::Corrupt | ErrorKind::Unsupported | ErrorKind::Schema
                );
                assert!(typed, "{name} {what}: {kind:?} {error}");
                assert_eq!(
                    error.get("path"),
                    Some(file.path.as_str()),
                    "{name} {what}: {error}"
                );
            }
        }
    }
}

fn subjects() -> Vec<Subject> {
    let types = schema_of("v9_cow_all_types");
    let mut subjects: Vec<Subject> = [
        "v9_cow_all_types",
        "v9_cow_all_types_old_lists",
        "v9_cow_all_types_bulk",
    ]
    .iter()
    .map(|table| Subject::new(table, &types, "i64", "0"))
    .collect();
    for table in [
        "v9_cow_uncompressed",
        "v9_cow_snappy",
        "v9_cow_lz4",
        "v9_cow_zstd",
    ] {
        subjects.push(Subject::new(
            table,
            &schema_of(table),
            "_hoodie_record_key",
            "0",
        ));
    }
    subjects
}

fn rounds(usual: usize) -> usize {
    std::env::var("HUDI_DAMAGE_ROUNDS").map_or(usual, |rounds| rounds.parse().unwrap())
}

fn seed() -> u64 {
    std::env::var("HUDI_DAMAGE_SEED").map_or(1, |seed| seed.parse().unwrap())
}

#[test]
fn flipped_bits_in_each_region_are_survived() {
    let mut numbers = Numbers(seed());
    let subjects = subjects();
    support::block_on(async {
        for subject in &subjects {
            let end = subject.bytes.len();
            for region in [0..subject.footer, subject.footer..end, end - 8..end] {
                for _ in 0..rounds(60) {
                    let mut bytes = subject.bytes.clone();
                    let mut places = Vec::new();
                    for _ in 0..=numbers.below(3) {
                        let at = region.start + numbers.below(region.len());
                        bytes[at] ^= 1 << numbers.below(8);
                        places.push(at);
                    }
                    subject.check(bytes, &format!("flips at {places:?}")).await;
                }
            }
        }
    });
}

#[test]
fn bytes_that_lie_are_survived() {
    let mut numbers = Numbers(seed() + 1);
    let subjects = subjects();
    support::block_on(async {
        for subject in &subjects {
            let end = subject.bytes.len();
            for region in [0..subject.footer, subject.footer..end] {
                for _ in 0..rounds(60) {
                    let mut bytes = subject.bytes.clone();
                    let at = region.start + numbers.below(region.len());
                    let length = (1 + numbers.below(8)).min(end - at);
                    let lie = [0, 0xff, 0x7f, 0x80][numbers.below(4)];
                    bytes[at..at + length].fill(lie);
                    subject
                        .check(bytes, &format!("{length} times {lie} at {at}"))
                        .await;
                }
            }
        }
    });
}

#[test]
fn files_cut_short_and_files_with_a_piece_gone_are_survived() {
    let mut numbers = Numbers(seed() + 2);
    let subjects = subjects();
    support::block_on(async {
        for subject in &subjects {
            let end = subject.bytes.len();
            for _ in 0..rounds(40) {
                let at = numbers.below(end);
                subject
                    .check(subject.bytes[..at].to_vec(), &format!("cut at {at}"))
                    .await;
                // The trailer stays where it is, so that the footer is found.
                let gone = at..(at + 1 + numbers.below(64)).min(end);
                let mut bytes = subject.bytes.clone();
                bytes.drain(gone.clone());
                subject.check(bytes, &format!("without {gone:?}")).await;
            }
        }
    });
}
