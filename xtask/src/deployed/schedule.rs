//! Scheduled handlers, invoked with their sample events under their own roles.

use std::path::Path;

use table::schema::{EventSource, System};

use super::emulator::Emulator;
use crate::failure::{Doing, Failure};
use crate::python::{Environment, run};

/// Invokes all scheduled handlers of a system. Returns their number, or the first failure.
pub async fn invoke(root: &Path, python: &Environment, emulator: &Emulator, system: &System) -> Result<usize, Failure> {
    let scheduled = system.sources.iter().filter(|source| matches!(source, EventSource::Schedule { .. }));
    let mut invoked = 0;
    for handler in scheduled.flat_map(EventSource::handlers) {
        let mut command = python.command("python");
        command.arg(root.join("infra/python/invoke.py")).envs(emulator.variables());
        command.arg(format!("cairn-{}-{handler}", system.name));
        command.arg(root.join(format!("events/{}/{handler}.json", system.name)));
        run(command).await.doing(handler)?;
        invoked += 1;
    }
    Ok(invoked)
}
