//! A file's batch brought to the table's schema.
//!
//! Promises:
//! 1. Columns are matched by exact name, at every depth: fields of structs, elements of lists, values of maps; by the name that a
//!    table with schema on read had for them then.
//! 2. A column that the file lacks is its declared default, else null; when neither is allowed the read fails.
//! 3. A type that differs is given by the table of `evolve.rs`, or the read fails. Nothing becomes null for want of a type.
//! 4. Names that the layout brings (`array` of two-level lists, `key_value` of maps) and flags that forbid null give way to the
//!    table's.

use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, AsArray, ListArray, MapArray, RecordBatch, RecordBatchOptions, StructArray,
    new_null_array,
};
use arrow::datatypes::{DataType, Field, FieldRef, Fields, Schema, SchemaRef};
use arrow::error::ArrowError;

use super::absent::default_array;
use super::evolve::{may_become, promote, refused};
use super::file_names::FileNames;
use super::types::DEFAULT_KEY;
use crate::error::{Error, Result};

/// The way from one file's schema to the table's, found once and applied to each batch.
#[derive(Debug)]
pub struct Conformer {
    target: SchemaRef,
    columns: Vec<Source>,
}

/// Where a field's values come from.
#[derive(Debug)]
enum Source {
    /// The file lacks it.
    Absent,
    /// Field of the file at this place, by this step.
    Field(usize, Step),
}

/// How an array becomes the wanted type.
#[derive(Debug)]
enum Step {
    Same,
    Promote,
    Struct(Vec<Source>),
    List(Box<Step>),
    /// Keys and values.
    Map(Box<Step>, Box<Step>),
}

/// As [`Conformer::new`] and [`Conformer::apply`] for one batch.
pub fn conform(batch: &RecordBatch, target: &SchemaRef) -> Result<RecordBatch> {
    Conformer::new(batch.schema_ref(), target)?.apply(batch)
}

/// One column given as `to`, by the same rules.
pub fn conform_array(array: &ArrayRef, to: &Field) -> Result<ArrayRef> {
    let same = FileNames::default();
    let step = step(array.data_type(), to.data_type(), &same)
        .map_err(|e| e.context("field", to.name()))?;
    apply_step(&step, array, to.data_type()).map_err(|e| e.context("field", to.name()))
}

impl Conformer {
    /// Finds the way from `file` to `target`.
    ///
    /// Errors: `Schema` with `field` (`a.b` for nested ones) when a type cannot be given or an absent column cannot be null.
    pub fn new(file: &Schema, target: &SchemaRef) -> Result<Self> {
        Self::with_names(file, target, &FileNames::default())
    }

    /// As [`Conformer::new`], with the names that the target's fields have in the file.
    pub fn with_names(file: &Schema, target: &SchemaRef, names: &FileNames) -> Result<Self> {
        let columns = sources(file.fields(), target.fields(), names)?;
        Ok(Self {
            target: Arc::clone(target),
            columns,
        })
    }

    /// The places in the file's schema of the columns that are read; in the order of the target.
    pub fn file_columns(&self) -> Vec<usize> {
        let places = self.columns.iter().filter_map(|source| match source {
            Source::Field(at, _) => Some(*at),
            Source::Absent => None,
        });
        places.collect()
    }

    /// A batch of the file in the table's schema, with as many rows.
    ///
    /// Errors: `Schema` with `field` when a value cannot be given or a null stands where the table has none.
    pub fn apply(&self, batch: &RecordBatch) -> Result<RecordBatch> {
        let columns = apply_sources(
            &self.columns,
            self.target.fields(),
            batch.columns(),
            batch.num_rows(),
        )?;
        let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
        RecordBatch::try_new_with_options(Arc::clone(&self.target), columns, &options)
            .map_err(invalid)
    }
}

/// Arrow's refusal of a rebuilt array: nulls where none are allowed.
fn invalid(error: ArrowError) -> Error {
    Error::schema("a file's values do not fit the table's schema").with_source(error)
}

fn sources(file: &Fields, target: &Fields, names: &FileNames) -> Result<Vec<Source>> {
    let one = |field: &FieldRef| {
        source(file, field, names).map_err(|error| match error.get("field").map(str::to_owned) {
            // The nearest field was named first; its place among its parents goes before it.
            Some(inner) => nested(error, &format!("{}.{inner}", field.name())),
            None => error.context("field", field.name()),
        })
    };
    target.iter().map(one).collect()
}

fn nested(error: Error, path: &str) -> Error {
    let mut again = Error::new(error.kind(), error.message()).context("field", path);
    for (key, value) in error.contexts().iter().filter(|(key, _)| *key != "field") {
        again = again.context(key, value);
    }
    again
}

fn source(file: &Fields, field: &Field, names: &FileNames) -> Result<Source> {
    let name = names.of(field.name());
    let place = name.and_then(|name| file.iter().position(|known| known.name() == name));
    match place {
        Some(at) => {
            let from = file
                .get(at)
                .map_or(&DataType::Null, |known| known.data_type());
            let inner = names.inner(field.name());
            Ok(Source::Field(at, step(from, field.data_type(), &inner)?))
        }
        None if field.is_nullable() || field.metadata().contains_key(DEFAULT_KEY) => {
            Ok(Source::Absent)
        }
        None => Err(Error::schema(
            "a file lacks a column that has no default and cannot be null",
        )),
    }
}

fn step(from: &DataType, to: &DataType, names: &FileNames) -> Result<Step> {
    match (from, to) {
        (a, b) if a == b && names.is_same() => Ok(Step::Same),
        (DataType::Struct(a), DataType::Struct(b)) => Ok(Step::Struct(sources(a, b, names)?)),
        (DataType::List(a), DataType::List(b)) => {
            let inner = names.inner("element");
            let step = step(a.data_type(), b.data_type(), &inner)?;
            Ok(Step::List(Box::new(step)))
        }
        (DataType::Map(a, _), DataType::Map(b, _)) => {
            let (Some((key, value)), Some((to_key, to_value))) = (key_value(a), key_value(b))
            else {
                return Err(refused(from, to));
            };
            let (of_key, of_value) = (names.inner("key"), names.inner("value"));
            let key = step(key.data_type(), to_key.data_type(), &of_key)?;
            let value = step(value.data_type(), to_value.data_type(), &of_value)?;
            Ok(Step::Map(Box::new(key), Box::new(value)))
        }
        (DataType::Null, _) => Ok(Step::Promote),
        (a, b) if may_become(a, b) => Ok(Step::Promote),
        (a, b) => Err(refused(a, b)),
    }
}

fn key_value(entries: &Field) -> Option<(&FieldRef, &FieldRef)> {
    let DataType::Struct(fields) = entries.data_type() else {
        return None;
    };
    match fields.as_ref() {
        [key, value] => Some((key, value)),
        _ => None,
    }
}

fn apply_sources(
    sources: &[Source],
    target: &Fields,
    columns: &[ArrayRef],
    rows: usize,
) -> Result<Vec<ArrayRef>> {
    let pairs = target.iter().zip(sources);
    let arrays = pairs.map(|(field, source)| {
        let array = match source {
            Source::Absent if field.metadata().contains_key(DEFAULT_KEY) => {
                default_array(field, rows)
            }
            Source::Absent => Ok(new_null_array(field.data_type(), rows)),
            Source::Field(at, step) => match columns.get(*at) {
                Some(array) => apply_step(step, array, field.data_type()),
                None => Err(Error::internal(
                    "a batch has fewer columns than its file's schema",
                )),
            },
        };
        array.map_err(|e| e.context("field", field.name()))
    });
    arrays.collect()
}

fn apply_step(step: &Step, array: &ArrayRef, to: &DataType) -> Result<ArrayRef> {
    let misfit = || Error::internal("a batch is not of its file's schema");
    match (step, to) {
        (Step::Same, _) if array.data_type() == to => Ok(Arc::clone(array)),
        (Step::Promote, _) if *array.data_type() == DataType::Null => {
            Ok(new_null_array(to, array.len()))
        }
        (Step::Promote, _) => promote(array, to),
        (Step::Struct(sources), DataType::Struct(fields)) => {
            let array = array.as_struct_opt().ok_or_else(misfit)?;
            let columns = apply_sources(sources, fields, array.columns(), array.len())?;
            let made = StructArray::try_new_with_length(
                fields.clone(),
                columns,
                array.nulls().cloned(),
                array.len(),
            );
            Ok(Arc::new(made.map_err(invalid)?))
        }
        (Step::List(step), DataType::List(element)) => {
            let array = array.as_list_opt::<i32>().ok_or_else(misfit)?;
            let values = apply_step(step, array.values(), element.data_type())?;
            let made = ListArray::try_new(
                Arc::clone(element),
                array.offsets().clone(),
                values,
                array.nulls().cloned(),
            );
            Ok(Arc::new(made.map_err(invalid)?))
        }
        (Step::Map(key, value), DataType::Map(entries, sorted)) => {
            let array = array.as_map_opt().ok_or_else(misfit)?;
            let (DataType::Struct(fields), Some((to_key, to_value))) =
                (entries.data_type(), key_value(entries))
            else {
                return Err(misfit());
            };
            let columns = vec![
                apply_step(key, array.keys(), to_key.data_type())?,
                apply_step(value, array.values(), to_value.data_type())?,
            ];
            let pairs = StructArray::try_new(fields.clone(), columns, None).map_err(invalid)?;
            let (offsets, nulls) = (array.offsets().clone(), array.nulls().cloned());
            let made = MapArray::try_new(Arc::clone(entries), offsets, pairs, nulls, *sorted);
            Ok(Arc::new(made.map_err(invalid)?))
        }
        _ => Err(misfit()),
    }
}

#[cfg(test)]
mod tests;
