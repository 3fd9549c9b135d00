//! The object stores that a browser, Node or a worker can reach.
