/// Milliseconds since 1970-01-01T00:00:00Z by the host's clock.
#[cfg(target_arch = "wasm32")]
pub fn now_millis() -> i64 {
    js_sys::Date::now() as i64
}

/// Milliseconds since 1970-01-01T00:00:00Z by the host's clock.
#[cfg(not(target_arch = "wasm32"))]
#[allow(
    clippy::disallowed_methods,
    reason = "this is the one place that reads the clock"
)]
pub fn now_millis() -> i64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    since.map_or(0, |d| i64::try_from(d.as_millis()).unwrap_or(i64::MAX))
}
