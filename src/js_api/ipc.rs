//! Record batches as Arrow IPC, written once, into memory that JavaScript owns.

use arrow::array::RecordBatch;
use arrow::buffer::Buffer;
use arrow::datatypes::Schema;
use arrow::error::ArrowError;
use arrow::ipc::writer::StreamEncoder;
use js_sys::Uint8Array;

use crate::error::{Error, Result};

/// The schema message that every stream of this schema begins with, followed by the end-of-stream marker: an IPC
/// stream without batches. The marker is its last eight bytes.
pub(super) fn schema_stream(schema: &Schema) -> Result<Uint8Array> {
    let encoder = StreamEncoder::try_new(schema).map_err(refused)?;
    Ok(gather(&encoder.finish().map_err(refused)?))
}

/// One IPC stream of its own: schema message, batch, end-of-stream marker.
///
/// The buffers of the batch are copied once, from wasm memory into the array that is returned.
pub(super) fn batch_stream(batch: &RecordBatch) -> Result<Uint8Array> {
    let mut encoder = StreamEncoder::try_new(batch.schema_ref()).map_err(refused)?;
    let mut buffers = encoder.encode(batch).map_err(refused)?;
    buffers.extend(encoder.finish().map_err(refused)?);
    Ok(gather(&buffers))
}

fn gather(buffers: &[Buffer]) -> Uint8Array {
    let length = buffers.iter().map(|buffer| js_length(buffer.len())).sum();
    let out = Uint8Array::new_with_length(length);
    let mut offset = 0;
    for buffer in buffers {
        let end = offset + js_length(buffer.len());
        out.subarray(offset, end).copy_from(buffer.as_slice());
        offset = end;
    }
    out
}

/// Lengths of wasm32 fit 32 bits.
fn js_length(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}

fn refused(source: ArrowError) -> Error {
    Error::internal("a batch could not be written as Arrow IPC").with_source(source)
}
