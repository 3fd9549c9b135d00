//! What is refused, and what is brought to the table's types.
