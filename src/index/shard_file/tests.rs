//! Base files that Spark's compactions left, written again from their entries and held against them block by block.

use std::io::Read;

use flate2::read::GzDecoder;

use super::*;
use crate::codec::hfile::scan_all;
use crate::support;

/// One block: what its header says, and its content.
#[derive(Debug, PartialEq)]
struct Block {
    magic: String,
    /// Offset of the block before it, kind of checksum, bytes a checksum.
    header: (i64, u8, u32),
    content: Vec<u8>,
    /// Of an index: the keys, with whether each names a block of the file, instead of its content.
    index: Vec<(Vec<u8>, bool)>,
    /// Whether the header's lengths are those of the bytes, and the checksums are zeros for all of them.
    is_sound: bool,
}

/// A file: blocks, trailer fields but offsets, what offsets there point at, and the last four bytes.
#[derive(Debug, PartialEq)]
struct Dump {
    blocks: Vec<Block>,
    trailer: Vec<(u64, Vec<u8>)>,
    points_at: Vec<(u64, Option<usize>)>,
    version: Vec<u8>,
}

fn number(bytes: &[u8], at: usize) -> usize {
    u32::from_be_bytes(bytes[at..at + 4].try_into().unwrap()) as usize
}

fn dump(file: &[u8]) -> Dump {
    let end = file.len() - 4096;
    let mut starts = Vec::new();
    let mut blocks = Vec::new();
    let mut at = 0;
    while at < end {
        let block = &file[at..];
        let (size, plain, packed) = (number(block, 8), number(block, 12), number(block, 29));
        let mut content = Vec::new();
        GzDecoder::new(&block[33..packed])
            .read_to_end(&mut content)
            .unwrap();
        let checksums = &block[packed..33 + size];
        let a_checksum = number(block, 25);
        let is_sound = content.len() == plain
            && checksums.len() == packed.div_ceil(a_checksum) * 4
            && checksums.iter().all(|byte| *byte == 0);
        starts.push((at, 33 + size));
        blocks.push(Block {
            magic: String::from_utf8_lossy(&block[..8]).into_owned(),
            header: (
                i64::from_be_bytes(block[16..24].try_into().unwrap()),
                block[24],
                a_checksum as u32,
            ),
            content,
            index: Vec::new(),
            is_sound,
        });
        at += 33 + size;
    }
    assert_eq!(at, end, "blocks end where the trailer begins");
    for block in &mut blocks {
        if block.magic == "IDXROOT2" {
            let content = std::mem::take(&mut block.content);
            block.index = index(&content, &starts);
        }
    }
    let (mut trailer, mut points_at) = (Vec::new(), Vec::new());
    for (field, value) in fields(&file[end + 8..]) {
        match (field, number_of(&value)) {
            (1 | 2 | 9 | 10, Some(offset)) => {
                let block = starts.iter().position(|(at, _)| *at as u64 == offset);
                points_at.push((field, block));
            }
            _ => trailer.push((field, value)),
        }
    }
    let version = file[file.len() - 4..].to_vec();
    Dump {
        blocks,
        trailer,
        points_at,
        version,
    }
}

/// The keys of an index, and whether each stands with place and size of a block.
fn index(content: &[u8], blocks: &[(usize, usize)]) -> Vec<(Vec<u8>, bool)> {
    let mut keys = Vec::new();
    let mut rest = content;
    while !rest.is_empty() {
        let place = u64::from_be_bytes(rest[..8].try_into().unwrap()) as usize;
        let known = blocks.contains(&(place, number(rest, 8)));
        let (length, used) = match rest[12] as i8 {
            small @ 0.. => (small as usize, 1),
            long => {
                let count = (-112 - i16::from(long)) as usize;
                let bytes = &rest[13..13 + count];
                let length = bytes.iter().fold(0, |sum, byte| sum << 8 | *byte as usize);
                (length, 1 + count)
            }
        };
        let from = 12 + used;
        keys.push((rest[from..from + length].to_vec(), known));
        rest = &rest[from + length..];
    }
    keys
}

fn number_of(varint: &[u8]) -> Option<u64> {
    let number = varint.iter().rev();
    Some(number.fold(0, |sum, byte| sum << 7 | u64::from(byte & 0x7f)))
}

fn varint(bytes: &[u8]) -> (u64, usize) {
    let used = bytes.iter().position(|byte| byte & 0x80 == 0).unwrap() + 1;
    (number_of(&bytes[..used]).unwrap(), used)
}

/// The fields of a message behind its length, in order: numbers as their bytes, and bytes.
fn fields(bytes: &[u8]) -> Vec<(u64, Vec<u8>)> {
    let (length, used) = varint(bytes);
    message(&bytes[used..used + length as usize])
}

fn message(mut rest: &[u8]) -> Vec<(u64, Vec<u8>)> {
    let mut found = Vec::new();
    while !rest.is_empty() {
        let (tag, used) = varint(rest);
        let (value, size) = varint(&rest[used..]);
        let from = used + size;
        let end = match tag & 7 {
            0 => from,
            2 => from + value as usize,
            other => panic!("wire type {other}"),
        };
        let value = if tag & 7 == 0 {
            &rest[used..from]
        } else {
            &rest[from..end]
        };
        found.push((tag >> 3, value.to_vec()));
        rest = &rest[end..];
    }
    found
}

/// The file info's names and values, in order.
fn info(content: &[u8]) -> Vec<(String, Vec<u8>)> {
    assert_eq!(&content[..4], b"PBUF");
    let pairs = fields(&content[4..]).into_iter();
    let pair = |(_, entry): (u64, Vec<u8>)| {
        let parts: [(u64, Vec<u8>); 2] = message(&entry).try_into().unwrap();
        let [(1, name), (2, value)] = parts else {
            panic!("a pair");
        };
        (String::from_utf8(name).unwrap(), value)
    };
    pairs.map(pair).collect()
}

/// The same entries by our writer.
fn again(file: &[u8]) -> Vec<u8> {
    let blocks = dump(file).blocks;
    let pairs = info(&blocks.last().unwrap().content);
    let schema = &pairs.iter().find(|(name, _)| name == "schema").unwrap().1;
    let mut writer = BaseFileWriter::new(std::str::from_utf8(schema).unwrap());
    for entry in scan_all(&file.to_vec().into()).unwrap() {
        writer.add(&entry.key, &[entry.value]).unwrap();
    }
    writer.finish().unwrap()
}

#[test]
fn base_files_are_block_by_block_what_spark_makes_of_the_same_entries() {
    let (mut compared, mut compacted) = (0, 0);
    for table in [
        "v9_cow_mdt_compacted",
        "v9_cow_archived",
        "v9_cow_hive_parts",
    ] {
        for (path, theirs) in support::files(table) {
            if !path.ends_with(".hfile") {
                continue;
            }
            let ours = again(&theirs);
            let (mut ours, mut theirs) = (dump(&ours), dump(&theirs));
            let infos = [&mut ours, &mut theirs].map(|file| {
                let last = file.blocks.last_mut().unwrap();
                let mut pairs = info(&std::mem::take(&mut last.content));
                let created = pairs
                    .iter_mut()
                    .find(|(name, _)| name == "hfile.CREATE_TIME_TS");
                assert_eq!(std::mem::take(&mut created.unwrap().1).len(), 8);
                pairs
            });
            assert_eq!(infos[0], infos[1], "{path}");
            assert_eq!(ours.blocks.len(), theirs.blocks.len(), "{path}");
            for (ours, theirs) in ours.blocks.iter().zip(&theirs.blocks) {
                let magic = &theirs.magic;
                assert_eq!(ours.header, theirs.header, "{path} {magic}");
                assert_eq!(ours.index, theirs.index, "{path} {magic}");
                let (ours, theirs) = (&ours.content, &theirs.content);
                // Long, so they are not shown.
                assert!(
                    ours == theirs,
                    "{path} {magic} {} {}",
                    ours.len(),
                    theirs.len()
                );
            }
            assert_eq!(ours.trailer, theirs.trailer, "{path}");
            assert_eq!(ours.points_at, theirs.points_at, "{path}");
            assert!(ours == theirs, "{path}");
            assert!(theirs.blocks.iter().all(|block| block.is_sound), "{path}");
            compared += 1;
            compacted += usize::from(!path.contains("_00000000000000"));
        }
    }
    println!("{compared} base files of Spark, {compacted} of its compactions");
    assert!(compacted > 20, "{compared} {compacted}");
}
