//! Making a table.

use arrow::datatypes::Schema;
use bytes::Bytes;

use super::create_options::CreateOptions;
use super::open::{OpenOptions, Table};
use crate::commit::{self, WriteClock};
use crate::error::{Error, ErrorKind, Result};
use crate::schema::{
    AvroKind, AvroSchema, check_name, from_arrow, parse_avro, strip_meta_fields,
    strip_meta_fields_avro, to_arrow,
};
use crate::storage::{Cause, Storage};

const PROPERTIES: &str = ".hoodie/hoodie.properties";
/// Stores have no empty folders, and Java lists the timeline's and the history's before anything is in them.
const KEEPER: &str = ".hoodie/timeline/history/.keep";

/// The columns of a new table.
#[derive(Debug, Clone)]
pub enum TableSchema {
    /// As Arrow has them.
    Arrow(Schema),
    /// As Avro JSON text.
    Avro(String),
}

impl Table {
    /// Makes a table at the storage's base, and opens it.
    ///
    /// The table is there from the moment that `hoodie.properties` is: what a stop before leaves is no table, and what a
    /// stop after it leaves is a table without rows.
    ///
    /// Errors: `TableExists` when there is one, which is left as it is (or opened, with `ifExists: 'open'`);
    /// `InvalidArgument`, `Schema` and `Unsupported` before any request; `ReadOnlyStorage`; those of the storage.
    pub async fn create(
        storage: Storage,
        schema: &TableSchema,
        options: CreateOptions,
    ) -> Result<Self> {
        let (arrow, avro) = columns(schema, &options.table_name)?;
        let mut properties = options.properties(&arrow, &avro)?;
        let indexes = options.metadata_partitions()?;
        if !indexes.is_empty() {
            // A build that is cut off is found by this, and done again by the next write.
            let building = indexes.join(",");
            properties.insert(
                "hoodie.table.metadata.partitions.inflight".to_owned(),
                building,
            );
        }
        let open = OpenOptions {
            timezone: options.timezone.clone(),
            canonical_uri: options.canonical_uri.clone(),
            hudi_options: options.hudi_options.clone(),
        };
        storage.require_write()?;
        if is_there(&storage).await? {
            return match options.opens_existing()? {
                true => Self::open(storage, open).await,
                false => Err(exists(PROPERTIES)),
            };
        }
        storage.put(KEEPER, Bytes::new()).await?;
        match commit::create_properties(&storage, &properties).await {
            Ok(_) => {}
            Err(error) if error.kind() == ErrorKind::TableExists && options.opens_existing()? => {
                return Self::open(storage, open).await;
            }
            Err(error) => return Err(error),
        }
        let table = Self::open(storage, open).await?;
        let table = match options.lock {
            Some(lock) => table.with_lock(lock),
            None => table,
        };
        let held = table.lock.write().await?;
        let clock = WriteClock::new(&table.meta.config, None, &table.meta.storage);
        let table = table.reloaded().await?.build_indexes(&clock).await;
        held.release().await;
        table
    }
}

/// Whether a table lies there, or what is left of one: its instants would come to life under new properties.
async fn is_there(storage: &Storage) -> Result<bool> {
    let found = storage.list_all(".hoodie", None, Cause::Properties).await?;
    if found.iter().any(|file| file.path == PROPERTIES) {
        return Ok(true);
    }
    match found.iter().find(|file| file.path != KEEPER) {
        Some(other) => Err(exists(&other.path).context(
            "hint",
            "hoodie.properties is missing and other files of a table are there: remove them, or restore it",
        )),
        None => Ok(false),
    }
}

fn exists(path: &str) -> Error {
    Error::table_exists("there is a table at this place")
        .context("path", path)
        .context("hint", "open it, or give `ifExists: 'open'`")
}

/// The columns in both forms, without meta fields.
fn columns(schema: &TableSchema, table: &str) -> Result<(Schema, String)> {
    let avro = match schema {
        TableSchema::Arrow(arrow) => from_arrow(&strip_meta_fields(arrow), table)?,
        TableSchema::Avro(text) => {
            let parsed = parse_avro(text).map_err(as_argument)?;
            check_names(&parsed)?;
            strip_meta_fields_avro(text).map_err(as_argument)?
        }
    };
    let arrow = to_arrow(&parse_avro(&avro)?).map_err(as_argument)?;
    match arrow.fields().is_empty() {
        true => Err(Error::schema("a table has at least one column")),
        false => Ok((arrow, avro)),
    }
}

/// A schema that the caller gave is not a damaged file.
fn as_argument(error: Error) -> Error {
    match error.kind() {
        ErrorKind::Corrupt => Error::schema("the schema is not Avro JSON").with_source(error),
        _ => error,
    }
}

fn check_names(schema: &AvroSchema) -> Result<()> {
    let mut open = vec![schema];
    let mut seen = 0;
    while let Some(schema) = open.pop() {
        seen += 1;
        if seen > 100_000 {
            return Err(Error::schema("the schema has too many fields"));
        }
        match &schema.kind {
            AvroKind::Record(record) => {
                for field in &record.fields {
                    check_name(&field.name)?;
                    open.push(&field.schema);
                }
            }
            AvroKind::Array(inner) | AvroKind::Map(inner) => open.push(inner),
            AvroKind::Union(branches) => open.extend(branches.iter()),
            _ => {}
        }
    }
    Ok(())
}
