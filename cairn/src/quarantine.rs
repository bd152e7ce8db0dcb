//! `cairn quarantine`: lists items that could not be indexed, with the reasons.

use std::sync::Arc;

use aws_sdk_s3::error::DisplayErrorContext;
use clap::{Args, Subcommand};
use jiff::Timestamp;
use local::{Served, systems};
use mirror::{Marker, Staleness, Subject};
use serde_json::{Value, json};
use table::Engines;

use crate::failure::Failure;
use crate::{StateFolder, running, system};

#[derive(Debug, Args)]
pub struct Quarantine {
    #[command(subcommand)]
    command: Command,
    /// Only this system. Required if the others are not deployed.
    #[arg(long, global = true)]
    system: Option<String>,
    #[command(flatten)]
    state: StateFolder,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// List all entries of the quarantine, one per line.
    Ls {
        /// Print JSON, one object per line.
        #[arg(long)]
        json: bool,
    },
    /// Print the stored record of an entry.
    Show {
        /// The name of the entry, as `ls` prints it.
        name: String,
    },
    /// Remove an entry that no write clears, or whose item is deleted or has a higher revision.
    Dismiss {
        /// The name of the entry, as `ls` prints it.
        name: String,
    },
}

impl Quarantine {
    pub async fn run(self) -> Result<(), Failure> {
        let engines = running::engines(&self.state.folder).await?;
        let mut listed = Vec::new();
        let systems = match &self.system {
            Some(name) => vec![system::named(name)?],
            None => systems::ALL.iter().collect(),
        };
        for served in systems {
            let found = mirror::quarantined(served.system, &engines).await.map_err(Failure::new)?;
            listed.extend(found.into_iter().map(|(generation, marker)| Listed { served, generation, marker }));
        }
        match self.command {
            Command::Ls { json } => list(&engines, &listed, json).await,
            Command::Show { name } => {
                for Listed { served, marker, .. } in named(&listed, &name)? {
                    println!("{}", stored_record(&engines, served, marker).await?);
                }
                Ok(())
            }
            Command::Dismiss { name } => {
                for Listed { served, generation, marker } in named(&listed, &name)? {
                    let dismissed = mirror::dismiss(served.system, &engines, generation, marker).await;
                    dismissed.map_err(|fault| Failure::new(format!("Dismissing `{name}` failed: {fault}.")))?;
                    println!("{generation}  dismissed");
                }
                Ok(())
            }
        }
    }
}

/// A marker with its system and generation.
struct Listed {
    served: &'static Served,
    generation: String,
    marker: Marker,
}

/// Returns the markers with this name, one for each generation.
fn named<'l>(listed: &'l [Listed], wanted: &str) -> Result<Vec<&'l Listed>, Failure> {
    let found: Vec<_> = listed.iter().filter(|one| name(&one.marker) == wanted).collect();
    if found.is_empty() {
        return Err(Failure::new(format!(
            "`{wanted}` is not in quarantine.\n`cairn quarantine ls` lists the entries."
        )));
    }
    Ok(found)
}

async fn list(engines: &Engines, listed: &[Listed], json: bool) -> Result<(), Failure> {
    if listed.is_empty() && !json {
        println!("The quarantine is empty.");
    }
    for of_system in listed.chunk_by(|one, other| one.served.system.name == other.served.system.name) {
        let Some(Listed { served, .. }) = of_system.first() else { continue };
        let markers: Vec<_> = of_system.iter().map(|one| one.marker.clone()).collect();
        let stale = mirror::stale(served.system, engines, &markers).await.map_err(Failure::new)?;
        for (Listed { generation, marker, .. }, stale) in of_system.iter().zip(stale) {
            if json {
                println!("{}", as_json(generation, marker, stale));
                continue;
            }
            let (name, since, code, state) = (name(marker), since(marker), marker.code.name(), state(marker, stale));
            println!("{name}  {since}  {generation}  {code}: {}{state}", marker.reason);
        }
    }
    Ok(())
}

/// Describes a marker that the next write of its item does not clear.
fn state(marker: &Marker, stale: Option<Staleness>) -> &'static str {
    match stale {
        Some(Staleness::Gone) => "  (stale: its item is deleted)",
        Some(Staleness::Overtaken) => "  (stale: its item has a higher revision)",
        None if !marker.is_cleared_by_writes() => "  (cleared only by `cairn quarantine dismiss`)",
        None => "",
    }
}

/// Returns the name of a marker: an item's table and document id, or a record's hash.
fn name(marker: &Marker) -> String {
    match &marker.subject {
        Subject::Item { table, key } => format!("{table}/{}", key.document_id()),
        Subject::Record(hash) => format!("record/{hash}"),
    }
}

fn since(marker: &Marker) -> String {
    Timestamp::from_microsecond(marker.since).map_or_else(|_| marker.since.to_string(), |time| format!("{time:.0}"))
}

fn as_json(generation: &str, marker: &Marker, stale: Option<Staleness>) -> Value {
    json!({
        "name": name(marker),
        "since": since(marker),
        "generation": generation,
        "rev": marker.rev,
        "code": marker.code.name(),
        "reason": marker.reason,
        "object": marker.object,
        "stale": stale.map(|stale| match stale {
            Staleness::Gone => "gone",
            Staleness::Overtaken => "overtaken",
        }),
        "clearedByWrites": marker.is_cleared_by_writes(),
    })
}

/// Reads the object with the record and the reason.
async fn stored_record(engines: &Arc<Engines>, served: &Served, marker: &Marker) -> Result<String, Failure> {
    let bucket = engines.config.bucket(served.system.name);
    let failed = |error: String| Failure::new(format!("Reading `{}` from `{bucket}` failed: {error}.", marker.object));
    let object = engines.s3().get_object().bucket(&bucket).key(&marker.object).send().await;
    let object = object.map_err(|error| failed(DisplayErrorContext(error).to_string()))?;
    let body = object.body.collect().await.map_err(|error| failed(error.to_string()))?.into_bytes();
    Ok(String::from_utf8_lossy(&body).into_owned())
}
