//! Hudi's nouns as plain values: no I/O, no arrays.

mod file_name;
mod file_slice;
mod in_order;
mod instant;
pub mod meta_field;
mod partition;
mod version;

pub use file_name::{BaseFileName, BaseFormat, FileName, LogFileName, NativeLogName};
pub use file_slice::{BaseFile, FileGroup, FileSlice, LogFile};
pub use in_order::InOrder;
pub use instant::{Action, Instant, InstantTime, State};
pub use partition::{
    NULL_PARTITION, OLD_NULL_PARTITION, PARTITION_METAFILE, PartitionPath, decode_value,
    encode_value, is_partition_metafile,
};
pub use version::{TableType, TableVersion, TimelineLayout};
