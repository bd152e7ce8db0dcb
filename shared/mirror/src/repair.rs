//! Repair of one key: in every generation its document is made equal to the item in the table.

use table::schema::{System, Table};
use table::{Engines, Key};

use crate::batch::Batch;
use crate::context::Context;
use crate::documents::{Documents, Shapes};
use crate::engines::Production;
use crate::generation::{Generation, Targets};
use crate::group::{Group, GroupKey, group_key};
use crate::json::{write_member, write_text};
use crate::ports::{Fault, Ports, State, Time};
use crate::report::RepairOutcome;
use crate::rules::{ProductionRules, Rules};

/// The result of a repair in one generation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repaired {
    /// The generation's index.
    pub generation: String,
    pub outcome: RepairOutcome,
}

/// Repairs a key in every generation that is written. After a stamp, the stream record of the stamp indexes the
/// document. Returns `None` if the key's items have no documents.
pub async fn repair_key(
    documents: &impl Documents,
    shapes: &impl Shapes,
    engines: &Engines,
    table: &'static Table,
    key: &Key,
) -> Result<Option<Vec<Repaired>>, Fault> {
    let system: &'static System = documents.tables();
    let ports = Production::new(engines, system, shapes, None)?;
    repair_generations::<ProductionRules, _, _>(&ports, documents, table, key).await
}

pub(crate) async fn repair_generations<R: Rules, P: Ports, D: Documents>(
    ports: &P,
    documents: &D,
    table: &'static Table,
    key: &Key,
) -> Result<Option<Vec<Repaired>>, Fault> {
    let Some(GroupKey::Item { .. }) = group_key(table, key.clone()) else { return Ok(None) };
    let mut repaired = Vec::new();
    let written = ports.state().generations().await?.map(|generations| generations.written).unwrap_or_default();
    if written.is_empty() {
        return Err(Fault::lasting("mirror", "no index is published yet: create the first index"));
    }
    for generation in written {
        generation.check_mapping(documents).map_err(|reason| Fault::lasting("mirror", reason))?;
        let outcome = repair_generation::<R, _, _>(ports, documents, &generation, table, key).await?;
        repaired.push(Repaired { generation: generation.index, outcome });
    }
    Ok(Some(repaired))
}

async fn repair_generation<R: Rules, P: Ports, D: Documents>(
    ports: &P,
    documents: &D,
    generation: &Generation,
    table: &'static Table,
    key: &Key,
) -> Result<RepairOutcome, Fault> {
    let targets = Targets::new(std::slice::from_ref(generation));
    let context = Context { ports, documents, targets, received: ports.time().micros() };
    // The quarantine keeps the item if it was read, otherwise its key.
    let group = group_key(table, key.clone())
        .map(|at| Group { repaired: Some(RepairOutcome::Nothing), ..Group::new(at, key_json(table, key), 0) });
    let mut batch = Batch::repair::<R>(context, group.into_iter().collect());
    batch.run::<R>().await;
    match batch.groups.iter().next() {
        Some(group @ Group { repaired: Some(outcome), .. }) if group.handled() => Ok(outcome.clone()),
        _ => Err(Fault::passing("mirror", batch.tally.into_reason())),
    }
}

/// Returns the key's attributes in DynamoDB JSON.
pub(crate) fn key_json(table: &Table, key: &Key) -> String {
    let mut json = "{".to_owned();
    for (name, value) in [(Some(table.pk), Some(&key.pk)), (table.sk, key.sk.as_ref())] {
        if let Some((name, value)) = name.zip(value) {
            write_member(&mut json, name);
            json.push_str(r#"{"S":"#);
            write_text(&mut json, value);
            json.push('}');
        }
    }
    json.push('}');
    json
}
