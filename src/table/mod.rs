//! The facade, and the only room that puts others in sequence.
//!
//! A [`Table`] is one table as it was when it was opened. It turns the options of a call into a plan, hands the plan to
//! `read`, and tells facts in the words of `js/index.d.ts`. It must not know how bytes are fetched or decoded.

mod append;
mod cdc;
mod changes;
mod column_stats;
mod create;
mod create_options;
mod describe;
mod diff;
mod estimate;
mod explain;
mod facts;
mod listing;
mod lookup;
mod new_columns;
mod open;
mod paths;
mod read;
mod row_input;
mod schema;
mod skip;
mod skip_values;
mod write_checks;
mod write_options;
mod write_support;

pub use append::Rows;
pub use column_stats::ColumnStatsFacts;
pub use create::TableSchema;
pub use create_options::{CdcChoice, CreateOptions, MetadataChoice};
pub use estimate::TableStats;
pub use explain::{PlanFacts, PlannedFile};
pub use facts::{FileSliceFacts, InstantFacts, TableFacts, TimelineEntryFacts};
pub use lookup::LookupKey;
pub use open::{OpenOptions, Table};
pub use read::ReadStream;
pub use row_input::rows_to_batch;
pub use write_options::{WriteOptions, WriteOutcome};
