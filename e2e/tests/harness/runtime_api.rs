//! A function of a system as Lambda runs it: the system's program, and a Runtime API that sends it invocations.

use std::process::Stdio;
use std::time::Duration;

use local::runtime_api::RuntimeApi;
use serde_json::Value;
use tokio::process::{Child, Command};

use super::process::program;

/// The function, which is killed when dropped.
pub struct Function {
    process: Child,
    /// The endpoint of the Runtime API.
    pub runtime_api: RuntimeApi,
}

/// A timeout that is longer than any step of the tests.
const PATIENCE: Duration = Duration::from_secs(30);

impl Function {
    /// Starts the program of this system with this handler and only these environment variables.
    pub async fn start(system: &'static str, handler: &str, environment: &[(&str, &str)]) -> Self {
        let runtime_api = RuntimeApi::start().await.unwrap();
        let mut command = Command::new(program(system).await);
        command.env_clear().envs(environment.iter().copied()).envs(runtime_api.variables(handler));
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
        Self { process: command.spawn().unwrap(), runtime_api }
    }

    /// Waits until the function has started and requests its first invocation.
    pub async fn ready(&mut self) {
        tokio::time::timeout(PATIENCE, self.runtime_api.asked()).await.expect("it never asks for an invocation");
    }

    pub fn id(&self) -> u32 {
        self.process.id().unwrap()
    }

    /// Invokes the function with this trace. Returns its response.
    pub async fn invoke(&mut self, payload: Value, trace: &str) -> Value {
        let said = self.runtime_api.invoke(payload.to_string(), trace);
        tokio::time::timeout(PATIENCE, said).await.expect("it says nothing of its invocation").unwrap()
    }

    /// Stops the function. Returns its standard output and error.
    pub async fn end(mut self) -> (String, String) {
        self.process.start_kill().unwrap();
        self.output().await.1
    }

    /// Waits until the function has exited. Returns whether it succeeded, and its output.
    pub async fn ended(self) -> (bool, (String, String)) {
        tokio::time::timeout(PATIENCE, self.output()).await.expect("it does not end")
    }

    async fn output(self) -> (bool, (String, String)) {
        let output = self.process.wait_with_output().await.unwrap();
        let [said, complained] = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
        (output.status.success(), (said, complained))
    }
}
