//! What the engines have of one key, side by side, for operators.

use serde_json::Value;
use table::schema::{System, Table};
use table::{Engines, Key};

use crate::engines::{DynamoItems, DynamoState, OpenSearchIndex};
use crate::fold::Presence;
use crate::generation::Generation;
use crate::item::{presence, rev_value};
use crate::ports::{Fault, Items, State};
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
    pub version: Option<u64>,
    /// The document, which may be a tombstone.
    pub document: Option<Value>,
    /// The revision of the open marker.
    pub marker: Option<u64>,
}

/// Reads a key: the documents first, then the item, so that a document above its item is no write in flight.
pub async fn inspect(
    system: &'static System,
    engines: &Engines,
    table: &'static Table,
    key: &Key,
) -> Result<Inspected, Fault> {
    let (state, index) = (DynamoState::new(engines, system), OpenSearchIndex::new(engines)?);
    let subject = Subject::item(table, key).name();
    let written = state.generations().await?.map(|generations| generations.written).unwrap_or_default();
    let mut generations = Vec::new();
    for generation in written {
        let (version, document) = index.document(&generation.write_alias(), &key.document_id()).await?.unzip();
        let marker = state.open(&generation.index, std::slice::from_ref(&subject)).await?.remove(&subject);
        generations.push(InGeneration { generation, version, document, marker });
    }
    let item = DynamoItems::new(engines).read(table, key).await?;
    let rev = item.as_ref().map(|item| presence(rev_value(item.as_str()))).and_then(Presence::number);
    let item = item.map(|item| serde_json::from_str(item.as_str())).transpose();
    let item = item.map_err(|error| Fault::lasting("dynamodb", error))?;
    Ok(Inspected { item, rev, generations })
}

impl InGeneration {
    /// Whether the document is a tombstone.
    pub fn is_tombstone(&self) -> bool {
        self.document.as_ref().is_some_and(|document| document.get("deleted").and_then(Value::as_bool) == Some(true))
    }
}

impl Inspected {
    /// Whether each generation has the item's revision, or nothing visible where there is no item, and no marker.
    pub fn agrees(&self) -> bool {
        self.generations.iter().all(|one| {
            let agrees = match (&self.item, one.version) {
                (Some(_), version) => self.rev.is_some() && version == self.rev,
                (None, None) => true,
                (None, Some(_)) => one.is_tombstone(),
            };
            agrees && one.marker.is_none()
        })
    }
}
