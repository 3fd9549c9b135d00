//! Columns to partition paths and record keys, and partition paths back to values.
