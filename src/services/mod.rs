//! Table services: what keeps a table small and whole between writes.
//!
//! [`rollback_failed`] takes back writes that ended early, [`rollback`] the newest completed one. A service plans, persists its
//! plan as the requested file of its own instant, carries it out, and completes the instant; whoever finds a plan that was
//! not carried out to the end does so on the plan's own instant. It knows timelines, plans and files; it must not know Arrow.
//!
//! Sources: Hudi `BaseRollbackActionExecutor`, `MarkerBasedRollbackStrategy`, `BaseHoodieTableServiceClient`.

mod rollback;
mod rollback_plan;

pub use rollback::{Rollbacks, RolledBack, rollback, rollback_failed};
