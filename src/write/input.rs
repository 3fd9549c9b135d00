//! Batches checked against the table's columns.

use arrow::array::{Array, ArrayRef, RecordBatch, new_null_array};
use arrow::datatypes::{Schema, SchemaRef};

use super::columns::row_list;
use super::normal::{Manner, normal};
use super::values::check_values;
use crate::error::{Error, Result};
use crate::model::meta_field::is_meta_field;
use crate::schema::unknown_column;

/// What the columns of an input must be.
#[derive(Debug, Clone)]
pub(super) struct Input {
    schema: SchemaRef,
    widen: bool,
}

impl Input {
    /// With `widen`, promotions that lose nothing are made, and a column that may be null may be missing.
    pub(super) fn new(schema: SchemaRef, widen: bool) -> Self {
        Self { schema, widen }
    }

    /// Checks a schema before any row is read: by name, order and type.
    ///
    /// Errors: `Schema` with the `field`, both types and what would help.
    pub(super) fn check(&self, given: &Schema) -> Result<()> {
        let fields = given.fields().iter();
        if let Some(meta) = fields.clone().find(|field| is_meta_field(field.name())) {
            return Err(Error::schema("the input has a column that writers fill")
                .context("field", meta.name())
                .context("hint", "leave out the _hoodie_ columns"));
        }
        for field in fields {
            if self.schema.field_with_name(field.name()).is_err() {
                return Err(unknown_column(&self.schema, field.name()));
            }
        }
        let places = self.places(given)?;
        for (wanted, place) in self.schema.fields().iter().zip(&places) {
            if let Some(field) = place.and_then(|place| given.fields().get(place)) {
                let none = arrow::array::new_empty_array(field.data_type());
                normal(&none, wanted.data_type(), wanted.name(), self.manner(0))?;
            }
        }
        match given.fields().len() > places.iter().flatten().count() {
            true => Err(Error::schema("the input has a column twice")),
            false => Ok(()),
        }
    }

    /// Where the table's columns are in the input, which has them in the table's order.
    fn places(&self, given: &Schema) -> Result<Vec<Option<usize>>> {
        let mut next = 0;
        let places = self.schema.fields().iter().enumerate().map(|(at, wanted)| {
            match given.fields().find(wanted.name()) {
                Some((found, _)) if found == next => {
                    next += 1;
                    Ok(Some(found))
                }
                Some(_) => Err(
                    Error::schema("the columns are in another order than the table's")
                        .context("field", wanted.name())
                        .context("hint", format!("it is column {at} of the table, from 0")),
                ),
                None if self.widen && wanted.is_nullable() => Ok(None),
                None => Err(Error::schema("the input lacks a column of the table")
                    .context("field", wanted.name())
                    .context("hint", "give the column, with nulls where it has no value")),
            }
        });
        places.collect()
    }

    fn manner(&self, first: u64) -> Manner {
        Manner {
            widen: self.widen,
            first: Some(first),
        }
    }

    /// The columns of a batch in the table's types. Row 0 is row `first` of the input.
    ///
    /// Errors: as [`Self::check`]; `Schema` with the `rows` that lack a value the table requires, or hold one beyond its type.
    pub(super) fn columns(&self, batch: &RecordBatch, first: u64) -> Result<Vec<ArrayRef>> {
        let places = self.places(batch.schema_ref())?;
        let pairs = self.schema.fields().iter().zip(places);
        let columns = pairs.map(|(wanted, place)| {
            let Some(given) = place.and_then(|place| batch.columns().get(place)) else {
                return Ok(new_null_array(wanted.data_type(), batch.num_rows()));
            };
            let array = normal(given, wanted.data_type(), wanted.name(), self.manner(first))?;
            if !wanted.is_nullable() && array.null_count() > 0 {
                let rows = (0..array.len()).filter(|row| array.is_null(*row));
                let rows: Vec<u64> = rows.map(|row| first + row as u64).collect();
                return Err(Error::schema("the table requires a value in every row")
                    .context("field", wanted.name())
                    .context("rows", row_list(&rows)));
            }
            check_values(&array, wanted.name(), first)?;
            Ok(array)
        });
        columns.collect()
    }

    /// The table's columns.
    pub(super) fn schema(&self) -> &SchemaRef {
        &self.schema
    }
}
