//! Apache Hudi tables, read where JavaScript runs.
