use std::io::Read;

use bytes::Bytes;
use flate2::bufread::GzDecoder;

use super::trailer::Compression;
use crate::codec::bytes::Cursor;
use crate::error::{Error, Result};

/// Bytes before a block's data.
pub(super) const HEADER: usize = 33;

/// Deflate cannot make more than this of one byte.
const MAX_EXPANSION: u64 = 1032;

/// No writer of Hudi makes blocks of more than some megabytes; an entry larger than the block size makes one of its own.
const MAX_BLOCK: u64 = 1 << 30;

/// What a block holds, by the eight bytes that it begins with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Data,
    RootIndex,
    IntermediateIndex,
    LeafIndex,
    FileInfo,
}

impl Kind {
    fn of_magic(magic: [u8; 8]) -> Option<Self> {
        Some(match &magic {
            b"DATABLK*" => Self::Data,
            b"IDXROOT2" => Self::RootIndex,
            b"IDXINTE2" => Self::IntermediateIndex,
            b"IDXLEAF2" => Self::LeafIndex,
            b"FILEINF2" => Self::FileInfo,
            _ => return None,
        })
    }
}

/// One block, decompressed.
#[derive(Debug)]
pub(super) struct Block {
    pub(super) kind: Kind,
    pub(super) data: Bytes,
    /// Bytes of it in the file, header and checksums included.
    pub(super) on_disk: usize,
}

/// Reads the block at the start of `bytes`, which may go on behind it.
///
/// ```text
/// magic (8) | size of compressed data and checksums | size of the data | offset of the block before (i64)
/// | checksum type (u8) | bytes a checksum | size of header and compressed data       (all big-endian, u32)
/// | compressed data | a u32 checksum for each 16 KiB of header and compressed data
/// ```
///
/// Errors: `Corrupt` with the `offset`, which `at` is the start of; `Unsupported` for an encoding of keys that Hudi does
/// not write.
pub(super) fn read(bytes: &Bytes, at: u64, compression: Compression) -> Result<Block> {
    parse(bytes, compression).map_err(|error| error.context("offset", at))
}

struct Header {
    kind: Kind,
    on_disk: usize,
    uncompressed: u64,
    checksum: u8,
    bytes_a_checksum: usize,
    with_header: usize,
}

fn parse(bytes: &Bytes, compression: Compression) -> Result<Block> {
    let header = header(bytes)?;
    let whole = bytes.get(..header.on_disk);
    let whole = whole.ok_or_else(|| Error::corrupt("an HFile block is cut short"))?;
    let (data, sums) = whole
        .split_at_checked(header.with_header)
        .ok_or_else(|| Error::corrupt("an HFile block is cut short"))?;
    check_sums(&header, data, sums)?;
    let compressed = bytes.slice(HEADER..header.with_header);
    let data = match compression {
        Compression::None => compressed,
        Compression::Gzip => gunzip(&compressed, header.uncompressed)?,
    };
    if data.len() as u64 != header.uncompressed {
        return Err(Error::corrupt(
            "an HFile block has another size than it declares",
        ));
    }
    Ok(Block {
        kind: header.kind,
        data,
        on_disk: header.on_disk,
    })
}

fn header(bytes: &[u8]) -> Result<Header> {
    let mut cursor = Cursor::new(bytes);
    let short = |_| Error::corrupt("an HFile block is cut short");
    let magic: [u8; 8] = cursor.array().map_err(short)?;
    if &magic == b"DATABLKE" {
        return Err(Error::unsupported("an HFile with encoded data blocks"));
    }
    let kind = Kind::of_magic(magic);
    let kind = kind.ok_or_else(|| Error::corrupt("no HFile block begins here"))?;
    let mut number = || cursor.array().map(u32::from_be_bytes);
    let (on_disk, uncompressed) = (number().map_err(short)?, number().map_err(short)?);
    cursor.take(8).map_err(short)?;
    let checksum = cursor.u8().map_err(short)?;
    let mut number = || cursor.array().map(u32::from_be_bytes);
    let (bytes_a_checksum, with_header) = (number().map_err(short)?, number().map_err(short)?);
    let size = |value: u32| usize::try_from(value).unwrap_or(usize::MAX);
    let header = Header {
        kind,
        on_disk: size(on_disk).saturating_add(HEADER),
        uncompressed: u64::from(uncompressed),
        checksum,
        bytes_a_checksum: size(bytes_a_checksum),
        with_header: size(with_header),
    };
    let fits = header.with_header >= HEADER && header.with_header <= header.on_disk;
    if !fits || header.uncompressed > MAX_BLOCK {
        return Err(Error::corrupt("an HFile block declares impossible sizes"));
    }
    Ok(header)
}

fn check_sums(header: &Header, data: &[u8], sums: &[u8]) -> Result<()> {
    let chunk = header.bytes_a_checksum;
    if chunk == 0 || sums.len() != data.len().div_ceil(chunk) * 4 {
        return Err(Error::corrupt(
            "an HFile block has not the checksums that its size needs",
        ));
    }
    let sum: fn(&[u8]) -> u32 = match header.checksum {
        // Hudi's own writer leaves zeros there.
        0 => return Ok(()),
        1 => crc32fast::hash,
        2 => crc32c,
        _ => {
            return Err(Error::corrupt(
                "an HFile block has no known type of checksum",
            ));
        }
    };
    let mut pairs = data.chunks(chunk).zip(sums.chunks_exact(4));
    match pairs.all(|(data, kept)| sum(data).to_be_bytes() == kept) {
        true => Ok(()),
        false => Err(Error::corrupt("an HFile block fails its checksum")),
    }
}

fn gunzip(compressed: &[u8], declared: u64) -> Result<Bytes> {
    if declared > (compressed.len() as u64).saturating_mul(MAX_EXPANSION) {
        return Err(Error::corrupt(
            "an HFile block declares more than its bytes can expand to",
        ));
    }
    let capacity = usize::try_from(declared).unwrap_or(usize::MAX);
    let mut data = Vec::with_capacity(capacity);
    GzDecoder::new(compressed)
        .take(declared + 1)
        .read_to_end(&mut data)
        .map_err(|source| {
            Error::corrupt("an HFile block cannot be decompressed").with_source(source)
        })?;
    Ok(data.into())
}

/// CRC-32C (Castagnoli), bit-reversed.
fn crc32c(bytes: &[u8]) -> u32 {
    let step = |sum: u32, byte: &u8| {
        let [low, ..] = sum.to_le_bytes();
        let entry = CASTAGNOLI.get(usize::from(low ^ byte)).copied();
        entry.unwrap_or_default() ^ (sum >> 8)
    };
    !bytes.iter().fold(u32::MAX, step)
}

#[allow(
    clippy::indexing_slicing,
    reason = "evaluated by the compiler, which refuses an index outside"
)]
const CASTAGNOLI: [u32; 256] = {
    let mut table = [0_u32; 256];
    let mut byte = 0;
    while byte < 256 {
        let mut sum = byte as u32;
        let mut bit = 0;
        while bit < 8 {
            let carry = sum & 1 == 1;
            sum >>= 1;
            if carry {
                sum ^= 0x82f6_3b78;
            }
            bit += 1;
        }
        table[byte] = sum;
        byte += 1;
    }
    table
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn crc32c_gives_the_check_values_of_rfc_3720() {
        assert_eq!(crc32c(b"123456789"), 0xe306_9283);
        assert_eq!(crc32c(&[0; 32]), 0x8a91_36aa);
        assert_eq!(crc32c(&[0xff; 32]), 0x62a8_ab43);
    }

    #[test]
    fn a_block_that_declares_a_gigabyte_is_refused_before_it_is_reserved() {
        let mut bytes = b"DATABLK*".to_vec();
        for number in [24_u32, 1 << 30] {
            bytes.extend_from_slice(&number.to_be_bytes());
        }
        bytes.extend_from_slice(&[0xff; 8]);
        bytes.push(0);
        for number in [16_384_u32, 53] {
            bytes.extend_from_slice(&number.to_be_bytes());
        }
        bytes.extend_from_slice(&[0; 24]);
        let error = read(&bytes.into(), 7, Compression::Gzip).unwrap_err();
        assert_eq!(error.kind().code(), "CORRUPT");
        assert_eq!(error.get("offset"), Some("7"));
        assert!(error.message().contains("expand"), "{error}");
    }
}
