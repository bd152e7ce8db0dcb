//! Stacks, deployed and deleted by SAM as users do it.

use std::path::Path;

use tokio::process::Command;

use crate::failure::Failure;
use crate::python::{Environment, run};

use super::emulator::Emulator;

/// SAM and the emulator.
#[derive(Debug)]
pub struct Sam<'a> {
    pub environment: &'a Environment,
    pub emulator: &'a Emulator,
    pub root: &'a Path,
}

/// The outputs of a stack by name.
#[derive(Debug)]
pub struct Outputs(Vec<(String, String)>);

impl Sam<'_> {
    /// Runs `sam deploy --config-env STACK`, as in the docs. `template` replaces the one in `samconfig.toml`.
    pub async fn deploy(
        &self,
        stack: &str,
        template: Option<&Path>,
        parameters: &[(&str, &str)],
    ) -> Result<Outputs, Failure> {
        let mut command = self.command("deploy", stack);
        command.args(template.into_iter().flat_map(|template| [Path::new("--template-file"), template]));
        command.args(["--no-confirm-changeset", "--no-progressbar", "--no-fail-on-empty-changeset"]);
        command.arg("--parameter-overrides");
        // SAM reads quoted values with backslashes before quotes, which is how JSON writes texts.
        command.args(parameters.iter().map(|(name, value)| format!("{name}={}", serde_json::Value::from(*value))));
        run(command).await.map(|said| Outputs(outputs(&said)))
    }

    pub async fn delete(&self, stack: &str) -> Result<(), Failure> {
        let mut command = self.command("delete", stack);
        command.arg("--no-prompts");
        run(command).await.map(drop)
    }

    /// Returns `sam` with the section of this stack. By default it would look for the file beside the template.
    fn command(&self, verb: &str, stack: &str) -> Command {
        let mut command = self.environment.command("sam");
        command.current_dir(self.root).envs(self.emulator.variables()).env("SAM_CLI_TELEMETRY", "0");
        command.args([verb, "--config-env", stack, "--config-file"]).arg(self.root.join("samconfig.toml"));
        command
    }
}

impl Outputs {
    pub fn get(&self, name: &str) -> Result<&str, Failure> {
        let found = self.0.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str());
        found.ok_or_else(|| Failure::new(format!("the stack has no output {name}")))
    }
}

/// Parses the table of outputs that SAM prints: a line for each key and one for its value.
fn outputs(said: &str) -> Vec<(String, String)> {
    let mut outputs = Vec::new();
    let mut key = None;
    for line in said.lines() {
        match line.split_once(char::is_whitespace).map(|(name, rest)| (name, rest.trim())) {
            Some(("Key", name)) => key = Some(name.to_owned()),
            Some(("Value", value)) => outputs.extend(key.take().map(|key| (key, value.to_owned()))),
            _ => {}
        }
    }
    outputs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outputs_of_sam_are_parsed() {
        let said = "Outputs\n-----\nKey                 ApiUrl                        \nDescription         Where the \
                    API is.\nValue               http://a.example      \n-----\n";
        assert_eq!(outputs(said), [("ApiUrl".to_owned(), "http://a.example".to_owned())]);
    }
}
