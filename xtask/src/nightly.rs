//! `cargo xtask nightly`: everything at full size, on every set of engines. It takes hours, so a step that fails does not
//! stop the others; each leaves its output in `target/nightly/`.

use std::fs::{self, File};
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use tokio::process::Command;

use crate::failure::{Doing, Failure};
use crate::python::environment;

/// One step: a command and the variables that it runs with.
struct Step {
    name: &'static str,
    program: &'static str,
    arguments: &'static [&'static str],
    variables: &'static [(&'static str, &'static str)],
}

const E2E: &[&str] = &["test", "--workspace", "--test", "e2e"];

const STEPS: [Step; 8] = [
    Step {
        name: "schedules",
        program: "cargo",
        arguments: &["test", "--profile", "bench", "--package", "mirror", "--lib", "--", "of_the_schedules"],
        variables: &[("CAIRN_SCHEDULES", "1000000")],
    },
    Step {
        name: "embedded-engines",
        program: "cargo",
        arguments: E2E,
        variables: &[("CAIRN_TIER", "nightly"), ("CAIRN_ENGINES", "embedded")],
    },
    Step {
        name: "real-engines",
        program: "cargo",
        arguments: E2E,
        variables: &[("CAIRN_TIER", "nightly"), ("CAIRN_ENGINES", "real")],
    },
    Step {
        name: "without-java",
        program: "cargo",
        arguments: E2E,
        variables: &[("CAIRN_TIER", "nightly"), ("CAIRN_ENGINES", "without-java")],
    },
    Step {
        name: "world-sample",
        program: "cargo",
        arguments: &["test", "--package", "cairn", "--test", "command", "--", "world_sample"],
        variables: &[("CAIRN_TIER", "nightly")],
    },
    Step { name: "deployed", program: "cargo", arguments: &["xtask", "deployed"], variables: &[] },
    Step { name: "lambda", program: "cargo", arguments: &["xtask", "lambda"], variables: &[] },
    Step {
        name: "arm64",
        program: "cargo-lambda",
        arguments: &[
            "lambda",
            "build",
            "--release",
            "--arm64",
            "--output-format",
            "zip",
            "--bin",
            "parks",
            "--bin",
            "agencies",
            "--bin",
            "tracker",
        ],
        variables: &[],
    },
];

/// Runs the steps that are named, or all. Fails if one of them does.
pub async fn run(root: &Path, named: &[String]) -> Result<(), Failure> {
    if let Some(unknown) = named.iter().find(|name| STEPS.iter().all(|step| step.name != **name)) {
        let names = STEPS.map(|step| step.name).join(", ");
        return Err(Failure::new(format!("there is no step `{unknown}`; the steps are {names}")));
    }
    let folder = root.join("target/nightly");
    fs::create_dir_all(&folder).doing(folder.display())?;
    let mut failed = Vec::new();
    for step in STEPS.iter().filter(|step| named.is_empty() || named.iter().any(|name| name == step.name)) {
        let log = folder.join(format!("{}.log", step.name));
        println!("{}: output in {}", step.name, log.display());
        let began = Instant::now();
        let passed = step.run(root, &log).await?;
        let outcome = if passed { "passed" } else { "failed" };
        println!("{}: {outcome} after {}", step.name, minutes(began.elapsed()));
        if !passed {
            failed.push(step.name);
        }
    }
    if failed.is_empty() { Ok(()) } else { Err(Failure::new(format!("these steps failed: {}", failed.join(", ")))) }
}

impl Step {
    /// Whether its command succeeded.
    async fn run(&self, root: &Path, log: &Path) -> Result<bool, Failure> {
        let output = File::create(log).doing(log.display())?;
        let errors = output.try_clone().doing(log.display())?;
        let mut command = match self.program {
            "cargo" => Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into())),
            program => environment(root, program).await?.command(program),
        };
        command.current_dir(root).args(self.arguments).envs(self.variables.iter().copied());
        command.stdin(Stdio::null()).stdout(output).stderr(errors).kill_on_drop(true);
        Ok(command.status().await.doing(self.name)?.success())
    }
}

fn minutes(time: Duration) -> String {
    format!("{}:{:02} minutes", time.as_secs() / 60, time.as_secs() % 60)
}
