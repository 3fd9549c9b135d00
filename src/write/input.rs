//! Batches checked against the table's columns.

use arrow::array::{Array, ArrayRef, RecordBatch};
use arrow::datatypes::{Schema, SchemaRef};

use super::columns::row_list;
use super::normal::normal;
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
        for (at, wanted) in self.schema.fields().iter().enumerate() {
            let Some((found, field)) = given.fields().find(wanted.name()) else {
                return Err(Error::schema("the input lacks a column of the table")
                    .context("field", wanted.name())
                    .context("hint", "give the column, with nulls where it has no value"));
            };
            if found != at {
                return Err(
                    Error::schema("the columns are in another order than the table's")
                        .context("field", wanted.name())
                        .context("hint", format!("it is column {at} of the table, from 0")),
                );
            }
            let none = arrow::array::new_empty_array(field.data_type());
            normal(&none, wanted.data_type(), wanted.name(), self.widen)?;
        }
        if given.fields().len() > self.schema.fields().len() {
            return Err(Error::schema("the input has a column twice"));
        }
        Ok(())
    }

    /// The columns of a batch in the table's types. Row 0 is row `first` of the input.
    ///
    /// Errors: as [`Self::check`]; `Schema` with the `rows` that lack a value the table requires.
    pub(super) fn columns(&self, batch: &RecordBatch, first: u64) -> Result<Vec<ArrayRef>> {
        let pairs = self.schema.fields().iter().zip(batch.columns());
        let columns = pairs.map(|(wanted, given)| {
            let array = normal(given, wanted.data_type(), wanted.name(), self.widen)?;
            if !wanted.is_nullable() && array.null_count() > 0 {
                let rows = (0..array.len()).filter(|row| array.is_null(*row));
                let rows: Vec<u64> = rows.map(|row| first + row as u64).collect();
                return Err(Error::schema("the table requires a value in every row")
                    .context("field", wanted.name())
                    .context("rows", row_list(&rows)));
            }
            Ok(array)
        });
        columns.collect()
    }

    /// The table's columns.
    pub(super) fn schema(&self) -> &SchemaRef {
        &self.schema
    }
}
