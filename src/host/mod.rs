//! What the machine lends: the clock, sleep, randomness and time zones, with one signature each and two bodies.
//!
//! Beside `http_store/` and `js_api/` this is the only room that asks for the target. Every future here is `Send`.
//!
//! Knows nothing of Hudi.
#![allow(
    clippy::disallowed_methods,
    reason = "this room is where clock, sleep and random come from"
)]

mod clock;
mod detach;
#[cfg(target_arch = "wasm32")]
mod kept;
mod outside;
mod random;
#[cfg(target_arch = "wasm32")]
mod send;
mod sleep;
mod turn;
mod zone;

pub use clock::now_millis;
pub use detach::detach;
#[cfg(target_arch = "wasm32")]
pub use kept::Kept;
pub use outside::Outside;
pub use random::{random_bytes, random_unit, random_uuid};
#[cfg(target_arch = "wasm32")]
pub use send::{await_promise, run_local, settled};
pub use sleep::sleep;
pub use turn::turn;
pub use zone::{Zone, zone};
