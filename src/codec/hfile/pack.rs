//! Blocks packed as gzip.

use flate2::{Compress, CompressError, Compression, FlushCompress, Status};

/// Bytes after which deflate forgets what came before. It has room for as many, and would move its tables along for each more: that
/// takes most of the time of its fastest level, and entries that are alike are found again at once.
const PIECE: usize = 60 << 10;

/// Packs block after block.
#[derive(Debug)]
pub(super) struct Packer(Compress);

impl Packer {
    pub(super) fn new() -> Self {
        Self(Compress::new(Compression::fast(), false))
    }

    /// Appends `data` as a gzip member.
    pub(super) fn pack(&mut self, data: &[u8], out: &mut Vec<u8>) -> Result<(), CompressError> {
        out.extend_from_slice(&[0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 4, 0xff]);
        self.0.reset();
        for piece in data.chunks(PIECE) {
            self.put(piece, FlushCompress::Full, out)?;
        }
        self.put(&[], FlushCompress::Finish, out)?;
        out.extend_from_slice(&crc32fast::hash(data).to_le_bytes());
        out.extend_from_slice(&(data.len() as u32).to_le_bytes());
        Ok(())
    }

    /// Appends all of a piece; a flush is whole when it leaves room.
    fn put(
        &mut self,
        piece: &[u8],
        flush: FlushCompress,
        out: &mut Vec<u8>,
    ) -> Result<(), CompressError> {
        let before = self.0.total_in();
        loop {
            let read = usize::try_from(self.0.total_in() - before).unwrap_or(piece.len());
            let rest = piece.get(read..).unwrap_or_default();
            // Bytes that do not shrink take an eighth more at this level.
            out.reserve(rest.len() + rest.len() / 8 + 64);
            let status = self.0.compress_vec(rest, out, flush)?;
            let all = self.0.total_in() - before == piece.len() as u64;
            let ended = match flush {
                FlushCompress::Finish => status == Status::StreamEnd,
                _ => all && out.len() < out.capacity(),
            };
            if ended {
                return Ok(());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    fn unpacked(member: &[u8]) -> Vec<u8> {
        let mut data = Vec::new();
        let mut decoder = flate2::read::GzDecoder::new(member);
        decoder.read_to_end(&mut data).unwrap();
        data
    }

    #[test]
    fn blocks_of_any_length_come_back_in_the_order_in_which_they_were_packed() {
        let mut packer = Packer::new();
        for length in [0, 1, PIECE - 1, PIECE, PIECE + 1, 3 * PIECE, 1 << 20] {
            let alike: Vec<u8> = (0..length).map(|at| (at / 7 % 251) as u8).collect();
            let mut seed = 1_u32;
            let random = (0..length).map(|_| {
                seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                (seed >> 24) as u8
            });
            for data in [alike, random.collect()] {
                let mut out = vec![7];
                packer.pack(&data, &mut out).unwrap();
                assert_eq!(out[0], 7);
                assert_eq!(unpacked(&out[1..]), data, "{length}");
            }
        }
    }
}
