//! The classes that JavaScript sees (wasm32 only).
