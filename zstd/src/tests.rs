//! Frames made by the `zstd` command, version 1.5.4.

use std::io::Cursor;

use super::bulk::Decompressor;
use super::zstd_safe::get_frame_content_size;

/// `zstd -3 --no-check`, of [`text`].
const TEXT: &str = "28b52ffd604600350300d24512188029cd01c0d847150e042691b11c356ad4a8bdeee4e6d203adeb5e67dd2c24f790b38b66e59a5277eff26e3168aee1e125c7ceadacbc53e318d0817124006408141608121014f41f0b0012ab2ee02be02be02be02be02be02be02be02be02bfb379d";
/// The same with `--no-content-size`.
const TEXT_UNSIZED: &str = "28b52ffd0000350300d24512188029cd01c0d847150e042691b11c356ad4a8bdeee4e6d203adeb5e67dd2c24f790b38b66e59a5277eff26e3168aee1e125c7ceadacbc53e318d0817124006408141608121014f41f0b0012ab2ee02be02be02be02be02be02be02be02be02bfb379d";
/// `zstd -19 --check`, of 200,000 times `z`.
const SAME: &str = "28b52ffda4400d03004c0000087a0100fcff391002036a087af15a5275";
/// `zstd`, of nothing.
const EMPTY: &str = "28b52ffd240001000099e9d851";
/// A skippable frame of three bytes.
const SKIPPABLE: &str = "502a4d1803000000aabbcc";

fn bytes(hex: &str) -> Vec<u8> {
    let digits = hex.as_bytes().chunks(2);
    let digits = digits.map(|pair| std::str::from_utf8(pair).unwrap());
    digits
        .map(|pair| u8::from_str_radix(pair, 16).unwrap())
        .collect()
}

fn text() -> Vec<u8> {
    let lines = (0..12).map(|i| format!("{:04} the quick brown fox {i}\n", i * 7919 % 1000));
    lines.collect::<String>().into_bytes()
}

fn decompress(source: &[u8], before: &[u8], room: usize) -> std::io::Result<Vec<u8>> {
    let mut target = Vec::with_capacity(before.len() + room);
    target.extend_from_slice(before);
    // What the allocator gave beyond what was asked would be room too.
    assert_eq!(target.capacity(), before.len() + room);
    let mut cursor = Cursor::new(&mut target);
    cursor.set_position(before.len() as u64);
    let written = Decompressor::new()?.decompress_to_buffer(source, &mut cursor)?;
    assert_eq!(cursor.position() as usize, before.len() + written);
    Ok(target)
}

fn check(hex: &str, expected: &[u8]) {
    let source = bytes(hex);
    for before in [&b""[..], b"levels"] {
        let out = decompress(&source, before, expected.len()).unwrap();
        assert_eq!(out, [before, expected].concat());
        // More room is no fault; less is one.
        assert!(decompress(&source, before, expected.len() + 1000).is_ok());
        if !expected.is_empty() {
            assert!(decompress(&source, before, expected.len() - 1).is_err());
        }
    }
}

#[test]
fn frames_of_the_c_library_are_read() {
    check(TEXT, &text());
    check(TEXT_UNSIZED, &text());
    check(SAME, &[b'z'; 200_000]);
    check(EMPTY, b"");
}

#[test]
fn several_frames_are_one_page() {
    let twice = [text(), text()].concat();
    check(&format!("{TEXT}{TEXT_UNSIZED}"), &twice);
    check(
        &format!("{SKIPPABLE}{TEXT}{EMPTY}{SKIPPABLE}{TEXT}"),
        &twice,
    );
}

#[test]
fn declared_sizes_are_found() {
    let check = |hex, expected| assert_eq!(get_frame_content_size(&bytes(hex)).unwrap(), expected);
    check(TEXT, Some(326));
    check(TEXT_UNSIZED, None);
    check(SAME, Some(200_000));
    check(EMPTY, Some(0));
    assert!(get_frame_content_size(b"PAR1").is_err());
}

#[test]
fn every_cut_and_what_is_no_frame_is_an_error() {
    for hex in [TEXT, TEXT_UNSIZED, SAME] {
        let whole = bytes(hex);
        for end in 1..whole.len() {
            assert!(
                decompress(&whole[..end], b"", 200_000).is_err(),
                "{hex} cut at {end}"
            );
        }
        let trailed = [whole, b"PAR1".to_vec()].concat();
        assert!(decompress(&trailed, b"", 400_000).is_err());
    }
}

#[test]
fn every_flipped_bit_ends() {
    for hex in [TEXT, TEXT_UNSIZED, SAME] {
        let whole = bytes(hex);
        for bit in 0..whole.len() * 8 {
            let mut broken = whole.clone();
            broken[bit / 8] ^= 1 << (bit % 8);
            // Bytes or an error: frames without a checksum cannot know.
            if let Ok(out) = decompress(&broken, b"", 200_000) {
                assert!(out.len() <= 200_000);
            }
        }
    }
}

#[test]
fn a_frame_that_expands_without_end_stops_at_the_room() {
    // 20,000 RLE blocks of 128 KiB each, in 80 kB: 2.6 GB.
    let block = (131_072_u32 << 3 | 0b010).to_le_bytes();
    let mut bomb = bytes("28b52ffd0058");
    for _ in 0..20_000 {
        bomb.extend_from_slice(&block[..3]);
        bomb.push(b'z');
    }
    bomb.extend_from_slice(&[0b011, 0, 0, b'z']);
    assert!(decompress(&bomb, b"", 1 << 20).is_err());
}
