//! The options of an audit.

use std::time::Duration;

use table::schema::Table;

/// The options of an audit.
#[derive(Clone, Copy, Debug)]
pub struct AuditOptions {
    pub purpose: AuditPurpose,
    /// How long a state must last to be a difference. It should exceed the time until a write is searchable.
    pub wait: Duration,
    /// How often the progress is saved. An audit that is stopped repeats at most this much.
    pub save_interval: Duration,
    /// How many keys may wait for a second look. They are in memory.
    pub max_suspects: usize,
}

/// The purpose of an audit. Each has a progress of its own, so that none resumes or discards that of another.
#[derive(Clone, Copy, Debug)]
pub enum AuditPurpose {
    /// The daily audit, which an operator may start or resume: it compares every table, and repairs what differs.
    Daily,
    /// The audit of a filled index before it serves. It is done as the daily one.
    Rebuild,
    /// It compares every table, and only reports what differs.
    DryRun,
    /// It compares only this table.
    Table { table: &'static Table, repairs: bool },
}

/// The time for the last looks and repairs of a run, in addition to the wait before them.
const LAST_LOOKS: Duration = Duration::from_mins(2);

impl AuditOptions {
    /// The options of the daily audit.
    pub const DAILY: Self = Self {
        purpose: AuditPurpose::Daily,
        wait: Duration::from_secs(60),
        save_interval: Duration::from_mins(4),
        max_suspects: 10_000,
    };

    /// Returns how long before its deadline a run looks at its last keys again, saves its progress and ends.
    pub(crate) fn reserve(&self, time_limit: Duration) -> Duration {
        (self.wait + LAST_LOOKS).min(time_limit / 2)
    }

    /// Returns the longest wait with which a run of this time makes progress and ends in time.
    pub(super) fn longest_wait(time_limit: Duration) -> Duration {
        time_limit / 3
    }
}

impl AuditPurpose {
    /// Returns the name in the notes of the state table.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Daily => "daily",
            Self::Rebuild => "rebuild",
            Self::DryRun => "dry-run",
            Self::Table { .. } => "table",
        }
    }

    /// Returns the only table that is compared.
    pub(super) const fn only(self) -> Option<&'static Table> {
        match self {
            Self::Table { table, .. } => Some(table),
            Self::Daily | Self::Rebuild | Self::DryRun => None,
        }
    }

    /// Whether it compares a filled index that does not serve yet.
    pub(super) const fn is_rebuild(self) -> bool {
        matches!(self, Self::Rebuild)
    }

    /// Whether differences are repaired, or only reported.
    pub(super) const fn repairs(self) -> bool {
        match self {
            Self::Daily | Self::Rebuild => true,
            Self::DryRun => false,
            Self::Table { repairs, .. } => repairs,
        }
    }

    /// Whether the results are those of a full audit, which count for the schedule and the status.
    pub(super) const fn is_full(self) -> bool {
        matches!(self, Self::Daily | Self::Rebuild)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn run_with_the_longest_wait_has_time_for_its_last_looks() {
        for limit in [30, 60, 900].map(Duration::from_secs) {
            let options = AuditOptions { wait: AuditOptions::longest_wait(limit), ..AuditOptions::DAILY };
            assert!(options.wait < options.reserve(limit) && options.reserve(limit) < limit);
        }
        assert_eq!(AuditOptions::DAILY.reserve(Duration::from_mins(15)), Duration::from_mins(3));
    }
}
