use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch, RecordBatchOptions};
use arrow::datatypes::{Schema, SchemaRef};

use super::column::Step;
use super::compile::Compiler;
use super::row::{MAX_FILL, Row};
use crate::error::{Error, Result};
use crate::schema::{AvroSchema, Conformer, FileNames};

/// Reads Avro rows of one writer's schema into batches of a reader's: see the page of this module.
///
/// Promises:
/// 1. A field is matched by its exact name, at every depth, or by the name it is said to have there; one that the reader does not have is passed over, one that the
///    writer does not have is its default or null.
/// 2. A row that cannot be read ends the decoder: no batch holds a part of it.
pub struct RowDecoder {
    steps: Vec<Step>,
    /// The columns of `steps`, in the writer's order and types.
    read: SchemaRef,
    conformer: Conformer,
    rows: usize,
    fill: usize,
    failed: bool,
}

impl RowDecoder {
    /// A decoder for rows that `writer` describes, into the columns of `reader`.
    ///
    /// Errors: `Schema` when the writer's schema is no record, or with `field` when a column cannot be given in the reader's
    /// type; `Unsupported` for a union inside a union.
    pub fn new(writer: &AvroSchema, reader: &SchemaRef) -> Result<Self> {
        Self::with_names(writer, reader, &FileNames::default())
    }

    /// As [`RowDecoder::new`], with the names that the reader's fields have in the writer's schema.
    pub fn with_names(writer: &AvroSchema, reader: &SchemaRef, names: &FileNames) -> Result<Self> {
        let Some(record) = writer.as_record() else {
            return Err(Error::schema("the schema of Avro rows is not a record"));
        };
        let (mut steps, read) =
            Compiler::default().record(&record.fields, Some((reader.fields(), names)))?;
        // Rows are as long as their framing says: what lies behind the last wanted field need not be walked.
        if let Some(Step::Skip(_)) = steps.last() {
            steps.pop();
        }
        let read = Arc::new(Schema::new(read));
        Ok(Self {
            steps,
            conformer: Conformer::with_names(&read, reader, names)?,
            read,
            rows: 0,
            fill: MAX_FILL,
            failed: false,
        })
    }

    /// Reads one row, up to its last wanted field, and says where that ends.
    ///
    /// Errors: `Corrupt` with `field` and the `offset` in the row; `LimitExceeded` when the batch grows beyond what Arrow or
    /// this decoder holds. After an error the decoder gives nothing more.
    pub fn push(&mut self, row: &[u8]) -> Result<usize> {
        if self.failed {
            return Err(spoiled());
        }
        let mut row = Row::new(row, &mut self.fill);
        let mut at = 0;
        for step in &mut self.steps {
            let read = match step {
                Step::Read(column) => {
                    at += 1;
                    column.read(&mut row)
                }
                Step::Skip(skip) => skip.run(&mut row),
            };
            if let Err(error) = read {
                self.failed = true;
                let wanted = matches!(step, Step::Read(_)).then(|| at - 1);
                let field = wanted.and_then(|at| self.read.fields().get(at));
                return Err(match field {
                    Some(field) => error.context("field", field.name()),
                    None => error,
                });
            }
        }
        self.rows += 1;
        Ok(row.cursor.position())
    }

    /// Rows read since the last batch.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The rows read since the last batch, in the reader's schema; the decoder is empty again.
    ///
    /// Errors: `Corrupt` for a text that is not UTF-8, `Schema` when a value does not fit the reader's type; both with `field`.
    pub fn finish(&mut self) -> Result<RecordBatch> {
        if self.failed {
            return Err(spoiled());
        }
        let columns = self.steps.iter_mut().filter_map(|step| match step {
            Step::Read(column) => Some(column),
            Step::Skip(_) => None,
        });
        let columns = columns.zip(self.read.fields()).map(|(column, field)| {
            let made = column.finish();
            made.map_err(|error| error.context("field", field.name()))
        });
        let columns = columns.collect::<Result<Vec<ArrayRef>>>();
        self.failed = columns.is_err();
        let options = RecordBatchOptions::new().with_row_count(Some(self.rows));
        let batch = RecordBatch::try_new_with_options(Arc::clone(&self.read), columns?, &options);
        let batch = batch
            .map_err(|error| Error::internal("Avro columns are no batch").with_source(error))?;
        self.rows = 0;
        self.fill = MAX_FILL;
        self.conformer.apply(&batch)
    }
}

#[cold]
fn spoiled() -> Error {
    Error::internal("an Avro decoder is used after a row that could not be read")
}
