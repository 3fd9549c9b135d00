//! What happened to the table, in order.
//!
//! Opens a table ([`MetaClient`]): its properties and the set of instants it shows, which never changes in a handle.
//! Answers which instants completed and when, whether files of an instant may be trusted, whether a time can be travelled
//! to, which file groups are replaced, and which schema held. It must not know data files beyond what commits say of
//! them.
//! Sources: Hudi `HoodieTableMetaClient`, `HoodieActiveTimeline`, `TimelineUtils.validateTimestampAsOf`.

mod active;
mod archived;
mod archived_logs;
mod as_of;
mod clock;
mod entries;
mod history;
mod layout;
mod load;
mod meta_client;
mod meta_folder;
pub mod payload;
mod range;
mod replaced;
mod retained;
pub mod schema_history;
pub mod table_schema;

pub use active::{InstantFile, Timeline};
pub use clock::TimelineClock;
pub use entries::{TimelineEntry, entries};
pub use history::{HistoryFile, HistoryManifest};
pub use layout::TimelineName;
pub use meta_client::MetaClient;
pub use meta_folder::MetaFolder;
pub use range::{ChangeRange, settled_time};
pub use replaced::ReplacedFileGroups;
