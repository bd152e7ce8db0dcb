//! `cairn quarantine`: what could not be indexed, and why.

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
    /// Remove the marker of one that no write clears, or whose item is gone or has a higher revision.
    Dismiss {
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
            listed.extend(found.into_iter().map(|(generation, marker)| Listed { served, generation, marker }));
        }
        match self.command {
            Command::Ls { json } => list(&engines, &listed, json).await,
            Command::Show { name } => {
                for Listed { served, marker, .. } in named(&listed, &name)? {
                    println!("{}", kept(&engines, served, marker).await?);
                }
                Ok(())
            }
            Command::Dismiss { name } => {
                for Listed { served, generation, marker } in named(&listed, &name)? {
                    let dismissed = mirror::dismiss(served.system, &engines, generation, marker).await;
                    dismissed.map_err(|fault| Failure::new(format!("`{name}` was not dismissed: {fault}.")))?;
                    println!("{generation}  dismissed");
                }
                Ok(())
            }
        }
    }
}

/// A marker, with the system and the index that it is of.
struct Listed {
    served: &'static Served,
    generation: String,
    marker: Marker,
}

/// Those with this name, one for each generation.
fn named<'l>(listed: &'l [Listed], wanted: &str) -> Result<Vec<&'l Listed>, Failure> {
    let found: Vec<_> = listed.iter().filter(|one| name(&one.marker) == wanted).collect();
    if found.is_empty() {
        return Err(Failure::new(format!("`{wanted}` is not in quarantine.\n`cairn quarantine ls` lists what is.")));
    }
    Ok(found)
}

async fn list(engines: &Engines, listed: &[Listed], json: bool) -> Result<(), Failure> {
    if listed.is_empty() && !json {
        println!("Nothing is in quarantine.");
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

/// What is to be known of a marker that its item's next write does not clear.
fn state(marker: &Marker, stale: Option<Staleness>) -> &'static str {
    match stale {
        Some(Staleness::Gone) => "  (stale: its item is gone)",
        Some(Staleness::Overtaken) => "  (stale: its item has a higher revision)",
        None if !marker.is_cleared_by_writes() => "  (cleared only by `cairn quarantine dismiss`)",
        None => "",
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

/// The object that keeps the record with its reason.
async fn kept(engines: &Arc<Engines>, served: &Served, marker: &Marker) -> Result<String, Failure> {
    let bucket = engines.config.bucket(served.system.name);
    let failed = |error: String| Failure::new(format!("`{}` cannot be read from `{bucket}`: {error}.", marker.object));
    let object = engines.s3().get_object().bucket(&bucket).key(&marker.object).send().await;
    let object = object.map_err(|error| failed(DisplayErrorContext(error).to_string()))?;
    let body = object.body.collect().await.map_err(|error| failed(error.to_string()))?.into_bytes();
    Ok(String::from_utf8_lossy(&body).into_owned())
}
