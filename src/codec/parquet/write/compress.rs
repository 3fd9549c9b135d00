//! Pages packed by the codec of their file.

use flate2::{Compress, Compression, FlushCompress, Status};

use crate::error::{Error, Result};

/// How pages are packed. Numbers and names are Parquet's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Codec {
    /// As they are.
    Uncompressed,
    /// Snappy.
    Snappy,
    /// Gzip, as Java writes unless told otherwise.
    #[default]
    Gzip,
    /// LZ4's block format.
    Lz4Raw,
}

impl Codec {
    /// The codec of an option's word, in any letter case.
    ///
    /// Errors: `Unsupported`, naming it, for every other word.
    pub fn parse(word: &str) -> Result<Self> {
        match word.to_ascii_lowercase().as_str() {
            "uncompressed" | "none" | "" => Ok(Self::Uncompressed),
            "snappy" => Ok(Self::Snappy),
            "gzip" => Ok(Self::Gzip),
            "lz4_raw" => Ok(Self::Lz4Raw),
            _ => Err(
                Error::unsupported("base files are not written with this codec")
                    .context("value", word)
                    .context("hint", "uncompressed, snappy, gzip or lz4_raw"),
            ),
        }
    }

    pub(super) fn number(self) -> i32 {
        match self {
            Self::Uncompressed => 0,
            Self::Snappy => 1,
            Self::Gzip => 2,
            Self::Lz4Raw => 7,
        }
    }
}

/// Java takes zlib's 6. That makes files by half a percent smaller than this one, and takes four tenths more time.
const LEVEL: u32 = 4;

/// So many bytes at the front of a page tell whether packing it is worth the time.
const SAMPLE: usize = 8 << 10;

/// Packs one page after the other; its tables are used again and again.
pub struct Compressor {
    codec: Codec,
    snappy: snap::raw::Encoder,
    deflate: Option<(Compress, Compress)>,
    scratch: Vec<u8>,
}

impl Compressor {
    /// A packer for one codec.
    pub fn new(codec: Codec) -> Self {
        Self {
            codec,
            snappy: snap::raw::Encoder::new(),
            deflate: None,
            scratch: Vec::new(),
        }
    }

    /// The codec.
    pub fn codec(&self) -> Codec {
        self.codec
    }

    /// The packed page, valid until the next call.
    pub(super) fn pack<'a>(&'a mut self, page: &'a [u8]) -> Result<&'a [u8]> {
        let broken = |e: Box<dyn std::error::Error + Send + Sync>| {
            Error::internal("a page could not be compressed").with_source(e)
        };
        match self.codec {
            Codec::Uncompressed => return Ok(page),
            Codec::Snappy => {
                let most = snap::raw::max_compress_len(page.len());
                if self.scratch.len() < most {
                    self.scratch.resize(most, 0);
                }
                let packed = self.snappy.compress(page, &mut self.scratch);
                let size = packed.map_err(|e| broken(e.into()))?;
                return Ok(self.scratch.get(..size).unwrap_or_default());
            }
            Codec::Lz4Raw => {
                let most = lz4_flex::block::get_maximum_output_size(page.len());
                if self.scratch.len() < most {
                    self.scratch.resize(most, 0);
                }
                let packed = lz4_flex::block::compress_into(page, &mut self.scratch);
                let size = packed.map_err(|e| broken(e.into()))?;
                return Ok(self.scratch.get(..size).unwrap_or_default());
            }
            Codec::Gzip => self.gzip(page).map_err(|e| broken(e.into()))?,
        }
        Ok(&self.scratch)
    }

    /// A gzip member: header, deflated bytes, checksum and size.
    fn gzip(&mut self, page: &[u8]) -> std::result::Result<(), flate2::CompressError> {
        let fresh = |level| Compress::new(Compression::new(level), false);
        let deflate = self.deflate.get_or_insert_with(|| (fresh(LEVEL), fresh(0)));
        self.scratch.clear();
        self.scratch
            .extend_from_slice(&[0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff]);
        let (packer, storer) = deflate;
        let packer = match shrinks(packer, page, &mut self.scratch)? {
            true => packer,
            false => storer,
        };
        deflated(packer, page, &mut self.scratch)?;
        let sum = crc32fast::hash(page);
        self.scratch.extend_from_slice(&sum.to_le_bytes());
        self.scratch
            .extend_from_slice(&(page.len() as u32).to_le_bytes());
        Ok(())
    }
}

/// Appends the whole of `page`, deflated.
fn deflated(
    packer: &mut Compress,
    page: &[u8],
    out: &mut Vec<u8>,
) -> std::result::Result<(), flate2::CompressError> {
    packer.reset();
    loop {
        let read = usize::try_from(packer.total_in()).unwrap_or(page.len());
        let rest = page.get(read..).unwrap_or_default();
        // Deflate adds five bytes to each 16 kB that do not shrink.
        out.reserve(rest.len() + rest.len() / 1024 + 64);
        if packer.compress_vec(rest, out, FlushCompress::Finish)? == Status::StreamEnd {
            return Ok(());
        }
    }
}

/// Whether the middle of a page shrinks: numbers at random take most of the time and do not. Leaves `out` as it was.
fn shrinks(
    packer: &mut Compress,
    page: &[u8],
    out: &mut Vec<u8>,
) -> std::result::Result<bool, flate2::CompressError> {
    if page.len() < 4 * SAMPLE {
        return Ok(true);
    }
    let middle = (page.len() - SAMPLE) / 2;
    let sample = page.get(middle..middle + SAMPLE).unwrap_or_default();
    let before = out.len();
    deflated(packer, sample, out)?;
    let size = out.len() - before;
    out.truncate(before);
    Ok(size < SAMPLE - SAMPLE / 20)
}
