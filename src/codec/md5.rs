//! MD5 (RFC 1321), which keys of the metadata table hold of file names.

/// Shifts of the four rounds, four each.
const SHIFTS: [[u32; 4]; 4] = [
    [7, 12, 17, 22],
    [5, 9, 14, 20],
    [4, 11, 16, 23],
    [6, 10, 15, 21],
];

/// The digest of some bytes.
pub fn md5(bytes: &[u8]) -> [u8; 16] {
    let mut state = [0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476];
    let mut padded = bytes.to_vec();
    padded.push(0x80);
    padded.resize(padded.len().next_multiple_of(64), 0);
    if padded.len() - bytes.len() < 9 {
        padded.resize(padded.len() + 64, 0);
    }
    let bits = (bytes.len() as u64).wrapping_mul(8).to_le_bytes();
    padded.truncate(padded.len() - bits.len());
    padded.extend_from_slice(&bits);
    for block in padded.chunks_exact(64) {
        add_block(&mut state, block);
    }
    let mut digest = [0; 16];
    for (to, word) in digest.chunks_exact_mut(4).zip(state) {
        to.copy_from_slice(&word.to_le_bytes());
    }
    digest
}

fn add_block(state: &mut [u32; 4], block: &[u8]) {
    let word = |at: usize| {
        let bytes = block
            .get(4 * at..4 * at + 4)
            .and_then(|b| b.try_into().ok());
        bytes.map_or(0, u32::from_le_bytes)
    };
    let [mut a, mut b, mut c, mut d] = *state;
    let rounds = SHIFTS.iter().enumerate();
    let steps = rounds.flat_map(|(round, shifts)| {
        (0..16_usize)
            .zip(shifts.iter().cycle())
            .map(move |(at, shift)| (round, 16 * round + at, *shift))
    });
    for (round, step, shift) in steps {
        let (mixed, at) = match round {
            0 => ((b & c) | (!b & d), step),
            1 => ((d & b) | (!d & c), 5 * step + 1),
            2 => (b ^ c ^ d, 3 * step + 5),
            _ => (c ^ (b | !d), 7 * step),
        };
        // The table of the RFC: the whole part of 2^32 |sin(step + 1)|.
        let sine = ((step as f64 + 1.0).sin().abs() * 4_294_967_296.0) as u32;
        let sum = a
            .wrapping_add(mixed)
            .wrapping_add(sine)
            .wrapping_add(word(at % 16));
        (a, d, c, b) = (d, c, b, b.wrapping_add(sum.rotate_left(shift)));
    }
    for (kept, new) in state.iter_mut().zip([a, b, c, d]) {
        *kept = kept.wrapping_add(new);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digests_are_those_of_rfc_1321() {
        let check = |text: &str, expected: &str| {
            let digest: String = md5(text.as_bytes())
                .iter()
                .map(|b| format!("{b:02x}"))
                .collect();
            assert_eq!(digest, expected, "{text}");
        };
        check("", "d41d8cd98f00b204e9800998ecf8427e");
        check("abc", "900150983cd24fb0d6963f7d28e17f72");
        check("message digest", "f96b697d7cb7938d525a2f31aaf161d0");
        let long =
            "12345678901234567890123456789012345678901234567890123456789012345678901234567890";
        check(long, "57edf4a22be3c955ac49da2e2107b67a");
        // Fifty-five bytes fit a block with their length, fifty-six do not.
        check(&"a".repeat(55), "ef1772b6dff9a122358552954ad0df65");
        check(&"a".repeat(56), "3b0c8ac703f828b04c6c197006d17218");
    }
}
