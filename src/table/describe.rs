//! Facts of an open table.

use std::collections::{BTreeMap, BTreeSet};

use futures::stream::{self, StreamExt, TryStreamExt};

use super::facts::{FileSliceFacts, InstantFacts, TableFacts, TimelineEntryFacts};
use super::open::Table;
use super::read::Purpose;
use crate::config::{ReadOptions, TimelineZone};
use crate::error::{Error, Result};
use crate::model::{Action, BaseFile, FileSlice, Instant, InstantTime, TableType};
use crate::slice::open_footer;
use crate::timeline;

/// Requests for row counts under way at once; the storage holds its own bound.
const PARALLEL: usize = 16;

impl Table {
    /// Whether log files may lie over the base files.
    pub fn is_mor(&self) -> bool {
        self.meta.config.table_type() == TableType::MergeOnRead
    }

    /// What is known without a request.
    pub fn facts(&self) -> TableFacts {
        let config = &self.meta.config;
        TableFacts {
            table_name: config.table_name().to_owned(),
            table_type: config.table_type().as_str(),
            is_mor: self.is_mor(),
            table_version: config.version().number(),
            timezone: match config.timeline_zone() {
                TimelineZone::Utc => "UTC",
                TimelineZone::Local => "LOCAL",
            },
            hudi_options: config.properties().clone(),
        }
    }

    /// Every instant of the active timeline in every state, oldest first, from file names alone.
    pub fn instants(&self) -> Vec<InstantFacts> {
        self.meta
            .timeline
            .instants()
            .map(|i| self.instant_facts(i))
            .collect()
    }

    /// The same, with what rolled back what; that costs a request for each rollback.
    pub async fn timeline_entries(&self) -> Result<Vec<TimelineEntryFacts>> {
        let entries = timeline::entries(&self.meta).await?;
        let facts = entries.into_iter().map(|entry| {
            let millis = self.epoch_millis(&entry.instant.time);
            TimelineEntryFacts::new(entry, millis)
        });
        Ok(facts.collect())
    }

    /// The completed replacecommits that clustered.
    pub async fn clustering_commits(&self) -> Result<Vec<InstantFacts>> {
        let completed = self.meta.timeline.completed(&Action::ReplaceCommit);
        let mut found = Vec::new();
        for instant in completed {
            let body = self.meta.commit_metadata(instant).await?;
            if body.is_some_and(|body| body.operation_type.as_deref() == Some("CLUSTER")) {
                found.push(self.instant_facts(instant));
            }
        }
        Ok(found)
    }

    /// What an instant says of itself, as JSON text.
    ///
    /// Errors: `NotFound` for an instant that this handle does not see.
    pub async fn instant_json(&self, time: &str, action: &str) -> Result<String> {
        let time = InstantTime::parse(time)?;
        let found = self.meta.timeline.find(&time, &Action::from_word(action));
        let found = found.ok_or_else(|| {
            Error::not_found("no such instant on the active timeline")
                .context("instant", &time)
                .context("action", action)
        })?;
        self.meta.instant_json(found).await
    }

    /// The file slices that a snapshot reads, with their row counts.
    pub async fn file_slices(&self, options: &ReadOptions) -> Result<Vec<FileSliceFacts>> {
        let snapshot = self.prepare(options, None, Purpose::Slices).await?;
        self.slice_facts(&snapshot.slices.kept).await
    }

    pub(super) async fn slice_facts(&self, slices: &[FileSlice]) -> Result<Vec<FileSliceFacts>> {
        let written = self.rows_written(slices).await?;
        let facts = slices.iter().map(|slice| self.one_slice(slice, &written));
        stream::iter(facts).buffered(PARALLEL).try_collect().await
    }

    async fn one_slice(
        &self,
        slice: &FileSlice,
        written: &BTreeMap<String, u64>,
    ) -> Result<FileSliceFacts> {
        let rows = match &slice.base {
            Some(base) => self.rows_of(base, written).await?,
            None => 0,
        };
        Ok(FileSliceFacts::new(slice, rows))
    }

    /// The rows of a base file: as its commit says, else as its footer does.
    async fn rows_of(&self, base: &BaseFile, written: &BTreeMap<String, u64>) -> Result<u64> {
        match written.get(&base.path) {
            Some(rows) => Ok(*rows),
            None => Ok(open_footer(&self.meta.storage, &base.path, base.size)
                .await?
                .rows()),
        }
    }

    /// Rows by base file, as the commits of the active timeline that wrote these slices say: one request an instant.
    async fn rows_written(&self, slices: &[FileSlice]) -> Result<BTreeMap<String, u64>> {
        let bases = slices.iter().filter_map(|slice| slice.base.as_ref());
        let wanted: BTreeSet<_> = bases.map(|base| &base.name.instant).collect();
        let writes = self.meta.timeline.completed_writes();
        let bodies = writes
            .filter(|instant| wanted.contains(&instant.time))
            .map(|instant| self.meta.commit_metadata(instant));
        let bodies: Vec<_> = stream::iter(bodies)
            .buffered(PARALLEL)
            .try_collect()
            .await?;
        let stats = bodies
            .into_iter()
            .flatten()
            .flat_map(|body| body.partition_to_write_stats);
        let stats = stats.flat_map(|(_, stats)| stats);
        Ok(stats
            .filter_map(|stat| Some((stat.path?, u64::try_from(stat.num_writes).ok()?)))
            .collect())
    }

    fn instant_facts(&self, instant: &Instant) -> InstantFacts {
        InstantFacts::new(instant, self.epoch_millis(&instant.time))
    }

    fn epoch_millis(&self, time: &InstantTime) -> Option<i64> {
        self.clock.epoch_millis(time)
    }
}
