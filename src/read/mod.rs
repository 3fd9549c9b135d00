//! Options to slices, slices to a bounded stream of batches.
