//! `cairn status`: the status of each system's search in one word, with the reason.

use std::process::ExitCode;

use clap::Args;
use local::systems;
use mirror::{Status as OfSystem, StatusWord};
use serde_json::{Value, json};

use crate::exit::TO_DO;
use crate::failure::Failure;
use crate::time::time;
use crate::{StateFolder, running, system};

#[derive(Debug, Args)]
pub struct Status {
    /// Only this system.
    system: Option<String>,
    /// Print JSON, one object for each system per line.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    state: StateFolder,
}

impl Status {
    pub async fn run(self) -> Result<ExitCode, Failure> {
        let engines = running::engines(&self.state.folder).await?;
        let asked = match &self.system {
            Some(name) => vec![system::named(name)?],
            None => systems::ALL.iter().collect(),
        };
        let mut to_do = false;
        let mut unknown = Vec::new();
        for served in asked {
            let name = served.system.name;
            let status = mirror::status(served.system, &engines, (served.mapping)().version).await;
            let status = match status {
                Ok(status) => status,
                // The others may have a status.
                Err(fault) => {
                    unknown.push(format!("Reading the status of {name} failed: {fault}."));
                    continue;
                }
            };
            // Not every deployment has every system.
            let is_expected = self.system.is_some();
            to_do |= match status.word {
                StatusWord::Ok => false,
                StatusWord::Absent => is_expected,
                _ => true,
            };
            if self.json {
                println!("{}", as_json(name, &status));
                continue;
            }
            let reason = status.reason.map(|reason| format!("  {reason}")).unwrap_or_default();
            println!("{name}  {}{reason}", status.word.name());
        }
        if !unknown.is_empty() {
            return Err(Failure::new(unknown.join("\n")));
        }
        Ok(if to_do { ExitCode::from(TO_DO) } else { ExitCode::SUCCESS })
    }
}

fn as_json(system: &str, status: &OfSystem) -> Value {
    let generations = status.generations.iter().flat_map(|generations| &generations.written);
    let generations: Vec<Value> = generations
        .map(|one| json!({ "index": one.index, "mapping": one.mapping, "phase": one.phase.name() }))
        .collect();
    json!({
        "system": system,
        "status": status.word.name(),
        "reason": status.reason,
        "epoch": status.generations.as_ref().map(|generations| generations.epoch),
        "paused": status.generations.as_ref().is_some_and(|generations| generations.rebuild_paused),
        "generations": generations,
        "quarantined": status.markers,
        "givenUp": status.given_up,
        "lagMillis": status.lag,
        "audited": status.audited.map(time),
        "auditFindings": status.audit_findings,
    })
}
