//! Which columns merging needs besides those that are read.

use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, RecordBatch};
use arrow::datatypes::{DataType, Field, FieldRef, Fields, Schema, SchemaRef};

use super::rules::MergeRules;
use crate::error::{Error, Result};
use crate::model::meta_field;

/// The column by which writers mark deletes inside rows.
const IS_DELETED: &str = "_hoodie_is_deleted";

/// The columns of one merge: those that are read, then those that only merging needs.
#[derive(Debug, Clone)]
pub struct MergeColumns {
    schema: SchemaRef,
    /// Where the record key is: one column of text, or the fields it is made of.
    pub(super) key: Vec<usize>,
    /// Whether the key is in its meta field.
    pub(super) key_is_meta: bool,
    /// Whether rows are matched by their position in the base file.
    pub(super) by_position: bool,
    pub(super) ordering: Vec<Place>,
    pub(super) is_deleted: Option<usize>,
    pub(super) operation: Option<usize>,
    /// The column of the table's own delete mark.
    pub(super) mark: Option<usize>,
}

/// A column, or a field inside a struct column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) root: usize,
    inner: Vec<String>,
}

impl Place {
    /// The values; `None` when a struct on the way is not there.
    pub(super) fn values(&self, root: &ArrayRef) -> Option<ArrayRef> {
        let mut array = Arc::clone(root);
        for name in &self.inner {
            array = Arc::clone(array.as_struct_opt()?.column_by_name(name)?);
        }
        Some(array)
    }
}

impl MergeColumns {
    /// The columns `wanted`, widened by those of `table` that `rules` look at; without the record key where rows are matched
    /// by their position.
    ///
    /// Errors: `Schema` with `field` when the table lacks its key or an ordering column.
    pub fn new(
        rules: &MergeRules,
        table: &Schema,
        wanted: &Schema,
        by_position: bool,
    ) -> Result<Self> {
        let mut widened = Widened {
            table,
            fields: wanted.fields().iter().cloned().collect(),
        };
        let key = match by_position {
            true => Vec::new(),
            false => keys(rules, &mut widened)?,
        };
        let ordering = match rules.compares() {
            true => ordering(rules, &mut widened)?,
            false => Vec::new(),
        };
        let is_deleted = widened.optional(IS_DELETED, |kind| *kind == DataType::Boolean);
        let operation = widened.optional(meta_field::OPERATION, |kind| *kind == DataType::Utf8);
        let mark = rules.delete_mark.as_ref();
        let mark = mark.and_then(|(name, _)| widened.optional(name, |_| true));
        let schema = Schema::new_with_metadata(widened.fields, wanted.metadata().clone());
        Ok(Self {
            schema: Arc::new(schema),
            key,
            key_is_meta: rules.key_fields.is_none(),
            by_position,
            ordering,
            is_deleted,
            operation,
            mark,
        })
    }

    /// All columns, the wanted ones first.
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// Whether rows are matched by their position in the base file, and not by their key.
    pub fn by_position(&self) -> bool {
        self.by_position
    }

    /// The array of a column of a batch in [`MergeColumns::schema`].
    pub(super) fn column(batch: &RecordBatch, at: usize) -> Result<&ArrayRef> {
        let column = batch.columns().get(at);
        column.ok_or_else(|| Error::internal("a batch lacks a column of its merge"))
    }
}

/// The columns of the record key.
fn keys(rules: &MergeRules, widened: &mut Widened<'_>) -> Result<Vec<usize>> {
    let Some(fields) = &rules.key_fields else {
        return Ok(vec![widened.needed(meta_field::RECORD_KEY)?]);
    };
    if fields.is_empty() {
        let message = "a table with log files that has neither key fields nor a key column";
        let property = "hoodie.table.recordkey.fields";
        return Err(Error::unsupported(message).context("property", property));
    }
    fields.iter().map(|name| widened.needed(name)).collect()
}

/// The ordering columns that the table has.
fn ordering(rules: &MergeRules, widened: &mut Widened<'_>) -> Result<Vec<Place>> {
    let mut places = Vec::new();
    for name in &rules.ordering {
        match widened.place(name) {
            Some(place) => places.push(place),
            None if rules.may_lack_ordering => {}
            None => return Err(lacks(name)),
        }
    }
    Ok(places)
}

fn lacks(name: &str) -> Error {
    Error::schema("the table's schema lacks a column that its log files are merged by")
        .context("field", name)
}

struct Widened<'a> {
    table: &'a Schema,
    fields: Vec<FieldRef>,
}

impl Widened<'_> {
    fn add(&mut self, name: &str) -> Option<usize> {
        if let Some(at) = self.fields.iter().position(|field| field.name() == name) {
            return Some(at);
        }
        let field = find(self.table.fields(), name)?;
        self.fields.push(Arc::clone(field));
        Some(self.fields.len() - 1)
    }

    fn needed(&mut self, name: &str) -> Result<usize> {
        self.add(name).ok_or_else(|| lacks(name))
    }

    fn optional(&mut self, name: &str, fits: impl Fn(&DataType) -> bool) -> Option<usize> {
        let field = find(self.table.fields(), name)?;
        fits(field.data_type()).then(|| self.add(name)).flatten()
    }

    /// A column of this whole name, else a path through structs.
    fn place(&mut self, path: &str) -> Option<Place> {
        if let Some(root) = self.add(path) {
            let inner = Vec::new();
            return Some(Place { root, inner });
        }
        let (root, rest) = path.split_once('.')?;
        let inner: Vec<String> = rest.split('.').map(str::to_owned).collect();
        let mut field: &Field = find(self.table.fields(), root)?;
        for name in &inner {
            let DataType::Struct(fields) = field.data_type() else {
                return None;
            };
            field = find(fields, name)?;
        }
        let root = self.add(root)?;
        Some(Place { root, inner })
    }
}

fn find<'a>(fields: &'a Fields, name: &str) -> Option<&'a FieldRef> {
    fields.iter().find(|field| field.name() == name)
}
