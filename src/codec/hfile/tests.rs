//! Files that Java wrote, read by every way there is; and files damaged.

use super::*;
use crate::error::{ErrorKind, Result};
use crate::support;
use bytes::Bytes;

/// Every HFile of a table's metadata table, by path.
fn hfiles(table: &str) -> Vec<(String, Bytes)> {
    let files = support::files(table).into_iter();
    let files = files.filter(|(path, _)| path.ends_with(".hfile"));
    files.map(|(path, bytes)| (path, bytes.into())).collect()
}

fn open(file: &Bytes) -> Result<HFile> {
    let size = file.len() as u64;
    let mut from = file.len();
    loop {
        match HFile::open(size, &file.slice(from..))? {
            Opening::Open(opened) => return Ok(opened),
            Opening::Need(range) => {
                assert!(range.start < from as u64 && range.end == size);
                from = usize::try_from(range.start).unwrap();
            }
        }
    }
}

/// What a query finds, and how many bytes it asked for.
fn find(file: &Bytes, query: Query) -> (Vec<KeyValue>, u64) {
    let mut search = open(file).unwrap().search(query);
    let mut asked = 0;
    while !search.needs().is_empty() {
        let bytes = search.needs().into_iter().map(|range| {
            asked += range.end - range.start;
            file.slice(usize::try_from(range.start).unwrap()..usize::try_from(range.end).unwrap())
        });
        let bytes: Vec<Bytes> = bytes.collect();
        search.give(&bytes).unwrap();
    }
    (search.finish(), asked)
}

#[test]
fn every_hfile_of_every_table_is_read_whole() {
    let mut read = 0;
    for table in support::tables() {
        for (path, file) in hfiles(&table) {
            let entries = scan_all(&file).unwrap_or_else(|e| panic!("{table} {path}: {e}"));
            let schema = open(&file).unwrap().info().schema.clone().unwrap();
            assert!(schema.contains("HoodieMetadataRecord"), "{table} {path}");
            read += usize::from(!entries.is_empty());
        }
    }
    assert!(read > 200, "{read} files with keys");
}

/// One of the files of Hudi's own tests, see `tests/README.md`.
fn of_java(name: &str) -> Bytes {
    let path = support::data_folder().join("hfile").join(name);
    std::fs::read(path).unwrap().into()
}

/// Files that Hudi's `TestHFileReader` reads, with the keys and values it states.
#[test]
fn javas_own_test_files_hold_the_keys_and_values_that_java_states() {
    let check = |name: &str, count: usize, key: &dyn Fn(usize) -> String| {
        let file = of_java(name);
        let all = scan_all(&file).unwrap_or_else(|e| panic!("{name}: {e}"));
        assert_eq!(all.len(), count, "{name}");
        for (i, entry) in all.iter().enumerate() {
            assert_eq!(entry.key, key(i), "{name}");
            assert_eq!(entry.value, format!("hudi-value-{i:09}"), "{name}");
        }
        let wanted = [0, 1, count / 3, count / 2, count - 2, count - 1];
        let query = wanted.map(|i| [key(i), format!("{}x", key(i))]);
        let (found, asked) = find(&file, Query::keys(query.into_iter().flatten()));
        assert!(found.iter().eq(wanted.map(|i| &all[i])), "{name}");
        assert!(asked < file.len() as u64 / 2, "{name}: {asked}");
        let prefix = &key(count / 2)[..key(count / 2).len() - 2];
        let (found, _) = find(&file, Query::prefixes([prefix.to_owned()]));
        let kept = all
            .iter()
            .filter(|entry| entry.key.starts_with(prefix.as_bytes()));
        assert!(found.iter().eq(kept), "{name}");
        assert!(find(&file, Query::keys(["a", "z"])).0.is_empty());
    };
    let fake_first_keys = "hudi_1_0_hbase_2_4_13_16KB_GZ_20000_fake_first_key.hfile";
    check(fake_first_keys, 20_000, &|i| {
        format!("hudi-key-{i:09}-abcdefghij")
    });
    let three_levels = "hudi_1_0_hbase_2_4_13_1KB_GZ_10000_large_keys_deep_index.hfile";
    check(three_levels, 10_000, &|i| {
        format!("hudi-key-{}-{i:09}", "a".repeat(100))
    });
    let not_compressed = "hudi_1_0_hbase_2_4_9_16KB_NONE_5000.hfile";
    check(not_compressed, 5000, &|i| format!("hudi-key-{i:09}"));
}

#[test]
fn a_key_that_stands_often_is_found_as_often() {
    let file = of_java("hudi_1_0_hbase_2_4_9_16KB_GZ_200_20_non_unique.hfile");
    let all = scan_all(&file).unwrap();
    assert_eq!(all.len(), 200 * 21);
    for key in [
        "hudi-key-000000000",
        "hudi-key-000000013",
        "hudi-key-000000199",
    ] {
        assert_eq!(find(&file, Query::keys([key])).0.len(), 21, "{key}");
    }
}

#[test]
fn files_without_keys_and_of_other_producers_are_read() {
    let empty = of_java("hudi_1_0_hbase_2_4_9_no_entry.hfile");
    assert!(scan_all(&empty).unwrap().is_empty());
    assert!(find(&empty, Query::keys(["a"])).0.is_empty());
    let all = scan_all(&of_java("hudi_0_9_hbase_1_2_3_simple.hfile")).unwrap();
    assert_eq!(all.len(), 50);
    assert_eq!(all[7].key, "key07");
}

/// A file of both producers.
fn samples() -> Vec<Bytes> {
    let of = |table: &str, folder: &str| {
        let files = hfiles(table).into_iter();
        let mut files = files.filter(|(path, _)| path.contains(folder));
        files.next_back().unwrap().1
    };
    vec![
        of("v9_cow_mdt_compacted", "/column_stats/"),
        of("v9_cow_secondary_index", "/secondary_index_by_name/"),
        of("v8_cow_parts", "/files/"),
    ]
}

#[test]
fn a_thousand_flipped_bytes_are_errors_or_change_nothing() {
    let mut state = 42_u64;
    let mut random = |below: usize| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        usize::try_from(state >> 33).unwrap() % below
    };
    let samples: Vec<_> = samples()
        .into_iter()
        .map(|file| (scan_all(&file).unwrap(), file))
        .collect();
    let mut caught = 0;
    for round in 0..1000 {
        let (all, file) = &samples[round % samples.len()];
        let mut bytes = file.to_vec();
        // The trailer is mostly zeros that nobody reads: every other flip goes before its middle.
        let below = [bytes.len(), bytes.len() - 3900][round / samples.len() % 2];
        let place = random(below);
        bytes[place] ^= u8::try_from(1 + random(255)).unwrap();
        match scan_all(&bytes.into()) {
            Ok(read) => assert_eq!(&read, all, "round {round}, byte {place}"),
            Err(error) => {
                let kinds = [ErrorKind::Corrupt, ErrorKind::Unsupported];
                assert!(kinds.contains(&error.kind()), "{error}");
                caught += 1;
            }
        }
    }
    assert!(caught > 400, "{caught}");
}

#[test]
fn a_file_cut_anywhere_is_corrupt() {
    for file in samples() {
        for length in (0..file.len()).step_by(file.len() / 97) {
            let error = scan_all(&file.slice(..length)).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Corrupt, "{length}: {error}");
            assert!(error.get("offset").is_some(), "{error}");
        }
    }
}

/// The damage that Hudi's reader answers with an index out of bounds, and more of its kind, each with its error.
#[test]
fn damage_in_index_trailer_and_lengths_is_named() {
    let file = samples().remove(0);
    let damage = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut bytes = file.to_vec();
        change(&mut bytes);
        scan_all(&bytes.into()).unwrap_err()
    };
    let find = |magic: &[u8]| {
        let places = file.windows(magic.len());
        places.into_iter().position(|bytes| bytes == magic).unwrap()
    };
    let check = |change: &dyn Fn(&mut Vec<u8>), code: &str, message: &str| {
        let error = damage(change);
        assert_eq!(error.kind().code(), code, "{error}");
        assert!(error.message().contains(message), "{error}");
    };
    let (root, data) = (find(b"IDXROOT2"), find(b"DATABLK*"));
    check(&|b| b[root + 34] ^= 0xff, "CORRUPT", "decompressed");
    check(&|b| b[root + 11] ^= 1, "CORRUPT", "block");
    check(&|b| b[data + 9] = 0xff, "CORRUPT", "cut short");
    check(&|b| b[data + 15] ^= 1, "CORRUPT", "another size");
    check(&|b| b[data + 5] = b'?', "CORRUPT", "no HFile block");
    check(&|b| b[data + 24] = 9, "CORRUPT", "type of checksum");
    let trailer = file.len() - 4096;
    check(&|b| b[trailer] = 0, "CORRUPT", "TRABLK");
    check(&|b| *b.last_mut().unwrap() = 2, "UNSUPPORTED", "version");
    // The codec is the protobuf's field 12: tag 0x60, then 1 for gzip.
    let tags = file[trailer..].windows(2);
    let codec = trailer
        + tags
            .into_iter()
            .rposition(|pair| pair == [0x60, 1])
            .unwrap()
        + 1;
    check(&|b| b[codec] = 6, "UNSUPPORTED", "compression");
    check(&|b| b[codec] = 99, "CORRUPT", "codec");
}

/// Every block of a file in its order: what it begins with and its data. Java's native writer leaves no checksums.
fn blocks(file: &Bytes) -> Vec<([u8; 8], Vec<u8>)> {
    let end = file.len() - 4096;
    let (mut at, mut found) = (0, Vec::new());
    while at < end {
        let number = |from: usize| {
            u32::from_be_bytes(file[at + from..at + from + 4].try_into().unwrap()) as usize
        };
        let (on_disk, with_header) = (33 + number(8), number(29));
        assert!(
            file[at + with_header..at + on_disk]
                .iter()
                .all(|byte| *byte == 0)
        );
        let mut data = Vec::new();
        let mut gzip = flate2::read::GzDecoder::new(&file[at + 33..at + with_header]);
        std::io::Read::read_to_end(&mut gzip, &mut data).unwrap();
        assert_eq!(data.len(), number(12));
        found.push((file[at..at + 8].try_into().unwrap(), data));
        at += on_disk;
    }
    found
}

/// Where `name` ends in the data of a file info, and how long the value behind it is.
fn value_of<'a>(info: &'a [u8], name: &str) -> Option<&'a [u8]> {
    let at = info
        .windows(name.len())
        .position(|window| window == name.as_bytes())?
        + name.len();
    // Tag 0x12, then a length: of one byte for all but the schema.
    Some(&info[at + 2..at + 2 + usize::from(info[at + 1])])
}

#[test]
fn base_files_that_javas_own_writer_wrote_are_written_again_block_by_block() {
    let mut written = 0;
    for table in support::tables() {
        for (path, file) in hfiles(&table) {
            // HBase's writer leaves sums of CRC-32C, its byte is at 24.
            if file[24] != 0 {
                continue;
            }
            let theirs = blocks(&file);
            let info = &theirs.last().unwrap().1;
            let created = i64::from_be_bytes(
                value_of(info, "hfile.CREATE_TIME_TS")
                    .unwrap()
                    .try_into()
                    .unwrap(),
            );
            let bloom = theirs.iter().find(|(magic, _)| magic == b"METABLKc");
            let extras = bloom.map(|(_, filter)| BaseFileExtras {
                bloom_filter: String::from_utf8(filter.clone()).unwrap(),
                bloom_type: "DYNAMIC_V0",
            });
            let schema = open(&file).unwrap().info().schema.clone().unwrap();
            let mut writer = HFileWriter::new(&schema);
            for entry in scan_all(&file).unwrap() {
                writer.add(&entry.key, &entry.value).unwrap();
            }
            let again = Bytes::from(writer.finish(created, extras.as_ref()).unwrap());
            let ours = blocks(&again);
            assert_eq!(ours.len(), theirs.len(), "{table} {path}");
            for ((magic, data), (their_magic, their_data)) in ours.iter().zip(&theirs) {
                assert_eq!(magic, their_magic, "{table} {path}");
                // Root indexes name places, and gzip makes other sizes.
                if magic != b"IDXROOT2" {
                    assert!(
                        data == their_data,
                        "{table} {path} {}",
                        String::from_utf8_lossy(magic)
                    );
                } else {
                    assert_eq!(data.len(), their_data.len());
                }
            }
            let of = |file: &Bytes| {
                Trailer::parse(file.len() as u64, &file[file.len() - 4096..]).unwrap()
            };
            let (ours, theirs) = (of(&again), of(&file));
            assert_eq!(
                (ours.entries, ours.data_index_count),
                (theirs.entries, theirs.data_index_count)
            );
            assert_eq!(ours.data_index_levels, theirs.data_index_levels);
            written += 1;
        }
    }
    assert!(written > 100, "{written}");
}
