//! What happened to the table, in order.
