//! One file slice on disk, read.
//!
//! Knows which bytes of a base file a request needs and gives batches in the table's schema; knows which blocks of log
//! files count. Knows nothing of the timeline: whoever asks has chosen the slice, and says which instants are visible.

mod base_bounds;
mod base_file;
mod base_read;
mod base_request;
mod base_scan;
mod base_shape;
mod log_read;
mod log_rules;
mod log_scan;
mod merged_read;
mod slice_read;
mod slice_request;

pub use base_bounds::file_bounds;
pub use base_file::{OpenedFile, open_file, open_footer};
pub use base_read::{BaseReader, OpenBase, open_base, read_base};
pub use base_request::{BaseRequest, Constant};
pub use base_scan::Estimate;
pub use log_scan::{
    FoundBlocks, LogScan, ScanOptions, VisibleInstants, block_content, block_contents, find_blocks,
    scan_logs, scan_visible_logs,
};
pub use slice_read::{OpenSlice, SliceReader, estimate_slice, open_slice};
pub use slice_request::{LogRequest, SliceRequest};

#[cfg(all(test, not(target_arch = "wasm32")))]
mod tests;
