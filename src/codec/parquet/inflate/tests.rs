use std::io::Write;

use flate2::Compression;
use flate2::write::DeflateEncoder;

use super::Inflate;

fn deflate(bytes: &[u8], level: u32) -> Vec<u8> {
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::new(level));
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// A generator of numbers that every run sees alike.
struct Seeded(u64);

impl Seeded {
    fn next(&mut self, below: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % below as u64) as usize
    }
}

/// Bytes that give every kind of block and of copy: noise, texts, runs, and repetitions at every short distance.
fn samples() -> Vec<Vec<u8>> {
    let mut random = Seeded(0x9e37_79b9_7f4a_7c15);
    let mut samples = vec![Vec::new(), vec![7], b"to be or not to be".to_vec()];
    samples.push((0..70_000).map(|_| random.next(256) as u8).collect());
    samples.push((0..70_000).map(|_| random.next(4) as u8).collect());
    samples.push(vec![0; 100_000]);
    let keys = (0..5_000).flat_map(|at| format!("\u{e}\0\0\0key-{:010}", at * 7).into_bytes());
    samples.push(keys.collect());
    for distance in 1..40 {
        let seed: Vec<u8> = (0..distance).map(|_| random.next(256) as u8).collect();
        samples.push(seed.iter().copied().cycle().take(1000 + distance).collect());
    }
    // Symbols of very different frequency have codes of every length.
    let skewed = (0..200_000).map(|_| {
        let zeros = (random.next(1 << 20) as u32 | 1 << 20).trailing_zeros();
        (zeros * 12 + random.next(12) as u32) as u8
    });
    samples.push(skewed.collect());
    samples
}

#[test]
fn what_zlib_packs_comes_out_as_it_went_in() {
    let mut inflate = Inflate::default();
    for sample in samples() {
        for level in [0, 1, 6, 9] {
            let mut packed = deflate(&sample, level);
            let length = packed.len();
            packed.extend_from_slice(b"what follows");
            let mut out = vec![0xaa; sample.len()];
            let done = inflate.unpack(&packed, &mut out);
            assert_eq!(done, Some((length, sample.len())), "level {level}");
            assert!(out == sample, "level {level}, {} bytes", sample.len());
        }
    }
}

#[test]
fn room_behind_the_end_is_told_and_too_little_room_is_refused() {
    let sample = b"four words and again: four words and again".repeat(50);
    let packed = deflate(&sample, 6);
    let mut out = vec![0; sample.len() + 600];
    let done = Inflate::default().unpack(&packed, &mut out);
    assert_eq!(done, Some((packed.len(), sample.len())));
    assert_eq!(out.get(..sample.len()), Some(sample.as_slice()));
    for room in [0, 1, sample.len() - 300, sample.len() - 1] {
        assert_eq!(Inflate::default().unpack(&packed, &mut vec![0; room]), None);
    }
}

#[test]
fn a_stream_that_is_cut_anywhere_is_refused() {
    let mut inflate = Inflate::default();
    for sample in [b"some text, some more text".repeat(20), vec![1, 2, 3]] {
        for level in [0, 6] {
            let packed = deflate(&sample, level);
            let mut out = vec![0; sample.len()];
            for length in 0..packed.len() {
                let cut = packed.get(..length).unwrap();
                assert_eq!(
                    inflate.unpack(cut, &mut out),
                    None,
                    "level {level}, {length}"
                );
            }
        }
    }
}

#[test]
fn damaged_streams_end_within_their_room() {
    let mut random = Seeded(42);
    let mut inflate = Inflate::default();
    for sample in samples().into_iter().filter(|sample| sample.len() < 2000) {
        let packed = deflate(&sample, 6);
        let mut out = vec![0; sample.len()];
        for _ in 0..200 {
            let mut damaged = packed.clone();
            let at = random.next(damaged.len());
            damaged[at] ^= 1 << random.next(8);
            if let Some((read, written)) = inflate.unpack(&damaged, &mut out) {
                assert!(read <= damaged.len() && written <= out.len());
            }
        }
    }
}

#[test]
fn codes_that_no_writer_makes_are_refused() {
    // A block of the kind that is none; fixed codes with a distance that reaches before the first byte; a symbol
    // without a meaning (286, whose fixed code is 11000110).
    for stream in [
        &[0b111_u8][..],
        &[0b11, 0b0000_0010, 0, 0],
        &[0b0001_1011, 0b11, 0, 0],
    ] {
        assert_eq!(Inflate::default().unpack(stream, &mut [0; 600]), None);
    }
}
