//! Columns that an input brings and the table has not yet.

use arrow::datatypes::{FieldRef, Schema};

use super::open::Table;
use crate::error::{Error, Result};
use crate::index::MetadataWriter;
use crate::model::meta_field::is_meta_field;
use crate::schema::{from_arrow, join_fields_avro, parse_avro, to_arrow};

impl Table {
    /// The table's columns with the new ones of an input behind them, as Spark adds them; rows of older files have nulls there.
    /// Statistics are kept of the new ones too, since to Spark a file without those of an indexed column holds nulls alone.
    ///
    /// Errors: `Schema` for a new column that may not be null, or has a name that differs from another in its case alone, and for
    /// a key, partition or ordering field that the input lacks; `Unsupported` where the index definitions are not Hudi's own.
    pub(super) async fn widened(
        &self,
        avro: &str,
        given: &Schema,
        index: Option<&mut MetadataWriter>,
    ) -> Result<String> {
        self.check_given(given)?;
        let known = to_arrow(&parse_avro(avro)?)?;
        let is_new = |field: &&FieldRef| {
            known.field_with_name(field.name()).is_err() && !is_meta_field(field.name())
        };
        let new: Vec<FieldRef> = given.fields().iter().filter(is_new).cloned().collect();
        for field in &new {
            let same = |other: &&FieldRef| other.name().eq_ignore_ascii_case(field.name());
            if let Some(other) = known.fields().iter().find(same) {
                return Err(Error::schema(
                    "a new column differs from one of the table in its case alone",
                )
                .context("field", field.name())
                .context("hint", format!("the table has {}", other.name())));
            }
            if !field.is_nullable() {
                return Err(Error::schema("a new column must be one that may be null")
                    .context("field", field.name())
                    .context("hint", "rows that are there have no value for it"));
            }
        }
        if new.is_empty() {
            return Ok(avro.to_owned());
        }
        let names: Vec<String> = new.iter().map(|field| field.name().clone()).collect();
        let more = from_arrow(&Schema::new(new), self.meta.config.table_name())?;
        let all = join_fields_avro(avro, &more)?;
        if let Some(index) = index {
            let columns = to_arrow(&parse_avro(&all)?)?;
            index.add_columns(&names, &columns).await?;
        }
        Ok(all)
    }

    /// Columns may be missing, but not those that decide where a row belongs.
    fn check_given(&self, given: &Schema) -> Result<()> {
        let config = &self.meta.config;
        let partitions = config.partition_fields().iter();
        let partitions = partitions.map(|field| field.name.as_str());
        let keys = config.record_key_fields().into_iter();
        for name in keys.chain(partitions).chain(config.ordering_fields()) {
            let column = name.split('.').next().unwrap_or_default();
            let has = |name: &str| given.field_with_name(name).is_ok();
            if !has(name) && !has(column) {
                return Err(Error::schema(
                    "the input lacks a column that keys, partitions or the order of rows come from",
                )
                .context("field", name)
                .context("hint", "give the column, with nulls where it has no value"));
            }
        }
        Ok(())
    }
}
