//! `cairn quarantine`: what could not be indexed, and why.

use std::sync::Arc;

use aws_sdk_s3::error::DisplayErrorContext;
use clap::{Args, Subcommand};
use jiff::Timestamp;
use local::{Served, systems};
use mirror::{Marker, Subject};
use serde_json::{Value, json};
use table::Engines;

use crate::failure::Failure;
use crate::{StateFolder, running, system};

#[derive(Debug, Args)]
pub struct Quarantine {
    #[command(subcommand)]
    command: Command,
    /// Only that of this system; needed where the others are not deployed.
    #[arg(long, global = true)]
    system: Option<String>,
    #[command(flatten)]
    state: StateFolder,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// List what is in quarantine, one a line.
    Ls {
        /// As JSON, one object a line.
        #[arg(long)]
        json: bool,
    },
    /// Print the record that is kept of one.
    Show {
        /// Its name, as `ls` prints it.
        name: String,
    },
}

impl Quarantine {
    pub async fn run(self) -> Result<(), Failure> {
        let engines = running::engines(&self.state.folder).await?;
        let mut listed = Vec::new();
        let asked = match &self.system {
            Some(name) => vec![system::named(name)?],
            None => systems::ALL.iter().collect(),
        };
        for served in asked {
            let found = mirror::quarantined(served.system, &engines).await.map_err(Failure::new)?;
            listed.extend(found.into_iter().map(|(generation, marker)| (served, generation, marker)));
        }
        match self.command {
            Command::Ls { json: true } => {
                listed.iter().for_each(|(_, generation, marker)| println!("{}", as_json(generation, marker)));
            }
            Command::Ls { json: false } if listed.is_empty() => println!("Nothing is in quarantine."),
            Command::Ls { json: false } => {
                for (_, generation, marker) in &listed {
                    let (code, since) = (marker.code.name(), since(marker));
                    println!("{}  {since}  {generation}  {code}: {}", name(marker), marker.reason);
                }
            }
            Command::Show { name: wanted } => {
                let found: Vec<_> = listed.iter().filter(|(_, _, marker)| name(marker) == wanted).collect();
                if found.is_empty() {
                    return Err(Failure::new(format!(
                        "`{wanted}` is not in quarantine.\n`cairn quarantine ls` lists what is."
                    )));
                }
                for (served, _, marker) in found {
                    println!("{}", kept(&engines, served, marker).await?);
                }
            }
        }
        Ok(())
    }
}

/// What people call it: an item by its table and document id, a record by its hash.
fn name(marker: &Marker) -> String {
    match &marker.subject {
        Subject::Item { table, key } => format!("{table}/{}", key.document_id()),
        Subject::Record(hash) => format!("record/{hash}"),
    }
}

fn since(marker: &Marker) -> String {
    Timestamp::from_microsecond(marker.since).map(|time| format!("{time:.0}")).unwrap_or_default()
}

fn as_json(generation: &str, marker: &Marker) -> Value {
    json!({
        "name": name(marker),
        "since": since(marker),
        "generation": generation,
        "rev": marker.rev,
        "code": marker.code.name(),
        "reason": marker.reason,
        "object": marker.object,
    })
}

/// The object that keeps the record with its reason.
async fn kept(engines: &Arc<Engines>, served: &Served, marker: &Marker) -> Result<String, Failure> {
    let bucket = engines.config.bucket(served.system.name);
    let failed = |error: String| Failure::new(format!("`{}` cannot be read from `{bucket}`: {error}.", marker.object));
    let object = engines.s3().get_object().bucket(&bucket).key(&marker.object).send().await;
    let object = object.map_err(|error| failed(DisplayErrorContext(error).to_string()))?;
    let body = object.body.collect().await.map_err(|error| failed(error.to_string()))?.into_bytes();
    Ok(String::from_utf8_lossy(&body).into_owned())
}
