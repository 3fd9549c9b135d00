//! Change queries: a range of time to every change in it.

use std::sync::Arc;

use futures::StreamExt;

use super::open::Table;
use super::read::ReadStream;
use crate::config::ReadOptions;
use crate::error::{Error, ErrorKind, Result};
use crate::read::{
    CdcImages, CdcOutput, ImageForm, Selection, cdc_splits, check_commit_times, run_cdc,
};
use crate::schema::{parse_avro, strip_meta_fields, strip_meta_fields_avro};
use crate::timeline::table_schema;

impl Table {
    /// Reads every change of a range.
    ///
    /// Errors: `Unsupported` for a table that does not capture changes, `InvalidArgument` for a start after its end, and
    /// those of an incremental read.
    pub(super) async fn read_cdc(&self, options: &ReadOptions) -> Result<ReadStream> {
        if !self.meta.config.cdc_enabled() {
            return Err(Error::unsupported("the table does not capture changes")
                .context("property", "hoodie.table.cdc.enabled"));
        }
        check_commit_times(&self.meta)?;
        let range = self.range(options)?;
        if let (Some(start), Some(end)) = (&range.start, &range.end)
            && start > end
        {
            return Err(Error::invalid_argument("the range starts after its end")
                .context("start", start)
                .context("end", end));
        }
        let table = table_schema::load(&self.meta, None).await?;
        let avro = match &table.avro {
            Some(json) => Some(parse_avro(&strip_meta_fields_avro(json)?)?),
            None => None,
        };
        let bound = self.bind(options, &Selection::default(), None).await?;
        let avro = avro.as_ref().and_then(|schema| schema.as_record());
        let output = CdcOutput::new(
            strip_meta_fields(bound.columns().read_schema())
                .fields()
                .clone(),
            avro.cloned().map(Arc::new),
            match options.structs_as_images()? {
                true => ImageForm::Struct,
                false => ImageForm::Json,
            },
            options.projection.as_deref(),
            &options.filters,
            options.batch_rows()?,
        )?;
        let images = CdcImages::new(bound, &output, options.strict_logs);
        let listing = self.listing(options)?;
        let splits = cdc_splits(&self.meta, &listing, &range).await?;
        let files = splits.len();
        let schema = output.schema();
        let changes = run_cdc(&self.meta, splits, images, output, options.limit);
        let changes = changes.map(|batch| batch.map_err(expired));
        Ok(ReadStream::of(
            &self.meta.storage,
            schema,
            files,
            changes.boxed(),
        ))
    }
}

/// A file that a commit names and that is gone was cleaned.
fn expired(error: Error) -> Error {
    if error.kind() != ErrorKind::NotFound {
        return error;
    }
    let mut expired = Error::instant_expired("a file that tells changes of the range is cleaned");
    for key in ["path", "instant"] {
        if let Some(value) = error.get(key).map(str::to_owned) {
            expired = expired.context(key, value);
        }
    }
    expired
        .context("hint", "a later start leaves the instant out")
        .with_source(error)
}
