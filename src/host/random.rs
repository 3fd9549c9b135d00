use crate::error::{Error, Result};

/// A random number in `0.0..1.0`, good enough for jitter.
#[cfg(target_arch = "wasm32")]
pub fn random_unit() -> f64 {
    js_sys::Math::random()
}

/// A random number in `0.0..1.0`, good enough for jitter.
#[cfg(not(target_arch = "wasm32"))]
pub fn random_unit() -> f64 {
    use std::hash::{BuildHasher, RandomState};
    let bits = RandomState::new().hash_one(0_u8) >> 11;
    bits as f64 / (1_u64 << 53) as f64
}

/// Random bytes from the host's own generator: for ids that must not meet.
///
/// Errors: `Internal` where the host has none.
pub fn random_bytes<const N: usize>() -> Result<[u8; N]> {
    let mut bytes = [0; N];
    match getrandom::fill(&mut bytes) {
        Ok(()) => Ok(bytes),
        Err(source) => {
            Err(Error::internal("the host gives no random bytes").context("cause", source))
        }
    }
}

/// A new random UUID (version 4) as text, such as `cd4c1f5e-9d1b-4f0a-8b63-0c7fdd4a3c1e`.
///
/// Errors: as [`random_bytes`].
pub fn random_uuid() -> Result<String> {
    let mut number = u128::from_be_bytes(random_bytes()?);
    // RFC 9562: four bits say the version, two the variant.
    number = number & !(0xf << 76) | 0x4 << 76;
    number = number & !(0b11 << 62) | 0b10 << 62;
    let hex = format!("{number:032x}");
    let mut text = String::with_capacity(36);
    for (at, digit) in hex.chars().enumerate() {
        if matches!(at, 8 | 12 | 16 | 20) {
            text.push('-');
        }
        text.push(digit);
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uuids_are_of_version_4_and_differ() {
        let (one, two) = (random_uuid().unwrap(), random_uuid().unwrap());
        assert_ne!(one, two);
        for text in [one, two] {
            let parts: Vec<_> = text.split('-').map(str::len).collect();
            assert_eq!(parts, [8, 4, 4, 4, 12], "{text}");
            assert_eq!(&text[14..15], "4");
            assert!("89ab".contains(&text[19..20]), "{text}");
        }
    }
}
