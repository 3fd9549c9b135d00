//! Reading whole tables through the facade, against what Spark read.

#[path = "../support/mod.rs"]
mod support;

mod evolution;
mod incremental;
mod metadata;
mod options;
mod skipping;
mod spark;
