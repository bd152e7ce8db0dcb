//! The options of an audit.

use std::time::Duration;

use table::schema::Table;

/// The options of an audit.
#[derive(Clone, Copy, Debug)]
pub struct AuditOptions {
    /// Whether differences are repaired, or only reported.
    pub repairs: bool,
    /// The only table that is compared. An audit of one table is not a full one.
    pub only: Option<&'static Table>,
    /// How long a state must last to be a difference. It should exceed the time until a write is searchable.
    pub wait: Duration,
    /// How often the progress is kept. An audit that is stopped repeats at most this much.
    pub keep: Duration,
    /// How many keys may wait for a second look. They are in memory.
    pub suspects: usize,
}

impl AuditOptions {
    /// The options of a full audit.
    pub const FULL: Self = Self {
        repairs: true,
        only: None,
        wait: Duration::from_secs(60),
        keep: Duration::from_mins(4),
        suspects: 10_000,
    };

    /// Returns how long before its deadline a run looks at its last keys again, keeps its progress and ends.
    pub(super) fn reserve(&self) -> Duration {
        2 * self.wait + Duration::from_secs(30)
    }
}
