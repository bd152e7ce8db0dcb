//! The audit: it compares the tables with the indexes that are written, while writes go on, and repairs what differs.
//!
//! It adds up digests of all items and of all documents in buckets, and looks only at the keys of buckets that differ. A
//! difference counts once two looks have seen the same state some time apart, so that a write whose record the mirror has
//! not handled yet is none. It can be stopped at any point, and resumes with the next call.

mod content;
mod digests;
mod findings;
mod look;
mod options;
mod patience;
mod progress;
mod reference;
mod run;
mod schedule;
mod system;
mod time;

pub use findings::{Ended, Finding, GenerationAudit, Kind, TableAudit};
pub use options::AuditOptions;
#[cfg(test)]
pub(crate) use reference::{Document, Levels, Reference, Wanted};
pub use run::Step;
#[cfg(test)]
pub(crate) use run::audit_generation;
pub use schedule::{AUDIT, AUDIT_MINUTES, audit_index};
pub use system::last_audits;
#[cfg(test)]
pub(crate) use system::last_of_generation;
pub(crate) use system::{audit_one, audit_system, last_full_audit};
