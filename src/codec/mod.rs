//! Bytes to values and back; sans-IO: no async, no path, no clock.
