//! One file slice on disk, read.
