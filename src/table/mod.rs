//! The facade, and the only room that puts others in sequence.
//!
//! A [`Table`] is one table as it was when it was opened. It turns the options of a call into a plan, hands the plan to
//! `read`, and tells facts in the words of `js/index.d.ts`. It must not know how bytes are fetched or decoded.

mod cdc;
mod changes;
mod describe;
mod diff;
mod estimate;
mod explain;
mod facts;
mod listing;
mod lookup;
mod open;
mod paths;
mod read;
mod schema;
mod skip;

pub use estimate::TableStats;
pub use explain::{PlanFacts, PlannedFile};
pub use facts::{FileSliceFacts, InstantFacts, TableFacts, TimelineEntryFacts};
pub use lookup::LookupKey;
pub use open::{OpenOptions, Table};
pub use read::ReadStream;
