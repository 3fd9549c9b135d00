//! What a schema and a batch declare, before memory is taken for it.

use arrow::datatypes::{DataType, Fields, Schema};
use arrow::ipc::{Buffer, FieldNode, RecordBatch};

use super::broken;
use crate::error::{Error, Result};
use crate::schema::type_name;

/// Values that a column may have whatever its bytes: those of nulls and of run ends take none.
const FREE_VALUES: u64 = 1 << 24;

/// Refuses types that are not taken, and widths that no array has.
///
/// Errors: `Schema` with the `field`; `InvalidArgument`.
pub(super) fn check_schema(schema: &Schema) -> Result<()> {
    let fields = schema.fields().iter();
    fields
        .into_iter()
        .try_for_each(|field| check_type(field.name(), field.data_type()))
}

fn check_type(path: &str, data_type: &DataType) -> Result<()> {
    let below = |fields: &Fields| {
        let each = |name: &str| format!("{path}.{name}");
        let mut fields = fields.iter();
        fields.try_for_each(|field| check_type(&each(field.name()), field.data_type()))
    };
    match data_type {
        DataType::Union(..) | DataType::ListView(_) | DataType::LargeListView(_) => {
            Err(Error::schema("a column of this type is not taken")
                .context("field", path)
                .context("type", type_name(data_type)))
        }
        DataType::FixedSizeBinary(width) if *width <= 0 => Err(broken("bytes of no width")),
        DataType::FixedSizeList(_, size) if *size < 0 => Err(broken("lists of no length")),
        DataType::RunEndEncoded(ends, _)
            if !matches!(
                ends.data_type(),
                DataType::Int16 | DataType::Int32 | DataType::Int64
            ) =>
        {
            Err(broken("run ends that are no numbers of rows"))
        }
        DataType::List(item) | DataType::LargeList(item) | DataType::FixedSizeList(item, _) => {
            check_type(&format!("{path}.{}", item.name()), item.data_type())
        }
        DataType::Map(entries, _) => match entries.data_type() {
            DataType::Struct(pair) if pair.len() == 2 => check_type(path, entries.data_type()),
            _ => Err(broken("a map of other than keys and values")),
        },
        DataType::Struct(fields) => below(fields),
        DataType::RunEndEncoded(_, values) => check_type(path, values.data_type()),
        DataType::Dictionary(_, values) => check_type(path, values),
        _ => Ok(()),
    }
}

/// Refuses a batch whose counts and places do not fit a body of so many bytes.
///
/// Errors: `InvalidArgument`; `LimitExceeded` for more values than could be unfolded.
pub(super) fn check_batch<'a>(
    batch: &RecordBatch<'_>,
    types: impl Iterator<Item = &'a DataType>,
    body: usize,
) -> Result<()> {
    if batch.compression().is_some() {
        return Err(broken("compressed buffers"));
    }
    let nodes: Vec<FieldNode> = batch.nodes().into_iter().flatten().copied().collect();
    let buffers: Vec<Buffer> = batch.buffers().into_iter().flatten().copied().collect();
    let views: Vec<i64> = batch.variadicBufferCounts().into_iter().flatten().collect();
    let mut arrays = Arrays {
        nodes: nodes.into_iter(),
        buffers: buffers.into_iter(),
        views: views.into_iter(),
        body: body as u64,
        most: FREE_VALUES.max(body as u64 * 8).min(i32::MAX as u64),
    };
    arrays.length(batch.length(), 0)?;
    for data_type in types {
        arrays.check(data_type)?;
    }
    Ok(())
}

/// What a batch tells of its arrays, in the order in which it has them.
struct Arrays {
    nodes: std::vec::IntoIter<FieldNode>,
    buffers: std::vec::IntoIter<Buffer>,
    /// How many buffers each array of views has beside the usual two.
    views: std::vec::IntoIter<i64>,
    body: u64,
    /// The most values of one array.
    most: u64,
}

impl Arrays {
    fn length(&self, length: i64, nulls: i64) -> Result<u64> {
        let (Ok(length), Ok(nulls)) = (u64::try_from(length), u64::try_from(nulls)) else {
            return Err(broken("an array of less than no values"));
        };
        if nulls > length {
            return Err(broken("an array of more nulls than values"));
        }
        match length > self.most {
            true => Err(Error::limit_exceeded("a batch of too many rows")
                .context("rows", length)
                .context("limit", self.most)
                .context("hint", "give the rows in several batches")),
            false => Ok(length),
        }
    }

    /// The next buffers: each lies within the body and holds whole values of so many bytes.
    fn take(&mut self, widths: &[usize]) -> Result<()> {
        for width in widths {
            let buffer = self
                .buffers
                .next()
                .ok_or_else(|| broken("a column without a buffer"))?;
            let (start, length) = (
                u64::try_from(buffer.offset()),
                u64::try_from(buffer.length()),
            );
            let (Ok(start), Ok(length)) = (start, length) else {
                return Err(broken("a buffer before its message"));
            };
            if start.checked_add(length).is_none_or(|end| end > self.body) {
                return Err(broken("a buffer beyond its message"));
            }
            if length % *width as u64 != 0 {
                return Err(broken("a buffer that ends within a value"));
            }
        }
        Ok(())
    }

    fn check(&mut self, data_type: &DataType) -> Result<()> {
        let node = self
            .nodes
            .next()
            .ok_or_else(|| broken("a column without a length"))?;
        let length = self.length(node.length(), node.null_count())?;
        match data_type {
            DataType::Null => Ok(()),
            DataType::Utf8 | DataType::Binary => self.take(&[1, 4, 1]),
            DataType::LargeUtf8 | DataType::LargeBinary => self.take(&[1, 8, 1]),
            DataType::Utf8View | DataType::BinaryView => {
                self.take(&[1, 16])?;
                let more = self
                    .views
                    .next()
                    .and_then(|more| usize::try_from(more).ok());
                let more = more.filter(|more| *more <= self.buffers.len());
                let more = more.ok_or_else(|| broken("views without their buffers"))?;
                (0..more).try_for_each(|_| self.take(&[1]))
            }
            DataType::FixedSizeList(item, size) => {
                let values = u64::try_from(*size)
                    .ok()
                    .and_then(|size| size.checked_mul(length));
                if values.is_none_or(|values| values > self.most) {
                    return Err(broken("lists of more values than there are"));
                }
                self.take(&[1])?;
                self.check(item.data_type())
            }
            DataType::List(item) | DataType::Map(item, _) => {
                self.take(&[1, 4])?;
                self.check(item.data_type())
            }
            DataType::LargeList(item) => {
                self.take(&[1, 8])?;
                self.check(item.data_type())
            }
            DataType::Struct(fields) => {
                self.take(&[1])?;
                fields
                    .iter()
                    .try_for_each(|field| self.check(field.data_type()))
            }
            DataType::RunEndEncoded(ends, values) => {
                self.check(ends.data_type())?;
                self.check(values.data_type())
            }
            DataType::Dictionary(keys, _) => self.take(&[1, keys.primitive_width().unwrap_or(1)]),
            _ => self.take(&[1, data_type.primitive_width().unwrap_or(1)]),
        }
    }
}
