//! Values that fit the bytes of their column and not its type: decimals of too many digits, times of no day.

use arrow::array::{Array, ArrayRef, AsArray};
use arrow::datatypes::{
    DataType, Decimal128Type, Decimal256Type, Time32MillisecondType, Time64MicrosecondType, i256,
};

use super::columns::row_list;
use crate::error::{Error, Result};
use crate::schema::type_name;

const DAY_MILLIS: i32 = 86_400_000;
const DAY_MICROS: i64 = 86_400_000_000;

/// Refuses a column with such values, in lists, structs and maps too. Row 0 is row `first` of the input.
///
/// Errors: `Schema` with the `field`, its `type` and the `rows`.
pub(super) fn check_values(array: &ArrayRef, field: &str, first: u64) -> Result<()> {
    let Some(found) = misfits(array, field) else {
        return Ok(());
    };
    let rows: Vec<u64> = found.rows.iter().map(|row| first + *row as u64).collect();
    Err(Error::schema("a value is beyond its column's type")
        .context("field", found.field)
        .context("type", type_name(&found.kind))
        .context("rows", row_list(&rows)))
}

struct Misfits {
    field: String,
    kind: DataType,
    /// Rows of the array that was asked for, each once, in order.
    rows: Vec<usize>,
}

impl Misfits {
    /// The rows of the array around: `row` tells where a value lies, none for a value that is not written.
    fn within(self, row: impl Fn(usize) -> Option<usize>) -> Option<Self> {
        let mut rows: Vec<usize> = self.rows.iter().filter_map(|at| row(*at)).collect();
        rows.dedup();
        (!rows.is_empty()).then_some(Self { rows, ..self })
    }
}

/// The first field with values that do not fit; none when all do.
fn misfits(array: &ArrayRef, field: &str) -> Option<Misfits> {
    let leaf = |fits: &dyn Fn(usize) -> bool| {
        let rows = (0..array.len()).filter(|row| array.is_valid(*row) && !fits(*row));
        let rows: Vec<usize> = rows.collect();
        (!rows.is_empty()).then(|| Misfits {
            field: field.to_owned(),
            kind: array.data_type().clone(),
            rows,
        })
    };
    let list = |offsets: &[i32], values: &ArrayRef, name: &str| {
        let (first, last) = (*offsets.first()? as usize, *offsets.last()? as usize);
        let found = misfits(&values.slice(first, last - first), name)?;
        found.within(|at| {
            let row = offsets.partition_point(|offset| *offset as usize <= first + at);
            row.checked_sub(1).filter(|row| array.is_valid(*row))
        })
    };
    match array.data_type() {
        DataType::Decimal128(precision, _) => {
            let beyond = 10_u128.pow(u32::from(*precision).min(38));
            let values = array.as_primitive::<Decimal128Type>();
            leaf(&|row| values.value(row).unsigned_abs() < beyond)
        }
        DataType::Decimal256(precision, _) => {
            let beyond = i256::from_i128(10).checked_pow(u32::from(*precision))?;
            let values = array.as_primitive::<Decimal256Type>();
            leaf(&|row| {
                let value = values.value(row);
                value < beyond && value > beyond.wrapping_neg()
            })
        }
        DataType::Time32(_) => {
            let values = array.as_primitive::<Time32MillisecondType>();
            leaf(&|row| (0..DAY_MILLIS).contains(&values.value(row)))
        }
        DataType::Time64(_) => {
            let values = array.as_primitive::<Time64MicrosecondType>();
            leaf(&|row| (0..DAY_MICROS).contains(&values.value(row)))
        }
        DataType::Struct(fields) => {
            let columns = array.as_struct().columns().iter().zip(fields);
            let mut found = columns.filter_map(|(column, inner)| {
                let found = misfits(column, &format!("{field}.{}", inner.name()))?;
                found.within(|row| array.is_valid(row).then_some(row))
            });
            found.next()
        }
        DataType::List(item) if is_checked(item.data_type()) => {
            let given = array.as_list::<i32>();
            list(
                given.offsets(),
                given.values(),
                &format!("{field}.{}", item.name()),
            )
        }
        DataType::Map(entries, _) if is_checked(entries.data_type()) => {
            let given = array.as_map();
            let entries: ArrayRef = std::sync::Arc::new(given.entries().clone());
            list(given.offsets(), &entries, field)
        }
        _ => None,
    }
}

/// Whether a type has values that do not fit, so that lists of others are not walked.
fn is_checked(data_type: &DataType) -> bool {
    match data_type {
        DataType::Decimal128(..) | DataType::Decimal256(..) => true,
        DataType::Time32(_) | DataType::Time64(_) => true,
        DataType::List(item) | DataType::Map(item, _) => is_checked(item.data_type()),
        DataType::Struct(fields) => fields.iter().any(|field| is_checked(field.data_type())),
        _ => false,
    }
}
