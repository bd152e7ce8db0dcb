//! What stays the same while a batch, or a scanned page, is worked through.

use std::time::Duration;

use crate::build::Materials;
use crate::documents::Documents;
use crate::generation::Targets;
use crate::ports::{Fault, Ports, Time};

/// Nobody uses what was read or received longer ago than this: whatever forgets deletes may rely on it.
pub(crate) const FRESH: Duration = Duration::from_mins(15);

pub(crate) struct Context<'c, P, D> {
    pub(crate) ports: &'c P,
    pub(crate) documents: &'c D,
    /// Every generation to be written.
    pub(crate) targets: Targets,
    /// When the records were received, or the page was read.
    pub(crate) received: i64,
}

impl<'c, P: Ports, D: Documents> Context<'c, P, D> {
    pub(crate) fn materials(&self) -> Materials<'c, P::Shapes, D> {
        Materials { documents: self.documents, shapes: self.ports.shapes(), now: self.ports.time().micros() }
    }

    /// To be asked before every write.
    pub(crate) fn fresh(&self) -> Result<(), Fault> {
        fresh(self.ports.time(), self.received)
    }
}

/// Whether what was received or read at this time may still be used.
pub(crate) fn fresh(time: &impl Time, received: i64) -> Result<(), Fault> {
    let age = time.micros().saturating_sub(received);
    if u128::try_from(age).unwrap_or_default() < FRESH.as_micros() {
        Ok(())
    } else {
        Err(Fault::lasting("mirror", "what was read more than 15 minutes ago is not used"))
    }
}
