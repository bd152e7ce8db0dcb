//! The context of a batch or a scanned page, which does not change while it is processed, and the times after which no
//! invocation uses what it has received.

use std::time::Duration;

use crate::build::Materials;
use crate::documents::Documents;
use crate::generation::Targets;
use crate::ports::{Fault, Ports, Time};

/// The age after which data that was read or received is not used any more. The sweep of tombstones relies on it.
pub(crate) const MAX_READ_AGE: Duration = Duration::from_mins(15);

/// How long an invocation of the handler of stream records may live.
pub const TIMEOUT: Duration = Duration::from_secs(60);

/// How long a rebuild on AWS waits until no invocation from before a publication lives: the longest time that a request
/// for an invocation may take to arrive, and the timeout.
pub const AWAIT_BATCHES: Duration = Duration::from_secs(MAX_READ_AGE.as_secs() + TIMEOUT.as_secs());

pub(crate) struct Context<'c, P, D> {
    pub(crate) ports: &'c P,
    pub(crate) documents: &'c D,
    /// Every generation to be written.
    pub(crate) targets: Targets,
    /// When the records were received, or the page was read.
    pub(crate) received: i64,
}

impl<'c, P: Ports, D: Documents> Context<'c, P, D> {
    pub(crate) fn materials(&self) -> Materials<'_, P::Shapes, D> {
        let (shapes, now) = (self.ports.shapes(), self.ports.time().micros());
        Materials { documents: self.documents, targets: &self.targets, shapes, now }
    }

    /// Whether this time has come, in microseconds since 1970-01-01T00:00:00Z.
    pub(crate) fn is_past(&self, until: i64) -> bool {
        self.ports.time().micros() >= until
    }

    /// Checks that the received data may still be used. Every task calls it first, which also ends its retries.
    pub(crate) fn fresh(&self) -> Result<(), Fault> {
        fresh(self.ports.time(), self.received)
    }
}

/// Checks that data which was received or read at this time may still be used.
pub(crate) fn fresh(time: &impl Time, received: i64) -> Result<(), Fault> {
    let age = time.micros().saturating_sub(received);
    if u128::try_from(age).unwrap_or_default() < MAX_READ_AGE.as_micros() {
        Ok(())
    } else {
        Err(Fault::lasting("mirror", "data that was read more than 15 minutes ago is not used"))
    }
}
