//! How an instant is claimed and closed.
//!
//! Mints instant times, keeps writers of one table apart, writes the requested, inflight and completed files of an
//! instant and its markers. It knows names and bytes; it must not know Arrow, nor what a write puts into data files.
//!
//! 1. No file of an instant is ever put over one that is there, and two writers that claim one time meet at the first file.
//! 2. A time is greater than every time on the timeline, completion times included, and than every time minted by this
//!    process.
//! 3. A data file is named by a marker before it is begun, so whatever a write leaves behind can be found.
//! 4. A completed file that may or may not have landed is `CommitStateUnknown` with the instant, never success and never
//!    a plain failure.
//!
//! Locks are a trait, [`LockProvider`], so that locks of a browser or of a store take the place of the one inside the
//! process; who else writes is looked for by [`refuse_other_writers`].
//! Sources: Hudi `HoodieActiveTimeline`, `TimeGenerator`, `TransactionManager`, `TimelineServerBasedWriteMarkers`.

mod clock;
mod lock;
mod marker;
mod others;
mod properties;
#[cfg(all(test, not(target_arch = "wasm32")))]
pub(crate) mod support;
mod transition;
mod writer;

pub use clock::WriteClock;
pub use lock::{HeldLock, InProcessLocks, LockProvider, TableLock};
pub use marker::{MarkerKind, Markers};
pub use others::refuse_other_writers;
pub use properties::{create_properties, update_properties};
pub use transition::{Outcome, Pending, Requested, complete, create_file, request, resolve};
pub use writer::Writer;
