//! `cargo lambda deploy` of a system as one function, to an emulated cloud.

use serde_json::Value;
use web::App;

use super::bench::Bench;
use super::guide::{Block, SYSTEM};
use super::invoke::Invoke;
use crate::deployed::emulator::Emulator;
use crate::deployed::{timed, zip};
use crate::failure::Failure;
use crate::python::{self, environment};

const BEGINS: &str = "cargo lambda deploy ";

/// Builds the system, deploys its zip, and invokes it with the event of its health check.
pub(super) async fn run(bench: &Bench<'_>, app: &App) -> Result<(), Failure> {
    let system = app.system().name;
    let block = Block::of(bench.guide, BEGINS, &bench.values)?;
    let ministack = environment(bench.root, "ministack").await?;
    zip::build(bench.root, system).await?;
    let emulator = Emulator::start(&ministack, bench.folder).await?;
    let variables = emulator.variables();
    let line = block.line(BEGINS)?.replace(&format!(" {SYSTEM} "), &format!(" {system} "));
    let mut command = bench.python.script(&block.script(&line))?;
    command.current_dir(bench.root).envs(variables.iter().map(|(name, value)| (name, value)));
    timed(&format!("cargo lambda deploy: {system}"), python::run(command)).await?;
    let invoke = Invoke::new(bench, &block, system, &variables)?;
    let (status, body) = timed("cargo lambda invoke --remote", invoke.health()).await?;
    // The emulated cloud has no search, which the health check says.
    let health: Value = serde_json::from_str(&body).unwrap_or_default();
    match (status, health.get("reason").and_then(Value::as_str)) {
        (200, Some("search is down")) => Ok(()),
        _ => Err(Failure::new(format!("the health check of the deployed function answered {status}: {body}"))),
    }
}
