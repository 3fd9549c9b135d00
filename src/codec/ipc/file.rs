//! A file, by the blocks that its footer names.
//!
//! ```text
//! "ARROW1" 00 00 │ messages, as in a stream │ footer │ i32 size of the footer │ "ARROW1"
//! ```
//!
//! The schema is the footer's: some writers leave it out of the messages.

use std::collections::VecDeque;
use std::ops::Range;

use arrow::array::RecordBatch;
use arrow::buffer::Buffer;
use arrow::datatypes::{Schema, SchemaRef};
use arrow::ipc::reader::read_footer_length;
use arrow::ipc::{Block, Footer, root_as_footer};

use super::broken;
use super::decoder::Decoder;
use super::stream::IpcStream;
use crate::error::Result;

/// What an Arrow file begins and ends with.
const MAGIC: &[u8] = b"ARROW1";
const CONTINUATION: &[u8] = &[0xff; 4];

/// A file whose batches come one at a time.
#[derive(Debug)]
pub struct IpcFile {
    bytes: Buffer,
    decoder: Decoder,
    schema: SchemaRef,
    blocks: VecDeque<Message>,
}

/// Where a block's message and body lie.
#[derive(Debug)]
struct Message {
    message: Range<usize>,
    body: Range<usize>,
}

/// The schema that a stream or a file begins with.
///
/// Errors: as [`IpcStream::push`]; `InvalidArgument` when there is none.
pub fn schema_of(bytes: Vec<u8>) -> Result<Schema> {
    let schema = if IpcFile::is_one(&bytes) {
        let mut decoder = Decoder::default();
        let (footer, _) = footer(&bytes)?;
        decoder.take_schema(footer.schema().ok_or_else(|| broken("no schema"))?)?;
        decoder.schema
    } else {
        let mut stream = IpcStream::new();
        stream.push_schema(bytes)?;
        stream.schema()
    };
    let schema = schema.ok_or_else(|| broken("no schema"))?;
    Ok(schema.as_ref().clone())
}

impl IpcFile {
    /// Whether bytes begin like a file.
    pub fn is_one(bytes: &[u8]) -> bool {
        bytes.starts_with(MAGIC)
    }

    /// Reads the footer and the dictionaries of a file.
    ///
    /// Errors: as [`IpcStream::push`].
    pub fn parse(bytes: Vec<u8>) -> Result<Self> {
        let mut decoder = Decoder::default();
        let (footer, end) = footer(&bytes)?;
        decoder.take_schema(footer.schema().ok_or_else(|| broken("no schema"))?)?;
        let mut room = end as u64;
        let mut placed = |block: &Block| place(&bytes, block, end, &mut room);
        let mut dictionaries = Vec::new();
        for block in footer.dictionaries().iter().flatten() {
            dictionaries.push(placed(block)?);
        }
        let mut blocks = VecDeque::new();
        for block in footer.recordBatches().iter().flatten() {
            blocks.push_back(placed(block)?);
        }
        let schema = decoder.schema.clone().ok_or_else(|| broken("no schema"))?;
        let mut file = Self {
            bytes: Buffer::from(bytes),
            decoder,
            schema,
            blocks,
        };
        for dictionary in dictionaries {
            file.read(&dictionary)?;
        }
        Ok(file)
    }

    /// The columns of every batch.
    pub fn schema(&self) -> SchemaRef {
        SchemaRef::clone(&self.schema)
    }

    fn read(&mut self, block: &Message) -> Result<Option<RecordBatch>> {
        let Message { message, body } = block;
        let message = self.bytes.slice_with_length(message.start, message.len());
        let body = self.bytes.slice_with_length(body.start, body.len());
        self.decoder.read(&message, &body)
    }
}

impl Iterator for IpcFile {
    type Item = Result<RecordBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        while let Some(block) = self.blocks.pop_front() {
            if let Some(batch) = self.read(&block).transpose() {
                return Some(batch);
            }
        }
        None
    }
}

/// The footer, and where it begins.
fn footer(bytes: &[u8]) -> Result<(Footer<'_>, usize)> {
    let short = || broken("the file ends before its footer");
    let (rest, end) = bytes.split_last_chunk::<10>().ok_or_else(short)?;
    let length = read_footer_length(*end).map_err(broken)?;
    let start = rest.len().checked_sub(length).ok_or_else(short)?;
    let footer = root_as_footer(rest.get(start..).ok_or_else(short)?)
        .map_err(|_| broken("a footer that is none"))?;
    Ok((footer, start))
}

/// Where a block lies before `end`. All blocks together fit into `room`: none is there twice.
fn place(bytes: &[u8], block: &Block, end: usize, room: &mut u64) -> Result<Message> {
    let beyond = || broken("a block beyond the file");
    let number = |value: i64| usize::try_from(value).map_err(broken);
    let start = number(block.offset())?;
    let (head, body) = (
        number(block.metaDataLength().into())?,
        number(block.bodyLength())?,
    );
    let split = start.checked_add(head).ok_or_else(beyond)?;
    let last = split
        .checked_add(body)
        .filter(|last| *last <= end)
        .ok_or_else(beyond)?;
    *room = room
        .checked_sub((last - start) as u64)
        .ok_or_else(|| broken("a block twice"))?;
    let prefix = bytes.get(start..split).ok_or_else(beyond)?;
    let (before, sized) = match prefix.strip_prefix(CONTINUATION) {
        Some(rest) => (8, rest),
        None => (4, prefix),
    };
    let size = sized.first_chunk::<4>().ok_or_else(beyond)?;
    let size = usize::try_from(u32::from_le_bytes(*size)).map_err(broken)?;
    let first = start + before;
    let message = first
        ..first
            .checked_add(size)
            .filter(|end| *end <= split)
            .ok_or_else(beyond)?;
    let told = super::message(bytes.get(message.clone()).ok_or_else(beyond)?)?;
    match u64::try_from(told.bodyLength()) {
        Ok(length) if length <= body as u64 => Ok(Message {
            message,
            body: split..last,
        }),
        _ => Err(beyond()),
    }
}
