//! The `hoodie.*` keys, typed.
