//! `cargo lambda invoke` of docs/cargo-lambda.md, for any system and any event.

use std::fs;
use std::time::Duration;

use serde::Deserialize;

use super::bench::Bench;
use super::guide::{Block, SYSTEM};
use crate::failure::{Doing, Failure};
use crate::python;

/// The event in the guide's command.
const EVENT: &str = "events/parks/getHealth.json";

/// The timeout of an invocation.
const TIMEOUT: Duration = Duration::from_secs(120);

/// The command for one system.
#[derive(Debug)]
pub struct Invoke<'a> {
    pub system: &'static str,
    bench: &'a Bench<'a>,
    block: &'a Block,
    variables: &'a [(&'static str, String)],
}

/// The response of a function to a request, in API Gateway's payload format 2.0.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Response {
    status_code: u16,
    body: String,
}

impl<'a> Invoke<'a> {
    /// Creates the command from a line of this block, with these variables in addition to those of the block.
    pub(super) fn new(
        bench: &'a Bench<'a>,
        block: &'a Block,
        system: &'static str,
        variables: &'a [(&'static str, String)],
    ) -> Result<Self, Failure> {
        let line = block.line(BEGINS)?;
        if [SYSTEM, EVENT].iter().any(|named| !line.split(' ').any(|word| word == *named)) {
            return Err(Failure::new(format!("`{line}` in docs/cargo-lambda.md must contain {SYSTEM} and {EVENT}")));
        }
        Ok(Self { system, bench, block, variables })
    }

    /// Invokes the function with the sample of its health check. Returns status and body.
    pub async fn health(&self) -> Result<(u16, String), Failure> {
        response(&self.file(&EVENT.replace(SYSTEM, self.system)).await?)
    }

    /// Invokes the function with a request. Returns status and body.
    pub async fn request(&self, event: &str) -> Result<(u16, String), Failure> {
        response(&self.event(event).await?)
    }

    /// Invokes the function with an event. Returns its response.
    pub async fn event(&self, event: &str) -> Result<String, Failure> {
        let file = self.bench.folder.join("event.json");
        fs::write(&file, event).doing(file.display())?;
        tokio::time::timeout(TIMEOUT, self.file(&file.display().to_string())).await.doing("cargo lambda invoke")?
    }

    async fn file(&self, file: &str) -> Result<String, Failure> {
        let named = self.block.line(BEGINS)?.split(' ').map(|word| match word {
            SYSTEM => self.system.to_owned(),
            EVENT => format!("'{file}'"),
            word => word.to_owned(),
        });
        let line = named.collect::<Vec<_>>().join(" ");
        let mut command = self.bench.python.script(&self.block.script(&line))?;
        command.current_dir(self.bench.root).envs(self.variables.iter().map(|(name, value)| (name, value)));
        python::run(command).await
    }
}

const BEGINS: &str = "cargo lambda invoke ";

fn response(answer: &str) -> Result<(u16, String), Failure> {
    let response: Response = serde_json::from_str(answer).doing(answer)?;
    Ok((response.status_code, response.body))
}
