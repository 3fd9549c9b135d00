//! A pure-Rust stand-in for the `zstd` crate: just what `parquet` calls, over `rust-zstd`.

/// One-shot compression and decompression.
pub mod bulk {
    use std::io::{self, Cursor};
    use std::marker::PhantomData;

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
        lifetime: PhantomData<&'a ()>,
    }

    impl Decompressor<'_> {
        /// A decompressor to be used again and again.
        pub fn new() -> io::Result<Self> {
            Ok(Self {
                inner: rust_zstd::Decompressor::new(),
                lifetime: PhantomData,
            })
        }

        /// Decompresses `source` behind the cursor's position; the vector's capacity bounds the output.
        pub fn decompress_to_buffer(
            &mut self,
            source: &[u8],
            target: &mut Cursor<&mut Vec<u8>>,
        ) -> io::Result<usize> {
            let start = target.position() as usize;
            let vector = &mut **target.get_mut();
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
                    Ok(_) if written == vector.len() => {
                        break Err("the frame is larger than its page declares".to_owned());
                    }
                    Ok(_) if read == source.len() => break self.inner.finish(),
                    Ok(_) => {}
                }
            };
            vector.truncate(written);
            outcome.map_err(|message| io::Error::new(io::ErrorKind::InvalidData, message))?;
            target.set_position(written as u64);
            Ok(written - start)
        }
    }
}

/// Facts read from frame headers.
pub mod zstd_safe {
    /// The frame header is damaged.
    #[derive(Debug)]
    pub struct ContentSizeError;

    /// The content size that the first frame declares, if it does: see RFC 8878, 3.1.1.1.
    pub fn get_frame_content_size(source: &[u8]) -> Result<Option<u64>, ContentSizeError> {
        let descriptor = *source.get(4).ok_or(ContentSizeError)?;
        if source.get(..4) != Some(&0xFD2F_B528_u32.to_le_bytes()) {
            return Err(ContentSizeError);
        }
        let single_segment = descriptor & 0x20 != 0;
        let width = match (descriptor >> 6, single_segment) {
            (0, false) => return Ok(None),
            (0, true) => 1,
            (1, _) => 2,
            (2, _) => 4,
            _ => 8,
        };
        let dictionary = [0, 1, 2, 4][usize::from(descriptor & 3)];
        let at = 5 + usize::from(!single_segment) + dictionary;
        let bytes = source.get(at..at + width).ok_or(ContentSizeError)?;
        let mut value = [0; 8];
        value[..width].copy_from_slice(bytes);
        let size = u64::from_le_bytes(value);
        Ok(Some(if width == 2 { size + 256 } else { size }))
    }

    /// An upper bound for the compressed size of `size` bytes.
    pub fn compress_bound(size: usize) -> usize {
        size + (size >> 8) + 64
    }
}
