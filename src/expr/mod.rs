//! Filters: parsed, bound to a schema, as a row mask and as bounds.
