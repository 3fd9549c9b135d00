//! One base path on any object store.
