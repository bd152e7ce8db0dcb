//! Tools from PyPI, pinned by hash. Each set has its own virtual environment below `target/`.

use std::fs;
use std::path::{Path, PathBuf};

use tokio::process::Command;

use crate::failure::{Doing, Failure};

/// A virtual environment.
#[derive(Clone, Debug)]
pub struct Environment {
    programs: PathBuf,
}

/// Returns the environment of `infra/python/{name}.txt`, and installs it if it is missing or differs from the file.
pub async fn environment(root: &Path, name: &str) -> Result<Environment, Failure> {
    let requirements = root.join(format!("infra/python/{name}.txt"));
    let wanted = fs::read_to_string(&requirements).doing(requirements.display())?;
    let folder = root.join(format!("target/python/{name}"));
    let done = folder.join("requirements.txt");
    let environment = Environment { programs: folder.join(if cfg!(windows) { "Scripts" } else { "bin" }) };
    if fs::read_to_string(&done).is_ok_and(|installed| installed == wanted) {
        return Ok(environment);
    }
    println!("installing {name} with pip");
    if folder.exists() {
        fs::remove_dir_all(&folder).doing(folder.display())?;
    }
    let mut venv = Command::new("python3");
    venv.args(["-m", "venv"]).arg(&folder);
    run(venv).await.doing(
        "creating a virtual environment failed; install Python 3 with venv (on Debian: apt-get install python3-venv)",
    )?;
    let mut pip = Command::new(environment.program("python"));
    pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", "--require-hashes", "-r"]);
    pip.arg(&requirements);
    run(pip).await?;
    fs::write(&done, wanted).doing(done.display())?;
    Ok(environment)
}

impl Environment {
    pub fn program(&self, name: &str) -> PathBuf {
        self.programs.join(name)
    }

    /// Returns the command of a program, without environment variables that configure AWS, Cairn or cargo-lambda.
    pub fn command(&self, name: &str) -> Command {
        without_configuration(Command::new(self.program(name)))
    }

    /// Returns the command of a script for `sh`, with the programs of this environment first on the path.
    pub fn script(&self, script: &str) -> Result<Command, Failure> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let folders = std::iter::once(self.programs.clone()).chain(std::env::split_paths(&path));
        let mut command = without_configuration(Command::new("sh"));
        command.args(["-c", script]).env("PATH", std::env::join_paths(folders).doing("PATH")?);
        Ok(command)
    }
}

/// Removes the environment variables that configure AWS, Cairn or cargo-lambda.
pub fn without_configuration(mut command: Command) -> Command {
    for (variable, _) in std::env::vars_os() {
        let name = variable.to_string_lossy();
        let leads = ["AWS_", "CAIRN_", "CARGO_LAMBDA_"].iter().any(|begin| name.starts_with(begin));
        if leads || name == "_HANDLER" {
            command.env_remove(&variable);
        }
    }
    command
}

/// Runs a command and returns its output. If it fails, the failure contains its output.
pub async fn run(mut command: Command) -> Result<String, Failure> {
    let program = command.as_std().get_program().to_string_lossy().into_owned();
    let output = command.kill_on_drop(true).output().await.doing(&program)?;
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    if output.status.success() {
        return Ok(said);
    }
    let complained = String::from_utf8_lossy(&output.stderr).into_owned();
    Err(Failure::new(format!("{program} failed ({}):\n{said}{complained}", output.status)))
}
