//! The audit: it compares the tables with the indexes that are written, while writes go on, and repairs what differs.
//!
//! It adds up digests of all items and of all documents in buckets, and looks only at the keys of buckets that differ. A
//! difference counts once two looks have seen the same state some time apart, so that a write whose record the mirror has
//! not handled yet is none. It can be stopped at any point, and resumes with the next call.

mod content;
mod difference;
mod digests;
mod filled;
mod findings;
mod look;
mod options;
mod progress;
mod reference;
mod results;
mod run;
mod schedule;
mod system;

pub use findings::{AuditEnd, DifferenceKind, Finding, GenerationAudit, TableAudit};
pub use options::{AuditOptions, AuditPurpose};
pub(crate) use progress::read_by_rebuild_audit;
#[cfg(test)]
pub(crate) use reference::{Levels, Reference, Wanted, WantedDocument};
pub use results::last_audits;
pub(crate) use results::{LastAudit, Overdue, last_full_audit, overdue_audit};
#[cfg(test)]
pub(crate) use results::{last_results, report_audits};
pub use run::AuditStep;
#[cfg(test)]
pub(crate) use run::audit_generation;
pub(crate) use run::end_rebuild_audit;
#[cfg(test)]
pub(crate) use schedule::DAY;
pub use schedule::{AUDIT, AUDIT_MINUTES, audit_index};
pub use system::Audited;
#[cfg(test)]
pub(crate) use system::audit_generations;
pub(crate) use system::{audit_one, audit_system};
