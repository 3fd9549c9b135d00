//! The `hoodie.*` keys, typed, and the options of one call.
//!
//! Knows the text of `hoodie.properties` and what its values mean; knows no storage, so choosing between the file and
//! its backup is `timeline`'s part. Source: Hudi `HoodieTableConfig`.

pub mod key;
mod keygen;
mod options;
mod persisted;
pub mod properties;
mod table;

pub use keygen::{KeyGeneratorType, PartitionField, PartitionFieldKind};
pub use options::{
    BucketIndex, DEFAULT_BATCH_SIZE, QueryType, RawFilter, ReadOptions, TimeValue,
    metadata_enabled, read_key,
};
pub use persisted::{refuse_other_new_table, refuse_other_table};
pub use properties::Properties;
pub use table::{TableConfig, TimelineZone};
