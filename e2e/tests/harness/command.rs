//! The commands of operators, run on the engines of a platform.

use serde_json::Value;
use tokio::process::Command;

use super::Cairn;
use super::process::program;

/// What a command printed, and its exit code.
#[derive(Debug)]
pub struct CommandOutput {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Cairn {
    /// Runs `cairn` with these arguments.
    pub async fn command(&self, arguments: &[&str]) -> CommandOutput {
        self.command_with(arguments, &[]).await
    }

    /// Runs `cairn` with these arguments, and with variables that replace those of the platform.
    pub async fn command_with(&self, arguments: &[&str], variables: &[(&str, &str)]) -> CommandOutput {
        let config = &self.engines().config;
        let mut command = Command::new(program("cairn").await);
        command.env_clear().args(arguments);
        command.env("AWS_REGION", "local").env("CAIRN_PREFIX", &config.prefix).env("CAIRN_CURSOR_SECRETS", "any");
        command.env("CAIRN_SEARCH_ENDPOINT", &config.search);
        command.env("CAIRN_DYNAMODB_ENDPOINT", config.dynamodb.as_ref().unwrap());
        command.env("CAIRN_S3_ENDPOINT", config.s3.as_ref().unwrap());
        command.envs(variables.iter().copied());
        let output = command.output().await.unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        CommandOutput { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
    }
}

impl CommandOutput {
    /// Asserts the exit code. Returns what the command printed to standard output.
    #[track_caller]
    pub fn exited(self, code: i32) -> String {
        assert_eq!(self.code, Some(code), "{}{}", self.stdout, self.stderr);
        self.stdout
    }

    /// Asserts the exit code. Returns the JSON that the command printed.
    #[track_caller]
    pub fn json(self, code: i32) -> Value {
        let printed = self.exited(code);
        serde_json::from_str(&printed).unwrap_or_else(|_| panic!("no JSON: {printed}"))
    }

    /// Asserts that the command failed. Returns its error.
    #[track_caller]
    pub fn failed(self) -> String {
        assert_eq!(self.code, Some(1), "{}{}", self.stdout, self.stderr);
        self.stderr
    }
}
