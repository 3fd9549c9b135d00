//! The metadata table written: what a write of the data table means for its indexes, as Hudi's own records, log blocks and base files.
//!
//! It knows the layout of the metadata table and nothing of how rows are written: whoever writes tells what came and what went, as a
//! [`MetadataChange`]. The data table's instants are others' as well; the metadata table's own are made here.
//!
//! | file | holds |
//! |---|---|
//! | `change.rs` | [`MetadataChange`]: files added and removed, with their columns' ranges |
//! | `record_keys.rs` | [`RecordKeys`]: many keys in little memory |
//!
//! Source: Hudi 1.1 `HoodieBackedTableMetadataWriter`, `HoodieTableMetadataUtil`, `HoodieMetadataPayload`.

mod change;
mod record_keys;

pub use change::{AddedFile, ColumnRange, MetadataChange};
pub use record_keys::RecordKeys;
