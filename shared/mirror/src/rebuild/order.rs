//! What an operator orders about a rebuild, and what is reported of it.

use std::time::Duration;

use crate::audit::AuditStep;
use crate::ports::Fault;

/// An operator's order about a rebuild.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Rebuild {
    pub goal: Goal,
    /// Whether another rebuild begins if none is under way.
    pub begins: bool,
    /// Whether the old indexes are not written any more while the new one is filled, since they are lost or have a
    /// mapping that the code does not write. Readers then search the old index in its last state. A rebuild goes on as it
    /// was begun, and an order that contradicts this is refused.
    pub replaces: bool,
    /// How long the new index is written before it is filled: longer than an invocation can live. What invocations from
    /// before write to it is then compared with the tables.
    pub wait: Duration,
    /// Whether the new index serves even if items of it are in quarantine.
    pub accepts_quarantine: bool,
    /// How long a state must last to be a difference in the audit of the new index, before it serves. `None` stands for
    /// no audit. If it is short, the audit also repairs documents whose next write is about to arrive, which does no harm.
    pub audit: Option<Duration>,
    /// For how long a step is tried again after a passing fault.
    pub patience: Duration,
}

/// For how long each step of an operator's command is tried again while an engine does not respond or refuses requests
/// for now: the creation of an index, its filling, its audit, the move of the alias, a deletion.
pub const PATIENCE: Duration = Duration::from_mins(90);

impl Rebuild {
    /// The order that creates an index while no other is written and no batch runs. There is nothing to wait for, and the
    /// index serves even with items in quarantine, since there is no older one to keep.
    pub const WITHOUT_WAIT: Self = Self {
        goal: Goal::Serve,
        begins: false,
        replaces: false,
        wait: Duration::ZERO,
        accepts_quarantine: true,
        audit: None,
        patience: Duration::ZERO,
    };
}

/// The state that an order leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Goal {
    /// The new index serves, and the old one is kept.
    Serve,
    /// The old index is deleted after the new one serves.
    Finish,
    /// The old index serves again, and the new one is kept.
    RollBack,
    /// The new index, which does not serve, is deleted.
    Cancel,
}

/// The indexes that carrying out an order ends.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Preview {
    /// The indexes that are not written any more.
    pub released: Vec<String>,
    /// The indexes that are deleted. One that is released stays if no other serves.
    pub deleted: Vec<String>,
}

/// A step of a rebuild that was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Progress {
    /// A step has failed with this reason, and is tried again for so long.
    Retrying { reason: String, left: Duration },
    /// From now on the stream function writes the index.
    Published,
    /// A page of a table was written.
    Scanned { table: &'static str, items: usize },
    /// The index is filled, and is compared with the tables.
    Filled,
    /// A step of its audit was made.
    Auditing(AuditStep),
    /// The index has every document.
    Audited,
    /// The readers' alias names the index.
    Serving,
    /// The other index is not written any more.
    Released,
    /// An index that is not written any more was deleted.
    Dropped,
}

/// Returns the fault of an order that cannot be carried out.
pub(crate) fn refused(reason: impl ToString) -> Fault {
    Fault::refused(reason)
}
