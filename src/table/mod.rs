//! The facade, and the only room that puts others in sequence.
