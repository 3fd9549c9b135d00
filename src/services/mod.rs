//! Table services: what keeps a table small and whole between writes.
//!
//! [`rollback_failed`] takes back writes that ended early, [`rollback`] the newest completed one; [`clean`] removes versions of
//! file groups that no read needs any more, and [`archive`] moves old instants into the history; [`clean_metadata`] and
//! [`archive_metadata`] do so to a metadata table. A service plans, persists its plan as the requested file of its own instant,
//! carries it out, and completes the instant; whoever finds a plan that was not carried out to the end does so on the plan's
//! own instant. It knows timelines, plans and files; it must not know rows.
//!
//! Sources: Hudi `BaseRollbackActionExecutor`, `MarkerBasedRollbackStrategy`, `BaseHoodieTableServiceClient`,
//! `CleanPlanner`, `CleanerUtils`, `TimelineArchiverV2`, `ArchivalUtils`, `LSMTimelineWriter`.

mod archive;
mod archive_plan;
mod clean;
mod clean_plan;
mod history_file;
mod metadata;
mod rollback;
mod rollback_plan;

pub use archive::{archive, archive_is_due};
pub use clean::{Cleaned, clean};
pub use metadata::{MetadataServices, archive_metadata, clean_metadata};
pub use rollback::{Rollbacks, RolledBack, rollback, rollback_failed, rollback_pending};
