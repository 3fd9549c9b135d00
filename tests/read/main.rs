//! Reading whole tables through the facade, against what Spark read.

#[path = "../support/mod.rs"]
mod support;

#[path = "../support/canonical.rs"]
mod canonical;

mod options;
mod spark;
