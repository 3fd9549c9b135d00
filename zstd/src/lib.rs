//! A pure-Rust stand-in for the `zstd` crate: just what `parquet` calls, over `rust-zstd`.
//!
//! 1. What comes out is never larger than the room given, and no more than about twice that is ever held.
//! 2. A page may hold several frames, skippable ones too; what follows them that is no frame is an error.
//! 3. Frames with and without a declared content size are read; Spark writes them without, hudi-rs with.
#![warn(
    missing_docs,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)]
#![cfg_attr(
    test,
    allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)
)]

mod frame;

/// One-shot compression and decompression.
pub mod bulk {
    use std::io::{self, Cursor};
    use std::marker::PhantomData;

    use crate::frame;

    /// Frames whose blocks could come to this much more than the room may still be read in one pass: an encoder may end
    /// blocks early.
    const SLACK: usize = 256 << 10;

    /// The largest window kept by the slow path: 8 MiB, which every level below "ultra" stays within.
    const WINDOW_LOG: u32 = 23;

    /// Compresses whole buffers.
    #[derive(Default)]
    pub struct Compressor<'a>(PhantomData<&'a ()>);

    impl Compressor<'_> {
        /// A compressor; the level is not used, since this build reads only.
        pub fn new(_level: i32) -> io::Result<Self> {
            Ok(Self::default())
        }

        /// Always refused: this build reads zstd and does not write it.
        pub fn compress_to_buffer(
            &mut self,
            _source: &[u8],
            _target: &mut Cursor<&mut Vec<u8>>,
        ) -> io::Result<usize> {
            Err(io::Error::new(
                io::ErrorKind::Unsupported,
                "zstd is read, not written",
            ))
        }
    }

    /// Decompresses whole buffers.
    pub struct Decompressor<'a> {
        inner: rust_zstd::Decompressor,
        scratch: Vec<u8>,
        lifetime: PhantomData<&'a ()>,
    }

    impl Decompressor<'_> {
        /// A decompressor to be used again and again.
        pub fn new() -> io::Result<Self> {
            let mut inner = rust_zstd::Decompressor::new();
            inner.set_window_log_max(WINDOW_LOG);
            Ok(Self {
                inner,
                scratch: Vec::new(),
                lifetime: PhantomData,
            })
        }

        /// Decompresses `source` behind the cursor's position; the vector's capacity bounds the output.
        pub fn decompress_to_buffer(
            &mut self,
            source: &[u8],
            target: &mut Cursor<&mut Vec<u8>>,
        ) -> io::Result<usize> {
            let start = usize::try_from(target.position()).unwrap_or(usize::MAX);
            let vector = &mut **target.get_mut();
            let room = vector.capacity().checked_sub(start);
            let room = room.ok_or_else(|| invalid("the cursor is past the buffer".to_owned()))?;
            let one_pass = frame::decoded_bound(source)
                .is_some_and(|bound| bound <= room.saturating_add(room.max(SLACK)));
            let written = match (one_pass, start) {
                (true, 0) => self.one_pass(source, vector, room),
                (true, _) => self.one_pass_behind(source, vector, start, room),
                (false, _) => self.in_steps(source, vector, start),
            };
            let written = written.map_err(invalid)?;
            target.set_position((start + written) as u64);
            Ok(written)
        }

        /// Straight into the target, without the ring buffer and its copy.
        fn one_pass(
            &mut self,
            source: &[u8],
            vector: &mut Vec<u8>,
            room: usize,
        ) -> Result<usize, String> {
            self.inner.decompress_into(source, vector)?;
            if vector.len() > room {
                vector.clear();
                return Err(TOO_LARGE.to_owned());
            }
            Ok(vector.len())
        }

        /// As `one_pass`, by way of a buffer, since the decoder begins where a vector does.
        fn one_pass_behind(
            &mut self,
            source: &[u8],
            vector: &mut Vec<u8>,
            start: usize,
            room: usize,
        ) -> Result<usize, String> {
            let mut scratch = std::mem::take(&mut self.scratch);
            let written = self.one_pass(source, &mut scratch, room);
            if written.is_ok() {
                vector.resize(start, 0);
                vector.extend_from_slice(&scratch);
            }
            self.scratch = scratch;
            written
        }

        /// A piece at a time, so that frames that declare no bound stop at the room there is.
        fn in_steps(
            &mut self,
            source: &[u8],
            vector: &mut Vec<u8>,
            start: usize,
        ) -> Result<usize, String> {
            vector.resize(vector.capacity(), 0);
            let (mut read, mut written) = (0, start);
            self.inner.reset();
            let outcome = loop {
                match self
                    .inner
                    .decompress_stream(source, &mut read, vector, &mut written)
                {
                    Err(message) => break Err(message),
                    Ok(0) if read == source.len() => break Ok(()),
                    Ok(_) if written == vector.len() => break Err(TOO_LARGE.to_owned()),
                    Ok(_) if read == source.len() => break self.inner.finish(),
                    Ok(_) => {}
                }
            };
            vector.truncate(written);
            outcome.map(|()| written - start)
        }
    }

    const TOO_LARGE: &str = "the frames are larger than their page declares";

    fn invalid(message: String) -> io::Error {
        io::Error::new(io::ErrorKind::InvalidData, message)
    }
}

/// Facts read from frame headers.
pub mod zstd_safe {
    use crate::frame;

    /// The frame header is damaged.
    #[derive(Debug)]
    pub struct ContentSizeError;

    /// The content size that the first frame declares, if it does.
    pub fn get_frame_content_size(source: &[u8]) -> Result<Option<u64>, ContentSizeError> {
        let header = frame::Header::read(source).ok_or(ContentSizeError)?;
        Ok(header.content_size)
    }

    /// An upper bound for the compressed size of `size` bytes.
    pub fn compress_bound(size: usize) -> usize {
        size + (size >> 8) + 64
    }
}

#[cfg(test)]
mod tests;
