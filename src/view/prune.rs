use crate::expr::Predicate;
use crate::keygen::PartitionColumns;
use crate::model::PartitionPath;

/// The partitions that a predicate rules out by their paths alone.
///
/// A partition is ruled out only when the predicate keeps none of its rows: what a path does not surely say keeps.
#[derive(Debug, Clone, Default)]
pub struct PartitionPruner {
    rule: Option<(PartitionColumns, Predicate)>,
}

impl PartitionPruner {
    /// Rules out nothing.
    pub fn none() -> Self {
        Self::default()
    }

    /// Rules out by the partition columns of `predicate`, which is bound to their read schema; other columns keep.
    pub fn new(columns: &PartitionColumns, predicate: &Predicate) -> Self {
        if columns.columns().is_empty() || predicate.is_empty() {
            return Self::none();
        }
        Self {
            rule: Some((columns.clone(), predicate.clone())),
        }
    }

    /// Whether rows of this partition may pass.
    pub fn keeps(&self, path: &PartitionPath) -> bool {
        match &self.rule {
            Some((columns, predicate)) => predicate.may_match(&columns.bounds(path)),
            None => true,
        }
    }

    /// Whether rows of any partition in or below this folder of the table may pass.
    pub fn keeps_below(&self, folder: &str) -> bool {
        match &self.rule {
            Some((columns, predicate)) => predicate.may_match(&columns.folder_bounds(folder)),
            None => true,
        }
    }
}

#[cfg(test)]
mod tests;
