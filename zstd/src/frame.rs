//! The layout of frames, as far as it bounds what they decode to: RFC 8878, 3.1.1.
//!
//! ```text
//! magic 28 B5 2F FD | descriptor | window (0–1) | dictionary id (0–4) | content size (0–8) | blocks | checksum (0 or 4)
//! block: 3 bytes, lowest first: last (1 bit) | kind (2 bits: raw, RLE, compressed) | size (21 bits)
//! skippable: magic 5x 2A 4D 18 | size (4 bytes) | bytes
//! ```

const MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
const SKIPPABLE: u32 = 0x184d_2a50;

/// No block decodes to more.
const MAX_BLOCK: usize = 128 << 10;

/// What a frame's header declares.
pub(crate) struct Header {
    pub(crate) content_size: Option<u64>,
    length: usize,
    checksum: usize,
}

impl Header {
    /// The header at the front of `source`, or `None` when there is no whole one.
    pub(crate) fn read(source: &[u8]) -> Option<Self> {
        if source.get(..4)? != MAGIC {
            return None;
        }
        let descriptor = *source.get(4)?;
        let single_segment = descriptor & 0x20 != 0;
        let width = match (descriptor >> 6, single_segment) {
            (0, false) => 0,
            (0, true) => 1,
            (1, _) => 2,
            (2, _) => 4,
            _ => 8,
        };
        let dictionary = match descriptor & 3 {
            3 => 4,
            width => usize::from(width),
        };
        let at = 5 + usize::from(!single_segment) + dictionary;
        let mut size = [0; 8];
        size.get_mut(..width)?
            .copy_from_slice(source.get(at..at + width)?);
        let size = u64::from_le_bytes(size);
        // Two bytes count from 256 on, since one byte reaches to 255.
        let size = if width == 2 { size + 256 } else { size };
        Some(Self {
            content_size: (width > 0).then_some(size),
            length: at + width,
            checksum: if descriptor & 4 != 0 { 4 } else { 0 },
        })
    }
}

/// The most that the frames of `source` decode to, by their blocks; `None` when they are cut or broken.
pub(crate) fn decoded_bound(source: &[u8]) -> Option<usize> {
    let mut bound = 0_usize;
    let mut rest = source;
    while !rest.is_empty() {
        let magic = u32::from_le_bytes(rest.get(..4)?.try_into().ok()?);
        if magic & !0xf == SKIPPABLE {
            let size = u32::from_le_bytes(rest.get(4..8)?.try_into().ok()?);
            rest = rest.get(8..)?.get(usize::try_from(size).ok()?..)?;
            continue;
        }
        let header = Header::read(rest)?;
        rest = rest.get(header.length..)?;
        loop {
            let block = u32::from_le_bytes([*rest.first()?, *rest.get(1)?, *rest.get(2)?, 0]);
            let size = usize::try_from(block >> 3).ok()?;
            let (stored, decoded) = match (block >> 1) & 3 {
                0 => (size, size),
                1 => (1, size),
                2 => (size, MAX_BLOCK),
                _ => return None,
            };
            bound = bound.checked_add(decoded)?;
            rest = rest.get(3 + stored..)?;
            if block & 1 != 0 {
                break;
            }
        }
        rest = rest.get(header.checksum..)?;
    }
    Some(bound)
}
