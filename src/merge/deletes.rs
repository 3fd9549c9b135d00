//! Which rows are deletes.

use arrow::array::{Array, ArrayRef, AsArray};
use arrow::buffer::BooleanBuffer;
use arrow::datatypes::{DataType, Int32Type, Int64Type};

use crate::error::{Error, Result};
use crate::expr::Scalar;

/// One entry of a delete block.
#[derive(Debug, Clone, PartialEq)]
pub struct Deletion {
    /// The record key.
    pub key: String,
    /// Its ordering values, one an ordering column; `None` for a delete by arrival, which removes whatever is older.
    pub ordering: Option<Vec<Scalar>>,
}

/// The columns by which the rows of a block may be deletes, as far as the block has them.
#[derive(Debug, Default)]
pub(super) struct Marks<'a> {
    /// `_hoodie_is_deleted`.
    pub(super) is_deleted: Option<&'a ArrayRef>,
    /// `_hoodie_operation`.
    pub(super) operation: Option<&'a ArrayRef>,
    /// The table's own column, and the text that marks.
    pub(super) mark: Option<(&'a ArrayRef, &'a str)>,
}

/// Which of `rows` rows a mark makes deletes; `None` when none may be. A null marks nothing.
///
/// Errors: `Unsupported` when the table's own column is of a type whose text is not known.
pub(super) fn marked(marks: &Marks<'_>, rows: usize) -> Result<Option<BooleanBuffer>> {
    let mut found: Option<BooleanBuffer> = None;
    let mut add = |more: BooleanBuffer| {
        found = Some(match found.take() {
            Some(found) => &found | &more,
            None => more,
        });
    };
    if let Some(flags) = marks.is_deleted.and_then(|array| array.as_boolean_opt()) {
        let set = |row| flags.is_valid(row) && flags.value(row);
        add(BooleanBuffer::collect_bool(rows, set));
    }
    if let Some(texts) = marks
        .operation
        .and_then(|array| array.as_string_opt::<i32>())
    {
        let set = |row| texts.is_valid(row) && matches!(texts.value(row), "D" | "-U");
        add(BooleanBuffer::collect_bool(rows, set));
    }
    if let Some((array, marker)) = marks.mark {
        add(equal_text(array, marker)?);
    }
    Ok(found.filter(|found| found.count_set_bits() > 0))
}

/// Where the text of a value is `marker`.
fn equal_text(array: &ArrayRef, marker: &str) -> Result<BooleanBuffer> {
    let rows = array.len();
    let where_valid = |equal: &dyn Fn(usize) -> bool| {
        BooleanBuffer::collect_bool(rows, |row| array.is_valid(row) && equal(row))
    };
    Ok(match array.data_type() {
        DataType::Utf8 => {
            let texts = array.as_string::<i32>();
            where_valid(&|row| texts.value(row) == marker)
        }
        DataType::Boolean => {
            let flags = array.as_boolean();
            where_valid(&|row| marker == if flags.value(row) { "true" } else { "false" })
        }
        DataType::Int32 => {
            let numbers = array.as_primitive::<Int32Type>();
            where_valid(&|row| marker == numbers.value(row).to_string())
        }
        DataType::Int64 => {
            let numbers = array.as_primitive::<Int64Type>();
            where_valid(&|row| marker == numbers.value(row).to_string())
        }
        other => {
            let message =
                "a column that marks deletes by a type other than text, boolean and integers";
            return Err(Error::unsupported(message).context("type", other));
        }
    })
}
