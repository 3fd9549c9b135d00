//! What differs between two times.

use futures::try_join;

use super::open::Table;
use crate::config::ReadOptions;
use crate::error::{Error, Result};
use crate::model::InstantTime;
use crate::read::{Diff, DiffSide, Selection, check_commit_times, diff_rows, snapshot_slices};
use crate::schema::project;

impl Table {
    /// Compares the snapshots as of the options' start and end by record key: without a start with the empty table,
    /// without an end with now. Filters and the projection hold for both.
    ///
    /// Errors: `Unsupported` for tables without meta fields, else those of time travel.
    pub async fn diff(&self, options: &ReadOptions) -> Result<Diff> {
        check_commit_times(&self.meta)?;
        let range = self.range(options)?;
        let selection = Selection {
            filters: options.filters.clone(),
            ..Selection::default()
        };
        let bound = self.bind(options, &selection, None).await?;
        let pruner = bound.pruner();
        let side = async |as_of: Option<InstantTime>| {
            self.meta.check_as_of(as_of.as_ref()).await?;
            let listing = self.listing(options)?;
            let slices =
                snapshot_slices(&self.meta, &listing, &pruner, as_of.as_ref(), false, false);
            Ok::<_, Error>(DiffSide {
                slices: slices.await?.kept,
                as_of,
            })
        };
        let first = async {
            match range.start {
                Some(_) => side(range.start.clone()).await,
                None => Ok(DiffSide::default()),
            }
        };
        let sides = try_join!(first, side(range.end.clone()))?;
        let strict = options.strict_logs;
        let diff = diff_rows(&self.meta, &bound, &options.filters, sides, strict).await?;
        let Some(names) = &options.projection else {
            return Ok(diff);
        };
        let read = bound.columns().read_schema();
        let places = project(read, names)?;
        let places = places
            .fields()
            .iter()
            .map(|field| read.index_of(field.name()));
        let places = places.collect::<Result<Vec<usize>, _>>();
        let places = places.map_err(|e| Error::internal("no such column").with_source(e))?;
        let cut = |batches: Vec<arrow::array::RecordBatch>| {
            let cut = batches.iter().map(|batch| batch.project(&places));
            let cut = cut.collect::<Result<Vec<_>, _>>();
            cut.map_err(|e| Error::internal("no such column").with_source(e))
        };
        Ok(Diff {
            added: cut(diff.added)?,
            removed: cut(diff.removed)?,
            before: cut(diff.before)?,
            after: cut(diff.after)?,
        })
    }

    /// A diff as one stream: the batches of its four parts one after the other, and how many each has.
    ///
    /// Errors: as [`Table::diff`].
    pub async fn diff_stream(
        &self,
        options: &ReadOptions,
    ) -> Result<(super::ReadStream, [usize; 4])> {
        let diff = self.diff(options).await?;
        let columns = self.partition_columns(None).await?;
        let read = columns.read_schema();
        let schema = match &options.projection {
            Some(names) => std::sync::Arc::new(project(read, names)?),
            None => std::sync::Arc::clone(read),
        };
        let schema = columns.show_schema(&schema);
        let parts = [&diff.added, &diff.removed, &diff.before, &diff.after];
        let counts = parts.map(Vec::len);
        let batches = [diff.added, diff.removed, diff.before, diff.after].concat();
        let batches = batches.into_iter().map(|batch| columns.show(batch));
        let batches: Vec<_> = batches.collect();
        let batches = futures::stream::iter(batches);
        let stream = super::ReadStream::of(&self.meta.storage, schema, 0, Box::pin(batches));
        Ok((stream, counts))
    }
}
