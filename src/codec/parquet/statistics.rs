//! What a file says of the values in its row groups and pages.
//!
//! Only what holds is given: bounds count when the column has the order its type defines, or when they are of the older
//! kind and the type's order was never in doubt. Which column they belong to is found by path, never by position among
//! other columns.

use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, BinaryArray, BooleanArray, Decimal128Array, Decimal256Array,
    FixedSizeBinaryArray, Float32Array, Float64Array, Int8Array, Int16Array, Int32Array,
    Int64Array, StringArray, make_array,
};
use arrow::datatypes::{DataType, Fields, i256};
use parquet::basic::{ColumnOrder, ConvertedType, LogicalType, Type as PhysicalType};
use parquet::file::page_index::column_index::ColumnIndexMetaData;
use parquet::schema::types::ColumnDescriptor;

use super::footer::Footer;

/// What is known of one column's values in a row group or a page.
#[derive(Debug, Clone)]
pub struct Known {
    /// Minimum and maximum, in the file's type and in this order; null where it is not known.
    pub bounds: Option<ArrayRef>,
    /// Rows without a value.
    pub nulls: Option<u64>,
    /// Rows.
    pub rows: u64,
}

/// A leaf of the file's schema that holds at most one value a row.
#[derive(Debug, Clone)]
pub struct Leaf {
    pub(super) index: usize,
    data_type: DataType,
}

impl Leaf {
    /// The leaf at a path of names, `None` when there is none or it lies in a list or map.
    pub fn find(footer: &Footer, path: &[String]) -> Option<Self> {
        let columns = footer.arrow().parquet_schema().columns();
        let mut leaves = columns.iter().enumerate();
        let found = leaves.find(|(_, leaf)| leaf.path().parts() == path);
        let (index, leaf) = found?;
        let data_type = type_at(footer.arrow().schema().fields(), path)?;
        (leaf.max_rep_level() == 0).then_some(Self { index, data_type })
    }

    /// The type that the file's values have.
    pub fn data_type(&self) -> &DataType {
        &self.data_type
    }

    /// What is known of a row group.
    pub fn of_group(&self, footer: &Footer, group: usize) -> Option<Known> {
        let chunk = footer
            .metadata()
            .row_groups()
            .get(group)?
            .columns()
            .get(self.index)?;
        let statistics = chunk.statistics()?;
        let trusted = if statistics.is_min_max_deprecated() {
            order_was_never_in_doubt(chunk.column_descr())
        } else {
            self.has_order(footer)
        };
        let pair = [statistics.min_bytes_opt(), statistics.max_bytes_opt()];
        let bounds = trusted
            .then(|| self.array(chunk.column_type(), pair))
            .flatten();
        Some(Known {
            bounds,
            nulls: statistics.null_count_opt(),
            rows: footer.group_rows(group),
        })
    }

    /// What is known of each page of a row group, by the page index.
    pub(super) fn of_page(
        &self,
        footer: &Footer,
        index: &ColumnIndexMetaData,
        page: usize,
        rows: u64,
    ) -> Known {
        let nulls = index.null_count(page);
        let nulls = nulls.and_then(|nulls| u64::try_from(nulls).ok());
        if index.is_null_page(page) {
            let (bounds, nulls) = (None, Some(rows));
            return Known {
                bounds,
                nulls,
                rows,
            };
        }
        let physical = footer.arrow().parquet_schema().columns().get(self.index);
        let bounds = physical
            .filter(|_| self.has_order(footer))
            .and_then(|column| {
                let (min, max) = page_bytes(index, page);
                self.array(column.physical_type(), [min.as_deref(), max.as_deref()])
            });
        Known {
            bounds,
            nulls,
            rows,
        }
    }

    fn has_order(&self, footer: &Footer) -> bool {
        let orders = footer.metadata().file_metadata().column_orders();
        let order = orders.and_then(|orders| orders.get(self.index));
        matches!(
            order,
            Some(ColumnOrder::TYPE_DEFINED_ORDER(_) | ColumnOrder::IEEE_754_TOTAL_ORDER)
        )
    }

    /// Minimum and maximum from their plain bytes; `None` for a type whose bounds are not used.
    fn array(&self, physical: PhysicalType, pair: [Option<&[u8]>; 2]) -> Option<ArrayRef> {
        Some(match (&self.data_type, physical) {
            (DataType::Boolean, _) => Arc::new(BooleanArray::from(
                pair.map(|bytes| bytes.and_then(|b| b.first()).map(|b| *b != 0))
                    .to_vec(),
            )),
            (DataType::Float32, PhysicalType::FLOAT) => Arc::new(Float32Array::from(
                fixed(pair).map(|v| v.map(f32::from_le_bytes)).to_vec(),
            )),
            (DataType::Float64, PhysicalType::DOUBLE) => Arc::new(Float64Array::from(
                fixed(pair).map(|v| v.map(f64::from_le_bytes)).to_vec(),
            )),
            (DataType::Decimal128(precision, scale), _) => {
                let values = pair.map(|bytes| bytes.and_then(|b| decimal(physical, b)));
                let values = values.map(|value| value.and_then(i256::to_i128));
                let array = Decimal128Array::from(values.to_vec());
                Arc::new(array.with_precision_and_scale(*precision, *scale).ok()?)
            }
            (DataType::Decimal256(precision, scale), _) => {
                let values = pair.map(|bytes| bytes.and_then(|b| decimal(physical, b)));
                let array = Decimal256Array::from(values.to_vec());
                Arc::new(array.with_precision_and_scale(*precision, *scale).ok()?)
            }
            (DataType::Utf8, PhysicalType::BYTE_ARRAY) => {
                // A bound cut within a character is no text, and is left out.
                let text = pair.map(|bytes| bytes.and_then(|b| std::str::from_utf8(b).ok()));
                Arc::new(StringArray::from(text.to_vec()))
            }
            (DataType::Binary, PhysicalType::BYTE_ARRAY) => {
                Arc::new(BinaryArray::from(pair.to_vec()))
            }
            (DataType::FixedSizeBinary(size), PhysicalType::FIXED_LEN_BYTE_ARRAY) => {
                let right = |bytes: &&[u8]| i32::try_from(bytes.len()) == Ok(*size);
                let values = pair.map(|bytes| bytes.filter(right));
                Arc::new(
                    FixedSizeBinaryArray::try_from_sparse_iter_with_size(values.into_iter(), *size)
                        .ok()?,
                )
            }
            (DataType::Int8, PhysicalType::INT32) => {
                let narrow = int32(pair).map(|v| v.and_then(|v| i8::try_from(v).ok()));
                Arc::new(Int8Array::from(narrow.to_vec()))
            }
            (DataType::Int16, PhysicalType::INT32) => {
                let narrow = int32(pair).map(|v| v.and_then(|v| i16::try_from(v).ok()));
                Arc::new(Int16Array::from(narrow.to_vec()))
            }
            (DataType::Int32 | DataType::Date32 | DataType::Time32(_), PhysicalType::INT32) => {
                relabelled(&Int32Array::from(int32(pair).to_vec()), &self.data_type)?
            }
            (
                DataType::Int64 | DataType::Timestamp(..) | DataType::Time64(_),
                PhysicalType::INT64,
            ) => {
                let values = fixed(pair).map(|v| v.map(i64::from_le_bytes));
                relabelled(&Int64Array::from(values.to_vec()), &self.data_type)?
            }
            _ => return None,
        })
    }
}

fn type_at(fields: &Fields, path: &[String]) -> Option<DataType> {
    let (name, rest) = path.split_first()?;
    let field = fields.iter().find(|field| field.name() == name)?;
    match (field.data_type(), rest) {
        (DataType::Struct(inner), [_, ..]) => type_at(inner, rest),
        (leaf, []) => Some(leaf.clone()),
        _ => None,
    }
}

fn int32(pair: [Option<&[u8]>; 2]) -> [Option<i32>; 2] {
    fixed(pair).map(|bytes| bytes.map(i32::from_le_bytes))
}

/// The same numbers under another type of their width.
fn relabelled(array: &dyn Array, data_type: &DataType) -> Option<ArrayRef> {
    let relabelled = array.to_data().into_builder().data_type(data_type.clone());
    Some(make_array(relabelled.build().ok()?))
}

fn fixed<const N: usize>(pair: [Option<&[u8]>; 2]) -> [Option<[u8; N]>; 2] {
    pair.map(|bytes| bytes.and_then(|bytes| bytes.try_into().ok()))
}

/// The unscaled number: little-endian in integers, big-endian in bytes.
fn decimal(physical: PhysicalType, bytes: &[u8]) -> Option<i256> {
    match physical {
        PhysicalType::INT32 => {
            let value = i32::from_le_bytes(bytes.try_into().ok()?);
            Some(i256::from_i128(i128::from(value)))
        }
        PhysicalType::INT64 => {
            let value = i64::from_le_bytes(bytes.try_into().ok()?);
            Some(i256::from_i128(i128::from(value)))
        }
        PhysicalType::BYTE_ARRAY | PhysicalType::FIXED_LEN_BYTE_ARRAY => {
            let negative = bytes.first()? & 0x80 != 0;
            let mut wide = [if negative { 0xff } else { 0 }; 32];
            let at = wide.len().checked_sub(bytes.len())?;
            wide.get_mut(at..)?.copy_from_slice(bytes);
            Some(i256::from_be_bytes(wide))
        }
        _ => None,
    }
}

/// Before Parquet 2.4 bounds were compared as signed numbers, whatever the column held: right for numbers alone.
fn order_was_never_in_doubt(column: &ColumnDescriptor) -> bool {
    let number = matches!(
        column.physical_type(),
        PhysicalType::BOOLEAN
            | PhysicalType::INT32
            | PhysicalType::INT64
            | PhysicalType::FLOAT
            | PhysicalType::DOUBLE
    );
    let unsigned = matches!(
        column.converted_type(),
        ConvertedType::UINT_8
            | ConvertedType::UINT_16
            | ConvertedType::UINT_32
            | ConvertedType::UINT_64
    ) || matches!(column.logical_type_ref(), Some(LogicalType::Integer(int)) if !int.is_signed);
    number && !unsigned
}

fn page_bytes(index: &ColumnIndexMetaData, page: usize) -> (Option<Vec<u8>>, Option<Vec<u8>>) {
    use ColumnIndexMetaData as Index;
    macro_rules! plain {
        ($index:ident, $bytes:expr) => {
            (
                $index.min_value(page).map($bytes),
                $index.max_value(page).map($bytes),
            )
        };
    }
    match index {
        Index::BOOLEAN(index) => plain!(index, |v| vec![u8::from(*v)]),
        Index::INT32(index) => plain!(index, |v| v.to_le_bytes().to_vec()),
        Index::INT64(index) => plain!(index, |v| v.to_le_bytes().to_vec()),
        Index::FLOAT(index) => plain!(index, |v| v.to_le_bytes().to_vec()),
        Index::DOUBLE(index) => plain!(index, |v| v.to_le_bytes().to_vec()),
        Index::BYTE_ARRAY(index) | Index::FIXED_LEN_BYTE_ARRAY(index) => {
            plain!(index, <[u8]>::to_vec)
        }
        Index::INT96(_) => (None, None),
    }
}
