use std::sync::Arc;

use arrow::array::{Array, ArrayRef, MutableArrayData, make_array};
use arrow::datatypes::SchemaRef;

use crate::error::{Error, Result};
use crate::expr::Predicate;
use crate::schema::FileNames;

/// A column whose one value comes from the partition's path.
#[derive(Debug, Clone)]
pub struct Constant {
    /// The column's name in the request's schema.
    pub name: String,
    /// An array of length 1, of the column's type.
    pub value: ArrayRef,
}

impl Constant {
    /// The value `rows` times. By a plain copy: the `take` kernel would bring half a megabyte of code for arrays that no
    /// table has.
    pub(super) fn repeated(&self, rows: usize) -> Result<ArrayRef> {
        let value = self.value.to_data();
        let mut repeated = MutableArrayData::new(vec![&value], false, rows);
        for _ in 0..rows {
            repeated.try_extend(0, 0, 1).map_err(|error| {
                Error::internal("a partition's value cannot be repeated")
                    .context("field", &self.name)
                    .with_source(error)
            })?;
        }
        Ok(make_array(repeated.freeze()))
    }
}

/// What to read of a base file.
#[derive(Debug, Clone)]
pub struct BaseRequest {
    /// The columns to read, those of the filters included, in the table's types.
    pub schema: SchemaRef,
    /// Which of them the batches have, in this order; `None` for all.
    pub output: Option<Vec<usize>>,
    /// Rows to give; its columns are in `schema`.
    pub predicate: Arc<Predicate>,
    /// Columns that are not read from the file.
    pub constants: Vec<Constant>,
    /// The most rows a batch may have; `None` leaves it to the reader.
    pub batch_rows: Option<usize>,
    /// Stop after so many rows.
    pub limit: Option<u64>,
    /// What the columns are called in the file, where a table with schema on read had other names then.
    pub names: FileNames,
}

impl BaseRequest {
    /// All columns of `schema` and all rows.
    pub fn all(schema: SchemaRef) -> Self {
        Self {
            schema,
            output: None,
            predicate: Arc::new(Predicate::default()),
            constants: Vec::new(),
            batch_rows: None,
            limit: None,
            names: FileNames::default(),
        }
    }

    /// The constant of a column, if it is one.
    pub(super) fn constant(&self, name: &str) -> Option<&Constant> {
        self.constants.iter().find(|constant| constant.name == name)
    }

    /// The schema of the batches.
    pub fn output_schema(&self) -> Result<SchemaRef> {
        match &self.output {
            None => Ok(Arc::clone(&self.schema)),
            Some(places) => {
                let projected = self.schema.project(places);
                let projected = projected
                    .map_err(|error| Error::internal("no such output column").with_source(error))?;
                Ok(Arc::new(projected))
            }
        }
    }
}
