//! What of one open file a request needs, and how its columns become the request's.

use std::sync::Arc;

use arrow::array::{ArrayRef, BooleanArray, RecordBatch, RecordBatchOptions};
use arrow::datatypes::{Schema, SchemaRef};

use super::base_request::{BaseRequest, Constant};
use crate::codec::parquet::{Columns, Footer, RowFilterFn};
use crate::error::{Error, Result};
use crate::schema::Conformer;

/// Some columns of a request, given from those of a file and from constants.
pub(super) struct Shape {
    /// Which columns of the file are read.
    pub(super) columns: Columns,
    conformer: Conformer,
    sources: Vec<Source>,
    schema: SchemaRef,
}

/// Where a column of the shape comes from.
enum Source {
    /// The conformed batch, at this place.
    File(usize),
    Constant(Constant),
}

impl Shape {
    /// The way from the file with `footer` to `schema`.
    ///
    /// Errors: `Schema` when the file's column cannot be given in the wanted type.
    pub(super) fn new(footer: &Footer, request: &BaseRequest, schema: SchemaRef) -> Result<Self> {
        let mut wanted = Vec::new();
        let mut sources = Vec::new();
        for field in schema.fields() {
            sources.push(match request.constant(field.name()) {
                Some(constant) => Source::Constant(constant.clone()),
                None => {
                    wanted.push(Arc::clone(field));
                    Source::File(wanted.len() - 1)
                }
            });
        }
        let names = &request.names;
        let in_file = wanted.iter().filter_map(|field| names.of(field.name()));
        let columns = Columns::by_name(footer, in_file);
        let file = columns.schema(footer)?;
        let conformer = Conformer::with_names(&file, &Arc::new(Schema::new(wanted)), names)?;
        Ok(Self {
            columns,
            conformer,
            sources,
            schema,
        })
    }

    /// A batch of the file's columns as the shape has them.
    pub(super) fn apply(&self, batch: &RecordBatch) -> Result<RecordBatch> {
        let rows = batch.num_rows();
        let given = self.conformer.apply(batch)?;
        let columns = self.sources.iter().map(|source| match source {
            Source::File(at) => {
                let column = given.columns().get(*at);
                column
                    .cloned()
                    .ok_or_else(|| Error::internal("a column was lost"))
            }
            Source::Constant(constant) => constant.repeated(rows),
        });
        let columns = columns.collect::<Result<Vec<ArrayRef>>>()?;
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        RecordBatch::try_new_with_options(Arc::clone(&self.schema), columns, &options)
            .map_err(|error| Error::internal("columns do not fit their schema").with_source(error))
    }

    /// `rows` rows that need no column of the file.
    pub(super) fn without_file(&self, rows: usize) -> Result<RecordBatch> {
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        let empty = RecordBatch::try_new_with_options(Arc::new(Schema::empty()), vec![], &options);
        let empty = empty.map_err(|error| Error::internal("no batch").with_source(error))?;
        self.apply(&empty)
    }
}

/// How the rows of a file are filtered.
pub(super) enum Filtering {
    /// All rows pass.
    All,
    /// No row passes.
    Nothing,
    /// Rows are kept by columns of the file.
    Rows(Columns, RowFilterFn),
}

impl Filtering {
    /// What the request's predicate means for the file with `footer`.
    ///
    /// When the file has none of the filtered columns, one row stands for all.
    pub(super) fn new(footer: &Footer, request: &BaseRequest) -> Result<Self> {
        let predicate = Arc::clone(&request.predicate);
        if predicate.is_empty() {
            return Ok(Self::All);
        }
        let names = predicate.columns();
        let fields = names
            .iter()
            .map(|name| request.schema.field_with_name(name).cloned());
        let fields = fields.collect::<Result<Vec<_>, _>>().map_err(|error| {
            Error::internal("the schema lacks a filtered column").with_source(error)
        })?;
        let shape = Shape::new(footer, request, Arc::new(Schema::new(fields)))?;
        if shape.columns.is_empty() {
            let mask = predicate.mask(&shape.without_file(1)?)?;
            return Ok(match mask.iter().next() {
                Some(Some(true)) => Self::All,
                _ => Self::Nothing,
            });
        }
        let columns = shape.columns.clone();
        let filter = move |batch: RecordBatch| -> Result<BooleanArray> {
            predicate.mask(&shape.apply(&batch)?)
        };
        Ok(Self::Rows(columns, Arc::new(filter)))
    }
}
