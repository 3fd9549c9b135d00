use std::mem;
use std::sync::Arc;

use arrow::array::{ArrayData, ArrayRef, make_array};
use arrow::buffer::Buffer;
use arrow::datatypes::{DataType, Field, i256};

use super::column::{Column, Step, Texts, Values};
use crate::error::{Error, Result};

impl Column {
    /// The column's array; the column is empty again.
    ///
    /// Errors: `Corrupt` for a text that is not UTF-8.
    pub(super) fn finish(&mut self) -> Result<ArrayRef> {
        Ok(make_array(self.data()?))
    }

    fn data(&mut self) -> Result<ArrayData> {
        let length = self.len();
        let nulls = self.valid.finish();
        let (buffers, children) = self.values.parts(&self.data_type)?;
        if self.data_type == DataType::Null {
            return Ok(ArrayData::new_null(&DataType::Null, length));
        }
        let made = ArrayData::builder(self.data_type.clone())
            .len(length)
            .nulls(nulls)
            .buffers(buffers)
            .child_data(children)
            .build();
        made.map_err(|error| {
            Error::corrupt("an Avro column holds what its type does not").with_source(error)
        })
    }
}

fn taken<T>(values: &mut Vec<T>) -> Buffer
where
    T: arrow::datatypes::ArrowNativeType,
{
    Buffer::from_vec(mem::take(values))
}

fn ends(ends: &mut Vec<i32>) -> Buffer {
    Buffer::from_vec(mem::replace(ends, vec![0]))
}

impl Texts {
    fn buffers(&mut self) -> Vec<Buffer> {
        vec![ends(&mut self.ends), taken(&mut self.data)]
    }
}

impl Values {
    /// The buffers and children of the array, in Arrow's order.
    fn parts(&mut self, data_type: &DataType) -> Result<(Vec<Buffer>, Vec<ArrayData>)> {
        let buffer = match self {
            Self::Null => return Ok((vec![], vec![])),
            Self::Boolean(values) => values.finish().into_inner(),
            Self::Int(values) => taken(values),
            Self::Long(values) => taken(values),
            Self::Float(values) => taken(values),
            Self::Double(values) | Self::FloatOrDouble(_, values) => taken(values),
            Self::Fixed(_, values) => taken(values),
            Self::Decimal(_, values) => taken(values),
            Self::BigDecimal(_, values) => taken::<i256>(values),
            Self::Bytes(texts) | Self::Enum(_, texts) => return Ok((texts.buffers(), vec![])),
            Self::Record(steps) => {
                let columns = steps.iter_mut().filter_map(|step| match step {
                    Step::Read(column) => Some(column.data()),
                    Step::Skip(_) => None,
                });
                return Ok((vec![], columns.collect::<Result<_>>()?));
            }
            Self::Members(columns) => {
                let columns = columns.iter_mut().map(Column::data);
                return Ok((vec![], columns.collect::<Result<_>>()?));
            }
            Self::List(offsets, items) => return Ok((vec![ends(offsets)], vec![items.data()?])),
            Self::Map(offsets, keys, values) => {
                let entries = entries(data_type, keys, values.data()?)?;
                return Ok((vec![ends(offsets)], vec![entries]));
            }
        };
        Ok((vec![buffer], vec![]))
    }
}

/// The struct of keys and values under a map.
fn entries(data_type: &DataType, keys: &mut Texts, values: ArrayData) -> Result<ArrayData> {
    let lost = || Error::internal("a map column is not of a map's type");
    let DataType::Map(entries, _) = data_type else {
        return Err(lost());
    };
    let length = values.len();
    let fault = |error: arrow::error::ArrowError| {
        Error::corrupt("a map's keys are not UTF-8").with_source(error)
    };
    let key_type = match entries.data_type() {
        DataType::Struct(fields) => fields
            .first()
            .map(|key: &Arc<Field>| key.data_type().clone()),
        _ => None,
    };
    let keys = ArrayData::builder(key_type.ok_or_else(lost)?)
        .len(length)
        .buffers(keys.buffers())
        .build()
        .map_err(fault)?;
    ArrayData::builder(entries.data_type().clone())
        .len(length)
        .child_data(vec![keys, values])
        .build()
        .map_err(fault)
}
