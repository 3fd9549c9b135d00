//! Messages to a schema, dictionaries and batches.

use std::collections::HashMap;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, RecordBatch};
use arrow::buffer::Buffer;
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use arrow::ipc::convert::try_fb_to_schema;
use arrow::ipc::reader::read_record_batch;
use arrow::ipc::{
    DictionaryBatch, Endianness, MessageHeader, MetadataVersion, Schema as IpcSchema,
};

use super::broken;
use super::check::{check_batch, check_schema};
use crate::codec::gather::{Runs, gather};
use crate::error::Result;

/// What the messages so far have told.
#[derive(Debug, Default)]
pub(super) struct Decoder {
    pub(super) schema: Option<SchemaRef>,
    dictionaries: HashMap<i64, ArrayRef>,
}

impl Decoder {
    /// Takes one message and its body; gives the batch that it may be.
    ///
    /// Errors: `InvalidArgument`, `Schema` and `LimitExceeded`, as in `check.rs`.
    pub(super) fn read(&mut self, message: &[u8], body: &Buffer) -> Result<Option<RecordBatch>> {
        let message = super::message(message)?;
        let version = message.version();
        if version < MetadataVersion::V4 {
            return Err(broken("a version of before Arrow 0.8"));
        }
        match message.header_type() {
            MessageHeader::Schema if self.schema.is_some() => Err(broken("a second schema")),
            MessageHeader::Schema => {
                let schema = message.header_as_schema();
                self.take_schema(schema.ok_or_else(|| broken("no schema"))?)?;
                Ok(None)
            }
            MessageHeader::RecordBatch => {
                let batch = message.header_as_record_batch();
                let batch = batch.ok_or_else(|| broken("no batch"))?;
                let schema = self.known()?;
                let types = schema.fields().iter().map(|field| field.data_type());
                check_batch(&batch, types, body.len())?;
                let read = read_record_batch(
                    body,
                    batch,
                    SchemaRef::clone(schema),
                    &self.dictionaries,
                    None,
                    &version,
                );
                read.map(Some).map_err(broken)
            }
            MessageHeader::DictionaryBatch => {
                let batch = message.header_as_dictionary_batch();
                self.take_dictionary(batch.ok_or_else(|| broken("no dictionary"))?, body, version)?;
                Ok(None)
            }
            MessageHeader::NONE => Ok(None),
            _ => Err(broken("a message of another kind")),
        }
    }

    pub(super) fn take_schema(&mut self, schema: IpcSchema<'_>) -> Result<()> {
        if schema.endianness() != Endianness::Little {
            return Err(broken("numbers of which the highest byte comes first"));
        }
        let schema = try_fb_to_schema(schema).map_err(broken)?;
        check_schema(&schema)?;
        self.schema = Some(Arc::new(schema));
        Ok(())
    }

    fn known(&self) -> Result<&SchemaRef> {
        self.schema
            .as_ref()
            .ok_or_else(|| broken("a batch before the schema"))
    }

    fn take_dictionary(
        &mut self,
        batch: DictionaryBatch<'_>,
        body: &Buffer,
        version: MetadataVersion,
    ) -> Result<()> {
        let schema = SchemaRef::clone(self.known()?);
        let unknown = || broken("a dictionary of no column");
        #[expect(deprecated, reason = "arrow's reader finds columns so")]
        let fields = schema.fields_with_dict_id(batch.id());
        let DataType::Dictionary(_, values) = fields.first().ok_or_else(unknown)?.data_type()
        else {
            return Err(unknown());
        };
        let data = batch
            .data()
            .ok_or_else(|| broken("a dictionary without values"))?;
        check_batch(&data, std::iter::once(values.as_ref()), body.len())?;
        // Arrow's own reader of dictionaries puts what is added to one behind it by a kernel of half a megabyte.
        let column = Schema::new(vec![Field::new("", values.as_ref().clone(), true)]);
        let column = Arc::new(column);
        let read = read_record_batch(body, data, column, &self.dictionaries, None, &version);
        let read = read.map_err(broken)?;
        let values = read.columns().first().ok_or_else(unknown)?;
        let values = match batch.isDelta() {
            false => Arc::clone(values),
            true => {
                let before = self.dictionaries.get(&batch.id());
                joined(
                    before.ok_or_else(|| broken("more of a dictionary that is not there"))?,
                    values,
                )?
            }
        };
        self.dictionaries.insert(batch.id(), values);
        Ok(())
    }
}

fn joined(before: &ArrayRef, more: &ArrayRef) -> Result<ArrayRef> {
    let mut runs = Runs::default();
    for (source, array) in (0..).zip([before, more]) {
        runs.extend(source, 0, u32::try_from(array.len()).map_err(broken)?);
    }
    gather(&[before, more], &runs)
}
