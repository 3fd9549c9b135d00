//! Incremental reads: a range of time to the rows that changed in it.

use futures::try_join;

use super::open::Table;
use super::read::{Purpose, Snapshot};
use crate::config::{QueryType, RawFilter, ReadOptions, TimeValue};
use crate::error::{Error, Result};
use crate::model::meta_field::COMMIT_TIME;
use crate::read::{Changed, Selection, check_commit_times};
use crate::timeline::ChangeRange;
use crate::view::PartitionPruner;

/// The start before everything, in any letter case.
const EARLIEST: &str = "earliest";

impl Table {
    /// The range that the options name; without a start it begins at the earliest.
    ///
    /// Errors: `InvalidArgument` for what is no time.
    pub(super) fn range(&self, options: &ReadOptions) -> Result<ChangeRange> {
        let instant = |time: Option<TimeValue>, key: &'static str| {
            let instant = time.map(|time| self.clock.instant(&time)).transpose();
            instant.map_err(|error| error.context("option", key))
        };
        let start = options.start().filter(|start| match start {
            TimeValue::Text(text) => !text.trim().eq_ignore_ascii_case(EARLIEST),
            TimeValue::Millis(_) => true,
        });
        Ok(ChangeRange {
            start: instant(start, "start")?,
            end: instant(options.end(), "end")?,
        })
    }

    /// What rows of a slice must pass in an incremental read; nothing in any other. A range without instants keeps no row.
    ///
    /// Errors: as [`Table::prepare_incremental`]; `Unsupported` for change queries, which read no slices.
    pub(super) async fn range_filters(&self, options: &ReadOptions) -> Result<Vec<RawFilter>> {
        match options.query_type()? {
            QueryType::Snapshot => return Ok(Vec::new()),
            QueryType::Incremental => {}
            QueryType::Cdc => {
                let message = "a file slice tells no changes: read the table";
                return Err(Error::unsupported(message).context("queryType", "cdc"));
            }
        }
        check_commit_times(&self.meta)?;
        let range = self.range(options)?;
        let changed = Changed::find(&self.meta, range, options.full_scan_fallback()?).await?;
        if changed.is_empty() {
            return Ok(vec![RawFilter {
                field: COMMIT_TIME.to_owned(),
                operator: "=".to_owned(),
                values: vec![String::new()],
            }]);
        }
        Ok(changed.row_filters())
    }

    /// Checks the options of an incremental read, binds them to the newest schema, and finds the slices.
    ///
    /// Errors: `Unsupported` for tables without meta fields and for read-optimized reads of log files.
    pub(super) async fn prepare_incremental(
        &self,
        options: &ReadOptions,
        batch_rows: Option<usize>,
        purpose: Purpose,
    ) -> Result<Snapshot> {
        check_commit_times(&self.meta)?;
        if options.read_optimized()? && self.is_mor() {
            let message = "an incremental read of base files alone would leave changes out";
            return Err(Error::unsupported(message).context("option", "readOptimized"));
        }
        let range = self.range(options)?;
        let changed = Changed::find(&self.meta, range, options.full_scan_fallback()?).await?;
        let bind = async {
            let mut filters = options.filters.clone();
            filters.extend(changed.row_filters());
            let selection = Selection {
                filters,
                projection: options.projection.clone(),
                batch_rows,
                limit: options.limit,
            };
            self.bind(options, &selection, None).await
        };
        let all = purpose == Purpose::AllSlices;
        let slices = async |pruner: &PartitionPruner| {
            let listing = self.listing(options)?;
            let slices = changed.slices(&self.meta, &listing, pruner, all).await;
            slices.map_err(|error| changed.explain(error))
        };
        let (bound, slices) = match options.filters.is_empty() {
            true => {
                let none = PartitionPruner::none();
                try_join!(bind, slices(&none))?
            }
            false => {
                let bound = bind.await?;
                let slices = slices(&bound.pruner()).await?;
                (bound, slices)
            }
        };
        Ok(Snapshot {
            as_of: changed.last().cloned(),
            bound,
            slices: slices.slices(),
            first: None,
            changed: Some((changed, slices)),
        })
    }
}
