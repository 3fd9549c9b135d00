//! A small stand-in for the `crc-fast` crate: just the checksum that `object_store` can add to an S3 upload.
//!
//! The crate itself carries tables for every CRC it knows, half a megabyte of compressed wasm that no read uses.

/// The checksums: one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CrcAlgorithm {
    /// CRC-64/NVME.
    Crc64Nvme,
}

/// The polynomial of CRC-64/NVME, its bits reflected.
const POLYNOMIAL: u64 = 0x9a6c_9329_ac4b_c9b5;

/// The remainder of each byte.
static TABLE: [u64; 256] = table();

const fn table() -> [u64; 256] {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let mut rest = byte as u64;
        let mut bit = 0;
        while bit < 8 {
            rest = (rest >> 1) ^ if rest & 1 == 1 { POLYNOMIAL } else { 0 };
            bit += 1;
        }
        table[byte] = rest;
        byte += 1;
    }
    table
}

/// A checksum under way.
#[derive(Debug, Clone)]
pub struct Digest(u64);

impl Digest {
    /// Begins a checksum.
    pub fn new(algorithm: CrcAlgorithm) -> Self {
        match algorithm {
            CrcAlgorithm::Crc64Nvme => Self(u64::MAX),
        }
    }

    /// Takes in more bytes.
    pub fn update(&mut self, bytes: &[u8]) {
        self.0 = bytes.iter().fold(self.0, |rest, byte| {
            (rest >> 8) ^ TABLE[usize::from(rest as u8 ^ byte)]
        });
    }

    /// The checksum of all bytes taken in.
    pub fn finalize(&self) -> u64 {
        !self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_check_value_of_the_catalogue_comes_out() {
        // "123456789" by the Catalogue of parametrised CRC algorithms.
        let mut digest = Digest::new(CrcAlgorithm::Crc64Nvme);
        digest.update(b"12345");
        digest.update(b"6789");
        assert_eq!(digest.finalize(), 0xae8b_1486_0a79_9888);
    }
}
