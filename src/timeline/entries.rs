//! The rows of Spark's `show_timeline`: every instant, and which one undid which.

use std::collections::BTreeMap;

use super::meta_client::MetaClient;
use super::payload::{RestoreMetadata, RestorePlan, RollbackMetadata, RollbackPlan};
use crate::error::Result;
use crate::model::{Action, Instant, InstantTime, State};

/// One instant with what undid it and what it undid.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TimelineEntry {
    /// The instant.
    pub instant: Instant,
    /// Rollbacks and restores that undid it; it is on the timeline only while they run.
    pub rolled_back_by: Vec<InstantTime>,
    /// Request times of what it undid or means to undo, in the order it says.
    pub rolls_back: Vec<String>,
}

/// Every instant of the active timeline, oldest first. A rollback that cannot be read is warned of and shown bare.
pub async fn entries(meta: &MetaClient) -> Result<Vec<TimelineEntry>> {
    let mut undone_by: BTreeMap<String, Vec<InstantTime>> = BTreeMap::new();
    let mut all = Vec::new();
    for instant in meta.timeline.instants() {
        let rolls_back = match undoes(meta, instant).await {
            Ok(undone) => undone,
            Err(error) => {
                meta.storage.warn(&error.to_string(), error.get("path"));
                Vec::new()
            }
        };
        for undone in &rolls_back {
            undone_by
                .entry(undone.clone())
                .or_default()
                .push(instant.time.clone());
        }
        all.push(TimelineEntry {
            instant: instant.clone(),
            rolled_back_by: Vec::new(),
            rolls_back,
        });
    }
    for entry in all.iter_mut().filter(|e| e.instant.action.writes_data()) {
        entry.rolled_back_by = undone_by
            .remove(entry.instant.time.as_str())
            .unwrap_or_default();
    }
    Ok(all)
}

async fn undoes(meta: &MetaClient, instant: &Instant) -> Result<Vec<String>> {
    let done = instant.is_completed();
    Ok(match instant.action {
        Action::Rollback if done => {
            let body = meta
                .body::<RollbackMetadata>(instant, State::Completed)
                .await?;
            body.unwrap_or_default().commits_rollback
        }
        Action::Rollback => {
            let body = meta.body::<RollbackPlan>(instant, State::Requested).await?;
            let undone = body.unwrap_or_default().instant_to_rollback;
            undone.into_iter().map(|i| i.commit_time).collect()
        }
        Action::Restore if done => {
            let body = meta
                .body::<RestoreMetadata>(instant, State::Completed)
                .await?;
            body.unwrap_or_default().instants_to_rollback
        }
        Action::Restore => {
            let body = meta.body::<RestorePlan>(instant, State::Requested).await?;
            let undone = body.unwrap_or_default().instants_to_rollback;
            undone.into_iter().map(|i| i.commit_time).collect()
        }
        _ => Vec::new(),
    })
}
