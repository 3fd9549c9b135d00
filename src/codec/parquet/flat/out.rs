use std::sync::Arc;

use arrow::array::{ArrayRef, BooleanArray, BooleanBufferBuilder, NullArray};
use arrow::buffer::NullBuffer;
use arrow::datatypes::{DataType, IntervalUnit};
use bytes::Bytes;
use parquet::basic::Type as PhysicalType;
use parquet::schema::types::ColumnDescriptor;

use super::fixed::{Fixed, Kind};
use super::page::Values;
use super::run_values::Part;
use super::texts::Texts;
use crate::error::{Error, Result};

/// Values of a column as they come together.
pub(in super::super) enum Out {
    Fixed(Fixed),
    Truth(BooleanBufferBuilder),
    Texts(Texts),
    /// A column that is declared to hold nothing but nulls.
    Nothing,
}

/// Which rows of a batch are there.
#[derive(Default)]
pub(in super::super) struct Valid {
    rows: usize,
    /// Once there is one that is not.
    bits: Option<BooleanBufferBuilder>,
}

impl Out {
    /// For a column in an Arrow type.
    ///
    /// Errors: `Unsupported` for a type that values of the column are not read as.
    pub(in super::super) fn of(column: &ColumnDescriptor, data_type: &DataType) -> Result<Self> {
        use PhysicalType::{
            BOOLEAN, BYTE_ARRAY, DOUBLE, FIXED_LEN_BYTE_ARRAY, FLOAT, INT32, INT64, INT96,
        };
        let length = usize::try_from(column.type_length()).unwrap_or(0);
        let (kind, width) = match (column.physical_type(), data_type) {
            (_, DataType::Null) => return Ok(Self::Nothing),
            (BYTE_ARRAY, DataType::Utf8) => return Ok(Self::Texts(Texts::new(true))),
            (BYTE_ARRAY, DataType::Binary) => return Ok(Self::Texts(Texts::new(false))),
            (BOOLEAN, DataType::Boolean) => {
                return Ok(Self::Truth(BooleanBufferBuilder::new(0)));
            }
            (INT32, DataType::Int8 | DataType::UInt8) => (Kind::Front(1), 4),
            (INT32, DataType::Int16 | DataType::UInt16) => (Kind::Front(2), 4),
            (
                INT32,
                DataType::Int32 | DataType::UInt32 | DataType::Date32 | DataType::Time32(_),
            )
            | (FLOAT, DataType::Float32) => (Kind::Four, 4),
            (
                INT64,
                DataType::Int64 | DataType::UInt64 | DataType::Timestamp(..) | DataType::Time64(_),
            )
            | (DOUBLE, DataType::Float64) => (Kind::Eight, 8),
            (INT96, DataType::Timestamp(..)) => (Kind::Int96, 12),
            (INT32, DataType::Decimal128(..)) => (Kind::Decimal { number: true }, 4),
            (INT64, DataType::Decimal128(..)) => (Kind::Decimal { number: true }, 8),
            (FIXED_LEN_BYTE_ARRAY, DataType::Decimal128(..)) if (1..=16).contains(&length) => {
                (Kind::Decimal { number: false }, length)
            }
            (FIXED_LEN_BYTE_ARRAY, DataType::Decimal256(..)) if (1..=32).contains(&length) => {
                (Kind::Wide, length)
            }
            // Their bytes are brought to one width as a page is opened.
            (BYTE_ARRAY, DataType::Decimal128(..)) => (Kind::Decimal { number: false }, 16),
            (BYTE_ARRAY, DataType::Decimal256(..)) => (Kind::Wide, 32),
            (FIXED_LEN_BYTE_ARRAY, DataType::FixedSizeBinary(_)) if length > 0 => {
                (Kind::Back(length), length)
            }
            (FIXED_LEN_BYTE_ARRAY, DataType::Float16) if length == 2 => (Kind::Back(2), 2),
            // Months, days and milliseconds; months have no place in it.
            (FIXED_LEN_BYTE_ARRAY, DataType::Interval(IntervalUnit::DayTime)) if length == 12 => {
                (Kind::Eight, 12)
            }
            _ => return Err(Error::unsupported("a Parquet column of this type")),
        };
        Ok(Self::Fixed(Fixed::new(kind, width)))
    }

    /// Whether values have lengths of their own.
    pub(in super::super) fn is_texts(&self) -> bool {
        matches!(self, Self::Texts(_))
    }

    /// Whether values are single bits.
    pub(in super::super) fn is_truth(&self) -> bool {
        matches!(self, Self::Truth(_))
    }

    pub(in super::super) fn set_dictionary(&mut self, bytes: Bytes, values: usize) -> Result<()> {
        match self {
            Self::Fixed(fixed) => fixed.set_dictionary(bytes, values),
            Self::Texts(texts) => texts.set_dictionary(&bytes, values).ok_or_else(missing)?,
            Self::Truth(_) | Self::Nothing => return Err(missing()),
        }
        Ok(())
    }

    pub(in super::super) fn begin(&mut self, rows: usize, bytes_before: usize) {
        match self {
            Self::Fixed(fixed) => fixed.begin(rows),
            Self::Truth(bits) => *bits = BooleanBufferBuilder::new(rows),
            Self::Texts(texts) => texts.begin(rows, bytes_before),
            Self::Nothing => {}
        }
    }

    pub(in super::super) fn read(&mut self, values: &mut Values, count: usize) -> Result<()> {
        if count == 0 {
            return Ok(());
        }
        let done = match self {
            Self::Fixed(fixed) => fixed.read(values, count)?,
            Self::Truth(bits) => read_truth(bits, values, count)?,
            Self::Texts(texts) => texts.read(values, count)?,
            Self::Nothing => None,
        };
        done.ok_or_else(missing)
    }

    pub(in super::super) fn nulls(&mut self, count: usize) -> Result<()> {
        match self {
            Self::Fixed(fixed) => fixed.nulls(count).ok_or_else(missing)?,
            Self::Truth(bits) => bits.append_n(count, false),
            Self::Texts(texts) if count > 0 => texts.nulls(count).ok_or_else(missing)?,
            Self::Texts(_) | Self::Nothing => {}
        }
        Ok(())
    }

    pub(in super::super) fn bytes(&self) -> usize {
        match self {
            Self::Texts(texts) => texts.bytes(),
            _ => 0,
        }
    }

    pub(in super::super) fn take(
        &mut self,
        rows: usize,
        data_type: &DataType,
        nulls: Option<NullBuffer>,
    ) -> Result<ArrayRef> {
        match self {
            Self::Fixed(fixed) => fixed.take(rows, data_type, nulls),
            Self::Truth(bits) => Ok(Arc::new(BooleanArray::new(bits.finish(), nulls))),
            Self::Texts(texts) => texts.take(nulls),
            Self::Nothing => Ok(Arc::new(NullArray::new(rows))),
        }
    }
}

fn read_truth(
    out: &mut BooleanBufferBuilder,
    values: &mut Values,
    count: usize,
) -> Result<Option<()>> {
    match values {
        Values::Bits { bytes, at } => {
            let end = *at + count;
            if end.div_ceil(8) > bytes.len() {
                return Ok(None);
            }
            out.append_packed_range(*at..end, bytes);
            *at = end;
        }
        Values::BitRuns(runs) => {
            let mut left = count;
            while left > 0 {
                match runs.next(left)? {
                    Part::Same(value, rows) => {
                        left -= rows;
                        out.append_n(rows, value != 0);
                    }
                    Part::Packed(packed) => {
                        left -= packed.count;
                        let end = packed.first + packed.count;
                        out.append_packed_range(packed.first..end, packed.bytes);
                    }
                }
            }
        }
        Values::Plain { .. } | Values::Places(_) => return Ok(None),
    }
    Ok(Some(()))
}

impl Valid {
    pub(in super::super) fn there(&mut self, rows: usize) {
        if let Some(bits) = &mut self.bits {
            bits.append_n(rows, true);
        }
        self.rows += rows;
    }

    pub(in super::super) fn missing(&mut self, rows: usize) {
        self.made().append_n(rows, false);
        self.rows += rows;
    }

    pub(in super::super) fn bits(&mut self, bytes: &[u8], first: usize, rows: usize) {
        self.made().append_packed_range(first..first + rows, bytes);
        self.rows += rows;
    }

    fn made(&mut self) -> &mut BooleanBufferBuilder {
        let rows = self.rows;
        self.bits.get_or_insert_with(|| {
            let mut bits = BooleanBufferBuilder::new(rows.max(1024));
            bits.append_n(rows, true);
            bits
        })
    }

    pub(in super::super) fn take(&mut self) -> Option<NullBuffer> {
        let bits = self.bits.as_mut()?;
        Some(NullBuffer::new(bits.finish())).filter(|nulls| nulls.null_count() > 0)
    }
}

pub(in super::super) fn missing() -> Error {
    Error::corrupt("a page does not hold the values that it declares")
}
