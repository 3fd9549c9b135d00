use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, ArrowPrimitiveType, AsArray, PrimitiveArray, RecordBatch, RecordBatchOptions,
    StringArray, new_null_array,
};
use arrow::datatypes::{DataType, Field, Int32Type, Int64Type, Schema, SchemaRef};

use super::partition_path::{PathStyle, PathText};
use super::path_bounds::{self, PathBounds};
use super::path_value;
use super::timestamp::{self, TimestampFormat};
use crate::config::{KeyGeneratorType, PartitionFieldKind, TableConfig};
use crate::error::{Error, Result};
use crate::expr::ColumnBounds;
use crate::model::{OLD_NULL_PARTITION, PartitionPath};

/// Where the values of a partition field come from; see the [module page](super) for the rule and its evidence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ValueSource {
    /// The file, but null where the path names null.
    File,
    /// The file, shown as text.
    FileAsText,
    /// The path: the files lack the column.
    Path,
}

/// One partition field.
#[derive(Debug, Clone, PartialEq)]
pub struct PartitionColumn {
    /// The column, or a path into structs (`a.b`).
    pub name: String,
    /// How the path's text comes about.
    pub kind: PartitionFieldKind,
    /// Where values come from.
    pub source: ValueSource,
    /// The type in which rows are read and filtered; of a nested field its own.
    pub data_type: DataType,
    /// Whether a row may be without a value.
    pub nullable: bool,
    /// Whether it is a column of its own and no field inside a struct.
    pub root: bool,
}

/// A root column whose one value in a partition is known without its files.
#[derive(Debug, Clone)]
pub struct PartitionValue {
    /// The column's name.
    pub name: String,
    /// An array of length 1, of the type in which rows are read.
    pub value: ArrayRef,
}

/// The partition fields of a table, in path order.
///
/// Three schemas are told apart: the table's, the one rows are read and filtered in ([`read_schema`]), and the one
/// they are shown in ([`shown_schema`]). They differ where columns are dropped from the files, and where Spark shows
/// numbers as text.
///
/// [`read_schema`]: Self::read_schema
/// [`shown_schema`]: Self::shown_schema
#[derive(Debug, Clone)]
pub struct PartitionColumns {
    columns: Vec<PartitionColumn>,
    read_schema: SchemaRef,
    style: PathStyle,
    timestamps: Option<TimestampFormat>,
}

impl PartitionColumns {
    /// Finds each field in `table`, the schema of the data at the instant that is read; `created`, the schema the table
    /// was created with, tells the types of columns that the files lack.
    ///
    /// Errors: `Schema` with `field` for a partition field that no schema knows, unless its column is dropped.
    pub fn new(config: &TableConfig, table: &Schema, created: Option<&Schema>) -> Result<Self> {
        let mut read_schema = table.clone();
        let mut columns = Vec::with_capacity(config.partition_fields().len());
        for field in config.partition_fields() {
            let (found, root) = match find(table, &field.name) {
                Some(found) => found,
                None if config.drop_partition_columns() => {
                    let data_type = dropped_type(&field.name, field.kind, created);
                    let added = Field::new(&field.name, data_type, true);
                    read_schema = append(read_schema, added.clone());
                    (added, true)
                }
                None => {
                    let message = "the table's schema lacks a partition field";
                    return Err(Error::schema(message).context("field", &field.name));
                }
            };
            columns.push(PartitionColumn {
                name: field.name.clone(),
                kind: field.kind,
                source: source(config, found.data_type(), root),
                data_type: found.data_type().clone(),
                nullable: found.is_nullable(),
                root,
            });
        }
        Ok(Self {
            columns,
            read_schema: Arc::new(read_schema),
            style: PathStyle {
                hive_style: config.hive_style(),
                url_encoded: config.url_encoded(),
                timestamp_folders: timestamp::folders(config),
            },
            timestamps: TimestampFormat::of(config),
        })
    }

    /// The fields, in path order.
    pub fn columns(&self) -> &[PartitionColumn] {
        &self.columns
    }

    /// The columns that rows are read and filtered in: the table's, and after them those dropped from the files.
    pub fn read_schema(&self) -> &SchemaRef {
        &self.read_schema
    }

    /// The columns as a caller sees them.
    pub fn shown_schema(&self) -> SchemaRef {
        self.show_schema(&self.read_schema)
    }

    /// The partition fields as a caller sees them, in path order.
    pub fn partition_schema(&self) -> SchemaRef {
        let fields: Vec<Field> = self
            .columns
            .iter()
            .map(|column| {
                let data_type = match column.source {
                    ValueSource::FileAsText => DataType::Utf8,
                    ValueSource::File | ValueSource::Path => column.data_type.clone(),
                };
                Field::new(&column.name, data_type, column.nullable)
            })
            .collect();
        Arc::new(Schema::new(fields))
    }

    /// A batch that was read in (a projection of) the read schema, as a caller sees it.
    pub fn show(&self, batch: RecordBatch) -> Result<RecordBatch> {
        let shown = self.show_schema(batch.schema_ref());
        if shown == *batch.schema_ref() {
            return Ok(batch);
        }
        let arrays = batch.columns().iter().zip(shown.fields());
        let arrays = arrays.map(|(array, field)| match field.data_type() {
            DataType::Utf8 => as_text(array),
            _ => Arc::clone(array),
        });
        let arrays = arrays.collect();
        let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
        RecordBatch::try_new_with_options(shown, arrays, &options)
            .map_err(|e| Error::internal("a partition column cannot be shown").with_source(e))
    }

    /// A projection of the read schema, as a caller sees it.
    pub fn show_schema(&self, schema: &SchemaRef) -> SchemaRef {
        let as_text = |name: &str| {
            let mut columns = self.columns.iter();
            columns.any(|c| c.name == name && c.source == ValueSource::FileAsText)
        };
        if !schema.fields().iter().any(|field| as_text(field.name())) {
            return Arc::clone(schema);
        }
        let fields: Vec<Field> = schema
            .fields()
            .iter()
            .map(|field| match as_text(field.name()) {
                true => field.as_ref().clone().with_data_type(DataType::Utf8),
                false => field.as_ref().clone(),
            })
            .collect();
        Arc::new(Schema::new_with_metadata(fields, schema.metadata().clone()))
    }

    /// The root columns whose value in this partition is known without its files; they must not be read from them.
    ///
    /// Errors: `Schema` with `field`, `path` and `value` when a dropped column's text is none of its type.
    pub fn values(&self, path: &PartitionPath) -> Result<Vec<PartitionValue>> {
        let mut values = Vec::new();
        for (column, text) in self.columns.iter().zip(self.texts(path)) {
            if let Some(value) = column.value(&text, path)? {
                let name = column.name.clone();
                values.push(PartitionValue { name, value });
            }
        }
        Ok(values)
    }

    /// What the path says of the partition's rows.
    pub fn bounds(&self, path: &PartitionPath) -> PathBounds {
        let mut bounds = PathBounds::default();
        for (column, text) in self.columns.iter().zip(self.texts(path)) {
            bounds.add(&column.name, self.column_bounds(column, &text));
        }
        bounds
    }

    /// What a folder of the table says of the rows in all partitions below it. The first field's value may go on in
    /// folders below, after a slash.
    pub fn folder_bounds(&self, folder: &str) -> PathBounds {
        let mut bounds = PathBounds::default();
        let Some(column) = self.columns.first() else {
            return bounds;
        };
        if column.kind != PartitionFieldKind::Simple {
            return bounds;
        }
        let known = match self.style.text(&column.name, folder) {
            PathText::Sure(text) if text != OLD_NULL_PARTITION => {
                path_bounds::begins(&text, &column.data_type)
            }
            text => self.column_bounds(column, &text),
        };
        bounds.add(&column.name, known);
        bounds
    }

    fn texts(&self, path: &PartitionPath) -> Vec<PathText> {
        let fields: Vec<_> = self
            .columns
            .iter()
            .map(|c| (c.name.as_str(), c.kind))
            .collect();
        self.style.split(&fields, path)
    }

    fn column_bounds(&self, column: &PartitionColumn, text: &PathText) -> Option<ColumnBounds> {
        let text = match (column.kind, text) {
            (PartitionFieldKind::Timestamp, PathText::Sure(text)) => {
                let range = self.timestamps.as_ref()?.range(text, &column.data_type)?;
                return Some(path_bounds::between_or_null(range));
            }
            (PartitionFieldKind::Simple, PathText::Null) => {
                return column.is_surely_null().then(path_bounds::null);
            }
            (PartitionFieldKind::Simple, PathText::Sure(text)) => text,
            _ => return None,
        };
        if column.is_old_null(text) {
            return column.is_surely_null().then(path_bounds::null);
        }
        if column.is_old_null_text(text) {
            return None;
        }
        path_bounds::one(text, &column.data_type)
    }
}

impl PartitionColumn {
    /// The one value that is known without the files.
    fn value(&self, text: &PathText, path: &PartitionPath) -> Result<Option<ArrayRef>> {
        if !self.root {
            return Ok(None);
        }
        let null = || Ok(Some(new_null_array(&self.data_type, 1)));
        match (self.source, text) {
            (ValueSource::File, PathText::Null) if self.is_surely_null() => null(),
            (ValueSource::File | ValueSource::FileAsText, _) => Ok(None),
            (ValueSource::Path, PathText::Null) => null(),
            (ValueSource::Path, PathText::Sure(text) | PathText::Likely(text)) => {
                if self.is_old_null(text) {
                    return null();
                }
                let value = path_value::parse(text, &self.data_type);
                value.map(Some).ok_or_else(|| self.unreadable(path, text))
            }
            (ValueSource::Path, PathText::Unknown) => Err(self.unreadable(path, path.as_str())),
        }
    }

    fn unreadable(&self, path: &PartitionPath, text: &str) -> Error {
        Error::schema(format!(
            "a partition's path has no value of type {} for a column that its files lack",
            self.data_type
        ))
        .context("field", &self.name)
        .context("path", path)
        .context("value", text)
    }

    /// Whether a null in the path means null in every row that is read: what [`Self::value`] gives, or what the
    /// file must hold for want of another value that is written so.
    fn is_surely_null(&self) -> bool {
        match self.source {
            ValueSource::Path => true,
            ValueSource::File | ValueSource::FileAsText => {
                let plain = self.kind == PartitionFieldKind::Simple;
                plain && self.nullable && (self.root || self.data_type != DataType::Utf8)
            }
        }
    }

    fn is_old_null(&self, text: &str) -> bool {
        text == OLD_NULL_PARTITION && self.data_type != DataType::Utf8
    }

    /// Whether a file may hold null, an empty text or this very text.
    fn is_old_null_text(&self, text: &str) -> bool {
        text == OLD_NULL_PARTITION && self.source != ValueSource::Path
    }
}

fn source(config: &TableConfig, data_type: &DataType, root: bool) -> ValueSource {
    if config.drop_partition_columns() {
        return ValueSource::Path;
    }
    let integer = matches!(data_type, DataType::Int32 | DataType::Int64);
    match config.keygen() {
        KeyGeneratorType::Timestamp if integer && root => ValueSource::FileAsText,
        _ => ValueSource::File,
    }
}

fn dropped_type(name: &str, kind: PartitionFieldKind, created: Option<&Schema>) -> DataType {
    // A formatted moment is no value of the column's type.
    if kind == PartitionFieldKind::Timestamp {
        return DataType::Utf8;
    }
    let found = created.and_then(|schema| find(schema, name));
    found.map_or(DataType::Utf8, |(field, _)| field.data_type().clone())
}

/// The field of that very name, else the one that the path `a.b` leads to; and whether it is a root column.
fn find(schema: &Schema, name: &str) -> Option<(Field, bool)> {
    if let Some(field) = schema.fields().iter().find(|field| field.name() == name) {
        return Some((field.as_ref().clone(), true));
    }
    let mut fields = schema.fields();
    let mut nullable = false;
    let mut parts = name.split('.').peekable();
    while let Some(part) = parts.next() {
        let field = fields.iter().find(|field| field.name() == part)?;
        nullable |= field.is_nullable();
        match (parts.peek(), field.data_type()) {
            (None, _) => return Some((field.as_ref().clone().with_nullable(nullable), false)),
            (Some(_), DataType::Struct(inner)) => fields = inner,
            _ => return None,
        }
    }
    None
}

fn append(schema: Schema, field: Field) -> Schema {
    let mut fields: Vec<_> = schema.fields().iter().cloned().collect();
    fields.push(Arc::new(field));
    Schema::new_with_metadata(fields, schema.metadata().clone())
}

/// Integers as decimal text; any other array as it is.
fn as_text(array: &ArrayRef) -> ArrayRef {
    fn text<T: ArrowPrimitiveType<Native: ToString>>(numbers: &PrimitiveArray<T>) -> ArrayRef {
        let texts = numbers.iter().map(|number| number.map(|n| n.to_string()));
        Arc::new(texts.collect::<StringArray>())
    }
    match array.data_type() {
        DataType::Int32 => text(array.as_primitive::<Int32Type>()),
        DataType::Int64 => text(array.as_primitive::<Int64Type>()),
        _ => Arc::clone(array),
    }
}

#[cfg(test)]
mod tests;
