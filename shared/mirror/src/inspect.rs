//! What the engines have of one key, side by side, for operators.

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use table::schema::{Search, Table};
use table::{Engines, Key};

use crate::build::create_document;
use crate::document::Found;
use crate::documents::{Documents, NoShapes, writes};
use crate::engines::Production;
use crate::fold::Presence;
use crate::generation::Generation;
use crate::item::{Item, presence, rev_value};
use crate::ports::{Fault, Index, Items, Ports, State};
use crate::quarantine::Subject;

/// A key in its table and in every generation.
#[derive(Clone, Debug)]
pub struct Inspected {
    /// The item in DynamoDB JSON.
    pub item: Option<Value>,
    /// The item's revision, if it is valid.
    pub rev: Option<u64>,
    pub generations: Vec<InGeneration>,
}

/// A key in one generation.
#[derive(Clone, Debug)]
pub struct InGeneration {
    pub generation: Generation,
    /// Whether the item is hidden from search in its present state.
    pub is_hidden: bool,
    pub version: Option<u64>,
    /// The document as it was indexed, which may be a tombstone.
    pub document: Option<Box<RawValue>>,
    /// The revision of the open marker.
    pub marker: Option<u64>,
}

/// Reads a key in production.
pub(crate) async fn inspect_key(
    documents: &impl Documents,
    engines: &Engines,
    table: &'static Table,
    key: &Key,
) -> Result<Inspected, Fault> {
    // No shape decides whether an item is hidden.
    let ports = Production::new(engines, documents.tables(), &NoShapes, None)?;
    inspect_generations(&ports, documents, table, key).await
}

/// Reads a key: the documents first, then the item, so that a document above its item is no write in flight.
pub(crate) async fn inspect_generations<P: Ports, D: Documents>(
    ports: &P,
    documents: &D,
    table: &'static Table,
    key: &Key,
) -> Result<Inspected, Fault> {
    let (id, subject) = (key.document_id(), Subject::item(table, key).name());
    let written = ports.state().generations().await?.map(|generations| generations.written).unwrap_or_default();
    let mut generations = Vec::new();
    for generation in written {
        let found = ports.index().read_documents(&generation.write_alias(), &[&id]).await?.pop().flatten();
        let (version, document) = found.map(|found| (found.version, RawValue::from_string(found.source))).unzip();
        let document = document.transpose().map_err(|error| Fault::lasting("search", error))?;
        let marker = ports.state().open(&generation.index, std::slice::from_ref(&subject)).await?.remove(&subject);
        let marker = marker.map(|marker| marker.rev);
        generations.push(InGeneration { generation, is_hidden: false, version, document, marker });
    }
    let item = ports.items().read(table, key).await?;
    if let Some(item) = &item {
        for one in &mut generations {
            one.is_hidden = is_hidden(documents, one.generation.mapping, table, key, item);
        }
    }
    let rev = item.as_ref().map(|item| presence(rev_value(item.as_str()))).and_then(Presence::number);
    let item = item.map(|item| serde_json::from_str(item.as_str())).transpose();
    let item = item.map_err(|error| Fault::lasting("dynamodb", error))?;
    Ok(Inspected { item, rev, generations })
}

fn is_hidden(documents: &impl Documents, version: u32, table: &'static Table, key: &Key, item: &Item) -> bool {
    let Some(entity) = table.entity_of(key).filter(|entity| entity.search == Search::Document) else { return false };
    let found = writes(documents, version).then(|| create_document(documents, version, entity, item.as_str()));
    matches!(found, Some(Ok(Found::Hidden)))
}

/// The member of a document that shows whether it is a tombstone.
#[derive(Deserialize)]
struct Tombstone {
    deleted: bool,
}

impl InGeneration {
    /// Whether the document is a tombstone.
    pub fn is_tombstone(&self) -> bool {
        let tombstone = |document: &RawValue| serde_json::from_str::<Tombstone>(document.get());
        self.document.as_deref().map(tombstone).is_some_and(|read| read.is_ok_and(|tombstone| tombstone.deleted))
    }

    fn agrees(&self, inspected: &Inspected) -> bool {
        let agrees = match (&inspected.item, self.version) {
            // The tombstone of a hidden item may have been swept.
            (Some(_), None) => inspected.rev.is_some() && self.is_hidden,
            (Some(_), version) => version == inspected.rev && self.is_tombstone() == self.is_hidden,
            (None, None) => true,
            (None, Some(_)) => self.is_tombstone(),
        };
        agrees && self.marker.is_none()
    }
}

impl Inspected {
    /// Whether each generation has the item's document at its revision, or nothing visible where there is no item or a
    /// hidden one, and no marker.
    pub fn agrees(&self) -> bool {
        self.generations.iter().all(|one| one.agrees(self))
    }
}
