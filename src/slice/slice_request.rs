use std::fmt;
use std::sync::Arc;

use arrow::datatypes::SchemaRef;

use super::base_request::BaseRequest;
use super::log_scan::VisibleInstants;
use crate::merge::MergeRules;
use crate::schema::SchemaHistory;

/// What to read of one file slice.
#[derive(Debug, Clone)]
pub struct SliceRequest {
    /// Columns, filters, constants and limits; they hold for merged rows.
    pub rows: BaseRequest,
    /// How log files are merged; a slice that has any is not read without.
    pub logs: Option<Arc<LogRequest>>,
}

/// How the log files of a table are merged.
#[derive(Clone)]
pub struct LogRequest {
    /// The table's rules.
    pub rules: Arc<MergeRules>,
    /// All columns of the table, in the types that rows are read in.
    pub table: SchemaRef,
    /// Which blocks count, by their instants.
    pub visible: Arc<dyn VisibleInstants>,
    /// Whether a damaged span of a log file is an error.
    pub strict: bool,
    /// Whether only some of the slice's log files are there.
    pub alone: bool,
    /// What the columns were called when a block was written, where the table has had other names.
    pub history: Option<Arc<SchemaHistory>>,
}

impl SliceRequest {
    /// The rows of base files alone.
    pub fn base_only(rows: BaseRequest) -> Self {
        Self { rows, logs: None }
    }
}

impl fmt::Debug for LogRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LogRequest")
            .field("rules", &self.rules)
            .field("strict", &self.strict)
            .finish_non_exhaustive()
    }
}
