//! Key and partition fields found among the columns.

use arrow::array::{Array, ArrayRef, AsArray, make_array};
use arrow::buffer::NullBuffer;
use arrow::datatypes::{DataType, Field, Fields};

use crate::error::{Error, Result};

/// Where a field lies: its place in the root, then in the structs below.
#[derive(Debug, Clone)]
pub(super) struct FieldPath {
    places: Vec<usize>,
    /// The field's name, as the table has it.
    pub(super) name: String,
    pub(super) data_type: DataType,
}

impl FieldPath {
    /// Finds a field by its name, which is that of a column or leads into structs by dots.
    ///
    /// Errors: `Schema` when there is none.
    pub(super) fn find(fields: &Fields, name: &str) -> Result<Self> {
        let missing = || {
            Error::schema("a key or partition field is none of the table's columns")
                .context("field", name)
        };
        let (mut places, mut fields, mut rest) = (Vec::new(), fields, name);
        loop {
            let named = |wanted: &str| fields.iter().position(|field| field.name() == wanted);
            if let Some(place) = named(rest) {
                let field: &Field = fields.get(place).ok_or_else(missing)?;
                places.push(place);
                return Ok(Self {
                    places,
                    name: name.to_owned(),
                    data_type: field.data_type().clone(),
                });
            }
            let (first, below) = rest.split_once('.').ok_or_else(missing)?;
            let place = named(first).ok_or_else(missing)?;
            let inner = fields.get(place).map(|field| field.data_type());
            let Some(DataType::Struct(inner)) = inner else {
                return Err(missing());
            };
            places.push(place);
            (fields, rest) = (inner, below);
        }
    }

    /// The field's values; null where a struct around it is.
    pub(super) fn of(&self, columns: &[ArrayRef]) -> Result<ArrayRef> {
        let missing =
            || Error::internal("a field is not where it was").context("field", &self.name);
        let (first, below) = self.places.split_first().ok_or_else(missing)?;
        let mut array = columns.get(*first).ok_or_else(missing)?.clone();
        let mut nulls: Option<NullBuffer> = None;
        for place in below {
            nulls = NullBuffer::union(nulls.as_ref(), array.nulls());
            let inner = array
                .as_struct_opt()
                .and_then(|s| s.columns().get(*place))
                .cloned();
            array = inner.ok_or_else(missing)?;
        }
        if nulls.is_none() {
            return Ok(array);
        }
        let nulls = NullBuffer::union(nulls.as_ref(), array.nulls());
        let data = array.to_data().into_builder().nulls(nulls).build();
        Ok(make_array(data.map_err(|e| missing().with_source(e))?))
    }
}

/// Rows as an error lists them: the first ten, counted from 0 over the whole input.
pub(super) fn row_list(rows: &[u64]) -> String {
    let listed: Vec<String> = rows.iter().take(10).map(u64::to_string).collect();
    let more = if rows.len() > 10 { ", …" } else { "" };
    format!("{}{more}", listed.join(", "))
}
