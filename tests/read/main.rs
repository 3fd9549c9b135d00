//! Reading whole tables through the facade, against what Spark read.

#[path = "../support/mod.rs"]
mod support;

mod cdc;
mod column_stats;
mod diff;
mod evolution;
mod incremental;
mod log_blocks;
mod logs;
mod lookup;
mod metadata;
mod options;
mod partitions;
mod rounds;
mod skipping;
mod spark;
mod states;
