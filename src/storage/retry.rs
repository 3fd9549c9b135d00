/// When a request is made again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RetryPolicy {
    /// Attempts in all, the first included.
    pub attempts: u32,
    /// The wait before the second attempt is anything up to this, and doubles from there.
    pub base_millis: u32,
    /// A wait without Retry-After is never longer.
    pub max_wait_millis: u32,
    /// No attempt begins later than this after the first; a longer Retry-After ends the call at once.
    pub total_millis: u32,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self {
            attempts: 5,
            base_millis: 200,
            max_wait_millis: 10_000,
            total_millis: 60_000,
        }
    }
}
