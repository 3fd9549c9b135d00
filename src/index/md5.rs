//! MD5, which names files in the keys of column statistics.

const SHIFTS: [[u32; 4]; 4] = [
    [7, 12, 17, 22],
    [5, 9, 14, 20],
    [4, 11, 16, 23],
    [6, 10, 15, 21],
];

/// The digest of RFC 1321.
pub(super) fn md5(bytes: &[u8]) -> [u8; 16] {
    let mut padded = bytes.to_vec();
    padded.push(0x80);
    padded.resize(padded.len().next_multiple_of(64), 0);
    if padded.len() - bytes.len() < 9 {
        padded.resize(padded.len() + 64, 0);
    }
    let end = padded.len() - 8;
    padded.truncate(end);
    padded.extend((bytes.len() as u64).wrapping_mul(8).to_le_bytes());
    let mut state = [0x6745_2301_u32, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476];
    for block in padded.chunks_exact(64) {
        let words: Vec<u32> = block
            .chunks_exact(4)
            .map(|word| {
                word.iter()
                    .rev()
                    .fold(0, |all, byte| all << 8 | u32::from(*byte))
            })
            .collect();
        state = round(state, &words);
    }
    let mut digest = [0; 16];
    for (to, word) in digest.chunks_exact_mut(4).zip(state) {
        to.copy_from_slice(&word.to_le_bytes());
    }
    digest
}

fn round(state: [u32; 4], words: &[u32]) -> [u32; 4] {
    let [mut a, mut b, mut c, mut d] = state;
    for step in 0..64_usize {
        let (mix, at) = match step / 16 {
            0 => ((b & c) | (!b & d), step),
            1 => ((d & b) | (!d & c), (5 * step + 1) % 16),
            2 => (b ^ c ^ d, (3 * step + 5) % 16),
            _ => (c ^ (b | !d), 7 * step % 16),
        };
        // The table of sines, rounded down: exact in 64-bit floats.
        let sine = ((step as f64 + 1.0).sin().abs() * 4_294_967_296.0) as u32;
        let word = words.get(at).copied().unwrap_or(0);
        let shift = SHIFTS.get(step / 16).and_then(|row| row.get(step % 4));
        let sum = a.wrapping_add(mix).wrapping_add(sine).wrapping_add(word);
        let turned = sum.rotate_left(shift.copied().unwrap_or(0));
        (a, d, c, b) = (d, c, b, b.wrapping_add(turned));
    }
    let [e, f, g, h] = state;
    [
        a.wrapping_add(e),
        b.wrapping_add(f),
        c.wrapping_add(g),
        d.wrapping_add(h),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digests_are_those_of_rfc_1321() {
        let check = |text: &str, expected: &str| {
            let hex: String = md5(text.as_bytes())
                .iter()
                .map(|b| format!("{b:02x}"))
                .collect();
            assert_eq!(hex, expected, "{text}");
        };
        check("", "d41d8cd98f00b204e9800998ecf8427e");
        check("abc", "900150983cd24fb0d6963f7d28e17f72");
        check(
            "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789",
            "d174ab98d277d9f5a5611c2c9f419d9f",
        );
        check(&"1234567890".repeat(8), "57edf4a22be3c955ac49da2e2107b67a");
    }
}
