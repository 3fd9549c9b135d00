//! What a read would fetch, without fetching data.

use futures::stream::{self, StreamExt, TryStreamExt};
use serde::Serialize;

use super::facts::FileSliceFacts;
use super::open::Table;
use super::read::Purpose;
use crate::config::ReadOptions;
use crate::error::Result;
use crate::slice::{Estimate, estimate_slice};

/// Footers asked for at once; the storage holds its own bound.
const PARALLEL: usize = 16;

/// `ReadPlan`.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PlanFacts {
    /// The instant that the read is as of; empty before the first commit.
    pub instant: String,
    /// Every file slice as of then.
    pub files: Vec<PlannedFile>,
    /// Requests for footers, columns and log files.
    pub estimated_requests: u64,
    /// Bytes of their bodies.
    pub estimated_bytes: u64,
}

/// One file slice and what ruled it out.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PlannedFile {
    /// The slice.
    pub slice: FileSliceFacts,
    /// What says that no row of it can pass the filters: `partition` (its path), `partition-stats`, `column-stats`,
    /// `record-index`, `secondary-index`, `bucket`, `bloom-filter`, `expression-index`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pruned_by: Option<&'static str>,
}

impl Table {
    /// Plans a read and reads the footers of its base files.
    ///
    /// Errors: those of [`Table::read`] before its first batch.
    pub async fn explain(&self, options: &ReadOptions) -> Result<PlanFacts> {
        let snapshot = self.prepare(options, None, Purpose::AllSlices).await?;
        let tasks = snapshot.tasks(self, options.strict_logs)?;
        let estimates = tasks.into_iter().map(|task| {
            let storage = self.meta.storage.clone();
            async move { estimate_slice(&storage, &task.slice, &task.request).await }
        });
        let estimates: Vec<Estimate> = stream::iter(estimates)
            .buffered(PARALLEL)
            .try_collect()
            .await?;
        let kept = self.slice_facts(&snapshot.slices.kept).await?;
        let pruned = self.slice_facts(&snapshot.slices.pruned).await?;
        let (skipped, reasons): (Vec<_>, Vec<_>) = snapshot.slices.skipped.into_iter().unzip();
        let skipped = self.slice_facts(&skipped).await?;
        let skipped = skipped.into_iter().zip(reasons);
        let files = |slices: Vec<FileSliceFacts>, pruned_by| {
            slices
                .into_iter()
                .map(move |slice| PlannedFile { slice, pruned_by })
        };
        let latest = self.meta.timeline.latest_commit().map(|i| &i.time);
        let instant = snapshot.as_of.as_ref().or(latest);
        Ok(PlanFacts {
            instant: instant.map(ToString::to_string).unwrap_or_default(),
            files: files(kept, None)
                .chain(files(pruned, Some("partition")))
                .chain(skipped.map(|(slice, by)| PlannedFile {
                    slice,
                    pruned_by: Some(by),
                }))
                .collect(),
            estimated_requests: estimates.iter().map(|e| e.requests).sum(),
            estimated_bytes: estimates.iter().map(|e| e.bytes).sum(),
        })
    }
}
