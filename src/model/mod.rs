//! Hudi's nouns as plain values: no I/O, no arrays.
