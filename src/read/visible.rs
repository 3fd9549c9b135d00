use std::collections::BTreeSet;
use std::sync::Arc;

use async_trait::async_trait;

use crate::error::Result;
use crate::model::InstantTime;
use crate::slice::VisibleInstants;
use crate::timeline::MetaClient;

/// The instants whose log blocks a read of a table sees: those committed, and requested by the time that is read as of.
#[derive(Clone)]
pub struct TableInstants {
    meta: MetaClient,
    as_of: Option<InstantTime>,
    members: Option<Arc<BTreeSet<InstantTime>>>,
}

impl TableInstants {
    /// Of a read as of a time, or of now.
    pub fn new(meta: &MetaClient, as_of: Option<&InstantTime>) -> Self {
        Self {
            meta: meta.clone(),
            as_of: as_of.cloned(),
            members: None,
        }
    }

    /// Only those that are members, where there is such a set.
    #[must_use]
    pub fn among(self, members: Option<Arc<BTreeSet<InstantTime>>>) -> Self {
        Self { members, ..self }
    }
}

#[async_trait]
impl VisibleInstants for TableInstants {
    /// Asks the archived timeline about instants older than the active one.
    async fn learn(&self, instants: &[&str]) -> Result<()> {
        let instants = instants.iter();
        let instants = instants.filter_map(|text| InstantTime::parse(text).ok());
        self.meta.learn_archived(instants).await
    }

    fn sees(&self, instant: &str) -> bool {
        let member = |members: &BTreeSet<InstantTime>| {
            InstantTime::parse(instant).is_ok_and(|time| members.contains(&time))
        };
        let timeline = &self.meta.timeline;
        timeline.sees_block_of(instant, self.as_of.as_ref())
            && self.members.as_deref().is_none_or(member)
    }
}
