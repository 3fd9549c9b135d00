//! The schema that rows are read in.

use arrow::datatypes::{Schema, SchemaRef};

use super::open::Table;
use crate::config::ReadOptions;
use crate::error::{Error, Result};
use crate::keygen::PartitionColumns;
use crate::model::InstantTime;
use crate::read::{Bound, Selection, snapshot_slices};
use crate::schema::{
    add_meta_fields, add_meta_fields_avro, parse_avro, strip_meta_fields, to_arrow,
};
use crate::slice::open_footer;
use crate::timeline::{schema_history, table_schema};
use crate::view::PartitionPruner;

impl Table {
    /// The columns as a caller sees them; dropped partition columns come last.
    pub async fn schema(&self, meta_fields: bool) -> Result<SchemaRef> {
        let shown = self.partition_columns(None).await?.shown_schema();
        Ok(match meta_fields {
            true => shown,
            false => strip_meta_fields(&shown).into(),
        })
    }

    /// The partition fields, in path order.
    pub async fn partition_schema(&self) -> Result<SchemaRef> {
        Ok(self.partition_columns(None).await?.partition_schema())
    }

    /// The newest schema as Avro JSON text.
    ///
    /// Errors: `NotFound` when neither a commit nor the properties nor a base file holds one.
    pub async fn avro_schema(&self, meta_fields: bool) -> Result<String> {
        let json = match table_schema::load(&self.meta, None).await?.avro {
            Some(json) => json,
            None => self.footer_avro(None).await?.ok_or_else(no_schema)?,
        };
        match meta_fields && self.meta.config.populate_meta_fields() {
            true => add_meta_fields_avro(&json),
            false => crate::schema::strip_meta_fields_avro(&json),
        }
    }

    /// The partition columns bound to the schema of the newest instant at or before `as_of`, meta fields included where
    /// the table has them.
    pub(super) async fn partition_columns(
        &self,
        as_of: Option<&InstantTime>,
    ) -> Result<PartitionColumns> {
        let table = table_schema::load(&self.meta, as_of).await?;
        self.columns_of(table.avro.as_deref(), as_of).await
    }

    async fn columns_of(
        &self,
        avro: Option<&str>,
        as_of: Option<&InstantTime>,
    ) -> Result<PartitionColumns> {
        let config = &self.meta.config;
        let data = match avro {
            Some(json) => to_arrow(&parse_avro(json)?)?,
            None => self.footer_schema(as_of).await?,
        };
        let table = match config.populate_meta_fields() {
            true => add_meta_fields(&strip_meta_fields(&data)),
            false => strip_meta_fields(&data),
        };
        let created = match config.create_schema() {
            Some(json) => Some(to_arrow(&parse_avro(json)?)?),
            None => None,
        };
        PartitionColumns::new(config, &table, created.as_ref())
    }

    /// Binds a selection to the columns as of an instant.
    pub(super) async fn bind(
        &self,
        options: &ReadOptions,
        selection: &Selection,
        as_of: Option<&InstantTime>,
    ) -> Result<Bound> {
        let table = table_schema::load(&self.meta, as_of).await?;
        let columns = self.columns_of(table.avro.as_deref(), as_of).await?;
        let bound = Bound::new(columns, selection)?;
        Ok(match table.numbered {
            Some(numbered) if options.schema_on_read()? => {
                bound.with_history(schema_history::load(&self.meta, &numbered).await?)
            }
            _ => bound,
        })
    }

    /// The schema of a base file, for tables whose commits hold none; empty when there is no file.
    async fn footer_schema(&self, as_of: Option<&InstantTime>) -> Result<Schema> {
        let Some((path, size)) = self.newest_base(as_of).await? else {
            return Ok(Schema::empty());
        };
        let footer = open_footer(&self.meta.storage, &path, size).await?;
        match &footer.keys().avro_schema {
            Some(json) => to_arrow(&parse_avro(json)?),
            None => Ok(footer.arrow().schema().as_ref().clone()),
        }
    }

    async fn footer_avro(&self, as_of: Option<&InstantTime>) -> Result<Option<String>> {
        let Some((path, size)) = self.newest_base(as_of).await? else {
            return Ok(None);
        };
        let footer = open_footer(&self.meta.storage, &path, size).await?;
        Ok(footer.keys().avro_schema.clone())
    }

    async fn newest_base(&self, as_of: Option<&InstantTime>) -> Result<Option<(String, u64)>> {
        let none = PartitionPruner::none();
        let listing = self.listing(&ReadOptions::default())?;
        let slices = snapshot_slices(&self.meta, &listing, &none, as_of, true, false).await?;
        let bases = slices.kept.into_iter().filter_map(|slice| slice.base);
        let newest = bases.max_by(|a, b| a.name.instant.cmp(&b.name.instant));
        Ok(newest.map(|base| (base.path, base.size)))
    }
}

fn no_schema() -> Error {
    Error::not_found("no commit, property or base file of this table holds a schema")
}
