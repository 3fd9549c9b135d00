//! Results of reads as Parquet.

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use bytes::Bytes;
use js_sys::{Array, Uint8Array};
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

use super::error;
use crate::codec::ipc::IpcStream;
use crate::codec::parquet::Codec;
use crate::error::{Error, Result};
use crate::write::ResultFile;

/// One Parquet file that is being made of batches.
#[wasm_bindgen]
pub struct ParquetFile {
    codec: Codec,
    file: Option<ResultFile>,
}

#[wasm_bindgen]
impl ParquetFile {
    /// Begins a file; the codec is one of the public words.
    #[wasm_bindgen(constructor)]
    pub fn new(codec: &str) -> std::result::Result<ParquetFile, JsValue> {
        let codec = Codec::parse(codec).map_err(|error| error::to_js(&error))?;
        Ok(Self { codec, file: None })
    }

    /// Adds the batches of an IPC stream, which may have none: the first one says which columns there are. Gives a list of
    /// pieces of the file.
    pub fn push(&mut self, ipc: &Uint8Array) -> std::result::Result<Array, JsValue> {
        let pushed = self.pushed(ipc);
        pushed
            .map(|pieces| listed(&pieces))
            .map_err(|error| error::to_js(&error))
    }

    /// The last pieces.
    pub fn finish(&mut self) -> std::result::Result<Array, JsValue> {
        let file = self.file.take();
        let file = file.ok_or_else(|| Error::internal("the file has no columns yet"));
        let last = file.and_then(ResultFile::finish);
        last.map(|pieces| listed(&pieces))
            .map_err(|error| error::to_js(&error))
    }
}

impl ParquetFile {
    fn pushed(&mut self, ipc: &Uint8Array) -> Result<Vec<Bytes>> {
        let (schema, batches) = decoded(ipc)?;
        let file = match &mut self.file {
            Some(file) => file,
            None => self.file.insert(ResultFile::new(&schema, self.codec)?),
        };
        let mut pieces = Vec::new();
        for batch in &batches {
            pieces.extend(file.push(batch)?);
        }
        Ok(pieces)
    }
}

/// Each a copy outside of wasm memory.
fn listed(pieces: &[Bytes]) -> Array {
    pieces
        .iter()
        .map(|piece| Uint8Array::from(piece.as_ref()))
        .collect()
}

fn decoded(ipc: &Uint8Array) -> Result<(SchemaRef, Vec<RecordBatch>)> {
    let mut stream = IpcStream::new();
    let batches = stream.push(ipc.to_vec())?;
    stream.finish()?;
    let schema = stream.schema();
    let schema = schema.ok_or_else(|| Error::invalid_argument("not the Arrow IPC of a result"))?;
    Ok((schema, batches))
}
