//! `cargo xtask nightly`: runs all tests at full size, on every set of engines. Since it takes hours, a failed step
//! does not stop the others. Each step writes its output into `target/nightly/`.

use std::fs::{self, File};
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use tokio::process::Command;

use crate::failure::{Doing, Failure};
use crate::python::environment;

/// One step of the nightly tier.
struct Step {
    name: &'static str,
    /// The script for `sh`, in the repository's root.
    script: &'static str,
    /// The tools from PyPI that come first on the script's path, by a file of `infra/python/`.
    tools: Option<&'static str>,
}

const STEPS: [Step; 11] = [
    Step {
        name: "exploration",
        script: "CAIRN_TIER=nightly cargo test --package mirror --lib \
                 --config profile.dev.package.mirror.opt-level=3 --config profile.dev.package.table.opt-level=3 \
                 -- exploration --nocapture",
        tools: None,
    },
    Step {
        name: "schedules",
        script: "CAIRN_TIER=nightly CAIRN_SCHEDULES=1000000 cargo test --package mirror --lib \
                 --config profile.dev.package.mirror.opt-level=3 --config profile.dev.package.table.opt-level=3 \
                 -- simulation::seeds --nocapture",
        tools: None,
    },
    Step { name: "mutants", script: "cargo xtask mutants", tools: None },
    Step {
        name: "embedded-engines",
        script: "CAIRN_TIER=nightly CAIRN_ENGINES=embedded cargo test --workspace --test e2e",
        tools: None,
    },
    Step {
        name: "real-engines",
        script: "CAIRN_TIER=nightly CAIRN_ENGINES=real cargo test --workspace --test e2e",
        tools: None,
    },
    Step {
        name: "without-java",
        script: "CAIRN_TIER=nightly CAIRN_ENGINES=without-java cargo test --workspace --test e2e",
        tools: None,
    },
    Step {
        name: "world-sample",
        script: "CAIRN_TIER=nightly cargo test --workspace --test command -- world_sample",
        tools: None,
    },
    Step { name: "judged-searches", script: "cargo xtask judge", tools: None },
    Step { name: "deployed", script: "cargo xtask deployed", tools: None },
    Step { name: "lambda", script: "cargo xtask lambda", tools: None },
    Step {
        name: "arm64",
        script: "cargo lambda build --release --arm64 --output-format zip --bin parks --bin agencies --bin tracker \
                 --bin archive --bin chat && ls -l target/lambda/*/bootstrap.zip",
        tools: Some("arm64"),
    },
];

/// Runs the named steps, or all. Fails if one of them fails.
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
        let started = Instant::now();
        let passed = step.run(root, &log).await?;
        let outcome = if passed { "passed" } else { "failed" };
        println!("{}: {outcome} after {}", step.name, minutes(started.elapsed()));
        if !passed {
            failed.push(step.name);
        }
    }
    if failed.is_empty() { Ok(()) } else { Err(Failure::new(format!("these steps failed: {}", failed.join(", ")))) }
}

impl Step {
    /// Runs the script. Returns whether it succeeded.
    async fn run(&self, root: &Path, log: &Path) -> Result<bool, Failure> {
        let mut command = match self.tools {
            Some(tools) => environment(root, tools).await?.script(self.script)?,
            None => {
                let mut command = Command::new("sh");
                command.args(["-c", self.script]);
                command
            }
        };
        let output = File::create(log).doing(log.display())?;
        let errors = output.try_clone().doing(log.display())?;
        command.current_dir(root).stdin(Stdio::null()).stdout(output).stderr(errors).kill_on_drop(true);
        Ok(command.status().await.doing(self.name)?.success())
    }
}

fn minutes(time: Duration) -> String {
    format!("{}:{:02} minutes", time.as_secs() / 60, time.as_secs() % 60)
}
