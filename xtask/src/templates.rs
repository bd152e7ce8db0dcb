//! `cargo xtask templates`: checks the templates with SAM, cfn-lint and checkov, and compares them with the output of
//! CDK.
//! It needs the network for pip and npm only, and never AWS.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use tokio::process::Command;

use crate::failure::{Doing, Failure};
use crate::import::Deployment;
use crate::python::{Environment, environment, run};
use crate::{import, node, systems};

/// Runs all checks.
pub async fn check(root: &Path) -> Result<(), Failure> {
    let (sam, checkov) = (environment(root, "sam").await?, environment(root, "checkov").await?);
    node::install(&root.join("infra/cdk")).await?;
    let check = Check { root, scratch: scratch(root)?, stacks: stacks() };
    let all: Vec<String> = check.stacks.iter().map(|stack| file_of(stack)).collect();
    let imports = check.imports()?;

    println!("cfn-lint on {}, {}", all.join(", "), imports.join(", "));
    let all: Vec<&str> = all.iter().map(String::as_str).collect();
    let imports: Vec<&str> = imports.iter().map(String::as_str).collect();
    check.run(sam.command("cfn-lint"), &[all.as_slice(), &imports].concat()).await?;
    check.disable_update_check()?;
    for template in &all {
        check.run(sam.command("sam"), &["validate", "--lint", "--template", template]).await?;
    }
    let findings = [&["infra/python/check.py", "infra/checkov.json"], all.as_slice()].concat();
    check.run(checkov.command("python"), &findings).await?;
    check.expand(&sam).await?;
    check.compare().await
}

/// Returns the stacks with a template in `infra/`.
fn stacks() -> Vec<String> {
    let systems = systems::all();
    let names = systems.iter().map(|declared| declared.app.system().name.to_owned());
    names.chain(["shared".to_owned()]).collect()
}

fn file_of(stack: &str) -> String {
    format!("infra/{stack}.yaml")
}

/// Creates an empty folder for intermediate files.
fn scratch(root: &Path) -> Result<PathBuf, Failure> {
    let folder = root.join("target/templates");
    if folder.exists() {
        fs::remove_dir_all(&folder).doing(folder.display())?;
    }
    fs::create_dir_all(&folder).doing(folder.display())?;
    Ok(folder)
}

struct Check<'a> {
    root: &'a Path,
    scratch: PathBuf,
    stacks: Vec<String>,
}

impl Check<'_> {
    /// Writes the templates that import each stack's tables and buckets.
    fn imports(&self) -> Result<Vec<String>, Failure> {
        let deployment = Deployment { prefix: "cairn-", account: "123456789012", region: "us-east-1" };
        let written = self.stacks.iter().map(|stack| import::write(self.root, stack, &deployment));
        written.map(|files| files.map(|[template, _]| template)).collect()
    }

    /// Runs a command and prints its output. It sends no telemetry, and looks neither for updates nor for credentials.
    async fn run(&self, mut command: Command, arguments: &[&str]) -> Result<(), Failure> {
        if command.as_std().get_current_dir().is_none() {
            command.current_dir(self.root);
        }
        command
            .args(arguments)
            .env("SAM_CLI_TELEMETRY", "0")
            .env("__SAM_CLI_APP_DIR", &self.scratch)
            .env("CDK_DISABLE_CLI_TELEMETRY", "true")
            .env("CDK_DISABLE_VERSION_CHECK", "true")
            .env("AWS_EC2_METADATA_DISABLED", "true")
            .env("AWS_DEFAULT_REGION", "us-east-1");
        print!("{}", run(command).await?);
        Ok(())
    }

    /// Writes a recent time of SAM's last check for updates, since SAM has no option to turn the check off.
    fn disable_update_check(&self) -> Result<(), Failure> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).doing("the clock")?.as_secs();
        let file = self.scratch.join("metadata.json");
        fs::write(&file, format!("{{\"lastVersionCheck\": {now}}}")).doing(file.display())
    }

    /// Writes the templates after SAM's transform into a folder.
    async fn expand(&self, sam: &Environment) -> Result<(), Failure> {
        let folder = self.expanded();
        fs::create_dir_all(&folder).doing(folder.display())?;
        for stack in &self.stacks {
            let out = folder.join(stack).with_extension("json").display().to_string();
            self.run(sam.command("python"), &["infra/python/expand.py", &file_of(stack), &out]).await?;
        }
        Ok(())
    }

    fn expanded(&self) -> PathBuf {
        self.scratch.join("sam")
    }

    /// Compares the output of CDK with the expanded templates. Dummy files replace the zips, whose content is
    /// irrelevant.
    async fn compare(&self) -> Result<(), Failure> {
        let (zips, made) = (self.scratch.join("zips"), self.scratch.join("cdk"));
        for stack in &self.stacks {
            let folder = zips.join(stack);
            fs::create_dir_all(&folder).doing(folder.display())?;
            fs::write(folder.join("bootstrap.zip"), "no zip").doing(folder.display())?;
        }
        let script = |name| {
            let mut command = node::script(&self.root.join("infra/cdk"), name);
            command.env("EXPANDED", self.expanded()).env("SYNTHESISED", &made);
            command
        };
        self.run(script("check"), &[]).await?;
        let zips = format!("zips={}", zips.display());
        let systems: Vec<&str> = self.stacks.iter().map(String::as_str).filter(|stack| *stack != "shared").collect();
        let (systems, made) = (format!("systems={}", systems.join(",")), made.display().to_string());
        let arguments = ["--context", &zips, "--context", &systems, "--output", &made];
        self.run(script("synth"), &arguments).await?;
        self.run(script("compare"), &[]).await?;
        self.run(script("test"), &[]).await
    }
}
