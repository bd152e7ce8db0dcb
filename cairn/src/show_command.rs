//! `cairn show`: the item, its document, version and marker side by side, in every generation.

use std::collections::BTreeMap;
use std::process::ExitCode;

use clap::Args;
use mirror::{InGeneration, Inspected};
use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;

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

/// The JSON of an inspected key.
#[derive(Serialize)]
struct Shown<'i> {
    item: &'i Option<Value>,
    rev: Option<u64>,
    generations: Vec<ShownGeneration<'i>>,
    agrees: bool,
}

#[derive(Serialize)]
struct ShownGeneration<'i> {
    generation: &'i str,
    mapping: u32,
    phase: &'static str,
    version: Option<u64>,
    tombstone: bool,
    hidden: bool,
    /// As text, since its numbers may not fit a float.
    document: &'i Option<Box<RawValue>>,
    marker: Option<u64>,
}

impl ShowKey {
    pub async fn run(self) -> Result<ExitCode, Failure> {
        let engines = running::engines(&self.state.folder).await?;
        let (served, table, key) = document_key::find(&self.key)?;
        let inspected = (served.inspect)(engines, table, key).await.map_err(Failure::new)?;
        if self.json {
            println!("{}", serde_json::to_string(&Shown::of(&inspected)).map_err(Failure::new)?);
        } else {
            print(&inspected)?;
        }
        Ok(if inspected.agrees() { ExitCode::SUCCESS } else { ExitCode::from(TO_DO) })
    }
}

fn print(inspected: &Inspected) -> Result<(), Failure> {
    let number = |number: Option<u64>| number.map_or_else(|| "none".to_owned(), |number| number.to_string());
    println!("item      revision {}", number(inspected.rev));
    let item = inspected.item.as_ref().map(serde_json::to_string_pretty).transpose().map_err(Failure::new)?;
    println!("{}", item.unwrap_or_else(|| "There is no item.".to_owned()));
    for one in &inspected.generations {
        let InGeneration { generation, version, document, marker, is_hidden } = one;
        let tombstone = if one.is_tombstone() { ", a tombstone" } else { "" };
        let hidden = if *is_hidden { ", the item is hidden" } else { "" };
        let (version, marker) = (number(*version), number(*marker));
        println!("\ndocument  version {version}{tombstone}{hidden}, marker {marker}, in {}", generation.index);
        let document = document.as_deref().map(members).transpose().map_err(Failure::new)?;
        println!("{}", document.unwrap_or_else(|| "There is no document.".to_owned()));
    }
    if inspected.generations.is_empty() {
        println!("\nNo index is published yet.");
    }
    Ok(())
}

/// Returns a document with one member per line, whose numbers are as they were indexed.
fn members(document: &RawValue) -> serde_json::Result<String> {
    serde_json::to_string_pretty(&serde_json::from_str::<BTreeMap<String, &RawValue>>(document.get())?)
}

impl<'i> Shown<'i> {
    fn of(inspected: &'i Inspected) -> Self {
        let Inspected { item, rev, generations } = inspected;
        let generations = generations.iter().map(ShownGeneration::of).collect();
        Self { item, rev: *rev, generations, agrees: inspected.agrees() }
    }
}

impl<'i> ShownGeneration<'i> {
    fn of(one: &'i InGeneration) -> Self {
        let InGeneration { generation, version, document, marker, is_hidden } = one;
        Self {
            generation: &generation.index,
            mapping: generation.mapping,
            phase: generation.phase.name(),
            version: *version,
            tombstone: one.is_tombstone(),
            hidden: *is_hidden,
            document,
            marker: *marker,
        }
    }
}
