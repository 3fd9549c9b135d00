//! The metadata table written: what a write of the data table means for its indexes, as Hudi's own records, log blocks and base files.
//!
//! It knows the layout of the metadata table and nothing of how rows are written: whoever writes tells what came and what went, as a
//! [`MetadataChange`]. The data table's instants are others' as well; the metadata table's own are made here.
//!
//! | file | holds |
//! |---|---|
//! | `change.rs` | [`MetadataChange`]: files added and removed, with their columns' ranges and record keys |
//!
//! Source: Hudi 1.1 `HoodieBackedTableMetadataWriter`, `HoodieTableMetadataUtil`, `HoodieMetadataPayload`.

mod change;

pub use change::{AddedFile, ColumnRange, MetadataChange, RecordKeys};
