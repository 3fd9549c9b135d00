//! A stream, in whatever pieces it comes.
//!
//! ```text
//! ff ff ff ff │ u32 size │ message of that size │ body of the message's bodyLength │ … │ ff ff ff ff │ 00 00 00 00
//! ```
//!
//! Streams of before Arrow 0.15 lack the four bytes in front.

use arrow::array::RecordBatch;
use arrow::buffer::Buffer;
use arrow::datatypes::SchemaRef;

use super::decoder::Decoder;
use super::{broken, message};
use crate::error::Result;

const CONTINUATION: [u8; 4] = [0xff; 4];

/// A stream that is being read.
#[derive(Debug, Default)]
pub struct IpcStream {
    decoder: Decoder,
    stage: Stage,
    /// The beginning of what the stage waits for.
    held: Vec<u8>,
}

/// What comes next.
#[derive(Debug, Default)]
enum Stage {
    #[default]
    Prefix,
    Size,
    Message(usize),
    Body(Buffer, usize),
    Over,
}

impl IpcStream {
    /// A stream of which nothing has come yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// The schema, once it has come.
    pub fn schema(&self) -> Option<SchemaRef> {
        self.decoder.schema.clone()
    }

    /// The batches that are whole with these bytes.
    ///
    /// Errors: `InvalidArgument` for what is no Arrow IPC; `Schema` for columns of a type that is not taken; `LimitExceeded`.
    pub fn push(&mut self, bytes: Vec<u8>) -> Result<Vec<RecordBatch>> {
        let (mut rest, mut batches) = (Buffer::from(bytes), Vec::new());
        while let Some(piece) = self.piece(&mut rest) {
            batches.extend(self.step(piece)?);
        }
        match rest.is_empty() {
            true => Ok(batches),
            false => Err(broken("bytes behind the end")),
        }
    }

    /// As [`push`](Self::push), up to the schema: what comes behind it is of no interest, and neither is what is wrong with it.
    pub(super) fn push_schema(&mut self, bytes: Vec<u8>) -> Result<()> {
        let mut rest = Buffer::from(bytes);
        while self.decoder.schema.is_none()
            && let Some(piece) = self.piece(&mut rest)
        {
            self.step(piece)?;
        }
        Ok(())
    }

    /// Says that nothing more comes.
    ///
    /// Errors: `InvalidArgument` in the middle of a message.
    pub fn finish(&self) -> Result<()> {
        match self.stage {
            Stage::Over => Ok(()),
            Stage::Prefix if self.held.is_empty() => Ok(()),
            _ => Err(broken("the stream ends in the middle of a message")),
        }
    }

    /// All that the stage waits for, once it is there.
    fn piece(&mut self, rest: &mut Buffer) -> Option<Buffer> {
        let need = match &self.stage {
            Stage::Prefix | Stage::Size => 4,
            Stage::Message(size) | Stage::Body(_, size) => *size,
            Stage::Over => return None,
        };
        if self.held.is_empty() && rest.len() >= need {
            let piece = rest.slice_with_length(0, need);
            rest.advance(need);
            return Some(piece);
        }
        let missing = need - self.held.len();
        let count = rest.len().min(missing);
        // At most doubled, as the need is only declared, and never beyond it: a batch may be much of all memory.
        if self.held.capacity() - self.held.len() < count {
            let more = missing.min(count.max(self.held.len()));
            self.held.reserve_exact(more);
        }
        self.held
            .extend_from_slice(rest.get(..count).unwrap_or_default());
        rest.advance(count);
        (self.held.len() == need).then(|| Buffer::from(std::mem::take(&mut self.held)))
    }

    fn step(&mut self, piece: Buffer) -> Result<Option<RecordBatch>> {
        match std::mem::take(&mut self.stage) {
            Stage::Prefix if piece.as_slice() == CONTINUATION => self.stage = Stage::Size,
            Stage::Prefix | Stage::Size => {
                let size = piece.as_slice().try_into().map_err(broken)?;
                self.stage = match u32::from_le_bytes(size) {
                    0 => Stage::Over,
                    size => Stage::Message(usize::try_from(size).map_err(broken)?),
                };
            }
            Stage::Message(_) => {
                let message = message(&piece)?;
                let body = usize::try_from(message.bodyLength()).map_err(broken)?;
                self.stage = Stage::Body(piece, body);
            }
            Stage::Body(message, _) => return self.decoder.read(&message, &piece),
            Stage::Over => {}
        }
        Ok(None)
    }
}
