//! Pages unpacked: never more than their headers declare, and with no copy that can be spared.

use std::collections::VecDeque;
use std::io::{Cursor, Read};

use bytes::{Bytes, BytesMut};
use flate2::{Decompress, FlushDecompress, Status};
use parquet::basic::Compression;

use crate::codec::bytes::Cursor as Bounded;
use crate::error::{BoxError, Error, Result};

/// Pages that the decoder may still hold when the next one is unpacked: the dictionary's, the page before and its levels.
const HELD: usize = 3;

/// Unpacks the pages of one column chunk, each into the memory of an earlier one that is no longer used.
pub(super) struct Unpacker {
    codec: Compression,
    spare: VecDeque<Bytes>,
    snappy: snap::raw::Decoder,
    gzip: Option<Decompress>,
    zstd: Option<zstd::bulk::Decompressor<'static>>,
}

impl Unpacker {
    pub(super) fn new(codec: Compression) -> Self {
        Self {
            codec,
            spare: VecDeque::new(),
            snappy: snap::raw::Decoder::new(),
            gzip: None,
            zstd: None,
        }
    }

    /// The `size` bytes that a page's stored bytes stand for; the first `front` bytes are stored as they are.
    ///
    /// `checked`: whether a checksum has shown that the stored bytes are those that were written.
    ///
    /// Errors: `Corrupt` when they are not as many, or do not unpack.
    pub(super) fn unpack(
        &mut self,
        stored: &Bytes,
        front: usize,
        size: usize,
        checked: bool,
    ) -> Result<Bytes> {
        let Some((plain, packed)) = stored.split_at_checked(front) else {
            return Err(wrong_size());
        };
        let page = match self.codec {
            // A page without values may have no packed bytes at all.
            _ if size == front => return Ok(stored.slice(..front)),
            Compression::ZSTD(_) => self.zstd(plain, packed, size)?,
            codec => {
                let mut room = self.room(size);
                let (before, target) = room.split_at_mut_checked(front).ok_or_else(wrong_size)?;
                before.copy_from_slice(plain);
                match codec {
                    Compression::SNAPPY => self.snappy(packed, target)?,
                    Compression::GZIP(_) => self.gzip(packed, target, checked)?,
                    Compression::LZ4_RAW => lz4_block(packed, target)?,
                    Compression::LZ4 => lz4_hadoop(packed, target)?,
                    _ => return Err(Error::unsupported("a codec of pages that is not handled")),
                }
                room.freeze()
            }
        };
        if page.len() != size {
            return Err(wrong_size());
        }
        self.spare.push_back(page.clone());
        Ok(page)
    }

    /// A page that nobody reads any more.
    fn spare(&mut self) -> Option<Bytes> {
        let free = self.spare.iter().position(Bytes::is_unique);
        let spare = free.and_then(|at| self.spare.remove(at));
        if self.spare.len() > HELD {
            self.spare.pop_front();
        }
        spare
    }

    /// `size` bytes of memory, with whatever they held.
    fn room(&mut self, size: usize) -> BytesMut {
        let spare = self.spare().and_then(|spare| spare.try_into_mut().ok());
        let fitting = spare.filter(|room| room.capacity() >= size);
        let mut room = fitting.unwrap_or_else(|| BytesMut::with_capacity(size));
        room.resize(size, 0);
        room
    }

    fn snappy(&mut self, packed: &[u8], target: &mut [u8]) -> Result<()> {
        let written = self.snappy.decompress(packed, target).map_err(broken)?;
        exact(written, target)
    }

    fn zstd(&mut self, plain: &[u8], packed: &[u8], size: usize) -> Result<Bytes> {
        let mut decoder = match self.zstd.take() {
            Some(decoder) => decoder,
            None => zstd::bulk::Decompressor::new().map_err(broken)?,
        };
        let mut room = self.spare().map_or_else(Vec::new, |mut spare| {
            spare.clear();
            Vec::from(spare)
        });
        room.reserve_exact(size);
        room.extend_from_slice(plain);
        let mut target = Cursor::new(&mut room);
        target.set_position(plain.len() as u64);
        let written = decoder.decompress_to_buffer(packed, &mut target);
        self.zstd = Some(decoder);
        written.map_err(broken)?;
        Ok(Bytes::from(room))
    }

    /// Members of RFC 1952 one behind the other. Their checksums are over what they stand for, which is several times as
    /// much as is stored, so they are not looked at when the stored bytes are known to be right.
    fn gzip(&mut self, packed: &[u8], target: &mut [u8], checked: bool) -> Result<()> {
        let inflate = self.gzip.get_or_insert_with(|| Decompress::new(false));
        let mut packed = packed;
        let mut target = target;
        loop {
            let body = gzip_body(packed)?;
            inflate.reset(false);
            let status = inflate
                .decompress(body, target, FlushDecompress::Finish)
                .map_err(broken)?;
            let place = |at: u64| usize::try_from(at).unwrap_or(usize::MAX);
            let (read, written) = (place(inflate.total_in()), place(inflate.total_out()));
            if status != Status::StreamEnd {
                return Err(wrong_size());
            }
            let mut trailer = Bounded::new(body.get(read..).unwrap_or_default());
            let sum = trailer.u32_le()?;
            let length = trailer.u32_le()?;
            let (member, room) = target
                .split_at_mut_checked(written)
                .ok_or_else(wrong_size)?;
            let same = u64::from(length) == member.len() as u64 & 0xffff_ffff
                && (checked || crc32fast::hash(member) == sum);
            if !same {
                return Err(Error::corrupt(
                    "a page is not as it was written: its checksum differs",
                ));
            }
            target = room;
            packed = body.get(read + 8..).unwrap_or_default();
            if packed.is_empty() {
                return exact(0, target);
            }
        }
    }
}

/// What follows a gzip member's header.
fn gzip_body(member: &[u8]) -> Result<&[u8]> {
    const HEADER_CHECK: u8 = 2;
    const EXTRA: u8 = 4;
    const NAME: u8 = 8;
    const COMMENT: u8 = 16;
    let mut cursor = Bounded::new(member);
    let [m0, m1, method, flags, ..] = cursor.array::<10>()?;
    if (m0, m1, method) != (0x1f, 0x8b, 8) {
        return Err(cursor.fault("a page is not the gzip stream it should be"));
    }
    if flags & EXTRA != 0 {
        let length = u16::from_le_bytes(cursor.array()?);
        cursor.take(length.into())?;
    }
    for text in [NAME, COMMENT] {
        while flags & text != 0 && cursor.u8()? != 0 {}
    }
    if flags & HEADER_CHECK != 0 {
        cursor.take(2)?;
    }
    Ok(member.get(cursor.position()..).unwrap_or_default())
}

fn lz4_block(packed: &[u8], target: &mut [u8]) -> Result<()> {
    let written = lz4_flex::block::decompress_into(packed, target).map_err(broken)?;
    exact(written, target)
}

/// The codec that the format has given up: Hadoop's framing by its name, and by mistake LZ4's own, or none.
///
/// ```text
/// size unpacked (u32, highest byte first) | size packed (the same) | block    one behind the other
/// ```
fn lz4_hadoop(packed: &[u8], target: &mut [u8]) -> Result<()> {
    if lz4_frames(packed, target).is_ok() {
        return Ok(());
    }
    let mut written = 0;
    let mut frame = lz4_flex::frame::FrameDecoder::new(packed);
    while let Some(room) = target.get_mut(written..).filter(|room| !room.is_empty()) {
        match frame.read(room) {
            Ok(0) | Err(_) => return lz4_block(packed, target),
            Ok(more) => written += more,
        }
    }
    Ok(())
}

fn lz4_frames(packed: &[u8], target: &mut [u8]) -> Result<()> {
    let mut cursor = Bounded::new(packed);
    let mut target = target;
    while !cursor.is_empty() {
        let size = u32::from_be_bytes(cursor.array()?);
        let length = u32::from_be_bytes(cursor.array()?);
        let block = cursor.take(usize::try_from(length).unwrap_or(usize::MAX))?;
        let size = usize::try_from(size).unwrap_or(usize::MAX);
        let (room, rest) = target.split_at_mut_checked(size).ok_or_else(wrong_size)?;
        lz4_block(block, room)?;
        target = rest;
    }
    exact(0, target)
}

/// Whether all of `target` is written.
fn exact(written: usize, target: &[u8]) -> Result<()> {
    match written == target.len() {
        true => Ok(()),
        false => Err(wrong_size()),
    }
}

fn wrong_size() -> Error {
    Error::corrupt("a page does not unpack to the size that it declares")
}

fn broken(error: impl Into<BoxError>) -> Error {
    Error::corrupt("a page cannot be unpacked").with_source(error)
}
