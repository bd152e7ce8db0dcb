//! `cairn show`: the item, its document, version and marker side by side, in every generation.

use std::process::ExitCode;

use clap::Args;
use mirror::{InGeneration, Inspected};
use serde_json::{Value, json};

use crate::exit::TO_DO;
use crate::failure::Failure;
use crate::{StateFolder, document_key, running};

#[derive(Debug, Args)]
pub struct ShowKey {
    /// The document id of the item, such as `geozone::bcparks_1#1`. If several tables could have the item, the table
    /// comes first, as in the names of `cairn quarantine ls`: `parks/geozone::bcparks_1#1`.
    key: String,
    /// Print JSON.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    state: StateFolder,
}

impl ShowKey {
    pub async fn run(self) -> Result<ExitCode, Failure> {
        let engines = running::engines(&self.state.folder).await?;
        let (served, table, key) = document_key::find(&self.key)?;
        let inspected = mirror::inspect(served.system, &engines, table, &key).await.map_err(Failure::new)?;
        if self.json {
            println!("{}", as_json(&inspected));
        } else {
            print(&inspected)?;
        }
        Ok(if inspected.agrees() { ExitCode::SUCCESS } else { ExitCode::from(TO_DO) })
    }
}

fn print(inspected: &Inspected) -> Result<(), Failure> {
    let text = |value: &Option<Value>| value.as_ref().map(serde_json::to_string_pretty).transpose();
    let number = |number: Option<u64>| number.map_or_else(|| "none".to_owned(), |number| number.to_string());
    println!("item      revision {}", number(inspected.rev));
    println!("{}", text(&inspected.item).map_err(Failure::new)?.unwrap_or_else(|| "There is no item.".to_owned()));
    for one in &inspected.generations {
        let InGeneration { generation, version, document, marker } = one;
        let tombstone = if one.is_tombstone() { ", a tombstone" } else { "" };
        let (version, marker) = (number(*version), number(*marker));
        println!("\ndocument  version {version}{tombstone}, marker {marker}, in {}", generation.index);
        println!("{}", text(document).map_err(Failure::new)?.unwrap_or_else(|| "There is no document.".to_owned()));
    }
    if inspected.generations.is_empty() {
        println!("\nNo index is published yet.");
    }
    Ok(())
}

fn as_json(inspected: &Inspected) -> Value {
    let generations = inspected.generations.iter().map(|one| {
        json!({
            "generation": one.generation.index,
            "mapping": one.generation.mapping,
            "phase": one.generation.phase.name(),
            "version": one.version,
            "tombstone": one.is_tombstone(),
            "document": one.document,
            "marker": one.marker,
        })
    });
    let generations: Vec<Value> = generations.collect();
    let agrees = inspected.agrees();
    json!({ "item": inspected.item, "rev": inspected.rev, "generations": generations, "agrees": agrees })
}
