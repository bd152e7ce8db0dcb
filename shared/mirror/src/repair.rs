//! Repair of one key: in every generation its document is made equal to the item in the table.

use table::schema::{System, Table};
use table::{Engines, Key};

use crate::batch::Batch;
use crate::context::Context;
use crate::documents::{Documents, Shapes};
use crate::engines::Production;
use crate::generation::{Generation, Targets};
use crate::group::{Group, GroupKey, Groups, group_key};
use crate::json::{write_member, write_text};
use crate::ports::{Fault, Ports, State, Time};
use crate::report::RepairOutcome;

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
    repair_generations(&ports, documents, table, key).await
}

pub(crate) async fn repair_generations<P: Ports, D: Documents>(
    ports: &P,
    documents: &D,
    table: &'static Table,
    key: &Key,
) -> Result<Option<Vec<Repaired>>, Fault> {
    let Some(GroupKey::Item { .. }) = group_key(table, key.clone()) else { return Ok(None) };
    let mut repaired = Vec::new();
    for generation in writable_generations(ports, documents).await? {
        let outcome = repair_generation(ports, documents, &generation, table, key).await?;
        repaired.push(Repaired { generation: generation.index, outcome });
    }
    Ok(Some(repaired))
}

/// Returns the generations that are written. This code must write the mapping of each.
pub(crate) async fn writable_generations<P: Ports, D: Documents>(
    ports: &P,
    documents: &D,
) -> Result<Vec<Generation>, Fault> {
    let written = ports.state().generations().await?.map(|generations| generations.written).unwrap_or_default();
    if written.is_empty() {
        return Err(Fault::lasting("mirror", "no index is published yet: create the first index"));
    }
    for generation in &written {
        generation.check_mapping(documents).map_err(|reason| Fault::lasting("mirror", reason))?;
    }
    Ok(written)
}

pub(crate) async fn repair_generation<P: Ports, D: Documents>(
    ports: &P,
    documents: &D,
    generation: &Generation,
    table: &'static Table,
    key: &Key,
) -> Result<RepairOutcome, Fault> {
    let groups = item_to_repair(table, key).into_iter().collect();
    let mut repaired = repair_groups(ports, documents, generation, groups).await;
    let no_documents = || Err("the key's items have no documents".to_owned());
    repaired.pop().unwrap_or_else(no_documents).map_err(|reason| Fault::passing("mirror", reason))
}

/// Returns the group that repairs an item. Returns `None` if the key's items have no documents.
pub(crate) fn item_to_repair(table: &'static Table, key: &Key) -> Option<Group<'static>> {
    // The quarantine keeps the item if it was read, otherwise its key.
    let group = |at| Group { repaired: Some(RepairOutcome::Nothing), ..Group::new(at, key_json(table, key), 0) };
    group_key(table, key.clone()).map(group)
}

/// Repairs the documents of groups in one generation. Returns the outcome of each group, or the reason why it cannot be
/// repaired now.
pub(crate) async fn repair_groups<P: Ports, D: Documents>(
    ports: &P,
    documents: &D,
    generation: &Generation,
    groups: Groups<'_>,
) -> Vec<Result<RepairOutcome, String>> {
    // The markers are read before the items. Where no item exists any more, its marker is obsolete.
    let names: Vec<_> = groups.iter().map(|group| group.subject().name()).collect();
    let open = match ports.state().open(&generation.index, &names).await {
        Ok(open) => open,
        Err(fault) => return names.iter().map(|_| Err(fault.to_string())).collect(),
    };
    let mut outcomes = repair_documents(ports, documents, std::slice::from_ref(generation), groups).await;
    for (name, outcome) in names.iter().zip(&mut outcomes) {
        let is_gone = matches!(outcome, Ok(RepairOutcome::Deleted(_) | RepairOutcome::Nothing));
        let Some(marker) = open.get(name).filter(|_| is_gone) else { continue };
        if let Err(fault) = ports.state().clear_seen(&generation.index, name, *marker).await {
            *outcome = Err(fault.to_string());
        }
    }
    outcomes
}

/// How often in a row the requests of a repair are retried, which takes some seconds if they are answered at once.
const MAX_RETRIES: u32 = 8;

/// Repairs the documents of groups in several generations. Returns the outcome of each group, or the reason why it
/// cannot be repaired now. Leaves the markers of items that do not exist any more.
pub(crate) async fn repair_documents<P: Ports, D: Documents>(
    ports: &P,
    documents: &D,
    generations: &[Generation],
    groups: Groups<'_>,
) -> Vec<Result<RepairOutcome, String>> {
    let targets = Targets::new(generations);
    let context = Context { ports, documents, targets, received: ports.time().micros() };
    let mut batch = Batch::repair(context, groups).with_max_retries(MAX_RETRIES);
    batch.run().await;
    let outcome = |group: &Group<'_>| match &group.repaired {
        Some(outcome) if group.handled() => Ok(outcome.clone()),
        _ => Err(group.failed.clone().unwrap_or_else(|| batch.tally.clone().into_reason())),
    };
    batch.groups.iter().map(outcome).collect()
}

/// The number of different reasons that the result of many repairs keeps.
const MAX_REASONS: usize = 10;

/// Keeps a reason why a repair failed, unless it is known or there are enough.
pub(crate) fn keep_reason(reasons: &mut Vec<String>, reason: String) {
    if reasons.len() < MAX_REASONS && !reasons.contains(&reason) {
        reasons.push(reason);
    }
}

/// Returns the key's attributes in DynamoDB JSON.
fn key_json(table: &Table, key: &Key) -> String {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ten_different_reasons_are_kept() {
        let mut reasons = Vec::new();
        for number in 0..24 {
            keep_reason(&mut reasons, format!("reason {}", number / 2));
        }
        let first_ten: Vec<String> = (0..10).map(|number| format!("reason {number}")).collect();
        assert_eq!(reasons, first_ten);
    }
}
