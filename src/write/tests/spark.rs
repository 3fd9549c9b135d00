//! Rows of Spark's files written again.
