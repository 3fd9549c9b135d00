//! Rows of a read as one Parquet file of their own, which is no part of any table.

use arrow::array::{RecordBatch, StringArray};
use arrow::datatypes::{Schema, SchemaRef};
use bytes::Bytes;

use crate::codec::parquet::{Codec, Compressor, FileSchema, FileWriter, Rows, Source};
use crate::error::{Error, Result};

/// Bytes of an open row group after which it ends.
const GROUP: usize = 32 << 20;

/// A Parquet file that is being made, bit by bit: what is finished is given away at once.
pub struct ResultFile {
    schema: SchemaRef,
    writer: FileWriter,
    packer: Compressor,
}

impl ResultFile {
    /// Begins a file.
    ///
    /// Errors: as [`FileSchema::of_arrow`].
    pub fn new(schema: &Schema, codec: Codec) -> Result<Self> {
        let file = FileSchema::of_arrow(schema)?;
        let sources = vec![Source::Array; schema.fields().len()];
        Ok(Self {
            schema: SchemaRef::new(schema.clone()),
            writer: FileWriter::new(&file, &sources)?,
            packer: Compressor::new(codec),
        })
    }

    /// Adds rows, and gives the bytes that are finished.
    ///
    /// Errors: `InvalidArgument` for a batch of other columns.
    pub fn push(&mut self, batch: &RecordBatch) -> Result<Vec<Bytes>> {
        let types = |schema: &Schema| -> Vec<_> {
            let fields = schema.fields().iter();
            fields.map(|field| field.data_type().clone()).collect()
        };
        if types(&batch.schema()) != types(&self.schema) {
            return Err(Error::invalid_argument(
                "the batches of a result differ in their columns",
            ));
        }
        let rows: Rows<'_, StringArray> = Rows {
            arrays: batch.columns(),
            texts: &[],
            count: batch.num_rows(),
        };
        self.writer.push(&rows, &mut self.packer)?;
        if self.writer.memory() > GROUP {
            self.writer.finish_group(&mut self.packer)?;
        }
        Ok(self.writer.take())
    }

    /// Ends the file, and gives its last bytes.
    pub fn finish(mut self) -> Result<Vec<Bytes>> {
        let (bytes, _) = self.writer.finish(&[], &mut self.packer)?;
        Ok(bytes)
    }
}
