//! `cairn quarantine`: lists items that could not be indexed, with the reasons.

use std::process::ExitCode;
use std::sync::Arc;

use clap::{Args, Subcommand};
use local::{Served, systems};
use mirror::{Marker, Staleness, Subject};
use serde_json::{Value, json};
use table::{Engines, no_answer};

use crate::document_key::keys;
use crate::exit::TO_DO;
use crate::failure::Failure;
use crate::time::time;
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
        /// Print JSON, one object per line.
        #[arg(long)]
        json: bool,
    },
    /// Remove an entry that no update of its item clears, or whose item is deleted or has another revision.
    #[command(override_usage = "cairn quarantine dismiss <NAME | --stale> [--dry-run] [--json]")]
    Dismiss {
        /// The name of the entry, as `ls` prints it.
        #[arg(required_unless_present = "stale", conflicts_with = "stale")]
        name: Option<String>,
        /// Remove every entry whose item is deleted or has another revision.
        #[arg(long)]
        stale: bool,
        /// Only tell what would be removed.
        #[arg(long)]
        dry_run: bool,
        /// Print JSON, one object per line.
        #[arg(long)]
        json: bool,
    },
}

impl Quarantine {
    pub async fn run(self) -> Result<ExitCode, Failure> {
        let engines = running::engines(&self.state.folder).await?;
        let systems: Vec<&'static Served> = match &self.system {
            Some(name) => vec![system::named(name)?],
            None => systems::ALL.iter().collect(),
        };
        match self.command {
            Command::Ls { json } => {
                list(&engines, &all(&engines, &systems).await?, json).await.map(|()| ExitCode::SUCCESS)
            }
            Command::Show { name, json } => {
                for Listed { served, generation, marker } in &named(&engines, &systems, &name).await? {
                    let record = stored_record(&engines, served, marker).await?;
                    if json {
                        // An object that is no JSON is printed as a string.
                        let kept = serde_json::from_str(&record).unwrap_or_else(|_| Value::from(record));
                        println!("{}", json!({ "generation": generation, "kept": kept }));
                    } else {
                        println!("{record}");
                    }
                }
                Ok(ExitCode::SUCCESS)
            }
            Command::Dismiss { name: wanted, dry_run, json, .. } => {
                let listed = match &wanted {
                    Some(wanted) => named(&engines, &systems, wanted).await?,
                    None => all(&engines, &systems).await?,
                };
                let found: Vec<&Listed> = match &wanted {
                    Some(_) => listed.iter().collect(),
                    None => stale(&engines, &listed).await?,
                };
                let mut is_left = false;
                for Listed { served, generation, marker } in found {
                    let name = name(marker);
                    let dismissed = if dry_run {
                        mirror::check_dismissal(served.system, &engines, marker).await.map(|()| false)
                    } else {
                        mirror::dismiss(served.system, &engines, generation, marker).await
                    };
                    let dismissed =
                        dismissed.map_err(|fault| Failure::new(format!("Dismissing `{name}` failed: {fault}.")))?;
                    is_left |= !dismissed;
                    let outcome = match (dry_run, dismissed) {
                        (true, _) => "would be dismissed",
                        (false, true) => "dismissed",
                        (false, false) => "stays, since it was written again after it was listed",
                    };
                    match (&wanted, json) {
                        (_, true) => {
                            println!("{}", json!({ "name": name, "generation": generation, "dismissed": dismissed }));
                        }
                        (Some(_), false) => println!("{generation}  {outcome}"),
                        (None, false) => println!("{name}  {generation}  {outcome}"),
                    }
                }
                Ok(if is_left { ExitCode::from(TO_DO) } else { ExitCode::SUCCESS })
            }
        }
    }
}

/// What the names of records without a key have in place of a table.
const RECORD: &str = "record";

/// A marker with its system and generation.
struct Listed {
    served: &'static Served,
    generation: String,
    marker: Marker,
}

/// Returns the markers of every generation of these systems.
async fn all(engines: &Engines, systems: &[&'static Served]) -> Result<Vec<Listed>, Failure> {
    let mut listed = Vec::new();
    for served in systems.iter().copied() {
        let found = mirror::quarantined(served.system, engines).await.map_err(Failure::new)?;
        listed.extend(found.into_iter().map(|(generation, marker)| Listed { served, generation, marker }));
    }
    Ok(listed)
}

/// Returns the markers with this name, one for each generation. No other marker is read.
async fn named(engines: &Engines, systems: &[&'static Served], wanted: &str) -> Result<Vec<Listed>, Failure> {
    let (subjects, mut found) = (subjects(wanted), Vec::new());
    for served in systems.iter().copied() {
        let markers = mirror::markers_of(served.system, engines, &subjects).await.map_err(Failure::new)?;
        found.extend(markers.into_iter().map(|(generation, marker)| Listed { served, generation, marker }));
    }
    if found.is_empty() {
        return Err(Failure::new(format!(
            "`{wanted}` is not in quarantine.\n`cairn quarantine ls` lists the entries."
        )));
    }
    Ok(found)
}

/// Returns the subjects that can have this name. The name does not tell where an item's partition key ends, and another
/// release may have had its table.
fn subjects(name: &str) -> Vec<Subject> {
    match name.split_once('/') {
        Some((RECORD, hash)) if !hash.is_empty() => vec![Subject::Record(hash.to_owned())],
        Some((table, id)) => keys(id).map(|key| Subject::Item { table: table.to_owned(), key }).collect(),
        None => Vec::new(),
    }
}

/// Returns the stale markers.
async fn stale<'l>(engines: &Engines, listed: &'l [Listed]) -> Result<Vec<&'l Listed>, Failure> {
    let mut found = Vec::new();
    for of_system in listed.chunk_by(|one, other| one.served.system.name == other.served.system.name) {
        let Some(Listed { served, .. }) = of_system.first() else { continue };
        let markers: Vec<_> = of_system.iter().map(|one| one.marker.clone()).collect();
        let stale = mirror::stale(served.system, engines, &markers).await.map_err(Failure::new)?;
        found.extend(of_system.iter().zip(stale).filter(|(_, stale)| stale.is_some()).map(|(one, _)| one));
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
            let (name, since, code, state) =
                (name(marker), time(marker.since), marker.code.name(), state(marker, stale));
            println!("{name}  {since}  {generation}  {code}: {}{state}", marker.reason);
        }
    }
    Ok(())
}

/// Describes a marker that the next write of its item does not clear.
fn state(marker: &Marker, stale: Option<Staleness>) -> &'static str {
    match stale {
        Some(Staleness::Gone) => "  (stale: its item is deleted)",
        Some(Staleness::Changed) => "  (stale: its item has another revision)",
        None if marker.is_cleared_by_writes() => "",
        None if marker.is_cleared_by_delete_alone() => {
            "  (cleared only by the delete of its item or by `cairn quarantine dismiss`)"
        }
        None => "  (cleared only by `cairn quarantine dismiss`)",
    }
}

/// Returns the name of a marker: an item's table and document id, or a record's hash.
fn name(marker: &Marker) -> String {
    match &marker.subject {
        Subject::Item { table, key } => format!("{table}/{}", key.document_id()),
        Subject::Record(hash) => format!("{RECORD}/{hash}"),
    }
}

fn as_json(generation: &str, marker: &Marker, stale: Option<Staleness>) -> Value {
    json!({
        "name": name(marker),
        "since": time(marker.since),
        "generation": generation,
        "rev": marker.rev,
        "code": marker.code.name(),
        "reason": marker.reason,
        "object": marker.object,
        "stale": stale.map(|stale| match stale {
            Staleness::Gone => "gone",
            Staleness::Changed => "changed",
        }),
        "clearedByWrites": marker.is_cleared_by_writes(),
    })
}

/// Reads the object with the record and the reason.
async fn stored_record(engines: &Arc<Engines>, served: &Served, marker: &Marker) -> Result<String, Failure> {
    let bucket = engines.config.bucket(served.system.name);
    let failed = |error: String| Failure::new(format!("Reading `{}` from `{bucket}` failed: {error}.", marker.object));
    let object = engines.s3().get_object().bucket(&bucket).key(&marker.object).send().await;
    let object = object.map_err(|error| failed(no_answer::describe(&error)))?;
    let body = object.body.collect().await.map_err(|error| failed(no_answer::describe(&error)))?.into_bytes();
    Ok(String::from_utf8_lossy(&body).into_owned())
}
